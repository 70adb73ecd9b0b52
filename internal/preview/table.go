package preview

import (
	"fmt"
	"strings"
)

// table classifies rows of columns: the header, the first rows and the last.
func (d *document) table() string {
	rows, last := 0, -1
	sep, header := d.columnSign(), ""
	for i := range d.lines {
		l := &d.lines[i]
		if l.frame {
			continue
		}
		if blank(l.body) || separator(l.body) {
			l.class = Noise
			continue
		}
		l.class = Detail
		if header == "" {
			if strings.IndexByte(l.body, sep) < 0 {
				l.class = Headline // a title over the table
				continue
			}
			header = l.body
		}
		if rows <= 2 {
			l.class = Headline
		}
		rows++
		last = i
	}
	if last < 0 {
		return "table, " + count(len(d.lines), "line")
	}
	d.lines[last].class = Headline
	names := columnNames(header, sep)
	return fmt.Sprintf("table: %s, %s: %s", count(rows-1, "row"), count(len(names), "column"),
		strings.Join(names, ", "))
}

// columnSign returns the separator of the columns: the sign that most of the first lines have.
func (d *document) columnSign() byte {
	best, most := byte('\t'), 0
	for _, c := range []byte("|\t,;") {
		n := 0
		for _, l := range d.lines[:min(len(d.lines), 30)] {
			if strings.IndexByte(l.body, c) >= 0 {
				n++
			}
		}
		if n > most {
			best, most = c, n
		}
	}
	return best
}

func columnNames(header string, sep byte) []string {
	var names []string
	header = strings.TrimSpace(header[:min(len(header), 4000)])
	if sep == '|' {
		header = strings.Trim(header, "|")
	}
	for name := range strings.SplitSeq(header, string(sep)) {
		names = append(names, shortName(strings.Trim(strings.TrimSpace(name), `"`)))
	}
	return names
}
