package conversation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/conversationtest"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

// homeOf is a home with one conversation, c1.
func homeOf(t *testing.T, window int, msgs ...precis.Message) conversation.Home {
	t.Helper()
	st := memory.New()
	head, err := st.Append(t.Context(), precis.Fingerprint{}, msgs...)
	if err != nil {
		t.Fatal(err)
	}
	rec := store.Record{ID: "c1", Dialect: "anthropic", Head: head, Messages: len(msgs), Requests: 1, Updated: time.Unix(1_700_000_000, 0)}
	if err := st.PutConversation(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return shelf.InStore(shelf.StoreOptions{Store: st, Manager: conversationtest.Frugal(t), Window: func(string) precis.Window {
		return precis.Window{Tokens: window, Source: precis.SourceConfigured}
	}})
}

func user(text string) precis.Message { return precis.NewText(precis.RoleUser, text) }

// call is a tool use and its result.
func call(id, name, input, result string, failed bool) []precis.Message {
	return []precis.Message{
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: name, Input: []byte(input)}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, IsError: failed, Content: []precis.Block{precis.Text{Text: result}}}}},
	}
}

func TestADigestHasAFocus(t *testing.T) {
	msgs := []precis.Message{user("Repair the parser.")}
	for i := range 100 {
		msgs = append(msgs, call(fmt.Sprint("x", i), "Bash", `{"command":"cat log"}`, strings.Repeat("nothing of note here\n", 40), false)...)
	}
	msgs = append(msgs, call("y", "Bash", `{"command":"cat other"}`, "pool: the connection pool has 17 idle members\nnothing of note here", false)...)
	msgs = append(msgs, call("z", "Bash", `{"command":"ls"}`, "a b c", false)...)
	h := homeOf(t, 200_000, msgs...)
	d, err := conversation.Digest(t.Context(), h, "c1", conversation.DigestOptions{Tokens: 300, Focus: "the connection pool"})
	if err != nil || d.Tokens > 300 {
		t.Fatal(d.Tokens, err)
	}
	if !strings.Contains(d.Text, "## About the connection pool") || !strings.Contains(d.Text, "17 idle members") {
		t.Errorf("the focus is missing:\n%s", d.Text)
	}
	if len(d.State.Commands) == 0 {
		t.Error("there is no state")
	}
	for _, o := range []conversation.DigestOptions{{Tokens: -1}, {Focus: strings.Repeat("x", 2001)}} {
		if _, err := conversation.Digest(t.Context(), h, "c1", o); precis.CodeOf(err) != precis.CodeInvalid {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := conversation.Digest(t.Context(), h, "c1", conversation.DigestOptions{Tokens: 1}); precis.CodeOf(err) != precis.CodeOverBudget {
		t.Errorf("a digest of one token: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := conversation.Digest(ended, h, "c1", conversation.DigestOptions{Focus: "pool"}); precis.CodeOf(err) != precis.CodeCanceled {
		t.Errorf("after the end: %v", err)
	}
}

func TestReadingInPieces(t *testing.T) {
	long := strings.Repeat("日本語のとても長い行 ", 3000) + "\n" + strings.Repeat("a short line\n", 500) + "\xff\xfe end"
	h := homeOf(t, 200_000, append([]precis.Message{user("Go.")}, call("1", "Read", `{"file_path":"big.txt"}`, long, false)...)...)
	var all strings.Builder
	o := conversation.ReadOptions{Lines: 50, Bytes: 5000}
	for reads := 0; ; reads++ {
		r, err := conversation.Read(t.Context(), h, "c1", precis.SpanHandle(0, 3), o)
		if err != nil || reads > 100 {
			t.Fatal(reads, err)
		}
		if len(r.Text) > 5000+10 || strings.Count(r.Text, "\n") > 50 || !utf8.ValidString(r.Text) {
			t.Fatalf("a piece has %d bytes and %d lines", len(r.Text), strings.Count(r.Text, "\n"))
		}
		all.WriteString(r.Text)
		if r.Next == 0 {
			break
		}
		if o.Offset = r.Next; o.Offset <= r.Offset {
			t.Fatalf("the next offset is %d after %d", r.Next, r.Offset)
		}
	}
	if want := strings.ToValidUTF8(long, "\uFFFD"); !strings.Contains(all.String(), want) {
		t.Error("the pieces are not the whole")
	}
	if !strings.Contains(all.String(), "[m2.b0, tool result Read big.txt, shown]\n") {
		t.Errorf("the head is missing: %.200s", all.String())
	}
	for _, o := range []conversation.ReadOptions{{Offset: -1}, {Lines: -1}, {Bytes: -1}, {Bytes: 1_000_001}, {Offset: 10_000_000}} {
		if _, err := conversation.Read(t.Context(), h, "c1", precis.MessageHandle(0), o); precis.CodeOf(err) != precis.CodeInvalid {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := conversation.Read(t.Context(), h, "c1", precis.MessageHandle(9), conversation.ReadOptions{}); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("a message that is not there: %v", err)
	}
}
