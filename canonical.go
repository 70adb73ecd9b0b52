package precis

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// canonicalJSON returns raw with sorted keys and no white space, numbers as
// written and cache markers gone; raw itself when it does not begin with a JSON value.
func canonicalJSON(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return raw
	}
	if m, ok := v.(map[string]any); ok {
		delete(m, "cache_control")
		delete(m, "prompt_cache_breakpoint")
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}

// canonical writes the result of [canonicalJSON] in pieces, without a tree of the value and without
// a copy of its strings.
type canonical struct {
	raw        []byte
	containers []container
	write      func([]byte)
	buf        []byte // bytes not written yet
}

// container is an object or an array; containers are numbered by their opening brackets.
type container struct {
	end  int32 // index of its last bracket
	next int32 // number of the first container that opens after it
}

// canonicalOf returns a writer of raw; false when raw is not one JSON value.
func canonicalOf(raw []byte) (*canonical, bool) {
	const longest = 1 << 31
	if len(raw) >= longest || !json.Valid(raw) {
		return nil, false
	}
	c := &canonical{raw: raw}
	var open []int32
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i) - 1
		case '{', '[':
			open = append(open, int32(len(c.containers)))
			c.containers = append(c.containers, container{})
		case '}', ']':
			at := open[len(open)-1]
			open = open[:len(open)-1]
			c.containers[at] = container{end: int32(i), next: int32(len(c.containers))}
		}
	}
	return c, true
}

