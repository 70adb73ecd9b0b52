package preview

import (
	"fmt"
	"strings"
)

// code classifies source code, configuration and markup, file by file.
func (d *document) code() string {
	var files []string
	lines, definitions := 0, 0
	largest, most := language{}, -1
	for _, s := range d.sources() {
		l, ok := languageOf(s.path)
		if !ok || l.kind != Code {
			l = s.guessLanguage()
		}
		definitions += s.classify(l)
		lines += len(s.lines)
		if len(s.lines) > most {
			largest, most = l, len(s.lines)
		}
		if s.path != "" {
			files = append(files, shortPath(s.path))
		}
	}
	head := largest.head() + ", " + count(lines, "line")
	if noun := largest.style.noun(); noun != "" {
		head += ", " + count(definitions, noun)
	}
	if len(files) > 1 {
		head += fmt.Sprintf(", %d files: %s", len(files), strings.Join(files, ", "))
	}
	return head
}

// head writes "Go source", "YAML", "source".
func (l language) head() string {
	if l.style == styleSource && l.name != "source" && l.name != "Dockerfile" {
		return l.name + " source"
	}
	return l.name
}

// noun names the signatures of such a file.
func (s style) noun() string {
	switch s {
	case styleSource:
		return "definition"
	case styleKeys:
		return "key"
	case styleSheet:
		return "rule"
	}
	return ""
}

// source is the lines of one file; their numbers in the document.
type source struct {
	d     *document
	path  string
	lines []int
}

func (s source) line(n int) *line { return &s.d.lines[s.lines[n]] }

// sources divides the content at the frame lines that name a file.
func (d *document) sources() []source {
	out := []source{{d: d, path: d.hint.Path}}
	for i := range d.lines {
		l := &d.lines[i]
		if !l.frame {
			s := &out[len(out)-1]
			s.lines = append(s.lines, i)
			continue
		}
		path := framePath(l.body)
		if path == "" {
			continue
		}
		if out[len(out)-1].holdsText() {
			out = append(out, source{d: d})
		}
		out[len(out)-1].path = path
	}
	return out
}

const mostKeys = 40 // of a configuration file that are all headlines

// keys classifies the lines of a configuration file and returns how many keys and sections it has.
// If there are many, only sections are headlines.
func (s source) keys() int {
	keys, sections := 0, 0
	for n := range s.lines {
		line := s.line(n)
		if line.class != Detail || !isSignature(line.body, styleKeys) {
			continue
		}
		line.class = Headline
		keys++
		if line.body[0] == '[' {
			sections++
		}
	}
	for n := range s.lines {
		line := s.line(n)
		if keys > mostKeys && sections > 0 && line.class == Headline && line.body[0] != '[' {
			line.class = Detail
		}
	}
	return keys
}

func (s source) holdsText() bool {
	for n := range s.lines {
		if !blank(s.line(n).body) {
			return true
		}
	}
	return false
}

// classify gives each line its class and returns how many definitions there are.
func (s source) classify(l language) int {
	definitions := 0
	for n := range s.lines {
		s.line(n).class = codeClass(s.line(n).body)
	}
	for _, n := range s.outlined() {
		if n >= 0 && n < len(s.lines) && s.line(n).class != Headline {
			s.line(n).class = Headline
			definitions++
		}
	}
	if definitions > 0 {
		return definitions
	}
	if l.style == styleKeys {
		return s.keys()
	}
	for n := range s.lines {
		if line := s.line(n); line.class == Detail && isSignature(line.body, l.style) {
			line.class = Headline
			definitions++
		}
	}
	return definitions
}

// outlined asks the hint for the signatures.
func (s source) outlined() []int {
	if s.d.hint.Signatures == nil || len(s.lines) == 0 {
		return nil
	}
	var b strings.Builder
	for n := range s.lines {
		b.WriteString(s.line(n).body)
		b.WriteByte('\n')
	}
	return s.d.hint.Signatures(s.path, b.String())
}

// codeClass distinguishes lines without content from the others.
func codeClass(body string) Class {
	t, _ := trimLeft(body)
	if len(t) > 80 {
		return Detail
	}
	t = trimRight(t)
	switch t {
	case "", "end", "*/", "/*", "/**", "*", "//", "#", `"""`, "'''", "fi", "done", "esac", "begin", "{/*",
		"-->", "<!--", "```", "else:", "} else {":
		return Noise
	}
	for i := 0; i < len(t); i++ {
		if strings.IndexByte("{}()[];,", t[i]) < 0 {
			if separator(t) || (t[0] == '/' || t[0] == '#') && separator(strings.TrimLeft(t, "/#*")) {
				return Noise
			}
			return Detail
		}
	}
	return Noise
}

// guessLanguage determines the language from the first lines when no path names it.
func (s source) guessLanguage() language {
	source := language{"source", Code, styleSource}
	braces, keys, tags, n := 0, 0, 0, 0
	for i := range min(len(s.lines), 80) {
		t, indent := trimLeft(s.line(i).body)
		if t = trimRight(t); t == "" {
			continue
		}
		n++
		switch last := t[len(t)-1]; {
		case indent == 0 && strings.HasPrefix(t, "package ") && last != ';':
			source.name = "Go"
		case hasPrefix(t, "def ", "from ") && (last == ':' || strings.Contains(t, " import ")):
			source.name = "Python"
		case hasPrefix(t, "fn ", "pub fn ", "impl ", "use crate"):
			source.name = "Rust"
		case hasPrefix(t, "#!/bin/", "#!/usr/bin/env bash"):
			source.name = "shell"
		case t[0] == '<' && last == '>':
			tags++
		case last == '{' || last == '}' || last == ';' || last == ')':
			braces++
		case strings.Contains(t, ": ") && !strings.Contains(t, "(") || last == ':':
			keys++
		}
	}
	switch {
	case source.name != "source":
	case tags*2 > n:
		return language{"markup", Code, styleMarkup}
	case keys*2 > n && braces == 0:
		return language{"configuration", Code, styleKeys}
	}
	return source
}
