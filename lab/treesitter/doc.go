// Package treesitter reads source code by the official grammars of tree-sitter,
// which are written in C: its Parser is an outline.Parser. It needs cgo and the
// build tag treesitter, and is empty without them.
//
// The grammars are not safe against hostile content: a few kilobytes can take
// gigabytes and minutes, or end the process. So Parser runs in a process of its
// own that may die, never in that of the caller; see package outlineworker and
// docs/decisions/006-outlines.md.
package treesitter
