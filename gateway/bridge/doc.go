// Package bridge finds the conversation that a client goes on with after it has
// condensed one by itself, and what its own summary lacks.
//
// Clients that compact send a request for a summary and then begin a new
// conversation with what was answered. A [Table] keeps the answers for a while; a
// conversation that holds one of them ([Table.Find]) continues the one that was
// summarized. [Missing] is what was likely to be needed again and is nowhere in it.
// Everything is recognized by content: headers and session names decide nothing.
package bridge
