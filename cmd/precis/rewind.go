package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"precis"
	"precis/archive/roo"
)

// rewindFlags name one target.
type rewindFlags struct {
	message string
	stamp   string
	index   int
	include bool
	out     string
}

func (a *app) rewindCmd() *cobra.Command {
	f := rewindFlags{index: -1}
	cmd := &cobra.Command{
		Use:   "rewind FILE --message mN | --timestamp T | --index N",
		Short: "Return to an earlier point of the conversation",
		Long: `Return to the point before a message, or after it with --include. Edits made
later go with the messages, so what they hid is shown again.

A task folder is rewound as the editor does it: --timestamp and --index name a UI
message, later UI messages and their events go, and the former files are kept
beside the new ones. Elsewhere the tail is hidden by an edit in precis's own
file, which precis undo takes back.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.rewind(cmd.Context(), args[0], f) },
	}
	cmd.Flags().StringVar(&f.message, "message", "", "message `HANDLE`, such as m12")
	cmd.Flags().StringVar(&f.stamp, "timestamp", "", "`TIME`: milliseconds since 1970, or RFC 3339")
	cmd.Flags().IntVar(&f.index, "index", -1, "message `NUMBER`, from 0; in a task folder that of the UI message")
	cmd.Flags().BoolVar(&f.include, "include", false, "keep the target itself")
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write precis's own `FILE` there")
	cmd.MarkFlagsOneRequired("message", "timestamp", "index")
	cmd.MarkFlagsMutuallyExclusive("message", "timestamp", "index")
	return cmd
}

func (a *app) rewind(ctx context.Context, path string, f rewindFlags) error {
	j, err := a.open(ctx, path)
	if err != nil {
		return err
	}
	if j.isTask() && f.out == "" {
		if err := j.rewindTask(ctx, f); err != nil {
			return err
		}
		return a.done(ctx, filepath.Dir(j.rec.Path), "rewound")
	}
	n, err := j.target(f)
	if err != nil {
		return err
	}
	e, err := j.manager.Rewind(ctx, j.conv, n)
	if err != nil {
		return err
	}
	where, err := j.save(f.out, []precis.Edit{e})
	if err != nil {
		return err
	}
	return a.done(ctx, where, "rewound to message %d", n)
}

func (j *job) rewindTask(ctx context.Context, f rewindFlags) error {
	task, err := roo.OpenTask(j.rec.Path)
	if err != nil {
		return err
	}
	if f.message != "" || task.UI == nil {
		n, err := j.target(f)
		if err != nil {
			return err
		}
		if n == j.conv.Transcript.Len() {
			return precis.Errorf(precis.CodeNotFound, "rewind", "message %d is the last one", n-1)
		}
		return task.RewindToMessage(ctx, n)
	}
	t := roo.Target{Include: f.include, Now: float64(time.Now().UnixMilli()), ByIndex: f.index >= 0, Index: f.index}
	if f.stamp != "" {
		at, err := parseTime(f.stamp)
		if err != nil {
			return err
		}
		t.TS = float64(at.UnixMilli())
	}
	return task.Rewind(ctx, t)
}

// target returns the number of messages to keep.
func (j *job) target(f rewindFlags) (int, error) {
	n := f.index
	switch {
	case f.message != "":
		h, err := precis.ParseHandle(f.message)
		if err != nil {
			return 0, err
		}
		n = h.From
	case f.stamp != "":
		at, err := parseTime(f.stamp)
		if err != nil {
			return 0, err
		}
		if n, err = j.messageAt(at); err != nil {
			return 0, err
		}
	}
	if n < 0 || n >= j.conv.Transcript.Len() {
		return 0, precis.Errorf(precis.CodeNotFound, "rewind", "message %d: the conversation has %d", n, j.conv.Transcript.Len())
	}
	if f.include {
		n++
	}
	return n, nil
}

// messageAt returns the first message said at or after a time.
func (j *job) messageAt(at time.Time) (int, error) {
	known := false
	for i, m := range j.conv.Transcript.Messages() {
		if known = known || !m.Time.IsZero(); !m.Time.IsZero() && !m.Time.Before(at) {
			return i, nil
		}
	}
	err := errors.New("every message is older")
	if !known {
		err = errors.New("the recording holds no times")
	}
	return 0, &precis.Error{Code: precis.CodeNotFound, Op: "rewind", Err: err, Hint: "name the message with --message"}
}

func parseTime(s string) (time.Time, error) {
	if ms, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.UnixMilli(ms), nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return t, precis.Errorf(precis.CodeInvalid, "read flags", "--timestamp is %q, want milliseconds or RFC 3339 (%s)", s, fmt.Sprint(time.RFC3339))
	}
	return t, nil
}
