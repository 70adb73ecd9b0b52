package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/reduce"
	"github.com/precis-dev/precis/tokens"
	"github.com/precis-dev/precis/wire/anthropic"
)

func vectorAdapters() map[string]vectorRun {
	return map[string]vectorRun{
		"truncateConversation":        {adaptTruncate, deviateTruncate},
		"getEffectiveApiHistory":      {adaptEffective, nil},
		"cleanupAfterTruncation":      {adaptCleanup, nil},
		"getMessagesSinceLastSummary": {adaptSinceSummary, nil},
		"mergeConsecutiveApiMessages": {adaptMerge, nil},
		"buildApiRequest":             {adaptRequest, nil},
		"maybeRemoveImageBlocks":      {adaptImages, nil},
		"validateAndFixToolResultIds": {adaptAnswers, nil},
		"willManageContext":           {adaptWillManage, deviateWillManage},
		"o200kEncode":                 {adaptEncode, nil},
		"tiktoken":                    {adaptRooCount, nil},
		"tokenUsage":                  {adaptUsage, nil},
		"calculateTokenDistribution":  {adaptDistribution, nil},
		"getModelMaxOutputTokens":     {adaptMaxOutput, nil},
		"calculateApiCost":            {adaptCost, nil},
		"rewind":                      {adaptRewind, deviateRewind},
	}
}

func history(t *testing.T, raw json.RawMessage) *roo.History {
	t.Helper()
	h, err := roo.ParseHistory(raw)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func effective(t *testing.T, h *roo.History) []json.RawMessage {
	t.Helper()
	out, err := h.Effective()
	if err != nil {
		t.Fatal(err)
	}
	return list(out)
}

// list makes an empty list of none, which JSON tells apart.
func list(msgs []json.RawMessage) []json.RawMessage {
	if msgs == nil {
		return []json.RawMessage{}
	}
	return msgs
}

type truncateInput struct {
	Messages     json.RawMessage `json:"messages"`
	FracToRemove float64         `json:"fracToRemove"`
	Now          float64         `json:"now"`
}

func adaptTruncate(t *testing.T, input json.RawMessage) any {
	c := in[truncateInput](t, input)
	h := history(t, c.Messages)
	transcript, edits, err := h.Read(nil)
	if err != nil {
		t.Fatal(err)
	}
	meter := measure.New(tokens.Roo{})
	s := &policy.Situation{
		Transcript: transcript, Edits: edits, Units: precis.Units(transcript, edits),
		Meter: meter, Kept: policy.Keep(transcript, edits, meter, 0, 0),
		Settings: policy.Settings{RungSettings: policy.RungSettings{Truncate: c.FracToRemove}},
		Target:   math.MaxInt,
	}
	orphaned, err := h.Orphaned()
	if err != nil {
		t.Fatal(err)
	}
	e, err := reduce.Truncate{Roo: true, Leave: orphaned}.Propose(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	removed := 0
	for _, r := range e.Replace {
		removed += r.To - r.From
	}
	if removed > 0 {
		e.ID = "ID1"
		if err := h.Apply(e, c.Now); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]any{
		"messages": list(h.Stored()), "truncationId": "ID1", "messagesRemoved": removed,
		"sameArray": removed == 0, "effective": effective(t, h),
	}
}

func adaptEffective(t *testing.T, input json.RawMessage) any {
	c := in[truncateInput](t, input)
	return map[string]any{"messages": effective(t, history(t, c.Messages))}
}

func adaptCleanup(t *testing.T, input json.RawMessage) any {
	h := history(t, in[truncateInput](t, input).Messages)
	h.Clean()
	return map[string]any{"messages": list(h.Stored()), "effective": effective(t, h)}
}

func adaptSinceSummary(t *testing.T, input json.RawMessage) any {
	h := history(t, in[truncateInput](t, input).Messages)
	return map[string]any{"messages": list(roo.SinceLastSummary(h.Stored()))}
}

func adaptMerge(t *testing.T, input json.RawMessage) any {
	c := in[struct {
		Messages []json.RawMessage `json:"messages"`
		Roles    []string          `json:"roles"`
	}](t, input)
	return map[string]any{"messages": list(roo.Merge(c.Messages, c.Roles...))}
}

func adaptRequest(t *testing.T, input json.RawMessage) any {
	c := in[struct {
		Messages          json.RawMessage `json:"messages"`
		SupportsImages    bool            `json:"supportsImages"`
		PreserveReasoning bool            `json:"preserveReasoning"`
	}](t, input)
	out, err := history(t, c.Messages).Request(roo.RequestOptions{Images: c.SupportsImages, PreserveReasoning: c.PreserveReasoning})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"messages": list(out)}
}

func adaptImages(t *testing.T, input json.RawMessage) any {
	c := in[struct {
		Messages       []json.RawMessage `json:"messages"`
		SupportsImages *bool             `json:"supportsImages"`
	}](t, input)
	return map[string]any{"messages": list(roo.DropImages(c.Messages, c.SupportsImages != nil && *c.SupportsImages))}
}

func adaptAnswers(t *testing.T, input json.RawMessage) any {
	c := in[struct {
		UserMessage json.RawMessage   `json:"userMessage"`
		History     []json.RawMessage `json:"history"`
	}](t, input)
	return map[string]any{"userMessage": roo.AnswerTools(c.UserMessage, c.History)}
}

type willManageInput struct {
	TotalTokens       int                `json:"totalTokens"`
	LastMessageTokens int                `json:"lastMessageTokens"`
	ContextWindow     int                `json:"contextWindow"`
	MaxTokens         *int               `json:"maxTokens"`
	Auto              bool               `json:"autoCondenseContext"`
	Percent           float64            `json:"autoCondenseContextPercent"`
	Thresholds        map[string]float64 `json:"profileThresholds"`
	Profile           string             `json:"currentProfileId"`
}

func adaptWillManage(t *testing.T, input json.RawMessage) any {
	c := in[willManageInput](t, input)
	output := 0
	if c.MaxTokens != nil {
		output = *c.MaxTokens
	}
	s := policy.Settings{Preset: "roo", Auto: c.Auto, Percent: c.Percent, Profiles: c.Thresholds, Buffer: 0.1, ExactReserve: true}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	d := policy.Plan(policy.Load{Used: c.TotalTokens + c.LastMessageTokens}, s.Budget(precis.Window{Tokens: c.ContextWindow}, output, 0, 0), s, c.Profile)
	return map[string]any{"result": d.Action == policy.ActionReduce || d.Action == policy.ActionTruncate}
}

func adaptEncode(t *testing.T, input json.RawMessage) any {
	c := in[struct {
		Text string `json:"text"`
	}](t, input)
	ids := tokens.O200k().Encode(c.Text)
	if ids == nil {
		ids = []int{}
	}
	if n := tokens.O200k().Count(c.Text); n != len(ids) {
		t.Errorf("Count is %d, Encode gives %d tokens", n, len(ids))
	}
	return map[string]any{"ids": ids}
}

func adaptRooCount(t *testing.T, input json.RawMessage) any {
	c := in[struct {
		Content json.RawMessage `json:"content"`
	}](t, input)
	if bytes.Contains(c.Content, []byte(`_gen"`)) {
		c.Content = generated(t, c.Content)
	}
	blocks, err := anthropic.DecodeContent(c.Content)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"count": tokens.Roo{}.Blocks(blocks)}
}