// stringEnd returns the index after the string of valid JSON that begins at i.
func stringEnd(raw []byte, i int) int {
	for i++; ; i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// size returns how many bytes are written.
func (c *canonical) size() int {
	n := 0
	c.to(func(b []byte) { n += len(b) })
	return n
}

// to hands all bytes to write, in pieces that are only valid during the call.
func (c *canonical) to(write func([]byte)) {
	c.write = write
	c.value(c.space(0), 0, true)
	c.flush()
}

func (c *canonical) flush() {
	if len(c.buf) > 0 {
		c.write(c.buf)
		c.buf = c.buf[:0]
	}
}

// put adds a few bytes.
func (c *canonical) put(s string) {
	if len(c.buf)+len(s) > 4096 {
		c.flush()
	}
	c.buf = append(c.buf, s...)
}

// putBytes adds bytes.
func (c *canonical) putBytes(b []byte) {
	for len(b) > 0 {
		if len(c.buf) >= 4096 {
			c.flush()
		}
		n := min(len(b), 4096-len(c.buf))
		c.buf, b = append(c.buf, b[:n]...), b[n:]
	}
}

func (c *canonical) space(i int) int {
	for i < len(c.raw) && (c.raw[i] == ' ' || c.raw[i] == '\t' || c.raw[i] == '\n' || c.raw[i] == '\r') {
		i++
	}
	return i
}

// value writes the value at i; k containers have opened before it. It returns the index after the
// value and the number of containers opened up to there.
func (c *canonical) value(i, k int, top bool) (int, int) {
	switch c.raw[i] {
	case '"':
		end := stringEnd(c.raw, i)
		c.text(c.raw[i+1 : end-1])
		return end, k
	case '{':
		c.object(i, k, top)
		return int(c.containers[k].end) + 1, int(c.containers[k].next)
	case '[':
		at := c.containers[k]
		c.put("[")
		i, k = c.space(i+1), k+1
		for first := true; i < int(at.end); first = false {
			if !first {
				c.put(",")
			}
			i, k = c.value(i, k, false)
			if i = c.space(i); c.raw[i] == ',' {
				i = c.space(i + 1)
			}
		}
		c.put("]")
		return int(at.end) + 1, int(at.next)
	}
	from := i
	for i < len(c.raw) && strings.IndexByte(",]} \t\r\n", c.raw[i]) < 0 {
		i++
	}
	c.putBytes(c.raw[from:i])
	return i, k
}

// member is a field of an object: its name, the index of its value, and the number of containers
// opened before the value.
type member struct {
	name  string
	value int32
	k     int32
}

// object writes an object with its fields in order; of duplicate names the last counts.
func (c *canonical) object(i, k int, top bool) {
	at := c.containers[k]
	var list []member
	i, k = c.space(i+1), k+1
	for i < int(at.end) {
		end := stringEnd(c.raw, i)
		name := nameOf(c.raw[i:end])
		i = c.space(c.space(end) + 1) // after the colon
		list = append(list, member{name, int32(i), int32(k)})
		i, k = c.skip(i, k)
		if i = c.space(i); c.raw[i] == ',' {
			i = c.space(i + 1)
		}
	}
	slices.SortStableFunc(list, func(a, b member) int { return strings.Compare(a.name, b.name) })
	c.put("{")
	first := true
	for n, m := range list {
		if n+1 < len(list) && list[n+1].name == m.name ||
			top && (m.name == "cache_control" || m.name == "prompt_cache_breakpoint") {
			continue
		}
		if !first {
			c.put(",")
		}
		first = false
		name, _ := json.Marshal(m.name) // a string
		c.put(string(name))
		c.put(":")
		c.value(int(m.value), int(m.k), false)
	}
	c.put("}")
}

// skip returns the same as value without writing.
func (c *canonical) skip(i, k int) (int, int) {
	switch c.raw[i] {
	case '"':
		return stringEnd(c.raw, i), k
	case '{', '[':
		return int(c.containers[k].end) + 1, int(c.containers[k].next)
	}
	for i < len(c.raw) && strings.IndexByte(",]} \t\r\n", c.raw[i]) < 0 {
		i++
	}
	return i, k
}

func nameOf(quoted []byte) (name string) {
	_ = json.Unmarshal(quoted, &name) // it is valid
	return name
}

// text writes the content of a string with the escapes of encoding/json.
func (c *canonical) text(s []byte) {
	c.put(`"`)
	for i := 0; i < len(s); {
		from := i
		for i < len(s) && isPlain(s[i]) {
			i++
		}
		c.putBytes(s[from:i])
		if i == len(s) {
			break
		}
		r, n := runeAt(s[i:])
		i += n
		c.rune(r)
	}
	c.put(`"`)
}

// isPlain reports whether canonical JSON writes a byte of a string unescaped.
func isPlain(b byte) bool {
	return b >= ' ' && b < utf8.RuneSelf && b != '"' && b != '\\' && b != '<' && b != '>' && b != '&'
}

// runeAt returns the first character of s, the rest of a string in valid JSON, and its length in
// bytes. An invalid character is [utf8.RuneError].
func runeAt(s []byte) (rune, int) {
	if s[0] != '\\' {
		return utf8.DecodeRune(s)
	}
	if s[1] != 'u' {
		if at := strings.IndexByte("bfnrt", s[1]); at >= 0 {
			return rune("\b\f\n\r\t"[at]), 2
		}
		return rune(s[1]), 2
	}
	r := unit(s[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if both := utf16.DecodeRune(r, unit(s[8:12])); both != utf8.RuneError {
			return both, 12
		}
	}
	return utf8.RuneError, 6
}

// unit reads four hexadecimal digits.
func unit(digits []byte) (r rune) {
	for _, d := range digits {
		switch {
		case d <= '9':
			d -= '0'
		case d >= 'a':
			d -= 'a' - 10
		default:
			d -= 'A' - 10
		}
		r = r<<4 | rune(d)
	}
	return r
}

// rune writes a character as encoding/json does.
func (c *canonical) rune(r rune) {
	const digits = "0123456789abcdef"
	if r < utf8.RuneSelf {
		if isPlain(byte(r)) {
			c.put(string(r))
			return
		}
		if at := strings.IndexByte("\b\f\n\r\t\"\\", byte(r)); at >= 0 {
			c.put(`\` + `bfnrt"\`[at:at+1])
			return
		}
	}
	if r < ' ' || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029' {
		c.put(string([]byte{'\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15]}))
		return
	}
	c.put(string(r))
}
