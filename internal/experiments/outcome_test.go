package experiments_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/experiments"
)

// tape is a conversation that is written call by call.
type tape struct {
	t    testing.TB
	conv *precis.Conversation
}

func newTape(t testing.TB) *tape {
	return &tape{t, &precis.Conversation{ID: "tape", Transcript: precis.NewTranscript(precis.NewText(precis.RoleUser, "go on"))}}
}

// calls appends calls: "read PATH", "write PATH", "run COMMAND", "search WORD",
// each a message with the call and one with its result.
func (p *tape) calls(lines ...string) *tape {
	for _, line := range lines {
		what, arg, _ := strings.Cut(line, " ")
		name, input := what, fmt.Sprintf(`{"query":%q}`, arg)
		switch what {
		case "read":
			name, input = "read_file", fmt.Sprintf(`{"path":%q}`, arg)
		case "write":
			name, input = "write_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, arg)
		case "run":
			name, input = "bash", fmt.Sprintf(`{"command":%q}`, arg)
		}
		id := fmt.Sprint("t", p.conv.Transcript.Len())
		p.conv.Transcript.Append(
			precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: name, Input: []byte(input)}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: "what came of " + line}}}}})
	}
	return p
}

// edit records an edit at the end of the tape as it is now.
func (p *tape) edit(e precis.Edit) *tape {
	p.t.Helper()
	e.ID = fmt.Sprint("edit ", len(p.conv.Edits))
	if err := e.Identify(p.conv.Transcript); err != nil {
		p.t.Fatal(err)
	}
	if err := precis.CheckEdit(p.conv.Transcript, p.conv.Edits, e); err != nil {
		p.t.Fatal(err)
	}
	p.conv.Edits = append(p.conv.Edits, e)
	return p
}

// hide condenses messages [from,to).
func (p *tape) hide(from, to int) *tape {
	p.t.Helper()
	return p.edit(precis.Edit{Kind: precis.KindCondensation, Report: precis.EditReport{Rung: "condense"},
		Replace: []precis.Replacement{{From: from, To: to, With: []precis.Message{precis.NewText(precis.RoleUser, "summary")}}}})
}

// shorten prunes the result in message i.
func (p *tape) shorten(i int, kind precis.EditKind, run string) *tape {
	p.t.Helper()
	r := p.conv.Transcript.At(i).Content[0].(precis.ToolResult)
	return p.edit(precis.Edit{Kind: kind, Run: run, Report: precis.EditReport{Rung: "prune"}, Replace: []precis.Replacement{
		precis.ReplaceBlock(p.conv.Transcript, i, 0, precis.ToolResult{ToolUseID: r.ToolUseID, Content: []precis.Block{precis.Text{Text: "…"}}})}})
}

func (p *tape) undo(ids ...string) *tape {
	p.t.Helper()
	return p.edit(precis.Edit{Kind: precis.KindUndo, Undoes: ids})
}

