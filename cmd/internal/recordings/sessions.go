// Package recordings answers: which conversations have agents recorded on this machine, and are
// their files sound? It has the commands sessions and repair.
package recordings

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/reports"
	"github.com/precis-dev/precis/sessions"
)

// recorded works on the conversations that agents have recorded on this machine.
type recorded struct {
	*command.Tools
	folders []string
	agent   string
	project string
	text    string
	state   string
	since   string
	before  string
	sort    string
	limit   int
	page    int
}

// NewSessions makes the command sessions.
func NewSessions(t *command.Tools) *cobra.Command {
	c := &recorded{Tools: t}
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the conversations that agents have recorded on this machine",
		Long: `List the conversations that Claude Code, Codex, Cline, Roo Code, Kilo, Zoo,
Gemini CLI, Qwen Code, pi, OpenClaw, opencode, OpenHands and Copilot have
recorded on this machine. Nothing is written to them. An index in the cache
folder makes the next call fast.

  precis sessions                              the newest 20
  precis sessions --agent codex --sort cost    the most expensive ones of Codex
  precis sessions --project . --since 7d       this folder's, of the last week
  precis sessions --in ~/backup                those in a folder
  precis sessions search connection refused    find what was said in any of them
  precis sessions stats                        what all of them used

Where a command takes a FILE, a session does, too: its ID or the beginning of
it, @last, @codex for the newest of an agent, @last~1 for the one before.

  precis inspect @last
  precis digest @claude-code`,
		Args: command.Takes(),
		RunE: c.list,
	}
	f := cmd.PersistentFlags()
	f.StringArrayVar(&c.folders, "in", nil,
		"only recordings in `FOLDER`; repeatable (default: where agents keep theirs, and sessions.roots)")
	f.StringVar(&c.agent, "agent", "", "only those of an `AGENT`, such as codex")
	f.StringVar(&c.project, "project", "", "only those of a project `FOLDER`, or below it")
	f.StringVar(&c.text, "text", "", "only those whose ID, title, project or model contains `TEXT`")
	f.StringVar(&c.state, "state", "",
		"only those in a `STATE`: answered, interrupted, completed or unreadable")
	f.StringVar(&c.since, "since", "", "only those used since a `TIME`: 7d, 12h or 2026-01-31")
	f.StringVar(&c.before, "before", "", "only those last used before a `TIME`")
	cmd.Flags().StringVar(&c.sort, "sort", "", "`ORDER`: "+strings.Join(sessions.Sorts(), ", "))
	cmd.Flags().IntVar(&c.limit, "limit", 20, "list so many `SESSIONS` at most; 0 lists all")
	cmd.Flags().IntVar(&c.page, "page", 1, "list `PAGE` number so many")
	cmd.AddCommand(newSessionShow(c), newSessionSearch(c), newSessionStats(c), newSessionTree(c),
		newSessionExport(c), newSessionCheck(c), newSessionRepair(c))
	return cmd
}

// open opens the library and shows on a terminal how many recordings are read for the first time.
func (c *recorded) open(ctx context.Context) (*sessions.Library, error) {
	bar, done := c.Counted("reading sessions")
	defer done()
	return c.Jobs.Sessions(ctx, c.folders, bar)
}

// filter returns the filter of the flags.
func (c *recorded) filter(now time.Time) (f sessions.Filter, err error) {
	f = sessions.Filter{Agent: c.agent, Text: c.text, State: sessions.State(c.state), Sort: c.sort}
	if f.Project, err = projectFolder(c.project); err != nil {
		return f, err
	}
	if f.Since, err = parseMoment("--since", c.since, now); err != nil {
		return f, err
	}
	f.Before, err = parseMoment("--before", c.before, now)
	return f, err
}

// selected opens the library and returns it with the filter of the flags.
func (c *recorded) selected(ctx context.Context) (*sessions.Library, sessions.Filter, error) {
	f, err := c.filter(time.Now()) // report wrong flags before reading files
	if err != nil {
		return nil, f, err
	}
	lib, err := c.open(ctx)
	return lib, f, err
}

func (c *recorded) list(cmd *cobra.Command, _ []string) error {
	if c.limit < 0 || c.page < 1 {
		return precis.Errorf(precis.CodeInvalid, "read flags",
			"--limit is %d and --page %d, want 0 or more and 1 or more", c.limit, c.page)
	}
	lib, f, err := c.selected(cmd.Context())
	if err != nil {
		return err
	}
	f.Limit, f.Offset = c.limit, c.limit*(c.page-1)
	some, err := lib.List(cmd.Context(), f)
	if err != nil {
		return err
	}
	total, err := lib.Count(cmd.Context(), f)
	if err != nil {
		return err
	}
	out := reports.SessionList{Total: total, Sessions: some}
	if c.AsJSON {
		return c.JSON(out)
	}
	c.Report.SessionList(out, c.limit, c.page, time.Now())
	return nil
}

func newSessionShow(r *recorded) *cobra.Command {
	return &cobra.Command{
		Use:     "show SESSION",
		Short:   "Show what is known of one session",
		Example: `  precis sessions show @last`,
		Args:    command.Takes("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, err := r.open(cmd.Context())
			if err != nil {
				return err
			}
			s, err := lib.Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			children, err := lib.List(cmd.Context(), sessions.Filter{Parent: s.ID})
			if err != nil {
				return err
			}
			if r.AsJSON {
				return r.JSON(struct {
					*sessions.Session
					Children []*sessions.Session `json:"children"`
				}{s, children})
			}
			r.Report.Session(s, children, time.Now())
			return nil
		},
	}
}

func newSessionStats(r *recorded) *cobra.Command {
	return &cobra.Command{
		Use:     "stats",
		Short:   "Add up what sessions used: tokens, money, tools, condensations",
		Example: `  precis sessions stats --since 30d`,
		Args:    command.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			lib, f, err := r.selected(cmd.Context())
			if err != nil {
				return err
			}
			stats, err := lib.Stats(cmd.Context(), f)
			if err != nil {
				return err
			}
			if r.AsJSON {
				return r.JSON(stats)
			}
			r.Report.SessionStats(stats)
			return nil
		},
	}
}

func newSessionTree(r *recorded) *cobra.Command {
	return &cobra.Command{
		Use:     "tree",
		Short:   "Show which sessions were begun by which: sub-agents, sub-tasks, forks",
		Example: `  precis sessions tree --agent claude-code`,
		Args:    command.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			lib, f, err := r.selected(cmd.Context())
			if err != nil {
				return err
			}
			trees, err := lib.Tree(cmd.Context(), f)
			if err != nil {
				return err
			}
			if r.AsJSON {
				return r.JSON(trees)
			}
			r.Report.SessionTree(trees, time.Now())
			return nil
		},
	}
}
