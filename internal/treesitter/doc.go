// Package treesitter reads source code by the official grammars of tree-sitter,
// which are written in C: [Parser] is for package outline. It is part of builds
// with cgo and the build tag treesitter; in all others [Available] is false.
//
// The grammars are not safe against hostile content: a few kilobytes can take
// gigabytes and minutes, or end the process. So Parser runs in a process of its
// own that may die, never in that of the caller; see package outlineworker and
// docs/decisions/006-outlines.md.
package treesitter
