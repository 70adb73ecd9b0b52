package conversation

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/diff"
	"github.com/precis-dev/precis/internal/fair"
	"github.com/precis-dev/precis/policy"
)

// Draft is a condensation that is not in force yet: its summaries can be read and edited before it
// is applied.
type Draft struct {
	ID string `json:"draft"` // the argument of [Drafts.Apply]
	Condensed
	Texts []DraftText `json:"texts"` // shown to the model in the place of messages
}

// DraftText is a summary or marker of a draft.
type DraftText struct {
	Edit   string        `json:"edit"`
	Handle precis.Handle `json:"handle"` // the first span of messages it replaces
	Spans  int           `json:"spans"`
	Text   string        `json:"text"`
}

// Drafts makes condensations that are applied later. It keeps at most a hundred of them in memory,
// each for an hour; beyond that, the owner with most drafts loses its oldest. The zero value is
// empty. It is safe for concurrent use.
type Drafts struct {
	// Now is the clock; nil: time.Now. Set it before the first call.
	Now func() time.Time

	mu  sync.Mutex
	all []kept // oldest first
}

// kept is a draft in memory.
type kept struct {
	Draft
	conversation string
	owner        string
	ask          CondenseOptions
	at           time.Time
}

const (
	mostDrafts = 100
	draftAge   = time.Hour
)

// Make runs the same reduction as [Condense], with a model if the options select one, but puts no
// edit in force. A draft without edits is not kept and has no ID.
func (d *Drafts) Make(ctx context.Context, h Home, id string, o CondenseOptions) (Draft, error) {
	if err := renew(ctx, h, id); err != nil {
		return Draft{}, err
	}
	r, err := o.prepare(ctx, h, id)
	if err == nil {
		err = r.s.editable()
	}
	if err != nil {
		return Draft{}, err
	}
	release, ok := r.lease(ctx)
	defer release()
	if !ok {
		return Draft{}, errCondensing()
	}
	made, err := r.manage(ctx)
	if err != nil {
		return Draft{}, err
	}
	made.Diff, made.Loses = diff.Changes(r.s.meter(), r.s.Conversation, made.Result.Edits), r.loses(made)
	out := Draft{Condensed: made, Texts: textsOf(made.Result)}
	if out.Changed {
		owner := ""
		if owned, ok := h.(Owned); ok {
			if owner, err = owned.OwnerOf(ctx, id); err != nil {
				return Draft{}, err
			}
		}
		out.ID = rand.Text()
		d.keep(kept{Draft: out, conversation: id, owner: owner, ask: o})
	}
	return out, nil
}

// Read returns a draft made before. Its errors are the same as for [Drafts.Apply].
func (d *Drafts) Read(ctx context.Context, h Home, id, draft string) (Draft, error) {
	k, err := d.find(ctx, h, id, draft)
	return k.Draft, err
}

// Apply puts a draft in force. Texts, by edit ID, replace texts of the draft; the gate checks each
// changed text and adds the facts it lacks. The error is [precis.CodeNotFound] for an unknown or
// expired draft, [precis.CodeConflict] when the conversation was edited meanwhile, and
// [precis.CodeWouldLose] when content would be lost altogether without Force in the options of the
// draft, see [LossError]. After an error the draft is still there.
func (d *Drafts) Apply(ctx context.Context, h Home, id, draft string,
	texts map[string]string) (Condensed, error) {
	return d.apply(ctx, h, id, draft, texts, false)
}

// ApplyForced is [Drafts.Apply] with losses accepted.
func (d *Drafts) ApplyForced(ctx context.Context, h Home, id, draft string,
	texts map[string]string) (Condensed, error) {
	return d.apply(ctx, h, id, draft, texts, true)
}

