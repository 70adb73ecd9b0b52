package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/term"
)

func (a *app) searchCmd() *cobra.Command {
	limit, expressions := 20, false
	cmd := &cobra.Command{
		Use:   "search FILE WORD...",
		Short: "Find messages, hidden or not, by words",
		Long: `Find what was said, hidden from the model or not: the places that hold all the
words, in what anyone said or thought, in the input of tools and in their
results. Upper and lower case are the same; a phrase is one word when quoted.
Places that hold all words on one line come first, and then the newest. The same
line found again is counted, not repeated.

  precis search run.precis connection refused
  precis search run.precis "exit status 2" make
  precis search run.precis --regexp 'func \w+Handler'
  precis show run.precis m42.b0      # read a place in full
  precis restore run.precis m42.b0   # show it to the model again`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return precis.Errorf(precis.CodeInvalid, "read flags", "--limit is %d, want 0 or more", limit)
			}
			q, err := newQuery(args[1:], expressions)
			if err != nil {
				return err
			}
			return a.search(cmd.Context(), args[0], q, limit)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", limit, "print so many `PLACES` at most; 0 prints all")
	cmd.Flags().BoolVar(&expressions, "regexp", false, "the words are regular expressions (RE2)")
	return cmd
}

// found is one place that holds the words.
type found struct {
	Handle precis.Handle `json:"handle"`
	blockName
	View string          `json:"view"`         // shown, preview or hidden
	By   precis.EditKind `json:"by,omitempty"` // the kind of edit that hides or shortens it
	Line string          `json:"line"`
	Also []precis.Handle `json:"also,omitempty"` // places with the same line
	on   int             // words on the line
}

func (a *app) search(ctx context.Context, path string, q *query, limit int) error {
	rec, err := a.read(ctx, path)
	if err != nil {
		return err
	}
	hits, err := searchConversation(ctx, rec.Conversation, q)
	if err != nil {
		return err
	}
	total := len(hits)
	if limit > 0 {
		hits = hits[:min(limit, total)]
	}
	if a.opts.json {
		for i := range hits {
			hits[i].Line = term.Around(hits[i].Line, q.first(hits[i].Line), 500)
		}
		return a.printJSON(struct {
			Total int     `json:"total"`
			Hits  []found `json:"hits"`
		}{total, hits})
	}
	a.printFound(path, q, hits, total)
	return nil
}

// searchConversation returns the places that hold all words, the best first. The
// error is [precis.CodeNotFound] when there is none.
func searchConversation(ctx context.Context, conv *precis.Conversation, q *query) ([]found, error) {
	msgs := conv.Transcript.Messages()
	var handles []precis.Handle
	ever := make([]bool, len(q.words))
	for i, m := range msgs {
		if err := ctx.Err(); err != nil {
			return nil, precis.Errorf(precis.CodeCanceled, "search", "%w", context.Cause(ctx))
		}
		handles = append(handles, q.message(i, m, ever)...)
	}
	if len(handles) == 0 {
		return nil, q.nothing(ever)
	}
	names, sight := newNamer(msgs), newSight(conv.Transcript, conv.Edits)
	hits := make([]found, len(handles))
	for i, h := range handles {
		f := found{Handle: h, blockName: names.name(h)}
		f.View, f.By = sight.of(h)
		f.Line, f.on = q.line(term.Plain(blockText(names.at(h))))
		f.Line = strings.TrimSpace(f.Line)
		hits[i] = f
	}
	slices.SortStableFunc(hits, func(a, b found) int {
		return cmp.Or(b.on-a.on, b.Handle.From-a.Handle.From, a.Handle.Block-b.Handle.Block)
	})
	return distinct(hits), nil
}

// message returns the blocks of message i that hold all words; when they stand
// in several blocks, the one with most. It notes in ever what it finds.
func (q *query) message(i int, m precis.Message, ever []bool) (out []precis.Handle) {
	together := make([]bool, len(q.words))
	best, most := 0, 0
	for b, block := range m.Content {
		has, n := q.in(blockText(block))
		if n == len(q.words) {
			out = append(out, precis.BlockHandle(i, b))
		}
		if n > most {
			best, most = b, n
		}
		for w, ok := range has {
			together[w] = together[w] || ok
			ever[w] = ever[w] || ok
		}
	}
	if len(out) == 0 && !slices.Contains(together, false) {
		out = append(out, precis.BlockHandle(i, best))
	}
	return out
}

