package retain

import (
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"

	"pgregory.net/rapid"
)

// piecesOf returns a piece for each line of each text, costing its bytes.
func piecesOf(x *Index) (out []Piece) {
	for i := range x.Texts {
		at := 0
		for line := range strings.Lines(x.Texts[i].Body) {
			out = append(out, Piece{Text: i, Start: at, End: at + len(line), Cost: float64(len(line))})
			at += len(line)
		}
	}
	return out
}

func TestChooseKeepsWhatIsWorthMost(t *testing.T) {
	x := Read("", []precis.Message{precis.NewText("user", "first_name a b\nsecond_name a b\nfirst_name c d\nno names here\n")})
	first, _ := x.Find("first_name", KindIdentifier)
	second, _ := x.Find("second_name", KindIdentifier)
	worth := make([]float64, len(x.Facts))
	worth[first], worth[second] = 0.9, 0.5
	pieces := piecesOf(x)
	for i := range pieces {
		pieces[i].Cost = 1
	}
	for _, tt := range []struct {
		name   string
		budget float64
		bonus  float64 // of the last piece
		want   []bool
	}{
		{"room for none", 0.5, 0, []bool{false, false, false, false}},
		{"room for one", 1, 0, []bool{true, false, false, false}},
		{"a fact twice adds little", 2, 0, []bool{true, true, false, false}},
		{"but something", 3, 0, []bool{true, true, true, false}},
		{"what brings nothing is left out", 9, 0, []bool{true, true, true, false}},
		{"a bonus counts", 1, 2, []bool{false, false, false, true}},
		{"a budget below 0", -1, 2, []bool{false, false, false, false}},
	} {
		pieces[3].Bonus = tt.bonus
		c := x.NewCoverage()
		if got := x.Choose(pieces, worth, c, tt.budget); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		if c.Seen(first) != tt.want[0] || c.Seen(second) != tt.want[1] {
			t.Errorf("%s: the coverage was not updated", tt.name)
		}
	}
	pieces[3].Bonus = 0
	c := x.NewCoverage()
	c.AddText("they spoke of first_name")
	if got := x.Choose(pieces, worth, c, 1); !slices.Equal(got, []bool{false, true, false, false}) {
		t.Errorf("what is shown already is chosen: %v", got)
	}
}

func TestCoverage(t *testing.T) {
	msgs := []precis.Message{
		precis.NewText("user", "in_user src/a.go"),
		{Role: "assistant", Content: []precis.Block{precis.Thinking{Text: "in_thought"}, precis.ToolUse{ID: "1", Name: "Bash", Input: []byte(`{"command":"in_\u0063all"}`)}}},
		result("1", "in_result", false),
		precis.NewText("assistant", "in_thought"),
	}
	x := Read("", msgs)
	seen := func(c *Coverage) (out string) {
		for f := range x.Facts {
			if c.Seen(f) {
				out += x.Facts[f].Name + " "
			}
		}
		return out
	}
	c := x.NewCoverage()
	if got := seen(c); got != "" {
		t.Errorf("nothing shows %s", got)
	}
	clone := c.Clone()
	c.AddMessages(msgs[:3])
	if got := seen(c); got != "in_user src/a.go in_call in_result " {
		t.Errorf("the messages show %s", got)
	}
	if got := seen(clone); got != "" {
		t.Errorf("a clone learned %s", got)
	}
	clone.AddText("look at /abs/src/a.go, in_user_not and in_thought")
	if got := seen(clone); got != "src/a.go in_thought " {
		t.Errorf("the text shows %s", got)
	}
	part := x.NewCoverage()
	part.AddPiece(0, 3, 9)
	if got := seen(part); got != "src/a.go " {
		t.Errorf("a part shows %s", got)
	}
	if part.AddPiece(0, 0, 1); !strings.Contains(seen(part), "in_user") {
		t.Error("an anchor counts where it begins")
	}
	if !x.Mentions(0, 0, 1) || x.Mentions(0, 1, 8) || x.Mentions(0, 100, 200) {
		t.Error("Mentions")
	}
	in, _ := x.Find("in_thought", KindIdentifier)
	first, _ := x.Find("in_user", KindIdentifier)
	if p := x.LastMentions([]int{in, first}); len(p) != 2 || p[in] <= p[first] || p[first] < 0 {
		t.Errorf("places %v", p)
	}
}

