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

// alone gives a command its own process group, which is killed when its context ends.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
}

// killGroup kills a process and its group.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

// sweepTime is how long sweep waits for killed processes to end.
const sweepTime = 10 * time.Second

// sweep kills the processes with a mark in their environment that have left their group, such as a
// background server of a client. It repeats until no such process is left, because a killed process
// still runs for a moment and may start another. Without /proc it does no work.
func sweep(mark string) {
	for end := time.Now().Add(sweepTime); kill(mark) && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
}

// kill kills the processes with a mark and reports whether there were any.
func kill(mark string) bool {
	found := false
	environments, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	for _, path := range environments {
		environment, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environment, []byte(mark+"\x00")) {
			continue // it has ended, or belongs to another user
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
			found = true
			_ = syscall.Kill(pid, syscall.SIGKILL) // fails if it has ended
		}
	}
	return found
}
