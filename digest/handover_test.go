package digest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
)

// worked is a made-up conversation with what a hand-over of it has to say.
type worked struct {
	*session
	t       *rapid.T
	newest  map[string]string // of each command the line that says why it failed last; "": it passed
	ran     map[string]int    // of each command the message of its newest run
	exists  map[string]bool   // of each file that was touched
	found   string            // what the agent concluded last
	numbers int
}

// fresh returns a number that stands nowhere yet.
func (w *worked) fresh() int {
	w.numbers += 1 + rapid.IntRange(0, 3).Draw(w.t, "step")
	return 1000 + w.numbers
}

func (w *worked) act() {
	n := w.fresh()
	file := fmt.Sprintf("internal/part%d.go", rapid.IntRange(0, 5).Draw(w.t, "file"))
	switch rapid.SampledFrom([]string{"ask", "write", "remove", "run", "run", "read", "conclude"}).Draw(w.t, "act") {
	case "ask":
		w.user(fmt.Sprintf("Please look at why request %d of the queue is slow, and mend it.", n))
	case "write":
		w.call("Write", map[string]any{"file_path": root + file, "content": fmt.Sprintf("package internal\n\nconst limit%d = %d\n", n, n)}, "File created successfully")
		w.exists[file] = true
	case "remove":
		if w.exists[file] {
			w.call("Bash", map[string]any{"command": "rm " + root + file}, "")
			w.exists[file] = false
		}
	case "run":
		command := rapid.SampledFrom([]string{"make test", "npm run lint", "go vet ./..."}).Draw(w.t, "command")
		why := ""
		answer := "ok"
		if rapid.Bool().Draw(w.t, "fails") {
			why = fmt.Sprintf("queue_test.go:%d: got 3, want 4", n)
			answer = "Exit code 1\n--- FAIL: TestQueue (0.00s)\n    " + why + "\nFAIL"
		}
		w.call("Bash", map[string]any{"command": command}, answer)
		w.newest[command], w.ran[command] = why, len(w.msgs)
	case "read":
		w.call("Read", map[string]any{"file_path": root + file}, w.source(file, 1))
	case "conclude":
		w.found = fmt.Sprintf("The cause is that worker %d holds the lock while it waits.", n)
		w.says("I have looked at the queue. " + w.found)
	}
}

// quotedRequest is a request as a digest quotes it.
var quotedRequest = regexp.MustCompile(`(?m)^- m(\d+): (.*)$`)

// TestEveryDigestIsAHandOver: whatever was done, a digest of any size quotes what was said, tells how each command ended last, with the
// line that says why it failed, what became of files and what the agent said last.
func TestEveryDigestIsAHandOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &worked{session: newSession(rapid.Uint64().Draw(t, "seed")), t: t, newest: map[string]string{}, ran: map[string]int{}, exists: map[string]bool{}}
		w.user("Make the queue faster. Never touch the folder legacy.")
		for range rapid.IntRange(5, 60).Draw(t, "acts") {
			w.act()
		}
		w.user("And now?")
		tokens := rapid.SampledFrom([]int{900, 1800, 3500, 8000}).Draw(t, "tokens")
		text := summarize(t, digest.Writer{}, policy.SummaryRequest{Messages: w.msgs, MaxTokens: tokens})
		if n := digest.EstimateTokens(text); n > tokens {
			t.Fatalf("%d tokens of %d", n, tokens)
		}
		for _, m := range quotedRequest.FindAllStringSubmatch(section(text, "The user's requests"), -1) {
			at := 0
			fmt.Sscan(m[1], &at)
			for said := range strings.SplitSeq(m[2], "…") {
				if said = strings.TrimSpace(said); !strings.Contains(w.msgs[at].PlainText(), said) {
					t.Errorf("nobody said %q at m%d", said, at)
				}
			}
		}
		results := section(text, "Last results of commands")
		for command, why := range w.newest {
			for line := range strings.Lines(results) {
				if strings.Contains(line, "`"+command+"`") && strings.Contains(line, "FAILED") != (why != "") {
					t.Errorf("%s: failed %t, told: %s", command, why != "", line)
				}
			}
			if why != "" && len(w.msgs)-w.ran[command] < 60 && (!strings.Contains(results, "`"+command+"`") || !strings.Contains(text, why)) {
				t.Errorf("the failure of %s, %q, is not told:\n%s", command, why, text)
			}
		}
		if w.found != "" && !strings.Contains(section(text, "Where the work stands"), w.found) {
			t.Errorf("%q is not told:\n%s", w.found, text)
		}
		for file, exists := range w.exists {
			for line := range strings.Lines(section(text, "Files")) {
				if name := file[strings.LastIndexByte(file, '/')+1:]; strings.Contains(line, name) && (strings.Contains(line, "DELETED since") || strings.Contains(line, name+" (deleted)")) == exists {
					t.Errorf("%s exists: %t, told: %s", file, exists, line)
				}
			}
		}
	})
}
