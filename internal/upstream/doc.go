// Package upstream is a model server that plays an agent: it asks the client to
// read file after file with whatever tool the client offers, and says at the end
// that it is done. It speaks the Messages, Chat Completions and Responses APIs,
// and is as strict as they are.
//
// Use [Start], point a client at [Server.URL], and read [Server.Stats].
//
// The server knows how far a conversation is from what it is shown, not from a
// counter: each tool call ID names the run and the file, such as toolu_r3_17, and
// the last ID in a request says where its run stands. So conversations may be
// interleaved, retried, forked and condensed. A request without an ID begins a
// run, unless it holds a summary of ours, which names run and file, too.
//
// A request that asks for a summary is answered with one that has the sections
// it asks for. One that is malformed, breaks the order of reasoning and its
// items, or replays thinking behind a changed prefix is refused in the API's own
// words. A token is four characters of what the model reads; the prompt cache is
// simulated from the same reading.
//
//precis:testonly
package upstream
