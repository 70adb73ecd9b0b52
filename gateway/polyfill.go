package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"precis"
	"precis/gateway/polyfill"
	"precis/internal/jsonspan"
	"precis/wire"
	"precis/wire/anthropic"
	"precis/wire/responses"
)

// Context management that a request asks of its API is done here when the
// upstream does not have it: the fields are taken out, what they ask for becomes
// edits of the conversation, and the answer tells what the API would have told.
// Compaction blocks and items of our own making are turned into messages that
// every model can read, whatever the upstream has.

// emulation is what one request needs of that. The zero value is nothing.
type emulation struct {
	asked   bool           // context_management is taken out of the request
	active  bool           // there may be something to do
	side    bool           // the request is no turn: nothing else is done with it
	edits   polyfill.Edits // Anthropic's
	compact *polyfill.Compact
	mode    mode

	made    []precis.Edit // by this request, where nothing records them
	applied []polyfill.Applied
	answer  *polyfill.Answer // what is added to the answer; nil: nothing
	summary *polyfill.Summary
	usage   precis.Usage // of making it
}

// mode says who answers the request.
type mode string

const (
	modeForward mode = ""        // the upstream
	modePause   mode = "pause"   // the gateway: Anthropic's pause_after_compaction
	modeWindow  mode = "window"  // the gateway: POST /v1/responses/compact
	modeTrigger mode = "trigger" // the gateway: a compaction_trigger
)

// emulated reads what the request asks for. A field that its API would refuse is
// an error.
func (t *turn) emulated() error {
	e := &t.poly
	var err error
	if !t.native().ContextManagement {
		err = t.readManagement()
	}
	if err == nil && t.dialect.Name() == responses.Format && !t.native().Compact {
		err = t.readCompact()
	}
	if err != nil {
		return err
	}
	e.active = e.asked || e.mode != modeForward || t.returnsCompactions()
	return nil
}

func (t *turn) readManagement() (err error) {
	raw := t.found.Body.Get("context_management")
	if raw == nil {
		return nil
	}
	e := &t.poly
	switch t.dialect.Name() {
	case anthropic.Format:
		e.edits, err = polyfill.ParseEdits(raw)
		e.compact = e.edits.Compact
		if err == nil && e.edits.Thinking != nil && !t.found.Prompt.Thinking {
			err = &polyfill.Invalid{Message: "`" + polyfill.TypeClearThinking + "` strategy requires `thinking` to be enabled or adaptive"}
		}
	case responses.Format:
		e.compact, err = polyfill.ParseCompaction(raw)
		if stateful(t.found.Body) {
			e.compact = nil // what is to be compacted is not in the request
		}
	default:
		return nil
	}
	e.asked = true
	return err
}

// readCompact finds out whether the request asks for a compaction and nothing
// else.
func (t *turn) readCompact() error {
	b := t.found.Body
	switch n := len(b.Items()); {
	case t.work == workCompact:
		t.poly.mode = modeWindow
	case n > 0 && isTrigger(b.Item(n-1)):
		t.poly.mode = modeTrigger
	default:
		return nil
	}
	if t.found.Prompt.Model == "" {
		return &polyfill.Invalid{Param: "model", Message: "Missing required parameter: 'model'."}
	}
	if stateful(b) {
		return &polyfill.Invalid{Param: "previous_response_id", Message: "Stored responses cannot be compacted here; send the items as 'input'."}
	}
	if t.found.Len == 0 && b.String("input") == "" {
		return &polyfill.Invalid{Param: "input", Message: "There is nothing to compact: 'input' is empty."}
	}
	return nil
}

func isTrigger(item []byte) bool {
	kind, _ := jsonspan.String(jsonspan.Field(item, "type"))
	return kind == "compaction_trigger"
}

// returnsCompactions reports whether the request holds a compaction that is for
// us to read.
func (t *turn) returnsCompactions() bool {
	for _, m := range t.found.Messages {
		for _, b := range m.Content {
			if _, _, ok := t.returned(b); ok {
				return true
			}
		}
	}
	return false
}

// returned reads a compaction that the client sent back. Not ok: the block is
// none, or one for its maker alone.
func (t *turn) returned(b precis.Block) (polyfill.Summary, polyfill.Kind, bool) {
	o, is := b.(precis.Opaque)
	if !is || !polyfill.IsCompaction(o.Type) {
		return polyfill.Summary{}, "", false
	}
	s, kind := polyfill.Read(o.Raw, t.dialect.Name() == anthropic.Format)
	ok := kind == polyfill.Ours || kind != polyfill.Opaque && !t.native().ContextManagement
	return s, kind, ok
}

// manages reports whether a request that would be passed through is managed
// after all, for the polyfills alone.
func (e *emulation) manages(why string) bool {
	e.side = why != ""
	return e.active && why == passTitle
}

// strip takes the fields that were done here out of a request.
func (t *turn) strip(d *wire.Draft) {
	if !t.poly.asked {
		return
	}
	if rest := t.poly.edits.Rest(); rest != nil {
		d.Set("context_management", rest)
		return
	}
	d.Remove("context_management")
}

// stripBetas takes the betas that only announce those fields out of a header.
func (t *turn) stripBetas(h http.Header) {
	values := h.Values(headerBeta)
	if !t.poly.asked || len(values) == 0 || t.dialect.Name() != anthropic.Format || len(t.poly.edits.Unknown) > 0 {
		return
	}
	memory := bytes.Contains(t.found.Prompt.Tools, []byte(`"memory_2`)) // the memory tool is announced by the same beta
	var out []string
	for _, v := range values {
		var kept []string
		for beta := range strings.SplitSeq(v, ",") {
			name := strings.TrimSpace(beta)
			if name == polyfill.BetaCompact || name == polyfill.BetaContextManagement && !memory {
				continue
			}
			kept = append(kept, beta)
		}
		if len(kept) > 0 {
			out = append(out, strings.TrimSpace(strings.Join(kept, ",")))
		}
	}
	delete(h, headerBeta)
	if len(out) > 0 {
		h[headerBeta] = out
	}
}

// refuseField answers for a field that the API would refuse, as it would. It
// reports whether the error is about one.
func (t *turn) refuseField(err error) bool {
	var f *polyfill.Invalid
	if !errors.As(err, &f) {
		return false
	}
	t.err, t.status = precis.Errorf(precis.CodeInvalid, "read context_management", "%s", f.Message), http.StatusBadRequest
	message := f.Message
	if t.dialect.Name() == anthropic.Format && f.Param != "" {
		message = f.Error()
	}
	body := jsonspan.AppendStringField([]byte(`{"type":"error","error":{"type":"invalid_request_error"`), "message", message)
	body = append(body, "}}"...)
	if t.dialect.Name() == responses.Format {
		body = jsonspan.AppendStringField([]byte(`{"error":{`), "message", message)
		body = jsonspan.AppendStringField(body, "type", "invalid_request_error")
		body = append(jsonspan.AppendStringField(body, "param", f.Param), `,"code":"invalid_value"}}`...)
	}
	h := t.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set(headerError, string(precis.CodeInvalid))
	t.w.WriteHeader(t.status)
	_, _ = t.w.Write(body) // the client is gone otherwise
	return true
}

// spoken returns the messages of the user in the input, as items.
func (t *turn) spoken() (out []json.RawMessage) {
	msgs := t.found.Messages
	if text := t.found.Body.String("input"); text != "" {
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

// native returns what the upstream does by itself.
func (t *turn) native() Native {
	if t.upstream.Native != nil {
		return *t.upstream.Native
	}
	return t.g.o.Native
}
