package preview

import "strings"

const (
	deepest     = 10_000 // levels of JSON that are followed
	firstBytes  = 700    // of the first object of an array, that are headlines
	firstIDs    = 5      // elements of an array with names that are headlines
	longValue   = 200    // bytes of a value that is not a headline
	shapedDepth = 3      // levels to which the shape is recorded
)

// jsonWalk reads a sequence of JSON values and hands out their parts: members, elements and
// brackets, each with the commas and spaces after it, so that the parts cover all that was read.
type jsonWalk struct {
	text  string
	at    int
	done  int // end of the last part
	stack []jsonFrame
	emit  func(start, end int, c Class, opens bool)
	shape jsonShape
	cut   bool // the text ended within a value
}

// jsonFrame is an array or object that is open. The lowest one holds the values
// of the text.
type jsonFrame struct {
	close     byte // 0 for the lowest
	n         int  // children so far
	limit     int  // up to here children are headlines
	nearStart bool // it is an element near the beginning of its array
	shape     *arrayShape
}

func newJSONWalk(text string, emit func(start, end int, c Class, opens bool)) *jsonWalk {
	w := &jsonWalk{text: text, emit: emit}
	w.stack = append(w.stack, jsonFrame{limit: firstBytes, nearStart: true, shape: &w.shape.root})
	return w
}

// run walks the text, and reports whether it is JSON: to its end, or nearly, or
// cut off at its end.
func (w *jsonWalk) run() bool {
	for w.step() {
	}
	if len(w.stack) == 1 && w.at < len(w.text) {
		w.shape.root.n-- // text after the last value is not one
	}
	if len(w.stack) == 1 && w.done == len(w.text) {
		return w.shape.root.n > 0
	}
	w.cut = len(w.stack) > 1
	tail := len(w.text) - w.done
	if w.at >= len(w.text) {
		return w.shape.members > 0 // cut off
	}
	return tail*10 < len(w.text) && w.shape.members > 0
}

// step reads one part; false at the end and at a fault.
func (w *jsonWalk) step() bool {
	w.space()
	if w.at >= len(w.text) {
		return false
	}
	top := &w.stack[len(w.stack)-1]
	if c := w.text[w.at]; top.close != 0 && c == top.close {
		w.stack = w.stack[:len(w.stack)-1]
		w.at++
		return w.finish(Noise, false)
	}
	name := ""
	if top.close == '}' {
		var ok bool
		if name, ok = w.name(); !ok {
			return false
		}
	}
	top.n++
	if top.close != '}' && top.shape != nil {
		top.shape.n++
	}
	w.shape.members++
	return w.value(top, name)
}

// value reads the value of a member or element of top.
func (w *jsonWalk) value(top *jsonFrame, name string) bool {
	start := w.at
	switch c := w.text[start]; {
	case c == '{' || c == '[':
		return w.open(top, name, c+2)
	case c == '"':
		end := stringEnd(w.text, start)
		if end < 0 {
			w.at = len(w.text)
			return false
		}
		w.at = end
	case c == '-' || isDigit(c):
		for w.at < len(w.text) && numberByte(w.text[w.at]) {
			w.at++
		}
	default:
		n := literal(w.text[start:])
		if n == 0 {
			return false
		}
		w.at += n
	}
	value := w.text[start:w.at]
	if top.shape != nil {
		w.shape.scalar(top, name, value)
	}
	return w.finish(classOfMember(top, name, value, start), top.close != '}')
}

