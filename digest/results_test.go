package digest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
)

// A command that only looks says nothing when it ends well, unless it did not before.
func TestAQueryThatFailedIsTold(t *testing.T) {
	const address = "curl -sf http://localhost:7000/ready"
	for _, tt := range []struct {
		name string
		runs []bool // whether each failed
		want string
	}{
		{"it fails", []bool{true}, `ready. → FAILED, exit code 22`},
		{"it fails, then answers", []bool{true, true, false}, `ready. ×3 → ok \(2 of 3 runs failed\)`},
		{"it answers", []bool{false}, ""},
	} {
		k := &talker{}
		k.user("Bring the service up.")
		k.bash("make up", "Exit code 2\nport in use", true)
		for _, failed := range tt.runs {
			if failed {
				k.bash(address, "Exit code 22", true)
			} else {
				k.bash(address, `{"ready":true}`, false)
			}
		}
		k.assistant("That is all.")
		got := section(digested(t, 3000, k.msgs...), "Last results")
		if tt.want == "" {
			if strings.Contains(got, "ready") {
				t.Errorf("%s: it is told:\n%s", tt.name, got)
			}
		} else if !regexp.MustCompile(tt.want).MatchString(got) {
			t.Errorf("%s: no %q in:\n%s", tt.name, tt.want, got)
		}
	}
}

// TestALookUpThatFindsNothingIsNoFailure: code 1 without a word is how programs say so; a check that fails stays.
func TestALookUpThatFindsNothingIsNoFailure(t *testing.T) {
	k := &talker{}
	k.user("Free the port.")
	k.bash("lsof -i :7000; echo ---", "Exit code 1\n---", true)
	k.bash("make test > log", "Exit code 1", true)
	k.bash("kill -9 7", "Exit code 1\nno such process", true)
	k.assistant("That is all.")
	got := section(digested(t, 3000, k.msgs...), "Last results")
	if strings.Contains(got, "lsof") || !strings.Contains(got, "make test") || !strings.Contains(got, "no such process") {
		t.Error(got)
	}
}

// TestOneSuccessBesideASummary: there the newest one is enough, and every failure.
func TestOneSuccessBesideASummary(t *testing.T) {
	k := &talker{}
	k.user("Mend the parser.")
	k.bash("make lint", "0 issues.", false)
	k.bash("make image", "Exit code 2\nno space left", true)
	k.bash("make test", "ok all", false)
	k.assistant("That is all.")
	for brief, want := range map[bool]bool{true: false, false: true} {
		got := section(summarize(t, digest.Writer{Brief: brief}, policy.SummaryRequest{Messages: k.msgs, MaxTokens: 3000}), "Last results")
		if strings.Contains(got, "make lint") != want || !strings.Contains(got, "make test") || !strings.Contains(got, "no space left") {
			t.Errorf("brief %v:\n%s", brief, got)
		}
	}
}

// Of the build of an image the line that names it is told, not what a step printed.
func TestABuiltImageIsNamed(t *testing.T) {
	k := &talker{}
	k.user("Build the image.")
	k.bash("docker build -t shop/api:2 .", "#6 1.20 ERROR_LEVEL=debug is set\n#8 exporting layers done\n#8 naming to docker.io/shop/api:2 done\n#8 DONE 0.2s", false)
	k.assistant("Built.")
	if got := section(digested(t, 3000, k.msgs...), "Last results"); !regexp.MustCompile(`naming to docker.io/shop/api:2`).MatchString(got) {
		t.Error(got)
	}
}

// TestWhatAPersonSaidOfAnOutputIsNoneOfIt: Cline writes a remark behind what a command printed.
func TestWhatAPersonSaidOfAnOutputIsNoneOfIt(t *testing.T) {
	const remark = "\n\nThe user provided the following feedback:\n<feedback>\nwhy so slow?\n</feedback>"
	for name, tt := range map[string]struct{ result, want string }{
		"a remark":         {"Command executed.\nOutput:\nserved on port 3002" + remark, "→ ok: served on port 3002; reported with it: why so slow?"},
		"a remark before":  {"served on port 3002" + remark + "\nand closed on request", "→ ok: and closed on request"},
		"a remark alone":   {"Output:" + remark, "reported with it: why so slow?"},
		"one that is open": {"served on port 3002\n<feedback>\nwhy so slow?", "→ ok: why so slow?"},
	} {
		k := &talker{}
		k.user("<task>\nServe the shop.\n</task>")
		k.call("execute_command", map[string]any{"command": "make serve"})
		k.result("[execute_command for 'make serve'] Result:\n"+tt.result, false)
		k.assistant("It is served.")
		got := section(digested(t, 900, k.msgs...), "Last results")
		if got = strings.Replace(got, "→ ended", "→ ok", 1); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Of failures with one cause the newest is told, and names the others.
func TestFailuresWithOneCauseAreOneLine(t *testing.T) {
	const cause = "Error: a download of barge is locked by another process"
	k := &talker{}
	k.user("Install barge.")
	k.bash("brew install barge", "Exit code 1\n"+cause, true)
	k.bash("sleep 5 && brew install barge | tail -3", "Exit code 1\n"+cause, true)
	k.bash("make pier", "Exit code 1\nError: there is no rule for the target pier", true)
	k.assistant("That is all.")
	got := section(digested(t, 3000, k.msgs...), "Last results")
	if strings.Count(got, cause) != 1 || !strings.Contains(got, "; so did m1 `brew install barge`") || strings.Count(got, "FAILED") != 2 {
		t.Errorf("not one line a cause:\n%s", got)
	}
}

// TestATestThatFailsAgainIsOneFailure: another command line that ran the same test before is named behind the newest failure of
// it, though the test took another time and failed at another line.
func TestATestThatFailsAgainIsOneFailure(t *testing.T) {
	s := newSession(5)
	s.user("Make the cart round.")
	s.call("Bash", map[string]any{"command": "make test | grep -A 5 TestRounding"}, "--- FAIL: TestRoundingOfTheCart (0.27s)\n    cart_test.go:41: got 1204, want 1205")
	s.call("Bash", map[string]any{"command": "go test -run TestRounding ./cart"}, "--- FAIL: TestRoundingOfTheCart (0.63s)\n    cart_test.go:52: got 7, want 8")
	got := section(digested(t, 2000, s.msgs...), "Last results")
	if strings.Count(got, "FAILED") != 1 || !strings.Contains(got, "want 8") || !strings.Contains(got, "so did m1 `make test") {
		t.Errorf("%s", got)
	}
}

// TestAScriptThatFailed: another script on the line does not make it good; after many messages nobody asks for it.
func TestAScriptThatFailed(t *testing.T) {
	steps := []string{"! python -c 'import otters' -> ModuleNotFoundError: No module named 'otters'", "$ python -c 'print(1)' -> 1"}
	const failure = "No module named 'otters'"
	lacks(t, "a script", section(digested(t, 2000, worker(steps...)...), "Last results of commands"), failure)
	for i := range 40 {
		steps = append(steps, fmt.Sprintf("$ make step%d -> built", i))
	}
	if got := section(digested(t, 2000, worker(steps...)...), "Last results of commands"); strings.Contains(got, failure) {
		t.Errorf("an experiment of long ago:\n%s", got)
	}
}
