// Package polyfill knows what context management looks like in the APIs of
// Anthropic and OpenAI: the fields of requests ([ParseEdits], [ParseCompaction]),
// the compaction blocks and items that clients send back ([Read]), and what an
// API would have put into its answers ([Answer]). It decides nothing and holds no
// conversation; the gateway does.
//
// Format: as typed in the Go SDKs of both, and documented by Anthropic under
// "Context editing" and "Compaction", by OpenAI under "Compaction".
package polyfill
