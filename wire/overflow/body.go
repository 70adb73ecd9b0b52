package overflow

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

const (
	headSize  = 64 << 10 // how much of a body's beginning is read
	tailSize  = 16 << 10 // and of its end
	maxDepth  = 24       // of objects and arrays
	maxLevel  = 5        // of structures inside strings
	maxLength = 4 << 10  // of one text
	maxRoom   = 24 << 10 // of all texts of the beginning, and of the end
)

// signs are strings of a body that may be an error despite its status.
var signs = [][]byte{
	[]byte("rror"), []byte("ERROR"), []byte("xception"), []byte(`essage":"`), []byte(`essage": "`),
	[]byte("_msg"), []byte(`"detail"`), []byte("window_exceeded"),
}

// eventful reports whether a body may hold an error, without parsing it.
func eventful(body []byte) bool {
	head, tail := ends(body)
	return slices.ContainsFunc(signs,
		func(s []byte) bool { return bytes.Contains(head, s) || bytes.Contains(tail, s) })
}

// ends returns the parts of a body that are read.
func ends(body []byte) (head, tail []byte) {
	if len(body) <= headSize+tailSize {
		return body, nil
	}
	return body[:headSize], body[len(body)-tailSize:]
}

// reader collects the texts of a body. It follows the structure of JSON, of
// dumps with other quotes or bare names, and of truncated text; it accepts
// anything.
type reader struct {
	strict bool // reads only members that are marked as errors
	plain  bool // also reads text outside of any structure
	texts  []string
	room   int            // for more texts
	fields map[string]int // numbers by the name of their member
}

// place is where in a body the reader is.
type place struct {
	name   string // of the member
	depth  int
	level  int
	failed bool // part of an error
}

// memberNames begin the last error at the end of a long body.
var memberNames = [][]byte{[]byte(`"error"`), []byte(`"detail"`), []byte(`"message"`)}

func (r *reader) read(body []byte) {
	r.fields = map[string]int{}
	head, tail := ends(body)
	r.room = maxRoom
	r.text(strings.ToValidUTF8(string(head), " "), place{failed: !r.strict})
	r.room = maxRoom
	for _, name := range memberNames {
		if i := bytes.LastIndex(tail, name); i >= 0 {
			r.text("{"+strings.ToValidUTF8(string(tail[i:]), " "), place{failed: !r.strict})
			return
		}
	}
}

// opening is where a structure begins in a text: a brace or bracket and what
// must follow it, so that "[1, 4096]" and "{name}" stay text.
var opening = lazyregexp.New(`\{\s*(?:\\*["']|\}|[A-Za-z_]\w{0,40}\s*:)|\[\s*(?:\{|["'])`)

// escapedQuotes match quotes of a structure that lost the string around it.
var escapedQuotes = lazyregexp.New(`\\+(["'])`)

// announces reports whether the last line of a text, ignoring empty lines and
// "data:", announces an error: "event: error", "error: ".
func announces(s string) bool {
	s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "data:"))
	s = strings.TrimSpace(strings.TrimPrefix(s[strings.LastIndexByte(s, '\n')+1:], "event:"))
	return len(s) >= 5 && strings.EqualFold(s[:5], "error")
}

// text reads text that may hold structures.
func (r *reader) text(s string, p place) {
	var own strings.Builder
	for i := 0; i < len(s); {
		loc := opening.FindStringIndex(s[i:])
		if loc == nil || p.level > maxLevel {
			own.WriteString(s[i:])
			break
		}
		own.WriteString(s[i : i+loc[0]])
		own.WriteByte(' ')
		if strings.Contains(s[i+loc[0]:i+loc[1]], `\`) {
			s, i = s[:i+loc[0]]+escapedQuotes.ReplaceAllString(s[i+loc[0]:], "$1"), i+loc[0]
			continue
		}
		in := p
		in.level++
		in.failed = p.failed || announces(s[i:i+loc[0]])
		i = r.value(s, i+loc[0], in)
	}
	if t := own.String(); p.failed || p.level == 0 && (r.plain || announces(t)) {
		r.add(t)
	}
}

func (r *reader) add(t string) {
	t = strings.TrimSpace(t)
	if len(t) > maxLength {
		t = t[:maxLength*3/4] + " " + t[len(t)-maxLength/4:]
	}
	if t != "" && r.room > 0 && !slices.Contains(r.texts, t) {
		r.texts = append(r.texts, t)
		r.room -= len(t)
	}
}

// value reads the value at i and returns where it ends, always after i.
func (r *reader) value(s string, i int, p place) int {
	switch c := s[i]; {
	case (c == '{' || c == '[') && p.depth < maxDepth:
		p.depth++
		return r.members(s, i+1, p)
	case c == '"' || c == '\'':
		t, end := quoted(s, i)
		r.leaf(t, p)
		return end
	}
	end := i + 1
	for end < len(s) && !strings.ContainsRune(" \t\r\n,:]}\"'", rune(s[end])) {
		end++
	}
	r.word(s[i:end], p)
	return end
}

// members reads an object or an array to its end.
func (r *reader) members(s string, i int, p place) int {
	for i < len(s) {
		switch s[i] {
		case '}', ']':
			return i + 1
		case ' ', '\t', '\r', '\n', ',', ':', '\\':
			i++
			continue
		}
		name, after, ok := memberName(s, i)
		if !ok {
			i = r.value(s, i, p)
			continue
		}
		if after == len(s) {
			return after
		}
		i = r.member(s, after, name, p)
	}
	return i
}

func (r *reader) member(s string, i int, name string, p place) int {
	p.name = strings.ToLower(name)
	if echoes[p.name] {
		mute := reader{strict: true}
		return mute.value(s, i, place{depth: p.depth, level: maxLevel + 1})
	}
	p.failed = p.failed || failing(p.name)
	return r.value(s, i, p)
}

// leaf records a string.
func (r *reader) leaf(t string, p place) {
	switch {
	case reasons[p.name]:
		if strings.Contains(t, "context_window") || strings.Contains(t, "context_length") {
			r.add(t)
		}
	case p.failed || p.depth == 1 && messages[p.name]:
		p.failed = true
		r.word(t, p)
		r.text(t, p)
	}
}

// word records a number, or a string that may be one.
func (r *reader) word(t string, p place) {
	n, err := strconv.Atoi(t)
	if err != nil || !p.failed {
		return
	}
	if _, ok := r.fields[p.name]; !ok {
		r.fields[p.name] = n
	}
	if strings.Contains(p.name, "code") || p.name == "status" {
		r.add("code " + t)
	}
}
