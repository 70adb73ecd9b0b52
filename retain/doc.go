// Package retain answers: which parts of a conversation will be needed again? Start with [Read],
// which indexes a conversation: its anchors (paths, names, errors, numbers, …) as [Fact]s, with the
// places and the number of their mentions. [Index.Worths] returns the probability that each fact is
// needed again, by weights that were learned from recorded conversations and are embedded as data;
// a [ReusePredictor] predicts which lines will be repeated word for word; [Index.Choose] picks the lines
// that keep most of both within a budget. [Constraints] finds the rules that a user sets, and
// [Index.Measure] reports what a view has lost.
//
// All functions are pure: the same conversation gives the same result.
package retain
