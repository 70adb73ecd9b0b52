package toolcall_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/toolcall"
)

func native(name, input string) []precis.Message {
	return []precis.Message{
		{Role: "assistant", Content: []precis.Block{precis.Text{Text: "ok"}, precis.ToolUse{ID: "1", Name: name, Input: []byte(input)}}},
		{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: "1", Content: []precis.Block{precis.Text{Text: "out"}}}}},
	}
}

func TestCallsAreKnownByShape(t *testing.T) {
	for _, tt := range []struct {
		name, input string
		kind        toolcall.Kind
		path        string
	}{
		{"Read", `{"file_path":"/a/./b.go","limit":3}`, toolcall.Read, "/a/b.go"},
		{"read_file", `{"path":"src\\x.ts"}`, toolcall.Read, "src/x.ts"},
		{"str_replace_editor", `{"command":"view","path":"a.py"}`, toolcall.Read, "a.py"},
		{"str_replace_editor", `{"command":"str_replace","path":"a.py","old_str":"x","new_str":"y"}`, toolcall.Write, "a.py"},
		{"Write", `{"file_path":"a","content":""}`, toolcall.Write, "a"},
		{"replace_in_file", `{"path":"a","diff":"x"}`, toolcall.Write, "a"},
		{"edit", `{"path":"a","oldText":"x","newText":"y"}`, toolcall.Write, "a"},
		{"Bash", `{"command":"ls"}`, toolcall.Command, ""},
		{"shell", `{"command":["bash","-lc","ls"]}`, toolcall.Command, ""},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a/b.go\n@@\n*** End Patch"}`, toolcall.Write, "a/b.go"},
		{"shell", `{"command":["bash","-lc","apply_patch <<'P'\n*** Begin Patch\n*** Update File: app/(shop)/[id]/page.tsx\n@@\n-a > b\n+c\n*** End Patch\nP"]}`, toolcall.Write, "app/(shop)/[id]/page.tsx"},
		{"shell", `{"command":["apply_patch","*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch"]}`, toolcall.Write, "a.go"},
		{"exec_command", `{"cmd":"cd src && apply_patch <<'P'\n*** Begin Patch\n*** Update File: a.go\n+x\n*** Update File: b.go\n+y\n*** End Patch\nP"}`, toolcall.Write, ""},
		{"shell", `{"command":"bash -lc \"apply_patch <<'P'\n*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch\nP\""}`, toolcall.Write, "a.go"},
		{"shell", `{"command":"apply_patch <<'P'\n*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch\nP\ngo test ./..."}`, toolcall.Command, ""},
		{"shell", `{"command":"echo '*** Begin Patch'"}`, toolcall.Command, ""},
		{"Grep", `{"pattern":"x","path":"src"}`, toolcall.Other, ""},
		{"list_files", `{"path":"."}`, toolcall.Other, ""},
		{"think", `{"thought":"x"}`, toolcall.Other, ""},
		{"odd", `not JSON`, toolcall.Other, ""},
	} {
		c := toolcall.Find(native(tt.name, tt.input))
		if len(c) != 1 || c[0].Kind != tt.kind || c[0].Path != tt.path {
			t.Errorf("%s %s: %+v, want %s of %q", tt.name, tt.input, c, tt.kind, tt.path)
			continue
		}
		if c[0].Text != "out" || len(c[0].Results) != 1 || c[0].Results[0] != precis.BlockHandle(1, 0) || c[0].Use != precis.BlockHandle(0, 1) {
			t.Errorf("%s: result %+v", tt.name, c[0])
		}
	}
}

func TestPatchesSayWhichFilesAreNew(t *testing.T) {
	for _, tool := range []string{"input", "command"} {
		patch := "*** Begin Patch\n*** Add File: new/a (1).go\n+x\n*** Update File: b.go\n@@\n+y\n*** Delete File: c.go\n*** Add File: \n*** Update File: d.go\n*** Move to: e/d.go\n@@\n+z\n*** End Patch"
		if tool == "command" {
			patch = "apply_patch <<'P'\n" + patch + "\nP"
		}
		input, err := json.Marshal(map[string]string{tool: patch})
		if err != nil {
			t.Fatal(err)
		}
		want := []toolcall.Effect{{Path: "new/a (1).go", Added: true}, {Path: "b.go"}, {Path: "c.go", Removed: true}, {Path: "d.go", Removed: true}, {Path: "e/d.go", Added: true, MovedFrom: "d.go"}}
		if c := toolcall.Find(native("apply_patch", string(input))); len(c) != 1 || !slices.Equal(c[0].Effects, want) || c[0].Title() != "apply_patch new/a (1).go and 4 more" {
			t.Errorf("in %s: %+v", tool, c)
		}
	}
	for head, want := range map[string]toolcall.Effect{"Add": {Path: "a.go", Added: true}, "Update": {Path: "a.go"}, "Delete": {Path: "a.go", Removed: true}} {
		c := toolcall.Find(native("apply_patch", `{"input":"*** Begin Patch\n*** `+head+` File: a.go\n*** End Patch"}`))
		if len(c) != 1 || !slices.Equal(c[0].Effects, []toolcall.Effect{want}) {
			t.Errorf("%s of one file: %+v", head, c)
		}
	}
}

