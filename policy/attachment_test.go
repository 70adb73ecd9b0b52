package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

// sized counts four characters of text as a token, and everything else as 10,000.
type sized struct{}

func (sized) Name() string { return "sized" }

func (sized) Count(m precis.Message) (n int) {
	for _, b := range m.Content {
		n += sizedBlock(b)
	}
	return n
}

func sizedBlock(b precis.Block) (n int) {
	switch b := b.(type) {
	case precis.Text:
		return len(b.Text) / 4
	case precis.Document:
		if b.Text != "" {
			return len(b.Text) / 4
		}
	case precis.ToolUse:
		return len(b.Input) / 4
	case precis.ToolResult:
		for _, c := range b.Content {
			n += sizedBlock(c)
		}
		return n
	}
	return 10_000
}

// TestAnEstimateHidesNoNewAttachment: what the model has not seen stays in a view that does not fit by an estimated size alone, the
// user's words stay, too, and once the provider has refused the view the attachment gives way.
func TestAnEstimateHidesNoNewAttachment(t *testing.T) {
	const words = "Summarize the attached file, in three sentences."
	file := precis.Document{Title: "spec.pdf", MediaType: "application/pdf", Data: "JVBERi0="}
	history := func() (msgs []precis.Message) {
		for i := range 20 {
			msgs = append(msgs, precis.NewText(precis.RoleUser, fmt.Sprintf("Question %d", i)),
				precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: fmt.Sprint(i), Name: "read", Input: []byte(`{}`)}}},
				precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: fmt.Sprint(i), Content: []precis.Block{precis.Text{Text: strings.Repeat(fmt.Sprintf("a line of result %d\n", i), 100)}}}}},
				precis.NewText(precis.RoleAssistant, "Answered."))
		}
		return msgs
	}
	user := func(blocks ...precis.Block) precis.Message {
		return precis.Message{Role: precis.RoleUser, Content: append(blocks, precis.Text{Text: words})}
	}
	call := precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "x", Name: "read", Input: []byte(`{}`)}}}
	result := func(lines int, blocks ...precis.Block) precis.Message {
		text := precis.Text{Text: strings.Repeat("text beside it\n", lines)}
		return precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "x", Content: append(blocks, text)}}}
	}
	for name, tt := range map[string]struct {
		newest []precis.Message
		forced bool
		stays  bool
	}{
		"a document":                          {[]precis.Message{user(file)}, false, true},
		"the same, refused":                   {[]precis.Message{user(file)}, true, false},
		"an image":                            {[]precis.Message{user(precis.Image{MediaType: "image/png", Data: "iVBORw0="})}, false, true},
		"an unknown block":                    {[]precis.Message{user(precis.Opaque{Type: "new", Raw: []byte(`{"type":"new"}`)})}, false, true},
		"a document of the turn, and a step":  {[]precis.Message{user(file), call, result(100)}, false, true},
		"a document in the newest result":     {[]precis.Message{user(), call, result(100, file)}, false, true},
		"a document beside much text there":   {[]precis.Message{user(), call, result(2000, file)}, false, true},
		"one in a message of its own":         {[]precis.Message{{Role: precis.RoleUser, Content: []precis.Block{file}}, user()}, false, true},
		"a document with its text is counted": {[]precis.Message{user(precis.Document{Title: "notes.txt", Text: strings.Repeat("note ", 9_000)})}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := manager(t, policy.Options{Counter: sized{}})
			conv := &precis.Conversation{Transcript: precis.NewTranscript(append(history(), tt.newest...)...)}
			res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(6000), TriggeredBy: map[bool]precis.TriggeredBy{true: precis.TriggeredForced}[tt.forced]})
			if err != nil {
				t.Fatal(err)
			}
			stays, said, text := false, false, 0
			for _, msg := range res.View {
				for _, b := range msg.Content {
					if r, ok := b.(precis.ToolResult); ok {
						stays = stays || slices.ContainsFunc(r.Content, isAttached)
					}
					stays = stays || isAttached(b)
				}
				said = said || strings.Contains(msg.PlainText(), words)
				text += len(msg.PlainText()) / 4
			}
			if stays != tt.stays || !said || text > 6000 {
				t.Errorf("the attachment stays: %t, want %t; the user's words: %t; %d tokens of text", stays, tt.stays, said, text)
			}
			if tt.forced && !strings.Contains(fmt.Sprint(res.View), "is hidden here, because the request was too long with it: m80.b0.") {
				t.Error("nothing says why")
			}
			if guessed := res.Report.After.Guessed; (guessed > 0) != tt.stays {
				t.Errorf("%d tokens are left out of the estimate", guessed)
			}
			if tt.stays && !strings.Contains(fmt.Sprint(res.View), "Question 3") {
				t.Errorf("everything else made room: %+v", res.Report.After)
			}
		})
	}
}

func isAttached(b precis.Block) bool {
	switch b := b.(type) {
	case precis.Image, precis.Opaque:
		return true
	case precis.Document:
		return b.Text == "" || len(b.Text) > 40_000
	}
	return false
}
