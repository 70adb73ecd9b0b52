package workstate

import "testing"

// TestPlansInFiles reads checklists that agents keep in files: what is ticked is the plan, as the newest edit left it.
func TestPlansInFiles(t *testing.T) {
	whole := "# Work\\n\\n## One\\n- [x] build a\\n- [ ] verify\\n\\n## Two\\n- [ ] build b\\n- [ ] verify\\n"
	for _, tt := range []struct {
		name string
		k    *talk
		want string
	}{
		{"the new side of an edit counts", start().call("edit", `{"path":"/w/refactor.md","oldText":"- [ ] a\n- [ ] b","newText":"- [x] a\n- [ ] b"}`, "ok"), "done a; open b"},
		{"whichever side comes first", start().call("Edit", `{"file_path":"/w/x.md","new_string":"- [x] a\n- [x] b","old_string":"- [x] a\n- [ ] b"}`, "ok"), "done a; done b"},
		{"a list of edits", start().call("MultiEdit", `{"file_path":"/w/x.md","edits":[{"old_string":"- [ ] a","new_string":"- [x] a"}]}`, "ok"), "done a"},
		{"a patch", start().call("apply_patch", `{"input":"*** Begin Patch\n*** Update File: plan.md\n@@\n-- [ ] a\n+- [x] a\n*** End Patch"}`, "ok"), "done a"},
		{"blocks that are searched and replaced", start().call("replace_in_file", `{"path":"x.md","diff":"------- SEARCH\n- [ ] a\n=======\n- [x] a\n+++++++ REPLACE"}`, "ok"), "done a"},
		{"a file that is called a plan", start().call("Write", `{"file_path":"/w/PLAN.md","content":"`+whole+`"}`, "ok"), "done build a; open verify (One); open build b; open verify (Two)"},
		{"steps with the same words", start().call("Read", `{"file_path":"/w/x.md"}`, "1\t## One\n2\t- [x] build a\n3\t- [ ] verify\n4\t## Two\n5\t- [ ] build b\n6\t- [ ] verify").
			call("Edit", `{"file_path":"/w/x.md","old_string":"- [ ] build b\n- [ ] verify","new_string":"- [x] build b\n- [x] verify"}`, "ok"), "done build a; open verify (One); done build b; done verify (Two)"},
		{"a step that is taken out", start().call("Write", `{"file_path":"/w/todo.md","content":"- [ ] a\n- [ ] b"}`, "ok").call("Edit", `{"file_path":"/w/todo.md","old_string":"- [ ] a\n- [ ] b","new_string":"- [ ] b\n- [ ] c"}`, "ok"), "open b; open c"},
		{"a comment in code is no heading", start().call("Write", `{"file_path":"/w/plan.md","content":"## One\n- [ ] a\n`+"```"+`\n# run it\n`+"```"+`\n- [ ] check\n## Two\n- [ ] check"}`, "ok"), "open a; open check (One); open check (Two)"},
		{"a part that is read again", start().call("Write", `{"file_path":"/w/todo.md","content":"- [ ] a\n- [ ] b\n- [ ] c"}`, "ok").call("Bash", `{"command":"head -2 /w/todo.md"}`, "- [x] a\n- [ ] b"), "done a; open b; open c"},
		{"a part that begins below its heading", start().call("Write", `{"file_path":"/w/plan.md","content":"## One\n- [x] a\n- [x] verify\n## Two\n- [ ] b\n- [ ] verify"}`, "ok").call("Bash", `{"command":"tail -1 /w/plan.md"}`, "- [ ] verify"), "done a; done verify (One); open b; open verify (Two)"},
		{"an edit that failed", start().call("edit", `{"path":"/w/x.md","oldText":"- [ ] a","newText":"- [x] a"}`, "Error: oldText not found"), ""},
		{"a command that changes the file", start().call("Write", `{"file_path":"/w/plan.md","content":"- [ ] a\n- [ ] b"}`, "ok").call("Bash", `{"command":"sed -i 's/\\[ \\] a/[x] a/' /w/plan.md"}`, ""), ""},
		{"and what is seen then", start().call("Write", `{"file_path":"/w/plan.md","content":"- [ ] a\n- [ ] b"}`, "ok").call("Bash", `{"command":"sed -i 's/\\[ \\] a/[x] a/' plan.md"}`, "").call("Bash", `{"command":"cat plan.md"}`, "- [x] a\n- [ ] b"), "done a; open b"},
		{"a plan that a command writes", start().call("Bash", `{"command":"cat > PLAN.md <<'EOF'\n- [ ] a\n- [ ] b\nEOF"}`, "").call("Read", `{"file_path":"/w/PLAN.md"}`, "1\t- [ ] a\n2\t- [ ] b"), "open a; open b"},
		{"a file that is moved", start().call("Write", `{"file_path":"/w/plan.md","content":"- [ ] a\n- [ ] b"}`, "ok").call("Bash", `{"command":"mv /w/plan.md /w/docs/work.md"}`, "").call("Edit", `{"file_path":"/w/docs/work.md","old_string":"- [ ] a","new_string":"- [x] a"}`, "ok"), "done a; open b"},
		{"a file that is removed", start().call("Write", `{"file_path":"/w/plan.md","content":"- [ ] a\n- [ ] b"}`, "ok").call("Bash", `{"command":"rm /w/plan.md"}`, ""), ""},
		{"one file by two paths", start().call("Write", `{"file_path":"docs/plan.md","content":"- [ ] a\n- [ ] b"}`, "ok").call("Edit", `{"file_path":"/w/docs/plan.md","old_string":"- [ ] a","new_string":"- [x] a"}`, "ok"), "done a; open b"},
		{"a patch of two files", start().call("apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Update File: plan.md\n@@\n-- [ ] a\n+- [x] a\n*** End Patch"}`, "ok"), "done a"},
		{"a patch that adds a plan", start().call("apply_patch", `{"input":"*** Begin Patch\n*** Add File: plan.md\n+- [ ] a\n+- [ ] b\n*** End Patch"}`, "ok"), "open a; open b"},
		{"a list that is only read", start().call("Read", `{"file_path":"/w/.github/pull_request_template.md"}`, "- [ ] tests\n- [ ] docs"), ""},
		{"boxes in code", start().call("Edit", `{"file_path":"/w/x.go","old_string":"- [ ] a","new_string":"- [x] a"}`, "ok"), ""},
		{"boxes of a document beside the list of a tool", start().call("TodoWrite", `{"todos":[{"content":"now","status":"in_progress"}]}`, "ok").call("Edit", `{"file_path":"/w/x.md","old_string":"- [ ] a\n- [ ] b","new_string":"- [x] a\n- [ ] b"}`, "ok"), "active now"},
		{"what is said of progress in a call that writes", start().call("write_to_file", `{"path":"/w/a.go","content":"package a","task_progress":"- [x] a\n- [ ] b"}`, "ok"), "done a; open b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := steps(tt.k.read()); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
