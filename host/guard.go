package host

import (
	"path/filepath"
	"runtime"
	"strings"
)

// Every command that is installed is guarded: where precis is gone, or was moved, it ends
// at once and without an error, which the agent would show at each event.

// shell is what a program runs commands with.
type shell int

const (
	posix      shell = iota
	cmdExe           // Windows' command interpreter
	powershell       // Windows PowerShell
)

// onWindows says with what a program runs commands there; Claude Code uses the shell that
// Git brings.
var onWindows = map[string]shell{"codex": cmdExe, "gemini": powershell, "qwen": powershell}

// shellOf returns what a program runs commands with on this system.
func shellOf(host string) shell {
	if runtime.GOOS == "windows" {
		return onWindows[host]
	}
	return posix
}

// Where the command itself begins, in each of the guards below.
const (
	beginsPosix      = "|| exit 0; exec "
	beginsCmd        = " call "
	beginsPowershell = "{ & "
)

// guard returns a command line that runs precis, a path, with arguments if it is there.
func (s shell) guard(precis, args string) string {
	switch s {
	case cmdExe:
		return `if exist "` + precis + `"` + beginsCmd + `"` + precis + `" ` + args
	case powershell:
		path := "'" + strings.ReplaceAll(precis, "'", "''") + "'"
		return "if (Test-Path " + path + ") " + beginsPowershell + path + " " + args + " }; exit 0"
	}
	return there(precis) + " " + beginsPosix + quotedFor(precis) + " " + args
}

// there is a test of a POSIX shell: precis can be run.
func there(precis string) string {
	if !strings.ContainsAny(precis, `/\`) { // it is looked for in the path
		return "command -v " + quotedFor(precis) + " >/dev/null 2>&1"
	}
	return "[ -x " + quotedFor(precis) + " ]"
}

// unguarded returns what a command line begins with behind its guard: the path of precis, as
// a word of the shell. A command of an older version has no guard.
func unguarded(command string) string {
	for _, begins := range []string{beginsPosix, beginsPowershell, beginsCmd} {
		if _, rest, ok := strings.Cut(command, begins); ok {
			return rest
		}
	}
	return command
}

// whenWaiting returns a command line that runs precis only while the folder of what waits is there, in that
// of what hooks remember: the event comes after every call of a tool. One run at a
// time takes the folder busy, which precis gives back; one that hangs and is killed leaves
// it, so that the agent waits once and not at every call. See package hook.
func (m Machine) whenWaiting(args string) string {
	if m.State == "" {
		return posix.guard(m.binary(), args)
	}
	waiting, busy := quotedFor(filepath.ToSlash(filepath.Join(m.State, "waiting"))), quotedFor(filepath.ToSlash(filepath.Join(m.State, "busy")))
	return "[ -d " + waiting + " ] && " + there(m.binary()) + " && mkdir " + busy + " 2>/dev/null " + beginsPosix + quotedFor(m.binary()) + " " + args
}

// quotedFor returns a path as a word of a POSIX shell.
func quotedFor(path string) string {
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return strings.ContainsRune(" '\"$`\\&|;<>()*?[]#~!{}\t\n", r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
