package digest_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
)

// A command that ends well in one folder says nothing of the same line in another.
func TestOneLineInTwoFolders(t *testing.T) {
	k := &talker{}
	k.user("Test both.")
	k.bash("cd quay && npm test", "Exit code 1\nError: no moorings", true)
	k.bash("cd pier && npm test", "3 passing", false)
	k.bash("make dock", "Exit code 1\nError: no planks", true)
	k.bash("cd /r && make dock", "made", false)
	k.bash("cd /r/sub && make tide", "Exit code 1\nError: no moon", true)
	k.bash("cd sub && make tide", "made", false)
	text := summarize(t, digest.Writer{}, policy.SummaryRequest{Messages: k.msgs, MaxTokens: 3000})
	_, results, _ := strings.Cut(text, "## Last results")
	results, _, _ = strings.Cut(results, "\n## ")
	if !strings.Contains(results, "`cd quay && npm test` → FAILED") || !strings.Contains(results, "`cd pier && npm test` → ") || strings.Contains(results, "planks") || strings.Contains(results, "moon") {
		t.Errorf("the results: %s", results)
	}
	outcomes := map[string]string{}
	for _, c := range stateOf(k.msgs).Commands {
		outcomes[c.Command+" "+c.Handle.String()] = c.Outcome
	}
	if len(outcomes) != 4 || outcomes["npm test m1.b0"] != "failed" {
		t.Errorf("the state: %v", outcomes)
	}
}
