package harness

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

func TestSummaryEnds(t *testing.T) {
	tabletest.Examples(t, summaryEnds(), func(_ table.Row, line string) bool {
		return SummaryWords("The day closes once.\n\n"+line+"\nMore.") == "The day closes once."
	})
}

// The words of the model are what a program's frame holds, whichever parts of it there are.
func TestSummaryWords(t *testing.T) {
	const words = "The day closes once.\n\nNext: the tests."
	for name, text := range map[string]string{
		"plain":     "\n" + words + "\n",
		"tags":      "<summary>\n" + words + "\n</summary>",
		"claude":    "This session is being continued from a previous conversation that ran out of context.\n\n<system-reminder>\n<tools>Read</tools>\n</system-reminder>\n" + words + "\n\nIf you need specific details from before compaction, read the full transcript at: /w/s.jsonl\nContinue the conversation from where it left off.",
		"codex":     "Another language model started to solve this problem and produced a summary of its thinking process. Here is the summary:\n<summary>" + words + "</summary>",
		"pi":        "The conversation history before this point was compacted into the following summary:\n\n<summary>\n" + words + "\n</summary>",
		"gemini":    "<state_snapshot>" + words + "</state_snapshot>",
		"bracketed": "[CONTEXT SUMMARY]\n" + words,
	} {
		if got := SummaryWords(text); got != words {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := SummaryWords("This session is being continued from a previous conversation: all is done."); !strings.HasSuffix(got, "all is done.") {
		t.Errorf("a summary in one line with its introduction: %q", got)
	}
}
