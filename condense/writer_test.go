package condense_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/policy"
)

// fakeModel answers by a function, in a window of its own.
type fakeModel struct {
	info   model.Info
	answer func(model.Request) (string, error)

	mu       sync.Mutex
	requests []model.Request
}

func (m *fakeModel) Info() model.Info { return m.info }

func (m *fakeModel) Generate(_ context.Context, r model.Request) (model.Response, error) {
	m.mu.Lock()
	m.requests = append(m.requests, r)
	m.mu.Unlock()
	resp := model.Response{Attempts: 1, Usage: precis.Usage{Input: sizeOf(r), Output: 10}, CostUSD: 0.01}
	if w := m.info.Window.Tokens; w > 0 && sizeOf(r)+r.MaxTokens > w {
		return resp, &model.Error{Fault: model.FaultOverflow, Limit: w}
	}
	text, err := m.answer(r)
	resp.Text = text
	return resp, err
}

// sizeOf counts a request in tokens of four characters.
func sizeOf(r model.Request) int {
	n := len(r.System.PlainText())
	for _, m := range r.Messages {
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.Text:
				n += len(b.Text)
			case precis.ToolUse:
				n += len(b.Input)
			case precis.ToolResult:
				n += len(b.Text())
			}
		}
	}
	return n / 4
}

// brief is a summary in the sections of the template "brief".
const brief = "1. Goal: fix the parser.\n2. State: half done.\n3. Rules: none.\n4. Files: a.go.\n5. Next: test it."

func always(text string) func(model.Request) (string, error) {
	return func(model.Request) (string, error) { return text, nil }
}

func writer(t *testing.T, c condense.WriterConfig) *condense.Writer {
	t.Helper()
	if c.Prompt.Template == "" {
		c.Prompt.Template = "brief"
	}
	w, err := condense.NewWriter(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// talk is a conversation of n calls with results of so many characters.
func talk(n, size int) []precis.Message {
	msgs := []precis.Message{precis.NewText(precis.RoleUser, "fix the parser")}
	for i := range n {
		id := fmt.Sprint("c", i)
		msgs = append(msgs,
			precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "Read", Input: []byte(fmt.Sprintf(`{"path":"f%d.go"}`, i))}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: strings.Repeat(fmt.Sprintf("line of f%d\n", i), size/11)}}}}})
	}
	return msgs
}

func reasonOf(err error) precis.Reason {
	var r *policy.RungError
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

func TestWriterShowsTheConversationAsText(t *testing.T) {
	m := &fakeModel{answer: always(brief)}
	msgs := append(talk(2, 200), precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{
		precis.Thinking{Text: "secret thought", Signature: "s"}, precis.Text{Text: "I run it."}, precis.ToolUse{ID: "open", Name: "Bash", Input: []byte(`{"command":"make"}`)}}},
	)
	msgs[0].Content = append(msgs[0].Content, precis.Image{MediaType: "image/png", Data: "AAAA"})
	sum, err := writer(t, condense.WriterConfig{Model: m}).Summarize(t.Context(), policy.SummaryRequest{Messages: msgs, From: 10, Focus: "the lexer tables"})
	if err != nil || !strings.Contains(sum.Text, "fix the parser") {
		t.Fatalf("%q, %v", sum.Text, err)
	}
	if c := sum.Call; c == nil || c.Calls != 1 || c.CostUSD != 0.01 || c.Form != "compact" || c.Why == "" || c.Separate == false {
		t.Errorf("%+v", c)
	}
	r := m.requests[0]
	all := ""
	for _, msg := range r.Messages {
		all += msg.PlainText() + "\n"
		for _, b := range msg.Content {
			switch b.(type) {
			case precis.Text:
			default:
				t.Errorf("block %T is shown", b)
			}
		}
	}
	for _, want := range []string{"[m10]", "[m12]", "[Image]", "line of f0", "[Tool Use: Read]\npath: f0.go", condense.Deferred, "the lexer tables"} {
		if !strings.Contains(all, want) {
			t.Errorf("the request lacks %q", want)
		}
	}
	if strings.Contains(all, "secret thought") || r.Body != nil {
		t.Error("reasoning or a body is sent")
	}
	if last := r.Messages[len(r.Messages)-1]; last.Role != precis.RoleUser || r.System.PlainText() == "" {
		t.Errorf("last %+v, system %q", last, r.System.PlainText())
	}
}

