package experiments_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/experiments"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/tokens"
)

// saying is a summarizer that always says the same.
type saying string

func (w saying) Summarize(context.Context, policy.SummaryRequest) (policy.Summary, error) {
	return policy.Summary{Text: string(w)}, nil
}

func ExampleNew() {
	x, err := experiments.New("length",
		experiments.Variant{Name: "control", Strategy: condense.Full{Summarizer: saying("The parser was fixed in parser/call.go.")}},
		experiments.Variant{Name: "short", Strategy: condense.Full{Summarizer: saying("The parser was fixed.")}},
	)
	if err != nil {
		panic(err)
	}
	fmt.Println(x.Name()) // stands where the rung of its variants stood
	for _, id := range []string{"first", "second", "third", "fourth"} {
		fmt.Println(id, x.Assign(&precis.Conversation{ID: id}).Name)
	}
	// Output:
	// condense
	// first short
	// second control
	// third control
	// fourth short
}

// rung is a strategy that does nothing but what it is told.
type rung struct {
	name string
	edit precis.Edit
	err  error
}

func (r rung) Name() string { return r.name }

func (r rung) Propose(context.Context, *policy.Situation) (precis.Edit, error) { return r.edit, r.err }

type lastRung struct{ rung }

func (lastRung) Traits() policy.Traits { return policy.Traits{LastResort: true} }

