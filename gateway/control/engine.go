package control

import (
	"bytes"
	"cmp"
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

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/admission"
	"github.com/precis-dev/precis/gateway/lineage"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/wire"
)

// The engine computes views and summaries for agents that call the model themselves. The body of a
// request is the agent's own request, in its dialect, with the fields below added; or it names a
// conversation that was assembled before.

// The fields that identify the conversation of a request.
type conversationFields struct {
	Conversation string `json:"conversation,omitempty"` // its ID, or the client's name for it
	Dialect      string `json:"dialect,omitempty"`      // of the messages; "": detected
}

// messages documents the relevant fields of a model API; the gateway reads them from the body in
// its dialect.
type messages struct {
	Model    string          `json:"model,omitempty"`
	Messages json.RawMessage `json:"messages,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	System   json.RawMessage `json:"system,omitempty"`
	Tools    json.RawMessage `json:"tools,omitempty"`
}

// assembling is the body of a request for a view.
type assembling struct {
	conversationFields
	Window int `json:"window,omitempty"` // of the model, in tokens; 0: the known one
	// size to reduce to: tokens from 1,000 on, or a text such as "20%" or "20k"; 0: by the settings
	Target policy.Target `json:"target,omitzero"`
	Now    bool          `json:"now,omitempty"` // reduce now, even below the threshold
	// reduce even if content would be lost entirely
	Force      bool   `json:"force,omitempty"`
	Focus      string `json:"focus,omitempty"`      // topic that a summary should focus on
	Profile    string `json:"profile,omitempty"`    // selects the settings; "": the default ones
	Summarizer string `json:"summarizer,omitempty"` // "model" or "digest"
	// from the newest answer; only without a conversation
	Edits  []json.RawMessage `json:"edits,omitempty"`
	Server string            `json:"server,omitempty"` // host that the request is sent to
	// counted of an earlier answer, with the provider's own count of that view or its refusal
	Reported *counted `json:"reported,omitempty"`
}

// counted is the size of a view, from which the factor between our count and a provider's and the
// model's window are learned.
type counted struct {
	Model  string `json:"model,omitempty"`
	Tokens int    `json:"tokens"` // as precis counts, not calibrated
	// only in reported: all input tokens that the provider counted, cached ones included, or the
	// status and body of its refusal
	Input  int    `json:"input,omitempty"`
	Status int    `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

// compacting is the body of a request for a summary.
type compacting struct {
	conversationFields
	Tokens     int    `json:"tokens,omitempty"`     // maximum size; 0: 3500
	Focus      string `json:"focus,omitempty"`      // topic that it should focus on
	Summarizer string `json:"summarizer,omitempty"` // "model" or "digest"; "": digest
}

// gating is the body of a request for the facts that a summary lacks.
type gating struct {
	conversationFields
	Summary string `json:"summary"`
	Tokens  int    `json:"tokens,omitempty"` // maximum size of the result; 0: 1500 more than the summary
}

// digesting is the body of a request for a digest.
type digesting struct {
	conversationFields
	Tokens int    `json:"tokens,omitempty"` // maximum size; 0: 3500
	Focus  string `json:"focus,omitempty"`  // words; up to a third of the digest is about them
}

// expanding is the body of a request for the content of a handle.
type expanding struct {
	conversationFields
	Handle precis.Handle `json:"handle"`
	Offset int           `json:"offset,omitempty"` // bytes to skip: next_offset of an earlier answer
	Lines  int           `json:"lines,omitempty"`  // at most; 0: 400
	Bytes  int           `json:"bytes,omitempty"`  // at most; 0: 16,000
}

// assembled is a view with its report.
type assembled struct {
	Dialect      string                     `json:"dialect"`
	List         string                     `json:"list"`           // the field of the request for messages
	Set          map[string]json.RawMessage `json:"set,omitempty"`  // other fields of the request to replace
	Beta         string                     `json:"beta,omitempty"` // to add to the header anthropic-beta
	Changed      bool                       `json:"changed"`        // the view differs from the messages sent
	Acted        bool                       `json:"acted"`          // edits were made for this request
	Conversation *remembered                `json:"conversation,omitempty"`
	// of the request, system prompt and tools included
	Before int           `json:"tokens_before"`
	After  int           `json:"tokens_after"` // of the view
	Window precis.Window `json:"window"`
	// to send back as reported, with input; nil: the view has too many images or documents
	Counted *counted `json:"counted,omitempty"`
	// parts that the view hides or shows in another form
	Hidden []conversation.HiddenPart `json:"hidden"`
	// to send with the next request, if not remembered
	Edits    []json.RawMessage `json:"edits,omitempty"`
	Report   policy.Report     `json:"report"`
	Warnings []string          `json:"warnings,omitempty"`
	Messages json.RawMessage   `json:"messages"`
}

// remembered is the conversation that a list continues.
type remembered struct {
	ID       string       `json:"id"`
	Name     string       `json:"name,omitempty"`
	Match    lineage.Kind `json:"match"`
	Branched string       `json:"branched_from,omitempty"`
}

// appendTo appends the answer with the messages byte for byte, because an encoder would rewrite
// them.
func (a assembled) appendTo(dst []byte) ([]byte, error) {
	list := a.Messages
	a.Messages = json.RawMessage("0")
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a); err != nil {
		return nil, err
	}
	out := bytes.TrimSuffix(buf.Bytes(), []byte("0}\n")) // messages is its last field
	return append(append(out, list...), "}\n"...), nil
}

