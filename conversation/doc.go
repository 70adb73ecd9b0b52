// Package conversation holds the verbs over a conversation: what can be seen of it
// ([List], [Status], [Messages], [View], [Edits], [Loss], [Search], [Show],
// [Preview], [Ledger]) and what can be changed ([Condense], [Pin], [Restore],
// [Undo], [Rewind], [Branch], [Purge]). Command line, control API and other faces
// call them and compute nothing themselves.
//
// A verb is a function over a [Home], the place where conversations live: the
// open conversations of a gateway, a store alone ([InStore]), or a recording. A home hands
// out a [Subject]: one conversation with its record and the manager that reads and
// edits it. What some homes can do and others cannot are further interfaces,
// found by type assertion: [Owned], [Stored], [Purger]. A verb that needs one
// returns [precis.CodeInvalid] where it is missing.
//
// Every error is a [precis.Error]; [precis.CodeNotFound] names a conversation,
// message or edit that does not exist. The package conversation/conversationtest
// checks any home.
package conversation
