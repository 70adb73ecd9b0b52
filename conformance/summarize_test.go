package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/tokens"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/overflow"
)

// condenseInput is a conversation to be condensed and the model that is there.
type condenseInput struct {
	Messages    json.RawMessage `json:"messages"`
	Handler     handler         `json:"handler"`
	System      string          `json:"systemPrompt"`
	Automatic   bool            `json:"isAutomaticTrigger"`
	Custom      string          `json:"customCondensingPrompt"`
	Environment string          `json:"environmentDetails"`
	Files       []string        `json:"filesReadByRoo"`
	Metadata    struct {
		Tools json.RawMessage `json:"tools"`
	} `json:"metadata"`
	Now float64 `json:"now"`
}

// prompt is what the summarizer is asked for. Its text is the reference's own,
// so the cases hold this in its place.
func (c condenseInput) prompt() string {
	if custom := strings.TrimSpace(c.Custom); custom != "" {
		return custom
	}
	return promptMark
}

const promptMark = "<PROMPT>"

// handler is a model by script: what it streams or throws.
type handler struct {
	Images   bool            `json:"supportsImages"`
	Counter  string          `json:"counter"`
	Chunks   []scriptedChunk `json:"chunks"`
	OnCreate *thrown         `json:"throwOnCreate"`
	Missing  bool            `json:"noCreateMessage"`
}

type scriptedChunk struct {
	Type      string  `json:"type"`
	Text      string  `json:"text"`
	Input     int     `json:"inputTokens"`
	Output    int     `json:"outputTokens"`
	TotalCost float64 `json:"totalCost"`
	Throw     *thrown `json:"throw"`
}

// thrown is what JavaScript threw: an error, or any value.
type thrown struct {
	Message string          `json:"message"`
	Status  int             `json:"status"`
	Code    json.RawMessage `json:"code"`
	Kind    string          `json:"kind"`
	Value   json.RawMessage `json:"value"`
}

// err is the error of a provider's client for the thrown one.
func (e thrown) err() *model.Error {
	message := e.Message
	switch e.Kind {
	case "string":
		_ = json.Unmarshal(e.Value, &message)
	case "object":
		message = "[object Object]"
	}
	body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "code": e.Code}})
	out := &model.Error{Fault: model.FaultConnection, Status: e.Status, Body: body, Err: errors.New(message)}
	switch {
	case e.Status == 429:
		out.Fault = model.FaultRateLimited
	case e.Status >= 500:
		out.Fault = model.FaultOverloaded
	case e.Status >= 400:
		out.Fault = model.FaultRequest
		if _, ok := overflow.Classify(e.Status, body); ok {
			out.Fault = model.FaultOverflow
		}
	}
	return out
}

// counter counts as the case's handler does.
func (h handler) counter() precis.Counter {
	if h.Counter == "o200k" {
		return tokens.Roo{}
	}
	return lengths{}
}

// lengths is the counter of most cases: the characters of a text block, 100 for
// any other.
type lengths struct{}

func (lengths) Name() string { return "len" }

func (lengths) Count(m precis.Message) int {
	n := 0
	for _, b := range m.Content {
		if text, ok := b.(precis.Text); ok {
			n += utf8.RuneCountInString(text.Text)
		} else {
			n += 100
		}
	}
	return n
}

// scripted is a model that plays a handler and keeps what it was asked.
type scripted struct {
	handler

	mu       sync.Mutex // parts are summarized side by side
	requests []model.Request
}

func (m *scripted) Info() model.Info {
	return model.Info{ID: "scripted", Images: m.Images}
}

func (m *scripted) Generate(_ context.Context, r model.Request) (model.Response, error) {
	m.mu.Lock()
	m.requests = append(m.requests, r)
	m.mu.Unlock()
	out := model.Response{Attempts: 1}
	if m.OnCreate != nil {
		return out, m.OnCreate.err()
	}
	for _, c := range m.Chunks {
		switch {
		case c.Throw != nil:
			out.Text = ""
			return out, c.Throw.err()
		case c.Type == "text":
			out.Text += c.Text
		case c.Type == "reasoning":
			out.Reasoned = true
		case c.Type == "tool_call":
			out.ToolCalls++
		case c.Type == "usage":
			out.Usage = precis.Usage{Input: c.Input, Output: c.Output}
			out.CostUSD = c.TotalCost
		}
	}
	return out, nil
}

