package reduce_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/reduce"
)

// folded proposes folding and returns the text of each message as the view then shows it.
func folded(t *testing.T, s *policy.Situation) []string {
	t.Helper()
	e, err := reduce.Fold{}.Propose(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	e.ID = "e"
	var out []string
	for _, m := range precis.View(s.Transcript, append(s.Edits, e)) {
		words := ""
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.Text:
				words += b.Text
			case precis.ToolResult:
				words += b.Text()
			}
		}
		out = append(out, words)
	}
	return out
}

func output(id, text string) precis.Message {
	return precis.Message{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: text}}}}}
}

func run(id string) precis.Message {
	return precis.Message{Role: "assistant", Content: []precis.Block{precis.ToolUse{ID: id, Name: "Bash", Input: []byte(`{"command":"run"}`)}}}
}

func TestFold(t *testing.T) {
	line := "Parsing expression: 1 of the very many there are\n"
	for name, c := range map[string]struct{ said, want string }{
		"a long run":            {strings.Repeat(line, 12400) + "done\n", "Parsing expression: 1 of the very many there are … [×12,400]\ndone\n"},
		"without a last end":    {"go\n" + strings.TrimSuffix(strings.Repeat(line, 30), "\n"), "go\nParsing expression: 1 of the very many there are … [×30]\n"},
		"two runs":              {strings.Repeat("a long line of the first run\n", 20) + "b\n" + strings.Repeat("another line of the second run\n", 999), "a long line of the first run … [×20]\nb\nanother line of the second run … [×999]\n"},
		"Windows":               {strings.Repeat("a long line of this run\r\n", 40), "a long line of this run … [×40]\n"},
		"three are no run":      {strings.Repeat(line, 3), strings.Repeat(line, 3)},
		"too little":            {strings.Repeat("}\n", 6), strings.Repeat("}\n", 6)},
		"empty lines":           {strings.Repeat("\n", 900), strings.Repeat("\n", 900)},
		"alternating is no run": {strings.Repeat("tick\ntock\n", 300), strings.Repeat("tick\ntock\n", 300)},
	} {
		s := situation(0, 3, text("user", "go"), run("a"), output("a", c.said))
		if got := folded(t, s)[2]; got != c.want {
			t.Errorf("%s: %.200q, want %.200q", name, got, c.want)
		}
	}
}

// TestFoldLeavesThePinnedAndTheUser folds what is kept as the newest, and neither the user's words nor pins.
func TestFoldLeavesThePinnedAndTheUser(t *testing.T) {
	long := strings.Repeat("the same line again and again\n", 200)
	s := situation(0, 9, text("user", long), run("a"), output("a", long), run("b"), output("b", long), text("user", "<environment_details>\n"+long+"</environment_details>"))
	pin := precis.Edit{ID: "p", Kind: precis.KindPin, Pins: []precis.Handle{precis.MessageHandle(2)}}
	s.Edits = []precis.Edit{pin}
	s.Kept = policy.Keep(s.Transcript, s.Edits, s.Meter, 9, 0)
	got := folded(t, s)
	for i, want := range []bool{false, false, false, false, true, true} {
		if is := strings.Contains(got[i], "again and again … [×200]"); is != want {
			t.Errorf("message %d is folded: %v, want %v", i, is, want)
		}
	}
}

// TestFoldOfAResultWithoutRuns reads half a megabyte of short lines, none of them twice in a row.
func TestFoldOfAResultWithoutRuns(t *testing.T) {
	var b strings.Builder
	for n := range 250_000 {
		b.WriteString(string(rune('a'+n%26)) + "\n")
	}
	s := situation(0, 3, text("user", "go"), run("a"), output("a", b.String()))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got := folded(t, s)[2]; got != b.String() {
		t.Error("what has no runs is changed")
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 {
		t.Errorf("%d MB are allocated for half a megabyte", n>>20)
	}
}

// TestFoldLeavesTheModel: the model does not see its own words in a form that it did not write.
func TestFoldLeavesTheModel(t *testing.T) {
	said := strings.Repeat("    total = total.add(item)\n", 100)
	s := situation(0, 3, text("user", "go"), text("assistant", said), text("user", "on"))
	if got := folded(t, s)[1]; got != said {
		t.Errorf("%.100q", got)
	}
}

// TestFoldedBlocksCanBePruned prunes a block that was folded, from its original.
func TestFoldedBlocksCanBePruned(t *testing.T) {
	long := strings.Repeat("the same line again and again\n", 200)
	for n := range 800 {
		long += strings.Repeat("x", n%60) + " line\n"
	}
	s := situation(1000, 0, text("user", "go"), run("a"), output("a", long), text("assistant", "ok"), text("user", "on"), text("assistant", "ok"), text("user", "last"))
	e, err := reduce.Fold{}.Propose(t.Context(), s)
	if err != nil || len(e.Replace) != 1 {
		t.Fatal(e, err)
	}
	e.ID, e.Report.Rung = "e", reduce.Fold{}.Name()
	s.Edits = []precis.Edit{e}
	s.Units = precis.Units(s.Transcript, s.Edits)
	s.Used = s.Meter.View(precis.View(s.Transcript, s.Edits))
	p, err := reduce.Prune{}.Propose(t.Context(), s)
	if err != nil || len(p.Replace) != 1 {
		t.Fatalf("a block that was folded is not pruned: %+v, %v", p.Report, err)
	}
}
