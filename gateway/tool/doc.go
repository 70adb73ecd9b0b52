// Package tool holds what the tools have in common that the gateway offers the model
// and whose calls it answers itself: writing their definitions, finding their calls
// in answers, and making one answer of several, so that the client never sees that
// there was a call. The tools themselves are precis/gateway/recall and
// precis/gateway/asked.
//
// [Offer] adds tools to a request. [Merger] does the rest for streams, [Whole] for
// answers in one piece. Both hand out an [Answer]; when it is due, what
// [Answer.Append] makes goes behind the messages of the request, which is sent
// again, and what comes is the next answer.
//
// Nothing here reads the conversation or the network. What is not about the tools
// keeps its bytes.
package tool
