package launch

import (
	"slices"
	"strings"
)

// Args are a command and its arguments.
type Args []string

// insert inserts arguments after the command.
func (a *Args) insert(args ...string) { *a = slices.Insert(*a, 1, args...) }

// flag returns the value of a flag.
func (a Args) flag(name string) (value string, ok bool) {
	switch i, inOne := a.find(name); {
	case i < 0:
		return "", false
	case inOne:
		return strings.TrimPrefix(a[i], name+"="), true
	default:
		return a[i+1], true
	}
}

// setFlag sets the value of a flag, in place if it is present.
func (a *Args) setFlag(name, value string) {
	switch i, inOne := a.find(name); {
	case i < 0:
		a.insert(name, value)
	case inOne:
		(*a)[i] = name + "=" + value
	default:
		(*a)[i+1] = value
	}
}

// removeFlag removes a flag and its value.
func (a *Args) removeFlag(name string) {
	i, inOne := a.find(name)
	if i < 0 {
		return
	}
	n := 2
	if inOne {
		n = 1
	}
	*a = slices.Delete(*a, i, i+n)
}

// find returns the index of a flag with a value, and whether both are one argument; -1 if it is
// missing.
func (a Args) find(name string) (at int, inOne bool) {
	for i := 1; i < len(a); i++ {
		if strings.HasPrefix(a[i], name+"=") {
			return i, true
		}
		if a[i] == name && i+1 < len(a) {
			return i, false
		}
	}
	return -1, false
}

// configured reports whether the arguments set an option of Codex.
func (a Args) configured(name string) bool { return a.codexOption(name) != "" }

// codexOption returns the value of an option of Codex in the arguments.
func (a Args) codexOption(name string) string {
	for i, arg := range a[1:] {
		v := ""
		switch {
		case (arg == "-c" || arg == "--config") && i+2 < len(a):
			v = a[i+2]
		case strings.HasPrefix(arg, "--config="):
			v = strings.TrimPrefix(arg, "--config=")
		}
		if key, value, ok := strings.Cut(v, "="); ok && strings.TrimSpace(key) == name {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}
