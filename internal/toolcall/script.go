package toolcall

import (
	"encoding/json"
	"strconv"
	"strings"

	"precis/internal/jsonspan"
)

// Bounds of what is read of a program.
const (
	mostScriptCalls = 32
	deepestScript   = 64
)

// scriptCalls returns the calls in a program in JavaScript that a model writes to call its
// tools, as in the code mode of Codex:
//
//	const r = await tools.exec_command({cmd: "ls", yield_time_ms: 250}); text(r);
//
// Arguments are literals; what is not, is null. Reading ends silently at what is no
// JavaScript.
func scriptCalls(code string) []Use {
	s := script{code: code}
	var out []Use
	for len(out) < mostScriptCalls && s.seek("tools") {
		name := s.member()
		if name == "" || !s.take('(') {
			continue
		}
		args := s.value(0)
		out = append(out, Use{name, args})
	}
	return out
}

// script reads a program from left to right.
type script struct {
	code string
	at   int
}

func (s *script) peek() byte {
	if s.at < len(s.code) {
		return s.code[s.at]
	}
	return 0
}

// space skips white space and comments.
func (s *script) space() {
	for s.at < len(s.code) {
		rest := s.code[s.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			s.at++
		case strings.HasPrefix(rest, "//"):
			s.skipTo(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			s.skipTo(rest, "*/")
		default:
			return
		}
	}
}

func (s *script) skipTo(rest, end string) {
	if n := strings.Index(rest[2:], end); n >= 0 {
		s.at += 2 + n + len(end)
	} else {
		s.at = len(s.code)
	}
}

func (s *script) take(c byte) bool {
	s.space()
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

func inName(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (s *script) name() string {
	s.space()
	from := s.at
	for s.at < len(s.code) && inName(s.code[s.at]) {
		s.at++
	}
	return s.code[from:s.at]
}

// seek goes behind the next use of a name, outside of strings and comments; false at the
// end.
func (s *script) seek(name string) bool {
	before := byte(0) // the character before, white space aside
	for {
		s.space()
		switch c := s.peek(); {
		case c == 0:
			return false
		case c == '"' || c == '\'' || c == '`':
			s.text()
		case inName(c):
			if s.name() == name && before != '.' {
				return true
			}
		default:
			s.at++
			before = c
			continue
		}
		before = 0
	}
}

// member returns the name of the member that is used: of tools.name and tools["name"].
func (s *script) member() string {
	switch {
	case s.take('.'):
		return s.name()
	case s.take('['):
		s.space()
		if c := s.peek(); c != '"' && c != '\'' {
			return ""
		}
		name := s.text()
		if s.take(']') {
			return name
		}
	}
	return ""
}

// text returns the string that begins here, which ends at its quotation mark or the end of
// the program. What a template inserts stands in it as it is written.
func (s *script) text() string {
	quote := s.code[s.at]
	s.at++
	var b strings.Builder
	for s.at < len(s.code) {
		c := s.code[s.at]
		s.at++
		switch {
		case c == quote:
			return b.String()
		case c != '\\' || s.at == len(s.code):
			b.WriteByte(c)
		default:
			s.escape(&b)
		}
	}
	return b.String()
}

// escape reads what follows a backslash.
func (s *script) escape(b *strings.Builder) {
	c := s.code[s.at]
	s.at++
	if i := strings.IndexByte("nrtbfv0", c); i >= 0 {
		b.WriteByte("\n\r\t\b\f\v\x00"[i])
		return
	}
	digits := map[byte]int{'x': 2, 'u': 4}[c]
	if c == 'u' && s.peek() == '{' {
		s.at++
		digits = max(strings.IndexByte(s.code[s.at:min(s.at+9, len(s.code))], '}'), 0)
		defer func() { s.take('}') }()
	}
	if digits > 0 && digits <= 8 && s.at+digits <= len(s.code) {
		if r, err := strconv.ParseUint(s.code[s.at:s.at+digits], 16, 32); err == nil {
			s.at += digits
			b.WriteRune(rune(r))
			return
		}
	}
	if c != '\n' {
		b.WriteByte(c)
	}
}

// value returns the value that begins here as JSON; what is not written out is null.
func (s *script) value(depth int) json.RawMessage {
	null := json.RawMessage("null")
	s.space()
	if depth > deepestScript {
		return null
	}
	var out json.RawMessage
	switch c := s.peek(); {
	case c == '{':
		out = s.object(depth)
	case c == '[':
		out = s.array(depth)
	case c == '"' || c == '\'' || c == '`':
		var text strings.Builder
		text.WriteString(s.text())
		for s.take('+') { // "a" + "b"
			s.space()
			if c := s.peek(); c != '"' && c != '\'' && c != '`' {
				break
			}
			text.WriteString(s.text())
		}
		out = jsonspan.AppendString(nil, text.String())
	default:
		from := s.at
		for s.at < len(s.code) && (inName(s.code[s.at]) || strings.IndexByte("+-.", s.code[s.at]) >= 0) {
			s.at++
		}
		if word := json.RawMessage(s.code[from:s.at]); json.Valid(word) {
			out = word
		}
	}
	if s.rest() || out == nil {
		return null
	}
	return out
}

// rest skips what belongs to a value behind its literal, up to what ends it, and reports
// whether there is any.
func (s *script) rest() (more bool) {
	open := 0
	for {
		s.space()
		c := s.peek()
		switch {
		case c == 0, open == 0 && strings.IndexByte(",;)]}", c) >= 0:
			return more
		case c == '"' || c == '\'' || c == '`':
			s.text()
		case strings.IndexByte("([{", c) >= 0:
			open++
			s.at++
		case strings.IndexByte(")]}", c) >= 0:
			open--
			s.at++
		default:
			s.at++
		}
		more = true
	}
}

func (s *script) object(depth int) json.RawMessage {
	s.at++
	out := []byte{'{'}
	for s.peek() != 0 {
		s.space()
		var name string
		switch c := s.peek(); {
		case c == '}':
			s.at++
			return append(out, '}')
		case c == '"' || c == '\'':
			name = s.text()
		case inName(c):
			name = s.name()
		default: // ...rest, [computed]
			s.rest()
		}
		value := json.RawMessage("null")
		if s.take(':') {
			value = s.value(depth + 1)
		} else {
			s.rest()
		}
		if name != "" {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(append(out, jsonspan.AppendString(nil, name)...), ':'), value...)
		}
		if !s.take(',') && !s.ends('}') {
			break
		}
	}
	return append(out, '}')
}

func (s *script) array(depth int) json.RawMessage {
	s.at++
	out := []byte{'['}
	for s.peek() != 0 {
		if s.ends(']') {
			s.at++
			break
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, s.value(depth+1)...)
		if !s.take(',') && !s.ends(']') {
			break
		}
	}
	return append(out, ']')
}

// ends reports whether a closing bracket is next.
func (s *script) ends(bracket byte) bool {
	s.space()
	return s.peek() == bracket
}

// The heads of what the code mode of Codex gives back.
const (
	scriptDone   = "Script completed"
	scriptFailed = "Script failed"
	scriptOutput = "\nOutput:\n"
)

// scripted returns a call of a program as the call that the program makes, its result as
// that one gives it back. A program with several calls is the first of them with the effects
// and commands of all.
func (c Call) scripted(code string) (Call, bool) {
	calls := scriptCalls(code)
	if len(calls) == 0 {
		return c, false
	}
	var out Call
	for i, call := range calls {
		next := classify(Call{Name: call.Name, Use: c.Use, input: call.Input}, arguments(call.Input))
		if i == 0 {
			out = next
			continue
		}
		out.Effects = append(out.Effects, next.Effects...)
		if out.Line != "" && next.Line != "" {
			out.Line += "; " + next.Line
		}
		if next.Path != out.Path {
			out.Path = ""
		}
	}
	out.key, out.script = c.Name+"\x00"+code, calls
	return out, true
}

// answered takes in the result of a program: what its one call printed, in the form in which
// a call of its own gives it.
func (c *Call) answered(text string) {
	failed := strings.HasPrefix(text, scriptFailed)
	head, output, found := strings.Cut(text, scriptOutput)
	if !found || !failed && !strings.HasPrefix(head, scriptDone) {
		return
	}
	if failed {
		c.IsError = true
		return
	}
	output = strings.TrimLeft(output, "\n")
	c.Text = output
	if jsonspan.Kind([]byte(output)) != '{' || jsonspan.Valid([]byte(output)) != nil {
		return
	}
	fields, err := jsonspan.Fields([]byte(output))
	printed, isText := jsonspan.String(fields["output"])
	if err != nil || !isText {
		return
	}
	state := ""
	switch {
	case jsonspan.Kind(fields["exit_code"]) == '0':
		state = "Process exited with code " + string(fields["exit_code"]) + "\n"
	case jsonspan.Kind(fields["session_id"]) == '0':
		state = "Process running with session ID " + string(fields["session_id"]) + "\n"
	}
	c.Text = state + "Output:\n" + printed
}
