package recordings

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/sessions"
)

// recording returns the path of a file, or of a session in the folders that the flags select.
func (c *recorded) recording(ctx context.Context, name string) (string, error) {
	if _, err := os.Lstat(name); err == nil || name == "-" {
		return name, nil
	}
	lib, err := c.open(ctx)
	if err != nil {
		return "", err
	}
	s, err := lib.Find(ctx, name)
	if err != nil {
		return "", err
	}
	return s.Path, nil
}

func newSessionCheck(r *recorded) *cobra.Command {
	return &cobra.Command{
		Use:   "check [SESSION]",
		Short: "Name what is wrong with sessions: lines, encodings, tags, loops, duplicates",
		Long: `Name what is wrong with recordings: lines that are no JSON, other encodings than
UTF-8, tags that name a summary which is gone, tool uses without a result,
condensations that follow one another, recordings of the same ID. Nothing is
changed; precis sessions repair mends what it can.

  precis sessions check
  precis sessions check @last
  precis sessions check --agent roo --json`,
		Args: command.Takes("[SESSION]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			faults, err := r.faults(cmd.Context(), args)
			if err != nil {
				return err
			}
			if r.AsJSON {
				return r.JSON(struct {
					Faults []sessions.Fault `json:"faults"`
				}{faults})
			}
			r.Report.SessionFaults(faults)
			return nil
		},
	}
}

// faults returns the faults of one recording, or of all selected ones.
func (c *recorded) faults(ctx context.Context, args []string) ([]sessions.Fault, error) {
	faults := []sessions.Fault{}
	if len(args) == 1 {
		path, err := c.recording(ctx, args[0])
		if err != nil {
			return nil, err
		}
		return append(faults, sessions.CheckFile(path)...), nil
	}
	lib, f, err := c.selected(ctx)
	if err != nil {
		return nil, err
	}
	err = lib.Check(ctx, f, func(f sessions.Fault) { faults = append(faults, f) })
	return faults, err
}

// sessionRepair mends recordings.
type sessionRepair struct {
	*recorded
	yes bool
}

func newSessionRepair(r *recorded) *cobra.Command {
	c := &sessionRepair{recorded: r}
	cmd := &cobra.Command{
		Use:   "repair SESSION",
		Short: "Mend a recording; says what it would do unless --yes is given",
		Long: `Mend a recording: its encoding, lines with wrong escapes or of several objects,
a last line that was cut off, tags that name nothing. Without --yes it only says
what it would do. The recording as it was is kept next to it.

  precis sessions repair @last
  precis sessions repair @last --yes`,
		Args: command.Takes("SESSION"),
		RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.yes, "yes", false, "write the mended recording, and keep the original next to it")
	return cmd
}

func (c *sessionRepair) run(cmd *cobra.Command, args []string) error {
	path, err := c.recording(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	if path == "-" {
		return &precis.Error{Code: precis.CodeInvalid, Op: "repair",
			Err: errors.New("standard input cannot be mended"), Hint: "name a file or a session"}
	}
	done, err := sessions.Repair(cmd.Context(), path, !c.yes)
	if err != nil {
		return err
	}
	if c.AsJSON {
		return c.JSON(done)
	}
	w := c.Text
	if len(done.Done) == 0 {
		c.Line("nothing to mend in %s", done.Path)
	} else {
		title := "would mend %s"
		if done.Backup != "" {
			title = "mended %s"
		}
		w.Title("%s", c.Words.Text(title, done.Path))
		for _, d := range done.Done {
			w.Printf("  %s\n", c.Words.Sentence(d))
		}
	}
	for _, f := range done.Left {
		c.Pairs([2]string{"left", fmt.Sprintf("%s %s: %s", f.Kind, f.Place, c.Words.Sentence(f.Text))})
	}
	switch {
	case done.Backup != "":
		c.Pairs([2]string{"as it was", done.Backup})
	case len(done.Done) > 0:
		c.Pairs([2]string{"do it", "precis sessions repair " + args[0] + " --yes"})
	}
	return nil
}