func TestWriterAsksOnceMoreAndSaysWhy(t *testing.T) {
	answers := []string{"", brief}
	m := &fakeModel{}
	m.answer = func(model.Request) (string, error) { return answers[len(m.requests)-1], nil }
	sum, err := writer(t, condense.WriterConfig{Model: m}).Summarize(t.Context(), policy.SummaryRequest{Messages: talk(3, 500)})
	if err != nil || sum.Call.Calls != 2 || sum.CostUSD != 0.02 {
		t.Fatalf("%+v, %v", sum.Call, err)
	}
	first, second := m.requests[0].Messages, m.requests[1].Messages
	if len(first) != len(second) || first[len(first)-1].PlainText() == second[len(second)-1].PlainText() {
		t.Error("the second request does not say what was wrong")
	}
}

func TestWriterRidesOnTheLiveRequest(t *testing.T) {
	live := &policy.LiveRequest{Dialect: "anthropic", Model: "m1", Body: []byte(`{"model":"m1"}`)}
	view := talk(3, 500)
	for _, tt := range []struct {
		name string
		info model.Info
		live *policy.LiveRequest
		want string
	}{
		{"same model", model.Info{ID: "m1", Dialect: "anthropic"}, live, "cache"},
		{"another model", model.Info{ID: "m2", Dialect: "anthropic"}, live, "compact"},
		{"another dialect", model.Info{ID: "m1", Dialect: "chat"}, live, "compact"},
		{"no live request", model.Info{ID: "m1", Dialect: "anthropic"}, nil, "compact"},
	} {
		m := &fakeModel{info: tt.info, answer: always(brief)}
		sum, err := writer(t, condense.WriterConfig{Model: m}).Summarize(t.Context(), policy.SummaryRequest{Messages: view[:5], Live: tt.live, View: view})
		if err != nil {
			t.Fatal(err)
		}
		r := m.requests[0]
		if sum.Call.Form != tt.want || sum.Call.Why == "" || (r.Body != nil) != (tt.want == "cache") {
			t.Errorf("%s: %+v", tt.name, sum.Call)
		}
		if tt.want != "cache" {
			continue
		}
		for i, msg := range view { // the prefix is the live one's
			if precis.HashMessage(r.Messages[i]) != precis.HashMessage(msg) {
				t.Errorf("message %d of the prefix differs", i)
			}
		}
		if len(r.Messages) != len(view)+1 {
			t.Errorf("%d messages", len(r.Messages))
		}
	}
}

func TestWriterFallsBackToTheCompactForm(t *testing.T) {
	m := &fakeModel{info: model.Info{ID: "m1", Dialect: "anthropic", Window: precis.Window{Tokens: 6000}}, answer: always(brief)}
	view := talk(8, 4000)
	sum, err := writer(t, condense.WriterConfig{Model: m, MaxTokens: 500}).Summarize(t.Context(),
		policy.SummaryRequest{Messages: view[:5], Live: &policy.LiveRequest{Dialect: "anthropic", Model: "m1", Body: []byte(`{}`)}, View: view})
	if err != nil || sum.Call.Form != "compact" || sum.Call.Calls != 2 {
		t.Errorf("%+v, %v", sum.Call, err)
	}
}

func TestWriterSummarizesInPartsWhatDoesNotFit(t *testing.T) {
	for _, known := range []bool{true, false} { // with an unknown window it learns from the refusal
		m := &fakeModel{answer: always(brief)}
		window := 4000
		if known {
			m.info.Window.Tokens = window
		} else {
			m.answer = func(r model.Request) (string, error) {
				if sizeOf(r)+r.MaxTokens > window {
					return "", &model.Error{Fault: model.FaultOverflow, Limit: window}
				}
				return brief, nil
			}
		}
		msgs := talk(60, 900)
		msgs = append(msgs, precis.NewText(precis.RoleUser, strings.Repeat("a very long demand of the user ", 2000)))
		sum, err := writer(t, condense.WriterConfig{Model: m, MaxTokens: 400}).Summarize(t.Context(), policy.SummaryRequest{Messages: msgs})
		if err != nil {
			t.Fatal(err)
		}
		if sum.Call.Form != "parts" || sum.Call.Calls < 4 {
			t.Errorf("known %v: %+v", known, sum.Call)
		}
		all := ""
		for _, r := range m.requests {
			if known && sizeOf(r)+r.MaxTokens > window {
				t.Errorf("a request of %d tokens is sent to a window of %d", sizeOf(r)+r.MaxTokens, window)
			}
			for _, msg := range r.Messages {
				all += msg.PlainText()
			}
		}
		for i := range 60 {
			if !strings.Contains(all, fmt.Sprintf("path: f%d.go", i)) {
				t.Errorf("call %d was shown to nobody", i)
			}
		}
	}
}