// distinct leaves out hits of the same kind with the same line as one before.
func distinct(hits []found) []found {
	type key struct{ kind, line string }
	at := map[key]int{}
	out := hits[:0]
	for _, h := range hits {
		k := key{h.Kind, h.Line}
		if i, ok := at[k]; ok {
			out[i].Also = append(out[i].Also, h.Handle)
			continue
		}
		at[k] = len(out)
		out = append(out, h)
	}
	return out
}

// nothing is the error when no place holds all words.
func (q *query) nothing(ever []bool) error {
	e := &precis.Error{Code: precis.CodeNotFound, Op: "search", Hint: "each occurs, but no message holds all of them; use fewer words",
		Err: fmt.Errorf("no message holds %s", q)}
	if i := slices.Index(ever, false); i >= 0 {
		e.Hint = fmt.Sprintf("%q occurs nowhere; try a part of it, or fewer words", q.words[i])
	}
	return e
}

// String lists the words: "a", "b" and "c".
func (q *query) String() string {
	var s strings.Builder
	for i, w := range q.words {
		switch {
		case i > 0 && i == len(q.words)-1:
			s.WriteString(" and ")
		case i > 0:
			s.WriteString(", ")
		}
		fmt.Fprintf(&s, "%q", w)
	}
	return s.String()
}

func (a *app) printFound(path string, q *query, hits []found, total int) {
	w := a.term
	w.Title("%s: %s", q, term.Count(total, "place"))
	widest, names := 0, 0
	for _, h := range hits {
		widest = max(widest, len(h.Handle.String()))
		names = max(names, len(h.String()))
	}
	names = min(names, w.Width()-widest-30)
	for _, h := range hits {
		w.Printf("\n  %-*s  %s  %s%s\n", widest, h.Handle, term.Pad(h.String(), names), a.sightText(h), w.Style("dim", alsoText(h.Also)))
		line := strings.Join(strings.Fields(h.Line), " ")
		w.Printf("    %s\n", a.highlight(q, term.Around(line, q.first(line), w.Width()-4)))
	}
	w.Printf("\n")
	if n := total - len(hits); n > 0 {
		w.Printf("  … and %s more; --limit 0 prints all\n", term.Number(n))
	}
	first := hits[0]
	next := [][2]string{{"read", fmt.Sprintf("precis show %s %s", shellWord(path), first.Handle)}}
	if i := slices.IndexFunc(hits, func(h found) bool { return h.View != isShown }); i >= 0 {
		next[0][1] = fmt.Sprintf("precis show %s %s", shellWord(path), hits[i].Handle)
		next = append(next, [2]string{"show to the model again", fmt.Sprintf("precis restore %s %s", shellWord(path), hits[i].Handle)})
	}
	w.Pairs(next...)
}

// first returns where the first of the words stands in a line.
func (q *query) first(line string) int {
	if p := q.places(line); len(p) > 0 {
		return p[0][0]
	}
	return 0
}

func (a *app) sightText(h found) string {
	switch h.View {
	case isShown:
		return a.term.Style("good", isShown)
	case isPreview:
		return a.term.Style("warn", fmt.Sprintf("preview by %s", h.By))
	}
	return a.term.Style("bad", fmt.Sprintf("hidden by %s", h.By))
}

func alsoText(also []precis.Handle) string {
	switch len(also) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(", also in %s", also[0])
	}
	return fmt.Sprintf(", also in %s and %d more", also[0], len(also)-1)
}

// highlight marks the words in a line.
func (a *app) highlight(q *query, line string) string {
	var out strings.Builder
	last := 0
	for _, p := range q.places(line) {
		out.WriteString(line[last:p[0]])
		out.WriteString(a.term.Style("hit", line[p[0]:p[1]]))
		last = p[1]
	}
	return out.String() + line[last:]
}
