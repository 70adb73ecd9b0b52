package toolcall

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/lazyregexp"
)

// Limits for reading a program.
const (
	mostScriptCalls = 32
	deepestScript   = 64
)

var (
	// jsToken is a token of JavaScript: a comment, a string, which the end of the program may end,
	// a number, a name, or a sign.
	jsToken = lazyregexp.New(`(?s)//[^\n]*|/\*.*?(?:\*/|$)` +
		"|\"(?:[^\"\\\\]|\\\\.)*(?:\"|$)|'(?:[^'\\\\]|\\\\.)*(?:'|$)|`(?:[^`\\\\]|\\\\.)*(?:`|$)" +
		`|-?\d[\w.+-]*|[\w$\x{80}-\x{10FFFF}]+|\S`)
	jsEscape = lazyregexp.New(`(?s)\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,8}\}|.)`)
)

// scriptCalls returns the calls in a program in JavaScript that a model writes to call its tools,
// as in the code mode of Codex:
//
//	const r = await tools.exec_command({cmd: "ls", yield_time_ms: 250}); text(r);
//
// Arguments that are not literals are null. Reading ends silently at invalid JavaScript.
func scriptCalls(code string) (out []Use) {
	var s script
	for _, m := range jsToken.FindAllStringSubmatch(code[:min(len(code), mostBytes)], -1) {
		if t := m[0]; !strings.HasPrefix(t, "//") && !strings.HasPrefix(t, "/*") {
			s.tokens = append(s.tokens, t)
		}
	}
	for s.at < len(s.tokens) && len(out) < mostScriptCalls {
		isTools := s.peek() == "tools" && s.tokens[max(s.at-1, 0)] != "."
		s.at++
		if !isTools {
			continue
		}
		if name := s.member(); name != "" && s.take("(") {
			out = append(out, Use{name, s.parseValue(0)})
		}
	}
	return out
}

// script reads a program from left to right.
type script struct {
	tokens []string
	at     int
}

// peek returns the next token; "" at the end.
func (s *script) peek() string {
	if s.at < len(s.tokens) {
		return s.tokens[s.at]
	}
	return ""
}

func (s *script) take(sign string) bool {
	found := s.peek() == sign
	if found {
		s.at++
	}
	return found
}

// member returns the name of the accessed member: of tools.name and tools["name"].
func (s *script) member() string {
	switch {
	case s.take("."):
		return s.key()
	case s.take("["):
		if name := s.key(); s.take("]") && isJSText(s.tokens[s.at-2]) {
			return name
		}
	}
	return ""
}

// key takes a name or a string; "" when another token is next.
func (s *script) key() string {
	t := s.peek()
	switch {
	case isJSText(t):
		t = unquoteJS(t)
	case t == "" || isSign(t):
		return ""
	}
	s.at++
	return t
}

func isJSText(t string) bool { return t != "" && strings.Contains("\"'`", t[:1]) }

// isSign reports whether a token is not a string, name or number.
func isSign(t string) bool { return len(t) == 1 && t[0] != '_' && t[0] != '$' && !isWordByte(t[0]) }

// unquoteJS returns the text of a string literal. Expressions in a template stay as written.
func unquoteJS(t string) string {
	t = strings.TrimSuffix(t[1:], t[:1])
	return jsEscape.ReplaceAllStringFunc(t, func(e string) string {
		if i := strings.IndexByte("nrtbfv0\n", e[1]); i >= 0 {
			return []string{"\n", "\r", "\t", "\b", "\f", "\v", "\x00", ""}[i]
		}
		if r, err := strconv.ParseUint(strings.Trim(e[2:], "{}"), 16, 32); err == nil {
			return string(rune(r))
		}
		return e[1:]
	})
}

// parseValue returns the value that begins here as JSON; expressions become null.
func (s *script) parseValue(depth int) json.RawMessage {
	var out []byte
	switch t := s.peek(); {
	case depth > deepestScript:
	case t == "{":
		out = s.parseObject(depth)
	case t == "[":
		out = s.parseArray(depth)
	case isJSText(t):
		text := s.key()
		for s.take("+") && isJSText(s.peek()) { // "a" + "b"
			text += s.key()
		}
		out = jsonspan.AppendString(nil, text)
	case json.Valid([]byte(t)):
		out = []byte(t)
		s.at++
	}
	if s.rest() || out == nil {
		return json.RawMessage("null")
	}
	return out
}

// rest skips the part of a value after its literal, up to the token that ends it, and reports
// whether there is any.
func (s *script) rest() (more bool) {
	for open := 0; s.at < len(s.tokens); s.at++ {
		switch t := s.peek(); {
		case open == 0 && strings.Contains(",;)]}", t):
			return more
		case strings.Contains("([{", t):
			open++
		case strings.Contains(")]}", t):
			open--
		}
		more = true
	}
	return more
}

func (s *script) parseObject(depth int) []byte {
	out := []byte{'{'}
	for s.at++; !s.take("}"); {
		name, value := s.key(), json.RawMessage("null")
		if s.take(":") {
			value = s.parseValue(depth + 1)
		} else { // ...rest, [computed]
			s.rest()
		}
		if name != "" {
			out = append(jsonspan.AppendField(out, name), value...)
		}
		if !s.take(",") && s.peek() != "}" {
			break
		}
	}
	return append(out, '}')
}

func (s *script) parseArray(depth int) []byte {
	out := []byte{'['}
	for s.at++; !s.take("]"); {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, s.parseValue(depth+1)...)
		if !s.take(",") && s.peek() != "]" {
			break
		}
	}
	return append(out, ']')
}

// The heads of results of Codex's code mode.
const (
	scriptDone   = "Script completed"
	scriptFailed = "Script failed"
	scriptOutput = "\nOutput:\n"
)

// scripted replaces the call of a program by the call that the program makes, with its own result.
// A program with several calls becomes the first of them, with the effects and commands of all.
func (c *Call) scripted(code string) {
	calls := scriptCalls(code)
	var out Call
	for i, call := range calls {
		next := classify(Call{Name: call.Name, Use: c.Use, input: call.Input})
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
	if len(calls) > 0 {
		out.key, out.script = c.Name+"\x00"+code, calls
		*c = out
	}
}

// setScriptResult stores the result of a program: the output of its single call, in the form of that
// call's own result.
func (c *Call) setScriptResult(text string) {
	failed := strings.HasPrefix(text, scriptFailed)
	head, output, found := strings.Cut(text, scriptOutput)
	if !found || !failed && !strings.HasPrefix(head, scriptDone) {
		return
	}
	if failed {
		c.IsError = true
		return
	}
	c.Text = strings.TrimLeft(output, "\n")
	raw := []byte(c.Text)
	printed, isText := jsonspan.String(jsonspan.Field(raw, "output"))
	if !isText || jsonspan.Valid(raw) != nil {
		return
	}
	c.Text = "Output:\n" + printed
	if code := jsonspan.Field(raw, "exit_code"); jsonspan.Kind(code) == '0' {
		c.Text = "Process exited with code " + string(code) + "\n" + c.Text
	} else if id := jsonspan.Field(raw, "session_id"); jsonspan.Kind(id) == '0' {
		c.Text = "Process running with session ID " + string(id) + "\n" + c.Text
	}
}