// TestRereads: messages 1 and 2 are the first call and its result, 3 and 4 the
// second …
func TestRereads(t *testing.T) {
	many := func(line string, n int) []string {
		var out []string
		for range n {
			out = append(out, line)
		}
		return out
	}
	for name, tt := range map[string]struct {
		tape                 func(p *tape)
		after, hidden, shown int
	}{
		"nothing follows":         {func(p *tape) { p.calls("read a").hide(1, 3) }, 0, 0, 0},
		"nothing is asked again":  {func(p *tape) { p.calls("read a").hide(1, 3).calls("read b", "run make") }, 4, 0, 0},
		"a hidden file":           {func(p *tape) { p.calls("read a", "read b").hide(1, 3).calls("read a") }, 2, 1, 0},
		"by another way to it":    {func(p *tape) { p.calls("read a", "read b").hide(1, 3).calls("read ./a") }, 2, 1, 0},
		"a file left in the view": {func(p *tape) { p.calls("read a", "read b").hide(1, 3).calls("read b") }, 2, 0, 1},
		"both":                    {func(p *tape) { p.calls("read a", "read b").hide(1, 3).calls("read b", "read c", "read a") }, 6, 1, 1},
		"a hidden command":        {func(p *tape) { p.calls("run make", "read b").hide(1, 3).calls("run make") }, 2, 1, 0},
		"another command":         {func(p *tape) { p.calls("run make", "read b").hide(1, 3).calls("run make all") }, 2, 0, 0},
		"a search is neither":     {func(p *tape) { p.calls("search x", "read b").hide(1, 3).calls("search x") }, 2, 0, 0},
		"once":                    {func(p *tape) { p.calls("read a", "read b").hide(1, 3).calls("read a", "read a") }, 4, 1, 0},
		"shown elsewhere":         {func(p *tape) { p.calls("read a", "read a").hide(1, 3).calls("read a") }, 2, 0, 1},
		"shown elsewhere, before": {func(p *tape) { p.calls("read a", "read a").hide(3, 5).calls("read a") }, 2, 0, 1},
		"written in between":      {func(p *tape) { p.calls("read a", "read b").hide(1, 3).calls("write a", "read a") }, 4, 0, 0},
		"another written":         {func(p *tape) { p.calls("read a", "read b").hide(1, 3).calls("write b", "read a") }, 4, 1, 0},
		"written by a command":    {func(p *tape) { p.calls("read a", "read b").hide(1, 3).calls("run rm a", "read a") }, 4, 0, 0},
		"run after a change":      {func(p *tape) { p.calls("run make", "read b").hide(1, 3).calls("write b", "run make") }, 4, 0, 0},
		"written before":          {func(p *tape) { p.calls("read a", "write a").hide(1, 3).calls("read a") }, 2, 1, 0},
		"in time":                 {func(p *tape) { p.calls("read a").hide(1, 3).calls(many("search x", 19)...).calls("read a") }, 40, 1, 0},
		"too late":                {func(p *tape) { p.calls("read a").hide(1, 3).calls(many("search x", 20)...).calls("read a") }, 40, 0, 0},
		"until it is undone": {func(p *tape) {
			p.calls("read a", "read b").hide(1, 3).calls("read c").undo("edit 0").calls("read a")
		}, 2, 0, 0},
		"undone and redone": {func(p *tape) {
			p.calls("read a", "read b").hide(1, 3).calls("read c").undo("edit 0").undo("edit 1").calls("read a")
		}, 4, 1, 0},
		"shortened": {func(p *tape) {
			p.calls("read a", "read b").shorten(2, precis.KindPruning, "").calls("read a", "read b")
		}, 4, 1, 1},
		"hidden by another kind": {func(p *tape) {
			p.calls("read a", "read b").shorten(2, precis.KindClip, "run").shorten(4, precis.KindPruning, "run").calls("read a", "read b")
		}, 4, 1, 0},
		"hidden before": {func(p *tape) {
			p.calls("read a", "read b", "read c").shorten(2, precis.KindClip, "").hide(1, 5).calls("read a", "read b", "read c")
		}, 6, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTape(t)
			tt.tape(p)
			got := experiments.Outcomes(p.conv)
			if len(got) != 1 || got[0].After != tt.after || got[0].Rereads != tt.hidden || got[0].RereadsShown != tt.shown {
				t.Errorf("got %+v, want %d after, %d hidden, %d shown", got, tt.after, tt.hidden, tt.shown)
			}
		})
	}
}

// TestEachRunCountsItsOwnRereads: a result is hidden once.
func TestEachRunCountsItsOwnRereads(t *testing.T) {
	p := newTape(t).calls("read a", "read b").hide(1, 3).calls("read c").hide(0, 5).calls("read a", "read b")
	got := experiments.Outcomes(p.conv)
	if len(got) != 2 || got[0].Rereads != 1 || got[0].RereadsShown != 1 || got[1].Rereads != 1 || got[1].RereadsShown != 0 || got[0].After != 6 {
		t.Errorf("%+v", got)
	}
	if m := experiments.Compare(got); len(m) != 1 || m[0].Conversations != 1 || m[0].Condensations != 2 || m[0].Means[experiments.MetricRereads].Mean != 1 {
		t.Errorf("%+v", m)
	}
}

// TestRereadsAreAtMostTheCallsThatFollow holds for anything that is read, written,
// hidden and undone in any order.
func TestRereadsAreAtMostTheCallsThatFollow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newTape(t)
		lines := rapid.SampledFrom([]string{"read a", "read b", "run make", "run sed -i s/x/y/ b", "write a", "search x"})
		least := 1 // spans must not cross
		for range rapid.IntRange(1, 5).Draw(rt, "rounds") {
			p.calls(rapid.SliceOfN(lines, 0, 25).Draw(rt, "calls")...)
			if n := (p.conv.Transcript.Len() - 1) / 2; n >= least && rapid.Bool().Draw(rt, "condense") {
				least = rapid.IntRange(least, n).Draw(rt, "hidden")
				p.hide(0, 1+2*least)
				if rapid.Bool().Draw(rt, "undo") {
					p.undo(p.conv.Edits[len(p.conv.Edits)-1].ID)
				}
			}
		}
		got := experiments.Outcomes(p.conv)
		for _, o := range got {
			if o.After > experiments.Following || 2*(o.Rereads+o.RereadsShown) > o.After {
				rt.Fatalf("%+v", o)
			}
		}
		if again := experiments.Outcomes(p.conv); !reflect.DeepEqual(got, again) {
			rt.Fatalf("%+v, then %+v", got, again)
		}
	})
}

