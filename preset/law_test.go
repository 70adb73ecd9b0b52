package preset_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// dialog is a conversation that is written call by call.
type dialog struct {
	t  *precis.Transcript
	id int
}

func (s *dialog) calls(name, input, result string) {
	s.id++
	id := fmt.Sprint("c", s.id)
	s.t.Append(precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: name, Input: []byte(input)}}},
		precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: result}}}}})
}

func (s *dialog) reads(n, lines int) {
	for range n {
		var text strings.Builder
		for i := range lines {
			fmt.Fprintf(&text, "setting_%d of file %d is %d\n", i*s.id, s.id, i*i+s.id)
		}
		s.calls("read", fmt.Sprintf(`{"path":"src/f%d.txt"}`, s.id), text.String())
	}
}

// TestWhatHoldsIsInEveryView: the plan as it was written last, a skill, a job that runs, the
// last state of one that ended, and the rules of a folder stand in the view as they came,
// round after round; what took its end does not.
func TestWhatHoldsIsInEveryView(t *testing.T) {
	plan := func(states ...string) string {
		return fmt.Sprintf(`{"todos":[{"content":"map the tables","status":%q},{"content":"move the rows","status":%q}]}`, states[0], states[1])
	}
	const (
		skill   = "Base directory for this skill: /repo/.agents/skills/lint\n\n# lint\nRun `zl --strict` on each file. Never run it on stripes/.\n"
		started = "Command running in background with ID: b7x. Output is being written to: /tmp/b7x.output"
		server  = "Command running in background with ID: s3v. Output is being written to: /tmp/s3v.output"
		folder  = "1\ta file in sub\n\n<system-reminder>\nContents of /repo/sub/CLAUDE.md:\n\nFiles in sub/ are frozen.\n\n</system-reminder>"
	)
	s := &dialog{t: precis.NewTranscript(precis.NewText(precis.RoleUser, "Move the tables to the new store."))}
	s.calls("TodoWrite", plan("in_progress", "pending"), "Todos have been modified successfully.")
	s.calls("Skill", `{"skill":"lint"}`, skill)
	s.calls("Bash", `{"command":"make build","run_in_background":true}`, started)
	s.calls("Bash", `{"command":"make serve","run_in_background":true}`, server)
	s.calls("Read", `{"file_path":"/repo/sub/a.txt"}`, folder)
	s.calls("TodoWrite", plan("completed", "in_progress"), "Todos have been modified.")
	s.calls("BashOutput", `{"bash_id":"b7x"}`, "<status>completed</status>\n<exit_code>0</exit_code>\n<stdout>\nbuilt\n</stdout>")
	conv := &precis.Conversation{Transcript: s.t}
	m := held(t, preset.Balanced)
	for round := range 5 {
		s.reads(60, 40)
		res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 24_000}})
		if err != nil {
			t.Fatal(err)
		}
		if b := precis.Check(res.View); len(b) > 0 {
			t.Fatalf("round %d: %v", round, b)
		}
		shown := map[precis.Fingerprint]bool{}
		for _, msg := range res.View {
			for _, b := range msg.Content {
				shown[precis.HashBlock(b)] = true
			}
		}
		if len(res.View) > s.t.Len()/2 {
			t.Fatalf("round %d: %d of %d messages are shown", round, len(res.View), s.t.Len())
		}
		for i, wanted := range map[int]bool{1: false, 3: true, 4: true, 6: false, 7: true, 8: true, 9: true, 10: true, 11: true, 12: true, 14: true} {
			for _, b := range s.t.At(i).Content {
				if shown[precis.HashBlock(b)] != wanted {
					t.Errorf("round %d: message %d is shown: %v", round, i, !wanted)
				}
			}
		}
	}
}

