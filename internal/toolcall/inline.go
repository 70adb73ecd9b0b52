package toolcall

import (
	"cmp"
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/table"
)

// mostCode is the number of bytes of inline code to read.
const mostCode = 16 << 10

// named matches an assignment of a file path to a variable.
var named = lazyregexp.New(`(?m)(?:^|[;\s])(?:const |let |var )?(\w+)\s*=\s*(?:pathlib\.)?(?:Path\()?\s*["']([^"'\n]+)["']`)

//go:embed code.txt
var codeText string

// codeTable lists the functions that work on files.
var codeTable = table.Lazy("code.txt", codeText, "pattern", "act")

// codePatterns are the patterns of the table.
var codePatterns = sync.OnceValue(func() (out []*regexp.Regexp) {
	parts := strings.NewReplacer(
		"ARG", "\\(\\s*(?:[\"'`](?P<path>[^\"'`\n]+)[\"'`]|(?P<var>\\w+))\\s*",
		"FROM", `\(\s*["'](?P<from>[^"'\n]+)["']\s*`,
		"TO", `\s*["'](?P<path>[^"'\n]+)["']`)
	for _, row := range codeTable().Rows {
		out = append(out, regexp.MustCompile(parts.Replace(row.Get("pattern"))))
	}
	return out
})

// code adds the effects of inline code on files with known names.
func (r *shellReader) code(text string) {
	text = text[:min(len(text), mostCode)]
	if !isOfKind("files", text) {
		return
	}
	paths := map[string]string{} // of variables
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		paths[m[1]] = m[2]
	}
	acts := map[int]Effect{} // by position
	reads := false
	for i, re := range codePatterns() {
		act := codeTable().Rows[i].Get("act")
		for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
			group := func(name string) string { return string(re.ExpandString(nil, name, text, m)) }
			reads = reads || act == "read"
			if p := cmp.Or(group("${path}"), paths[group("${var}")]); p != "" {
				acts[m[0]] = Effect{Path: p, MovedFrom: group("${from}"), Removed: act == "remove",
					Whole: act == "write"}
			}
		}
	}
	for _, at := range slices.Sorted(maps.Keys(acts)) {
		e := acts[at]
		if e.MovedFrom != "" {
			r.copied([]string{e.MovedFrom}, e.Path, true, false)
			continue
		}
		e.Whole = e.Whole && !reads
		r.add(e)
	}
}

// coded adds the effects of code passed to an interpreter: after a flag, else as its input.
func (r *shellReader) coded(words []string) {
	for i, w := range words {
		if (w == "-c" || w == "-e" || w == "--eval" || w == "eval") && i+1 < len(words) {
			r.code(words[i+1])
			return
		}
	}
	r.code(r.input)
}
