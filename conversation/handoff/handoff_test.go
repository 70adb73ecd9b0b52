package handoff_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/handoff"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

// homeOf is a home with one conversation, c1.
func homeOf(t *testing.T, window int, msgs ...precis.Message) conversation.Home {
	t.Helper()
	m, err := preset.New(preset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	st := memory.New()
	head, err := st.Append(t.Context(), precis.Fingerprint{}, msgs...)
	if err != nil {
		t.Fatal(err)
	}
	rec := store.Record{ID: "c1", Dialect: "anthropic", Head: head, Messages: len(msgs), Requests: 1, Updated: time.Unix(1_700_000_000, 0)}
	if err := st.PutConversation(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return shelf.InStore(shelf.StoreOptions{Store: st, Manager: m, Window: func(string) precis.Window {
		return precis.Window{Tokens: window, Source: precis.SourceConfigured}
	}})
}

func user(text string) precis.Message      { return precis.NewText(precis.RoleUser, text) }
func assistant(text string) precis.Message { return precis.NewText(precis.RoleAssistant, text) }

// call is a tool use and its result.
func call(id, name, input, result string, failed bool) []precis.Message {
	return []precis.Message{
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: name, Input: []byte(input)}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, IsError: failed, Content: []precis.Block{precis.Text{Text: result}}}}},
	}
}

// work is a conversation with everything in it that a brief names.
func work() []precis.Message {
	out := []precis.Message{user("Repair the parser.\n## Rules\nNever touch the lexer.")}
	out = append(out, call("1", "TodoWrite", `{"todos":[{"content":"find the fault","status":"completed"},{"content":"write a test","status":"pending"}]}`, "ok", false)...)
	out = append(out, call("2", "Read", `{"file_path":"src/parser.go"}`, "package parser", false)...)
	out = append(out, assistant("The root cause is that the buffer is read twice. A second pass didn't help. Shall I split the file or keep it whole, what do you prefer?"), user("keep it whole"))
	out = append(out, call("3", "Write", `{"file_path":"src/parser.go","content":"package parser // new"}`, "File written", false)...)
	out = append(out, call("4", "Bash", `{"command":"go test ./..."}`, "Exit code 1\n--- FAIL: TestParse", true)...)
	out = append(out, call("5", "Bash", `{"command":"git switch -c repair"}`, "Switched to a new branch 'repair'", false)...)
	return append(out, assistant("One test fails still."), user("Then repair that, too."))
}

func TestABriefNamesWhatWasSaidAndDone(t *testing.T) {
	h := homeOf(t, 50_000, work()...)
	for _, format := range handoff.Formats() {
		b, err := handoff.Write(t.Context(), h, "c1", handoff.Options{Goal: "finish the parser", Format: format})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"finish the parser", "m0: Never touch the lexer.", "m14: Then repair that, too.", "the user said \"keep it whole\" after",
			"root cause is that the buffer", "go test ./...: failed", "write a test", "written", "c1",
			"branch repair",
		} {
			if !strings.Contains(b.Text, want) {
				t.Errorf("%s: %q is missing in\n%s", format, want, b.Text)
			}
		}
		if strings.Contains(b.Text, "\n## Rules\n") {
			t.Errorf("%s: a request made a heading:\n%s", format, b.Text)
		}
		mention := map[string]string{"claude-code": " @src/parser.go", "cline": " @/src/parser.go", "roo": " @/src/parser.go", "codex": "`src/parser.go`", "markdown": " src/parser.go"}[format]
		if !strings.Contains(b.Text, mention) {
			t.Errorf("%s: no %q in\n%s", format, mention, b.Text)
		}
		if headed := strings.Contains(b.Text, "\n3. Relevant Files and Code:\n"); headed != (format == "cline") {
			t.Errorf("%s: headings of Cline: %v", format, headed)
		}
	}
}

func TestABriefKeepsItsSize(t *testing.T) {
	msgs := work()
	for i := range 200 {
		msgs = append(msgs, call(fmt.Sprint("x", i), "Bash", fmt.Sprintf(`{"command":"make part%d"}`, i), strings.Repeat("line of output\n", 50), false)...)
		msgs = append(msgs, user(fmt.Sprintf("Always mind rule %d, %s", i, strings.Repeat("and more ", 30))))
	}
	h := homeOf(t, 50_000, msgs...)
	sizes, formats := []int{200, 300, 1000, 5000}, handoff.Formats()
	if testing.Short() {
		sizes, formats = sizes[1:3], formats[:1]
	}
	for _, size := range sizes {
		for _, format := range formats {
			b, err := handoff.Write(t.Context(), h, "c1", handoff.Options{Tokens: size, Format: format, Goal: strings.Repeat("long goal ", 300)})
			if err != nil {
				t.Fatal(err)
			}
			if b.Tokens > size || !strings.Contains(b.Text, "Where to look") {
				t.Errorf("%s: %d tokens, at most %d:\n%s", format, b.Tokens, size, b.Text)
			}
		}
	}
}

func TestABriefRefusesBadOptions(t *testing.T) {
	h := homeOf(t, 50_000, work()...)
	for _, o := range []handoff.Options{{Tokens: 199}, {Tokens: -1}, {Format: "word"}, {Goal: strings.Repeat("x", 4001)}} {
		if _, err := handoff.Write(t.Context(), h, "c1", o); precis.CodeOf(err) != precis.CodeInvalid {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := handoff.Write(t.Context(), h, "c2", handoff.Options{}); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("an unknown conversation: %v", err)
	}
	b, err := handoff.Write(t.Context(), h, "c1", handoff.Options{})
	if err != nil || b.Goal != "Then repair that, too." {
		t.Errorf("without a goal: %q, %v", b.Goal, err)
	}
}
