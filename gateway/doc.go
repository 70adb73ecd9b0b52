// Package gateway is an HTTP proxy in front of model APIs that keeps every
// conversation that passes inside its model's context window. It speaks the
// Anthropic Messages, OpenAI Chat Completions and OpenAI Responses APIs. Use
// [New] and serve the [Gateway].
//
// A request is a conversation as far as it has come. The gateway recognizes it
// by its content (package lineage), computes its view (package precis), and
// forwards the request with the messages of the view in the place of its own;
// every other byte, and the whole body while nothing is condensed, is what the
// client sent. The answer is passed on as it comes.
//
// Upstream errors that mean "too long" are recognized, teach the window and lead
// to a smaller view before the client sees a byte. When precis itself fails, the
// client's own request is forwarded.
//
// Keys pass through; none is stored or logged, and neither is content.
package gateway
