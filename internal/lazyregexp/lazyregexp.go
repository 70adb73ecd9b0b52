// Package lazyregexp defers compiling regular expressions to their first use, because compiling all
// tables of a program at its start costs more than most of its commands. Make one with [New].
package lazyregexp

import (
	"regexp"
	"sync/atomic"
)

// Regexp is a regular expression with the methods of [regexp.Regexp]. The first call compiles it,
// and panics on an invalid pattern. It is safe for concurrent use.
type Regexp struct {
	pattern string
	made    atomic.Pointer[regexp.Regexp]
}

// New returns the regular expression of a pattern, not yet compiled. As a package variable it is
// initialized by the linker, at no cost at program start.
func New(pattern string) *Regexp { return &Regexp{pattern: pattern} }

// compiled returns the compiled expression. Concurrent first calls may compile it twice; all get
// the same one.
func (r *Regexp) compiled() *regexp.Regexp {
	if r.made.Load() == nil {
		r.made.CompareAndSwap(nil, regexp.MustCompile(r.pattern))
	}
	return r.made.Load()
}

// All returns the regular expressions of many patterns.
func All(patterns ...string) []*Regexp {
	out := make([]*Regexp, len(patterns))
	for i, p := range patterns {
		out[i] = New(p)
	}
	return out
}

// Match reports whether b contains a match.
func (r *Regexp) Match(b []byte) bool { return r.compiled().Match(b) }

// MatchString reports whether s contains a match.
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// FindStringIndex returns the range of the first match; nil without a match.
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindAllStringIndex returns the ranges of n matches, all of them for a negative n.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

// FindStringSubmatch returns the first match and its groups; nil without a match.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindAllStringSubmatch returns n matches with their groups, all of them for a
// negative n.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex returns the ranges of n matches and their groups, all of them for a
// negative n.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString returns s with its matches replaced; "$1" inserts a group.
func (r *Regexp) ReplaceAllString(s, by string) string { return r.compiled().ReplaceAllString(s, by) }

// ReplaceAllStringFunc returns s with each match replaced by the result of f.
func (r *Regexp) ReplaceAllStringFunc(s string, f func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, f)
}
