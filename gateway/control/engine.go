package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"unicode"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"precis"
	"precis/conversation"
	"precis/gateway"
	"precis/gateway/admission"
	"precis/gateway/lineage"
	"precis/wire"
)

// The engine: views and summaries for agents that send their requests themselves.
// A request of theirs is the body, in its own dialect, with the fields below added
// to it; or the name of a conversation that was assembled before.

// whose are the fields that say which conversation a request is about.
type whose struct {
	Conversation string `json:"conversation,omitempty"` // its ID, or what its client calls it
	Dialect      string `json:"dialect,omitempty"`      // of the messages; "": it is guessed
}

// messages are the fields of a model API that matter here, for the document alone:
// they are read by the gateway, as their dialect has them.
type messages struct {
	Model    string          `json:"model,omitempty"`
	Messages json.RawMessage `json:"messages,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	System   json.RawMessage `json:"system,omitempty"`
	Tools    json.RawMessage `json:"tools,omitempty"`
}

// assembling asks for a view.
type assembling struct {
	whose
	Window     int               `json:"window,omitempty"`     // of the model, in tokens; 0: as is known of the model
	Target     precis.Target     `json:"target,omitzero"`      // to come down to when something is done: tokens from 1,000 on, or a text such as "20%" or "20k"; 0: by the settings
	Now        bool              `json:"now,omitempty"`        // reduce now, whatever the threshold
	Force      bool              `json:"force,omitempty"`      // although something would be lost altogether
	Focus      string            `json:"focus,omitempty"`      // what a summary should pay attention to
	Profile    string            `json:"profile,omitempty"`    // whose settings to use; "": the default one
	Summarizer string            `json:"summarizer,omitempty"` // "model" or "digest"
	Edits      []json.RawMessage `json:"edits,omitempty"`      // of the newest answer; without a conversation
}

// compacting asks for a summary.
type compacting struct {
	whose
	Tokens     int    `json:"tokens,omitempty"`     // size at most; 0: 3500
	Focus      string `json:"focus,omitempty"`      // what it should pay attention to
	Summarizer string `json:"summarizer,omitempty"` // "model" or "digest"; "": digest
}

// gating asks for what a summary lacks.
type gating struct {
	whose
	Summary string `json:"summary"`
	Tokens  int    `json:"tokens,omitempty"` // size of the result at most; 0: 1500 more than the summary has
}

// digesting asks for a digest.
type digesting struct {
	whose
	Tokens int    `json:"tokens,omitempty"` // size at most; 0: 3500
	Focus  string `json:"focus,omitempty"`  // words that up to a third of it is about
}

// expanding asks for what a handle names.
type expanding struct {
	whose
	Handle precis.Handle `json:"handle"`
	Offset int           `json:"offset,omitempty"` // bytes to leave out, as next_offset of an earlier answer
	Lines  int           `json:"lines,omitempty"`  // at most; 0: 400
	Bytes  int           `json:"bytes,omitempty"`  // at most; 0: 16,000
}

// assembled is a view, and how it came about.
type assembled struct {
	Dialect      string                     `json:"dialect"`
	List         string                     `json:"list"`           // the field of the request that messages belongs into
	Set          map[string]json.RawMessage `json:"set,omitempty"`  // further fields of the request to replace
	Beta         string                     `json:"beta,omitempty"` // to be added to the header anthropic-beta
	Changed      bool                       `json:"changed"`        // the view is not what was sent
	Acted        bool                       `json:"acted"`          // edits were made by this request
	Conversation *remembered                `json:"conversation,omitempty"`
	Before       int                        `json:"tokens_before"` // of what was sent, system prompt and tools included
	After        int                        `json:"tokens_after"`  // of the view
	Window       precis.Window              `json:"window"`
	Hidden       []conversation.HiddenPart  `json:"hidden"`          // what the view does not show as it was said
	Edits        []json.RawMessage          `json:"edits,omitempty"` // to be sent with the next request, where nothing is remembered
	Report       precis.Report              `json:"report"`
	Warnings     []string                   `json:"warnings,omitempty"`
	Messages     json.RawMessage            `json:"messages"`
}

// remembered is the conversation that a list was found to be.
type remembered struct {
	ID       string       `json:"id"`
	Name     string       `json:"name,omitempty"`
	Match    lineage.Kind `json:"match"`
	Branched string       `json:"branched_from,omitempty"`
}

// appendTo appends the answer with the messages as they are: an encoder would write
// their bytes anew.
func (a assembled) appendTo(dst []byte) ([]byte, error) {
	list := a.Messages
	a.Messages = json.RawMessage("0")
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a); err != nil {
		return nil, err
	}
	out := bytes.TrimSuffix(buf.Bytes(), []byte("0}\n")) // messages are its last field
	return append(append(out, list...), "}\n"...), nil
}

func assemble(c *call, t *taken, in assembling) (any, error) {
	a, err := t.assembly(in.whose)
	if err != nil {
		return nil, err
	}
	if in.Conversation != "" {
		if err := checkName(in.Conversation); err != nil {
			return nil, err
		}
	}
	a.Name, a.Window, a.Target, a.Share, a.Now, a.Focus, a.Profile, a.Summarizer = in.Conversation, in.Window, in.Target.Tokens, in.Target.Share, in.Now, in.Focus, in.Profile, in.Summarizer
	a.Force = in.Force
	if a.Edits, err = editsOf(in.Edits); err != nil {
		return nil, err
	}
	v, err := c.o.Gateway.Assemble(c.r, a)
	if err != nil {
		return nil, err
	}
	out := assembled{
		Dialect: a.Dialect.Name(), List: a.Dialect.List(), Messages: v.Messages, Set: v.Set, Beta: v.Beta, Changed: v.Changed, Acted: v.Acted,
		Before: v.Before, After: v.Report.After.Tokens, Window: v.Report.Decision.Window, Hidden: v.Hidden, Report: v.Report,
		Warnings: slices.Concat(v.Warnings, v.Report.Warnings),
	}
	if a.Name == "" {
		out.Report.Conversation = ""
		out.Edits, err = editsWritten(v.Edits)
		return out, err
	}
	out.Conversation = &remembered{ID: v.ID, Match: v.Match, Branched: v.Branched}
	if !lineage.IsID(a.Name) {
		out.Conversation.Name = a.Name
	}
	return out, nil
}

func compact(c *call, t *taken, in compacting) (any, error) {
	o := conversation.SummaryOptions{DigestOptions: conversation.DigestOptions{Tokens: in.Tokens, Focus: in.Focus}, Summarizer: in.Summarizer, Model: c.o.Gateway.Summarizer()}
	return aboutList(c, t, in.whose, func(ctx context.Context, h conversation.Home, id string) (conversation.Summarized, error) {
		return conversation.Summarize(ctx, h, id, o)
	}, func(s *conversation.Summarized) { s.Conversation = "" })
}

func gate(c *call, t *taken, in gating) (any, error) {
	return aboutList(c, t, in.whose, func(ctx context.Context, h conversation.Home, id string) (conversation.Gated, error) {
		return conversation.Gate(ctx, h, id, conversation.GateOptions{Summary: in.Summary, Tokens: in.Tokens})
	}, func(g *conversation.Gated) { g.Conversation = "" })
}

func writeDigest(c *call, t *taken, in digesting) (any, error) {
	return aboutList(c, t, in.whose, func(ctx context.Context, h conversation.Home, id string) (conversation.Digested, error) {
		return conversation.Digest(ctx, h, id, conversation.DigestOptions{Tokens: in.Tokens, Focus: in.Focus})
	}, func(d *conversation.Digested) { d.Conversation = "" })
}

func expand(c *call, t *taken, in expanding) (any, error) {
	if in.Handle.To == 0 {
		return nil, invalid(opBody, "body: /handle", "it is missing", "")
	}
	return aboutList(c, t, in.whose, func(ctx context.Context, h conversation.Home, id string) (conversation.Reading, error) {
		return conversation.Read(ctx, h, id, in.Handle, conversation.ReadOptions{Offset: in.Offset, Lines: in.Lines, Bytes: in.Bytes})
	}, func(r *conversation.Reading) { r.Conversation = "" })
}

// aboutList runs a verb on the list of a request, whose ID means nothing to the
// client and is taken out by unnamed, or on the conversation that it names.
func aboutList[T any](c *call, t *taken, w whose, verb func(context.Context, conversation.Home, string) (T, error), unnamed func(*T)) (any, error) {
	var out T
	switch {
	case t.listed() && w.Conversation != "":
		return nil, invalid(opBody, "body: /conversation", "the messages are there as well", "send one of the two")
	case t.listed():
		a, err := t.assembly(w)
		if err != nil {
			return nil, err
		}
		err = c.o.Gateway.Listed(c.r, a, func(h conversation.Home, id string) (err error) {
			out, err = verb(c.r.Context(), h, id)
			return err
		})
		unnamed(&out)
		return out, err
	case w.Conversation == "":
		return nil, invalid(opBody, "body: /messages", "it is missing", "send messages, input, or the conversation that is meant")
	}
	id, err := c.o.Gateway.Named(c.r.Context(), c.owner, w.Conversation)
	if err != nil {
		return nil, err
	}
	return verb(c.r.Context(), c.home(), id)
}

// engine is an operation on a list of messages, which may be as large as a request
// to a model.
func engine[In any](do func(*call, *taken, In) (any, error)) func(*call) {
	return func(c *call) {
		data, done, err := c.o.Gateway.Read(c.w, c.r)
		if err != nil {
			fail(c.w, notAdmitted(c.w, err))
			return
		}
		defer done()
		w := admission.NewWriter(c.w)
		defer w.Close()
		var in In
		out, err := func() (any, error) {
			t, err := take(data, &in)
			if err != nil {
				return nil, err
			}
			return do(c, t, in)
		}()
		if err != nil {
			fail(w, err)
			return
		}
		answer(w, http.StatusOK, out)
	}
}

// notAdmitted returns the error of a body that was not read.
func notAdmitted(w http.ResponseWriter, err error) error {
	var large admission.TooLarge
	var slow admission.TooSlow
	var busy admission.Busy
	switch {
	case errors.As(err, &large):
		return refusal{http.StatusRequestEntityTooLarge, codeTooLarge, err}
	case errors.As(err, &slow):
		return refusal{http.StatusRequestTimeout, codeTimeout, err}
	case errors.As(err, &busy):
		w.Header().Set("Retry-After", "1")
		return refusal{http.StatusServiceUnavailable, codeBusy, err}
	}
	return err
}

// taken is the body of a request that may hold messages.
type taken struct {
	data []byte
	body *wire.Body
}

// take reads a body, and the fields of the engine in it into v. The others are the
// dialect's.
func take(data []byte, v any) (*taken, error) {
	if len(data) == 0 {
		data = []byte("{}")
	}
	body, err := wire.Parse(data, "messages", nil)
	if err != nil {
		return nil, invalid(opBody, "body", err.Error(), "")
	}
	if err := jsonv2.Unmarshal(data, v, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, explain(err)
	}
	return &taken{data, body}, nil
}

// listed reports whether the body holds messages.
func (t *taken) listed() bool { return t.body.Get("messages") != nil || t.body.Get("input") != nil }

// assembly returns the list of the body.
func (t *taken) assembly(w whose) (gateway.Assembly, error) {
	d, err := dialectOf(w.Dialect, t.body)
	return gateway.Assembly{Dialect: d, Body: t.data}, err
}

// checkName reports what is wrong with the name of a conversation.
func checkName(name string) error {
	const place = "body: /conversation"
	if len(name) > gateway.MostName {
		return invalid(opBody, place, fmt.Sprintf("it has %d bytes, want %d at most", len(name), gateway.MostName), "")
	}
	for _, r := range name {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return invalid(opBody, place, "it has characters that cannot be written", "")
		}
	}
	return nil
}

// mostEdits is how many edits a request may have.
const mostEdits = 10_000

// editsOf reads the edits of an earlier answer.
func editsOf(list []json.RawMessage) ([]precis.Edit, error) {
	if len(list) > mostEdits {
		return nil, invalid(opBody, "body: /edits", fmt.Sprintf("there are %d, at most %d are taken", len(list), mostEdits), "")
	}
	out := make([]precis.Edit, len(list))
	for i, raw := range list {
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			return nil, invalid(opBody, fmt.Sprintf("body: /edits/%d", i), err.Error(), "send them as the newest answer has them")
		}
	}
	return out, nil
}

// editsWritten returns edits as [editsOf] reads them.
func editsWritten(list []precis.Edit) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(list))
	for i, e := range list {
		raw, err := json.Marshal(e)
		if err != nil {
			return nil, precis.Errorf(precis.CodeInternal, "write edits", "%w", err)
		}
		out[i] = raw
	}
	return out, nil
}
