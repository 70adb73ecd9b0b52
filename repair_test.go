package precis_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/precistest"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// broken draws messages with everything an API refuses.
func broken(t *rapid.T) []precis.Message {
	id := rapid.SampledFrom([]string{"a", "b", "c", ""})
	served := func(kind, field, id string) precis.Block {
		return precis.Opaque{Type: kind, Raw: fmt.Appendf(nil, `{"type":%q,%q:%q}`, kind, field, id)}
	}
	block := rapid.Custom(func(t *rapid.T) precis.Block {
		switch rapid.IntRange(0, 7).Draw(t, "block") {
		case 5:
			return served("server_tool_use", "id", id.Draw(t, "id"))
		case 6:
			return served("web_fetch_tool_result", "tool_use_id", id.Draw(t, "id"))
		case 0:
			return precis.ToolUse{ID: id.Draw(t, "id"), Name: "n", Input: []byte("{}")}
		case 1:
			return precis.ToolResult{ToolUseID: id.Draw(t, "id"), Content: []precis.Block{precis.Text{Text: "result r"}}}
		case 2:
			return precis.Text{Text: rapid.SampledFrom([]string{"", " ", "x"}).Draw(t, "text")}
		case 3:
			return precis.Image{URL: "u"}
		case 4:
			return precis.Thinking{Text: "t"}
		}
		return precis.Text{Text: "y"}
	})
	message := rapid.Custom(func(t *rapid.T) precis.Message {
		return precis.Message{
			Role:    rapid.SampledFrom([]precis.Role{"user", "assistant", "user", "assistant", "system", "tool"}).Draw(t, "role"),
			Content: rapid.SliceOfN(block, 0, 4).Draw(t, "content"),
		}
	})
	return rapid.SliceOfN(message, 0, 12).Draw(t, "messages")
}

func TestRepairLeavesNoBreach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := broken(t)
		fixed, found := precis.Repair(msgs)
		if left := precis.Check(fixed); len(left) > 0 {
			t.Fatalf("%v\nrepaired to %v\nwhich has breaches %v", msgs, fixed, left)
		}
		if again, _ := precis.Repair(fixed); !reflect.DeepEqual(again, fixed) {
			t.Fatal("repairing twice changes more")
		}
		if len(found) == 0 && !reflect.DeepEqual(fixed, msgs) {
			t.Fatal("a valid list was changed")
		}
	})
}

func TestRepairLosesNoWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := broken(t)
		fixed, _ := precis.Repair(msgs)
		if was, is := said(msgs), said(fixed); is < was {
			t.Fatalf("%v\nrepaired to %v\nsays less: %d of %d", msgs, fixed, is, was)
		}
		for _, m := range fixed {
			if strings.Contains(strings.ReplaceAll(m.PlainText(), "[The recorded conversation begins with the assistant.]", ""), "result") && m.Role != precis.RoleAssistant {
				t.Fatalf("%v\nrepaired to %v\nputs what a tool gave back into words", msgs, fixed)
			}
		}
	})
}

// TestRepairedMessagesAreSound: what is repaired and written in any dialect is taken by its API.
func TestRepairedMessagesAreSound(t *testing.T) {
	header := http.Header{"Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"}}
	for path, d := range map[string]wire.Dialect{"/messages": anthropic.Dialect{}, "/chat/completions": chat.Dialect{}, "/responses": responses.Dialect{}} {
		t.Run(d.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				msgs := broken(t)
				formats := slices.DeleteFunc([]string{"", anthropic.Format, chat.Format, responses.Format}, func(s string) bool { return s == d.Name() })
				format := rapid.SampledFrom(formats).Draw(t, "format") // blocks of the dialect itself are written as they are, valid or not
				for i, m := range msgs {
					msgs[i].Format = format
					msgs[i].Content = slices.DeleteFunc(m.Content, func(b precis.Block) bool {
						return unnamed(b) || m.Role != precis.RoleAssistant && precis.IsReasoning(b)
					})
				}
				msgs = append(msgs, precis.NewText(precis.RoleUser, "go on"))
				fixed, _ := precis.Repair(msgs)
				written := d.AppendMessages(nil, fixed)
				var items []json.RawMessage
				if err := json.Unmarshal(written, &items); err != nil {
					t.Fatalf("%s: %v", written, err)
				}
				var read []precis.Message
				for _, item := range items {
					m, err := d.Decode(item)
					if err != nil {
						t.Fatalf("%s: %v", item, err)
					}
					read = append(read, m)
				}
				if left := d.Check(read); len(left) > 0 {
					t.Fatalf("%v\nrepaired to %v\nwritten as %s\nwhich has breaches %v", msgs, fixed, written, left)
				}
				limit := `"max_tokens":9,`
				if d.Name() == responses.Format {
					limit = ""
				}
				body := fmt.Appendf(nil, `{"model":"m",%s"tools":[{"name":"n","type":"function","function":{"name":"n"},"input_schema":{"type":"object"}}],%q:%s}`, limit, d.List(), written)
				if problem := providertest.Check(path, header, body); problem != "" {
					t.Fatalf("%v\nrepaired to %v\nwritten as %s\nwhich is refused: %s", msgs, fixed, written, problem)
				}
			})
		})
	}
}

