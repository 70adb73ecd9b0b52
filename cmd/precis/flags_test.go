package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/precis-dev/precis/cmd/internal/console"
)

// Each flag with a value names it in its help, as `FILE`: "--out string" says less.
func TestFlagsNameTheirValues(t *testing.T) {
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if name, _ := pflag.UnquoteUsage(f); name != "" && name == f.Value.Type() || name == "strings" || name == "stringArray" {
				t.Errorf("%s --%s shows %q", c.CommandPath(), f.Name, name)
			}
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newCommandLine(console.Streams{}).root(nil))
}
