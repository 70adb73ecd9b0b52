package digest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
)

// TestTheNewestReasoningIsTold: the ends of the newest reasoning stand among what the agent said, newest first; what only
// announces a call is left out.
func TestTheNewestReasoningIsTold(t *testing.T) {
	acts := func(said string) []precis.Message {
		msgs := []precis.Message{precis.NewText(precis.RoleUser, "Make the scanner strict."), precis.NewText(precis.RoleAssistant, "The scanner has two modes today, strict and lenient.")}
		for n := range 8 {
			id := fmt.Sprint("t", n)
			content := []precis.Block{
				precis.Thinking{Text: fmt.Sprintf("**Looking at rule %d**\n\nThe scanner reads the rules twice. That is why its report names each of them in two places. Rule number %d is superfluous, so the allow list shrinks to one entry of its own.\n\nLet me edit it.", n, n)},
				precis.ToolUse{ID: id, Name: "Edit", Input: json.RawMessage(fmt.Sprintf(`{"file_path":"rules%d.toml","old_string":"a","new_string":"b"}`, n))},
			}
			if said != "" {
				content = append([]precis.Block{precis.Text{Text: said}}, content...)
			}
			msgs = append(msgs, precis.Message{Role: precis.RoleAssistant, Content: content},
				precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: "ok"}}}}})
		}
		return msgs
	}
	for _, said := range []string{"", "The allow list is too long. I shorten it:"} {
		got := section(digested(t, 2000, acts(said)...), "Where the work stands")
		if strings.Count(got, "in its reasoning") != 8 || !strings.Contains(got, "Rule number 7 is superfluous") || !strings.HasSuffix(strings.TrimSpace(got), "- m1: The scanner has two modes today, strict and lenient.") {
			t.Errorf("%q:\n%s", said, got)
		}
		if strings.Contains(got, "I shorten it") {
			t.Errorf("an announcement in\n%s", got)
		}
	}
}

// TestShortReasoningBeforeACallIsLeftOut: the call says what it announces.
func TestShortReasoningBeforeACallIsLeftOut(t *testing.T) {
	for times, told := range map[int]bool{3: false, 4: true} {
		s := newSession(1)
		s.user("Make the scanner strict.")
		thought := strings.Repeat("The scanner reads the rules twice, as I see it. ", times) + "I look at it now."
		s.msgs = append(s.msgs, precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.Thinking{Text: thought},
			precis.ToolUse{ID: "t", Name: "Read", Input: json.RawMessage(`{"file_path":"rules.toml"}`)}}})
		got := section(summarize(t, digest.Writer{Brief: true}, policy.SummaryRequest{Messages: s.msgs, MaxTokens: 2000}), "Where the work stands")
		if strings.Contains(got, "reads the rules") != told {
			t.Errorf("%d bytes:\n%s", len(thought), got)
		}
	}
}

// TestOnlyTheLastSentenceAnnounces: of reasoning before a call a sentence is left out, not the list that it stands in, and no number
// of an entry stays alone.
func TestOnlyTheLastSentenceAnnounces(t *testing.T) {
	const report = "The report of the scanner names each of the rules in two places, which is the fault that the user saw in his project.\n\n"
	list := report + "What the scanner needs:\n1. a strict mode that fails on unknown rules.\n2. an allow list with one entry.\n3. "
	for thought, want := range map[string]string{
		list + "I edit it now.":                         "2. an allow list with one entry.",
		list + "an owner for each rule. I edit it now.": "3. an owner for each rule.",
		report + "The rules are read twice by the scanner, which nobody needs.\n\n1. I edit the rules.":                                                                         "which nobody needs.",
		report + "The rules are read twice by the scanner, which nobody needs. I edit the rules now, as the\nlist of the strict mode, which all the programs read, says to me.": "which nobody needs.",
	} {
		s := newSession(1)
		s.user("Make the scanner strict.")
		s.msgs = append(s.msgs, precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.Thinking{Text: thought},
			precis.ToolUse{ID: "t", Name: "Edit", Input: json.RawMessage(`{"file_path":"rules.toml","old_string":"a","new_string":"b"}`)}}})
		if got := strings.TrimSpace(section(digested(t, 2000, s.msgs...), "Where the work stands")); !strings.HasSuffix(got, want) {
			t.Errorf("%q:\n%s", thought, got)
		}
	}
}
