//go:build !unix

package clients

import (
	"os"
	"os/exec"
)

// alone does not change the command; its context kills only the process itself.
func alone(*exec.Cmd) {}

func killGroup(p *os.Process) error { return p.Kill() }

func sweep(string) {}
