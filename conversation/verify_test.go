package conversation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/conversationtest"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

// worked is a conversation with a rule by a person and written files.
func worked(rule, file string) []precis.Message {
	out := []precis.Message{precis.NewText(precis.RoleUser, rule+" Raise the timeout of the client, please, and write a test for it.")}
	for i := range 6 {
		id := fmt.Sprint("t", i)
		out = append(out,
			precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{
				precis.Text{Text: fmt.Sprintf("I write part %d of the client.", i)},
				precis.ToolUse{ID: id, Name: "Write", Input: fmt.Appendf(nil, `{"file_path":"/src/%s%d.go","content":"package client // part %d\n%s"}`, file, i, i, strings.Repeat("// and so on\n", 20))}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: "the file was written"}}}}})
	}
	return append(out, precis.NewText(precis.RoleAssistant, "The timeout of the client is 30 seconds now."))
}

// put stores a conversation, and returns what the test may change.
func put(t *testing.T, st *memory.Store, owner string, rec store.Record, msgs []precis.Message, edits ...precis.Edit) {
	t.Helper()
	scope := st.Scope(owner)
	head, err := scope.Append(t.Context(), precis.Fingerprint{}, msgs...)
	if err != nil {
		t.Fatal(err)
	}
	after := ""
	for _, e := range edits {
		if err := scope.AddEdit(t.Context(), after, e); err != nil {
			t.Fatal(err)
		}
		after = e.ID
	}
	rec.Head, rec.Messages, rec.Created = head, len(msgs), time.Unix(1, 0)
	if err := scope.(store.Lister).PutConversation(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
}

func verified(t *testing.T, h conversation.Home, id string, o conversation.VerifyOptions) conversation.Verified {
	t.Helper()
	v, err := conversation.Verify(t.Context(), h, id, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func lacking(v conversation.Verified, kind string) (out []string) {
	for _, l := range v.Lacks {
		if l.Kind == kind {
			out = append(out, l.Text)
		}
	}
	return out
}

func inStore(t *testing.T, st *memory.Store, owner string) conversation.Home {
	return shelf.InStore(shelf.StoreOptions{Store: st, Owner: owner, Manager: conversationtest.Frugal(t)})
}

// A compaction that a recording holds is compared with what came before it; one of precis is
// none of the client's, also when it is newer.
func TestVerifyOfARecordedCompaction(t *testing.T) {
	c := &precis.Conversation{Transcript: &precis.Transcript{}}
	for _, m := range worked("Never touch main.go.", "client") {
		c.Transcript.Append(m)
	}
	to := c.Transcript.Len()
	summary := precis.NewText(precis.RoleUser, "The agent raised the timeout of the client and wrote client0.go. It stops with ERR_NO_DATABASE in production.")
	if err := archive.RecordCondensation(c, to, []precis.Message{summary}, time.Unix(1, 0), precis.EditReport{}); err != nil {
		t.Fatal(err)
	}
	c.Transcript.Append(precis.NewText(precis.RoleUser, "Always answer in French. Go on."))
	own := precis.Edit{Kind: precis.KindCondensation, Replace: []precis.Replacement{{From: 1, To: 3, With: []precis.Message{precis.NewText(precis.RoleUser, "by precis")}}}, Report: precis.EditReport{Trigger: string(precis.TriggeredManual)}}
	if err := own.Identify(c.Transcript); err != nil {
		t.Fatal(err)
	}
	st := memory.New()
	put(t, st, "", store.Record{ID: "c1"}, c.Transcript.Messages(), c.Edits[0], own)
	h := inStore(t, st, "")
	v := verified(t, h, "c1", conversation.VerifyOptions{})
	if v.What != "the compaction behind message m13" || v.Messages != to || v.Of != "" || v.HandlesOf() != "c1" || len(lacking(v, "words")) != 1 || !strings.HasPrefix(lacking(v, "words")[0], "Never touch main.go. … ") || len(lacking(v, "files")) != 5 || len(v.Invents) != 1 {
		t.Errorf("%+v", v)
	}
	want := digest.Verify(policy.SummaryRequest{Conversation: c, Messages: c.Transcript.Messages()[:to], Previous: summary.PlainText() + "\n"}, "", nil)
	if fmt.Sprint(v.Kinds, v.Lacks) != fmt.Sprint(want.Kinds, want.Lacks) {
		t.Errorf("%+v, digest.Verify says %+v", v.Report, want)
	}
	own.ID = ""
	if err := own.Identify(precis.NewTranscript(worked("Never rename it.", "server")...)); err != nil {
		t.Fatal(err)
	}
	put(t, st, "", store.Record{ID: "c2"}, worked("Never rename it.", "server"), own)
	if e, err := conversation.Edits(t.Context(), h, "c2"); err != nil || len(e.Items) != 1 {
		t.Fatal(e, err)
	}
	if _, err := conversation.Verify(t.Context(), h, "c2", conversation.VerifyOptions{}); precis.CodeOf(err) != precis.CodeNotFound || !strings.Contains(err.Error(), "holds no compaction") {
		t.Errorf("of precis's own: %v", err)
	}
}

// Messages that a compaction kept are no part of its summary, however long they are.
func TestVerifyOfACompactionThatKeptMessages(t *testing.T) {
	c := &precis.Conversation{Transcript: precis.NewTranscript(worked("Never touch main.go.", "client")...)}
	all := c.Transcript.Messages()
	summary := precis.NewText(precis.RoleUser, "The agent raised the timeout.")
	with := append([]precis.Message{all[0], summary}, all[5:]...)
	if err := archive.RecordCondensation(c, len(all), with, time.Unix(1, 0), precis.EditReport{}); err != nil {
		t.Fatal(err)
	}
	st := memory.New()
	put(t, st, "", store.Record{ID: "c1"}, all, c.Edits...)
	v := verified(t, inStore(t, st, ""), "c1", conversation.VerifyOptions{})
	if v.Messages != len(all) || len(lacking(v, "words")) != 0 || len(lacking(v, "files")) != 2 || len(v.Invents) != 0 {
		t.Errorf("%+v", v)
	}
}

// failing is a conversation with a failed last run that the user does not know of.
func failing() []precis.Message {
	call := func(id, command, output string, failed bool) []precis.Message {
		return []precis.Message{
			{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "Bash", Input: fmt.Appendf(nil, `{"command":%q}`, command)}}},
			{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, IsError: failed, Content: []precis.Block{precis.Text{Text: output}}}}}}
	}
	msgs := worked("Never touch main.go.", "client")
	msgs = append(msgs, call("f1", "git commit -m timeout", "nothing to commit, working tree clean", true)...)
	return append(msgs, call("f2", "go test ./client", "--- FAIL: TestTimeout (0.01s)\n    client_test.go:9: got 20, want 30\nFAIL\nexit status 1", true)...)
}

