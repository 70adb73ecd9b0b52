// Package gateway keeps every conversation that passes to a model API inside its model's context
// window: it is an HTTP proxy for the Anthropic Messages, OpenAI Chat Completions and OpenAI
// Responses APIs. Use [New] and serve the [Gateway].
//
// A request holds a conversation up to now. The gateway recognizes the conversation by its content
// (package lineage), computes its view (package precis), and forwards the request with the messages
// of the view in place of its own. Every other byte stays as the client sent it, and so does the
// whole body while the view equals the messages. The answer is relayed as it arrives.
//
// Upstream errors that mean "too long" are recognized. They update the known window and lead to a
// smaller view before the client sees a byte. When precis itself fails, the client's own request is
// forwarded.
//
// Keys pass through: the gateway stores no key, and logs neither keys nor content.
package gateway
