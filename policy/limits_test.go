package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// TestLimitsOfAnAPI: a view that an API refused for something else than its tokens comes down to
// that, and to nothing else, however much room there is.
func TestLimitsOfAnAPI(t *testing.T) {
	m, err := preset.New(preset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conv := func() *precis.Conversation {
		tr := precis.NewTranscript(precis.NewText(precis.RoleUser, "Look at every page. Never click on pay."))
		for i := range 30 {
			id := fmt.Sprint("t", i)
			tr.Append(precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "screenshot", Input: []byte(`{}`)}}},
				precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: fmt.Sprint("page ", i)}, precis.Image{MediaType: "image/png", Data: fmt.Sprintf("AAAA%04d", i)}}}}})
		}
		return &precis.Conversation{Transcript: tr}
	}
	images := func(msgs []precis.Message) (n int) {
		for _, msg := range msgs {
			for _, b := range msg.Content {
				if r, ok := b.(precis.ToolResult); ok {
					for _, c := range r.Content {
						if _, is := c.(precis.Image); is {
							n++
						}
					}
				}
			}
		}
		return n
	}
	for _, most := range []int{20, 10, 1} {
		res, err := m.Manage(t.Context(), policy.Request{Conversation: conv(), Window: window(1_000_000), Limits: policy.Limits{Images: most}})
		if err != nil || len(res.Edits) != 1 || len(res.View) != 61 || precis.Check(res.View) != nil {
			t.Fatalf("%d images: %v, %s, %d messages", most, err, res.Report.Outcome, len(res.View))
		}
		if n := images(res.View); n > max(most, 2) || n < min(most, 2) { // the newest messages stay as they are
			t.Errorf("%d images are left of %d", n, most)
		}
	}
	for _, most := range []int{50, 20, 10} {
		res, err := m.Manage(t.Context(), policy.Request{Conversation: conv(), Window: window(1_000_000), Limits: policy.Limits{Messages: most}})
		if err != nil || len(res.Edits) == 0 || len(res.View) > most || precis.Check(res.View) != nil {
			t.Errorf("%d messages: %v, %s, %d are left", most, err, res.Report.Outcome, len(res.View))
		}
	}
	one := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText(precis.RoleUser, "hi"))}
	if res, err := m.Manage(t.Context(), policy.Request{Conversation: one, Window: window(1_000_000), Limits: policy.Limits{Images: 1}}); err != nil || len(res.Edits) > 0 {
		t.Errorf("nothing to do: %v, %d edits", err, len(res.Edits))
	}
}

// TestLimitsOfOtherMedia: documents, sound and video are replaced when the API has refused them,
// and stay when it has refused pictures.
func TestLimitsOfOtherMedia(t *testing.T) {
	m, err := preset.New(preset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, attached := range map[string]precis.Block{
		"document": precis.Document{MediaType: "application/pdf", Data: strings.Repeat("JVBE", 900)},
		"sound":    precis.Opaque{Type: "input_audio", Raw: []byte(`{"type":"input_audio","input_audio":{"data":"` + strings.Repeat("AAAA", 900) + `","format":"wav"}}`)},
		"video":    precis.Opaque{Type: "video_url", Raw: []byte(`{"type":"video_url","video_url":{"url":"data:video/mp4;base64,` + strings.Repeat("AAAA", 900) + `"}}`)},
	} {
		tr := precis.NewTranscript()
		for i := range 8 {
			tr.Append(precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.Text{Text: fmt.Sprint("Look at this, too: ", i)}, attached}}, precis.NewText(precis.RoleAssistant, "Seen."))
		}
		tr.Append(precis.NewText(precis.RoleUser, "And now?"))
		left := func(l policy.Limits) (n int) {
			res, err := m.Manage(t.Context(), policy.Request{Conversation: &precis.Conversation{Transcript: tr}, Window: window(1_000_000), Limits: l})
			if err != nil || precis.Check(res.View) != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, msg := range res.View {
				for _, b := range msg.Content {
					if _, text := b.(precis.Text); !text {
						n++
					}
				}
			}
			return n
		}
		if n := left(policy.Limits{Images: 2, AllMedia: true}); n != 2 {
			t.Errorf("%s: %d are left of 2", name, n)
		}
		if n := left(policy.Limits{Images: 2}); n != 8 {
			t.Errorf("%s: %d are left when the API refused pictures", name, n)
		}
	}
}