func assemble(c *call, t *messageBody, in assembling) (any, error) {
	a, err := t.assembly(in.conversationFields)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(checkName("conversation", in.Conversation), checkName("server", in.Server),
		in.Reported.check()); err != nil {
		return nil, err
	}
	a.Name, a.Window, a.Target, a.Share, a.ReduceNow, a.Focus, a.Profile, a.Summarizer = in.Conversation, in.Window, in.Target.Tokens, in.Target.Share, in.Now, in.Focus, in.Profile, in.Summarizer
	a.Force, a.Server, a.Reported = in.Force, in.Server, (*gateway.Reported)(in.Reported)
	if a.Edits, err = editsOf(in.Edits); err != nil {
		return nil, err
	}
	v, err := c.o.Gateway.Assemble(c.r, a)
	if err != nil {
		return nil, err
	}
	out := assembled{
		Dialect: a.Dialect.Name(), List: a.Dialect.List(), Messages: v.Messages, Set: v.Set, Beta: v.Beta,
		Changed: v.Changed, Acted: v.Acted,
		Before: v.Before, After: v.Report.After.Tokens, Window: v.Report.Decision.Window, Hidden: v.Hidden,
		Report:   v.Report,
		Warnings: slices.Concat(v.Warnings, v.Report.Warnings),
	}
	if r := v.Report; r.Calibration > 0 && r.CanCalibrate() {
		out.Counted = &counted{Model: r.Model, Tokens: int(float64(r.After.Tokens) / r.Calibration)}
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

func compact(c *call, t *messageBody, in compacting) (any, error) {
	o := conversation.SummaryOptions{DigestOptions: conversation.DigestOptions{Tokens: in.Tokens,
		Focus: in.Focus}, Summarizer: in.Summarizer, Model: c.o.Gateway.Summarizer()}
	return aboutList(c, t, in.conversationFields,
		func(ctx context.Context, h conversation.Home, id string) (conversation.Summarized, error) {
			return conversation.Summarize(ctx, h, id, o)
		}, func(s *conversation.Summarized) { s.Conversation = "" })
}

func gate(c *call, t *messageBody, in gating) (any, error) {
	return aboutList(c, t, in.conversationFields,
		func(ctx context.Context, h conversation.Home, id string) (conversation.Gated, error) {
			return conversation.Gate(ctx, h, id,
				conversation.GateOptions{Summary: in.Summary, Tokens: in.Tokens})
		}, func(g *conversation.Gated) { g.Conversation = "" })
}

func writeDigest(c *call, t *messageBody, in digesting) (any, error) {
	return aboutList(c, t, in.conversationFields,
		func(ctx context.Context, h conversation.Home, id string) (conversation.Digested, error) {
			return conversation.Digest(ctx, h, id,
				conversation.DigestOptions{Tokens: in.Tokens, Focus: in.Focus})
		}, func(d *conversation.Digested) { d.Conversation = "" })
}

func expand(c *call, t *messageBody, in expanding) (any, error) {
	if in.Handle.To == 0 {
		return nil, invalid(opBody, "body: /handle", "it is missing", "")
	}
	return aboutList(c, t, in.conversationFields,
		func(ctx context.Context, h conversation.Home, id string) (conversation.TextPiece, error) {
			return conversation.Read(ctx, h, id, in.Handle,
				conversation.ReadOptions{Offset: in.Offset, Lines: in.Lines, Bytes: in.Bytes})
		}, func(r *conversation.TextPiece) { r.Conversation = "" })
}

// aboutList runs a verb on the list in the request or on the conversation that it names. The ID of
// a list is useless to the client, so unnamed removes it.
func aboutList[T any](c *call, t *messageBody, w conversationFields,
	verb func(context.Context, conversation.Home, string) (T, error), unnamed func(*T)) (any, error) {
	var out T
	switch {
	case t.listed() && w.Conversation != "":
		return nil, invalid(opBody, "body: /conversation", "the messages are there as well",
			"send one of the two")
	case t.listed():
		a, err := t.assembly(w)
		if err != nil {
			return nil, err
		}
		err = c.o.Gateway.WithTemporaryHome(c.r, a, func(h conversation.Home, id string) (err error) {
			out, err = verb(c.r.Context(), h, id)
			return err
		})
		unnamed(&out)
		return out, err
	case w.Conversation == "":
		return nil, invalid(opBody, "body: /messages", "it is missing",
			"send messages, input, or the conversation that is meant")
	}
	id, err := c.o.Gateway.Homes().Named(c.r.Context(), c.owner, w.Conversation)
	if err != nil {
		return nil, err
	}
	return verb(c.r.Context(), c.home(), id)
}

// engine is an operation on a list of messages, which may be as large as a request to a model.
func engine[In any](do func(*call, *messageBody, In) (any, error)) func(*call) {
	return func(c *call) {
		data, done, err := c.o.Gateway.ReadBody(c.w, c.r)
		if err != nil {
			fail(c.w, notAdmitted(c.w, err))
			return
		}
		defer done()
		w := admission.NewWriter(c.w)
		defer w.Close()
		var in In
		out, err := func() (any, error) {
			t, err := parseBody(data, &in)
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

// notAdmitted returns the error for a body that was not admitted.
func notAdmitted(w http.ResponseWriter, err error) error {
	var large admission.TooLargeError
	var slow admission.TooSlowError
	var busy admission.BusyError
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

// messageBody is a request body that may contain messages.
type messageBody struct {
	data []byte
	body *wire.Body
}

// parseBody parses a body, and decodes the engine's fields into v. The other fields belong to the
// dialect.
func parseBody(data []byte, v any) (*messageBody, error) {
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
	return &messageBody{data, body}, nil
}

// listed reports whether the body contains messages.
func (t *messageBody) listed() bool {
	return t.body.Get("messages") != nil || t.body.Get("input") != nil
}

// assembly returns the body as an assembly.
func (t *messageBody) assembly(w conversationFields) (gateway.Assembly, error) {
	d, err := dialectOf(w.Dialect, t.body)
	return gateway.Assembly{Dialect: d, Body: t.data}, err
}

// check returns an error for a report that is both a count and a refusal, or neither.
func (n *counted) check() error {
	switch {
	case n == nil || n.Status == 0 && n.Error == "":
		return nil
	case n.Status < 400 || n.Status > 599:
		return invalid(opBody, "body: /reported/status",
			fmt.Sprintf("it is %d, want that of a refusal, 400 to 599", n.Status), "")
	case n.Input != 0:
		return invalid(opBody, "body: /reported/input", "a refused request has none", "")
	}
	return nil
}

// checkName returns an error for an invalid name in a field.
func checkName(field, name string) error {
	place := "body: /" + field
	if len(name) > gateway.MaxNameBytes {
		return invalid(opBody, place,
			fmt.Sprintf("it has %d bytes, want %d at most", len(name), gateway.MaxNameBytes), "")
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
		return nil, invalid(opBody, "body: /edits",
			fmt.Sprintf("there are %d, at most %d are taken", len(list), mostEdits), "")
	}
	out := make([]precis.Edit, len(list))
	for i, raw := range list {
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			return nil, invalid(opBody, fmt.Sprintf("body: /edits/%d", i), err.Error(),
				"send them as the newest answer has them")
		}
	}
	return out, nil
}

// editsWritten encodes edits for [editsOf].
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