// open begins an array or object. Empty ones are values.
func (w *jsonWalk) open(top *jsonFrame, name string, closing byte) bool {
	start := w.at
	w.at++
	w.space()
	if w.at < len(w.text) && w.text[w.at] == closing {
		w.at++
		return w.finish(Noise, false)
	}
	w.at = start + 1
	if len(w.stack) >= deepest {
		return false
	}
	f := jsonFrame{close: closing, limit: top.limit, nearStart: top.nearStart && top.n <= mostMembers}
	if name != "" && top.limit == 0 {
		f.nearStart = false // part of an element after the first
	}
	if top.close != '}' { // an element
		f.nearStart = top.nearStart && top.n <= firstIDs
		f.limit = 0
		if top.n == 1 && (start < top.limit || len(w.stack) <= shapedDepth && top.nearStart) {
			f.limit = start + firstBytes
		}
	}
	c := Noise
	if name != "" {
		c = Detail
		if len(w.stack) <= 2 && top.n <= mostMembers || start < top.limit {
			c = Headline
		}
	}
	f.shape = w.shape.open(top, name, closing, len(w.stack))
	w.stack = append(w.stack, f)
	return w.finish(c, top.close != '}')
}

// finish hands out the part that ends here: with the comma after it, and the
// spaces up to the end of the line.
func (w *jsonWalk) finish(c Class, opens bool) bool {
	closed := w.at
	w.space()
	sep := false
	if w.at < len(w.text) && w.text[w.at] == ',' && len(w.stack) > 1 {
		w.at++
		closed, sep = w.at, true
	}
	w.at = closed
	for w.at < len(w.text) && isSpace(w.text[w.at]) {
		w.at++
		if w.text[w.at-1] == '\n' {
			break
		}
	}
	w.emit(w.done, w.at, c, opens)
	w.done = w.at
	return sep || len(w.stack) == 1 || w.mayFollow(closed)
}

// mayFollow reports whether a part that no comma ended was the last one, or
// opened an array or object.
func (w *jsonWalk) mayFollow(closed int) bool {
	if c := w.text[closed-1]; (c == '{' || c == '[') && w.stack[len(w.stack)-1].n == 0 {
		return true
	}
	w.space()
	return w.at >= len(w.text) || w.text[w.at] == w.stack[len(w.stack)-1].close
}

func (w *jsonWalk) space() {
	for w.at < len(w.text) && isSpace(w.text[w.at]) {
		w.at++
	}
}

// name reads a member's name and the colon.
func (w *jsonWalk) name() (string, bool) {
	if w.text[w.at] != '"' {
		return "", false
	}
	end := stringEnd(w.text, w.at)
	if end < 0 {
		w.at = len(w.text)
		return "", false
	}
	name := w.text[w.at+1 : end-1]
	w.at = end
	w.space()
	if w.at >= len(w.text) || w.text[w.at] != ':' {
		return "", false
	}
	w.at++
	w.space()
	return name, w.at < len(w.text)
}

// stringEnd returns the index after the string that begins at start, or -1.
func stringEnd(text string, start int) int {
	for i := start + 1; i < len(text); {
		n := strings.IndexByte(text[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		back := i
		for text[back-1] == '\\' && back-1 > start {
			back--
		}
		i++
		if (i-1-back)%2 == 0 {
			return i
		}
	}
	return -1
}

func literal(s string) int {
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(s, word) {
			return len(word)
		}
	}
	return 0
}

func numberByte(c byte) bool {
	return isDigit(c) || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'
}

// classOfMember determines how much a scalar matters at its place.
func classOfMember(top *jsonFrame, name, value string, at int) Class {
	switch value {
	case "null", `""`:
		return Noise
	}
	switch {
	case len(value) > longValue:
		return Detail
	case at < top.limit, isFailureName(name) && value != "false" && value != "0",
		top.nearStart && informative(name):
		return Headline
	}
	return Detail
}

// informative reports names of members that identify an object.
func informative(name string) bool {
	switch name {
	case "id", "name", "status", "state", "title", "path", "file", "url", "type", "key", "version", "code",
		"message", "filename", "login", "number", "result", "total", "count":
		return true
	}
	return strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "Id") || isFailureName(name)
}

// isFailureName reports names of members that describe a failure.
func isFailureName(name string) bool {
	switch name {
	case "error", "errors", "exception", "error_message", "errorMessage", "stderr", "failure", "failed",
		"reason":
		return true
	}
	return false
}
