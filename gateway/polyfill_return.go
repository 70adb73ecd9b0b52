package gateway

import (
	"context"
	"slices"

	"precis"
	"precis/gateway/polyfill"
	"precis/wire/anthropic"
)

// takeBack lets the compactions that the client sent back take effect: the newest
// stands for what was before it, the others are gone with that.
func (m *job) takeBack(ctx context.Context) error {
	for range maxTakeBack {
		e, ok := m.takeBackEdit()
		if !ok {
			return nil
		}
		done, err := m.apply(ctx, e, false)
		if err != nil || !done {
			return err
		}
	}
	return nil
}

// maxTakeBack bounds the edits by which compactions take effect: one for all,
// normally.
const maxTakeBack = 4

// sentBack is a compaction in the view.
type sentBack struct {
	message, block int
	summary        polyfill.Summary
	failed         bool
}

func (m *job) sentBacks() (out []sentBack) {
	for _, u := range m.res.Units {
		if !u.Original() || len(u.Messages) == 0 {
			continue
		}
		for i, b := range m.conv.Transcript.At(u.From).Content {
			if u.Changed && !slices.Contains(u.Index, i) {
				continue
			}
			if s, kind, ok := m.returned(b); ok {
				out = append(out, sentBack{u.From, i, s, kind == polyfill.Failed})
			}
		}
	}
	return out
}

// takeBackEdit returns the edit for the newest compaction in the view.
func (m *job) takeBackEdit() (precis.Edit, bool) {
	all := m.sentBacks()
	e := precis.Edit{Kind: precis.KindCondensation, Report: precis.EditReport{Rung: rungReturned, Reason: "the client sent a compaction back"}}
	if len(all) == 0 {
		return e, false
	}
	last := len(all) - 1
	for last > 0 && all[last].failed {
		last--
	}
	b := all[last]
	here := m.standsFor(b)
	from := 0 // messages before it are replaced
	switch {
	case b.failed:
	case here:
		from = b.summary.Messages
		if r, ok := m.summaryAt(b.summary); ok {
			e.Replace = append(e.Replace, r)
		}
	case m.dialect.Name() == anthropic.Format:
		from = b.message
		if from > 0 {
			e.Replace = append(e.Replace, precis.Replacement{From: 0, To: from, With: []precis.Message{precis.NewText(precis.RoleUser, b.summary.Render(false))}})
		}
	}
	for _, other := range all {
		if other.message >= from {
			e.Replace = append(e.Replace, m.without(other, other == b && !here && !b.failed && from == 0)...)
		}
	}
	return e, len(e.Replace) > 0
}

// standsFor reports whether a summary was made of the first messages of this
// request.
func (m *job) standsFor(b sentBack) bool {
	n := b.summary.Messages
	return !b.failed && n > 0 && n <= b.message && m.conv.Transcript.Fingerprint(n).String() == b.summary.Node
}

// summaryAt returns the replacement that puts a summary in the place of what it
// stands for, unless it is there, or more was replaced since.
func (m *job) summaryAt(s polyfill.Summary) (precis.Replacement, bool) {
	for _, u := range m.res.Units {
		if u.From < s.Messages && u.To > s.Messages || u.From == 0 && u.To == s.Messages && !u.Original() {
			return precis.Replacement{}, false
		}
	}
	return precis.Replacement{From: 0, To: s.Messages, With: []precis.Message{precis.NewText(precis.RoleUser, s.Render(true))}}, true
}

// without returns what takes a compaction out of its message, or puts its summary
// there, in the place of what stands before it in the message.
func (m *job) without(b sentBack, put bool) []precis.Replacement {
	t := m.conv.Transcript
	summary := precis.NewText(precis.RoleUser, b.summary.Render(false))
	if m.dialect.Name() != anthropic.Format {
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
		if _, _, compaction := m.returned(other); !compaction {
			rest = append(rest, other)
		}
	}
	if len(rest) > 0 {
		r.With = append(r.With, precis.Message{Role: was.Role, Content: rest, Format: was.Format})
	}
	return []precis.Replacement{r}
}
