package main

import (
	"bytes"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/internal/suggest"
)

// Flags of the root command by subject. All commands accept them; help lists only the flags with an
// effect.
const (
	everyFlag   = "config estimate max-output model preset profile set target used window json quiet raw verbose lang"
	editFlags   = "config estimate model set window json quiet raw lang"
	readFlags   = "config estimate set json quiet raw lang"
	serveFlags  = "config estimate max-output preset set target window json quiet lang"
	configFlags = "config estimate max-output model preset set target window json quiet lang"
	fewFlags    = "config set json quiet lang"
)

// actingFlags are the flags of the root command with an effect, by subcommand.
var actingFlags = map[string]string{
	"inspect": everyFlag, "view": everyFlag, "condense": everyFlag,
	"rewind": editFlags, "undo": editFlags, "restore": editFlags, "pin": editFlags,
	"search": readFlags, "show": readFlags, "digest": readFlags, "gate": readFlags, "verify": readFlags,
	"sessions": readFlags, "experiments": readFlags, "status": readFlags,
	"ui": everyFlag, "mcp": readFlags, "install": "json quiet lang", "uninstall": "json quiet lang",
	"hook": "", "stats": "json lang", "statusline": "config set lang",
	"gateway": serveFlags, "serve": serveFlags, "run": serveFlags, "doctor": serveFlags,
	"repair": "json quiet lang", "config": configFlags, "models": fewFlags, "windows": fewFlags,
	"store": fewFlags, "version": "json", "man": "quiet",
	"": "config set json quiet lang",
}

// hideIdleFlags hides the flags of the root command without an effect on a command.
func hideIdleFlags(cmd *cobra.Command) {
	top := cmd
	for top.HasParent() && top.Parent().HasParent() {
		top = top.Parent()
	}
	name := top.Name()
	if !top.HasParent() {
		name = ""
	}
	acting := " " + actingFlags[name] + " "
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		f.Hidden = !strings.Contains(acting, " "+f.Name+" ")
	})
}

// printHelp prints the help of a command, wrapped to the terminal.
func (t *commandLine) printHelp(show func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		var out bytes.Buffer
		hideIdleFlags(cmd)
		for _, sub := range cmd.Commands() {
			// see the topic "commands"
			sub.Hidden = sub.Hidden || cmd == cmd.Root() && sub.GroupID == "" &&
				!sub.IsAdditionalHelpTopicCommand()
		}
		_ = t.Begin() // help is printed even if a flag is wrong
		t.translate(cmd)
		if t.Words.English() {
			cmd.Long = t.Text.Reflow(cmd.Long)
		}
		cmd.SetOut(&out)
		show(cmd, args)
		cmd.SetOut(t.Text)
		for line := range strings.Lines(out.String()) {
			t.Text.Hanging(t.helpLine(strings.TrimRight(line, "\n")))
		}
	}
}

// newHelp makes the command help. Cobra's own reports no error for unknown names.
func newHelp(t *command.Tools, root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "Explain a command, or a topic: " + strings.Join(topicNames(), ", "),
		Example: `  precis help condense
  precis help handles`,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return helpNames(root), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				word := term.Plain(strings.Join(args, " "))
				e := &precis.Error{Code: precis.CodeInvalid, Op: "help",
					Err: errors.New("there is no command or topic " + word), Hint: "precis help lists them"}
				if near := suggest.DidYouMean(word, helpNames(root)); near != "" {
					e.Hint = near
				}
				return e
			}
			return cmd.Help()
		},
	}
}

func helpNames(root *cobra.Command) []string {
	names := topicNames()
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}
