package digest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/verify"
)

func request(s *session, text string) policy.SummaryRequest {
	return policy.SummaryRequest{Messages: s.msgs, Previous: text}
}

func verified(s *session, text string) verify.Report { return digest.Verify(request(s, text), "", nil) }

// shares writes what a text holds of each kind.
func shares(r verify.Report) string {
	var out []string
	for _, k := range r.Kinds {
		out = append(out, fmt.Sprintf("%s %d/%d", k.Kind, k.Holds, k.Of))
	}
	return strings.Join(out, ", ")
}

// pier is a conversation with something of every kind that a summary is to hold.
func pier() *session {
	s := newSession(5)
	s.user("Mend the tide gauge, please. Keep its name!")
	s.call("TodoWrite", map[string]any{"todos": []any{map[string]any{"content": "calibrate the float", "status": "pending", "activeForm": "calibrating"}}}, "Todos have been modified successfully.")
	s.call("Write", map[string]any{"file_path": root + "gauge/float.go", "content": "package gauge"}, "File created successfully")
	s.call("Write", map[string]any{"file_path": root + "gauge/tide.go", "content": "package gauge"}, "File created successfully")
	s.call("Bash", map[string]any{"command": "go test ./gauge"}, "Exit code 1\n--- FAIL: TestFloatSinks (0.00s)\n    float_test.go:9: got 3, want 4\nFAIL")
	s.call("Bash", map[string]any{"command": "./seed-harbor --all"}, "Exit code 3\nseed-harbor: no such pier: EASTPIER")
	s.call("Bash", map[string]any{"command": "./watch-tides", "run_in_background": true}, "Command running in background with ID: bash_7")
	return s
}

func TestVerifyCounts(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Nothing of it.", "words 0/42, files 0/2, failures 0/2, steps 0/1, jobs 0/1"},
		{"The user: “mend the tide gauge please”", "words 28/42, files 0/2, failures 0/2, steps 0/1, jobs 0/1"},
		{"Mend the tide gauge, please.\nKeep its name! Wrote float.go, tide.go.", "words 42/42, files 2/2, failures 0/2, steps 0/1, jobs 0/1"},
		{"Mend the tide gauges, please. Wrote afloat.go.", "words 0/42, files 0/2, failures 0/2, steps 0/1, jobs 0/1"},
		{"TestFloatSinks fails. bash_7 runs. Next: calibrate the float.", "words 0/42, files 0/2, failures 1/2, steps 1/1, jobs 1/1"},
		{"The tests fail, and `./seed-harbor --all` failed.", "words 0/42, files 0/2, failures 2/2, steps 0/1, jobs 0/1"},
		{"The tests were run, and ./seed-harbor --all too.", "words 0/42, files 0/2, failures 0/2, steps 0/1, jobs 0/1"},
	} {
		if got := shares(verified(pier(), c.text)); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
	if r := digest.Verify(request(pier(), "Nothing of it."), "Keep its name! float.go", nil); shares(r) != "words 14/42, files 1/2, failures 0/2, steps 0/1, jobs 0/1" {
		t.Errorf("what is shown beside a text is lacking: %s", shares(r))
	}
	if r := digest.Verify(request(pier(), "Nothing of it."), "", func(i int) bool { return i == 0 }); !strings.HasPrefix(shares(r), "words 42/42") {
		t.Errorf("a message that is shown is lacking: %s", shares(r))
	}
}

// TestTheNewestFailureIsMeant: a sentence that names a kind of check, and no run, mentions the newest failure of the kind alone.
func TestTheNewestFailureIsMeant(t *testing.T) {
	s := pier()
	s.call("Bash", map[string]any{"command": "pytest tools/tides"}, "Exit code 1\nE   AssertionError: low tide\n1 failed in 0.12s")
	if got := shares(verified(s, "The tests fail.")); !strings.Contains(got, "failures 1/3") {
		t.Error(got)
	}
}

// TestPastedTextIsNotTyped: a log that a person pastes does not count among the words that a summary is to hold.
func TestPastedTextIsNotTyped(t *testing.T) {
	s := newSession(5)
	s.user("Why does it stop?\n```\npanic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n```\n")
	r := verified(s, "The user asks: Why does it stop?")
	if holds, of := r.WordsHeld(); holds != 17 || of != 17 {
		t.Errorf("%d of %d characters", holds, of)
	}
}

// TestAListIsHeldAsAWhole: a list that the user typed with its title is one unit, as a digest quotes it.
func TestAListIsHeldAsAWhole(t *testing.T) {
	s := newSession(5)
	s.user("Paint the pier.\nDo not:\n- move the gauge\n- wake the pilots")
	for text, want := range map[string]int{
		"Paint the pier. Do not: move the gauge; wake the pilots": 57, "Paint the pier. Do not: move the gauge": 15, "Nothing.": 0,
	} {
		if holds, of := verified(s, text).WordsHeld(); holds != want || of != 57 {
			t.Errorf("%q: %d of %d characters", text, holds, of)
		}
	}
}

// TestAPictureIsNotTyped: what stands for a picture in a digest does not count among the words of the user.
func TestAPictureIsNotTyped(t *testing.T) {
	s := newSession(5)
	picture := precis.Image{Data: "cG5n", MediaType: "image/png"}
	s.msgs = append(s.msgs, precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.Text{Text: "Why is it red?"}, picture}})
	if holds, of := verified(s, "The user asks: Why is it red?").WordsHeld(); holds != 14 || of != 14 {
		t.Errorf("%d of %d characters", holds, of)
	}
}

// TestClassesFail: each class fails for what belongs to it alone, and the default of the commands passes an honest summary.
func TestClassesFail(t *testing.T) {
	const honest = "Mend the tide gauge, please. Keep its name! Wrote float.go and tide.go; TestFloatSinks fails, `./seed-harbor --all` failed. bash_7 runs. Next: calibrate the float."
	for text, want := range map[string][]string{
		honest: {},
		strings.Replace(honest, "Keep its name!", "", 1):         {"words"},
		strings.Replace(honest, " and tide.go", "", 1):           {"files"},
		strings.Replace(honest, "TestFloatSinks fails, ", "", 1): {"failures"},
		strings.Replace(honest, "bash_7", "It", 1):               {"jobs"},
		strings.Replace(honest, "the float", "it", 1):            {"steps"},
		honest + "\nThe mooring is in gauge/mooring.go.":         {"invents"},
		honest + "\nDeleted tide.go.":                            {"contradicts", "invents"},
		honest + "\nIt was pushed to origin.":                    {"invents"},
	} {
		if got := verified(pier(), text).Fails(verify.Classes); !slices.Equal(got, want) {
			t.Errorf("%q fails on %q, want %q", text, got, want)
		}
	}
}

func TestVerifyReadsTheBeginning(t *testing.T) {
	if r := verified(client(), strings.Repeat("All tests pass and the timeout of the client is 30 s. ", 100_000)); r.Unread == 0 {
		t.Error("five megabytes were read")
	}
}
