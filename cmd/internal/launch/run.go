package launch

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"

	"github.com/precis-dev/precis"
)

// Command is a program to run.
type Command struct {
	Args      []string
	Env       []string
	In        io.Reader
	Out, Errs io.Writer
}

// Exit is the exit code of a program; its caller should exit with the same one.
type Exit int

// Error returns a generic text, because the program has already printed its error.
func (Exit) Error() string { return "the command failed" }

// Run runs a program with the terminal, the signals and the exit code of this one. It returns an
// [Exit] unless the code is 0. On a terminal the program shares the foreground, so that it receives
// signals from keys directly; other signals are passed on. When this process is killed, the program
// is asked to terminate, if the system supports that.
func Run(c Command) error {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Env, c.In, c.Out, c.Errs
	t := openTerminal()
	defer t.close()
	attributes(cmd, t)
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwardedSignals()...)
	defer signal.Stop(signals)
	started, done := make(chan error, 1), make(chan error, 1)
	go func() {
		// The program is terminated with the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			done <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return notStarted(c.Args[0], err)
	}
	for {
		select {
		case err := <-done:
			return exitOf(cmd, err)
		case s := <-signals:
			if !t.typed(s) {
				forwardSignal(cmd.Process, s)
			}
		}
	}
}

func notStarted(name string, err error) error {
	code, hint := precis.CodeInternal, ""
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		code, hint = precis.CodeNotFound, "install it, or name its path"
	}
	return &precis.Error{Code: code, Op: "run command", Place: name, Hint: hint, Err: errors.Unwrap(err)}
}

func exitOf(cmd *exec.Cmd, err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit):
		return Exit(codeOf(cmd.ProcessState))
	}
	return precis.Errorf(precis.CodeInternal, "run command", "%w", err)
}
