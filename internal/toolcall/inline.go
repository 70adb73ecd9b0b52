package toolcall

import (
	"slices"
	"strings"

	"precis/internal/lazyregexp"
)

// mostCode is how many bytes of such code are read.
const mostCode = 16 << 10

// Calls that write or remove a file, in Python, JavaScript and Ruby: of a path as it stands, or of a variable.
var (
	named    = lazyregexp.New(`(?m)(?:^|[;\s])(?:const |let |var )?(\w+)\s*=\s*(?:pathlib\.)?(?:Path\()?\s*["']([^"'\n]+)["']`)
	argument = `\(\s*(?:["'` + "`" + `]([^"'` + "`" + `\n]+)["'` + "`" + `]|(\w+))\s*`

	writesFile = lazyregexp.All(`\bopen`+argument+`,\s*(?:mode\s*=\s*)?["'](?:[wax]|r\+)`, `\bPath`+argument+`\)\.(?:write_text|write_bytes|touch)\(`, `\b(?:writeFileSync|writeFile|appendFileSync|appendFile|writeTextFile|writeTextFileSync)`+argument+`,`, `\bFile\.write`+argument+`,`)
	writesTo   = lazyregexp.New(`\b(\w+)\.(?:write_text|write_bytes)\(`)
	dropsFile  = lazyregexp.All(`\bos\.(?:remove|unlink)`+argument+`\)`, `\bPath`+argument+`\)\.unlink\(`, `\bshutil\.rmtree`+argument+`[),]`, `\b(?:unlinkSync|unlink|rmSync|rmdirSync)`+argument+`[),]`, `\bFile\.delete`+argument+`\)`)
	drops      = lazyregexp.New(`\b(\w+)\.unlink\(`)
	movesFile  = lazyregexp.New(`\b(?:shutil\.move|os\.(?:rename|renames|replace)|(?:fs|fsp|promises)\.rename|renameSync|File\.rename|FileUtils\.mv|Path)\(\s*["']([^"'\n]+)["']\s*(?:,|\)\.(?:rename|replace)\()\s*["']([^"'\n]+)["']`)
	readsFirst = lazyregexp.New(`\.read\(|\.read_text\(|\breadFile|\bFile\.read\b`)
)

// fileCalls are parts of what the patterns look for, one of which stands in whatever they find.
var fileCalls = []string{"open", "write", "Write", "Path", "File.", "append", "unlink", "remove", "rmtree", "rmSync", "rmdir", "Unlink", "move", "rename", "replace", ".mv("}

// code adds what code does to files, as far as its calls name them.
func (r *shellReader) code(text string) {
	text = text[:min(len(text), mostCode)]
	if !slices.ContainsFunc(fileCalls, func(s string) bool { return strings.Contains(text, s) }) {
		return
	}
	paths := map[string]string{} // of variables
	for _, m := range named.FindAllStringSubmatchIndex(text, -1) {
		paths[text[m[2]:m[3]]] = text[m[4]:m[5]]
	}
	type act struct {
		at int
		Effect
		from string // of a file that is moved
	}
	var acts []act
	note := func(m []int, removed bool, whole bool) {
		p := ""
		for k := 2; k+1 < len(m); k += 2 {
			if m[k] < 0 {
				continue
			}
			if p = text[m[k]:m[k+1]]; k > 2 || len(m) == 4 {
				p = paths[p]
			}
		}
		acts = append(acts, act{m[0], Effect{Path: p, Removed: removed, Whole: whole}, ""})
	}
	whole := readsFirst.FindStringIndex(text) == nil
	for _, of := range []struct {
		patterns []*lazyregexp.Regexp
		removed  bool
	}{{append(slices.Clone(writesFile), writesTo), false}, {append(slices.Clone(dropsFile), drops), true}} {
		for _, re := range of.patterns {
			for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
				note(m, of.removed, whole && !of.removed)
			}
		}
	}
	for _, m := range movesFile.FindAllStringSubmatchIndex(text, -1) {
		acts = append(acts, act{m[0], Effect{Path: text[m[4]:m[5]]}, text[m[2]:m[3]]})
	}
	slices.SortStableFunc(acts, func(a, b act) int { return a.at - b.at })
	for _, a := range acts {
		if a.from != "" {
			r.copied([]string{a.from}, a.Path, true, false)
			continue
		}
		r.add(a.Effect)
	}
}

// coded adds what the code does that an interpreter is given: behind a flag, else as its input.
func (r *shellReader) coded(words []string) {
	for i, w := range words {
		if (w == "-c" || w == "-e" || w == "--eval" || w == "eval") && i+1 < len(words) {
			r.code(words[i+1])
			return
		}
	}
	if r.stdin != "" {
		r.code(r.stdin)
	}
}

// applied adds the files that a unified diff changes, makes or removes.
func (r *shellReader) applied(diff string) {
	for _, e := range diffed(diff) {
		r.add(e)
	}
}

// diffed returns the files of a patch in the format of diff.
func diffed(diff string) (out []Effect) {
	old := ""
	for line := range strings.Lines(diff) {
		line = strings.TrimRight(line, "\r\n")
		if p, ok := strings.CutPrefix(line, "--- "); ok {
			old = diffPath(p, "a/")
			continue
		}
		p, ok := strings.CutPrefix(line, "+++ ")
		if !ok || old == "" {
			continue
		}
		switch p = diffPath(p, "b/"); {
		case p == "/dev/null":
			out = append(out, Effect{Path: old, Removed: true})
		default:
			out = append(out, Effect{Path: p, Added: old == "/dev/null"})
		}
		old = ""
	}
	return out
}

// diffPath returns the path in the head of a diff, without what git puts before it and the time behind it.
func diffPath(p, side string) string {
	p, _, _ = strings.Cut(p, "\t")
	return normalPath(strings.TrimPrefix(p, side))
}
