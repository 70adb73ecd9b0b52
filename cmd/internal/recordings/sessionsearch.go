package recordings

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/reports"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/store"
)

// sessionSearch finds messages in all sessions by words.
type sessionSearch struct {
	*recorded
	limit int
	exact bool
}

func newSessionSearch(r *recorded) *cobra.Command {
	c := &sessionSearch{recorded: r}
	cmd := &cobra.Command{
		Use:   "search WORD...",
		Short: "Find messages by words in all sessions, hidden or not",
		Long: `Find messages that hold all the words, in all sessions, hidden by a condensation
or not; also summaries, notes and side conversations, each under its own name.
The first search reads every session; later ones only what is new.
Behind them come messages with another form of a word, and with related words of
code work, which are marked.

  precis sessions search connection refused
  precis sessions search --agent codex migration
  precis show SESSION m42      # read a message in full`,
		Args: command.Takes("WORD..."),
		RunE: c.run,
	}
	cmd.Flags().IntVar(&c.limit, "limit", 10, "print so many `MESSAGES` at most, 500 at most")
	cmd.Flags().BoolVar(&c.exact, "exact", false, "no other forms of the words, and no related words")
	return cmd
}

func (c *sessionSearch) run(cmd *cobra.Command, args []string) error {
	if c.limit < 1 || c.limit > 500 {
		return precis.Errorf(precis.CodeInvalid, "read flags", "--limit is %d, want 1 to 500", c.limit)
	}
	lib, f, err := c.selected(cmd.Context())
	if err != nil {
		return err
	}
	hits, err := lib.SearchIn(cmd.Context(), f,
		store.SearchQuery{Text: strings.Join(args, " "), Limit: c.limit + 1, Exact: c.exact})
	if err != nil {
		return err
	}
	out := reports.SessionHits{Total: min(len(hits), c.limit), More: len(hits) > c.limit}
	hits = hits[:out.Total]
	for _, h := range hits {
		h.Snippet = term.Plain(h.Snippet)
		out.Hits = append(out.Hits, reports.SessionHit{Hit: h.Hit, Handle: h.Place.Handle, In: h.Place.In,
			Kind: h.Place.Name.String(), Agent: h.Session.Agent, Title: h.Session.Title,
			Project: h.Session.Project, Path: h.Session.Path, Used: h.Session.Last})
	}
	if len(hits) == 0 {
		return &precis.Error{Code: precis.CodeNotFound, Op: "search sessions", Err: errNowhere(args),
			Hint: "all words must stand in one message; try fewer"}
	}
	if c.AsJSON {
		return c.JSON(out)
	}
	c.Report.SessionHits(args, out, time.Now())
	return nil
}

// errNowhere reports that no message contains the words.
type errNowhere []string

func (e errNowhere) Error() string { return "no message holds " + strings.Join(e, " ") }

// projectFolder makes a project's folder absolute, because programs record it so. A path that does
// not exist here is unchanged: it may be on another machine.
func projectFolder(path string) (string, error) {
	if path == "" || filepath.IsAbs(path) || strings.Contains(path, ":") {
		return path, nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", precis.Errorf(precis.CodeInternal, "read flags", "%w", err)
	}
	return abs, nil
}

// parseMoment reads 7d, 12h, 30m, or a date.
func parseMoment(flag, s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, precis.Errorf(precis.CodeInvalid, "read flags",
		"%s is %q, want a time such as 7d, 12h or 2026-01-31", flag, s)
}