// Unchanged text in the view is not lacking: nor is a conversation without hidden messages, nor
// messages that the program kept at a compaction, at the head or after the summary.
func TestVerifyCountsWhatIsInView(t *testing.T) {
	msgs := failing()
	n := len(msgs)
	st := memory.New()
	put(t, st, "", store.Record{ID: "whole"}, msgs)
	kept := func(id string, from, to int) conversation.Verified {
		e := precis.Edit{Kind: precis.KindCondensation, Replace: []precis.Replacement{{From: from, To: to, With: []precis.Message{precis.NewText(precis.RoleUser, "The client was worked on, and its timeout was raised.")}}},
			Report: precis.EditReport{Trigger: string(precis.TriggeredRecorded)}}
		if err := e.Identify(precis.NewTranscript(msgs...)); err != nil {
			t.Fatal(err)
		}
		alone := memory.New()
		put(t, alone, "", store.Record{ID: id}, msgs, e)
		return verified(t, inStore(t, alone, ""), id, conversation.VerifyOptions{})
	}
	if v := verified(t, inStore(t, st, ""), "whole", conversation.VerifyOptions{CurrentView: true}); len(v.Lacks)+len(v.Contradicts)+len(v.Invents) > 0 || len(v.Kinds) < 3 {
		t.Errorf("nothing is hidden: %+v", v)
	}
	all := kept("all", 0, n)
	if len(lacking(all, "words")) != 1 || len(lacking(all, "failures")) == 0 || len(lacking(all, "files")) != 6 {
		t.Errorf("all is summarized: %+v", all)
	}
	head := kept("head", 3, n)
	if len(lacking(head, "words")) > 0 || len(lacking(head, "failures")) == 0 || len(lacking(head, "files")) != 5 {
		t.Errorf("the head is kept: %+v", head)
	}
	if tail := kept("tail", 0, n-4); len(lacking(tail, "words")) != 1 || len(lacking(tail, "failures")) > 0 {
		t.Errorf("the tail is kept: %+v", tail)
	}
	// What a client keeps of the conversation before, around its summary, is not lacking either.
	next := []precis.Message{msgs[0], precis.NewText(precis.RoleUser, "The client was worked on, and its timeout was raised."), msgs[n-2], msgs[n-1], precis.NewText(precis.RoleAssistant, "I wrote client3.go.")}
	put(t, st, "", store.Record{ID: "next", Continues: "whole", Summary: 1}, next)
	if v := verified(t, inStore(t, st, ""), "next", conversation.VerifyOptions{}); len(lacking(v, "words")) > 0 || len(lacking(v, "files")) != 6 || len(lacking(v, "failures")) >= len(lacking(all, "failures")) {
		t.Errorf("it goes on: %+v", v)
	}
}

