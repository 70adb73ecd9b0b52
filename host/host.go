// Package host puts precis into agent programs that nobody points at a gateway: hooks,
// plugins and extensions that call precis when the program compacts by itself, see
// package hook. [Hosts] lists the programs, [Host.Plan] says what would be written,
// [Plan.Apply] writes it, and [Host.Removal] takes it back.
//
// Wherever a program reads a file of precis's own, that is what is written. In a file of
// the user single members are added and every other byte stays. What was there before is
// kept, so that the file is given back as it was; where the user has changed it since,
// only what is precis's own is taken out.
package host

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"precis"
)

// Machine is where programs are looked for. Home, Data and Binary are absolute.
type Machine struct {
	Home    string              // of the user
	Data    string              // folder of precis's own files: plugins, what was there before
	Binary  string              // path of precis, as programs are to call it
	State   string              // folder of what hooks remember; "": nobody knows
	Version string              // of precis
	Env     func(string) string // nil: nothing is set
	// ModelSummary leaves the summary to the program's model where precis could write it
	// itself, and adds what it lacks: in programs of which [Host.Gates] is true.
	ModelSummary bool
	// Find returns the path of a program; nil: [exec.LookPath].
	Find func(string) (string, error)
}

func (m Machine) env(name, otherwise string) string {
	if m.Env != nil {
		if v := m.Env(name); v != "" {
			return v
		}
	}
	return otherwise
}

func (m Machine) home(elem ...string) string {
	return filepath.Join(append([]string{m.Home}, elem...)...)
}

// config is the folder of programs that follow XDG's rules.
func (m Machine) config() string { return m.env("XDG_CONFIG_HOME", m.home(".config")) }

// own is a folder of precis's own for a program.
func (m Machine) own(host string) string { return filepath.Join(m.Data, "plugins", host) }

// Host is an agent program that precis works inside of.
type Host struct {
	Name  string // e.g. "claude-code"
	Title string // e.g. "Claude Code"
	Does  string // what precis does there, in a line
	After string // what the user has to do after installing; "": nothing
	// Version is the version of the program that this was tried with; "": it was not run here,
	// and what it reads is known from its source.
	Version string

	gates   bool                     // with ModelSummary a model's summary is checked
	command string                   // its program
	folder  func(Machine) string     // where it keeps its settings
	parts   func(Machine) []part     // what is written
	warn    func(m Machine) []string // about settings that keep it from working; nil: none
}

// Hosts returns the programs, in the order of their names.
func Hosts() []Host {
	return []Host{claudeCode(), cline(), codex(), gemini(), hermes(), opencode(), pi(), qwen()}
}

// Named returns the program of a name. The error is [precis.CodeNotFound].
func Named(name string) (Host, error) {
	var names []string
	for _, h := range Hosts() {
		if h.Name == name || h.command == name {
			return h, nil
		}
		names = append(names, h.Name)
	}
	return Host{}, &precis.Error{Code: precis.CodeNotFound, Op: "find agent", Place: name, Err: errUnknown, Hint: "one of " + strings.Join(names, ", ")}
}

// Gates reports whether there is a choice in the program between a summary of precis's own
// and one of a model that precis checks.
func (h Host) Gates() bool { return h.gates }

// Found reports whether the program seems to be used on a machine: it is in the path, or
// has a folder of settings.
func (h Host) Found(m Machine) bool {
	find := m.Find
	if find == nil {
		find = exec.LookPath
	}
	if _, err := find(h.command); err == nil {
		return true
	}
	info, err := os.Stat(h.folder(m))
	return err == nil && info.IsDir()
}

// Warnings are about settings of the program that keep precis from working there.
func (h Host) Warnings(m Machine) []string {
	if h.warn == nil {
		return nil
	}
	return h.warn(m)
}

// hook is the command line of a hook, for the shell of the program; see guard.go.
func (m Machine) hook(host, event string, args ...string) string {
	return shellOf(host).guard(m.binary(), strings.Join(append([]string{"hook", host, event}, args...), " "))
}

// guarded is the command line of a hook that answers {} where precis is gone or fails: for
// Gemini CLI, which does not begin its work when such a hook fails.
func (m Machine) guarded(host, event string) string {
	if runtime.GOOS == "windows" { // another shell
		return m.hook(host, event)
	}
	line := m.quoted() + " hook " + host + " " + event
	return "r=$(" + line + " 2>/dev/null) && printf '%s' \"$r\" || printf '{}'"
}

// quoted is the path of precis for a shell.
func (m Machine) quoted() string {
	path := cmp.Or(m.Binary, "precis")
	if strings.IndexFunc(path, func(r rune) bool { return strings.ContainsRune(" '\"$`\\&|;<>()*?[]#~!{}\t\n", r) }) < 0 {
		return path
	}
	if runtime.GOOS == "windows" {
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// ours reports whether a command line is a hook of precis, of whatever version and place.
func ours(command, host string) bool {
	before, _, ok := strings.Cut(unguarded(command), " hook "+host+" ")
	return ok && isPrecis(before)
}

// isPrecis reports whether a word of a command line is the path of precis: its file may
// have more to its name, such as a version or a system.
func isPrecis(path string) bool {
	name := strings.Trim(path, `'"`)
	return strings.HasPrefix(name[strings.LastIndexAny(name, `/\`)+1:], "precis")
}
