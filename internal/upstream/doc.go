// Package upstream simulates a model server and the models behind it, for tests with real agents.
// It asks the client to read file after file with any suitable tool that the client offers, and
// then says that it is done. It speaks the Messages, Chat Completions and Responses APIs, and is as
// strict as they are.
//
// Use [Start], point a client at [Server.URL], and read [Server.Stats].
//
// The server derives the progress of a conversation from each request, not from a counter: a tool
// call ID names the run and the file, such as toolu_r3_17, and the last ID in a request is the
// progress of its run. So conversations may be interleaved, retried, forked and condensed. A
// request without an ID begins a run, unless it has a summary by this server, which also names run
// and file.
//
// A request for a summary is answered with the sections it lists. A request that is malformed,
// breaks the order of reasoning and its items, or replays thinking after a changed prefix is
// refused in the API's own words. A token is four characters read by the model; the prompt cache is
// simulated from the same reading.
//
//precis:testonly
package upstream
