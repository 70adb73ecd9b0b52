// Package recall is the tool by which a model reads again what its view of a
// conversation hides, and whose calls the gateway answers itself: the definition
// of the tool, finding its calls in answers, and making one answer of several,
// so that the client never sees that there was a call.
//
// [Offer] adds the tool to a request. [Merger] does the rest for streams, [Whole]
// for answers in one piece. Both hand out an [Answer]; when it is due, what
// [Answer.Append] makes goes behind the messages of the request, which is sent
// again, and what comes is the next answer.
//
// Nothing here reads the conversation or the network. What is not about the tool
// keeps its bytes.
package recall
