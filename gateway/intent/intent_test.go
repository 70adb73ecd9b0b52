package intent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"precis"
	"precis/gateway/intent"
	"precis/wire"
	"precis/wire/anthropic"
	"precis/wire/responses"
)

func of(t *testing.T, d wire.Dialect, system, body string, last ...string) intent.Intent {
	t.Helper()
	b, err := wire.Parse([]byte(body), d.List(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var msgs []precis.Message
	for i := range b.Items() {
		m, err := d.Decode(b.Item(i))
		if err != nil {
			t.Fatal(err)
		}
		msgs = append(msgs, m)
	}
	return intent.Of(intent.Request{Turns: true, Dialect: d, Body: b, System: precis.NewText(precis.RoleSystem, system), Messages: msgs})
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
