package main

import (
	"bytes"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/term"
)

// each calls f with every command that users see.
func each(cmd *cobra.Command, f func(*cobra.Command)) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			f(c)
			each(c, f)
		}
	}
}

func TestEveryCommandHasAnExample(t *testing.T) {
	each(newCommandLine(console.Streams{}).root(nil), func(c *cobra.Command) {
		if c.Name() != "completion" && c.Parent().Name() != "completion" && c.Example == "" && !strings.Contains(c.Long, "\n  ") {
			t.Errorf("%s has no example", c.CommandPath())
		}
	})
}

// The flags that help names act; those that all commands share are named for each.
func TestHelpNamesTheFlagsThatAct(t *testing.T) {
	for _, c := range allCommands() {
		if _, ok := actingFlags[c.name]; !ok {
			t.Errorf("nobody says which flags act in %s", c.name)
		}
	}
	flags := newCommandLine(console.Streams{}).root(nil).PersistentFlags()
	for name, list := range actingFlags {
		for flag := range strings.FieldsSeq(list) {
			if flags.Lookup(flag) == nil {
				t.Errorf("%s: there is no flag --%s", name, flag)
			}
		}
	}
	for args, want := range map[string]bool{"show --help": false, "sessions tree --help": false, "version --help": false, "condense --help": true} {
		if got := strings.Contains(helpAt(t, 80, args), "--max-output"); got != want {
			t.Errorf("%s names --max-output: %v", args, got)
		}
	}
}

// Help fits the terminal and has all its words.
func TestHelpFits(t *testing.T) {
	each(newCommandLine(console.Streams{}).root(nil), func(c *cobra.Command) {
		args := strings.TrimPrefix(c.CommandPath(), "precis ") + " --help"
		piped := strings.Fields(helpAt(t, 0, args))
		for line := range strings.SplitSeq(c.Long, "\n") {
			if n := lipgloss.Width(line); n > 80 && line[0] != ' ' && c.Name() != "completion" && c.Parent().Name() != "completion" {
				t.Errorf("%s: a line of %d columns is written: %s", args, n, line)
			}
		}
		for _, columns := range []int{60, 80, 120} {
			text := helpAt(t, columns, args)
			for line := range strings.SplitSeq(text, "\n") {
				if n := lipgloss.Width(line); n > columns && c.Parent().Name() != "completion" {
					t.Errorf("%s at %d: a line of %d columns: %s", args, columns, n, line)
				}
			}
			if got := strings.Fields(text); len(got) != len(piped) {
				t.Errorf("%s at %d: %d words, want %d", args, columns, len(got), len(piped))
			}
		}
	})
}

// helpAt runs the program on a terminal; columns 0 is a pipe.
func helpAt(t *testing.T, columns int, args string) string {
	t.Helper()
	var out, errs bytes.Buffer
	to := term.Options{Terminal: columns > 0, Columns: columns}
	if code := run(t.Context(), strings.Fields(args), console.Streams{In: strings.NewReader(""), Out: &out, Errs: &errs, OutTo: to, ErrsTo: to}); code != 0 || errs.Len() > 0 {
		t.Errorf("%s exits with %d: %s", args, code, errs.String())
	}
	return out.String()
}
