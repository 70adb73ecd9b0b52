// Package condense holds the strategies and summarizers that write a summary,
// and the shaping of what they summarize: [Digest] writes one without a model,
// [AnswerOpenTools] and [ToolsAsText] make a conversation that any model can be
// asked to summarize, and [CommandBlocks] are the directives that survive every
// condensation. No transcript is altered: shaping makes new messages, which are
// sent to a summarizer and never stored.
package condense
