package upstream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/provider"
)

// TestCondenseTakesOurSummaries lets the rung condense ask the server, with each
// template in each dialect.
func TestCondenseTakesOurSummaries(t *testing.T) {
	for _, d := range dialectsUnderTest {
		for _, template := range condense.Templates() {
			t.Run(d.name+" "+template, func(t *testing.T) {
				s := start(t, Options{Files: files(45), Thinking: true})
				base := s.URL + "/v1"
				if d == anthropicDialect {
					base = s.URL
				}
				client, err := provider.New(provider.Config{Dialect: d.name, BaseURL: base, Key: "k", Model: "m", Retries: -1})
				if err != nil {
					t.Fatal(err)
				}
				m, err := preset.New(preset.Options{Condensing: &preset.Condensing{Writer: condense.WriterConfig{Model: client, Prompt: condense.Prompt{Template: template}}}})
				if err != nil {
					t.Fatal(err)
				}
				res, err := m.Manage(t.Context(), policy.Request{Conversation: recorded(12), Window: precis.Window{Tokens: 32_000}})
				if err != nil {
					t.Fatal(err)
				}
				edits := res.Report.Edits
				if len(edits) == 0 || edits[0].Rung != "condense" || edits[0].Call.Calls != 1 {
					t.Errorf("edits %+v", edits)
				}
				stats := s.Stats()
				if stats.Summaries != 1 || len(stats.Refused) != 0 {
					t.Errorf("stats %+v", stats)
				}
			})
		}
	}
}

// recorded is a conversation that read so many files.
func recorded(n int) *precis.Conversation {
	conv := &precis.Conversation{Transcript: &precis.Transcript{}}
	conv.Transcript.Append(precis.NewText(precis.RoleUser, "Read the files one by one."))
	for i := range n {
		id := fmt.Sprintf("toolu_r1_%d", i+1)
		path := files(n)[i]
		conv.Transcript.Append(
			precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{
				precis.ToolUse{ID: id, Name: "read", Input: []byte(`{"path":"` + path + `"}`)},
			}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{
				precis.Text{Text: strings.Repeat(fmt.Sprintf("%s has words. ", path), 600)},
			}}}},
		)
	}
	return conv
}
