package precis_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/wire/responses"
)

// pairsIn writes pairs as "result>call".
func pairsIn(msgs []precis.Message) string {
	p := precis.PairsOf(msgs)
	var out []string
	for i, m := range msgs {
		for b := range m.Content {
			if call, ok := p.Call(precis.BlockHandle(i, b)); ok {
				out = append(out, fmt.Sprintf("%s>%s", precis.BlockHandle(i, b), call))
			}
		}
	}
	return strings.Join(out, " ")
}

func TestPairs(t *testing.T) {
	use := func(ids ...string) precis.Message {
		m := precis.Message{Role: precis.RoleAssistant}
		for _, id := range ids {
			m.Content = append(m.Content, precis.ToolUse{ID: id, Name: "n"})
		}
		return m
	}
	result := func(ids ...string) precis.Message {
		m := precis.Message{Role: precis.RoleUser}
		for _, id := range ids {
			m.Content = append(m.Content, precis.ToolResult{ToolUseID: id})
		}
		return m
	}
	item := func(role precis.Role, kind, raw string) precis.Message {
		return precis.Message{Role: role, Content: []precis.Block{precis.Opaque{Type: kind, Raw: []byte(raw)}}}
	}
	user := precis.NewText(precis.RoleUser, "go on")
	for name, tt := range map[string]struct {
		msgs []precis.Message
		want string
	}{
		"in any order":                        {[]precis.Message{use("a", "b"), result("b", "a")}, "m1.b0>m0.b1 m1.b1>m0.b0"},
		"one ID twice in an answer":           {[]precis.Message{use("a", "a"), result("a"), result("a")}, "m1.b0>m0.b0 m2.b0>m0.b1"},
		"no IDs":                              {[]precis.Message{use("", ""), result("", "")}, "m1.b0>m0.b0 m1.b1>m0.b1"},
		"no IDs, and one call never answered": {[]precis.Message{use("", ""), result(""), use(""), result("")}, "m1.b0>m0.b0 m3.b0>m2.b0"},
		"an ID is used again":                 {[]precis.Message{use("a"), result("a"), use("a"), result("a")}, "m1.b0>m0.b0 m3.b0>m2.b0"},
		"again, the first never answered":     {[]precis.Message{use("a"), user, use("a"), result("a")}, "m3.b0>m2.b0"},
		"a late result":                       {[]precis.Message{use("a"), user, use("b"), result("b", "a")}, "m3.b0>m2.b0 m3.b1>m0.b0"},
		"two results of one call":             {[]precis.Message{use("a"), result("a"), user, result("a")}, "m1.b0>m0.b0 m3.b0>m0.b0"},
		"results without calls":               {[]precis.Message{result("x", ""), use("a")}, ""},
		"a result before its call":            {[]precis.Message{result("a"), use("a")}, ""},
		"words of the user between":           {[]precis.Message{use("a"), user, result("a")}, "m2.b0>m0.b0"},
		"a server's tool":                     {[]precis.Message{item("assistant", "server_tool_use", `{"id":"s","type":"x"}`), user, item("assistant", "web_fetch_tool_result", `{"tool_use_id":"s"}`)}, "m2.b0>m0.b0"},
		"a server's tool is none of ours":     {[]precis.Message{item("assistant", "server_tool_use", `{"id":"a"}`), result("a")}, ""},
		"items without IDs, by their type": {[]precis.Message{
			item("assistant", "web_search_call", `{}`), item("assistant", "tool_search_call", `{"call_id":null}`), item("assistant", "tool_search_call", `{}`),
			item("user", "tool_search_output", `{}`), item("user", "tool_search_output", `{}`)}, "m3.b0>m1.b0 m4.b0>m2.b0"},
		"not JSON": {[]precis.Message{item("assistant", "x_call", "\xff"), item("user", "x_output", "[")}, "m1.b0>m0.b0"},
	} {
		if got := pairsIn(tt.msgs); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestPairsAreCausal: what a result answers does not depend on what is said later.
func TestPairsAreCausal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := broken(t)
		n := rapid.IntRange(0, len(msgs)).Draw(t, "n")
		if before, after := pairsIn(msgs[:n]), pairsIn(msgs); !strings.HasPrefix(after, before) {
			t.Fatalf("%v\nat %d: %s\nat the end: %s", msgs, n, before, after)
		}
	})
}

