package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/reduce"
)

// manageInput is a check before a request.
type manageInput struct {
	condenseInput
	willManageInput
}

func (c *manageInput) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &c.condenseInput); err != nil {
		return err
	}
	c.Automatic = true // every check is
	return json.Unmarshal(data, &c.willManageInput)
}

// decision asks a manager of the preset roo what is to be done.
func (c manageInput) decision(t *testing.T) policy.Decision {
	t.Helper()
	s, err := preset.Settings(preset.Roo)
	if err != nil {
		t.Fatal(err)
	}
	s.Auto, s.Percent, s.Profiles = c.Auto, c.Percent, c.Thresholds
	output := 0
	if c.MaxTokens != nil {
		output = *c.MaxTokens
	}
	msgs := in[shapeInput](t, []byte(`{"messages":`+string(c.Messages)+`}`)).messages(t)
	last := measure.New(c.Handler.counter()).Message(msgs[len(msgs)-1])
	return policy.Plan(policy.Load{Used: c.TotalTokens + last}, s.Budget(precis.Window{Tokens: c.ContextWindow}, output, 0, 0), s, c.Profile)
}

// run does what the decision says: the two rungs of the preset roo, in its
// order. The manager's own run keeps the newest messages, which the reference
// does not.
func (c manageInput) run(t *testing.T, h *roo.History, id string) (out map[string]any, made precis.Edit) {
	t.Helper()
	d := c.decision(t)
	out = map[string]any{"action": "none", "summary": "", "cost": 0.0, "request": nil, "requests": 0}
	ok := false
	if d.Action == policy.ActionReduce {
		if out, made, ok = c.condensed(t, h, id); ok {
			out["action"] = "condense"
		} else {
			out["action"] = "none"
		}
	}
	over := float64(d.Used) > d.Allowed
	if !ok && over && (d.Action == policy.ActionReduce || d.Action == policy.ActionTruncate) {
		made = c.truncated(t, h, id)
		out["action"], out["truncationId"], out["messagesRemoved"] = "truncate", id, made.Report.Messages
	}
	made.Report.TokensBefore = d.Used
	out["prevContextTokens"] = d.Used
	return out, made
}