// unnamed reports whether a block is half of a pair and without an ID, which no API takes.
func unnamed(b precis.Block) bool {
	switch b := b.(type) {
	case precis.ToolUse:
		return b.ID == ""
	case precis.ToolResult:
		return b.ToolUseID == ""
	}
	return false
}

// TestManyLateResults: results that stand far from their calls, and that answer one again and
// again, are mended in one walk. With the square of their number the test takes many minutes,
// and go test ends it.
func TestManyLateResults(t *testing.T) {
	for name, view := range map[string]func(n int) []precis.Message{
		"a chain": func(n int) []precis.Message {
			result := func(i int) precis.Block { return precis.ToolResult{ToolUseID: fmt.Sprint(i)} }
			msgs := []precis.Message{precis.NewText(precis.RoleUser, "go")}
			for i := range n { // each result stands two turns behind its call
				msgs = append(msgs, precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: fmt.Sprint(i), Name: "n"}}}, precis.NewText(precis.RoleUser, "on"))
				if i > 0 {
					msgs[len(msgs)-1].Content = append(msgs[len(msgs)-1].Content, result(i-1))
				}
			}
			return msgs
		},
		"one call": func(n int) []precis.Message {
			m := precis.Message{Role: precis.RoleUser}
			for range n {
				m.Content = append(m.Content, precis.ToolResult{ToolUseID: "a", Content: []precis.Block{precis.Text{Text: "r"}}})
			}
			return []precis.Message{precis.NewText(precis.RoleUser, "go"), {Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "a", Name: "n"}}}, m}
		},
	} {
		n := 1 << 16
		if testing.Short() {
			n = 1 << 9
		}
		msgs := view(n)
		said := precis.Check(msgs)
		last := &msgs[len(msgs)-1]
		last.Content = append(last.Content, precis.ToolResult{ToolUseID: "new"}) // what nobody answers for
		fixed, mended := precis.RepairNew(msgs, said)
		if left := precis.Check(fixed); len(mended) == 0 || len(left) > 0 {
			t.Errorf("%s: mended %v, and %d breaches are left", name, mended, len(left))
		}
	}
}

// said counts the words and results in messages, wherever they stand.
func said(msgs []precis.Message) int {
	n := 0
	for _, m := range msgs {
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.Text:
				n += strings.Count(b.Text, "x") + strings.Count(b.Text, "y")
			case precis.ToolResult:
				n += strings.Count(b.Text(), "result r")
			case precis.Image, precis.Thinking:
				n++
			}
		}
	}
	return n
}

