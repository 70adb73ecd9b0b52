package main

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/console"
)

// A command that is asked for is made alone, by the name in the table.
func TestCommandsHaveTheirNames(t *testing.T) {
	a := newCommandLine(console.Streams{})
	for _, c := range allCommands() {
		if got := c.make(a.Tools).Name(); got != c.name {
			t.Errorf("%s makes %s", c.name, got)
		}
		if n := len(newCommandLine(console.Streams{}).root([]string{c.name, "x"}).Commands()); n != 1 {
			t.Errorf("%s: %d commands are made", c.name, n)
		}
	}
	for _, args := range [][]string{nil, {"--window", "1k", "view"}, {"help"}, {"insect"}} {
		if n := len(newCommandLine(console.Streams{}).root(args).Commands()); n < len(allCommands()) {
			t.Errorf("%v: %d commands are made", args, n)
		}
	}
}

func allCommands() []subcommand {
	var all []subcommand
	for _, g := range groups {
		all = append(all, g.commands...)
	}
	return all
}

// Help has each command once: below its heading, or in the topic of the others.
func TestHelpHasEveryCommand(t *testing.T) {
	shown, others := helpAt(t, 80, "--help"), helpAt(t, 80, "help commands")
	if n := strings.Count(shown, "\n  "); n > 40 {
		t.Errorf("help has %d entries:\n%s", n, shown)
	}
	for _, g := range groups {
		for _, c := range g.commands {
			if strings.Contains(shown, "\n  "+c.name+" ") != (g.title != "") {
				t.Errorf("the list of commands is wrong about %s", c.name)
			}
			if strings.Contains(others, "\n  precis "+c.name+" ") != (g.title == "") {
				t.Errorf("the topic of other commands is wrong about %s", c.name)
			}
		}
	}
}