// generated writes out the compact generators of a content list.
func generated(t *testing.T, content json.RawMessage) json.RawMessage {
	blocks := in[[]map[string]any](t, content)
	for _, b := range blocks {
		expand(b, "text_gen", "text")
		expand(b, "content_gen", "content")
		if source, ok := b["source"].(map[string]any); ok {
			expand(source, "data_gen", "data")
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(blocks); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// expand replaces a compact generator by the text it stands for.
func expand(b map[string]any, from, to string) {
	if g, ok := b[from].(map[string]any); ok {
		b[to] = strings.Repeat(g["unit"].(string), int(g["count"].(float64)))
		delete(b, from)
	}
}

func adaptUsage(t *testing.T, input json.RawMessage) any {
	ui, err := roo.ParseUI(in[truncateInput](t, input).Messages)
	if err != nil {
		t.Fatal(err)
	}
	u := ui.Usage()
	out := map[string]any{"totalTokensIn": u.In, "totalTokensOut": u.Out, "totalCost": u.Cost, "contextTokens": u.ContextTokens}
	if u.HasWrites {
		out["totalCacheWrites"] = u.CacheWrites
	}
	if u.HasReads {
		out["totalCacheReads"] = u.CacheReads
	}
	return out
}

func adaptDistribution(t *testing.T, input json.RawMessage) any {
	c := in[struct {
		ContextWindow, ContextTokens, MaxTokens int
	}](t, input)
	s := models.Distribution(c.ContextWindow, c.ContextTokens, c.MaxTokens)
	return map[string]any{
		"currentPercent": s.CurrentPercent, "reservedPercent": s.ReservedPercent, "availablePercent": s.AvailablePercent,
		"reservedForOutput": s.ReservedForOutput, "availableSize": s.AvailableSize,
	}
}

func adaptRewind(t *testing.T, input json.RawMessage) any {
	c := in[struct {
		UI      json.RawMessage `json:"clineMessages"`
		History json.RawMessage `json:"apiHistory"`
		TS      float64         `json:"ts"`
		Index   *int            `json:"index"`
		Include bool            `json:"includeTargetMessage"`
		Leave   bool            `json:"skipCleanup"`
		Now     float64         `json:"now"`
	}](t, input)
	h := history(t, c.History)
	ui, err := roo.ParseUI(c.UI)
	if err != nil {
		t.Fatal(err)
	}
	target := roo.Target{TS: c.TS, Include: c.Include, Leave: c.Leave, Now: c.Now}
	if c.Index != nil {
		target.ByIndex, target.Index = true, *c.Index
	}
	changed, err := roo.Rewind(h, ui, target)
	var e *precis.Error
	if errors.As(err, &e) && e.Code == precis.CodeNotFound {
		return map[string]any{"throws": true}
	}
	out := map[string]any{
		"clineMessages": json.RawMessage(ui.Bytes()), "apiHistory": list(h.Stored()), "wroteApiHistory": changed,
		"artifactIdsKept": nil, "effective": effective(t, h),
	}
	if !c.Leave {
		ids := roo.Artifacts(h, ui)
		if ids == nil {
			ids = []string{}
		}
		out["artifactIdsKept"] = ids
	}
	return out
}
