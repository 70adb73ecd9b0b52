package toolcall

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/lazyregexp"
)

// IsReplacedArgument reports whether agents use an argument name for the text that an edit removes.
func IsReplacedArgument(name string) bool {
	return is("old", strings.ToLower(strings.ReplaceAll(name, "_", "")))
}

// IsPathArgument reports whether agents use an argument name for a path.
func IsPathArgument(name string) bool { return is("path", name) }

// IsContentArgument reports whether agents use an argument name for the text to write into a file.
func IsContentArgument(name string) bool { return is("content", name) }

// classify determines the kind and effects of a call from its name and arguments.
func classify(c Call) Call {
	args := c.arguments()
	c.Kind = Other
	name := strings.ToLower(c.Name)
	p, act := normalPath(first(args, "path")), actOf(args)
	patch := patchIn(args, p)
	if p == "" && reads(name) {
		if nested := nestedPaths(args); len(nested) == 1 {
			p = nested[0]
		} else {
			c.Reads = nested
		}
	}
	switch {
	case patch != "":
		return c.patched(patch)
	case p != "" && is("alter", act),
		p != "" && !is("view", act) && (has(args, "content") || isOfKind("writes", name)):
		c.Path, c.Kind = p, Write
	case p != "" && (is("view", act) || reads(name)):
		c.Path, c.Kind = p, Read
	case isOfKind("moves", name+" "+act) && first(args, "source") != "" && first(args, "target") != "":
		c.Path, c.Kind = normalPath(first(args, "target")), Write
		from := normalPath(first(args, "source"))
		c.Effects = []Effect{{Path: from, Removed: true}, {Path: c.Path, MovedFrom: from}}
		return c
	default:
		if c.Line = commandLine(args); appliesPatch(c.Line) {
			return c.patched(c.Line)
		} else if c.Line != "" {
			c.Kind = Command
		}
	}
	switch {
	case c.Kind == Command:
		c = c.commanded()
	case c.Kind == Write:
		removes := isOfKind("removes", name+" "+act)
		c.Effects = []Effect{{Path: c.Path, Removed: removes, Added: act == "create"}}
	}
	return c
}

// nestedPath is the form of a file name within an argument of Roo Code's tools.
var nestedPath = lazyregexp.New(`(?s)<path>(.*?)</path>`)

// nestedPaths returns the files in an argument of Roo Code's tools: "<file><path>…</path></file>"
// in args, or the path of each of the objects in files.
func nestedPaths(args map[string]string) (out []string) {
	for _, m := range nestedPath.FindAllStringSubmatch(args["args"], mostPaths) {
		out = append(out, normalPath(m[1]))
	}
	for f, err := range jsonspan.Array([]byte(args["files"])) {
		if err != nil || len(out) == mostPaths {
			break
		}
		p, _ := jsonspan.String(jsonspan.Field(f.Raw, "path"))
		out = append(out, normalPath(p))
	}
	return slices.DeleteFunc(out, func(p string) bool { return p == "" })
}

// commanded returns a command with the effects of its line; git runs in the call's folder argument.
func (c Call) commanded() Call {
	c.Deeds = readShell(c.Line).Deeds
	if len(c.Git) == 0 {
		return c
	}
	folder := first(c.arguments(), "workdir")
	for i := range c.Git {
		if g := &c.Git[i]; folder != "" && !isExpanded(g.Place) {
			g.Place = within(normalPath(folder), g.Place)
		}
	}
	return c
}

// patched returns the call as one that applies a patch.
func (c Call) patched(patch string) Call {
	c.Kind, c.Line, c.Effects, c.patch = Write, "", patched(patch), true
	first := c.Effects[:min(len(c.Effects), 1)]
	if len(first) > 0 && !slices.ContainsFunc(c.Effects,
		func(e Effect) bool { return e.Path != first[0].Path }) {
		c.Path = first[0].Path
	}
	return c
}

// actOf returns the first word of a call's action in lower case: "delete" for delete_file.
func actOf(args map[string]string) string {
	act := strings.ToLower(first(args, "act"))
	if strings.ContainsAny(act, " \n") {
		return ""
	}
	act, _, _ = strings.Cut(act, "_")
	return act
}

// reads reports whether a tool reads a file, by its name.
func reads(name string) bool { return isOfKind("reads", name) && !isOfKind("searches", name) }

// Searches reports whether a call only looks for something: files that are there, lines, pages.
func (c *Call) Searches() bool { return c.Kind == Other && isOfKind("searches", c.Name) }

// patchIn returns the argument of a call that is a patch, whatever its name; "" for a call without
// one. If the call also has a path, a patch must have a matching argument name and change another
// file: otherwise the call writes the file at the path.
func patchIn(args map[string]string, p string) string {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !isPatch(args[name]) {
			continue
		}
		effects := patched(args[name])
		ofPath := func(e Effect) bool { return sameFile(e.Path, p) }
		if len(effects) > 0 && (p == "" || isOfKind("patch", name) && !slices.ContainsFunc(effects, ofPath)) {
			return args[name]
		}
	}
	return ""
}

// sameFile reports whether two paths are equal, or one is a suffix of the other.
func sameFile(a, b string) bool {
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// normalPath normalizes separators and "./" in a path.
func normalPath(p string) string {
	p = strings.TrimPrefix(strings.TrimSpace(strings.ReplaceAll(p, `\`, "/")), "//?/")
	if p == "" || strings.HasPrefix(p, "[") || strings.HasPrefix(p, "{") {
		return p
	}
	return path.Clean(p)
}

// drive begins a path on a drive of Windows, also as its shells write it.
var drive = lazyregexp.New(`^(?:([A-Za-z]):|/mnt/([a-z])|/([cd]))/`)

// FileKey returns a key that is equal for all notations of one absolute path: on a drive of Windows
// it ignores case and maps /c and /mnt/c to C:. Any other path is its own key.
func FileKey(p string) string {
	m := drive.FindStringSubmatch(p)
	if m == nil {
		return p
	}
	return strings.ToLower(m[1] + m[2] + m[3] + ":" + p[len(m[0])-1:])
}

// first returns the first argument that has a name of a kind.
func first(args map[string]string, kind string) string {
	for _, n := range wordsOf()[kind] {
		if v := args[n]; v != "" {
			return v
		}
	}
	return ""
}

// has reports whether there is an argument with a name of a kind.
func has(args map[string]string, kind string) bool {
	return slices.ContainsFunc(wordsOf()[kind], func(n string) bool { _, ok := args[n]; return ok })
}
