// Package retain knows what a conversation must not lose. Start with [Read],
// which indexes a conversation: its anchors (paths, names, errors, numbers, …)
// as [Fact]s, with where and how often they stand. [Index.Worths] says how
// likely each is to be needed again, by weights that were learned from recorded
// conversations and are shipped as data; a [Reuser] says which lines are likely
// to be repeated word for word; [Index.Choose] picks the lines that keep most of
// both in a given room. [Constraints] finds the rules a user sets, and
// [Index.Measure] says what a view has lost.
//
// Everything here is pure: the same conversation gives the same answer.
package retain
