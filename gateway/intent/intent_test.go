package intent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/responses"
)

func of(t *testing.T, d wire.Dialect, system, body string) intent.Intent {
	t.Helper()
	return read(t, intent.Request{Work: intent.Turn, Dialect: d, System: precis.NewText(precis.RoleSystem, system)}, body)
}

// read completes a request by its body.
func read(t *testing.T, r intent.Request, body string) intent.Intent {
	t.Helper()
	var err error
	if r.Body, err = wire.Parse([]byte(body), r.Dialect.List(), nil); err != nil {
		t.Fatal(err)
	}
	for i := range r.Body.Items() {
		m, err := r.Dialect.Decode(r.Body.Item(i))
		if err != nil {
			t.Fatal(err)
		}
		r.Messages = append(r.Messages, m)
	}
	return intent.Of(r)
}

func TestASummaryIsAskedFor(t *testing.T) {
	for last, want := range map[string]struct{ summary, program bool }{
		`{"role":"user","content":"Your task is to create a detailed summary of the conversation so far."}`:                                {summary: true},
		`{"role":"user","content":"Create a summary of the conversation so far, inside <summary> tags."}`:                                  {true, true},
		`{"role":"user","content":[{"type":"text","text":"You are performing a CONTEXT CHECKPOINT COMPACTION."}]}`:                         {true, true},
		`{"role":"user","content":"Write a summary of chapter two."}`:                                                                      {},
		`{"role":"assistant","content":"Your task is to create a detailed summary of the conversation so far."}`:                           {},
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"create a detailed summary of the conversation"}]}`:   {},
		`{"role":"user","content":"` + strings.Repeat("a page of text ", 2000) + `create a detailed summary of the conversation so far."}`: {},
	} {
		in := of(t, anthropic.Dialect{}, "", `{"tools":[],"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"},`+last+`]}`)
		if !in.Turn || in.Summary != want.summary || in.Program != want.program || in.SummaryOfText {
			t.Errorf("%.100s: %+v", last, in)
		}
	}
}

func TestASummaryOfTextIsAskedFor(t *testing.T) {
	long := strings.Repeat("a page of text ", 5000)
	for name, c := range map[string]struct {
		system, last string
		want         bool
	}{
		"system prompt": {"You are a context summarization agent.", long, true},
		"at the end":    {"", long + "Write a structured summary of the conversation above.", true},
		"a title":       {"", "Generate a title of three words for what follows: " + long, false},
	} {
		said, err := json.Marshal(c.last)
		if err != nil {
			t.Fatal(err)
		}
		if in := of(t, anthropic.Dialect{}, c.system, `{"messages":[{"role":"user","content":`+string(said)+`}]}`); in.Turn || in.SummaryOfText != c.want {
			t.Errorf("%s: %+v", name, in)
		}
	}
}

func TestWhatIsATurn(t *testing.T) {
	const one, four = `{"role":"user","content":"a"}`, `{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"}`
	for body, want := range map[string]bool{
		`{"messages":[` + one + `]}`:                            false,
		`{"tools":[{"name":"x"}],"messages":[` + one + `]}`:     true,
		`{"functions":[{"name":"x"}],"messages":[` + one + `]}`: true,
		`{"messages":[` + four + `]}`:                           true,
	} {
		if in := of(t, anthropic.Dialect{}, "", body); in.Turn != want || in.Stateful {
			t.Errorf("%s: %+v", body, in)
		}
	}
	for body, stateful := range map[string]bool{
		`{"tools":[],"input":[` + one + `]}`:                                            false,
		`{"tools":[],"previous_response_id":"r","input":[` + one + `]}`:                 true,
		`{"tools":[],"input":[` + one + `,{"type":"item_reference","id":"i"}]}`:         true,
		`{"tools":[],"conversation":"c","input":[` + one + `]}`:                         true,
		`{"tools":[],"input":[{"role":"user","content":"what is an item_reference?"}]}`: false,
	} {
		if in := of(t, responses.Dialect{}, "", body); in.Stateful != stateful || in.Turn == stateful || in.Refers != (stateful && !strings.Contains(body, "conversation")) {
			t.Errorf("%s: %+v", body, in)
		}
	}
}

func TestWhy(t *testing.T) {
	const hello = `{"role":"user","content":"Hello"}`
	for _, c := range []struct {
		work intent.Work
		body string
		why  string
	}{
		{intent.Turn, `{"input":[` + hello + `]}`, "aside"},
		{intent.Count, `{"input":[` + hello + `]}`, "count"},
		{intent.Compact, `{"input":[` + hello + `]}`, "compact"},
		{intent.Compact, `{"input":"Hello"}`, "no_messages"},
		{intent.Turn, `{"input":[]}`, "no_messages"},
		{intent.Turn, `{"previous_response_id":"r"}`, "stateful"},
		{intent.Count, `{"conversation":"c","input":[` + hello + `]}`, "stateful"},
		{intent.Turn, `{"input":[{"role":"user","content":"Write a structured summary of the conversation above."}]}`, "summary"},
		{intent.Turn, `{"input":[{"role":"user","content":"Hello"},{"type":"compaction_trigger"}]}`, "aside"},
	} {
		in := read(t, intent.Request{Work: c.work, Dialect: responses.Dialect{}}, c.body)
		if in.Why() != c.why || in.Work != c.work || in.Trigger != strings.Contains(c.body, "trigger") || in.Trigger && !in.Summary {
			t.Errorf("%s: %s is %q, want %q: %+v", c.work, c.body, in.Why(), c.why, in)
		}
	}
	for work, thread := range map[intent.Work]bool{intent.Turn: true, intent.Count: false} {
		if in := read(t, intent.Request{Work: work, Dialect: anthropic.Dialect{}}, `{"thread":{"id":"t"},"messages":[`+hello+`]}`); in.Thread != thread {
			t.Errorf("%s: %+v", work, in)
		}
	}
}
