package polyfill

import (
	"context"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/wire/anthropic"
)

// restorer applies the compactions that a client sends back.
type restorer struct{ *Emulator }

// applyReturned applies the compactions that the client sent back: the newest replaces everything before
// it, including older compactions.
func (e restorer) applyReturned(ctx context.Context) error {
	for range maxTakeBack {
		edit, ok := e.takeBackEdit()
		if !ok {
			return nil
		}
		done, err := e.apply(ctx, edit, false)
		if err != nil || !done {
			return err
		}
	}
	return nil
}

// maxTakeBack bounds the edits that apply compactions; normally one edit suffices.
const maxTakeBack = 4

// sentBack is a compaction in the view.
type sentBack struct {
	message, block int
	summary        Summary
	failed         bool
}

func (e restorer) sentBacks() (out []sentBack) {
	for _, u := range e.units() {
		if !u.Original() || len(u.Messages) == 0 {
			continue
		}
		for i, b := range e.transcript().At(u.From).Content {
			if u.Changed && !slices.Contains(u.OriginalIndexes, i) {
				continue
			}
			if s, kind, ok := e.returned(b); ok {
				out = append(out, sentBack{u.From, i, s, kind == Failed})
			}
		}
	}
	return out
}

// takeBackEdit returns the edit for the newest compaction in the view.
func (e restorer) takeBackEdit() (precis.Edit, bool) {
	all := e.sentBacks()
	edit := precis.Edit{Kind: precis.KindCondensation,
		Report: precis.EditReport{Rung: rungReturned, Reason: "the client sent a compaction back"}}
	if len(all) == 0 {
		return edit, false
	}
	last := len(all) - 1
	for last > 0 && all[last].failed {
		last--
	}
	b := all[last]
	here := e.summarizesStart(b)
	from := 0 // messages before it are replaced
	switch {
	case b.failed:
	case here:
		from = b.summary.Messages
		if r, ok := e.summaryAt(b.summary); ok {
			edit.Replace = append(edit.Replace, r)
		}
	case e.Dialect == anthropic.Format:
		from = b.message
		if from > 0 {
			edit.Replace = append(edit.Replace,
				precis.Replacement{From: 0, To: from,
					With: []precis.Message{precis.NewText(precis.RoleUser, b.summary.Render(false))}})
		}
	}
	for _, other := range all {
		if other.message >= from {
			edit.Replace = append(edit.Replace,
				e.without(other, other == b && !here && !b.failed && from == 0)...)
		}
	}
	return edit, len(edit.Replace) > 0
}

// summarizesStart reports whether a summary was made of the first messages of this request.
func (e restorer) summarizesStart(b sentBack) bool {
	n := b.summary.Messages
	return !b.failed && n > 0 && n <= b.message && e.transcript().Fingerprint(n).String() == b.summary.Node
}

// summaryAt returns the replacement of the summarized messages by their summary. It returns false
// if the summary is already there, or if a later edit replaced more.
func (e restorer) summaryAt(s Summary) (precis.Replacement, bool) {
	for _, u := range e.units() {
		if u.From < s.Messages && u.To > s.Messages || u.From == 0 && u.To == s.Messages && !u.Original() {
			return precis.Replacement{}, false
		}
	}
	return precis.Replacement{From: 0, To: s.Messages,
		With: []precis.Message{precis.NewText(precis.RoleUser, s.Render(true))}}, true
}

// without returns the replacements that remove a compaction from its message or, with put, replace
// it and the blocks before it by its summary.
func (e restorer) without(b sentBack, put bool) []precis.Replacement {
	t := e.transcript()
	summary := precis.NewText(precis.RoleUser, b.summary.Render(false))
	if e.Dialect != anthropic.Format {
		r := precis.Replacement{From: b.message, To: b.message + 1}
		if put {
			r.With = []precis.Message{summary}
		}
		return []precis.Replacement{r}
	}
	if !put {
		return []precis.Replacement{precis.ReplaceBlock(t, b.message, b.block, nil)}
	}
	r := precis.Replacement{From: b.message, To: b.message + 1, With: []precis.Message{summary}}
	was := t.At(b.message)
	var rest []precis.Block
	for _, other := range was.Content[b.block+1:] {
		if _, _, compaction := e.returned(other); !compaction {
			rest = append(rest, other)
		}
	}
	if len(rest) > 0 {
		r.With = append(r.With, precis.Message{Role: was.Role, Content: rest, Format: was.Format})
	}
	return []precis.Replacement{r}
}
