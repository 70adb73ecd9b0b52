package digest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/reduce"
)

const ostrich = "Base directory for this skill: /h/skills/deploy-ostrich\n\n# Deploy\n1. Run ./deploy.sh --dry-run first.\n2. Never deploy on a Friday.\n3. Post the result to #ostrich-deploys.\n"

func TestDigestTellsWhatStillHolds(t *testing.T) {
	k := &talker{}
	k.user("Build the shop.")
	k.msgs = append(k.msgs, precis.NewText("system", "All output for area 2 must be in French."))
	k.call("Skill", map[string]any{"skill": "deploy-ostrich"})
	k.result("Launching skill: deploy-ostrich", false)
	k.user(ostrich)
	k.call("Bash", map[string]any{"command": "make soak", "run_in_background": true})
	k.result("Command running in background with ID: b7", false)
	k.call("Bash", map[string]any{"command": "make lint", "run_in_background": true})
	k.result("Command running in background with ID: b8", false)
	k.call("Bash", map[string]any{"command": "make docs", "run_in_background": true})
	k.result("Command running in background with ID: b9", false)
	k.msgs = append(k.msgs, precis.NewText("system", "[SYSTEM NOTIFICATION - NOT USER INPUT]\n<task-notification>\n<task-id>b9</task-id>\n<status>completed</status>\n<summary>Background command \"make docs\" completed (exit code 0)</summary>\n</task-notification>"))
	k.msgs = append(k.msgs, precis.NewText("system", "[SYSTEM NOTIFICATION - NOT USER INPUT]\n<task-notification>\n<task-id>b8</task-id>\n<status>failed</status>\n<summary>make lint failed with exit code 2</summary>\n</task-notification>"))
	k.call("ExitPlanMode", map[string]any{"plan": "1. read it\n2. wire the cache\n- You must never touch the API."})
	k.result("User has approved your plan. You can now start coding.", false)
	got := digested(t, 2000, k.msgs...)
	lacks(t, "instructions", section(got, "Standing instructions"), "- m1: All output for area 2 must be in French.")
	if rules := section(got, "Typed by the user"); strings.Contains(rules, "French") || strings.Contains(rules, "Friday") {
		t.Errorf("the program's words are rules of the user: %s", rules)
	}
	lacks(t, "skills", section(got, "Skills that were loaded"), "deploy-ostrich (read it again in /h/skills/deploy-ostrich/SKILL.md)", "  - Never deploy on a Friday.", "#ostrich-deploys")
	if jobs := section(got, "Agents and background work"); strings.Contains(jobs, "b9") {
		t.Errorf("nothing is to be said of a job that is done:\n%s", jobs)
	}
	lacks(t, "jobs", section(got, "Agents and background work"), "Bash b7 (make soak): running\n", "Bash b8 (make lint): failed at m12: make lint failed with exit code 2")
	lacks(t, "commands", section(got, "Last results"), "`make soak` → still running in the background", "`make lint` → FAILED: make lint failed")
	lacks(t, "plan", section(got, "Plan"), "- [ ] wire the cache", "the plan says: You must never touch the API.")

	s := stateOf(k.msgs)
	if len(s.Jobs) != 3 || s.Jobs[0].State != "running" || s.Jobs[1].State != "failed" || s.Jobs[1].At.From != 12 || len(s.Skills) != 1 || s.Skills[0].Name != "deploy-ostrich" || len(s.Skills[0].Orders) != 3 || len(s.Standing) != 1 || len(s.Plan) != 2 {
		t.Errorf("%+v", s)
	}
	for _, c := range s.Commands {
		if c.Command == "make lint" && c.Outcome != "failed" {
			t.Errorf("%+v", c)
		}
	}
}

func TestAPlanFindsRoomForWhatIsOpen(t *testing.T) {
	k := &talker{}
	k.user("Build the shop.")
	var todos []map[string]any
	for i := range 60 {
		state := "completed"
		if i >= 55 {
			state = "pending"
		}
		todos = append(todos, map[string]any{"content": fmt.Sprintf("step %d of the work on the shop", i), "status": state})
	}
	k.call("TodoWrite", map[string]any{"todos": todos})
	k.result("ok", false)
	for _, size := range []int{400, 1000, 4000} {
		plan := section(digested(t, size, k.msgs...), "Plan")
		for i := 55; i < 60; i++ {
			lacks(t, fmt.Sprint(size), plan, fmt.Sprintf("- [ ] step %d of", i))
		}
		if n := strings.Count(plan, "[x]"); n > 8 || !strings.Contains(plan, fmt.Sprintf("- and %d more that are done", 55-n)) {
			t.Errorf("%d tokens: %s", size, plan)
		}
	}
}

