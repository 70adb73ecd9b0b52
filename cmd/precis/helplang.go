package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// translate puts the help of a command into the language of the user: what it and its
// subcommands are for, its flags, and its text where that has a translation; else the text
// stays English, behind the translated line that says what the command is for. Names,
// values and examples are the same in every language.
func (t *tools) translate(cmd *cobra.Command) {
	if t.Words.English() {
		return
	}
	said := t.Words.Text(cmd.Long)
	cmd.Short = t.Words.Sentence(cmd.Short)
	if said == cmd.Long && said != "" {
		said = cmd.Short + "\n\n" + said
	}
	cmd.Long = said
	for _, sub := range cmd.Commands() {
		sub.Short = t.Words.Sentence(sub.Short)
	}
	flags := func(f *pflag.Flag) { f.Usage = t.Words.Sentence(f.Usage) }
	cmd.InitDefaultHelpFlag()
	cmd.LocalFlags().VisitAll(flags)
	cmd.InheritedFlags().VisitAll(flags)
}

// helpHeads are the headings that the library writes.
var helpHeads = []string{"Usage:", "Examples:", "Available Commands:", "Flags:", "Global Flags:", "Additional help topics:"}

// helpLine translates what the library adds to the help of a command: headings, and the
// defaults of flags.
func (t *tools) helpLine(line string) string {
	switch {
	case t.Words.English():
	case strings.HasPrefix(line, "  -"), strings.HasPrefix(line, "      --"):
		at := strings.LastIndex(line, "(default ")
		if value, ok := strings.CutSuffix(line[max(at, 0):], ")"); ok && at > 0 {
			return line[:at] + t.Words.Text("(default %s)", strings.TrimPrefix(value, "(default "))
		}
	case slices.Contains(helpHeads, line), strings.HasPrefix(line, `Use "`):
		return t.Words.Sentence(line)
	}
	return line
}
