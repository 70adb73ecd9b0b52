package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/table"
)

// figure is a measured number.
type figure struct {
	name      string
	now       float64
	ofPackage bool // lines or branches of one package
	shown     bool // printed only: a time
}

// The kinds of limits.
const (
	kindMax     = "max"     // fails above the limit
	kindMin     = "min"     // fails below the limit
	kindNear    = "near"    // fails on either side of the limit
	kindShow    = "show"    // never fails
	kindPackage = "package" // two limits of kind max: lines and branches
)

// limit is what a figure may be.
type limit struct {
	name, kind, reason string
	value, tolerance   float64
	row                table.Row
}

// The suffixes of the two figures of a package.
const (
	lines    = " lines"
	branches = " branches"
)

// parseLimits reads the text of limits.txt. A package has two limits.
func parseLimits(text string) (all []limit, err error) {
	t, err := table.Parse("limits.txt", text, "figure", "kind", "limit", "tolerance", "reason")
	if err != nil {
		return nil, err
	}
	for _, row := range t.Rows {
		l := limit{name: row.Get("figure"), kind: row.Get("kind"), reason: row.Get("reason"), row: row}
		values := make([]float64, 2)
		for i, word := range row.Words("limit") {
			if values[min(i, 1)], err = strconv.ParseFloat(word, 64); err != nil {
				return nil, fmt.Errorf("%s: limit: %w", row.Place, err)
			}
		}
		switch n := len(row.Words("limit")); l.kind {
		case kindPackage:
			if n != 2 {
				return nil, fmt.Errorf("%s: the limit of a package is its lines and its branches", row.Place)
			}
			l.kind, l.name, l.value = kindMax, row.Get("figure")+lines, values[0]
			all = append(all, l)
			l.name, l.value = row.Get("figure")+branches, values[1]
		case kindMax, kindMin, kindNear:
			if n != 1 {
				return nil, fmt.Errorf("%s: want one limit", row.Place)
			}
			l.value = values[0]
			if l.tolerance, err = parseTolerance(row.Get("tolerance"), l.value); err != nil {
				return nil, fmt.Errorf("%s: tolerance: %w", row.Place, err)
			}
		case kindShow:
		default:
			return nil, fmt.Errorf("%s: unknown kind %q", row.Place, l.kind)
		}
		all = append(all, l)
	}
	return all, nil
}

// parseTolerance reads a number, or a percentage of the limit. "" is 0.
func parseTolerance(text string, of float64) (float64, error) {
	if text == "" {
		return 0, nil
	}
	percent, relative := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(percent, 64)
	if relative {
		n *= of / 100
	}
	return n, err
}

// String returns the limit as it is printed.
func (l limit) String() string {
	s := number(l.value)
	switch l.kind {
	case kindMin:
		s = "at least " + s
	case kindMax, kindNear:
	default:
		return ""
	}
	if t := l.row.Get("tolerance"); t != "" {
		s += " ± " + t
	}
	return s
}

// exceeded reports whether a figure is beyond the limit.
func (l limit) exceeded(now float64) bool {
	const rounding = 1e-9
	above, below := now > l.value+l.tolerance+rounding, now < l.value-l.tolerance-rounding
	switch l.kind {
	case kindMax:
		return above
	case kindMin:
		return below
	case kindNear:
		return above || below
	}
	return false
}

func find(limits []limit, name string) (limit, bool) {
	i := slices.IndexFunc(limits, func(l limit) bool { return l.name == name })
	if i < 0 {
		return limit{}, false
	}
	return limits[i], true
}

// compare returns a message for each figure beyond its limit, each figure without a limit,
// and each limit without a figure.
func compare(figures []figure, limits []limit) (problems []string) {
	for _, f := range figures {
		switch l, ok := find(limits, f.name); {
		case !ok && f.ofPackage:
			if dir, isLines := strings.CutSuffix(f.name, lines); isLines {
				problems = append(problems, fmt.Sprintf("package %s has no limit: add to %s the line\n%s\t%s\t%s %s\t-\tWHAT IT IS FOR",
					dir, limitsFile, dir, kindPackage, number(f.now), number(nowOf(figures, dir+branches))))
			}
		case !ok && !f.shown:
			problems = append(problems, fmt.Sprintf("%s has no limit: add to %s the line\n%s\t%s\t%s\t-\tWHY IT IS MEASURED", f.name, limitsFile, f.name, kindMax, number(f.now)))
		case ok && l.exceeded(f.now):
			problems = append(problems, fmt.Sprintf("%s: %s, limit %s: change the code, or the limit at %s with the reason", f.name, number(f.now), l, l.row.Place))
		}
	}
	for _, l := range limits {
		if !slices.ContainsFunc(figures, func(f figure) bool { return f.name == l.name }) {
			problems = append(problems, fmt.Sprintf("%s: %s was not measured: remove the line, or repair what measures it", l.row.Place, l.name))
		}
	}
	return problems
}

func nowOf(figures []figure, name string) float64 {
	for _, f := range figures {
		if f.name == name {
			return f.now
		}
	}
	return 0
}

// tightened returns the text of limits.txt with every limit lowered to its figure where that
// is better by more than the tolerance; a limit of kind min is raised. Lines of packages that
// are gone are removed.
func tightened(text string, limits []limit, figures []figure) string {
	out := strings.Split(text, "\n")
	gone := map[int]bool{}
	for _, l := range limits {
		i := slices.IndexFunc(figures, func(f figure) bool { return f.name == l.name })
		at := slices.IndexFunc(out, func(line string) bool {
			return strings.HasPrefix(line,
				l.row.Get("figure")+"\t")
		})
		isPackage := l.row.Get("kind") == kindPackage
		if i < 0 {
			if isPackage {
				gone[at] = true
			}
			continue
		}
		now := figures[i].now
		if l.kind == kindMax && now+l.tolerance >= l.value ||
			l.kind == kindMin && now-l.tolerance <= l.value || l.kind == kindNear || l.kind == kindShow {
			continue
		}
		fields := strings.Split(out[at], "\t")
		field := slices.IndexFunc(fields, func(f string) bool { return f == l.row.Get("kind") }) + 1
		for fields[field] == "" { // several tabs
			field++
		}
		words := strings.Fields(fields[field])
		if isPackage && strings.HasSuffix(l.name, branches) {
			words[1] = number(now)
		} else {
			words[0] = number(now)
		}
		fields[field] = strings.Join(words, " ")
		out[at] = strings.Join(fields, "\t")
	}
	kept := out[:0]
	for i, line := range out {
		if !gone[i] {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