func TestCheckNamesEachBreach(t *testing.T) {
	use := precis.Message{Role: "assistant", Content: []precis.Block{precis.ToolUse{ID: "1", Name: "n"}}}
	result := func(id string) precis.Block {
		return precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: "r"}}}
	}
	user := precis.NewText("user", "u")
	for _, tt := range []struct {
		rule string
		view []precis.Message
	}{
		{"role", []precis.Message{precis.NewText("assistant", "a")}},
		{"role", []precis.Message{{Role: "tool", Content: user.Content}}},
		{"role", []precis.Message{{Role: "user", Content: use.Content}}},
		{"empty", []precis.Message{{Role: "user"}}},
		{"empty", []precis.Message{precis.NewText("user", " \n")}},
		{"pairing", []precis.Message{user, use}},
		{"pairing", []precis.Message{user, use, user}},
		{"pairing", []precis.Message{{Role: "user", Content: []precis.Block{result("9")}}}},
		{"order", []precis.Message{user, use, {Role: "user", Content: []precis.Block{precis.Text{Text: "t"}, result("1")}}}},
		{"duplicate", []precis.Message{user, use, {Role: "user", Content: []precis.Block{result("1"), result("1")}}}},
		{"duplicate", []precis.Message{user, use, {Role: "user", Content: []precis.Block{result("1")}}, use, {Role: "user", Content: []precis.Block{result("1")}}}},
	} {
		b := precis.Check(tt.view)
		if len(b) == 0 || b[0].Rule != tt.rule {
			t.Errorf("%v: %v, want a breach of %s", tt.view, b, tt.rule)
		}
	}
	between := []precis.Message{user, use, {Role: "system", Content: user.Content}, {Role: "user", Content: []precis.Block{result("1")}}}
	if b := precis.Check(between); len(b) > 0 {
		t.Errorf("a system message between a call and its result: %v", b)
	}
	parallel := []precis.Message{user, {Role: "assistant", Content: []precis.Block{precis.ToolUse{ID: "1"}, precis.ToolUse{ID: "2"}}},
		{Role: "user", Content: []precis.Block{result("2")}}, {Role: "user", Content: []precis.Block{result("1"), precis.Text{Text: "t"}}}}
	if b := precis.Check(parallel); len(b) > 0 {
		t.Errorf("results in messages of their own are refused: %v", b)
	}
}

func TestGroupsNeverPartAPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := precistest.Conversation(t)
		for _, g := range precis.GroupStarts(msgs) {
			for side, part := range map[string][]precis.Message{"before": msgs[:g], "after": msgs[g:]} {
				for _, b := range precis.Check(part) {
					if b.Rule == "pairing" {
						t.Fatalf("cutting before message %d: %s part: %v", g, side, b)
					}
				}
			}
		}
	})
}

func ExampleCheck() {
	view := []precis.Message{
		precis.NewText(precis.RoleUser, "list the files"),
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "1", Name: "ls"}}},
		precis.NewText(precis.RoleUser, "stop"),
	}
	for _, b := range precis.Check(view) {
		fmt.Println(b)
	}
	fixed, _ := precis.Repair(view)
	fmt.Println(len(precis.Check(fixed)), "breaches after Repair")
	// Output:
	// message 1: pairing: tool use "1" has no result in the next turn
	// 0 breaches after Repair
}

// TestWhatWasSentIsNotMended: who sent the messages answers for them; what an edit broke is mended.
func TestWhatWasSentIsNotMended(t *testing.T) {
	msgs, err := anthropic.DecodeMessages([]byte(`[
		{"role":"user","content":"go"},
		{"role":"system","content":[],"output_config":{"effort":"medium"}},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}},{"type":"tool_use","id":"a","name":"n","input":{}}]},
		{"role":"user","content":[{"type":"text","text":" "},{"type":"tool_result","tool_use_id":"zz","content":"odd"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"n","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"fine"}]},
		{"role":"user","content":"on"}]`))
	if err != nil {
		t.Fatal(err)
	}
	said := precis.Check(msgs)
	if len(said) == 0 {
		t.Fatal("the messages are to have breaches")
	}
	view, mended := precis.RepairNew(msgs, said)
	if len(mended) > 0 || !reflect.DeepEqual(view, msgs) {
		t.Errorf("mended %v", mended)
	}
	for _, b := range said {
		if b.Message == 1 {
			t.Errorf("a message that sets something: %v", b)
		}
	}
	// The result of b is gone: that alone is mended.
	view, mended = precis.RepairNew(slices.Delete(slices.Clone(msgs), 5, 6), said)
	if len(mended) != 1 || !strings.Contains(mended[0].Detail, `"b"`) {
		t.Errorf("mended %v", mended)
	}
	sent := string(anthropic.AppendMessages(nil, view))
	for _, want := range []string{`"output_config":{"effort":"medium"}`, `"tool_use_id":"zz"`, `"text":" "`, `"tool_use_id":"b","content":"[No result`} {
		if !strings.Contains(sent, want) {
			t.Errorf("%s is missing: %s", want, sent)
		}
	}
	// Without anybody who answers for them all is mended, but for what sets something.
	if view, _ = precis.Repair(msgs); len(precis.Check(view)) > 0 || !strings.Contains(string(anthropic.AppendMessages(nil, view)), `"effort":"medium"`) {
		t.Errorf("%v", precis.Check(view))
	}
}
