//go:build !linux && !darwin

package launch

import (
	"os"
	"os/exec"
)

func forwardedSignals() []os.Signal { return []os.Signal{os.Interrupt} }

// terminal is not used here: the program receives keys directly.
type terminal struct{}

func openTerminal() *terminal { return &terminal{} }

func (*terminal) close() {}

func (*terminal) typed(os.Signal) bool { return true }

func attributes(*exec.Cmd, *terminal) {}

func forwardSignal(p *os.Process, s os.Signal) { _ = p.Signal(s) } // it may have ended

func codeOf(s *os.ProcessState) int { return s.ExitCode() }
