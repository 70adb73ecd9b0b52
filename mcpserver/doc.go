// Package mcpserver offers the conversations of a home to agents over the Model
// Context Protocol. [New] makes a server to run over standard input and output;
// [Handler] serves streamable HTTP.
//
// A server has eight tools, each one or two verbs of package conversation: sessions,
// search, expand, digest, status, condense, pin and handoff; resources
// precis://session/{id} and precis://session/{id}/{handle}; and the prompts handoff and
// recover. Nothing is computed here. Unless [Options.Edits] is set nothing can be
// changed.
//
// What a conversation holds is data: it is returned as JSON, in bounded pieces, and in
// text with control characters made visible. Nothing of it is logged.
package mcpserver
