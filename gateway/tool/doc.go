// Package tool handles the tools that the gateway offers to the model and answers itself: it writes
// their definitions, finds their calls in answers, and merges several answers into one, so that the
// client sees no call. The tools themselves are precis/gateway/recall and precis/gateway/asked.
//
// [Offer] adds tools to a request. [Merger] processes streams, [BodyMerger] processes answers in one
// piece. Both return an [Answer]. When it is due, extend the messages of the request with
// [Answer.Append] and send it again to get the next answer.
//
// The package accesses neither the conversation nor the network. Content unrelated to the tools
// keeps its bytes.
package tool
