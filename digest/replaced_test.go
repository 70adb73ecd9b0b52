package digest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
)

func TestALineThatWasTakenOutIsLeftOut(t *testing.T) {
	const old, now = "const MaxRetries = 5000", "const MaxRetries = 8000"
	shown := "package conf\n\n" + old + "\n\nvar KeepThis_One = 1\n"
	edit := func(k *talker, from, to string) {
		k.call("Edit", map[string]any{"file_path": "/r/limit.go", "old_string": from, "new_string": to})
		k.result("The file has been updated.", false)
	}
	quoted := regexp.MustCompile(`(?m)^[^\n]*MaxRetries = 5000`)
	for name, tt := range map[string]struct {
		work func(k *talker)
		want bool // whether the old line is left out
	}{
		"edit": {func(k *talker) { edit(k, old, now) }, true},
		"patch": {func(k *talker) {
			k.call("apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: /r/limit.go\n- " + old + "\n-" + old + "\n+" + now + "\n*** End Patch"})
			k.result("Done", false)
		}, true},
		"sed": {func(k *talker) {
			k.bash("cd /r && sed -i 's/MaxRetries = 5000/MaxRetries = 8000/' limit.go", "", false)
		}, true},
		"sed of a whole line": {func(k *talker) {
			k.bash("cd /r && sed -i 's/^const MaxRetries = 5000$/const MaxRetries = 8000/' limit.go", "", false)
		}, true},
		"sed of another value": {func(k *talker) {
			k.bash("cd /r && sed -i 's/^const MaxRetries = 500$/const MaxRetries = 800/' limit.go", "", false)
		}, false},
		"write": {func(k *talker) {
			k.call("Write", map[string]any{"file_path": "/r/limit.go", "content": "package conf\n\n" + now + "\n\nvar KeepThis_One = 1\n"})
			k.result("The file has been updated.", false)
		}, true},
		"write without it": {func(k *talker) {
			k.call("Write", map[string]any{"file_path": "/r/limit.go", "content": "package conf\n\nvar KeepThis_One = 1\n"})
			k.result("The file has been updated.", false)
		}, true},
		"search and replace": {func(k *talker) {
			k.call("apply_diff", map[string]any{"path": "/r/limit.go", "diff": "<<<<<<< SEARCH\n" + old + "\n=======\n" + now + "\n>>>>>>> REPLACE"})
			k.result("ok", false)
		}, true},
		"not at all": {func(*talker) {}, false},
		"another file": {func(k *talker) {
			k.call("Edit", map[string]any{"file_path": "/r/other.go", "old_string": "var KeepThis_One = 1", "new_string": "x"})
			k.result("ok", false)
		}, false},
		"and back": {func(k *talker) { edit(k, old, now); edit(k, now, old) }, false},
	} {
		for _, how := range []string{"Write", "write_file"} {
			k := &talker{}
			k.user("Set the limit.")
			k.call(how, map[string]any{"file_path": "/r/limit.go", "content": shown})
			k.result("The file has been written.", false)
			tt.work(k)
			k.assistant("Done so far.")
			text := summarize(t, digest.Writer{}, policy.SummaryRequest{Messages: k.msgs, MaxTokens: 3000})
			got := true
			for _, line := range quoted.FindAllString(text, -1) {
				got = got && regexp.MustCompile(`sed -i|: - const|-const`).MatchString(line)
			}
			if got != tt.want {
				t.Errorf("%s, %s: left out %t, want %t\n%s", how, name, got, tt.want, text)
			}
		}
	}
}

// A patch that is the whole input of a call says what it put in, and the file that the output before showed is not quoted.
func TestAPatchAsFreeText(t *testing.T) {
	k := &talker{}
	k.user("Raise it.")
	k.bash("cat limit.go", `{"output": "const Depth = 50 // feet\nconst BeamWidth = 7 // feet", "metadata": {"exit_code": 0}}`, false)
	k.msgs = append(k.msgs, precis.Message{Role: "assistant", Content: []precis.Block{precis.ToolUse{ID: "p", Name: "apply_patch",
		Input: []byte(`"*** Begin Patch\n*** Update File: limit.go\n@@\n-const Depth = 50 // feet\n+const Depth = 80 // feet\n*** End Patch"`)}}},
		precis.Message{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: "p", Content: []precis.Block{precis.Text{Text: "Success."}}}}})
	text := summarize(t, digest.Writer{}, policy.SummaryRequest{Messages: k.msgs, MaxTokens: 3000})
	if !strings.Contains(text, "\n  + const Depth = 80 // feet\n") || strings.Count(text, "Depth = 50") != 1 {
		t.Error(text)
	}
}

// TestWhatStandsInTheWorkTreeIsNotQuoted: neither what was read of a file that the agent has edited, nor old edits; the
// gate quotes no calls either.
func TestWhatStandsInTheWorkTreeIsNotQuoted(t *testing.T) {
	k := &talker{}
	k.user("Mend the wicks.")
	k.call("Read", map[string]any{"file_path": "/r/wick.go"})
	k.result("1\tfunc trimWickNightly(height wickHeight) error { return nil }\n", false)
	k.call("Read", map[string]any{"file_path": "/r/lens.go"})
	k.result("1\tfunc rotateLensDaily(angle lensAngle) error { return nil }\n", false)
	k.bash("grep -n keeperOfLamp_Main /r", "", false)
	for i := range 9 {
		burn := fmt.Sprintf("func burnWick%dSlowly(oil oilLevel) {}\n", i)
		k.call("Edit", map[string]any{"file_path": "/r/wick.go", "old_string": "x", "new_string": burn})
		k.result("The file has been updated.", false)
	}
	k.assistant("On with the lens.")
	const title = "Lines most likely"
	written := section(summarize(t, digest.Writer{}, policy.SummaryRequest{Messages: k.msgs, MaxTokens: 3000}), title)
	repaired := digest.Repair(policy.SummaryRequest{Messages: k.msgs, Previous: "The wicks are mended."}, digest.RepairOptions{})
	added := section(repaired.Text, title)
	for _, got := range []string{written, added} {
		if strings.Contains(got, "trimWick") || strings.Contains(got, "burnWick0") ||
			strings.Contains(got, "grep -n") || !strings.Contains(got, "rotateLensDaily") {
			t.Error(got)
		}
	}
	if !strings.Contains(written, "burnWick7") || strings.Contains(added, "burnWick7") {
		t.Errorf("the newest edit: %s\n%s", written, added)
	}
}
