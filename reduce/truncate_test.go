package reduce_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/reduce"
)

// planned is a conversation with a plan, a job and a task for it, and then much work.
func planned(steps int) []precis.Message {
	var todos []string
	for i := range steps {
		todos = append(todos, fmt.Sprintf(`{"content":"step %d: %s","status":"%s"}`, i, strings.Repeat("wire the cache ", 5), []string{"completed", "pending"}[i%2]))
	}
	msgs := []precis.Message{text("user", "the task")}
	msgs = append(msgs, call("p", "TodoWrite", `{"todos":[`+strings.Join(todos, ",")+`]}`, "ok")...)
	msgs = append(msgs, call("b", "Bash", `{"command":"make soak","run_in_background":true}`, "Command running in background with ID: b7")...)
	for i := range 20 {
		msgs = append(msgs, call(fmt.Sprint(i), "bash", `{"command":"x"}`, strings.Repeat("out ", 50))...)
	}
	return append(msgs, text("assistant", "done"), text("user", "the last words"))
}

func TestTheMarkerSaysWhatStillHolds(t *testing.T) {
	view := apply(t, reduce.Truncate{}, situation(20_000, 3, planned(4)...))
	marker := view[1].PlainText()
	first, rest, _ := strings.Cut(marker, "\n")
	if !strings.HasPrefix(first, "[22 earlier messages hidden here") || !strings.HasSuffix(first, ".]") {
		t.Errorf("marker %q", marker)
	}
	for _, want := range []string{"as of m46:", "- [ ] step 1: wire", "- [ ] step 3: wire", "Bash b7 (make soak): running"} {
		if !strings.Contains(rest, want) {
			t.Errorf("%q is missing in %q", want, rest)
		}
	}
	if strings.Contains(rest, "step 0") {
		t.Errorf("what is done is told: %q", rest)
	}
}

// What still holds is never dearer than its part of the target, and its line is whole.
func TestTheMarkerKeepsToItsRoom(t *testing.T) {
	for _, target := range []int{0, 100, 2000, 4000, math.MaxInt} {
		s := situation(target, 3, planned(100)...)
		s.Settings.RungSettings.KeepLast = 4
		view := apply(t, reduce.Truncate{}, s)
		plain := len("[44 earlier messages hidden here to save room; nothing is lost: m1-m44.]")
		marker := view[1].PlainText()
		if n := len(marker) - plain; n > min(300, target/20) {
			t.Errorf("target %d: %d characters of %q", target, n, marker)
		}
		if target == math.MaxInt && strings.Count(marker, "\n") < 3 {
			t.Errorf("nothing holds: %q", marker)
		}
	}
}

// Roo Code's marker has a text of its own, which its task files hold.
func TestRoosMarkerStaysAsItIs(t *testing.T) {
	view := apply(t, reduce.Truncate{Roo: true}, situation(20_000, 3, planned(4)...))
	if !strings.HasPrefix(view[1].PlainText(), "[Sliding window truncation: ") || strings.Contains(view[1].PlainText(), "\n") {
		t.Errorf("marker %q", view[1].PlainText())
	}
}