// greedy is Choose as it is meant: look at all pieces, take the densest that
// fits, begin anew.
func greedyByHand(x *Index, pieces []Piece, worth []float64, c *Coverage, budget float64) []bool {
	keep, out := make([]bool, len(pieces)), make([]bool, len(pieces))
	for {
		best, most := -1, 0.0
		for i, p := range pieces {
			if out[i] {
				continue
			}
			v := p.Bonus
			counted := map[int32]bool{}
			for _, m := range x.within(p.Text, p.Start, p.End) {
				if counted[m.fact] {
					continue
				}
				counted[m.fact] = true
				if w := worth[m.fact]; c.seen[m.fact] {
					v += w * RepeatFactor
				} else {
					v += w
				}
			}
			if d := v / p.Cost; d > most {
				best, most = i, d
			}
		}
		if best < 0 {
			return keep
		}
		out[best] = true
		if p := pieces[best]; p.Cost <= budget {
			budget -= p.Cost
			keep[best] = true
			c.AddPiece(p.Text, p.Start, p.End)
		}
	}
}

func TestChooseIsGreedy(t *testing.T) {
	names := []string{"name_a", "name_b", "name_c", "name_d", "name_e", "word", "\n"}
	rapid.Check(t, func(t *rapid.T) {
		var msgs []precis.Message
		for range rapid.IntRange(1, 4).Draw(t, "messages") {
			msgs = append(msgs, precis.NewText("user", strings.Join(rapid.SliceOfN(rapid.SampledFrom(names), 1, 12).Draw(t, "names"), " ")))
		}
		x := Read("name_e", msgs)
		worth := make([]float64, len(x.Facts))
		for f := range worth {
			worth[f] = float64(rapid.IntRange(0, 4).Draw(t, "worth"))
		}
		pieces := piecesOf(x)
		for i := range pieces {
			pieces[i].Cost = float64(rapid.IntRange(1, 6).Draw(t, "cost"))
			pieces[i].Bonus = float64(rapid.IntRange(0, 2).Draw(t, "bonus"))
		}
		budget := float64(rapid.IntRange(0, 20).Draw(t, "budget"))
		c, naive := x.NewCoverage(), x.NewCoverage()
		got, want := x.Choose(pieces, worth, c, budget), greedyByHand(x, pieces, worth, naive, budget)
		if !slices.Equal(got, want) || !slices.Equal(c.seen, naive.seen) {
			t.Fatalf("%v, want %v; pieces %+v, worth %v", got, want, pieces, worth)
		}
		if again := x.Choose(pieces, worth, x.NewCoverage(), budget); !slices.Equal(again, got) {
			t.Fatalf("%v, then %v", got, again)
		}
	})
}

func TestChooseKeepsTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := Read("", someConversation(t))
		worth := x.Worths()
		r := x.NewReusePredictor(worth)
		pieces := piecesOf(x)
		for i, p := range pieces {
			pieces[i].Bonus = r.Worth(p.Text, p.Start, p.End)
		}
		budget := rapid.Float64Range(0, 300).Draw(t, "budget")
		c := x.NewCoverage()
		keep := x.Choose(pieces, worth, c, budget)
		spent := 0.0
		for i, k := range keep {
			if !k {
				continue
			}
			spent += pieces[i].Cost
			for _, m := range x.within(pieces[i].Text, pieces[i].Start, pieces[i].End) {
				if !c.Seen(int(m.fact)) {
					t.Fatalf("%s was kept and is not covered", x.Facts[m.fact].Name)
				}
			}
		}
		if spent > budget+1e-9 {
			t.Fatalf("%v of %v spent", spent, budget)
		}
		for i, k := range keep {
			if !k && pieces[i].Cost <= budget-spent && x.density(&pieces[i], worth, c) > 0 {
				t.Fatalf("piece %+v fits in the %v left", pieces[i], budget-spent)
			}
		}
	})
}

func BenchmarkChoose(b *testing.B) {
	x := Read("", large(4<<20))
	worth := x.Worths()
	pieces := piecesOf(x)
	b.ReportMetric(float64(len(pieces)), "pieces")
	for b.Loop() {
		x.Choose(pieces, worth, x.NewCoverage(), 1<<20)
	}
}
