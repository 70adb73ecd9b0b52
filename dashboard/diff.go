package dashboard

import (
	"strings"

	"github.com/precis-dev/precis/internal/visible"
)

// Limits of comparing and showing a block.
const (
	mostCells = 1 << 18 // cells of the comparison table, lines × lines
	runShown  = 8       // lines shown at each end of a long run
	lineShown = 400     // characters of a line
)

// diffRow is a line of two texts next to each other.
type diffRow struct{ Was, Now cell }

// cell is a line of one text.
type cell struct {
	Op   string // same, gone, new, or gap: lines that are not shown; "": empty
	Text string
	Gap  int // number of lines left out
}

// change is a stretch of two texts: lines of both, or removed and new lines in the same place.
type change struct{ same, removed, new []string }

// diffRows compares two texts line by line. Long runs of lines of one kind are cut in the middle.
func diffRows(was, now string) []diffRow {
	var rows []diffRow
	for _, c := range changes(strings.Split(was, "\n"), strings.Split(now, "\n")) {
		if c.same != nil {
			cells := folded("same", c.same)
			rows = append(rows, zipped(cells, cells)...)
		} else {
			rows = append(rows, zipped(folded("gone", c.removed), folded("new", c.new))...)
		}
	}
	return rows
}

// goneRows shows a text that was removed completely.
func goneRows(was string) []diffRow {
	return zipped(folded("gone", strings.Split(was, "\n")), nil)
}

// zipped puts the lines of two texts next to each other.
func zipped(was, now []cell) []diffRow {
	rows := make([]diffRow, max(len(was), len(now)))
	for i, c := range was {
		rows[i].Was = c
	}
	for i, c := range now {
		rows[i].Now = c
	}
	return rows
}

// folded cuts a long run in the middle, and long lines at the end.
func folded(op string, lines []string) []cell {
	var out []cell
	gap := len(lines) - 2*runShown
	for i, line := range lines {
		if gap > 1 && i == runShown {
			out = append(out, cell{Op: "gap", Gap: gap})
		}
		if gap > 1 && i >= runShown && i < runShown+gap {
			continue
		}
		if cut := visible.FirstBytes(line, lineShown); len(cut) < len(line) {
			line = cut + "…"
		}
		out = append(out, cell{Op: op, Text: line})
	}
	return out
}

// changes finds the stretches of two texts: by their longest common subsequence of lines if that is
// cheap enough, else as one removed and one new text.
func changes(a, b []string) []change {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out stretches
	out.same(a[:head]...)
	out.middle(a[head:len(a)-tail], b[head:len(b)-tail])
	out.same(a[len(a)-tail:]...)
	return out
}

// stretches are built line by line.
type stretches []change

func (s *stretches) same(lines ...string) {
	if len(lines) == 0 {
		return
	}
	if n := len(*s); n == 0 || (*s)[n-1].same == nil {
		*s = append(*s, change{})
	}
	last := &(*s)[len(*s)-1]
	last.same = append(last.same, lines...)
}

func (s *stretches) differ(gone, added []string) {
	if len(gone)+len(added) == 0 {
		return
	}
	if n := len(*s); n == 0 || (*s)[n-1].same != nil {
		*s = append(*s, change{})
	}
	last := &(*s)[len(*s)-1]
	last.removed, last.new = append(last.removed, gone...), append(last.new, added...)
}

func (s *stretches) middle(a, b []string) {
	if len(a)*len(b) > mostCells {
		s.differ(a, b)
		return
	}
	common := commonLines(a, b)
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			s.same(a[i])
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			s.differ(a[i:i+1], nil)
			i++
		default:
			s.differ(nil, b[j:j+1])
			j++
		}
	}
	s.differ(a[i:], b[j:])
}

// commonLines returns the length of the longest common subsequence of a[i:] and b[j:]
// for each i and j.
func commonLines(a, b []string) [][]int {
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	return common
}
