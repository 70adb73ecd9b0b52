//go:build unix

package clients

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// alone gives a command a process group of its own, which is killed when its
// context ends.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
}

// killGroup kills a process and its group.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

// sweepTime is how long sweep waits for what it killed to be gone.
const sweepTime = 10 * time.Second

// sweep kills the processes that carry a mark in their environment: those that
// left their group, such as a server which a client keeps in the background. It
// looks again until none is there, as one that is killed still runs for a moment
// and may have begun another. It does nothing where the system has no /proc.
func sweep(mark string) {
	for end := time.Now().Add(sweepTime); kill(mark) && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
}

// kill kills the processes that carry a mark and tells whether there were any.
func kill(mark string) bool {
	found := false
	environments, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is sound
	for _, path := range environments {
		environment, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environment, []byte(mark+"\x00")) {
			continue // it has ended, or is not ours
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
			found = true
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
	return found
}
