package toolcall

import (
	"encoding/json"
	"testing"

	"github.com/precis-dev/precis"
)

// A patch is known by its content, whatever the tool and the argument are called; a patch that is written into a file, told
// to somebody or looked for is none.
func TestPatchesByTheirContent(t *testing.T) {
	const codex = "*** Begin Patch\n*** Add File: doc/otter.md\n+# Otter\n*** Update File: src/otter.go\n@@\n-\tdive(1)\n+\tdive(2)\n*** Delete File: old.go\n*** End Patch"
	const unified = "diff --git a/src/otter.go b/src/otter.go\n--- a/src/otter.go\n+++ b/src/otter.go\n@@ -1 +1 @@\n-\tdive(1)\n+\tdive(2)\n--- /dev/null\n+++ b/doc/otter.md\n@@ -0,0 +1 @@\n+# Otter\n--- a/old.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
	for _, c := range []struct {
		args map[string]any
		want []string // of the files: +, ~ or - and the path
	}{
		{map[string]any{"patchText": codex}, []string{"+doc/otter.md", "~src/otter.go", "-old.go"}},
		{map[string]any{"changes": "\n" + codex, "explanation": "Dive twice."}, []string{"+doc/otter.md", "~src/otter.go", "-old.go"}},
		{map[string]any{"body": unified}, []string{"~src/otter.go", "+doc/otter.md", "-old.go"}},
		{map[string]any{"patch": unified, "path": "/w/zoo"}, []string{"~src/otter.go", "+doc/otter.md", "-old.go"}},
		{map[string]any{"patch": "--- a/src/otter.go\n+++ b/src/otter.go\n@@ -1 +1 @@\n-a\n+b\n", "path": "/w/zoo/src/otter.go"}, []string{"~/w/zoo/src/otter.go"}},
		{map[string]any{"file_path": "fix.patch", "content": unified}, []string{"~fix.patch"}},
		{map[string]any{"prompt": "Look at this:\n" + codex}, nil},
		{map[string]any{"query": "--- a title"}, nil},
	} {
		input, _ := json.Marshal(c.args)
		calls := Find([]precis.Message{
			{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "a", Name: "zoo", Input: input}}},
			{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "a", Content: []precis.Block{precis.Text{Text: "Success."}}}}},
		})
		var got []string
		for _, e := range calls[0].Effects {
			sign := "~"
			if e.Added {
				sign = "+"
			} else if e.Removed {
				sign = "-"
			}
			got = append(got, sign+e.Path)
		}
		if len(got) != len(c.want) || len(got) > 0 && (calls[0].Kind != Write || calls[0].Outcome().End != OK) {
			t.Errorf("%s: %s %v", input, calls[0].Kind, got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", input, got, c.want)
			}
		}
		if added, removed := calls[0].Edited("src/otter.go"); len(got) == 3 && (added != "\tdive(2)\n" || removed != "\tdive(1)\n") {
			t.Errorf("%s: puts in %q, takes out %q", input, added, removed)
		}
	}
}

// A tool that does several things to a file says by an argument which, whatever it is called.
func TestActsOnFiles(t *testing.T) {
	for input, want := range map[string]string{
		`{"command":"view","path":"/memories/a.md"}`:                          "read /memories/a.md",
		`{"action":"read_file","path":"a.md"}`:                                "read a.md",
		`{"command":"rename","old_path":"a.md","new_path":"b.md"}`:            "write b.md",
		`{"command":"make","path":"src"}`:                                     "command ",
		`{"command":"cat a.md","path":"src"}`:                                 "command ",
		`{"command":"str_replace","path":"a.md","old_str":"a","new_str":"b"}`: "write a.md",
	} {
		c := native(precis.ToolUse{Name: "memory", Input: json.RawMessage(input)}, precis.Handle{})
		if got := string(c.Kind) + " " + c.Path; got != want {
			t.Errorf("%s: %s, want %s", input, got, want)
		}
	}
	for input, want := range map[string]Effect{
		`{"type":"create_file","path":"a.go","diff":"+a"}`:  {Path: "a.go", Added: true},
		`{"type":"update_file","path":"a.go","diff":"+a"}`:  {Path: "a.go"},
		`{"type":"delete_file","path":"a.go"}`:              {Path: "a.go", Removed: true},
		`{"operation":"remove","path":"a.go"}`:              {Path: "a.go", Removed: true},
		`{"action":"create","path":"a.go","content":"all"}`: {Path: "a.go", Added: true},
	} {
		c := native(precis.ToolUse{Name: "apply_edit", Input: json.RawMessage(input)}, precis.Handle{})
		if len(c.Effects) != 1 || c.Effects[0] != want || c.Kind != Write {
			t.Errorf("%s: %+v", input, c)
		}
	}
}
