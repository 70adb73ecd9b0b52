package polyfill

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"precis"
	"precis/internal/jsonspan"
	"precis/wire"
	"precis/wire/anthropic"
	"precis/wire/responses"
)

// Native says what an upstream does by itself, so that no polyfill is needed: what
// is native is passed through untouched.
type Native struct {
	ContextManagement bool // Anthropic's and OpenAI's context_management
	Compact           bool // POST /v1/responses/compact
}

// Input is a request that may ask for polyfills. Its fields are not changed.
type Input struct {
	Dialect  string
	Native   Native
	Body     *wire.Body
	Prompt   wire.Prompt
	Messages []precis.Message   // system prompt left out
	Node     precis.Fingerprint // where they end
	Compact  bool               // it came to /v1/responses/compact
	Count    bool               // it asks for a count of tokens alone
	Stateful bool               // it refers to messages that are not in it
}

// Request is what a request asks of polyfills, and what has come of it.
type Request struct {
	Input
	Asked  bool // context_management is removed from the request
	Active bool // there may be something to do
	Only   bool // nothing else is done with the request, which is no turn
	Mode   Mode
	Edits  Edits         // Anthropic's
	Made   []precis.Edit // by this request, where nothing records them

	compact *Compact
	applied []Applied
	answer  *Answer
	summary *Summary
	usage   precis.Usage // of making it
}

// Mode says who answers a request.
type Mode string

// The modes.
const (
	Forward Mode = ""        // the upstream
	Pause   Mode = "pause"   // the gateway: Anthropic's pause_after_compaction
	Window  Mode = "window"  // the gateway: POST /v1/responses/compact
	Trigger Mode = "trigger" // the gateway: a compaction_trigger
)

// NewRequest reads what a request asks for. A field that its API would refuse is an
// error of type [Invalid].
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
			err = &Invalid{Message: "`" + TypeClearThinking + "` strategy requires `thinking` to be enabled or adaptive"}
		}
	case responses.Format:
		r.compact, err = ParseCompaction(raw)
		if r.Stateful {
			r.compact = nil // what is to be compacted is not in the request
		}
	default:
		return nil
	}
	r.Asked = true
	return err
}

// readCompact finds out whether the request asks for a compaction and nothing
// else.
func (r *Request) readCompact() error {
	b := r.Body
	switch n := len(b.Items()); {
	case r.Input.Compact:
		r.Mode = Window
	case n > 0 && isTrigger(b.Item(n-1)):
		r.Mode = Trigger
	default:
		return nil
	}
	if r.Prompt.Model == "" {
		return &Invalid{Param: "model", Message: "Missing required parameter: 'model'."}
	}
	if r.Stateful {
		return &Invalid{Param: "previous_response_id", Message: "Stored responses cannot be compacted here; send the items as 'input'."}
	}
	if len(r.Messages) == 0 && b.String("input") == "" {
		return &Invalid{Param: "input", Message: "There is nothing to compact: 'input' is empty."}
	}
	return nil
}

func isTrigger(item []byte) bool {
	kind, _ := jsonspan.String(jsonspan.Field(item, "type"))
	return kind == "compaction_trigger"
}

// returnsCompactions reports whether the request holds a compaction that is for
// us to read.
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

// returned reads a compaction that the client sent back. Not ok: the block is
// none, or one for its maker alone.
func (r *Request) returned(b precis.Block) (Summary, Kind, bool) {
	o, is := b.(precis.Opaque)
	if !is || !IsCompaction(o.Type) {
		return Summary{}, "", false
	}
	s, kind := Read(o.Raw, r.Dialect == anthropic.Format)
	ok := kind == Ours || kind != Opaque && !r.Native.ContextManagement
	return s, kind, ok
}

// spoken returns the messages of the user in the input, as items.
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

// Manages reports whether a request that is no turn of a conversation is managed
// for the polyfills alone.
func (r *Request) Manages() bool {
	r.Only = true
	return r.Active
}

// Remove removes the fields that the polyfills have done the work of.
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

// RemoveBetas removes the betas that only announce what the polyfills do from a
// header. The memory tool is announced by one of them, too.
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