// situation is what a rung is shown of a history. Nothing is kept: the
// reference hides everything, the user's last turn and the newest messages, too.
func (c condenseInput) situation(t *testing.T, h *roo.History) *policy.Situation {
	t.Helper()
	transcript, edits, err := h.Read(nil)
	if err != nil {
		t.Fatal(err)
	}
	meter := measure.New(c.Handler.counter())
	kept := policy.Keep(transcript, edits, meter, 0, 0)
	kept.Tail, kept.LastUser = transcript.Len(), -1
	conv := &precis.Conversation{System: precis.NewText(precis.RoleSystem, c.System), Transcript: transcript, Edits: edits}
	if c.Metadata.Tools != nil {
		var compact bytes.Buffer
		if err := json.Compact(&compact, c.Metadata.Tools); err != nil {
			t.Fatal(err)
		}
		conv.Tools = compact.Bytes()
	}
	return &policy.Situation{
		Conversation: conv, Transcript: transcript, Edits: edits, Units: precis.Units(transcript, edits),
		Meter: meter, Kept: kept, Target: 1 << 40, Automatic: c.Automatic, Environment: automatic(c),
		Settings: policy.Settings{RungSettings: policy.RungSettings{Truncate: 0.5}},
	}
}

// automatic returns the surroundings that a manager passes on.
func automatic(c condenseInput) string {
	if !c.Automatic {
		return ""
	}
	return c.Environment
}

// full is the rung as the preset roo sets it up, with a prompt in the place of
// the template: what the scripts answer has no sections.
func (c condenseInput) full(t *testing.T, m *scripted) condense.Full {
	t.Helper()
	f := condense.Full{Mode: condense.FreshStart, Framing: condense.Plain, LeastNew: 2}
	if c.Handler.Missing {
		return f
	}
	w, err := condense.NewWriter(condense.WriterConfig{Model: m, Bare: true, KeepImages: true, Prompt: condense.Prompt{Custom: c.prompt()}})
	if err != nil {
		t.Fatal(err)
	}
	f.Summarizer = w
	return f
}

// condensed condenses a history and returns the parts of the answer, and whether
// there is a summary.
func (c condenseInput) condensed(t *testing.T, h *roo.History, id string) (out map[string]any, e precis.Edit, ok bool) {
	t.Helper()
	m := &scripted{handler: c.Handler}
	s := c.situation(t, h)
	e, err := c.full(t, m).Propose(context.Background(), s)
	out = map[string]any{"summary": "", "cost": e.Report.CostUSD, "request": c.request(m), "requests": len(m.requests)}
	switch {
	case err != nil:
		out["error"], out["cost"] = failed(t, err)
		return out, e, false
	case len(e.Replace) == 0:
		out["error"] = errorKey(string(e.Report.Code), nil)
		return out, e, false
	}
	e.ID = id
	if err := h.Apply(e, c.Now); err != nil {
		t.Fatal(err)
	}
	head, _ := e.Replace[0].With[0].Content[0].(precis.Text)
	out["summary"] = strings.TrimPrefix(head.Text, "## Conversation Summary\n")
	out["condenseId"] = id
	e.Report.TokensAfter = s.Meter.Overhead(s.Conversation).Sum() + s.Meter.View(precis.View(s.Transcript, append(s.Edits, e)))
	out["newContextTokens"] = e.Report.TokensAfter
	return out, e, true
}

// failed is a rung's error as the reference tells it, and what was paid.
func failed(t *testing.T, err error) (any, float64) {
	t.Helper()
	var r *policy.RungError
	if !errors.As(err, &r) {
		t.Fatalf("no RungError: %v", err)
	}
	var params map[string]any
	var m *model.Error
	if errors.As(err, &m) {
		params = map[string]any{"message": m.Err.Error()}
	}
	cost := 0.0
	if r.Call != nil {
		cost = r.Call.CostUSD
	}
	return errorKey(string(r.Reason), params), cost
}

func errorKey(reason string, params map[string]any) any {
	key := condense.ErrorName(precis.Reason(reason))
	if params == nil {
		return map[string]any{"key": key}
	}
	return map[string]any{"key": key, "params": params}
}

// request is the first request the model got. What precis says around the prompt
// is its own.
func (c condenseInput) request(m *scripted) any {
	if len(m.requests) == 0 {
		return nil
	}
	r := m.requests[0]
	msgs := make([]map[string]any, len(r.Messages))
	for i, msg := range r.Messages {
		if i == len(r.Messages)-1 && strings.HasPrefix(msg.PlainText(), c.prompt()) {
			msg = precis.NewText(msg.Role, c.prompt())
		}
		msgs[i] = map[string]any{"role": msg.Role, "content": json.RawMessage(anthropic.AppendContent(nil, msg.Content, msg.Format))}
	}
	system := r.System.PlainText()
	if system == (condense.Prompt{}).Guard() {
		system = promptMark
	}
	return map[string]any{"messages": msgs, "systemPrompt": system}
}

func adaptSummarize(t *testing.T, input json.RawMessage) any {
	c := in[condenseInput](t, input)
	h := history(t, c.Messages)
	out, _, ok := c.condensed(t, h, "ID1")
	out["messages"], out["sameArray"] = list(h.Stored()), !ok
	return out
}
