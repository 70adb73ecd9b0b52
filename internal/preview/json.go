package preview

import "strings"

// json splits text that is JSON: one value, perhaps cut off, or JSON lines. ok
// is false for text that is not, and for text that is broken in its middle.
func (d *document) json() (s Split, ok bool) {
	first, last := d.content()
	if first > last {
		return Split{}, false
	}
	t, _ := trimLeft(d.lines[first].body)
	if t[0] != '{' && t[0] != '[' {
		return Split{}, false
	}
	if d.numbered || d.framed(first, last) {
		return d.jsonByLine(first, last)
	}
	from, to := d.lines[first].start, d.lines[last].end
	sink := &jsonPieces{text: d.text, out: d.pieces(0, first, nil), limit: to}
	w := newJSONWalk(d.text[from:to],
		func(start, end int, c Class, opens bool) { sink.add(from+start, from+end, c, opens) })
	if !w.run() {
		return Split{}, false
	}
	sink.flush()
	out := appendLines(sink.out, d.text, from+w.done, to)
	return Split{Kind: JSON, Head: Line(w.head(), maxHead), Pieces: d.pieces(last+1, len(d.lines), out)}, true
}

// content returns the first and the last line that is neither blank nor frame.
func (d *document) content() (first, last int) {
	last = len(d.lines) - 1
	for first <= last && (d.lines[first].frame || blank(d.lines[first].body)) {
		first++
	}
	for last >= first && (d.lines[last].frame || blank(d.lines[last].body)) {
		last--
	}
	return first, last
}

func (d *document) framed(first, last int) bool {
	for i := first; i <= last; i++ {
		if d.lines[i].frame && !d.lines[i].omitted {
			return true
		}
	}
	return false
}

// appendLines appends text[from:to], which follows the JSON, line by line.
func appendLines(out []Piece, text string, from, to int) []Piece {
	for from < to {
		end := to
		if n := strings.IndexByte(text[from:to], '\n'); n >= 0 {
			end = from + n + 1
		}
		c := Detail
		if blank(text[from:end]) {
			c = Noise
		}
		out = appendCut(out, text, from, end, c)
		from = end
	}
	return out
}

// jsonByLine splits JSON with line numbers.
func (d *document) jsonByLine(first, last int) (s Split, ok bool) {
	var b strings.Builder
	var numbers, ends []int // of each content line: its index, and where it ends in b
	for i := first; i <= last; i++ {
		if l := &d.lines[i]; !l.frame {
			b.WriteString(l.body)
			b.WriteByte('\n')
			numbers, ends = append(numbers, i), append(ends, b.Len())
		}
	}
	at := 0
	w := newJSONWalk(b.String(), func(start, end int, c Class, _ bool) {
		for at+1 < len(ends) && ends[at] <= start {
			at++
		}
		for k := at; k < len(ends) && (k == at || ends[k-1] < end); k++ {
			l := &d.lines[numbers[k]]
			l.class = max(l.class, c)
		}
	})
	if !w.run() {
		for _, i := range numbers {
			d.lines[i].class = Noise
		}
		return Split{}, false
	}
	return Split{Kind: JSON, Head: Line(w.head(), maxHead), Pieces: d.pieces(0, len(d.lines), nil)}, true
}

// brokenJSON classifies invalid JSON by its lines.
func (d *document) brokenJSON() string {
	n := 0
	for i := range d.lines {
		l := &d.lines[i]
		if l.frame {
			continue
		}
		n++
		l.class = Detail
		t, indent := trimLeft(l.body)
		t = strings.TrimRight(t, " ,")
		switch {
		case strings.Trim(t, "{}[]") == "":
			l.class = Noise
		case t[0] != '"':
		default:
			name, _, ok := strings.Cut(t[1:], `"`)
			if ok && (indent <= 4 || informative(name)) {
				l.class = Headline
			}
		}
	}
	return "JSON that does not parse, " + count(n, "line")
}

// jsonish reports that most lines begin as lines of JSON do.
func (v *votes) jsonish(d *document) bool {
	first, last := d.content()
	if first > last || v.brackets*10 < v.n*7 {
		return false
	}
	t, _ := trimLeft(d.lines[first].body)
	return t[0] == '{' || t[0] == '[' && (len(t) == 1 || strings.IndexByte(`{"[ `, t[1]) >= 0)
}

// jsonPieces joins the parts of JSON that a walk finds to pieces of a useful
// size: lines where the text has short ones, else some members.
type jsonPieces struct {
	text    string
	out     []Piece
	cur     Piece
	lineEnd int // up to where one line is one piece; 0: the line is long
	limit   int
}

const (
	tinyPart = 24  // bytes under which a part goes with the next
	fullPart = 160 // bytes over which a piece takes no more
)

// add takes the next part. opens says that it begins an element of an array.
func (p *jsonPieces) add(start, end int, c Class, opens bool) {
	if p.cur.End > p.cur.Start {
		if p.joins(start, end, c, opens) {
			p.cur.End = end
			p.cur.Class = max(p.cur.Class, c)
			return
		}
		p.flush()
	}
	p.cur = Piece{start, end, c}
	if start == 0 || p.text[start-1] == '\n' {
		p.measure(start)
	}
}

// measure finds the end of the line that begins at start.
func (p *jsonPieces) measure(start int) {
	p.lineEnd = 0
	if n := strings.IndexByte(p.text[start:min(p.limit, start+maxPiece)], '\n'); n >= 0 {
		p.lineEnd = start + n + 1
	} else if p.limit-start <= maxPiece {
		p.lineEnd = p.limit
	}
}

func (p *jsonPieces) joins(start, end int, c Class, opens bool) bool {
	if p.text[start-1] == '\n' {
		return false
	}
	if p.lineEnd > 0 {
		return end <= p.lineEnd
	}
	size := start - p.cur.Start
	if size < tinyPart {
		return end-p.cur.Start <= maxPiece
	}
	return !opens && end-p.cur.Start <= fullPart && (c == p.cur.Class || c == Noise)
}

func (p *jsonPieces) flush() {
	if p.cur.End > p.cur.Start {
		p.out = appendCut(p.out, p.text, p.cur.Start, p.cur.End, p.cur.Class)
	}
	p.cur = Piece{}
}