func (d *Drafts) apply(ctx context.Context, h Home, id, draft string, texts map[string]string,
	force bool) (Condensed, error) {
	k, err := d.find(ctx, h, id, draft)
	if err != nil {
		return Condensed{}, err
	}
	r, err := k.ask.prepare(ctx, h, id)
	if err != nil {
		return Condensed{}, err
	}
	out := k.Condensed
	for _, t := range k.Texts {
		text, given := texts[t.Edit]
		if text = strings.ReplaceAll(text, "\r\n", "\n"); !given || text == t.Text {
			continue
		}
		at := slices.IndexFunc(k.Result.Edits, func(e precis.Edit) bool { return e.ID == t.Edit })
		if out.Result, err = r.s.Manager.Redraft(ctx, r.ask, out.Result, out.Result.Edits[at].ID,
			text); err != nil {
			return Condensed{}, err
		}
		out.Report, out.Status = out.Result.Report, out.Result.Report.Status
	}
	if !force && !k.ask.Force {
		if err := Guard("apply draft", r.s.Conversation, out.Result.Edits, r.ask.Meter); err != nil {
			return Condensed{}, err
		}
	}
	if err := record(ctx, h, id, out.Result); err != nil {
		return Condensed{}, err
	}
	d.drop(draft)
	out.Diff, out.Loses = nil, nil
	return out, nil
}

// textsOf returns the texts that the edits of a run show in the place of messages. Texts hidden by
// a later edit of the run are left out.
func textsOf(res policy.Result) []DraftText {
	out := []DraftText{}
	for _, e := range res.Edits {
		var text *DraftText
		for _, r := range e.Replace {
			if r.Block != nil || r.Restore {
				continue
			}
			if text != nil {
				text.Spans++
			} else if own := r.OwnIndex(); own >= 0 && shows(res.Units, e.ID) {
				text = &DraftText{Edit: e.ID, Handle: precis.Handle{From: r.From, To: r.To, Block: -1},
					Spans: 1, Text: textOf(r.With[own])}
			}
		}
		if text != nil {
			out = append(out, *text)
		}
	}
	return out
}

// shows reports whether a view shows messages of an edit.
func shows(units []precis.Unit, edit string) bool {
	return slices.ContainsFunc(units,
		func(u precis.Unit) bool { return u.Edit == edit && len(u.Messages) > 0 })
}

// textOf returns the text of a message that an edit shows.
func textOf(m precis.Message) string {
	var out strings.Builder
	for _, b := range m.Content {
		if t, ok := b.(precis.Text); ok {
			out.WriteString(t.Text)
		}
	}
	return out.String()
}

// keep stores a draft and drops drafts that are too old or too many.
func (d *Drafts) keep(k kept) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k.at = d.now()
	d.all = append(d.unexpired(), k)
	if len(d.all) > mostDrafts {
		i := fair.Oldest(d.all, func(k kept) string { return k.owner })
		d.all = slices.Delete(d.all, i, i+1)
	}
}

// find returns a draft, provided that the home has its conversation.
func (d *Drafts) find(ctx context.Context, h Home, id, draft string) (kept, error) {
	if err := h.Look(ctx, id, func(*Subject) error { return nil }); err != nil {
		return kept{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range d.unexpired() {
		if k.ID == draft && k.conversation == id {
			return k, nil
		}
	}
	return kept{}, &precis.Error{Code: precis.CodeNotFound, Op: "find draft", Err: errNoDraft,
		Hint: "it was applied, or is too old: make it again"}
}

var errNoDraft = errors.New("there is no such draft of the conversation")

func (d *Drafts) drop(draft string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = slices.DeleteFunc(d.all, func(k kept) bool { return k.ID == draft })
}

// unexpired returns the drafts that have not expired. The caller holds the lock.
func (d *Drafts) unexpired() []kept {
	oldest := d.now().Add(-draftAge)
	d.all = slices.DeleteFunc(d.all, func(k kept) bool { return k.at.Before(oldest) })
	return d.all
}

func (d *Drafts) now() time.Time {
	if d.Now == nil {
		return time.Now()
	}
	return d.Now()
}