func TestKeysIgnoreOrderAndSpace(t *testing.T) {
	key := func(input string) string { return toolcall.Find(native("Read", input))[0].Key() }
	if key(`{"file_path":"a","limit":1}`) != key(`{ "limit": 1, "file_path": "a" }`) {
		t.Error("the same arguments have two keys")
	}
	if key(`{"file_path":"a","limit":1}`) == key(`{"file_path":"a","limit":2}`) {
		t.Error("different ranges have one key")
	}
}

func TestXMLCallsAndTheirResults(t *testing.T) {
	msgs := []precis.Message{
		precis.NewText("assistant", "First.\n<read_file>\n<args>\n<file>\n<path>a.go</path>\n</file>\n</args>\n</read_file>\n\n<write_to_file>\n<path>b.html</path>\n<content>\n<p>a</p>\n</content>\n</write_to_file>"),
		{Role: "user", Content: []precis.Block{
			precis.Text{Text: "[read_file for 'a.go'] Result:"}, precis.Text{Text: "package a"},
			precis.Text{Text: "[write_to_file for 'b.html'] Result:\nsaved"},
			precis.Text{Text: "<environment_details>x</environment_details>"},
		}},
	}
	c := toolcall.Find(msgs)
	if len(c) != 2 {
		t.Fatalf("%+v", c)
	}
	if c[0].Kind != toolcall.Read || c[0].Path != "a.go" || len(c[0].Results) != 2 || !strings.HasSuffix(c[0].Text, "package a") {
		t.Errorf("read: %+v", c[0])
	}
	if c[1].Kind != toolcall.Write || c[1].Path != "b.html" || len(c[1].Results) != 1 {
		t.Errorf("write: %+v", c[1])
	}
}

// What a result shows in elements of its own is of the result; what the program says behind it is not.
func TestResultsInElements(t *testing.T) {
	msgs := []precis.Message{
		precis.NewText("assistant", "<read_file>\n<path>a.go</path>\n</read_file>"),
		{Role: "user", Content: []precis.Block{
			precis.Text{Text: "[read_file for 'a.go'] Result:"}, precis.Text{Text: "<files>\n<file><path>a.go</path>package a</file>\n</files>"},
			precis.Text{Text: "<environment_details>x</environment_details>"},
		}},
	}
	c := toolcall.Find(msgs)
	if len(c) != 1 || len(c[0].Results) != 2 || !strings.Contains(c[0].Text, "package a") || strings.Contains(c[0].Text, "environment") {
		t.Errorf("%+v", c)
	}
}

func TestCodeIsNoCall(t *testing.T) {
	for _, text := range []string{
		"<div>\n<p>hi</p>\n</div>", "see `<read_file>`", "text <read_file><path>a</path></read_file>",
		"<read_file>\nno parameter\n</read_file>", "<read_file>\n<path>a</path>", "<a_b></a_b>",
	} {
		if x := toolcall.ParseXML(text); len(x) > 0 {
			t.Errorf("%q: %+v", text, x)
		}
	}
}

func FuzzParseXML(f *testing.F) {
	f.Add("<read_file>\n<path>a</path>\n</read_file>")
	f.Add("<write_to_file><content></content></content></write_to_file>")
	f.Fuzz(func(t *testing.T, text string) {
		for _, x := range toolcall.ParseXML(text) {
			for _, p := range x.Params {
				if text[p.Start:p.End] != p.Value || p.Start < x.Start || p.End > x.End {
					t.Fatalf("%q: parameter %+v of %+v", text, p, x)
				}
			}
		}
	})
}

func TestNearCallsAreGivenUpOn(t *testing.T) {
	text := strings.Repeat("\n<a_b>\n<c>", 200_000) + "</a_b>"
	if x := toolcall.ParseXML(text); len(x) > 0 {
		t.Errorf("%d calls", len(x)) // and it must end: each try would read 2 MB
	}
}

// Free text is one argument.
func TestArgumentsOfFreeText(t *testing.T) {
	c := toolcall.Find(native("apply_patch", `"*** Begin Patch\n*** Update File: a.go\n+x\n*** End Patch"`))
	n := 0
	for a := range c[0].Arguments() {
		if n++; a.Name != "input" || string(a.Raw) != `"*** Begin Patch\n*** Update File: a.go\n+x\n*** End Patch"` {
			t.Errorf("%q is %s", a.Name, a.Raw)
		}
	}
	if n != 1 {
		t.Errorf("%d arguments", n)
	}
}
