package policy

import (
	"context"
	"slices"
	"sync"

	"github.com/precis-dev/precis"
)

// Shadow is the plan of a manager that only observes ([Settings.Observe]): the plan of an acting
// manager, on top of the edits it would have made before, without a model. It is never carried out.
type Shadow struct {
	// Due: this check would have made a reduction. A check makes none if the edits of earlier
	// shadows already bring the view within the threshold.
	Due     bool                `json:"due"`
	Trigger Trigger             `json:"trigger,omitempty"`
	Before  int                 `json:"tokens_before"` // of the view with the shadow edits; overhead included
	After   int                 `json:"tokens_after"`  // the same with this check's edits
	Outcome string              `json:"outcome"`       // one sentence
	Steps   []precis.RungResult `json:"steps,omitempty"`
	Edits   []EditSummary       `json:"edits,omitempty"` // of this check
}

// shadowEdits are the edits that an observing manager would have made, by conversation. They are kept
// in memory; after a restart the first check makes one run of the whole.
type shadowEdits struct {
	mu   sync.Mutex
	made map[string][]precis.Edit
	ids  []string // the keys of made, the newest last
}

// mostShadows bounds the conversations with kept shadows: the oldest is evicted.
const mostShadows = 1000

// of returns the edits of a conversation that are valid on it; none when one is not.
func (s *shadowEdits) of(conv *precis.Conversation) []precis.Edit {
	if conv.ID == "" {
		return nil
	}
	s.mu.Lock()
	edits := s.made[conv.ID]
	s.mu.Unlock()
	checker := precis.NewEditChecker(conv.Transcript, conv.Edits)
	for _, e := range edits {
		if e.Seen > conv.Transcript.Len() || conv.Transcript.Fingerprint(e.Seen) != e.At ||
			checker.Add(e) != nil {
			return nil // it was rewound, or edited
		}
	}
	return edits
}

func (s *shadowEdits) keep(id string, edits []precis.Edit) {
	if id == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == nil {
		s.made = map[string][]precis.Edit{}
	}
	if _, known := s.made[id]; !known {
		if s.ids = append(s.ids, id); len(s.ids) > mostShadows {
			delete(s.made, s.ids[0])
			s.ids = s.ids[1:]
		}
	}
	s.made[id] = edits
}

// shadow returns the plan of the check if the manager only observes, else nil.
func (p *pass) shadow(ctx context.Context) *Shadow {
	r := p.r
	if !p.settings.Observe || r.TriggeredBy != precis.TriggeredAutomatic {
		return nil
	}
	conv := *r.Conversation
	made := p.m.shadows.of(&conv)
	conv.Edits = slices.Concat(conv.Edits, made)
	r.Conversation, r.DryRun, r.Watch, r.Live = &conv, true, false, nil
	if len(made) > 0 {
		r.Reported = 0 // the provider counted the whole
	}
	settings := p.settings
	settings.Observe, settings.Auto = false, true
	q, err := p.m.beginWith(r, settings)
	if err != nil {
		return nil // the check itself says why
	}
	err = q.reduce(ctx)
	out := &Shadow{Trigger: q.decision.Trigger, Before: q.before.Tokens,
		After: q.size(q.s.Used, q.view).Tokens, Outcome: q.outcome, Steps: q.steps,
		Edits: summarize(q.edits, q.factor)}
	if err != nil {
		out.Outcome = err.Error()
	}
	if out.Due = len(q.edits) > 0; !out.Due || p.r.DryRun {
		return out
	}
	q.markRun()
	p.m.shadows.keep(conv.ID, append(slices.Clip(made), q.edits...))
	p.m.recorder().bookShadow(ctx, &conv, out, q.edits[0])
	return out
}

func (r recorder) bookShadow(ctx context.Context, conv *precis.Conversation, s *Shadow, e precis.Edit) {
	if r.ledger == nil {
		return
	}
	err := r.ledger.Book(ctx, precis.LedgerEntry{Time: e.Time, Conversation: conv.ID, Model: conv.Model,
		Kind: precis.KindShadow, EditID: e.ID, TriggeredBy: precis.TriggeredAutomatic, Before: s.Before,
		After: s.After})
	if err != nil {
		r.logger.ErrorContext(ctx, "what would have been done is not in the ledger", "edit", e.ID, "error",
			err)
	}
}
