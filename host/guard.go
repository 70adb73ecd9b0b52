package host

import (
	"path/filepath"
	"runtime"
	"strings"
)

// Every installed command has a guard: if precis was removed or moved, the command ends at once and
// without an error, which the agent would show at each event.

// shell is a command interpreter that a program uses.
type shell int

const (
	posix      shell = iota
	cmdExe           // Windows' command interpreter
	powershell       // Windows PowerShell
)

// onWindows gives the shell of each program on Windows. Claude Code uses the shell of Git.
var onWindows = map[string]shell{"codex": cmdExe, "gemini": powershell, "qwen": powershell}

// shellOf returns the shell of a program on this system.
func shellOf(host string) shell {
	if runtime.GOOS == "windows" {
		return onWindows[host]
	}
	return posix
}

// The text before the command itself in each of the guards below.
const (
	beginsPosix      = "|| exit 0; exec "
	beginsCmd        = " call "
	beginsPowershell = "{ & "
)

// guard returns a command line that runs precis, a path, with arguments if the file exists.
func (s shell) guard(precis, args string) string {
	switch s {
	case cmdExe:
		return `if exist "` + precis + `"` + beginsCmd + `"` + precis + `" ` + args
	case powershell:
		path := "'" + strings.ReplaceAll(precis, "'", "''") + "'"
		return "if (Test-Path " + path + ") " + beginsPowershell + path + " " + args + " }; exit 0"
	}
	return canRunTest(precis) + " " + beginsPosix + quotedFor(precis) + " " + args
}

// canRunTest returns a test for a POSIX shell: precis can be run.
func canRunTest(precis string) string {
	if !strings.ContainsAny(precis, `/\`) { // a name in PATH
		return "command -v " + quotedFor(precis) + " >/dev/null 2>&1"
	}
	return "[ -x " + quotedFor(precis) + " ]"
}

// unguarded returns a command line without its guard: it begins with the path of precis, quoted for
// the shell. Commands of older versions have no guard.
func unguarded(command string) string {
	for _, begins := range []string{beginsPosix, beginsPowershell, beginsCmd} {
		if _, rest, ok := strings.Cut(command, begins); ok {
			return rest
		}
	}
	return command
}

// whenWaiting returns a command line that runs precis only if the waiting folder exists in the
// state folder of hooks, because the event follows every tool call. Each run creates the folder
// busy as a lock and precis removes it. A run that hangs and is killed leaves the lock, so that the
// agent waits once and not at every call. See package hook.
func (m Machine) whenWaiting(args string) string {
	if m.State == "" {
		return posix.guard(m.binary(), args)
	}
	waiting, busy := quotedFor(filepath.ToSlash(filepath.Join(m.State,
		"waiting"))), quotedFor(filepath.ToSlash(filepath.Join(m.State, "busy")))
	return "[ -d " + waiting + " ] && " + canRunTest(m.binary()) + " && mkdir " + busy + " 2>/dev/null " +
		beginsPosix + quotedFor(m.binary()) + " " + args
}

// quotedFor quotes a path for a POSIX shell.
func quotedFor(path string) string {
	if path != "" && strings.IndexFunc(path,
		func(r rune) bool { return strings.ContainsRune(" '\"$`\\&|;<>()*?[]#~!{}\t\n", r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
