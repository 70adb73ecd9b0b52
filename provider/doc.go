// Package provider generates text with language models over the APIs of Anthropic and OpenAI, and
// with any server that speaks one of their dialects. The packages below wire encode requests and
// decode answers.
//
// Use [New] to get a [Client], which is a [model.Model], and [Client.Generate] to send a request.
// [Client.Price] returns the cost of a request with the given usage.
//
// A request is either fresh, written from a system prompt and messages, or derived from a live
// request ([model.Request.Body]): then everything except the messages, the output limit and the
// streaming flags is sent byte for byte, so that it hits the provider's prompt cache of the live
// request. The model is named by the live request and the prices by the [Config], so the two models
// should be the same.
//
// The answer is always streamed. A possibly temporary failure is retried with growing pauses. So is
// a stream that ends before its end marker, because half a summary is worse than none. After too
// many failures in a row, requests fail at once for a while. The tokens of every attempt are
// counted and priced. If a server reports no usage, the usage is zero, and the caller has to
// estimate it.
//
// Errors of the API and of the connection are a [model.Error]; the end of the context is a
// [precis.Error] with [precis.CodeCanceled]. Error texts contain neither keys nor text of the
// request. The environment is not read, proxy settings included: all settings are in the [Config].
package provider
