//go:build unix

package clients

import (
	"os/exec"
	"syscall"
)

// detach lets a process leave its group.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
