package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/launch"
	"precis/cmd/internal/term"
)

// exitCodes maps error codes to exit codes. Usage errors exit with 2 as well.
var exitCodes = map[precis.Code]int{
	precis.CodeInternal:   1,
	precis.CodeInvalid:    2,
	precis.CodeNotFound:   3,
	precis.CodeConflict:   4,
	precis.CodeOverBudget: 5,
	precis.CodeUpstream:   6,
	precis.CodeCanceled:   130,
}

// app is what every subcommand needs.
type app struct {
	in   io.Reader
	out  io.Writer
	errs io.Writer
	term *term.Writer
	opts options

	closing []func() error // what is open until the command ends
}

// run is the program. It returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	a := &app{in: in, out: out, errs: errs, term: term.New(out, os.Getenv)}
	cmd := a.root()
	cmd.SetArgs(args)
	cmd.SetIn(in)
	cmd.SetOut(out)
	cmd.SetErr(errs)
	used, err := cmd.ExecuteContextC(ctx)
	for _, f := range a.closing {
		if cerr := f(); cerr != nil {
			a.warn("%v", cerr)
		}
	}
	if err == nil {
		return 0
	}
	if exit, ok := errors.AsType[launch.Exit](err); ok { // of a command that was run
		return int(exit)
	}
	return a.fail(used, err)
}

// fail prints an error of a command and returns its exit code.
func (a *app) fail(used *cobra.Command, err error) int {
	w := term.New(a.errs, os.Getenv)
	w.Printf("%s %v\n", w.Style("bad", "precis: error:"), err)
	var e *precis.Error
	if !errors.As(err, &e) { // of the command line itself
		w.Printf("%s %s --help\n", w.Style("dim", "precis: hint:"), used.CommandPath())
		return 2
	}
	if e.Hint != "" {
		w.Printf("%s %s\n", w.Style("dim", "precis: hint:"), e.Hint)
	}
	return exitCodes[e.Code]
}

// warn prints a warning to standard error.
func (a *app) warn(format string, args ...any) {
	w := term.New(a.errs, os.Getenv)
	w.Printf("%s %s\n", w.Style("warn", "precis: warning:"), fmt.Sprintf(format, args...))
}

func (a *app) root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "precis",
		Short: "Keep an agent's conversation inside its context window without losing any of it",
		Long: `precis keeps an agent's conversation inside the model's context window
without losing any of it. It reads the recordings of Roo Code, Cline, Claude
Code, Codex, pi, opencode, Gemini CLI, OpenHands, SWE-agent, aider and plain
Anthropic or OpenAI JSON.

  precis inspect FILE     who uses the context, and what would be done
  precis condense FILE    bring it inside its window; keeps every original
  precis search FILE …    find what is hidden; then precis show, precis restore
  precis undo FILE        take that back

Live, it is a proxy that agents are pointed at:

  precis run -- claude    start a client whose context never overflows
  precis gateway          serve many of them
  precis doctor           check the set-up

Exit codes: 0 done · 1 internal fault · 2 bad input or usage · 3 not found ·
4 conflict · 5 does not fit whatever is cut · 6 a server failed · 130 canceled.`,
		SilenceUsage: true, SilenceErrors: true,
	}
	cmd.CompletionOptions.HiddenDefaultCmd = false
	a.opts.register(cmd.PersistentFlags())
	cmd.AddCommand(
		a.inspectCmd(), a.viewCmd(), a.condenseCmd(), a.rewindCmd(), a.undoCmd(), a.restoreCmd(), a.pinCmd(), a.searchCmd(), a.showCmd(), a.digestCmd(), a.gateCmd(),
		a.gatewayCmd(), a.runCmd(), a.doctorCmd(), a.storeCmd(), a.configCmd(), a.modelsCmd(), a.experimentsCmd(), a.versionCmd(),
	)
	return cmd
}
