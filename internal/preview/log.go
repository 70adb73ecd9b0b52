package preview

import "strings"

const lastLines = 5 // of output, that are always shown

// log classifies the output of commands and tests.
func (d *document) log() string {
	w := logWalk{lines: d.lines, seen: make([]uint32, seenLines), path: -1}
	for i := range d.lines {
		l := &d.lines[i]
		if l.frame {
			continue
		}
		if l.end-l.start > 0 && d.text[l.end-1] == '\r' {
			l.class = Noise // overwritten by the next part
			continue
		}
		w.line(i)
	}
	w.ending(d.hint.IsError)
	return w.head()
}

// logWalk goes through output line by line.
type logWalk struct {
	lines            []line
	seen             []uint32
	n                int // lines that are not blank
	errors, warnings int
	results          results
	afterError       bool // the previous line makes the next one of interest to a reader
	marker           int  // the line of the last test marker
	placed           int  // lines headlined for a place since then
	path             int  // the last line that is one path; -1 for none
}

// line classifies line i.
func (w *logWalk) line(i int) {
	l := &w.lines[i]
	t, indent := trimLeft(l.body)
	t = trimRight(t)
	if t == "" {
		l.class = Noise
		return
	}
	w.n++
	context := w.afterError
	w.afterError = false
	t = t[:min(len(t), maxPiece*2)]
	l.class = w.classOf(i, t, indent)
	switch l.class {
	case Headline:
		if w.repeated(t, false) {
			l.class = Detail
		}
	case Detail:
		if context {
			l.class = Headline
		} else if w.repeated(t, true) {
			l.class = Noise
		}
	}
}

// classOf classifies line i by its own text alone; it may change the class of earlier lines.
func (w *logWalk) classOf(i int, t string, indent int) Class {
	if separator(t) || isProgress(t) {
		return Noise
	}
	switch markOf(t) {
	case markStart:
		w.marker, w.placed = i, 0
		return Noise
	case markPass:
		w.results.countSuccess(t)
		w.resetClasses(i)
		return Noise
	case markFail:
		w.results.fails++
		w.marker, w.placed = i, 0
		w.afterError = true
		return Headline
	case markSummary:
		w.results.countLine(t, readRemarks(t))
		return Headline
	case markChatter:
		return Noise
	case markFinding:
		w.afterError = true
		return Headline
	}
	if own, ok := stackFrame(t, indent); ok {
		w.afterError = own && strings.HasPrefix(t, "File ")
		if own {
			return Headline
		}
		return Noise
	}
	return w.byWords(i, t)
}

// byWords classifies a line that has no form of its own.
func (w *logWalk) byWords(i int, t string) Class {
	r := readRemarks(t)
	if w.results.countLine(t, r) {
		return Headline
	}
	switch {
	case r.failure && !r.calm, r.failure && strings.Contains(t, "rror:"):
		w.errors++
		w.afterError = true
		if isDigit(t[0]) && w.path >= 0 {
			w.lines[w.path].class = Headline // the file that a linter's findings are in
		}
		return Headline
	case r.warning:
		w.warnings++
		return Detail
	case r.cut, r.doubt && !r.calm, isFinding(t):
		return Headline
	case isPlace(t):
		w.placed++
		return Headline
	}
	if t[0] != '[' && pathLike(t) {
		w.path = i
	}
	return Detail
}

// resetClasses resets the classes of a passing test's output since its start.
func (w *logWalk) resetClasses(i int) {
	for k := w.marker; k < i && w.placed > 0; k++ {
		if l := &w.lines[k]; l.class == Headline && isPlace(trim(l.body)) {
			l.class = Noise
			w.placed--
		}
	}
	w.marker, w.placed = i, 0
}

// ending classifies the last lines, and the first of a failure.
func (w *logWalk) ending(failed bool) {
	left := lastLines
	for i := len(w.lines) - 1; i >= 0 && left > 0; i-- {
		l := &w.lines[i]
		if l.frame || blank(l.body) || separator(l.body) {
			continue
		}
		if own, ok := stackFrame(trimLeft(l.body)); ok && !own {
			continue
		}
		left--
		l.class = Headline
	}
	for i := 0; failed && i < len(w.lines); i++ {
		if l := &w.lines[i]; !l.frame && !blank(l.body) {
			l.class = Headline
			return
		}
	}
}

func (w *logWalk) head() string {
	if head := w.results.head(); head != "" {
		return head
	}
	head := "log: " + count(w.n, "line")
	if w.errors > 0 {
		head += ", " + count(w.errors, "error")
	}
	if w.warnings > 0 {
		head += ", " + count(w.warnings, "warning")
	}
	return head
}

const (
	seenLines   = 1 << 12
	seenAllowed = 2 // times that a line may occur before it counts as a repetition
)

// repeated reports a line that occurred often before; with alike, one that differed in its numbers
// only. It drops some when there are very many.
func (w *logWalk) repeated(t string, alike bool) bool {
	hash := uint32(2166136261)
	for i := 0; i < len(t); i++ {
		c := t[i]
		if alike && isDigit(c) {
			if i > 0 && isDigit(t[i-1]) {
				continue
			}
			c = '0'
		}
		hash = (hash ^ uint32(c)) * 16777619
	}
	slot := &w.seen[(hash>>16^hash)%seenLines]
	const countBits = 3
	if *slot>>countBits != hash>>countBits {
		*slot = hash >> countBits << countBits
	}
	if *slot&(1<<countBits-1) >= seenAllowed {
		return true
	}
	*slot++
	return false
}
