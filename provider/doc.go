// Package provider asks language models for text over the official SDKs of
// Anthropic and OpenAI, and over any server that speaks one of their dialects.
//
// Use [New] to get a [Client], which is a [precis.Model], and [Client.Generate]
// to ask. [Client.Price] says what a request of so many tokens costs.
//
// A request is either fresh, written from a system prompt and messages, or it
// rides on a live request ([precis.ModelRequest.Body]): then all but the
// messages, the output limit and the streaming flags is sent byte for byte, so
// that the prompt cache which the live request filled is read. Its model is its
// own; prices are those of the [Config], so the two should be the same.
//
// The answer is always streamed. What fails and may succeed later is tried
// again with growing pauses; a stream that ends before its end marker is such a
// failure, since half a summary is worse than none. After too many failures in
// a row requests fail at once for a while. The tokens of every attempt are
// counted and priced. A server that tells no usage leaves it zero: whoever needs
// a number then has to estimate it.
//
// Errors of the API and of the connection are a [precis.ModelError]; the end of
// the context is a [precis.Error] with [precis.CodeCanceled]. No error text holds
// a key or a word of the request. The environment is not read, proxy settings
// included: what should apply is in the [Config].
package provider
