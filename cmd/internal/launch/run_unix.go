//go:build linux || darwin

package launch

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"unsafe"
)

// forwardedSignals are the signals to pass on. Signals that this process ignores, as under nohup, stay
// ignored.
func forwardedSignals() []os.Signal {
	var out []os.Signal
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP,
		syscall.SIGUSR1, syscall.SIGUSR2} {
		if !signal.Ignored(s) {
			out = append(out, s)
		}
	}
	return out
}

// terminal is the controlling terminal of this process; nil file: none.
type terminal struct{ file *os.File }

func openTerminal() *terminal {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return &terminal{}
	}
	return &terminal{f}
}

func (t *terminal) close() {
	if t.file != nil {
		_ = t.file.Close()
	}
}

// typed reports whether a signal was sent by a key; then the program has received it as well.
func (t *terminal) typed(s os.Signal) bool {
	if t.file == nil || s != syscall.SIGINT && s != syscall.SIGQUIT {
		return false
	}
	var group int32
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, t.file.Fd(), syscall.TIOCGPGRP,
		uintptr(unsafe.Pointer(&group)))
	return errno == 0 && int(group) == syscall.Getpgrp()
}

// attributes gives the program a process group of its own if there is no controlling terminal, so
// that it receives signals to this process's group only once.
func attributes(cmd *exec.Cmd, t *terminal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: t.file == nil}
	dieWithParent(cmd.SysProcAttr)
}

func forwardSignal(p *os.Process, s os.Signal) { _ = p.Signal(s) } // it may have ended

// codeOf returns the exit code as a shell reports it.
func codeOf(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
