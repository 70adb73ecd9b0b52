// Package polyfill implements the context management of the Anthropic and OpenAI APIs for upstreams
// that lack it: the fields of requests ([ParseEdits], [ParseCompaction]), the compaction blocks and
// items that clients send back ([ReadCompaction]), the edits that carry them out ([Emulator]), and the fields
// of the answers ([Answer]). The gateway holds the conversation and decides when to use them.
//
// Formats follow the Go SDKs of both, documented by Anthropic under "Context editing" and
// "Compaction", by OpenAI under "Compaction".
package polyfill
