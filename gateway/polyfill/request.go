package polyfill

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/responses"
)

// Native lists the features that an upstream has itself. Fields for them are forwarded unchanged.
type Native struct {
	ContextManagement bool // Anthropic's and OpenAI's context_management
	Compact           bool // POST /v1/responses/compact
}

// Input is a request that may need polyfills. Its fields are not changed.
type Input struct {
	Dialect  string
	Native   Native
	Body     *wire.Body
	Prompt   wire.Prompt
	Messages []precis.Message   // without the system prompt
	Node     precis.Fingerprint // of their end
	Intent   intent.Intent
}

// Request holds the polyfills that a request needs, and their results.
type Request struct {
	Input
	Asked  bool // context_management is removed from the request
	Active bool // a polyfill may have work to do
	Only   bool // the request needs only a polyfill and is no turn
	Mode   Mode
	Edits  Edits         // Anthropic's
	Made   []precis.Edit // edits of this request that are not recorded elsewhere

	compact *Compact
	applied []Applied
	answer  *Answer
	summary *Summary
	usage   precis.Usage // for making the summary
}

// Mode selects who answers a request.
type Mode string

// The modes.
const (
	Forward Mode = ""        // the upstream
	Pause   Mode = "pause"   // the gateway: Anthropic's pause_after_compaction
	Window  Mode = "window"  // the gateway: POST /v1/responses/compact
	Trigger Mode = "trigger" // the gateway: a compaction_trigger
)

// NewRequest reads the context management of a request. An error for a field that its API would
// refuse is an [*Invalid].
func NewRequest(in Input) (*Request, error) {
	r := &Request{Input: in}
	var err error
	if !in.Native.ContextManagement {
		err = r.readManagement()
	}
	if err == nil && in.Dialect == responses.Format && !in.Native.Compact {
		err = r.readCompact()
	}
	r.Active = r.Asked || r.Mode != Forward || r.returnsCompactions()
	return r, err
}

func (r *Request) readManagement() (err error) {
	raw := r.Body.Get("context_management")
	if raw == nil {
		return nil
	}
	switch r.Dialect {
	case anthropic.Format:
		r.Edits, err = ParseEdits(raw)
		r.compact = r.Edits.Compact
		if err == nil && r.Edits.Thinking != nil && !r.Prompt.Thinking {
			err = &InvalidError{Message: "`" + TypeClearThinking +
				"` strategy requires `thinking` to be enabled or adaptive"}
		}
	case responses.Format:
		r.compact, err = ParseCompaction(raw)
		if r.Intent.Stateful {
			r.compact = nil // the messages to compact are not in the request
		}
	default:
		return nil
	}
	r.Asked = true
	return err
}

// readCompact checks a request that only asks for a compaction.
func (r *Request) readCompact() error {
	switch {
	case r.Intent.Work == intent.Compact:
		r.Mode = Window
	case r.Intent.Trigger:
		r.Mode = Trigger
	default:
		return nil
	}
	if r.Prompt.Model == "" {
		return &InvalidError{Param: "model", Message: "Missing required parameter: 'model'."}
	}
	if r.Intent.Stateful {
		return &InvalidError{Param: "previous_response_id",
			Message: "Stored responses cannot be compacted here; send the items as 'input'."}
	}
	if len(r.Messages) == 0 && r.Body.String("input") == "" {
		return &InvalidError{Param: "input", Message: "There is nothing to compact: 'input' is empty."}
	}
	return nil
}

// returnsCompactions reports whether the request contains a compaction that we must read.
func (r *Request) returnsCompactions() bool {
	for _, m := range r.Messages {
		for _, b := range m.Content {
			if _, _, ok := r.returned(b); ok {
				return true
			}
		}
	}
	return false
}

// returned reads a compaction that the client sent back. Ok is false when b is no compaction, or
// one that only its maker can read.
func (r *Request) returned(b precis.Block) (Summary, Kind, bool) {
	o, is := b.(precis.Opaque)
	if !is || !IsCompaction(o.Type) {
		return Summary{}, "", false
	}
	s, kind := ReadCompaction(o.Raw, r.Dialect == anthropic.Format)
	ok := kind == Ours || kind != Opaque && !r.Native.ContextManagement
	return s, kind, ok
}

// spoken returns the user's messages of the input, as items.
func (r *Request) spoken() (out []json.RawMessage) {
	msgs := r.Messages
	if text := r.Body.String("input"); text != "" {
		msgs = []precis.Message{precis.NewText(precis.RoleUser, text)}
	}
	for _, m := range msgs {
		if m.Role != precis.RoleUser || m.HasToolResult() || len(m.Content) == 0 {
			continue
		}
		if _, opaque := m.Content[0].(precis.Opaque); opaque {
			continue
		}
		m.Raw = nil
		list := responses.AppendMessages(nil, []precis.Message{m})
		for s, err := range jsonspan.Array(list) {
			b, parseErr := wire.Parse(s.Raw, "", nil)
			if err != nil || parseErr != nil {
				break
			}
			d := b.Draft()
			d.Set("id", jsonspan.AppendString(nil, "msg_"+precis.HashMessage(m).Short()))
			d.Set("status", []byte(`"completed"`))
			out = append(out, d.Bytes())
		}
	}
	return out
}

// Manages reports whether a request that is no turn is managed because of its polyfills.
func (r *Request) Manages() bool {
	r.Only = true
	return r.Active
}

// Remove removes the fields that polyfills have handled.
func (r *Request) Remove(d *wire.Draft) {
	if !r.Asked {
		return
	}
	if rest := r.Edits.Rest(); rest != nil {
		d.Set("context_management", rest)
		return
	}
	d.Remove("context_management")
}

// RemoveBetas removes the betas that announce only features of the polyfills. One of them also
// announces the memory tool.
func (r *Request) RemoveBetas(h http.Header) {
	const header = "Anthropic-Beta"
	if !r.Asked || r.Dialect != anthropic.Format || len(r.Edits.Unknown) > 0 {
		return
	}
	memory := bytes.Contains(r.Prompt.Tools, []byte(`"memory_2`))
	var out []string
	for _, v := range h[header] {
		var kept []string
		for beta := range strings.SplitSeq(v, ",") {
			name := strings.TrimSpace(beta)
			if name == BetaCompact || name == BetaContextManagement && !memory {
				continue
			}
			kept = append(kept, beta)
		}
		if len(kept) > 0 {
			out = append(out, strings.TrimSpace(strings.Join(kept, ",")))
		}
	}
	delete(h, header)
	if len(out) > 0 {
		h[header] = out
	}
}
