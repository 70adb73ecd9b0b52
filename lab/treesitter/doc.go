// Package treesitter reads source code by the official grammars of tree-sitter,
// which are written in C: its Parser is an outline.Parser. It needs cgo and the
// build tag treesitter, and is empty without them.
//
// The grammars are not safe against hostile content: a few kilobytes can take gigabytes and
// minutes, or crash the process. So Parser runs in a separate process that may die, never in the
// caller's; see package outlineworker and docs/decisions/006-outlines.md.
package treesitter
