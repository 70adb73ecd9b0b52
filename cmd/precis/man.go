package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/internal/atomicfile"
)

// newMan returns the hidden command that writes manual pages, for packages.
func newMan(t *command.Tools) *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write a manual page for each command",
		Example: `  precis man /usr/local/share/man/man1`,
		Args:    command.Takes("FOLDER"),
		Hidden:  true,
		RunE: func(_ *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err != nil || !info.IsDir() {
				return &precis.Error{Code: precis.CodeNotFound, Op: "write manual", Place: args[0],
					Err: errors.New("there is no such folder"), Hint: "make the folder first"}
			}
			for _, cmd := range all((&commandLine{t}).root(nil)) {
				if cmd.Hidden || cmd.Name() == "completion" ||
					cmd.HasParent() && cmd.Parent().Name() == "completion" {
					continue
				}
				name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
				if err := atomicfile.Write(filepath.Join(args[0], name), manPage(cmd)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// manPage formats the help of a command as a manual page.
func manPage(cmd *cobra.Command) []byte {
	var b bytes.Buffer
	line := func(s ...string) { b.WriteString(strings.Join(s, "") + "\n") }
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	hideIdleFlags(cmd)
	line(`.\" -*- mode: troff; coding: utf-8 -*-`)
	line(`.TH `, strings.ToUpper(name), ` 1 "" "precis `, versionText(), `"`)
	line(".SH NAME")
	line(roff(name), ` \- `, roff(cmd.Short))
	if cmd.Runnable() {
		line(".SH SYNOPSIS")
		line(roff(cmd.UseLine()))
	}
	line(".SH DESCRIPTION")
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	manText(line, text)
	if cmd.Example != "" {
		line(".SH EXAMPLES")
		manText(line, cmd.Example)
	}
	if cmd.HasAvailableLocalFlags() || cmd.HasAvailableInheritedFlags() {
		line(".SH OPTIONS")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { manFlag(line, f) })
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { manFlag(line, f) })
	}
	line(".SH SEE ALSO")
	line(`precis(1), precis help`)
	return b.Bytes()
}

// manText writes prose as paragraphs and indented lines as they are.
func manText(line func(...string), text string) {
	verbatim := false
	for s := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		indented := strings.HasPrefix(s, " ")
		switch {
		case s == "" && !verbatim:
			line(".PP")
			continue
		case indented && !verbatim:
			line(".RS 0\n.nf")
		case !indented && s != "" && verbatim:
			line(".fi\n.RE\n.PP")
		}
		verbatim = indented || verbatim && s == ""
		line(roff(s))
	}
	if verbatim {
		line(".fi\n.RE")
	}
}

func manFlag(line func(...string), f *pflag.Flag) {
	if f.Hidden {
		return
	}
	value, usage := pflag.UnquoteUsage(f)
	head := `\fB\-\-` + roff(f.Name) + `\fR`
	if f.Shorthand != "" {
		head = `\fB\-` + f.Shorthand + `\fR, ` + head
	}
	if value != "" {
		head += ` \fI` + roff(value) + `\fR`
	}
	line(".TP")
	line(head)
	line(roff(usage))
}

// roff escapes text: backslashes, hyphens that users may copy, and characters that begin a request.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
