package retain

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

// manyNames is a conversation that mentions n names in a call's result.
func manyNames(n int) []precis.Message {
	var names strings.Builder
	for i := range n {
		fmt.Fprintf(&names, "loadCartItem%d failed in src/cart_part%d.go\n", i, i)
	}
	return []precis.Message{
		precis.NewText("user", "Fix them. Never touch main_module.go. Always run make test."),
		use("1", "Bash", map[string]any{"command": "go vet > out/vet_result.txt"}),
		result("1", names.String(), true),
		precis.NewText("assistant", "I will begin with loadCartItem1, then loadCartItem2."),
	}
}

func TestMeasureCountsUp(t *testing.T) {
	msgs := manyNames(12)
	x := Read("", msgs)
	worth := x.Worths()
	note := precis.NewText("user", "summary: out/vet_result.txt, loadCartItem1; Never touch main_module.go.")
	for _, tt := range []struct {
		name            string
		whole, original []precis.Message
	}{
		{"all", msgs, msgs}, {"nothing", nil, nil}, {"a summary", []precis.Message{note}, nil},
		{"a part and a summary", []precis.Message{note, msgs[3]}, msgs[3:]}, {"another original than shown", nil, msgs},
	} {
		r := x.Measure(worth, tt.whole, tt.original)
		if r.Kept+len(r.Lost) != r.Anchors || len(r.Lost) >= policy.MaxLost {
			t.Errorf("%s: %d kept, %d lost, %d in all", tt.name, r.Kept, len(r.Lost), r.Anchors)
		}
		if r.Repaired > r.Kept || r.Share < 0 || r.Share > 1 || r.Rules != 2 || len(r.RulesLost) > 2 {
			t.Errorf("%s: %+v", tt.name, r)
		}
	}
	all, none, some := x.Measure(worth, msgs, msgs), x.Measure(worth, nil, nil), x.Measure(worth, []precis.Message{note}, nil)
	if all.Share != 1 || all.Kept != all.Anchors || all.Anchors == 0 || all.Repaired != 0 || len(all.RulesLost) != 0 {
		t.Errorf("the whole conversation keeps %+v", all)
	}
	if none.Kept != 0 || none.Share > 0.001 || len(none.RulesLost) != 2 {
		t.Errorf("nothing keeps %+v", none)
	}
	if some.Repaired != some.Kept || some.Kept == 0 || some.Share <= none.Share || len(some.RulesLost) != 1 || some.RulesLost[0].Text != "Always run make test." {
		t.Errorf("a summary keeps %+v", some)
	}
}

