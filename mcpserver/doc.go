// Package mcpserver gives agents access to the conversations of a home over the Model Context
// Protocol. [New] makes a server for standard input and output; [Handler] serves streamable HTTP.
//
// A server has eight tools, each one or two verbs of package conversation: sessions, search,
// expand, digest, status, condense, pin and handoff; resources precis://session/{id} and
// precis://session/{id}/{handle}; and the prompts handoff and recover. The server only calls verbs.
// Unless [Options.Edits] is set, conversations are read-only.
//
// Content of conversations is data: it is returned as JSON, in bounded pieces, and in text with
// control characters made visible. It is never logged.
package mcpserver
