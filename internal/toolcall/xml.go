package toolcall

import (
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/lazyregexp"
)

// XML is a tool call written as tags in text: <name><param>value</param>…</name>.
type XML struct {
	Name   string
	Start  int // of the opening tag in the text, in bytes
	End    int // after the closing tag
	Params []Param
}

// Param is one parameter of an XML call. Start and End bound its value in the
// text.
type Param struct {
	Name       string
	Value      string
	Start, End int
}

// A call begins with its name in a tag at the start of a line, and a parameter with a tag.
var (
	callTag  = lazyregexp.New(`(?m)^<([\w-]{1,63})>`)
	paramTag = lazyregexp.New(`^\s*<([\w-]{1,63})>`)
)

// ParseXML returns the XML tool calls of an assistant's text: a closed tag alone at the start of a
// line with content that begins with another tag, or with a line break and another tag. HTML and
// code are not taken for calls unless they have just that form. It gives up on text with too many
// near misses, and after the first 5,000 calls.
func ParseXML(text string) (out []XML) {
	const (
		mostTries = 100 // each may read to the end of the text
		mostCalls = 5000
	)
	at, tries := 0, 0
	last := map[string]int{} // start of the last closing tag of a name
	for _, m := range callTag.FindAllStringSubmatchIndex(text, -1) {
		name, body := text[m[2]:m[3]], m[1]
		if m[0] < at || !strings.Contains(name, "_") && !is("call", name) {
			continue
		}
		closing := "</" + name + ">"
		if _, known := last[name]; !known {
			last[name] = strings.LastIndex(text, closing)
		}
		if last[name] < body {
			continue
		}
		end := body + strings.Index(text[body:], closing)
		if params := params(text, body, end); len(params) > 0 {
			at = end + len(closing)
			out = append(out, XML{Name: name, Start: m[0], End: at, Params: params})
		} else {
			tries++
		}
		if tries == mostTries || len(out) == mostCalls {
			break
		}
	}
	return out
}

// params parses the values between from and to. A value ends at the last closing tag of its name
// before the next parameter can begin, so that content may contain the tag.
func params(text string, from, to int) (out []Param) {
	for {
		found := paramTag.FindAllStringSubmatchIndex(text[from:to], 1)
		if found == nil {
			return out
		}
		m := found[0]
		name, body := text[from+m[2]:from+m[3]], from+m[1]
		closing := "</" + name + ">"
		n := strings.Index(text[body:to], closing)
		if is("bulk", name) {
			n = strings.LastIndex(text[body:to], closing)
		}
		if n < 0 {
			return out
		}
		out = append(out, Param{Name: name, Value: text[body : body+n], Start: body, End: body + n})
		from = body + n + len(closing)
	}
}

func (x XML) call(use precis.Handle) Call {
	key := x.Name
	for _, p := range x.Params {
		key += "\x00" + p.Name + "\x00" + strings.TrimSpace(p.Value)
	}
	return classify(Call{Name: x.Name, Use: use, key: key, params: x.Params})
}

// WithoutCalls returns a text of the agent without calls in it and without lines of its program.
func WithoutCalls(text string) string {
	var out strings.Builder
	for line := range strings.Lines(withoutActions(text)) {
		if bare := strings.TrimSpace(line); isOpened(bare) && !strings.Contains(text, "</"+bare[1:]) {
			break // a call in text that was cut off
		} else if !harness.IsRemark(bare) {
			out.WriteString(line)
		}
	}
	return strings.TrimSpace(out.String())
}

// withoutActions removes the calls in the text of an agent.
func withoutActions(text string) string {
	for {
		before, rest, found := strings.Cut(text, actionStart)
		if !found {
			return text
		}
		_, after, _ := strings.Cut(rest, actionEnd)
		text = before + after
	}
}

// isOpened reports whether a line is the tag that opens a call in text, recognized by a name that a
// person would not type.
func isOpened(line string) bool {
	return len(line) > 2 && line[0] == '<' && line[len(line)-1] == '>' && strings.Contains(line, "_") &&
		strings.Trim(line[1:len(line)-1], "abcdefghijklmnopqrstuvwxyz_") == ""
}
