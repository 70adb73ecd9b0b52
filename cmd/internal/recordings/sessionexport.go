package recordings

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/export"
)

// sessionExport writes a whole conversation for people or other programs.
type sessionExport struct {
	*recorded
	format, out string
}

func newSessionExport(r *recorded) *cobra.Command {
	c := &sessionExport{recorded: r}
	cmd := &cobra.Command{
		Use:   "export SESSION",
		Short: "Write a session as Markdown, JSON, XML, CSV or one HTML page",
		Long: `Write all of a session, or of a FILE: what was said, what the model no longer
sees, and the edits. The HTML page needs no other file and runs no script.

  precis sessions export @last > session.md
  precis sessions export @last -o session.html
  precis sessions export run.precis --format csv`,
		Args: command.Takes("SESSION"),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.format, "format", "",
		"`FORMAT`: "+strings.Join(export.Formats(), ", ")+" (default by the name of the file, else markdown)")
	cmd.Flags().StringVarP(&c.out, "out", "o", "", "write to `FILE`, which must not exist")
	return cmd
}

func (c *sessionExport) run(cmd *cobra.Command, args []string) error {
	format := cmp.Or(c.format, export.FormatOf(c.out), "markdown")
	name, err := c.recording(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	j, err := c.Jobs.Open(cmd.Context(), name)
	if err != nil {
		return err
	}
	all, err := conversation.Export(cmd.Context(), j.Home, j.Home.ID())
	if err != nil {
		return err
	}
	if c.out == "" {
		return export.Write(c.Data(), all, format)
	}
	f, err := os.OpenFile(c.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		code := precis.CodeInvalid
		if errors.Is(err, fs.ErrExist) {
			code = precis.CodeConflict
		}
		return &precis.Error{Code: code, Op: "export", Err: err}
	}
	err = export.Write(f, all, format)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = precis.Errorf(precis.CodeInternal, "export", "%w", cerr)
	}
	if err != nil {
		_ = os.Remove(c.out) // a partial file is useless
		return err
	}
	if !c.Quiet {
		c.Note("written to %s", c.out)
	}
	return nil
}