// The catalog may know a larger window of the conversation's own model than its server has, or than
// the user has set.
func TestOwnModelHasTheWindowOfTheRequest(t *testing.T) {
	const window = 4000
	for own, form := range map[bool]string{true: "parts", false: "compact"} {
		m := &fakeModel{info: model.Info{ID: "m1", Window: precis.Window{Tokens: 200_000}}, answer: always(brief)}
		c := condense.WriterConfig{Own: func(context.Context, *policy.LiveRequest) model.Model { return m }, MaxTokens: 400}
		if !own {
			c = condense.WriterConfig{Model: m, MaxTokens: 400}
		}
		sum, err := writer(t, c).Summarize(t.Context(), policy.SummaryRequest{Messages: talk(60, 900), Live: &policy.LiveRequest{Model: "m1", Window: window}})
		if err != nil || sum.Call.Form != form {
			t.Errorf("own %v: %+v, %v", own, sum.Call, err)
		}
		for _, r := range m.requests {
			if size := sizeOf(r) + r.MaxTokens; own && size > window {
				t.Errorf("a request of %d tokens is sent to a window of %d", size, window)
			}
		}
	}
}

func TestWriterGivesUpOnAWindowThatHoldsNothing(t *testing.T) {
	m := &fakeModel{info: model.Info{Window: precis.Window{Tokens: 300}}, answer: always(brief)}
	_, err := writer(t, condense.WriterConfig{Model: m, MaxTokens: 200}).Summarize(t.Context(), policy.SummaryRequest{Messages: talk(5, 4000)})
	if reasonOf(err) != condense.ReasonTooLong {
		t.Errorf("%v", err)
	}
}

