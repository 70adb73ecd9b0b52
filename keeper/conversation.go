package keeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"precis"
	"precis/conversation"
	"precis/gateway"
	"precis/store"
)

// Conversation is a handle of one conversation. It is safe for concurrent use, as are
// several handles of one conversation, also in several processes: what each appends
// stays in the order in which it came, and of two edits at once one is recorded and the
// other is [precis.CodeConflict]. There is nothing to close.
//
// Methods but [Conversation.Append] return [precis.CodeNotFound] while nothing was said.
// Handles such as "m12" or "m12.b0" name messages and blocks, see [precis.Handle].
type Conversation struct {
	name string
	held *held // nil: its messages come with requests
	id   string
	home conversation.Home
}

const opName = "name conversation"

// Conversation returns the conversation by that name: one that was held by name, else
// the one that requests were last made for under the name ([Named]) or that has it as
// its ID, else a new one, of which nothing is stored before the first message. A name
// has 1 to 200 bytes of valid UTF-8 without control characters; others are
// [precis.CodeInvalid].
func (k *Keeper) Conversation(ctx context.Context, name string) (*Conversation, error) {
	if len(name) == 0 || len(name) > 200 || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return nil, precis.Errorf(precis.CodeInvalid, opName, "want 1 to 200 bytes of text without control characters, got %d bytes", len(name))
	}
	h := k.held(name)
	leave, err := h.enter(ctx)
	if err != nil {
		return nil, err
	}
	begun := h.rec.ID != ""
	leave()
	c := &Conversation{name: name, held: h, id: name, home: k.home}
	if begun {
		return c, nil
	}
	id, err := k.requested(ctx, name)
	if err != nil {
		return nil, err
	}
	if id != "" {
		c.held, c.id = nil, id
	}
	return c, nil
}

