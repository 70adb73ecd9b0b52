package main

import (
	"testing"

	"precis/cmd/internal/console"
)

// A command that is asked for is made alone, by the name in the table.
func TestCommandsHaveTheirNames(t *testing.T) {
	a := newTools(console.Streams{})
	for _, c := range commands {
		if got := c.make(a).Name(); got != c.name {
			t.Errorf("%s makes %s", c.name, got)
		}
		if n := len(newTools(console.Streams{}).root([]string{c.name, "x"}).Commands()); n != 1 {
			t.Errorf("%s: %d commands are made", c.name, n)
		}
	}
	for _, args := range [][]string{nil, {"--window", "1k", "view"}, {"help"}, {"insect"}} {
		if n := len(newTools(console.Streams{}).root(args).Commands()); n < len(commands) {
			t.Errorf("%v: %d commands are made", args, n)
		}
	}
}
