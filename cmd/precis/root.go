package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/agents"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/launch"
	"github.com/precis-dev/precis/cmd/internal/recordings"
	"github.com/precis-dev/precis/cmd/internal/serving"
)

// exitCodes maps error codes to exit codes. Usage errors exit with 2, too.
var exitCodes = map[precis.Code]int{
	precis.CodeInternal:   1,
	precis.CodeInvalid:    2,
	precis.CodeNotFound:   3,
	precis.CodeConflict:   4,
	precis.CodeOverBudget: 5,
	precis.CodeWouldLose:  5,
	precis.CodeUpstream:   6,
	precis.CodeCanceled:   130,
}

// commandLine is the root command with the tools of its subcommands.
type commandLine struct{ *command.Tools }

func newCommandLine(s console.Streams) *commandLine {
	return &commandLine{command.New(s, versionText())}
}

// run runs the program and returns the exit code.
func run(ctx context.Context, args []string, streams console.Streams) int {
	if slices.Equal(args, []string{"--version"}) {
		args = []string{"version"}
	}
	t := newCommandLine(streams)
	defer t.Close()
	cmd := t.root(args)
	cmd.SetArgs(args)
	cmd.SetIn(t.In)
	cmd.SetOut(t.Text)
	cmd.SetErr(t.Notes)
	used, err := t.execute(ctx, cmd)
	t.Jobs.Close()
	if err == nil {
		if err = t.Text.Flush(); err == nil {
			return 0
		}
		err = precis.Errorf(precis.CodeInternal, "write output", "%w", err)
	}
	if exit, ok := errors.AsType[launch.Exit](err); ok { // exit code of a child command
		return int(exit)
	}
	err = codeByCause(t.Jobs.Blame(err))
	var e *precis.Error
	if !errors.As(err, &e) { // an error of the command line
		t.AsJSON = t.AsJSON || asksJSON(args) // flags after a wrong one were not parsed
		_ = t.Begin()                         // its error is less useful than this one
		t.Fail(err, used.CommandPath()+" --help")
		return 2
	}
	t.Fail(err, e.Hint)
	return exitCodes[e.Code]
}

// codeByCause changes the code of an internal error if its cause is an error of the system or of a
// server: the new code is the one that fits the cause.
func codeByCause(err error) error {
	var e *precis.Error
	if !errors.As(err, &e) || e.Code != precis.CodeInternal {
		return err
	}
	var address *net.AddrError
	var network *net.OpError
	var server interface{ SQLState() string }
	own := *e
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		own.Code, own.Hint = precis.CodeConflict, cmp.Or(e.Hint,
			"another program listens there: end it, or name another address")
	case errors.As(err, &address):
		own.Code = precis.CodeInvalid
	case errors.As(err, &server), errors.As(err, &network) && network.Op != "listen":
		own.Code = precis.CodeUpstream
	case errors.Is(err, fs.ErrNotExist):
		own.Code = precis.CodeNotFound
	case errors.Is(err, fs.ErrPermission):
		own.Code = precis.CodeInvalid
	}
	return &own
}

// asksJSON reports whether arguments ask for JSON.
func asksJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

// execute runs the command until it ends or a recording exceeds the memory limit, which code inside
// the command cannot notice. Output files are written under temporary names and renamed, so a
// command may be abandoned at any moment.
func (t *commandLine) execute(ctx context.Context, cmd *cobra.Command) (*cobra.Command, error) {
	type result struct {
		used *cobra.Command
		err  error
	}
	done := make(chan result, 1)
	go func() {
		used, err := cmd.ExecuteContextC(ctx)
		done <- result{used, err}
	}()
	select {
	case r := <-done:
		return r.used, r.err
	case err := <-t.Jobs.Exceeded():
		return cmd, err
	}
}

// subcommand names a subcommand and its constructor.
type subcommand struct {
	name string
	make func(*command.Tools) *cobra.Command
}

// group is a heading of the help with its subcommands in display order.
type group struct {
	title    string
	commands []subcommand
}