func experiment(t interface{ Fatal(...any) }, name string, variants ...experiments.Variant) *experiments.Experiment {
	x, err := experiments.New(name, variants...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// pair is an experiment of two variants of equal weight.
func pair(t interface{ Fatal(...any) }, name string) *experiments.Experiment {
	return experiment(t, name, experiments.Variant{Name: "a", Strategy: rung{name: "r"}}, experiments.Variant{Name: "b", Strategy: rung{name: "r"}})
}

func TestExperimentSaysWhatIsWrong(t *testing.T) {
	ok := experiments.Variant{Name: "a", Strategy: rung{name: "r"}}
	nested := pair(t, "inner")
	for _, tt := range []struct {
		name     string
		variants []experiments.Variant
		want     string
	}{
		{"", []experiments.Variant{ok}, "the name of the experiment is empty"},
		{" \t", []experiments.Variant{ok}, "the name of the experiment is empty"},
		{"x/y", []experiments.Variant{ok}, "holds a slash"},
		{"x", nil, "no variant"},
		{"x", []experiments.Variant{{Strategy: rung{}}}, "the name of the variant is empty"},
		{"x", []experiments.Variant{{Name: "a/b", Strategy: rung{}}}, "holds a slash"},
		{"x", []experiments.Variant{ok, ok}, `two variants of "x" are named "a"`},
		{"x", []experiments.Variant{{Name: "a", Weight: -1, Strategy: rung{}}}, `the weight of "a" is -1`},
		{"x", []experiments.Variant{{Name: "a", Weight: math.MaxInt, Strategy: rung{}}}, "want 0 to"},
		{"x", []experiments.Variant{{Name: "a"}}, `"a" has no strategy`},
		{"x", []experiments.Variant{ok, {Name: "b", Strategy: rung{name: "s"}}}, `"b" is the rung "s", the first is "r"`},
		{"x", []experiments.Variant{ok, {Name: "b", Strategy: lastRung{rung{name: "r"}}}}, "last resort"},
		{"x", []experiments.Variant{ok, {Name: "b", Strategy: nested}}, "is an experiment itself"},
	} {
		_, err := experiments.New(tt.name, tt.variants...)
		if err == nil || !strings.Contains(err.Error(), tt.want) || precis.CodeOf(err) != precis.CodeInvalid {
			t.Errorf("%q: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestAssignmentIsInProportion: the share of each variant is that of its weight,
// by ID and by first message.
func TestAssignmentIsInProportion(t *testing.T) {
	const n = 2000
	rapid.Check(t, func(t *rapid.T) {
		var variants []experiments.Variant
		total := 0
		for i, w := range rapid.SliceOfN(rapid.IntRange(0, 9), 1, 5).Draw(t, "weights") {
			variants = append(variants, experiments.Variant{Name: fmt.Sprint("v", i), Weight: w, Strategy: rung{name: "r"}})
			total += max(w, 1)
		}
		x := experiment(t, rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name"), variants...)
		byID := rapid.Bool().Draw(t, "by ID")
		from := rapid.IntRange(0, 1<<40).Draw(t, "from")
		got := map[string]int{}
		for i := range n {
			conv := &precis.Conversation{ID: fmt.Sprint(from + i)}
			if !byID {
				conv.Transcript, conv.ID = precis.NewTranscript(precis.NewText(precis.RoleUser, conv.ID)), ""
			}
			got[x.Assign(conv).Name]++
		}
		for _, v := range variants {
			p := float64(max(v.Weight, 1)) / float64(total)
			if off := math.Abs(float64(got[v.Name]) - n*p); off > 6*math.Sqrt(n*p*(1-p)) {
				t.Fatalf("%s of weight %d in %d got %d of %d", v.Name, v.Weight, total, got[v.Name], n)
			}
		}
	})
}

func TestAssignmentStaysWhileAConversationGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 20, -1)
		conv := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText(precis.RoleUser, text.Draw(t, "first")))}
		if rapid.Bool().Draw(t, "has an ID") {
			conv.ID = text.Draw(t, "ID")
		}
		x, replica := pair(t, "x"), pair(t, "x")
		want := x.Assign(conv).Name
		for range rapid.IntRange(1, 8).Draw(t, "messages") {
			conv.Transcript.Append(precis.NewText(precis.RoleAssistant, text.Draw(t, "next")))
			if conv.ID != "" {
				conv.Transcript = precis.NewTranscript(conv.Transcript.Messages()[conv.Transcript.Len()-1]) // the ID alone decides
			}
			conv.Title, conv.Model = text.Draw(t, "title"), text.Draw(t, "model")
			if got := x.Assign(conv).Name; got != want || replica.Assign(conv).Name != want {
				t.Fatalf("assigned to %s, before to %s", got, want)
			}
		}
	})
}

// TestExperimentsAreIndependent: who gets what in one says nothing about another.
// The counts of the four cells do not depend on chance; they are hashes.
func TestExperimentsAreIndependent(t *testing.T) {
	const n = 4000
	x, y := pair(t, "x"), pair(t, "y")
	cells := map[string]int{}
	for i := range n {
		conv := &precis.Conversation{ID: fmt.Sprint("conversation ", i)}
		cells[x.Assign(conv).Name+y.Assign(conv).Name]++
	}
	for _, c := range []string{"aa", "ab", "ba", "bb"} {
		if off := math.Abs(float64(cells[c]) - n/4); off > 4*math.Sqrt(n*0.25*0.75) {
			t.Errorf("%s: %d of %d; all: %v", c, cells[c], n, cells)
		}
	}
	if got := x.Assign(nil).Name; got != x.Assign(&precis.Conversation{}).Name {
		t.Errorf("no conversation is assigned to %s, an empty one is not", got)
	}
}

func TestExperimentStampsWhatItsVariantProposes(t *testing.T) {
	edit := precis.Edit{Kind: precis.KindCondensation, Report: precis.EditReport{Reason: "why", Call: &precis.CallReport{Calls: 3}}}
	failure := errors.New("no answer")
	for _, r := range []rung{{name: "r", edit: edit}, {name: "r", edit: edit, err: failure}} {
		x := experiment(t, "x", experiments.Variant{Name: "only", Strategy: r})
		for _, s := range []*policy.Situation{{}, {Conversation: &precis.Conversation{ID: "c"}}} {
			e, err := x.Propose(t.Context(), s)
			if !errors.Is(err, r.err) || e.Report.Variant != "x/only" || e.Report.Reason != "why" || e.Report.Call.Calls != 3 {
				t.Errorf("%+v, %v", e.Report, err)
			}
		}
	}
	if !policy.TraitsOf(pair(t, "x")).UsesModel {
		t.Error("the experiment does not count as one that calls a model")
	}
}

// TestExperimentOnTheLadder has both variants condense, and looks at what came of
// it.
func TestExperimentOnTheLadder(t *testing.T) {
	x := experiment(t, "length",
		experiments.Variant{Name: "control", Strategy: condense.Full{Summarizer: saying(strings.Repeat("The parser was fixed. ", 40))}},
		experiments.Variant{Name: "short", Strategy: condense.Full{Summarizer: saying("The parser was fixed.")}})
	m := climbing(t, x)
	var all []experiments.Outcome
	for i := range 8 {
		conv := reads(fmt.Sprint("c", i))
		res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 16_000}, TriggeredBy: precis.TriggeredManual})
		if err != nil || len(res.Edits) != 1 {
			t.Fatalf("%v: %+v", err, res.Report.Steps)
		}
		if i%2 == 0 {
			if _, err := m.Undo(t.Context(), conv); err != nil {
				t.Fatal(err)
			}
		}
		got := experiments.Outcomes(conv)
		if len(got) != 1 || got[0].Experiment != "length" || got[0].Variant != x.Assign(conv).Name || got[0].Undone != (i%2 == 0) ||
			got[0].Saved != res.Report.Before.Tokens-res.Report.After.Tokens {
			t.Fatalf("%+v", got)
		}
		all = append(all, got...)
	}
	stats := experiments.Compare(all)
	if len(stats) != 2 || stats[0].Conversations+stats[1].Conversations != 8 {
		t.Fatalf("%+v", stats)
	}
	for _, s := range stats[1:] { // every conversation is of one size, so nothing varies within a variant
		d := s.Differences[experiments.MetricSaved]
		if d.Mean == 0 || d.Interval != nil || d.BeyondChance() {
			t.Errorf("saved: %+v", d)
		}
	}
}

// climbing makes a manager with one rung.
func climbing(t *testing.T, rung policy.Strategy) *policy.Manager {
	t.Helper()
	counter, err := tokens.New(tokens.Options{Name: tokens.NameChars4})
	if err != nil {
		t.Fatal(err)
	}
	s := policy.DefaultSettings()
	s.MinModelWindow = 0
	m, err := policy.NewManager(policy.Options{Settings: s, Counter: counter, Strategies: []policy.Strategy{rung}, Gate: digest.Gate{}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// reads is a conversation that reads 20 files of 2000 characters.
func reads(id string) *precis.Conversation {
	tr := precis.NewTranscript(precis.NewText(precis.RoleUser, "fix the parser"))
	for i := range 20 {
		call, line := fmt.Sprint("c", i), fmt.Sprintf("line of f%d\n", i)
		tr.Append(
			precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: call, Name: "Read", Input: fmt.Appendf(nil, `{"path":"f%d.go"}`, i)}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: call, Content: []precis.Block{precis.Text{Text: strings.Repeat(line, 181)}}}}})
	}
	return &precis.Conversation{ID: id, Model: "m", Transcript: tr}
}
