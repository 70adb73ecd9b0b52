package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// translate translates the help of a command to the user's language: descriptions, flags, text and
// examples. Names and values are not translated.
func (t *commandLine) translate(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	if t.Words.English() {
		return
	}
	cmd.Short = t.Words.Sentence(cmd.Short)
	cmd.Long, cmd.Example = t.helpText(cmd.Long), t.helpText(cmd.Example)
	for _, sub := range cmd.Commands() {
		sub.Short = t.Words.Sentence(sub.Short)
	}
	flags := func(f *pflag.Flag) { f.Usage = t.Words.Sentence(f.Usage) }
	cmd.LocalFlags().VisitAll(flags)
	cmd.InheritedFlags().VisitAll(flags)
}

// helpText translates a help text and wraps its paragraphs. Parts without a translation, such as
// commands to copy, are the same in every language.
func (t *commandLine) helpText(text string) string {
	parts := helpParts(text)
	for i, part := range parts {
		key := strings.ReplaceAll(part, "%", "%%")
		if said := t.Words.Text(key); said != key {
			parts[i] = said
		}
	}
	return t.Text.Fill(strings.Join(parts, "\n"))
}

// helpParts splits a help text into paragraphs with joined lines, blocks of indented lines, and
// empty lines. Each is translated separately.
func helpParts(text string) []string {
	const (
		empty = iota + 1
		indented
		prose
	)
	var out []string
	last := 0
	for line := range strings.SplitSeq(text, "\n") {
		kind := prose
		switch {
		case strings.TrimSpace(line) == "":
			kind = empty
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "\t"):
			kind = indented
		}
		switch {
		case kind != last, kind == empty:
			out = append(out, line)
		case kind == indented:
			out[len(out)-1] += "\n" + line
		default:
			out[len(out)-1] += " " + line
		}
		last = kind
	}
	return out
}

// helpHeads are the headings written by cobra.
var helpHeads = []string{"Usage:", "Examples:", "Available Commands:", "Flags:", "Global Flags:",
	"Additional help topics:"}

// helpLine translates cobra's additions to the help of a command: headings, and the defaults of
// flags.
func (t *commandLine) helpLine(line string) string {
	switch {
	case t.Words.English():
	case strings.HasPrefix(line, "  -"), strings.HasPrefix(line, "      --"):
		at := strings.LastIndex(line, "(default ")
		if value, ok := strings.CutSuffix(line[max(at, 0):], ")"); ok && at > 0 {
			said := t.Words.Text("(default %s)", strings.TrimPrefix(value, "(default "))
			if strings.HasPrefix(said, "（") { // this parenthesis includes its own space
				at--
			}
			return line[:at] + said
		}
	case slices.Contains(helpHeads, line),
		slices.ContainsFunc(groups, func(g group) bool { return g.title != "" && g.title == line }),
		strings.HasPrefix(line, `Use "`):
		return t.Words.Sentence(line)
	}
	return line
}