// TestRepairBringsResultsToTheirCalls: what a tool gave back is found with its call, under the
// ID of that call, and never in words.
func TestRepairBringsResultsToTheirCalls(t *testing.T) {
	use := func(ids ...string) precis.Message {
		m := precis.Message{Role: precis.RoleAssistant}
		for k, id := range ids {
			m.Content = append(m.Content, precis.ToolUse{ID: id, Name: fmt.Sprint("tool", k)})
		}
		return m
	}
	result := func(id, text string) precis.Block {
		return precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: text}}}
	}
	from := func(blocks ...precis.Block) precis.Message {
		return precis.Message{Role: precis.RoleUser, Content: blocks}
	}
	user := precis.NewText(precis.RoleUser, "go on")
	served := func(kind, id string) precis.Block {
		return precis.Opaque{Type: kind, Raw: fmt.Appendf(nil, `{"type":%q,"id":%q,"tool_use_id":%q,"name":"fetch"}`, kind, id, id)}
	}
	for name, tt := range map[string]struct {
		msgs []precis.Message
		want string
	}{
		"one ID twice": {[]precis.Message{user, use("a", "a"), from(result("a", "A"), result("a", "B"))},
			`user "go on" | assistant tool0(a) tool1(a_2) | user a="A" a_2="B"`},
		"no IDs": {[]precis.Message{user, use("", ""), from(result("", "A")), from(result("", "B"))},
			`user "go on" | assistant tool0() tool1(_2) | user ="A" _2="B"`},
		"a late result": {[]precis.Message{user, use("a"), user, use("b"), from(result("b", "B"), result("a", "A"))},
			`user "go on" | assistant tool0(a) | user a="A" "go on" | assistant tool0(b) | user b="B"`},
		"two results": {[]precis.Message{user, use("a"), from(result("a", "A")), use("b"), from(result("b", "B"), result("a", "C"))},
			`user "go on" | assistant tool0(a) | user a="AC" | assistant tool0(b) | user b="B"`},
		"a result alone": {[]precis.Message{from(result("x", "X"), precis.Text{Text: "and?"})},
			`user "[The recorded conversation begins with the assistant.]" | assistant unrecorded_call(x) | user x="X" "and?"`},
		"one alone beside another": {[]precis.Message{user, use("a"), from(result("a", "A"), result("x", "X"))},
			`user "go on" | assistant tool0(a) | user a="A" | assistant unrecorded_call(x) | user x="X"`},
		"one in the assistant's turn": {[]precis.Message{user, {Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "a", Name: "tool0"}, result("a", "A"), result("x", "X"), precis.Text{Text: "so"}}}},
			`user "go on" | assistant tool0(a) "so" | user a="A" | assistant unrecorded_call(x) | user x="X"`},
		"a server's tool, parted": {[]precis.Message{user, {Role: precis.RoleAssistant, Content: []precis.Block{served("server_tool_use", "s"), precis.Text{Text: "so"}}}, user, {Role: precis.RoleAssistant, Content: []precis.Block{served("web_fetch_tool_result", "t")}}},
			`user "go on" | assistant "[server_tool_use without its result: fetch s]" "so" | user "go on" | assistant "[web_fetch_tool_result without its call: t]"`},
		"a server's tool that is at work": {[]precis.Message{user, {Role: precis.RoleAssistant, Content: []precis.Block{served("server_tool_use", "s"), precis.ToolUse{ID: "a", Name: "tool0"}}}, from(result("a", "A"))},
			`user "go on" | assistant server_tool_use tool0(a) | user a="A"`},
	} {
		fixed, _ := precis.Repair(tt.msgs)
		if got := written(fixed); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, tt.want)
		}
	}
}

// TestItemsThatAnswerNothingStayAsTheyAre: an output that names no call is the program's own item, whatever stands around it.
func TestItemsThatAnswerNothingStayAsTheyAre(t *testing.T) {
	item := func(raw string) precis.Message {
		m, err := responses.DecodeMessage([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	goal := item(`{"type":"function_call_output","name":"goal","namespace":"agent","output":"Paint.","id":"fco_1"}`)
	msgs := []precis.Message{precis.NewText(precis.RoleUser, "[Digest of messages m1-m9]"), goal,
		item(`{"type":"function_call","call_id":"a","name":"n","arguments":"{}"}`), precis.NewText(precis.RoleUser, "on"), item(`{"type":"function_call_output","call_id":"a","output":"A"}`)}
	for _, stored := range []bool{false, true} {
		if stored {
			data, err := json.Marshal(msgs)
			if err != nil {
				t.Fatal(err)
			}
			msgs = nil
			if err := json.Unmarshal(data, &msgs); err != nil {
				t.Fatal(err)
			}
		}
		fixed, breaches := precis.Repair(msgs)
		out := string(responses.AppendMessages(nil, fixed))
		if strings.Contains(out, "unrecorded_call") || !strings.Contains(out, string(goal.Raw)) || len(breaches) == 0 {
			t.Errorf("stored %t: %v\n%s", stored, breaches, out)
		}
		if left := precis.Check(fixed); len(left) > 0 {
			t.Errorf("stored %t: %v", stored, left)
		}
	}
}

// written writes messages in a line.
func written(msgs []precis.Message) string {
	var all []string
	for _, m := range msgs {
		out := []string{string(m.Role)}
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.Text:
				out = append(out, fmt.Sprintf("%q", b.Text))
			case precis.ToolUse:
				out = append(out, fmt.Sprintf("%s(%s)", b.Name, b.ID))
			case precis.ToolResult:
				out = append(out, fmt.Sprintf("%s=%q", b.ToolUseID, strings.ReplaceAll(b.Text(), "\n", "")))
			case precis.Opaque:
				out = append(out, b.Type)
			}
		}
		all = append(all, strings.Join(out, " "))
	}
	return strings.Join(all, " | ")
}
