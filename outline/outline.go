// Package outline answers: what does a source file define? It lists functions, methods, types,
// modules and headings, with their line ranges and without their bodies. Start with [Of]; [Format]
// writes a list as text and [Fold] makes a message out of the lists of many files.
//
// Files are read line by line: a word like class or func at the start of a line begins a
// definition, indentation determines its end, and multi-line texts and comments are skipped. Go is
// read by the parser of the standard library, and Markdown by a reader of its own. [Parsed] takes a
// parser for other languages; ranges that it cannot parse are read by lines.
//
// Content may be hostile or cut off anywhere. No function panics, and reading by lines takes time
// linear in the content and memory for the definitions only. The result of a parser with a time
// limit may differ between a fast machine and a slow one: record it, do not compute it again.
//
// All functions are safe for concurrent use.
package outline

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis/internal/visible"
)

// Limits of [Of].
const (
	MaxContent     = 16 << 20  // bytes of a file; a larger one has no definitions
	MaxParsed      = 512 << 10 // bytes given to a parser; a larger file is read by lines
	MaxDefinitions = 5000      // of one file; further ones are dropped
	MaxLine        = 200       // bytes of a definition's Line and Name
)

// The kinds of definitions.
const (
	Function  = "function"
	Method    = "method" // a function inside a class or of a receiver
	Class     = "class"  // also objects, records and singletons
	Struct    = "struct" // also unions
	Interface = "interface"
	Trait     = "trait"
	Impl      = "impl"
	Enum      = "enum"
	Type      = "type"   // any other type, aliases among them
	Module    = "module" // also namespaces
	Macro     = "macro"
	Heading   = "heading"
)

// Definition is one function, method, type, module or heading of a file.
type Definition struct {
	Name string // "" if it has none
	Kind string // one of the constants above
	// Start and End are the first and last line, counted from 1. Start is the line of the
	// signature: decorators, annotations and comments precede it.
	Start, End int
	Line       string // line Start, trimmed and at most MaxLine bytes
	Depth      int    // number of enclosing definitions
}

// Lines returns the number of lines of the definition.
func (d Definition) Lines() int { return d.End - d.Start + 1 }

// Parser reads source code by the grammar of its language.
type Parser interface {
	// Parse returns the definitions of content and the ranges that it could not parse. ok is false
	// when the parser does not know the language or gave up. The content is valid UTF-8 of at most
	// [MaxParsed] bytes.
	Parse(language, content string) (defs []Definition, doubts []Doubt, ok bool)
}

// Of returns the definitions of a file in the order of their lines. The
// language comes from the file's name, or from a "#!" line: see [Language]. The
// content may be an excerpt of the file; lines are counted from its first. Of
// returns nil when there are no definitions, the language is unknown, or the
// content holds a NUL byte or is larger than [MaxContent].
func Of(path, content string) []Definition { return Parsed(nil, path, content) }

// Parsed is [Of] with a parser: files and ranges that it cannot parse are read by lines. With a nil
// parser it is Of.
func Parsed(p Parser, path, content string) []Definition {
	if p == nil {
		p = goParser{}
	}
	language := Language(path, content)
	if language == "" || len(content) > MaxContent || strings.IndexByte(content, 0) >= 0 {
		return nil
	}
	if !utf8.ValidString(content) {
		content = strings.ToValidUTF8(content, "?")
	}
	t := newText(content)
	return finish(t, definitions(p, language, t))
}

// definitions chooses the reader for a language.
func definitions(p Parser, language string, t *text) []Definition {
	if language == "markdown" {
		return headings(t)
	}
	if len(t.content) > MaxParsed {
		return scanLines(language, t)
	}
	defs, doubts, ok := p.Parse(language, t.content)
	switch {
	case !ok || len(defs) == 0:
		return scanLines(language, t)
	case len(doubts) > 0:
		return addFromLines(defs, doubts, scanLines(language, t))
	}
	return defs
}

// finish sorts the definitions, fills in their lines and applies the limits.
func finish(t *text, defs []Definition) []Definition {
	slices.SortStableFunc(defs, func(a, b Definition) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	if len(defs) > MaxDefinitions {
		defs = defs[:MaxDefinitions]
	}
	for i := range defs {
		d := &defs[i]
		d.Start = min(max(d.Start, 1), t.lines())
		d.End = min(max(d.End, d.Start), t.lines())
		d.Line = visible.FirstBytes(strings.TrimSpace(t.line(d.Start-1)), MaxLine)
		d.Name = visible.FirstBytes(d.Name, MaxLine)
	}
	return defs
}

// Signatures returns the numbers of the lines on which definitions begin, counted from 0, in order
// and each once. It has the limits of [Of].
func Signatures(path, content string) []int {
	var out []int
	for _, d := range Of(path, content) {
		if n := len(out); n == 0 || out[n-1] != d.Start-1 {
			out = append(out, d.Start-1)
		}
	}
	return out
}
