// Package precis keeps an LLM agent's conversation inside the model's context
// window without losing any of it.
//
// Start with [NewManager] and [Manager.Manage]: give it a [Conversation] and a
// [Window], send the [Result.View] to the model. The package precis/preset
// assembles a Manager with working parts in one call.
//
// The model is one idea. A [Transcript] holds the messages of one conversation
// exactly as they were said and is never altered. An [Edit] is a recorded
// decision: show this instead of that span. A view, [View], is what a
// transcript and its edits give: the messages sent to the model now. Condensing,
// truncating and pruning are all edits, so each can be undone by removing one,
// and rewinding to an earlier point can orphan nothing.
//
// The promise: no message is lost, a view is never bigger than the one it
// replaces, every view is valid ([Check]), the same transcript and edits give
// the same bytes, and every number shown says where it came from ([Source]).
//
// This package imports only the standard library. What it needs from others
// (counting tokens, shortening, summarizing, storing) it names as small
// interfaces: [Counter], [Strategy], [Summarizer], [Gate], [Dialect], [Store].
package precis
