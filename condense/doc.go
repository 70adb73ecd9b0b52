// Package condense answers: how does a model write a summary of old messages? It holds the
// strategies and the summarizer for that.
//
// [Full] replaces the oldest messages by one summary, [Selective] replaces single tool results by
// shorter versions. [Writer] calls the model: it builds the prompt, reuses the prompt cache of a
// live request where it can, validates the answer, and calls the hooks. The package precis/digest
// has the summary without a model, and the gate that every summary passes.
//
// [AnswerOpenTools] and [ToolsAsText] prepare the messages that a summarizer reads. No transcript
// is altered: they make new messages, which are sent to a summarizer and never stored.
package condense
