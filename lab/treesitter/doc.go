// Package treesitter answers which definitions are in source code, by the official C grammars of
// tree-sitter. Its Parser is an outline.Parser. It needs cgo and the build tag treesitter, and is
// empty without them.
//
// The grammars are not safe against hostile content: a few kilobytes can take gigabytes and
// minutes, or crash the process. So Parser runs in a separate process that may die, never in the
// caller's; see package outlineworker and docs/decisions/006-outlines.md.
package treesitter
