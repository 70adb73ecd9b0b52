package toolcall

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
)

func TestScriptCalls(t *testing.T) {
	for code, want := range map[string]string{
		`const r = await tools.exec_command({cmd: "ls -la", yield_time_ms: 250}); text(r);`:                           `exec_command {"cmd":"ls -la","yield_time_ms":250}`,
		"text(await tools.exec_command({\n  cmd: 'cat a.txt' + \" b\", // tools.no()\n  'login': false,\n}));":        `exec_command {"cmd":"cat a.txt b","login":false}`,
		`await tools["apply_patch"]("*** Begin Patch\n*** Add File: é.go\n")`:                                         `apply_patch "*** Begin Patch\n*** Add File: é.go\n"`,
		"await tools.apply_patch(`*** Begin Patch\n*** Delete File: a\n`)":                                            `apply_patch "*** Begin Patch\n*** Delete File: a\n"`,
		`const cmd = "x"; tools.exec_command({cmd, workdir: dir + "/a", n: [1, -2.5, f(1, 2), {a: true}]})`:           `exec_command {"cmd":null,"workdir":null,"n":[1,-2.5,null,{"a":true}]}`,
		`Promise.all([tools.a({x: "1"}), tools.b({y: '\u00e9\x41\u{1F600}'})])`:                                       `a {"x":"1"}; b {"y":"éA😀"}`,
		`"tools.a({})"; other.tools.b({}); mytools.c({}); tools.d; tools[e]({}); tools.f ( {...rest, [k]: 1, z: 2} )`: `f {"z":2}`,
		`tools.open({path: "unfinished`: `open {"path":"unfinished"}`,
		`text("nothing")`:               ``,
	} {
		var got []string
		for _, c := range scriptCalls(code) {
			if !json.Valid(c.Input) {
				t.Errorf("%s: the arguments are no JSON: %s", code, c.Input)
			}
			got = append(got, c.Name+" "+string(c.Input))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s\n got %s\nwant %s", code, s, want)
		}
	}
}

// TestACallInAProgram: what Codex runs in its code mode is told as what it runs.
func TestACallInAProgram(t *testing.T) {
	done := func(fields string) string {
		return "Script completed\nWall time 0.1 seconds\nOutput:\n\n{\"chunk_id\":\"4abf90\"," + fields + "}"
	}
	var msgs []precis.Message
	for i, c := range [][2]string{
		{`const r = await tools.exec_command({cmd: "go test ./..."}); text(r);`, done(`"exit_code":1,"output":"--- FAIL: TestX\nFAIL\tpkg\n"`)},
		{`text(await tools.apply_patch("*** Begin Patch\n*** Update File: src/a.go\n@@\n-x\n+y\n*** End Patch"))`, "Script completed\nWall time 0.0 seconds\nOutput:\n\nSuccess."},
		{`const r = await tools.exec_command({cmd: "rm old.go"}); text(r.output);`, "Script failed\nWall time 0.0 seconds\nOutput:\n\nScript error:\nTypeError: tools.exec_command is not a function"},
	} {
		input, _ := json.Marshal(c[0])
		id := fmt.Sprint("c", i)
		msgs = append(msgs, precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "exec", Input: input}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: c[1]}}}}})
	}
	calls := Find(msgs)
	if c := calls[0]; c.Kind != Command || c.Line != "go test ./..." || c.Outcome().End != Failed || !strings.Contains(c.Text, "\n--- FAIL: TestX\n") {
		t.Errorf("a command: %q %q, %v, %q", c.Kind, c.Line, c.Outcome(), c.Text)
	}
	if c := calls[1]; c.Kind != Write || c.Path != "src/a.go" || c.Outcome().End == Failed {
		t.Errorf("a patch: %q %q, %v", c.Kind, c.Path, c.Outcome())
	}
	if c := calls[2]; c.Outcome().End != Failed || !c.IsError {
		t.Errorf("a program that failed: %v", c.Outcome())
	}
}

func FuzzScriptCalls(f *testing.F) {
	f.Add(`tools.a({x: "1", y: [1, {z: 'a' + "b"}]}); tools["b"](` + "`c${d}`" + `)`)
	f.Add(`tools.a({\u{`)
	f.Add("/* tools.a() */ tools.b(//")
	f.Fuzz(func(t *testing.T, code string) {
		for _, c := range scriptCalls(code) {
			if !json.Valid(c.Input) {
				t.Errorf("no JSON: %q", c.Input)
			}
		}
	})
}