// truncated hides half of what is seen.
func (c manageInput) truncated(t *testing.T, h *roo.History, id string) precis.Edit {
	t.Helper()
	orphaned, err := h.Orphaned()
	if err != nil {
		t.Fatal(err)
	}
	e, err := reduce.Truncate{Roo: true, Leave: orphaned}.Propose(context.Background(), c.situation(t, h))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range e.Replace {
		e.Report.Messages += r.To - r.From
	}
	e.ID = id
	if len(e.Replace) > 0 {
		if err := h.Apply(e, c.Now); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func adaptManage(t *testing.T, input json.RawMessage) any {
	c := in[manageInput](t, input)
	h := history(t, c.Messages)
	if h.Len() == 0 { // the reference fails on it; precis is never asked
		return map[string]any{"throws": "Cannot read properties of undefined (reading 'content')"}
	}
	before := string(h.Bytes())
	out, _ := c.run(t, h, "ID1")
	delete(out, "requests")
	out["messages"], out["sameArray"], out["effective"] = list(h.Stored()), string(h.Bytes()) == before, effective(t, h)
	return out
}

// managedFiles are the files compared part by part. Their answers have a dozen
// parts each, and one case shows several of the differences that precis has on
// purpose; a case that deviates in one part is still compared in all others.
func managedFiles() map[string]managedRun {
	return map[string]managedRun{
		"summarizeConversation": {adaptSummarize, summaryRules()},
		"manageContext":         {adaptManage, summaryRules()},
		"session":               {adaptSession, sessionRules()},
	}
}

type managedRun struct {
	adapt adapter
	rules []partRule
}

// partRule names a difference on purpose, the parts of the answer that it may
// touch, and the cases it is for.
type partRule struct {
	name  string
	parts []string
	holds func(c managedCase) bool
}

// managedCase is a case as the rules see it.
type managedCase struct {
	condenseInput
	history  []storedMessage
	sizes    []int // of the messages, as most cases count
	input    json.RawMessage
	output   json.RawMessage
	want     map[string]any
	got      map[string]any
	reworded map[string]bool // what [translate] found
}

// compareManaged compares a file of [managedFiles] and reports whether it is one.
func compareManaged(t *testing.T, name string, cases []vectorCase) bool {
	run, ok := managedFiles()[name]
	if !ok {
		return false
	}
	passed, worded, deviating := 0, map[string]int{}, map[string]int{}
	for _, c := range cases {
		names, reworded := compareParts(t, name, c, run)
		for _, n := range names {
			deviating[n]++
		}
		for n := range reworded {
			worded[n]++
		}
		if len(names) == 0 {
			passed++
		}
	}
	n := len(cases) - passed
	t.Logf("%-32s %4d cases  %4d passed  %3d deviating %s; read as ours: %s", name, len(cases), passed, n, tallied(deviating), tallied(worded))
	if float64(n) > maxDeviating*float64(len(cases)) {
		t.Errorf("%s: %d of %d cases deviate, at most %.0f %% may", name, n, len(cases), 100*maxDeviating)
	}
	return true
}

func tallied(counts map[string]int) string {
	var names []string
	for _, why := range slices.Sorted(maps.Keys(counts)) {
		names = append(names, fmt.Sprintf("%s %d", why, counts[why]))
	}
	return strings.Join(names, ", ")
}

// compareParts compares each part of an answer and returns the names of the
// deviations.
func compareParts(t *testing.T, name string, c vectorCase, run managedRun) ([]string, map[string]bool) {
	t.Helper()
	raw, err := json.Marshal(run.adapt(t, c.Input))
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	mc := managedCase{condenseInput: in[condenseInput](t, c.Input), input: c.Input, output: c.Output}
	mc.history = in[struct {
		Messages []storedMessage `json:"messages"`
	}](t, c.Input).Messages
	for _, m := range in[shapeInput](t, c.Input).messages(t) {
		mc.sizes = append(mc.sizes, lengths{}.Count(m))
	}
	mc.want, mc.reworded = translate(anyJSON(t, c.Output).(map[string]any))
	mc.got, _ = anyJSON(t, raw).(map[string]any)
	mc.leaveHidden()
	mc.readSession()
	if mc.reworded[filesFromCalls] || mc.reworded[workflowsWorded] && mc.Handler.Counter == "o200k" { // other texts, other sizes
		delete(mc.want, "newContextTokens")
		delete(mc.got, "newContextTokens")
	}
	resize(mc.want, mc.got, "newContextTokens")
	keys := maps.Clone(mc.want)
	maps.Copy(keys, mc.got)
	var names []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		diff := cmp.Diff(mc.want[key], mc.got[key])
		if diff == "" {
			continue
		}
		i := slices.IndexFunc(run.rules, func(r partRule) bool { return slices.Contains(r.parts, key) && r.holds(mc) })
		if i < 0 {
			t.Errorf("%s %s, %s: (-reference +precis)\n%s", name, c.Name, key, short(diff))
		} else if !slices.Contains(names, run.rules[i].name) {
			names = append(names, run.rules[i].name)
		}
	}
	return names, mc.reworded
}

// What [translate] reads as ours, see docs/deviations.md.
const (
	reasoningHidden = "reasoning-not-shown"
	imageNote       = "image-note"
	workflowsWorded = "workflows-worded"
	filesFromCalls  = "files-from-calls"
)

// translate rewrites what the reference says in other words, so that all the
// rest can be compared: reasoning is not sent to the summarizer, an image it
// does not accept has another note, the workflows another heading. It leaves out
// what precis does not tell (the client's metadata, the details of an error) or
// counts otherwise (the view after a truncation), and returns what it found.
func translate(want map[string]any) (map[string]any, map[string]bool) {
	found := map[string]bool{}
	for _, part := range []string{"errorDetails", "newContextTokensAfterTruncation"} {
		delete(want, part)
	}
	if request, ok := want["request"].(map[string]any); ok {
		delete(request, "metadata")
		for _, m := range request["messages"].([]any) {
			m := m.(map[string]any)
			m["content"] = asSent(m["content"], found)
		}
	}
	for _, part := range []string{"messages", "effective", "apiHistory"} {
		msgs, _ := want[part].([]any)
		for _, m := range msgs {
			m := m.(map[string]any)
			if blocks, ok := m["content"].([]any); ok && isNew(m) {
				m["content"] = attached(blocks, found)
			}
		}
	}
	return want, found
}

// asSent is the content of a message as precis shows it to a summarizer.
func asSent(content any, found map[string]bool) any {
	if text, ok := content.(string); ok {
		return []any{textOf(text)}
	}
	out := []any{}
	for _, b := range content.([]any) {
		b := b.(map[string]any)
		switch {
		case b["type"] == "thinking" || b["type"] == "reasoning" || b["type"] == "thoughtSignature":
			found[reasoningHidden] = true
			continue
		case b["text"] == "":
			continue
		case b["text"] == "[Referenced image in conversation]":
			found[imageNote] = true
			b = textOf("[Image]")
		}
		out = append(out, b)
	}
	if len(out) == 0 {
		out = append(out, textOf("(nothing)"))
	}
	return out
}

func textOf(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

// How each side frames the workflows of the first message.
const (
	theirWorkflows = "<system-reminder>\n## Active Workflows\nThe following directives must be maintained across all future condensings:\n"
	theirEnd       = "\n</system-reminder>"
	ourWorkflows   = "Workflows that are still to be followed:\n"
)

// resize takes the difference of the two frames for none, in sizes counted in
// characters.
func resize(want, got map[string]any, keys ...string) {
	for _, key := range keys {
		w, _ := want[key].(float64)
		if g, ok := got[key].(float64); ok && w-g == float64(len(theirWorkflows)+len(theirEnd)-len(ourWorkflows)) {
			want[key] = g
		}
	}
}

// attached are the blocks of a summary with what is attached in the words of
// precis, and without the files that the client names.
func attached(blocks []any, found map[string]bool) []any {
	out := []any{}
	for _, b := range blocks {
		b := b.(map[string]any)
		text, _ := b["text"].(string)
		if strings.HasPrefix(text, "<system-reminder>\n## File Context: ") {
			found[filesFromCalls] = true
			continue
		}
		if in, ok := strings.CutPrefix(text, theirWorkflows); ok {
			found[workflowsWorded] = true
			b = textOf(ourWorkflows + strings.TrimSuffix(in, theirEnd))
		}
		out = append(out, b)
	}
	return out
}

// The differences on purpose that are recognized in these files alone.
const (
	growthRefused   = "growth-refused"
	toolCallRefused = "tool-call-refused"
	summaryOfNone   = "summary-of-nothing"
	asksOnceMore    = "asks-once-more"
	overflowApart   = "overflow-told-apart"
	asShown         = "summarized-as-shown"
)

var wholeAnswer = []string{
	"action", "condenseId", "cost", "effective", "error", "messages", "messagesRemoved", "newContextTokens", "requests", "sameArray", "summary", "truncationId",
}

// summaryRules are the differences on purpose, those that change most first.
func summaryRules() []partRule {
	return []partRule{
		{growthRefused, wholeAnswer, managedCase.grows},
		{toolCallRefused, wholeAnswer, managedCase.callsTool},
		{summaryOfNone, append([]string{"request"}, wholeAnswer...), managedCase.beginsWithSummary},
		{hiddenCounted, []string{"effective", "messages", "messagesRemoved", "sameArray"}, managedCase.hiddenCounted},
		{asksOnceMore, []string{"requests"}, managedCase.noSummary},
		{overflowApart, []string{"error"}, managedCase.overflows},
		{asShown, []string{"request"}, managedCase.hides},
	}
}

// grows: the reference takes any summary, precis none that saves less than a
// fifth of what it replaces, or that is longer than it may be: here a third of
// what it replaces, 200 at least.
func (c managedCase) grows() bool {
	summary, _ := c.want["summary"].(string)
	size := utf8.RuneCountInString(summary)
	return size > 200 || size*100 > 80*c.shown()
}

// shown is the size of what is to be replaced, as most cases count.
func (c managedCase) shown() int {
	n := 0
	for _, i := range seen(c.history) {
		n += c.sizes[i]
	}
	return n
}

// callsTool: the reference drops the calls of an answer; precis takes an answer
// with one for no summary, unless every section is there.
func (c managedCase) callsTool() bool {
	return slices.ContainsFunc(c.Handler.Chunks, func(k scriptedChunk) bool { return k.Type == "tool_call" })
}

// beginsWithSummary: a summary with nothing before it stands for nothing, and is
// a message like any other.
func (c managedCase) beginsWithSummary() bool {
	return len(c.history) > 0 && c.history[0].IsSummary == true
}

func (c managedCase) hiddenCounted() bool {
	return c.want["action"] == "truncate" && deviateTruncate(c.input, c.output) == hiddenCounted
}

// noSummary: precis asks once more when the answer is none.
func (c managedCase) noSummary() bool {
	err, _ := c.want["error"].(map[string]any)
	return err["key"] == "condense_failed"
}

// overflows: when the summarizer refuses a conversation as too long, precis cuts
// it into parts, and says so when none is small enough; the reference fails with
// the provider's message.
func (c managedCase) overflows() bool {
	errs := []*thrown{c.Handler.OnCreate}
	for _, k := range c.Handler.Chunks {
		errs = append(errs, k.Throw)
	}
	return slices.ContainsFunc(errs, func(e *thrown) bool { return e != nil && e.err().Fault == model.FaultOverflow })
}

// hides: of the messages since the last summary the reference summarizes those
// that are hidden, too; precis summarizes what the model was shown.
func (c managedCase) hides() bool { return c.reworded[asShown] }

// leaveHidden takes the hidden messages out of the request that the reference
// makes. An open tool use among them is answered there, and not by precis.
func (c managedCase) leaveHidden() {
	request, ok := c.want["request"].(map[string]any)
	from := c.lastSummary()
	msgs, _ := request["messages"].([]any)
	if !ok || len(msgs) < len(c.history)-from {
		return
	}
	shown := map[int]bool{}
	for _, i := range seen(c.history) {
		shown[i] = true
	}
	var out []any
	for i, m := range msgs {
		if k := from + i; k >= len(c.history) || shown[k] || c.history[k].IsMarker && c.history[k].TruncationParent == "" {
			out = append(out, m)
		}
	}
	if len(out) < len(msgs) {
		request["messages"], c.reworded[asShown] = out, true
	}
}

func (c managedCase) lastSummary() int {
	for i := len(c.history) - 1; i > 0; i-- {
		if c.history[i].IsSummary != nil && c.history[i].IsSummary != false {
			return i
		}
	}
	return 0
}

// isNew reports whether a stored message is a summary made in the case.
func isNew(m map[string]any) bool {
	id, _ := m["condenseId"].(string)
	return m["isSummary"] == true && strings.HasPrefix(id, "ID")
}
