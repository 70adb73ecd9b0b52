// Package bridge finds the earlier conversation that a new one continues after a client has
// condensed it, and the facts that the client's own summary lacks.
//
// Such clients request a summary and then begin a new conversation with the answer. A [Table] keeps
// the answers for a while; a conversation that contains one of them ([Table.Find]) continues the
// summarized one. [Missing] returns the facts likely to be needed again that the new conversation
// lacks. Everything is recognized by content: headers and session names are ignored.
package bridge
