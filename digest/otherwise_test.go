package digest_test

import (
	"strings"
	"testing"
)

// TestAYesIsToTheQuestion: what was put to the user is told by its end, where it asks, and the answer stands behind that.
func TestAYesIsToTheQuestion(t *testing.T) {
	k := &talker{}
	k.user("How should the store name its files?")
	k.assistant("The store should ask the agent for the extension, by `SessionFileExtension()`, which every agent has to answer anyway.\n\nThe alternative would be a higher-level `SessionFileName(sessionID)` that returns the full name of the file with its folder and whatever an agent adds to it, but no caller needs so much. I'd go with `SessionFileExtension()` — thoughts?")
	k.user("yes, let's do that")
	for range 4 {
		k.bash("go build ./...", "", false)
		k.user("And the next one, please, as we said, in its own commit, with a test that fails without it.")
	}
	got := digested(t, 900, k.msgs...)
	if asked := section(got, "The user's requests"); !strings.Contains(asked, "SessionFileExtension()` — thoughts?)") {
		t.Errorf("the question is cut: %s", asked)
	}
	for line := range strings.Lines(section(got, "Where the work stands")) {
		if strings.Contains(line, "[the user, m2") && !strings.Contains(line, "thoughts?") {
			t.Errorf("the answer stands behind something else: %s", got)
		}
	}
}

// TestAPendingEditHoldsNothing: what an edit would put in whose result is still to come stands in no file.
func TestAPendingEditHoldsNothing(t *testing.T) {
	k := &talker{}
	k.user("Test the agents.")
	k.call("Read", map[string]any{"file_path": "/w/claude_test.go"})
	k.result("1\tpackage claude\n2\tfunc TestParseInput(t *testing.T) {}", false)
	k.call("Edit", map[string]any{"file_path": "/w/claude_test.go", "old_string": "x", "new_string": "func TestProtectedDirs(t *testing.T) { protectedDirsOf(t) }"})
	if got := section(digested(t, 900, k.msgs...), "Files"); strings.Contains(got, "rotectedDirs") {
		t.Error(got)
	}
}

// TestFilesNamedWithinAnArgument: Roo Code's tools name files in XML or in a list.
func TestFilesNamedWithinAnArgument(t *testing.T) {
	k := &talker{}
	k.user("Which license is it?")
	k.call("read_file", map[string]any{"args": "<file>\n<path>LICENSE</path>\n</file>"})
	k.result("[read_file for 'LICENSE'] Result:\n<files>\n<file><path>LICENSE</path>\n<content lines=\"1-1\">\n 1 | Apache License\n</content></file></files>", false)
	k.call("read_file", map[string]any{"files": []any{map[string]any{"path": "NOTICE"}, map[string]any{"path": "docs/terms.md"}}})
	k.result("File: NOTICE\n 1 | none\n\nFile: docs/terms.md\n 1 | none", false)
	k.call("read_file", map[string]any{"args": "<file><path>AUTHORS</path></file>"})
	got := digested(t, 900, k.msgs...)
	lacks(t, "files", section(got, "Files only read"), "LICENSE", "NOTICE", "docs/terms.md")
	lacks(t, "waiting", section(got, "Waiting"), "read_file AUTHORS has no result yet")
}
