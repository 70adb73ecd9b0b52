package digest

import "testing"

func TestChosen(t *testing.T) {
	const numbered = "Two ways.\n\n**1. Dredge.** Slow and thorough.\n\n**2. Flush** the harbor\nat ebb tide.\n\nWhich one?"
	const letters = "Options:\nA) Dredge\nB) Flush\nC) Wait"
	const words = "**First: dredge.** Slow.\n\n**Second: flush.** Fast."
	for _, tt := range []struct{ reply, said, want string }{
		{"the second one please", numbered, "**2. Flush** the harbor\nat ebb tide."},
		{"2", numbered, "**2. Flush** the harbor\nat ebb tide."},
		{"Option 1", numbered, "**1. Dredge.** Slow and thorough."},
		{"the first one", numbered, "**1. Dredge.** Slow and thorough."},
		{"die zweite", numbered, "**2. Flush** the harbor\nat ebb tide."},
		{"la deuxième", numbered, "**2. Flush** the harbor\nat ebb tide."},
		{"第二个", numbered, "**2. Flush** the harbor\nat ebb tide."},
		{"второй", numbered, "**2. Flush** the harbor\nat ebb tide."},
		{"the latter", words, "**Second: flush.** Fast."},
		{"B", letters, "B) Flush"}, {"c!", letters, "C) Wait"}, {"A", numbered, ""}, {"1", letters, "A) Dredge"},
		{"do the second", words, "**Second: flush.** Fast."},
		{"Let's go with 2", numbered, "**2. Flush** the harbor\nat ebb tide."}, {"el segundo, por favor", numbered, "**2. Flush** the harbor\nat ebb tide."}, {"2つ目でお願いします", numbered, "**2. Flush** the harbor\nat ebb tide."},
		{"the last one", letters, "C) Wait"},
		{"1 and 3", letters, "A) Dredge\nC) Wait"}, {"b, c", letters, "B) Flush\nC) Wait"}, {"2 and 3 please", letters, "B) Flush\nC) Wait"}, {"all but 2", letters, "A) Dredge\nC) Wait"}, {"both", numbered, "**1. Dredge.** Slow and thorough.\n**2. Flush** the harbor\nat ebb tide."},
		{"the first two", letters, "A) Dredge\nB) Flush"}, {"the middle one", letters, "B) Flush"}, {"go with your recommendation", "1. Dredge\n2. Flush (recommended)", "2. Flush (recommended)"}, {"ii", "(i) Dredge\n(ii) Flush", "(ii) Flush"}, {"Option 2 please, thanks", letters, "B) Flush"},
		{"B", "| Option | What |\n|---|---|\n| A | Dredge |\n| B | Flush |", "| B | Flush |"}, {"approach 2", "### Approach 1: dredge\n\nSlow.\n\n### Approach 2: flush\n\nFast.", "### Approach 2: flush\nFast."}, {"all tests pass", letters, ""}, {"a and then commit", letters, ""}, {"both files", letters, ""},
		{"commit first", numbered, ""}, {"wait a second", numbered, ""}, {"make a commit", letters, ""}, {"fix the first bug", numbered, ""}, {"make 2 copies", numbered, ""}, {"no one", numbered, ""},
		{"yes", numbered, ""}, {"first the second, then the first", numbered, ""}, {"5", numbered, ""}, {"the fourth", numbered, ""}, {"2", "No list.\n2. alone", ""}, {"the second", "1. a", ""},
		{"the second", "1. old\n2. older\n\nNow:\n1. new\n2. newer", "2. newer"},
	} {
		if got := chosen(tt.reply, tt.said); got != tt.want {
			t.Errorf("%q of %q: %q, want %q", tt.reply, tt.said, got, tt.want)
		}
	}
}