func TestARunCountsOnce(t *testing.T) {
	report := func(rung, variant string, call *precis.CallReport) precis.EditReport {
		return precis.EditReport{Rung: rung, Variant: variant, Call: call, CostUSD: 0.25, TokensBefore: 1000, TokensAfter: 900, Likely: 4, Held: 3, Repaired: 1}
	}
	call := &precis.CallReport{Model: "m", Calls: 2, Took: time.Second, CostUSD: 0.25}
	prune := precis.Edit{Kind: precis.KindPruning, Run: "R"}
	hide := precis.Edit{Kind: precis.KindCondensation, Run: "R"}
	other := precis.Edit{Kind: precis.KindDedupe, Run: "R", Report: report("dedupe", "", nil)}
	with := func(e precis.Edit, id string, r precis.EditReport) precis.Edit {
		e.ID, e.Report = id, r
		return e
	}
	for name, tt := range map[string]struct {
		edits []precis.Edit
		want  []string // experiment, variant, model, tokens saved, calls
	}{
		"a condensation leads":    {[]precis.Edit{other, with(prune, "1", report("prune", "", nil)), with(hide, "2", report("digest", "", nil))}, []string{" digest  200 0"}},
		"a model's edit leads":    {[]precis.Edit{with(hide, "1", report("digest", "", nil)), with(prune, "2", report("selective", "", call))}, []string{" selective m 200 2"}},
		"a pruning alone":         {[]precis.Edit{other, with(prune, "1", report("prune", "", nil))}, []string{" prune  100 0"}},
		"a variant leads":         {[]precis.Edit{with(prune, "1", report("selective", "", call)), with(hide, "2", report("condense", "x/a", call))}, []string{"x a m 200 4"}},
		"two experiments":         {[]precis.Edit{with(prune, "1", report("selective", "y/b", call)), with(hide, "2", report("condense", "x/a", nil))}, []string{"y b m 200 2", "x a  200 2"}},
		"one variant, two edits":  {[]precis.Edit{with(hide, "1", report("condense", "x/a", call)), with(hide, "2", report("condense", "x/a", call))}, []string{"x a m 200 4"}},
		"two runs":                {[]precis.Edit{with(hide, "1", report("condense", "", call)), {ID: "2", Kind: precis.KindPruning, Report: report("prune", "", nil)}}, []string{" condense m 100 2", " prune  100 0"}},
		"recorded by another":     {[]precis.Edit{{ID: "1", Kind: precis.KindCondensation, Report: precis.EditReport{Trigger: "recorded"}}}, []string{" recorded  0 0"}},
		"no report":               {[]precis.Edit{with(hide, "1", precis.EditReport{})}, nil},
		"neither is in it":        {[]precis.Edit{other}, nil},
		"without the report's":    {[]precis.Edit{with(hide, "1", precis.EditReport{Rung: "condense", TokensBefore: 5})}, []string{" condense  0 0"}},
		"no edit":                 {nil, nil},
		"a variant without slash": {[]precis.Edit{with(hide, "1", report("condense", "odd", call))}, []string{" condense m 100 2"}},
	} {
		var got []string
		for _, o := range experiments.Outcomes(&precis.Conversation{ID: "c", Transcript: precis.NewTranscript(precis.NewText(precis.RoleUser, "x")), Edits: tt.edits}) {
			got = append(got, fmt.Sprint(o.Experiment, " ", o.Variant, " ", o.Model, " ", o.Saved, " ", o.Calls))
			if o.Before > 0 && (o.Before != 1000 || o.Likely == 0 || o.Held*4 != o.Likely*3 || o.CostUSD != 0.25*float64(o.Repaired)) {
				t.Errorf("%s: %+v", name, o)
			}
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if got := experiments.Outcomes(nil); got != nil {
		t.Errorf("no conversation has %v", got)
	}
}

// TestUndoneIsWhatUsersTookBack: an undo that was undone takes nothing back, and
// going back in the conversation is another thing.
func TestUndoneIsWhatUsersTookBack(t *testing.T) {
	is := func(what string, p *tape, want bool) {
		t.Helper()
		if got := experiments.Outcomes(p.conv); len(got) != 1 || got[0].Undone != want {
			t.Errorf("%s: %+v", what, got)
		}
	}
	p := newTape(t).calls("read a", "read b").hide(1, 3)
	is("made", p, false)
	p.undo(p.conv.Edits[0].ID)
	is("undone", p, true)
	p.undo(p.conv.Edits[1].ID)
	is("redone", p, false)
	p.undo(p.conv.Edits[0].ID)
	is("undone again", p, true)
	p = newTape(t).calls("read a", "read b").hide(1, 3)
	p.edit(precis.Edit{Kind: precis.KindRewind, Undoes: []string{p.conv.Edits[0].ID}, Replace: []precis.Replacement{{From: 3, To: 5}}})
	is("rewound", p, false)
}