func TestLostAnchorsCanBeFound(t *testing.T) {
	msgs := manyNames(300)
	x := Read("", msgs)
	worth := x.Worths()
	for f := range worth {
		worth[f] = LikelyWorth + float64(f%100)/200
	}
	all := x.Measure(worth, nil, nil)
	r := all.Capped()
	if len(all.Lost) != all.FactsLost() || r.FactsLost() != all.FactsLost() {
		t.Errorf("%d of %d are known, %d after the cap", len(all.Lost), all.FactsLost(), r.FactsLost())
	}
	if len(r.Lost) != policy.MaxLost || r.Anchors <= policy.MaxLost {
		t.Fatalf("%d of %d are listed as lost", len(r.Lost), r.Anchors)
	}
	if !slices.IsSortedFunc(r.Lost, func(a, b policy.LostAnchor) int { return cmp.Compare(b.Worth, a.Worth) }) || r.Lost[0].Worth < LikelyWorth+0.49 {
		t.Error("the likeliest are not first")
	}
	for _, l := range append(r.Lost, r.RulesLost...) {
		shown, err := precis.NewTranscript(msgs...).Read(l.Handle)
		if err != nil || !strings.Contains(strings.ReplaceAll(FoldedText(shown), `\`, ""), Folded(l.Text)) {
			t.Errorf("%s %q is not at %s (%v)", l.Kind, l.Text, l.Handle, err)
		}
	}
}

func TestWrittenFilesAreAnchorsWhateverTheirWorth(t *testing.T) {
	msgs := manyNames(5)
	x := Read("", msgs)
	r := x.Measure(make([]float64, len(x.Facts)), nil, nil)
	if r.Anchors != 1 || len(r.Lost) != 1 || r.Lost[0].Text != "out/vet_result.txt" || r.Lost[0].Kind != "path" || r.Share != 1 {
		t.Errorf("%+v", r)
	}
}

func TestRulesAreCountedOnce(t *testing.T) {
	say := func(text string) precis.Message { return precis.NewText("user", text) }
	msgs := []precis.Message{
		say("Never  touch\nmain.go. Always run make test."), say("Always run make  test. Never guess."),
		precis.NewText("assistant", "You must not read this."), say("<system-reminder>Never mind.</system-reminder>"),
	}
	x := Read("", msgs)
	var got []string
	for _, r := range x.Rules() {
		got = append(got, r.Handle.String()+" "+r.Text)
	}
	if want := []string{"m0.b0 Always run make test.", "m1.b0 Never guess."}; !slices.Equal(got[len(got)-2:], want) {
		t.Errorf("%q", got)
	}
	view := []precis.Message{say("- always:   Always run\n\nmake test. NEVER GUESS.")}
	if _, lost := x.rules(FoldedText(view)); slices.ContainsFunc(lost, func(l policy.LostAnchor) bool { return strings.HasPrefix(l.Text, "Always") }) || lost[len(lost)-1].Text != "Never guess." {
		t.Errorf("lost: %+v", lost)
	}
}

func TestMeasureNeverMiscounts(t *testing.T) {
	msgs := manyNames(30)
	x := Read("make_module", msgs)
	worth := x.Worths()
	rapid.Check(t, func(t *rapid.T) {
		shown := func(name string) []precis.Message {
			var out []precis.Message
			for i := range msgs {
				if rapid.Bool().Draw(t, name) {
					out = append(out, msgs[i])
				}
			}
			return out
		}
		original := shown("original")
		whole := append(shown("added"), original...)
		less, more := x.Measure(worth, original, original), x.Measure(worth, whole, original)
		if more.Kept < less.Kept || more.Share < less.Share || more.Anchors != less.Anchors || less.Repaired != 0 || more.Repaired != more.Kept-less.Kept {
			t.Fatalf("%+v\nwith more shown: %+v", less, more)
		}
	})
}

// TestMeasureView compares what a view keeps, read from the index where it shows what was said, with what its texts say.
func TestMeasureView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := slices.Concat(manyNames(12), []precis.Message{
			use("2", "Write", map[string]any{"file_path": "src/new_part.go", "content": "func loadCartItem77() error {\n\treturn errNotFound99\n}"}), result("2", "File created", false),
			use("3", "Read", map[string]any{"file_path": "src/cart_part3.go", "limit": 4200}), result("3", "12\tfunc readCart_12()", false),
			precis.NewText("user", "Now look at docs/guide_two.md and TICKET-123."),
		})
		tr := precis.NewTranscript(msgs...)
		var edits []precis.Edit
		e := precis.Edit{ID: "e", Kind: precis.KindCondensation}
		from := rapid.IntRange(0, len(msgs)-1).Draw(t, "from")
		switch rapid.SampledFrom([]string{"nothing", "a span", "a block"}).Draw(t, "what is changed") {
		case "a span":
			e.Replace = []precis.Replacement{{From: from, To: rapid.IntRange(from+1, len(msgs)).Draw(t, "to"), With: []precis.Message{precis.NewText("user", "It was about loadCartItem3.")}}}
			edits = append(edits, e)
		case "a block":
			e.Kind, e.Replace = precis.KindPruning, []precis.Replacement{precis.ReplaceBlock(tr, 2, 0, precis.ToolResult{ToolUseID: "1", Content: []precis.Block{precis.Text{Text: "loadCartItem5 and others"}}})}
			edits = append(edits, e)
		}
		x := Read("system_name", msgs)
		worth, units := x.Worths(), precis.Units(tr, edits)
		var whole, original []precis.Message
		for _, u := range units {
			whole = append(whole, u.Messages...)
			if u.Original() {
				original = append(original, u.Messages...)
			}
		}
		if got, want := x.MeasureView(worth, units), x.Measure(worth, whole, original); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}
