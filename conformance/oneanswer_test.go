package conformance

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/handoff"
	"github.com/precis-dev/precis/conversation/recording"
	"github.com/precis-dev/precis/digest"
	counts "github.com/precis-dev/precis/internal/census"
	titles "github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/retain"
)

// TestOneAnswer: over a sample of the recordings, every face that says what a conversation is called, where
// the user's last turn is, which rules and requests there are and how many tokens are the
// user's says the same.
func TestOneAnswer(t *testing.T) {
	dir := directory(t, "PRECIS_TRANSCRIPTS")
	t.Parallel()
	m := newManager(t, preset.Frugal)
	runs, asked := sample.OneIn(t, 20, 3), 0
	for i, path := range recordings(t, dir) {
		if !runs(i) {
			continue
		}
		file, err := recording.Read(content(t, path))
		if err != nil {
			continue // what no single file tells, TestTranscripts reads
		}
		asked++
		h := file.Home(m, policy.Request{Window: precis.Window{Tokens: 200_000}})
		for _, difference := range differences(t, m, h, file.Conversation) {
			t.Errorf("%s: %s", fileKey("r", content(t, path)), difference)
		}
	}
	if asked == 0 {
		t.Fatal("nobody was asked")
	}
	t.Logf("%d recordings", asked)
}

// showsPictures reports whether a message is a person's pictures, and nothing else.
func showsPictures(m precis.Message, authors []precis.Author) bool {
	for b, block := range m.Content {
		if _, ok := block.(precis.Image); !ok || authors[b] != precis.AuthorPerson {
			return false
		}
	}
	return len(m.Content) > 0
}

// differences asks all faces of a conversation and returns where one differs from Speech.
func differences(t *testing.T, m *policy.Manager, h *recording.Home, conv *precis.Conversation) (out []string) {
	ctx := context.Background()
	differ := func(what string, got, want any) {
		if !reflect.DeepEqual(got, want) {
			out = append(out, fmt.Sprintf("%s: %v, want %v", what, got, want))
		}
	}
	speech := conv.Transcript.Speech()
	msgs := retain.WithoutRewound(conv.Transcript, conv.Edits)
	alive := precis.SpeechOf(msgs)
	shown := precis.ShownBy(conv.Transcript, conv.Edits)
	work, err := conversation.Work(ctx, h, h.ID())
	if err != nil {
		t.Fatal(err)
	}
	state := digest.StateOf(conv)
	differ("the state of the verb", work.State, state)

	status, err := conversation.Status(ctx, h, h.ID())
	if err != nil {
		t.Fatal(err)
	}
	differ("title of the status", status.Title, titles.Title(conv))
	if conv.Title == "" {
		first := ""
		for i := range alive.Len() {
			if first = preview.Line(alive.Words(i), 160); first != "" {
				break
			}
		}
		differ("title", titles.Title(conv), first)
	}

	last := speech.LastTurn(func(i int) bool { return !shown.Message(i).Hidden })
	differ("last turn that is kept", policy.Keep(conv.Transcript, conv.Edits, m.NewMeter(), 3, 0).LastUser, last)
	turn := -1
	for q := (conversation.MessageQuery{Limit: 500}); ; {
		list, err := conversation.Messages(ctx, h, h.ID(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range list.Items {
			if one.UserTurn && one.State != conversation.Hidden {
				turn = one.Handle.From
			}
		}
		if q.Cursor = list.Next; q.Cursor == "" {
			break
		}
	}
	if last >= 0 && speech.BeginsTurn(last) {
		differ("last turn in the list of messages", turn, last)
	}

	var requests []int
	for i := range alive.Len() {
		for _, a := range alive.Answers(i) {
			if a.Turn {
				requests = append(requests, i)
			}
		}
		if alive.Words(i) != "" || showsPictures(msgs[i], alive.Authors(i)) {
			requests = append(requests, i)
		}
	}
	var said []int
	for _, r := range state.Requests {
		said = append(said, r.Handle.From)
	}
	differ("requests", said, requests)
	if n := len(said); n > 0 {
		newest := alive.LastTurn(func(i int) bool { return alive.Words(i) != "" || len(alive.Answers(i)) > 0 })
		differ("newest request", said[n-1], newest)
	}

	rules := retain.RulesOf(msgs)
	differ("rules of the index", retain.Read(conv.System.PlainText(), msgs).Rules(), rules)
	var texts, ofState []string
	for _, r := range rules {
		texts = append(texts, r.Text)
	}
	for _, r := range state.Rules {
		ofState = append(ofState, r.Text)
	}
	differ("rules of the state", ofState, texts)
	brief, err := handoff.Write(ctx, h, h.ID(), handoff.Options{Tokens: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	folded := retain.Folded(brief.Text)
	for _, r := range texts {
		if !strings.Contains(folded, retain.Folded(r)) {
			out = append(out, fmt.Sprintf("the brief lacks the rule %.40q", r))
		}
	}
	if n := len(state.Requests); n > 0 {
		differ("goal of the brief", brief.Goal, preview.Line(state.Requests[n-1].Text, 160))
	}

	c, err := conversation.CompositionOf(ctx, h, h.ID())
	if err != nil {
		t.Fatal(err)
	}
	meter := m.NewMeter()
	meter.For(conv)
	bar := counts.Take(conv, precis.Units(conv.Transcript, conv.Edits), meter).Of(status.Status.Tokens)
	user := func(name string, n int) int {
		if name == conversation.KindUser {
			return n
		}
		return 0
	}
	ofBar, ofComposition := 0, 0
	for _, k := range bar.Kinds {
		ofBar += user(k.Name, k.Tokens)
	}
	for _, k := range c.Kinds {
		ofComposition += user(k.Kind, k.Tokens)
	}
	differ("tokens of the user in the composition", ofComposition, ofBar)
	speaks := slices.ContainsFunc(precis.Units(conv.Transcript, conv.Edits), func(u precis.Unit) bool {
		return u.Original() && slices.ContainsFunc(speech.Spans(u.From), func(s precis.SpeechSpan) bool { return s.Attribution.Author == precis.AuthorPerson && s.Part < 0 })
	})
	if ofBar > 0 && !speaks {
		out = append(out, "tokens of the user where nobody speaks")
	}
	return out
}