// groups are all subcommands. Help shows those with a heading, precis help commands the others.
var groups = []group{
	{"One conversation:", []subcommand{
		{"inspect", newInspect}, {"condense", newCondense}, {"undo", newUndo}, {"search", newSearch},
		{"show", newShow}, {"restore", newRestore},
		{"pin", newPin}, {"rewind", newRewind}, {"verify", newVerify}, {"digest", newDigest},
	}},
	{"All conversations:", []subcommand{{"sessions", recordings.NewSessions}, {"ui", serving.NewUI}}},
	{"Agents, with or without a gateway:", []subcommand{
		{"install", agents.NewInstall}, {"uninstall", agents.NewUninstall}, {"run", serving.NewRun},
		{"gateway", serving.NewGateway}, {"mcp", serving.NewMCP}, {"status", agents.NewStatus},
		{"doctor", agents.NewDoctor},
	}},
	{"Settings:", []subcommand{{"config", newConfig}}},
	{"", []subcommand{
		{"view", newView}, {"gate", newGate}, {"serve", serving.NewServe}, {"experiments", newExperiments},
		{"stats", agents.NewStats}, {"models", newModels}, {"windows", serving.NewWindows},
		{"store", newStore},
		{"repair", recordings.NewRepair}, {"version", newVersion}, {"hook", agents.NewHook},
		{"statusline", agents.NewStatusline},
	}},
}

func init() { cobra.EnableCommandSorting = false } // help lists commands in the order of groups

// root builds the command line. If the arguments begin with the name of a subcommand, it has only
// that one.
func (t *commandLine) root(args []string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "precis",
		Short: "Keep an agent's conversation inside its context window without losing any of it",
		Long: `precis keeps an agent's conversation inside the model's context window
without losing any of it. It reads the recordings of Roo Code, Cline, Claude
Code, Codex, pi, opencode, Gemini CLI, OpenHands, SWE-agent, aider and plain
Anthropic or OpenAI JSON.

Exit codes: 0 done · 1 internal fault, a full disk, or what doctor or verify
found · 2 bad input or usage, no permission · 3 not found · 4 conflict, a port
in use · 5 does not fit whatever is cut · 6 a server failed, or a database ·
130 canceled. A recording that needs more memory than memory_mb allows is bad
input (2).`,
		SilenceUsage: true, SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return t.Begin() },
	}
	t.Register(cmd.PersistentFlags())
	t.Jobs.Register(cmd.PersistentFlags())
	cmd.SetHelpFunc(t.printHelp(cmd.HelpFunc()))
	cmd.SetHelpCommand(newHelp(t.Tools, cmd))
	one := t.addCommands(cmd, args)
	cmd.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "output" { // the former name in two commands
			name = "out"
		}
		return pflag.NormalizedName(name)
	})
	for _, group := range cmd.Commands() {
		if group.HasSubCommands() && !group.Runnable() {
			// by default such a group prints help for any unknown word
			group.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
	if !one {
		for _, about := range topics {
			cmd.AddCommand(newTopic(about))
		}
	}
	if len(args) > 1 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		t.complete(cmd)
		if asked, _, err := cmd.Find(args[1:]); err == nil {
			hideIdleFlags(asked)
			t.translate(asked)
		}
	}
	return cmd
}

// addCommands adds the subcommand that begins the arguments and returns true, or adds all of them.
func (t *commandLine) addCommands(cmd *cobra.Command, args []string) bool {
	known := append(slices.Clip(groups), group{"", []subcommand{{"man", newMan}}})
	for _, g := range known {
		for _, c := range g.commands {
			if len(args) > 0 && c.name == args[0] {
				cmd.AddCommand(c.make(t.Tools))
				return true
			}
		}
	}
	for _, g := range known {
		if g.title != "" {
			cmd.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
			cmd.SetHelpCommandGroupID(g.title)
		}
		for _, c := range g.commands {
			sub := c.make(t.Tools)
			sub.GroupID = g.title
			cmd.AddCommand(sub)
		}
	}
	return false
}
