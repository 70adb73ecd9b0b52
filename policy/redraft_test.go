package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// TestRedraft checks that the text of a run that is not in force can be replaced: the gate
// adds what it lacks, the run stays one run, and nothing is changed before it is recorded.
func TestRedraft(t *testing.T) {
	m, err := preset.New(preset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conv := &precis.Conversation{Transcript: &precis.Transcript{}}
	conv.Transcript.Append(precis.NewText(precis.RoleUser, "Never touch main.go. "+strings.Repeat("Read the files. ", 20)))
	for n := range 30 {
		conv.Transcript.Append(precis.NewText(precis.RoleAssistant, strings.Repeat(fmt.Sprintf("File %d says what it has to say about itself. ", n), 30)))
		conv.Transcript.Append(precis.NewText(precis.RoleUser, fmt.Sprintf("Go on with file %d, please.", n+1)))
	}
	req := policy.Request{Conversation: conv, Window: window(20_000), TriggeredBy: precis.TriggeredManual, Unrecorded: true, Target: 4000}
	run, err := m.Manage(t.Context(), req)
	if err != nil || len(run.Edits) == 0 {
		t.Fatal(len(run.Edits), err)
	}
	edit := ""
	for _, e := range run.Edits {
		if e.Kind == precis.KindCondensation {
			edit = e.ID
		}
	}
	got, err := m.Redraft(t.Context(), req, run, edit, "We looked at thirty files.")
	if err != nil {
		t.Fatal(err)
	}
	if len(conv.Edits) != 0 || len(got.Edits) != len(run.Edits) {
		t.Fatalf("%d edits in force, %d in the run, want 0 and %d", len(conv.Edits), len(got.Edits), len(run.Edits))
	}
	var shown strings.Builder
	for _, msg := range got.View {
		for _, b := range msg.Content {
			if x, ok := b.(precis.Text); ok {
				shown.WriteString(x.Text)
			}
		}
	}
	for _, want := range []string{"We looked at thirty files.", "Never touch main.go."} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("the view lacks %q", want)
		}
	}
	for _, e := range got.Edits {
		if e.Run != got.Edits[0].ID || e.ID == edit {
			t.Errorf("edit %s of run %s; the edited one still has its ID", e.ID, e.Run)
		}
	}
	if err := m.Record(t.Context(), conv, got.Edits...); err != nil {
		t.Fatal(err)
	}
	s, err := m.Status(policy.Request{Conversation: conv, Window: window(20_000)})
	if err != nil || s.Tokens != got.Report.After.Tokens {
		t.Errorf("the view has %d tokens, the report says %d: %v", s.Tokens, got.Report.After.Tokens, err)
	}
	if _, err := m.Undo(t.Context(), conv); err != nil || len(precis.Active(conv.Edits)) != 0 {
		t.Errorf("one undo leaves %d edits: %v", len(precis.Active(conv.Edits)), err)
	}
	for text, want := range map[string]precis.Code{" \n": precis.CodeInvalid, "\xff": precis.CodeInvalid, strings.Repeat("too long ", 40_000): precis.CodeInvalid} {
		if _, err := m.Redraft(t.Context(), req, run, edit, text); precis.CodeOf(err) != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
	if _, err := m.Redraft(t.Context(), req, run, "nothing", "text"); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("an unknown edit: %v", err)
	}
}
