package digest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
)

// A refusal that was taken back is told as such: what the user let happen later is not told as
// not done.
func TestARefusalThatWasTakenBack(t *testing.T) {
	k := &talker{}
	k.msgs = append(k.msgs, precis.Message{Role: "user", Content: []precis.Block{precis.Text{Text: "<system-reminder>\nBe kind.\n</system-reminder>"}, precis.Text{Text: "Go on."}}})
	edit := map[string]any{"file_path": "/r/quay.go", "old_string": "moor()", "new_string": "anchor()"}
	k.call("Edit", edit)
	k.result(refused+stop, true)
	k.bash("make harbor", refused+stop, true)
	k.bash("make harbor", refused+stop, true)
	k.bash("make pier", refused+stop, true)
	k.bash("cd pier && make slip", refused+stop, true)
	k.user("All right, do both.")
	k.call("Edit", edit)
	k.result("The file /r/quay.go has been updated.", false)
	k.bash("cd /r && make harbor", "harbor made", false)
	k.bash("make pier --dry-run", "pier", false)
	k.bash("make slip", "slip made", false) // elsewhere: part of what was refused

	text := summarize(t, digest.Writer{}, policy.SummaryRequest{Messages: k.msgs, MaxTokens: 3000})
	_, section, _ := strings.Cut(text, "## Refused by the user")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, line := range strings.Split(strings.TrimSpace(section), "\n") {
		if stands := strings.Contains(line, "pier"); stands != strings.Contains(line, "not done") || stands == strings.Contains(line, "then allowed (m") {
			t.Errorf("told as %q", line)
		}
	}
	if strings.Count(section, "then allowed") != 3 {
		t.Errorf("three refusals were taken back:\n%s", section)
	}
	state, err := json.Marshal(stateOf(k.msgs))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(state), `"rejected"`); n != 2 {
		t.Errorf("%d refusals hold in %s", n, state)
	}
}
