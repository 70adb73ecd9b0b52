package digest_test

import (
	"regexp"
	"strings"
	"testing"

	"precis"
	"precis/digest"
	"precis/policy"
)

func TestALineThatWasTakenOutIsMarked(t *testing.T) {
	const old, now = "const MaxRetries = 5000", "const MaxRetries = 8000"
	shown := "package conf\n\n" + old + "\n\nvar KeepThis_One = 1\n"
	edit := func(k *talker, from, to string) {
		k.call("Edit", map[string]any{"file_path": "/r/limit.go", "old_string": from, "new_string": to})
		k.result("The file has been updated.", false)
	}
	unmarked := regexp.MustCompile(`(?m)^[^\n]*MaxRetries = 5000`)
	marked := regexp.MustCompile(`- const MaxRetries = 5000`)
	for name, tt := range map[string]struct {
		work func(k *talker)
		want bool // whether each of the old lines is marked
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
		"and taken back": {func(k *talker) {
			k.bash("cd /r && sed -i 's/MaxRetries = 5000/MaxRetries = 8000/' limit.go", "", false)
			k.bash("cd /r && git checkout -- limit.go", "", false)
		}, false},
	} {
		for how, read := range map[string]func(k *talker){
			"read": func(k *talker) { k.call("Read", map[string]any{"file_path": "/r/limit.go"}); k.result(shown, false) },
			"cat":  func(k *talker) { k.bash("cat /r/limit.go", shown, false) },
		} {
			k := &talker{}
			k.user("Look at the limit.")
			read(k)
			tt.work(k)
			k.assistant("Done so far.")
			text := summarize(t, digest.Writer{}, policy.SummaryRequest{Messages: k.msgs, MaxTokens: 3000})
			all := len(unmarked.FindAllString(text, -1))
			got := all > 0
			for _, line := range unmarked.FindAllString(text, -1) {
				got = got && (marked.MatchString(line) || regexp.MustCompile(`sed -i|-const`).MatchString(line))
			}
			if got != tt.want || all == 0 {
				t.Errorf("%s, %s: marked %t, want %t\n%s", how, name, got, tt.want, text)
			}
			if regexp.MustCompile(`- var KeepThis_One`).MatchString(text) && name != "another file" {
				t.Errorf("%s, %s: a line that stands is marked\n%s", how, name, text)
			}
		}
	}
}

// A patch that is the whole input of a call says what it put in, and what the framed output before it showed is gone.
func TestAPatchAsFreeText(t *testing.T) {
	k := &talker{}
	k.user("Raise it.")
	k.bash("cat limit.go", `{"output": "const Depth = 50 // feet\nconst BeamWidth = 7 // feet", "metadata": {"exit_code": 0}}`, false)
	k.msgs = append(k.msgs, precis.Message{Role: "assistant", Content: []precis.Block{precis.ToolUse{ID: "p", Name: "apply_patch",
		Input: []byte(`"*** Begin Patch\n*** Update File: limit.go\n@@\n-const Depth = 50 // feet\n+const Depth = 80 // feet\n*** End Patch"`)}}},
		precis.Message{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: "p", Content: []precis.Block{precis.Text{Text: "Success."}}}}})
	text := summarize(t, digest.Writer{}, policy.SummaryRequest{Messages: k.msgs, MaxTokens: 3000})
	for _, want := range []string{"\n  + const Depth = 80 // feet", ": - const Depth = 50 // feet\n const BeamWidth = 7 // feet\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
