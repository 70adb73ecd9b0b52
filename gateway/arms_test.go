package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/memory"
)

// arms has a gateway run an experiment: one arm acts early, the other is left alone.
func arms(t *testing.T, o *gateway.Options, assign func(string) string) {
	t.Helper()
	window(20_000)(o)
	early, err := preset.Settings(preset.Frugal)
	if err != nil {
		t.Fatal(err)
	}
	early.Percent, early.Target = 30, 15
	alone, err := preset.Settings(preset.Off)
	if err != nil {
		t.Fatal(err)
	}
	o.Profiles = map[string]*policy.Manager{}
	for name, s := range map[string]policy.Settings{"x/early": early, "x/alone": alone, "plain": alone} {
		if o.Profiles[name], err = preset.New(preset.Options{Settings: s, Variant: name}); err != nil {
			t.Fatal(err)
		}
	}
	o.Assign = assign
}

// readOn has an agent read until its requests are a half of the window, and returns its
// conversation.
func readOn(t *testing.T, base string, a *agent, headers ...string) (id, action string) {
	t.Helper()
	for n := range 8 {
		a.read(n, words(60, n+1))
		res, out := post(t, base+a.path(), a.body(false), headers...)
		if res.StatusCode != 200 {
			t.Fatal(out)
		}
		id = res.Header.Get("X-Precis-Conversation")
		if res.Header.Get("X-Precis-Action") == "reduced" {
			action = "reduced"
		}
	}
	return id, action
}

func armAndEdits(t *testing.T, g *gateway.Gateway, id string) (arm string, variants []string) {
	t.Helper()
	d, err := conversation.Status(t.Context(), g.Home(""), id)
	if err != nil {
		t.Fatal(err)
	}
	edits, err := conversation.Edits(t.Context(), g.Home(""), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range edits.Items {
		variants = append(variants, e.Report.Variant)
	}
	return d.Arm, variants
}

func TestAConversationKeepsItsArm(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects(t) {
		t.Run(dialect, func(t *testing.T) {
			s := providertest.New(t, providertest.Options{Window: 20_000})
			st := memory.New()
			arm := "x/early"
			assign := func(string) string { return arm }
			base, g := start(t, s.URL, func(o *gateway.Options) { arms(t, o, assign); o.Store = st })
			a := newAgent(dialect, "Read the first files.")
			early, action := readOn(t, base, a)
			if got, variants := armAndEdits(t, g, early); got != "x/early" || action != "reduced" || len(variants) == 0 || strings.Count(fmt.Sprint(variants), "x/early") != len(variants) {
				t.Fatalf("arm %q, %s, edits of %v", got, action, variants)
			}
			arm = "x/alone" // from now on
			b := newAgent(dialect, "Read other files.")
			alone, action := readOn(t, base, b)
			if got, variants := armAndEdits(t, g, alone); got != "x/alone" || action != "" || len(variants) != 0 {
				t.Errorf("left alone: arm %q, %s, edits of %v", got, action, variants)
			}
			if id, _ := readOn(t, base, a); id != early {
				t.Fatalf("conversation %s, want %s", id, early)
			}
			if got, variants := armAndEdits(t, g, early); got != "x/early" || strings.Contains(fmt.Sprint(variants), "alone") {
				t.Errorf("the arm became %q, edits of %v", got, variants)
			}
			// What is done by hand is done as the arm does it.
			if _, err := conversation.Condense(t.Context(), g.Home(""), early, conversation.CondenseOptions{Target: 500}); err != nil {
				t.Fatal(err)
			}
			if _, variants := armAndEdits(t, g, early); variants[len(variants)-1] != "x/early" {
				t.Errorf("by hand: edits of %v", variants)
			}
			// It is kept with the conversation, for a gateway that knows nothing else.
			if _, err := g.Home("").(conversation.Stored).Store(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			next, g2 := start(t, s.URL, func(o *gateway.Options) { arms(t, o, assign); o.Store = st })
			if id, action := readOn(t, next, a); id != early || action != "reduced" {
				t.Errorf("after a restart: %s, want %s; %s", id, early, action)
			}
			if got, _ := armAndEdits(t, g2, early); got != "x/early" {
				t.Errorf("after a restart the arm is %q", got)
			}
		})
	}
}

func TestWhoTakesPartInNoExperiment(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{Window: 20_000})
	arm := ""
	base, g := start(t, s.URL, func(o *gateway.Options) { arms(t, o, func(string) string { return arm }) })
	a := newAgent("anthropic", "Read the first files.")
	none, _ := readOn(t, base, a)
	arm = "x/early" // which begins now
	readOn(t, base, a)
	if got, variants := armAndEdits(t, g, none); got != "" || strings.Contains(fmt.Sprint(variants), "x/") {
		t.Errorf("a conversation under way is in the arm %q, edits of %v", got, variants)
	}
	asked, action := readOn(t, base, newAgent("anthropic", "Read other files."), "X-Precis-Profile", "plain")
	if got, variants := armAndEdits(t, g, asked); got != "" || action != "" || len(variants) > 0 {
		t.Errorf("who asks for a profile is in the arm %q, %s, edits of %v", got, action, variants)
	}
	arm = "gone/arm" // no profile has this name
	third := newAgent("anthropic", "Read third files.")
	readOn(t, base, third)
	readOn(t, base, third)
	if _, action := readOn(t, base, third); action == "" {
		t.Error("without its arm a conversation is not managed by the default profile")
	}
}

// What leaves or goes on from a conversation of an arm is in that arm.
func TestArmsAreInherited(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{Window: 200_000})
	arm := "x/alone"
	base, g := start(t, s.URL, func(o *gateway.Options) { arms(t, o, func(string) string { return arm }); window(200_000)(o) })
	a := condensed(t, base, s)
	arm = "x/early"
	next := newAgent("anthropic", shownSummary())
	post(t, base+next.path(), next.body(false))
	next.read(20, words(10, 20))
	res, _ := post(t, base+next.path(), next.body(false))
	if got, _ := armAndEdits(t, g, res.Header.Get("X-Precis-Conversation")); got != "x/alone" {
		t.Errorf("what goes on from a summary is in the arm %q", got)
	}
	// The client goes back and says something else.
	branch := &agent{dialect: a.dialect, messages: append(append([]string{}, a.messages[:len(a.messages)-2]...), `{"role":"assistant","content":"Done."}`, `{"role":"user","content":"Now something else."}`)}
	res, _ = post(t, base+branch.path(), branch.body(false))
	id := res.Header.Get("X-Precis-Conversation")
	d, err := conversation.Status(t.Context(), g.Home(""), id)
	if err != nil || d.Branched == "" || d.Arm != "x/alone" {
		t.Errorf("a branch of %q is in the arm %q, %v", d.Branched, d.Arm, err)
	}
}
