package toolcall

import (
	"strings"

	"precis"
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

// ParseXML returns the XML tool calls of an assistant's text: a tag alone at
// the start of a line whose content begins with another tag, or with a line
// break and another tag, and that is closed. HTML and code are not taken for
// calls unless they have just that form. Text that is full of what nearly looks
// like calls is given up on, and so is one behind its first 5,000 calls.
func ParseXML(text string) []XML {
	const (
		mostTries = 100 // each may read to the end of the text
		mostCalls = 5000
	)
	var out []XML
	tries := 0
	last := map[string]int{} // where the last closing tag of a name begins
	for at := 0; at < len(text) && len(out) < mostCalls; {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			break
		}
		i += at
		x, ok := parseCall(text, i, last)
		if !ok {
			at = i + 1
			if x.Name != "" {
				tries++
			}
			if tries == mostTries {
				break
			}
			continue
		}
		out = append(out, x)
		at = x.End
	}
	return out
}

func parseCall(text string, i int, last map[string]int) (XML, bool) {
	if i > 0 && text[i-1] != '\n' {
		return XML{}, false
	}
	name, body, ok := openTag(text, i)
	if !ok || !strings.Contains(name, "_") && !is("call", name) {
		return XML{}, false
	}
	closing := "</" + name + ">"
	end, known := last[name]
	if !known {
		end = strings.LastIndex(text, closing)
		last[name] = end
	}
	if end < body {
		return XML{}, false
	}
	n := strings.Index(text[body:], closing)
	x := XML{Name: name, Start: i, End: body + n + len(closing)}
	x.Params = params(text, body, body+n)
	return x, len(x.Params) > 0
}

// params parses the values between from and to. A value ends at the last
// closing tag of its name before the next parameter can begin, so that content
// may itself hold the tag.
func params(text string, from, to int) []Param {
	var out []Param
	for at := from; at < to; {
		for at < to && (text[at] == '\n' || text[at] == ' ' || text[at] == '\t' || text[at] == '\r') {
			at++
		}
		name, body, ok := openTag(text, at)
		if !ok || body > to {
			break
		}
		closing := "</" + name + ">"
		n := strings.Index(text[body:to], closing)
		if is("bulk", name) {
			n = strings.LastIndex(text[body:to], closing)
		}
		if n < 0 {
			break
		}
		out = append(out, Param{Name: name, Value: text[body : body+n], Start: body, End: body + n})
		at = body + n + len(closing)
	}
	return out
}

// openTag reads "<name>" at i and returns the name and the index after it.
func openTag(text string, i int) (name string, body int, ok bool) {
	if i >= len(text) || text[i] != '<' {
		return "", 0, false
	}
	end := i + 1
	for end < len(text) && end-i < 64 && nameByte(text[end]) {
		end++
	}
	if end == i+1 || end >= len(text) || text[end] != '>' {
		return "", 0, false
	}
	return text[i+1 : end], end + 1, true
}

func nameByte(c byte) bool {
	return c == '_' || c == '-' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func (x XML) call(use precis.Handle) Call {
	args := map[string]string{}
	key := x.Name
	for _, p := range x.Params {
		v := strings.TrimSpace(p.Value)
		args[p.Name] = v
		key += "\x00" + p.Name + "\x00" + v
	}
	return classify(Call{Name: x.Name, Use: use, key: key, params: x.Params}, args)
}
