package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/policy"
)

// rewind returns to an earlier point. Exactly one flag names it.
type rewind struct {
	*command.Tools
	message string
	stamp   string
	index   int
	include bool
	out     string
}

func newRewind(t *command.Tools) *cobra.Command {
	c := &rewind{Tools: t, index: -1}
	cmd := &cobra.Command{
		Use:   "rewind FILE --message mN | --timestamp T | --index N",
		Short: "Return to an earlier point of the conversation",
		Long: `Return to the point before a message, or after it with --include. Edits made
later go with the messages, so what they hid is shown again.

A task folder is rewound as the editor does it: --timestamp and --index name a
UI message, later UI messages and their events go, and the former files are kept
beside the new ones. Elsewhere the tail is hidden by an edit in precis's own
file, which precis undo takes back.`,
		Example: `  precis rewind run.precis --message m40
  precis rewind task --index 12 --include`,
		Args: command.Takes("FILE"),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.message, "message", "", "message `HANDLE`, such as m12")
	cmd.Flags().StringVar(&c.stamp, "timestamp", "", "`TIME`: milliseconds since 1970, or RFC 3339")
	cmd.Flags().IntVar(&c.index, "index", -1,
		"message `NUMBER`, from 0; in a task folder that of the UI message")
	cmd.Flags().BoolVar(&c.include, "include", false, "keep the target itself")
	cmd.Flags().StringVarP(&c.out, "out", "o", "", "write precis's own `FILE` there")
	cmd.MarkFlagsOneRequired("message", "timestamp", "index")
	cmd.MarkFlagsMutuallyExclusive("message", "timestamp", "index")
	return cmd
}

func (c *rewind) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	j, err := c.Jobs.Edit(ctx, args[0], c.out)
	if err != nil {
		return err
	}
	if j.File.Task != nil && c.out == "" {
		return c.inPlace(ctx, j)
	}
	n, err := c.target(j)
	if err != nil {
		return err
	}
	change, err := conversation.Rewind(ctx, j.Home, j.Home.ID(), n)
	return c.Report.Changed(j, change, err, "rewoundto", n)
}

// inPlace rewinds a task folder as the editor does, and reads it again.
func (c *rewind) inPlace(ctx context.Context, j *jobs.Job) error {
	if err := c.task(ctx, j); err != nil {
		return err
	}
	if j.File.Task.History.Len() == 0 { // the editor leaves such a task too; it cannot be read
		return c.Report.Edited(j.File.EditsPath(), policy.Status{Window: j.Window.Tokens}, "rewound")
	}
	after, err := c.Jobs.Open(ctx, j.File.Path)
	if err != nil {
		return err
	}
	d, err := conversation.Status(ctx, after.Home, after.Home.ID())
	if err != nil {
		return err
	}
	return c.Report.Edited(j.File.EditsPath(), d.Status, "rewound")
}

func (c *rewind) task(ctx context.Context, j *jobs.Job) error {
	task := j.File.Task
	if c.message != "" || task.UI == nil {
		n, err := c.target(j)
		if err != nil {
			return err
		}
		if n == j.Conversation.Transcript.Len() {
			return precis.Errorf(precis.CodeNotFound, "rewind", "message %d is the last one", n-1)
		}
		return task.RewindToMessage(ctx, n)
	}
	t := roo.Target{Include: c.include, Now: float64(time.Now().UnixMilli()), ByIndex: c.index >= 0,
		Index: c.index}
	if c.stamp != "" {
		at, err := parseTime(c.stamp)
		if err != nil {
			return err
		}
		t.TS = float64(at.UnixMilli())
	}
	return task.Rewind(ctx, t)
}

// target returns the number of messages to keep.
func (c *rewind) target(j *jobs.Job) (int, error) {
	n := c.index
	switch {
	case c.message != "":
		h, err := precis.ParseHandle(c.message)
		if err != nil {
			return 0, err
		}
		n = h.From
	case c.stamp != "":
		at, err := parseTime(c.stamp)
		if err != nil {
			return 0, err
		}
		if n, err = messageAt(j.Conversation.Transcript, at); err != nil {
			return 0, err
		}
	}
	if n < 0 || n >= j.Conversation.Transcript.Len() {
		return 0, precis.Errorf(precis.CodeNotFound, "rewind", "message %d: the conversation has %d", n,
			j.Conversation.Transcript.Len())
	}
	if c.include {
		n++
	}
	return n, nil
}

// messageAt returns the first message at or after a time.
func messageAt(t *precis.Transcript, at time.Time) (int, error) {
	known := false
	for i, m := range t.Messages() {
		if known = known || !m.Time.IsZero(); !m.Time.IsZero() && !m.Time.Before(at) {
			return i, nil
		}
	}
	err := errors.New("every message is older")
	if !known {
		err = errors.New("the recording holds no times")
	}
	return 0, &precis.Error{Code: precis.CodeNotFound, Op: "rewind", Err: err,
		Hint: "name the message with --message"}
}

func parseTime(s string) (time.Time, error) {
	if ms, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.UnixMilli(ms), nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return t, precis.Errorf(precis.CodeInvalid, "read flags",
			"--timestamp is %q, want milliseconds or RFC 3339 (%s)", s, fmt.Sprint(time.RFC3339))
	}
	return t, nil
}
