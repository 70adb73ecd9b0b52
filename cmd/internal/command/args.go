package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/cmd/internal/term"
)

// Takes checks the arguments of a command by their names: "FILE" is required, "[FILE]" is optional,
// "WORD..." means one or more, "[EDIT...]" any number.
func Takes(names ...string) cobra.PositionalArgs {
	least, most := 0, len(names)
	for _, name := range names {
		if !strings.HasPrefix(name, "[") {
			least++
		}
		if strings.Contains(name, "...") {
			most = -1
		}
	}
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s needs %s", cmd.Name(), needed(names[len(args):least]))
		case most >= 0 && len(args) > most:
			return fmt.Errorf("%s takes %s: %q is too many", cmd.Name(), argsText(names), args[most])
		}
		return nil
	}
}

// needed returns "a FILE and a HANDLE".
func needed(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		name = strings.TrimSuffix(name, "...")
		out[i] = "a " + name
		if strings.ContainsRune("AEIO", rune(name[0])) {
			out[i] = "an " + name
		}
	}
	return strings.Join(out, " and ")
}

// argsText returns "no arguments", "one FILE" or "2 arguments".
func argsText(names []string) string {
	switch len(names) {
	case 0:
		return "no arguments"
	case 1:
		return "one " + strings.Trim(names[0], "[]")
	}
	return term.Count(len(names), "argument")
}
