package recording

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
)

// Home is the conversation of one recording. It is safe for concurrent use, and several processes
// may edit one recording: edits kept by others are loaded before an edit, or cause a
// [precis.CodeConflict].
type Home struct {
	// Profile returns the manager of a named profile, see [conversation.Subject]; nil: no profiles.
	// Set it before the home is used.
	Profile func(name string) (*policy.Manager, error)

	id      string
	file    *File
	manager *policy.Manager
	ask     policy.Request

	editing sync.Mutex // held while an edit is made and kept

	mu    sync.Mutex // guards conv and stale
	conv  *precis.Conversation
	stale bool // refresh from the keeper before conv is used

	meterMu sync.Mutex // guards meter
	meter   *measure.Meter
}

// Home makes the conversation available to verbs. Ask is the template of requests to the manager,
// see [conversation.Subject]. Without [File.Keep], edits are refused. A nil manager suffices for
// verbs that neither count nor edit.
func (f *File) Home(m *policy.Manager, ask policy.Request) *Home {
	h := &Home{id: f.Conversation.ID, file: f, ask: ask, conv: f.Conversation}
	if h.id == "" {
		h.id = filepath.Base(f.Path)
	}
	if m != nil {
		h.manager, h.meter, h.ask.Meter = m.WithStore(nil), m.NewMeter(), m.NewMeter()
	}
	return h
}

// ID returns the ID of the conversation, the only one there is.
func (h *Home) ID() string { return h.id }

// Conversation returns the current conversation. Callers must not change it.
func (h *Home) Conversation() (*precis.Conversation, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stale {
		conv, err := h.file.keep.refresh()
		if err != nil {
			return nil, err
		}
		if conv != nil {
			h.conv = conv
		}
		h.stale = false
	}
	return h.conv, nil
}

// subject describes the conversation to the verbs.
func (h *Home) subject(conv *precis.Conversation) *conversation.Subject {
	rec := store.Record{ID: h.id, Title: content.Title(conv), Model: conv.Model,
		Messages: conv.Transcript.Len(), Window: h.ask.Window.Tokens}
	for i := conv.Transcript.Len() - 1; i >= 0 && rec.Updated.IsZero(); i-- {
		rec.Updated = conv.Transcript.At(i).Time
	}
	_, inPlace := h.file.keep.(*taskKeeper)
	return &conversation.Subject{Recorded: true, InPlace: inPlace, Conversation: conv, Record: rec,
		Manager: h.manager, Template: h.ask, Profile: h.profile()}
}

// profile returns Profile with managers that have no store.
func (h *Home) profile() func(string) (*policy.Manager, error) {
	if h.Profile == nil {
		return nil
	}
	return func(name string) (*policy.Manager, error) {
		m, err := h.Profile(name)
		if err != nil {
			return nil, err
		}
		return m.WithStore(nil), nil
	}
}

func (h *Home) check(id string) error {
	if id != h.id {
		return precis.Errorf(precis.CodeNotFound, "find conversation",
			"the recording holds no conversation %.80q", id)
	}
	return nil
}

// Look calls f with the conversation as it is now.
func (h *Home) Look(_ context.Context, id string, f func(*conversation.Subject) error) error {
	if err := h.check(id); err != nil {
		return err
	}
	conv, err := h.Conversation()
	if err != nil {
		return err
	}
	h.meterMu.Lock()
	defer h.meterMu.Unlock()
	s := h.subject(conv)
	s.Template.Meter = h.meter
	return f(s)
}

// Edit lets f edit a copy of the conversation, and keeps the new edits.
func (h *Home) Edit(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	if err := h.check(id); err != nil {
		return err
	}
	keep := h.file.keep
	if keep == nil {
		return &precis.Error{Code: precis.CodeInvalid, Op: "save",
			Err: errors.New("the recording was opened for reading")}
	}
	h.editing.Lock()
	defer h.editing.Unlock()
	h.reload()
	now, err := h.Conversation()
	if err != nil {
		return err
	}
	conv := *now
	conv.Edits = slices.Clip(now.Edits)
	failed := f(h.subject(&conv))
	made := conv.Edits[len(now.Edits):]
	if len(made) == 0 {
		return failed
	}
	err = keep.record(ctx, made)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stale = true // others may have added edits, and an undo may have left none
	if err != nil {
		return err
	}
	h.conv = &conv
	return failed
}

// reload refreshes the conversation from the keeper at its next use.
func (h *Home) reload() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stale = true
}

func (h *Home) shelves() ([]shelf.Shelf, error) {
	conv, err := h.Conversation()
	if err != nil {
		return nil, err
	}
	return []shelf.Shelf{{Open: []shelf.OpenConversation{{Record: h.subject(conv).Record,
			Transcript: conv.Transcript}}}},
		nil
}

// List lists the one conversation.
func (h *Home) List(ctx context.Context,
	q conversation.ListQuery) (conversation.Page[conversation.ListItem], error) {
	shelves, err := h.shelves()
	if err != nil {
		return conversation.Page[conversation.ListItem]{}, err
	}
	page, err := shelf.List(ctx, shelves, q)
	for i, l := range page.Items {
		if h.manager == nil || err != nil {
			break
		}
		if page.Items[i], err = conversation.WithSize(ctx, h, l); err != nil {
			return page, err
		}
	}
	return page, err
}

// Search reads the conversation.
func (h *Home) Search(ctx context.Context, q store.SearchQuery) (conversation.SearchResults, error) {
	shelves, err := h.shelves()
	if err != nil {
		return conversation.SearchResults{}, err
	}
	return shelf.Search(ctx, shelves, q)
}