func TestARequestThatIsSaidAgainTakesOneLine(t *testing.T) {
	k := &talker{}
	for range 20 {
		k.user("Please go on with the next item.")
		k.assistant("It is finished. It went well.")
	}
	k.user("And now?")
	got := digested(t, 1000, k.msgs...)
	if n := strings.Count(got, "Please go on with"); n != 1 || !strings.Contains(got, "- m38: Please go on with the next item.\n  (said 20 times, first at m0)") {
		t.Errorf("%d times:\n%s", n, got)
	}
}

// What the ladder carries behind a digest is not said in it again; a skill that only a
// result holds is.
func TestWhatIsCarriedIsNotSaidTwice(t *testing.T) {
	s := newSession(5)
	s.user("Build the shop.")
	s.msgs = append(s.msgs, precis.NewText("system", "All output for area 2 must be in French."))
	s.user(ostrich)
	s.call("Skill", map[string]any{"skill": "release"}, "Launching skill: release\n\nAlways list breaking changes first.")
	for i := range 60 {
		s.call("Read", map[string]any{"file_path": fmt.Sprintf("%sf%d.go", root, i)}, s.source(fmt.Sprintf("f%d.go", i), 30))
	}
	s.user("And now?")
	s.says("It is done.")
	m, err := policy.NewManager(policy.Options{Counter: counter(t), Strategies: []policy.Strategy{digest.Rung{}, digest.MoreRung{}, reduce.Truncate{}}, Gate: digest.Gate{}})
	if err != nil {
		t.Fatal(err)
	}
	conv := &precis.Conversation{Transcript: precis.NewTranscript(s.msgs...)}
	res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 12_000}, TriggeredBy: precis.TriggeredForced})
	if err != nil {
		t.Fatal(err)
	}
	var view []string
	for _, msg := range res.View {
		view = append(view, msg.PlainText())
	}
	all := strings.Join(view, "\n")
	if !slices.ContainsFunc(view, func(t string) bool { return strings.HasPrefix(t, "[Digest of") }) {
		t.Fatalf("no digest:\n%.2000s", all)
	}
	for _, once := range []string{"must be in French", "Never deploy on a Friday", "Always list breaking changes first"} {
		if n := strings.Count(all, once); n != 1 {
			t.Errorf("%q stands in the view %d times", once, n)
		}
	}
}

func TestGateAddsWhatASkillOrders(t *testing.T) {
	s := long(20)
	s.call("Skill", map[string]any{"skill": "release"}, "Launching skill: release\n\nAlways list breaking changes first.\nNever skip the changelog.")
	s.says("The skill is loaded.")
	got := digest.Repair(policy.SummaryRequest{Messages: s.msgs, Previous: "The skill release is loaded. Always list breaking changes first."}, digest.RepairOptions{})
	skills := section(got.Text, "Skills that were loaded")
	if !strings.Contains(skills, "Never skip the changelog.") || strings.Contains(skills, "breaking changes") {
		t.Errorf("skills %q", skills)
	}
}

// TestSkillsOfOldRequestsAreNotListed: a skill belongs to the requests since which it was loaded.
func TestSkillsOfOldRequestsAreNotListed(t *testing.T) {
	s := newSession(1)
	s.user("Release it.")
	s.call("Skill", map[string]any{"skill": "release"}, "Launching skill: release\n\nAlways list breaking changes first.")
	for _, request := range []string{"Now mend the cart.", "And the ledger.", "And the lamp."} {
		s.user(request)
		s.call("Skill", map[string]any{"skill": "repair"}, "Launching skill: repair\n\nAlways add a test.")
	}
	got := section(digested(t, 900, s.msgs...), "Skills that were loaded")
	if strings.Contains(got, "release") || !strings.Contains(got, "repair") {
		t.Error(got)
	}
}
