// Package lazyregexp holds regular expressions that are compiled when they are
// first used: compiling the tables of a whole program at its start costs more
// than most of its commands do. Make one with [New].
package lazyregexp

import (
	"regexp"
	"sync/atomic"
)

// Regexp is a regular expression. Its methods are those of [regexp.Regexp]; the
// first call compiles it, and panics when the pattern is wrong. It is safe for
// concurrent use.
type Regexp struct {
	pattern string
	made    atomic.Pointer[regexp.Regexp]
}

// New returns the regular expression of a pattern, which is not compiled yet.
// The linker lays out that of a package variable: it costs nothing at the start.
func New(pattern string) *Regexp { return &Regexp{pattern: pattern} }

// compiled returns the regular expression. Goroutines that come at the same time may compile it twice; all get the same.
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

// FindStringIndex returns where the first match begins and ends; nil: nowhere.
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindAllStringIndex returns where n matches begin and end, all of them for a
// negative n.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

// FindStringSubmatch returns the first match and its groups; nil: there is none.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindAllStringSubmatch returns n matches with their groups, all of them for a
// negative n.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex returns where n matches and their groups begin and
// end, all of them for a negative n.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString returns s with its matches replaced, "$1" standing for a
// group.
func (r *Regexp) ReplaceAllString(s, by string) string { return r.compiled().ReplaceAllString(s, by) }

// ReplaceAllStringFunc returns s with its matches replaced by what f returns for
// each.
func (r *Regexp) ReplaceAllStringFunc(s string, f func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, f)
}