func TestWriterPaysNothingTwice(t *testing.T) {
	m := &fakeModel{answer: always(brief)}
	w := writer(t, condense.WriterConfig{Model: m, Cache: condense.NewCache(0)})
	ask := func(r policy.SummaryRequest) *precis.CallReport {
		sum, err := w.Summarize(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return sum.Call
	}
	msgs := talk(3, 500)
	if c := ask(policy.SummaryRequest{Messages: msgs}); c.Cached {
		t.Error("cached at once")
	}
	if c := ask(policy.SummaryRequest{Messages: msgs}); !c.Cached || c.CostUSD != 0 || c.Calls != 0 {
		t.Errorf("paid twice: %+v", c)
	}
	for name, r := range map[string]policy.SummaryRequest{
		"another focus": {Messages: msgs, Focus: "x"}, "another place": {Messages: msgs, From: 4}, "other messages": {Messages: msgs[:3]}, "another previous": {Messages: msgs, Previous: "p"},
	} {
		if c := ask(r); c.Cached {
			t.Errorf("%s: the old summary is used", name)
		}
	}
}

func TestCacheForgetsWhatWasNotUsedForLongest(t *testing.T) {
	c := condense.NewCache(10)
	key := func(b byte) precis.Fingerprint { return precis.Fingerprint{b} }
	keep := func(b byte, text string) {
		if err := c.KeepSummary(t.Context(), key(b), text); err != nil {
			t.Error(err)
		}
	}
	keep(1, "12345")
	keep(2, "12345")
	if _, err := c.Summary(t.Context(), key(1)); err != nil { // used again
		t.Error(err)
	}
	keep(3, "12345")
	keep(4, "larger than the cache")
	for b, want := range map[byte]bool{1: true, 2: false, 3: true, 4: false} {
		if _, err := c.Summary(t.Context(), key(b)); (err == nil) != want {
			t.Errorf("%d is kept: %v", b, err)
		}
	}
}

func TestWriterFallsBackToTheOwnModel(t *testing.T) {
	broken := &fakeModel{info: model.Info{ID: "cheap"}, answer: func(model.Request) (string, error) {
		return "", &model.Error{Fault: model.FaultAuth, Status: 401}
	}}
	own := &fakeModel{info: model.Info{ID: "own"}, answer: always(brief)}
	sum, err := writer(t, condense.WriterConfig{Model: broken, Fallback: own}).Summarize(t.Context(), policy.SummaryRequest{Messages: talk(3, 500)})
	if err != nil {
		t.Fatal(err)
	}
	if c := sum.Call; c.Model != "own" || c.Separate || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "cheap") || c.Calls != 2 || c.CostUSD != 0.02 {
		t.Errorf("%+v", c)
	}
	_, err = writer(t, condense.WriterConfig{Model: broken}).Summarize(t.Context(), policy.SummaryRequest{Messages: talk(3, 500)})
	var r *policy.RungError
	if !errors.As(err, &r) || r.Reason != condense.ReasonCallFailed || r.Call == nil || r.Call.CostUSD != 0.01 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestHooks(t *testing.T) {
	var told []condense.HookEvent
	for _, tt := range []struct {
		name   string
		hooks  condense.Hooks
		reason precis.Reason
		text   string
		warned bool
	}{
		{"they add and edit", condense.Hooks{
			Before: func(_ context.Context, e condense.HookEvent) (string, error) {
				told = append(told, e)
				return "ticket ABC-1", nil
			},
			After: func(_ context.Context, e condense.HookEvent) (string, error) { return e.Summary + "\nedited", nil },
		}, "", "edited", false},
		{"veto before", condense.Hooks{Before: func(context.Context, condense.HookEvent) (string, error) { return "", condense.ErrVeto }}, condense.ReasonVetoed, "", false},
		{"veto after", condense.Hooks{After: func(context.Context, condense.HookEvent) (string, error) { return "", condense.ErrVeto }}, condense.ReasonVetoed, "", false},
		{"a failing one is passed over", condense.Hooks{After: func(context.Context, condense.HookEvent) (string, error) { return "", errors.New("no such program") }}, "", "half done", true},
		{"an empty one is passed over", condense.Hooks{After: func(context.Context, condense.HookEvent) (string, error) { return " ", nil }}, "", "half done", true},
	} {
		m := &fakeModel{info: model.Info{ID: "m"}, answer: always(brief)}
		sum, err := writer(t, condense.WriterConfig{Model: m, Hooks: tt.hooks}).Summarize(t.Context(), policy.SummaryRequest{Messages: talk(3, 500), Automatic: true})
		if reasonOf(err) != tt.reason || !strings.Contains(sum.Text, tt.text) {
			t.Errorf("%s: %q, %v", tt.name, sum.Text, err)
		}
		if err == nil && (len(sum.Call.Warnings) > 0) != tt.warned {
			t.Errorf("%s: warnings %v", tt.name, sum.Call.Warnings)
		}
		if tt.name == "they add and edit" {
			last := m.requests[0].Messages[len(m.requests[0].Messages)-1].PlainText()
			if !strings.Contains(last, "ticket ABC-1") || len(told) != 1 || told[0].Messages != 7 || !told[0].Automatic || told[0].Model != "m" {
				t.Errorf("told %+v", told)
			}
		}
	}
}

func TestNewWriterNamesWhatIsWrong(t *testing.T) {
	m := &fakeModel{}
	for want, c := range map[string]condense.WriterConfig{
		"Model": {}, "MaxTokens": {Model: m, MaxTokens: -1}, "emplate": {Model: m, Prompt: condense.Prompt{Template: "ten"}},
	} {
		if _, err := condense.NewWriter(c); precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if !slices.Contains(condense.Templates(), "nine") {
		t.Error("no template nine")
	}
}

func TestSelfCheckScoresTheSummary(t *testing.T) {
	for answer, want := range map[string]int{"SCORE: 80\nThe port is missing.": 80, "Score 30": 30, "95": 95, "It is fine.": -1, "SCORE: 400": -1} {
		m := &fakeModel{}
		m.answer = func(r model.Request) (string, error) {
			if len(m.requests) == 1 {
				return brief, nil
			}
			if last := r.Messages[len(r.Messages)-1].PlainText(); !strings.Contains(last, "half done") {
				t.Errorf("the check is not shown the summary: %q", last)
			}
			return answer, nil
		}
		sum, err := writer(t, condense.WriterConfig{Model: m, SelfCheck: true}).Summarize(t.Context(), policy.SummaryRequest{Messages: talk(3, 500)})
		if err != nil {
			t.Fatal(err)
		}
		got := -1
		if sum.Call.Score != nil {
			got = *sum.Call.Score
		}
		if got != want || (len(sum.Call.Warnings) > 0) != (want < 50) || sum.CostUSD != 0.02 {
			t.Errorf("%q: score %d, warnings %v, $%g", answer, got, sum.Call.Warnings, sum.CostUSD)
		}
	}
}