// TestWhatCannotBeKeptIsSaid: of a skill that is too long for the room its orders are said,
// where its result is shortened and where it is hidden.
func TestWhatCannotBeKeptIsSaid(t *testing.T) {
	var skill strings.Builder
	skill.WriteString("Base directory for this skill: /repo/.agents/skills/lint\n\n# lint\nNever run it on stripes/.\n\n")
	for i := range 900 {
		fmt.Fprintf(&skill, "The table of zebra %d has %d stripes and lives in region %d.\n", i, i*i, i*7)
	}
	skill.WriteString("Always commit with a sign-off line.\n")
	shortened, hidden := 0, 0
	for _, window := range []int{24_000, 48_000} {
		s := &dialog{t: precis.NewTranscript(precis.NewText(precis.RoleUser, "Lint the tables."))}
		s.calls("Skill", `{"skill":"lint"}`, skill.String())
		s.reads(5, 20)
		conv := &precis.Conversation{Transcript: s.t}
		m := held(t, preset.Balanced)
		for round := range 5 {
			s.reads(12, 40)
			res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: window}})
			if err != nil {
				t.Fatal(err)
			}
			var sent strings.Builder
			hidden++
			for _, msg := range res.View {
				for _, b := range msg.Content {
					switch b := b.(type) {
					case precis.Text:
						sent.WriteString(b.Text + "\n")
					case precis.ToolResult:
						sent.WriteString(b.Text() + "\n")
						if b.ToolUseID == "c1" {
							shortened++
							hidden--
						}
					}
				}
			}
			for _, order := range []string{"Never run it on stripes/.", "Always commit with a sign-off line."} {
				if !strings.Contains(sent.String(), order) {
					t.Errorf("window %d, round %d: not said: %s", window, round, order)
				}
			}
		}
	}
	if shortened == 0 || hidden == 0 {
		t.Errorf("the result was shown in %d rounds and hidden in %d", shortened, hidden)
	}
}

// TestALongReportIsToldNotCut: of an agent whose report is too long to be kept the first lines are told; no empty result stands
// for it.
func TestALongReportIsToldNotCut(t *testing.T) {
	s := &dialog{t: precis.NewTranscript(precis.NewText(precis.RoleUser, "Have it reviewed."))}
	var report strings.Builder
	report.WriteString("The review found two faults.\n")
	for i := range 300 {
		fmt.Fprintf(&report, "Line %d of table %d holds %d.\n", i, i*3, i*i)
	}
	s.calls("Task", `{"subagent_type":"reviewer","description":"review the parser","prompt":"Review it."}`, report.String())
	s.reads(60, 40)
	res, err := held(t, preset.Balanced).Manage(context.Background(), policy.Request{Conversation: &precis.Conversation{Transcript: s.t}, Window: precis.Window{Tokens: 24_000}})
	if err != nil {
		t.Fatal(err)
	}
	var sent strings.Builder
	for _, m := range res.View {
		for _, b := range m.Content {
			if r, ok := b.(precis.ToolResult); ok {
				sent.WriteString(r.Text())
			}
		}
		sent.WriteString(m.PlainText())
	}
	if strings.Contains(sent.String(), "but for what follows") || !strings.Contains(sent.String(), "review the parser") {
		t.Error(sent.String())
	}
}

// TestANoteIsNobodysRequest: the note of what holds stands once, and is nobody's request when it is read again.
func TestANoteIsNobodysRequest(t *testing.T) {
	s := &dialog{t: precis.NewTranscript(precis.NewText(precis.RoleUser, "Lint the tables."))}
	s.calls("Skill", `{"skill":"lint"}`, "Base directory for this skill: /repo/.agents/skills/lint\n\n# lint\nNever run it on stripes/.\n"+strings.Repeat("The tables of the zebras live in many regions, and each has stripes.\n", 900))
	s.reads(120, 40)
	res, err := held(t, preset.Roo).Manage(context.Background(), policy.Request{Conversation: &precis.Conversation{Transcript: s.t}, Window: precis.Window{Tokens: 24_000}})
	if err != nil {
		t.Fatal(err)
	}
	notes := 0
	for _, m := range res.View {
		if strings.HasPrefix(m.PlainText(), "[Still holds") {
			notes++
			if m.IsUserTurn() || precis.SpeechOf([]precis.Message{m}).Words(0) != "" {
				t.Errorf("it is taken for the user's: %s", m.PlainText())
			}
			if n := strings.Count(m.PlainText(), "Never run it on stripes/."); n != 1 {
				t.Errorf("the order stands %d times in %s", n, m.PlainText())
			}
		}
	}
	if notes != 1 {
		t.Errorf("%d notes", notes)
	}
}
