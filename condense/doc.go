// Package condense holds the strategies and summarizers that write a summary.
//
// [Rung] and [Digest] write one without a model. [Full] puts one by a model in
// the place of the oldest messages, [Selective] has single tool results
// shortened in their place; [Writer] asks the model and checks what it says.
// [Gate] reads every summary, whoever wrote it, and adds what it lacks.
// [Experiment] compares ways of doing it.
//
// [AnswerOpenTools], [ToolsAsText] and [CommandBlocks] shape what a summarizer is
// shown and what survives. No transcript is altered: shaping makes new messages,
// which are sent to a summarizer and never stored.
package condense