// requested returns the ID of the conversation that requests were last made for under a
// name, or whose ID it is; "" when there is none.
func (k *Keeper) requested(ctx context.Context, name string) (string, error) {
	k.mu.Lock()
	id := k.named[name]
	k.mu.Unlock()
	if id != "" {
		return id, nil
	}
	requests := k.gateway.Home("")
	switch _, err := conversation.Status(ctx, requests, name); precis.CodeOf(err) {
	case "":
		return name, nil
	case precis.CodeNotFound:
	default:
		return "", err
	}
	for q := (conversation.Listing{Limit: 500}); ; {
		page, err := requests.List(ctx, q)
		if err != nil {
			return "", err
		}
		for _, l := range page.Items {
			if l.Hints[gateway.NameHint] == name {
				return l.ID, nil
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return "", nil
		}
	}
}

// Name returns the name by which the conversation was opened.
func (c *Conversation) Name() string { return c.name }

// ID returns the ID by which the verbs of package conversation, the dashboard and the
// command line know it: the name, or what a request was given.
func (c *Conversation) ID() string { return c.id }

var errRequested = &precis.Error{Code: precis.CodeInvalid, Op: "append messages", Err: errors.New("its messages come with the requests of an HTTP client"),
	Hint: "give the conversation that is held by name a name of its own"}

// Append adds messages at the end. They are on the disk when it returns, or none of them
// is, and belong to the conversation from then on: nothing in them may be changed. The
// error is [precis.CodeInvalid] for a message that is no user's and no assistant's, that
// cannot be stored, or when the messages of the conversation come with requests.
func (c *Conversation) Append(ctx context.Context, msgs ...precis.Message) error {
	if c.held == nil {
		return errRequested
	}
	for i, m := range msgs {
		if m.Role != precis.RoleUser && m.Role != precis.RoleAssistant || len(m.Content) == 0 {
			e := precis.Errorf(precis.CodeInvalid, "append messages", "want a user's or an assistant's with content, got role %.20q with %d blocks", m.Role, len(m.Content))
			e.Place = fmt.Sprintf("message %d", i)
			return e
		}
	}
	if len(msgs) == 0 {
		return nil
	}
	leave, err := c.held.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return c.held.append(ctx, msgs)
}

// Prompt is what a request to a model has besides the messages. It takes room in the
// window, so a view is made for it.
type Prompt struct {
	Model     string // decides the window and the counting; "": that of the view before
	System    string // the system prompt; "": none
	Tools     []byte // the definitions of the tools as they are sent, in JSON; nil: none. Not to be changed afterwards.
	MaxOutput int    // tokens that the answer may have; 0: unknown
	Focus     string // what a summary should pay attention to; may be empty
}

// View returns the messages to send now. They fit the window together with the prompt
// and the answer; when they would not, or come near it, the conversation is reduced
// first, which may call the summarizer. The report says what was done and why.
//
// The error is [precis.CodeOverBudget] when nothing more can be cut; the result then
// holds the best view there is. Edits that the store does not take are in force all the
// same, and stored later. Of a conversation whose messages come with requests it is the
// view that the newest one had, and p is not used.
func (c *Conversation) View(ctx context.Context, p Prompt) (precis.Result, error) {
	if c.held == nil {
		return c.requestedView(ctx)
	}
	leave, err := c.held.enter(ctx)
	if err != nil {
		return precis.Result{}, err
	}
	defer leave()
	if c.held.rec.ID == "" {
		return precis.Result{}, precis.Errorf(precis.CodeNotFound, "view conversation", "nothing was said in %q yet", c.name)
	}
	return c.held.view(ctx, p)
}

// view makes the view. The lock must be held.
func (h *held) view(ctx context.Context, p Prompt) (precis.Result, error) {
	if p.Model == "" {
		p.Model = h.conv.Model
	}
	h.conv.Model, h.conv.Tools, h.conv.System = p.Model, p.Tools, precis.Message{}
	if p.System != "" {
		h.conv.System = precis.NewText(precis.RoleSystem, p.System)
	}
	ledger, _ := h.store.(precis.Ledger)
	m := h.k.manager.With(nil).WithLedger(ledger)
	r := h.ask(p)
	r.Conversation, r.Meter = h.conv, h.meter
	var res precis.Result
	for tries := 0; ; tries++ {
		var err error
		res, err = m.Manage(ctx, r)
		if err != nil && precis.CodeOf(err) != precis.CodeOverBudget {
			return res, err
		}
		if rerr := m.Record(ctx, h.conv, res.Edits...); rerr != nil {
			return res, rerr
		}
		lost, serr := h.sync(ctx)
		if serr != nil {
			h.k.o.Logger.WarnContext(ctx, "edits are in force, and not stored yet", "error", serr)
		}
		if lost && tries < attempts { // another process has reduced it, or edited: its view counts
			continue
		}
		h.last = res.Report
		h.put(ctx, func(rec *store.Record) {
			rec.Model, rec.Tokens, rec.Window, rec.Updated = p.Model, res.Report.After.Tokens, res.Report.Decision.Window.Tokens, h.k.o.Now()
			rec.Requests++
		})
		return res, err
	}
}

// requestedView returns the view of a conversation of requests as it is.
func (c *Conversation) requestedView(ctx context.Context) (res precis.Result, err error) {
	err = c.home.Look(ctx, c.id, func(s *conversation.Subject) error {
		r := s.Ask
		r.Conversation, r.Watch, r.Unrecorded = s.Conversation, true, true
		res, err = s.Manager.Manage(ctx, r)
		return err
	})
	return res, err
}

// Observe takes in how many input tokens, cached ones included, the provider reported
// for the newest view: the next counts for the model are corrected by it, also in other
// conversations and after the program has ended.
func (c *Conversation) Observe(ctx context.Context, inputTokens int) error {
	if c.held == nil {
		return nil // the answers were read
	}
	leave, err := c.held.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return c.held.k.manager.With(c.held.k.store).Observe(ctx, c.held.last, inputTokens)
}

// Messages returns everything that was said, in order, hidden or not.
func (c *Conversation) Messages(ctx context.Context) (msgs []precis.Message, err error) {
	err = c.home.Look(ctx, c.id, func(s *conversation.Subject) error {
		msgs = s.Conversation.Transcript.Messages()
		return nil
	})
	return msgs, err
}
