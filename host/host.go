// Package host answers: how does precis get into agent programs that do not use a gateway? It
// installs hooks, plugins and extensions that call precis when the program compacts, see package
// hook. [Hosts] lists the programs, [Host.Plan] computes the changes, [Plan.Apply] writes them, and
// [Host.Removal] undoes them.
//
// If a program reads separate files, precis writes a file of its own. In a user's file it adds
// single members and keeps every other byte. The original content is stored, and removal restores
// it; if the user has changed the file since, removal takes out only the parts by precis.
package host

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/precis-dev/precis"
)

// Machine describes where programs are found. Home, Data and Binary are absolute.
type Machine struct {
	Home    string              // home folder of the user
	Data    string              // folder for precis's files: plugins, original contents
	Binary  string              // path of precis in commands
	State   string              // state folder of hooks; "": unknown
	Version string              // of precis
	Env     func(string) string // nil: no variable is set
	// ModelSummary lets the program's model write the summary where precis could do so, and precis
	// adds the facts it lacks. It applies to programs with [Host.OffersModelSummary].
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

// config is the settings folder of programs that follow the XDG rules.
func (m Machine) config() string { return m.env("XDG_CONFIG_HOME", m.home(".config")) }

// precisFolder is precis's folder for a program.
func (m Machine) precisFolder(host string) string { return filepath.Join(m.Data, "plugins", host) }

// Host is an agent program that precis works inside of.
type Host struct {
	Name      string // e.g. "claude-code"
	Title     string // e.g. "Claude Code"
	Effect    string // the effect of precis there, in a line
	NextSteps string // steps left to the user after installing; "": none
	// Version is the version of the program that this was tested with; "": not run, and known only
	// from the program's source.
	Version string

	gates   bool                     // ModelSummary applies: precis checks a model's summary
	command string                   // name of its executable
	folder  func(Machine) string     // its settings folder
	parts   func(Machine) []part     // the files to write
	warn    func(m Machine) []string // warnings about settings that disable precis; nil: none
}

// Hosts returns the programs, sorted by name.
func Hosts() []Host {
	return []Host{claudeCode(), cline(), codex(), gemini(), hermes(), opencode(), pi(), qwen()}
}

// Named returns a program by name. The error is [precis.CodeNotFound].
func Named(name string) (Host, error) {
	var names []string
	for _, h := range Hosts() {
		if h.Name == name || h.command == name {
			return h, nil
		}
		names = append(names, h.Name)
	}
	return Host{}, &precis.Error{Code: precis.CodeNotFound, Op: "find agent", Place: name, Err: errUnknown,
		Hint: "one of " + strings.Join(names, ", ")}
}

// OffersModelSummary reports whether the program offers a choice between a summary by precis and one by
// a model that precis checks.
func (h Host) OffersModelSummary() bool { return h.gates }

// Found reports whether a machine seems to have the program: its executable is in the path, or its
// settings folder exists.
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

// Warnings returns warnings about settings of the program that disable precis.
func (h Host) Warnings(m Machine) []string {
	if h.warn == nil {
		return nil
	}
	return h.warn(m)
}

// hook returns the command line of a hook for the program's shell; see guard.go.
func (m Machine) hook(host, event string, args ...string) string {
	return shellOf(host).guard(m.binary(), strings.Join(append([]string{"hook", host, event}, args...), " "))
}

// guarded returns the command line of a hook that answers {} if precis is missing or fails, because
// Gemini CLI does not start its work when such a hook fails.
func (m Machine) guarded(host, event string) string {
	if runtime.GOOS == "windows" { // a different shell
		return m.hook(host, event)
	}
	line := m.quoted() + " hook " + host + " " + event
	return "r=$(" + line + " 2>/dev/null) && printf '%s' \"$r\" || printf '{}'"
}

// quoted returns the path of precis, quoted for a shell.
func (m Machine) quoted() string {
	path := cmp.Or(m.Binary, "precis")
	if strings.IndexFunc(path, func(r rune) bool {
		return strings.ContainsRune(" '\"$`\\&|;<>()*?[]#~!{}\t\n",
			r)
	}) < 0 {
		return path
	}
	if runtime.GOOS == "windows" {
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// isOurHook reports whether a command line is a hook of precis of any version and place.
func isOurHook(command, host string) bool {
	before, _, ok := strings.Cut(unguarded(command), " hook "+host+" ")
	return ok && isPrecis(before)
}

// isPrecis reports whether a word of a command line is the path of precis. The file name may have a
// suffix, such as a version or a system.
func isPrecis(path string) bool {
	name := strings.Trim(path, `'"`)
	return strings.HasPrefix(name[strings.LastIndexAny(name, `/\`)+1:], "precis")
}