// A conversation that continues from its client's summary is compared with the previous one. The
// summary in that one is not a person's speech. Conversations of other owners are not read.
func TestVerifyOfAConversationThatGoesOn(t *testing.T) {
	st := memory.New()
	first := worked("Never touch main.go.", "client")
	second := append([]precis.Message{precis.NewText(precis.RoleUser, "Summary of what was before: never delete the folder vendor. The timeout was raised.")}, worked("Never rename the package.", "server")...)
	third := []precis.Message{precis.NewText(precis.RoleUser, "Never rename the package. The server was written: server0.go, server1.go."), precis.NewText(precis.RoleAssistant, "I go on.")}
	put(t, st, "ann", store.Record{ID: "c1"}, first)
	put(t, st, "ann", store.Record{ID: "c2", Continues: "c1"}, second)
	put(t, st, "ann", store.Record{ID: "c3", Continues: "c2"}, third)
	put(t, st, "bob", store.Record{ID: "c4", Continues: "c2"}, third)
	for _, owner := range []string{"ann", conversation.AllOwners} {
		h := inStore(t, st, owner)
		v := verified(t, h, "c3", conversation.VerifyOptions{})
		if v.Conversation != "c3" || v.Of != "c2" || v.HandlesOf() != "c2" || v.What != "the compaction in message m0" || v.Messages != len(second) || len(lacking(v, "words")) != 1 || len(lacking(v, "files")) != 4 || strings.Contains(fmt.Sprint(v.Lacks), "Summary of") || strings.Contains(fmt.Sprint(lacking(v, "words")), "Never rename") {
			t.Errorf("%s: %+v", owner, v)
		}
		if v := verified(t, h, "c2", conversation.VerifyOptions{}); v.Of != "c1" || !strings.HasPrefix(fmt.Sprint(lacking(v, "words")), "[Never touch main.go. ") {
			t.Errorf("%s: %+v", owner, v)
		}
	}
	for _, owner := range []string{"bob", conversation.AllOwners} {
		_, err := conversation.Verify(t.Context(), inStore(t, st, owner), "c4", conversation.VerifyOptions{})
		if precis.CodeOf(err) != precis.CodeNotFound || !strings.Contains(err.Error(), "gone") {
			t.Errorf("%s: a conversation of somebody else: %v", owner, err)
		}
	}
}

// A view lacks what it hides, wherever it comes from; a summary is one text of it.
func TestVerifyOfViews(t *testing.T) {
	st := memory.New()
	msgs := worked("Never touch main.go.", "client")
	hide := precis.Edit{Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 0, To: 3, With: []precis.Message{precis.NewText(precis.RoleUser, "[3 messages are hidden]")}}}}
	if err := hide.Identify(precis.NewTranscript(msgs...)); err != nil {
		t.Fatal(err)
	}
	put(t, st, "", store.Record{ID: "cut"}, msgs, hide)
	other := memory.New()
	put(t, other, "", store.Record{ID: "whole"}, msgs)
	cut, h := inStore(t, st, ""), inStore(t, other, "")
	if v := verified(t, h, "whole", conversation.VerifyOptions{CurrentView: true}); len(v.Lacks) > 0 {
		t.Errorf("the whole: %+v", v)
	}
	now := verified(t, cut, "cut", conversation.VerifyOptions{CurrentView: true})
	if len(lacking(now, "words")) != 1 || len(lacking(now, "files")) != 1 || len(now.Invents)+len(now.Contradicts) > 0 || now.What != "what the model sees now" {
		t.Errorf("cut: %+v", now)
	}
	view := append([]precis.Message{precis.NewText(precis.RoleUser, "[3 messages are hidden]")}, msgs[3:]...)
	if v := verified(t, h, "whole", conversation.VerifyOptions{View: view}); fmt.Sprint(v.Kinds) != fmt.Sprint(now.Kinds) || v.What != "the view" {
		t.Errorf("the same view from elsewhere: %+v, want %v", v, now.Kinds)
	}
	if v := verified(t, h, "whole", conversation.VerifyOptions{View: []precis.Message{}}); len(lacking(v, "words")) != 1 || len(lacking(v, "files")) != 6 {
		t.Errorf("an empty view: %+v", v)
	}
	if v := verified(t, h, "whole", conversation.VerifyOptions{Summary: "Never touch main.go. The timeout of the client was raised."}); v.What != "the summary" || strings.Contains(fmt.Sprint(lacking(v, "words")), "Never touch") || len(lacking(v, "files")) != 6 {
		t.Errorf("a summary: %+v", v)
	}
}

func TestVerifyRefuses(t *testing.T) {
	st := memory.New()
	put(t, st, "", store.Record{ID: "c1"}, worked("Never touch main.go.", "client"))
	h := inStore(t, st, "")
	for want, o := range map[precis.Code][]conversation.VerifyOptions{
		precis.CodeInvalid:  {{Summary: " \n"}, {Summary: "\xff"}, {Summary: "x", CurrentView: true}, {CurrentView: true, View: []precis.Message{}}},
		precis.CodeNotFound: {{}},
	} {
		for _, o := range o {
			if _, err := conversation.Verify(t.Context(), h, "c1", o); precis.CodeOf(err) != want {
				t.Errorf("%+v: %v", o, err)
			}
		}
	}
	if _, err := conversation.Verify(t.Context(), h, "c0", conversation.VerifyOptions{CurrentView: true}); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("of no conversation: %v", err)
	}
}
