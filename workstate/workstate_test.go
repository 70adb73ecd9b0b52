package workstate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/toolcall"
)

// talk writes a conversation.
type talk struct {
	msgs []precis.Message
	n    int
}

func (k *talk) says(role precis.Role, text string) *talk {
	k.msgs = append(k.msgs, precis.NewText(role, text))
	return k
}

func (k *talk) user(text string) *talk { return k.says(precis.RoleUser, text) }

// call adds a call with its result.
func (k *talk) call(tool, input, result string) *talk {
	k.n++
	id := fmt.Sprint("t", k.n)
	k.msgs = append(k.msgs,
		precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: tool, Input: json.RawMessage(input)}}},
		precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: result}}}}})
	return k
}

func (k *talk) read() *Reading { return Read(k.msgs, toolcall.Find(k.msgs)) }

func steps(r *Reading) string {
	var out []string
	for _, s := range r.Steps {
		out = append(out, string(s.State)+" "+s.Text)
	}
	return strings.Join(out, "; ")
}

func jobsOf(r *Reading) string {
	var out []string
	for _, j := range r.Jobs {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s: %s", j.ID, j.State, j.Result)))
	}
	return strings.Join(out, "; ")
}

func start() *talk { return (&talk{}).user("Build it.") }

func TestPlansInEveryShape(t *testing.T) {
	for _, tt := range []struct {
		name string
		k    *talk
		want string
	}{
		{"a list with states", start().call("TodoWrite", `{"todos":[{"content":"a","status":"completed","activeForm":"x"},{"content":"b","status":"in_progress"},{"content":"c","status":"pending"}]}`, "ok"), "done a; active b; open c"},
		{"Codex", start().call("update_plan", `{"explanation":"why","plan":[{"step":"a","status":"completed"},{"step":"b","status":"pending"}]}`, "Plan updated"), "done a; open b"},
		{"OpenHands", start().call("task_tracker", `{"command":"plan","task_list":[{"title":"a","notes":"n","status":"done"},{"title":"b","status":"todo"}]}`, "Task list has been updated"), "done a; open b"},
		{"Gemini CLI", start().call("write_todos", `{"todos":[{"description":"a","status":"cancelled"},{"description":"b","status":"pending"}]}`, "ok"), "dropped a; open b"},
		{"Copilot", start().call("manage_todo_list", `{"operation":"write","todoList":[{"id":1,"title":"a","description":"long","status":"not-started"}]}`, "ok"), "open a"},
		{"a call within a call", start().call("tool_call", `{"name":"todo_write","arguments":{"todos":[{"id":"1","content":"a","status":"pending"}]}}`, "ok"), "open a"},
		{"JSON in a string", start().call("tool_call", `{"name":"todo_write","arguments":"{\"todos\":[{\"content\":\"a\",\"status\":\"completed\"}]}"}`, "ok"), "done a"},
		{"flags for states", start().call("set_agenda", `{"agenda":[{"text":"a","done":true},{"text":"b","done":false}]}`, "ok"), "done a; open b"},
		{"a checklist", start().call("read_file", `{"path":"a.go","task_progress":"- [x] a\n- [ ] b"}`, "package a"), "done a; open b"},
		{"a checklist with a heading", start().call("track", `{"todos":"# Work\n[x] a\n[-] b\n[ ] c"}`, "ok"), "done a; active b; open c"},
		{"a plan in words", start().call("ExitPlanMode", `{"plan":"# Plan\n1. a\n2. b\n- never touch c"}`, "User has approved your plan."), "open a; open b"},
		{"a plan in points", start().call("ExitPlanMode", `{"plan":"# Plan\n- aa\n  - inner\n- bb"}`, "User has approved your plan."), "open aa; open bb"},
		{"a plan in the result", start().call("ExitPlanMode", `{}`, "User has approved your plan. You can now start.\n\n## Approved Plan (edited by user):\n1. a\n2. b"), "open a; open b"},
		{"a refused plan", start().call("ExitPlanMode", `{"plan":"1. a\n2. b"}`, "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."), "open a; open b"},
		{"the newest list", start().call("TodoWrite", `{"todos":[{"content":"a","status":"pending"}]}`, "ok").call("TodoWrite", `{"todos":[{"content":"b","status":"pending"}]}`, "ok"), "open b"},
		{"an empty list", start().call("TodoWrite", `{"todos":[{"content":"a","status":"pending"}]}`, "ok").call("TodoWrite", `{"todos":[]}`, "ok"), ""},
		{"step by step", start().call("TaskCreate", `{"subject":"a","description":"long"}`, "Task #1 created successfully: a").call("TaskCreate", `{"subject":"b"}`, "Task #2 created successfully: b").
			call("TaskUpdate", `{"taskId":"1","status":"completed"}`, "Updated task #1 status").call("TaskUpdate", `{"taskId":"2","status":"in_progress"}`, "Updated task #2 status"), "done a; active b"},
		{"a step deleted", start().call("TaskCreate", `{"subject":"a"}`, "Task #1 created successfully: a").call("TaskUpdate", `{"taskId":"1","status":"deleted"}`, "ok"), "dropped a"},
		{"an explanation is no name", start().call("TaskCreate", `{"subject":"a"}`, "Task #1 created successfully: a").call("TaskUpdate", `{"taskId":"1","description":"it is harder"}`, "Updated task #1 description"), "open a"},
		{"a listing", start().call("TaskList", `{}`, "#1 [pending] a\n#2 [completed] b [blocked by #1]"), "open a; done b"},
		{"changes by ID alone", start().call("todo_write", `{"merge":false,"todos":[{"id":"x","content":"a","status":"pending"},{"id":"y","content":"b","status":"pending"}]}`, "ok").call("todo_write", `{"merge":true,"todos":[{"id":"y","status":"completed"}]}`, "ok"), "open a; done b"},
		{"a goal", start().call("create_goal", `{"objective":"ship it"}`, `{"goal":{"objective":"ship it","status":"active"}}`).call("update_goal", `{"status":"complete"}`, `{"goal":{"status":"complete"}}`), "done ship it"},
		{"a goal and a plan", start().call("create_goal", `{"objective":"ship it"}`, "{}").call("update_plan", `{"plan":[{"step":"a","status":"pending"}]}`, "ok"), "open ship it; open a"},
		{"a plan in words that no tool of plans writes", start().call("plan_mode_respond", `{"response":"# Plan\n1. a\n2. b"}`, "[The user has switched to ACT MODE, so you may now proceed with the task.]"), ""},
		{"a checklist in words that is ticked", start().says(precis.RoleAssistant, "- [ ] a\n- [ ] b").user("Yes, go ahead.").says(precis.RoleAssistant, "- [x] a\n- [ ] b"), "done a; open b"},
		{"one that is not", start().says(precis.RoleAssistant, "I propose:\n- [ ] a\n- [ ] b\nShall I?").user("ok").says(precis.RoleAssistant, "Again:\n- [ ] a\n- [ ] b"), ""},
		{"another one", start().says(precis.RoleAssistant, "- [ ] a\n- [ ] b").says(precis.RoleAssistant, "- [x] c\n- [x] d"), ""},
		{"sentences of the user", start().call("TodoWrite", `{"todos":[{"content":"Write XML","status":"completed"},{"content":"Stream it","status":"pending"}]}`, "ok").user("No, drop all that. Skip step 2. Forget the plan."), "done Write XML; open Stream it"},

		{"a file with a checklist", start().call("Write", `{"file_path":"README.md","content":"- [ ] a\n- [x] b"}`, "ok").call("Read", `{"file_path":"README.md"}`, "- [ ] a\n- [x] b"), ""},
		{"issues of a tracker", start().call("mcp__github__list_issues", `{"state":"open"}`, `[{"title":"a","state":"open"}]`).call("mcp__github__create_issue", `{"title":"a","body":"b"}`, "#12 created"), ""},
		{"what an agent is given", start().call("new_task", `{"mode":"code","message":"do","todos":"- [ ] a"}`, "done"), ""},
		{"output of a job", start().call("TaskOutput", `{"task_id":"b1"}`, "<status>running</status>"), ""},
	} {
		if tt.name == "a refused plan" { // proven by the error flag
			r := tt.k.msgs[2].Content[0].(precis.ToolResult)
			r.IsError = true
			tt.k.msgs[2].Content[0], tt.want = r, ""
		}
		if got := steps(tt.k.read()); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestAPlanInWordsKeepsItsRules(t *testing.T) {
	r := start().call("ExitPlanMode", `{"plan":"1. read it\n2. write it\n- You must never touch the API."}`, "User has approved your plan.").read()
	if len(r.Steps) != 2 || !reflect.DeepEqual(r.Steps[0].Rules, []string{"You must never touch the API."}) {
		t.Errorf("%+v", r.Steps)
	}
}

const notification = "<task-notification>\n<task-id>%s</task-id>\n<status>%s</status>\n<summary>%s</summary>\n%s</task-notification>"

func TestJobs(t *testing.T) {
	shell := func() *talk {
		return start().call("Bash", `{"command":"make soak","run_in_background":true}`, "Command running in background with ID: b7. Output is being written to: tasks/b7.output")
	}
	agent := func() *talk {
		return start().call("Agent", `{"description":"find the leak","prompt":"Find it","run_in_background":true}`, "Async agent launched successfully.\nagentId: a7f3\nThe agent is working in the background.")
	}
	codex := func() *talk {
		return start().call("exec_command", `{"cmd":"make soak"}`, "Chunk ID: 1f\nWall time: 10.0 seconds\nProcess running with session ID 4711\nOutput:\n")
	}
	for _, tt := range []struct {
		name string
		k    *talk
		want string
	}{
		{"a command", shell(), "b7 running:"},
		{"an agent", agent(), "a7f3 running:"},
		{"Qwen Code", start().call("run_shell_command", `{"command":"make soak","is_background":true}`, "Background shell started.\nid: bg_12ab\npid: 4"), "bg_12ab running:"},
		{"Codex", codex(), "4711 running:"},
		{"its end in a user message", agent().user(fmt.Sprintf(notification, "a7f3", "completed", `Agent "find the leak" completed`, "<result>The ticker is never stopped.</result>\n")), "a7f3 done: The ticker is never stopped."},
		{"in a system message", agent().says(precis.RoleSystem, "[SYSTEM NOTIFICATION - NOT USER INPUT]\n"+fmt.Sprintf(notification, "a7f3", "failed", "it failed", "")), "a7f3 failed: it failed"},
		{"behind a result", shell().call("Read", `{"file_path":"a.go"}`, "package a\n\n"+fmt.Sprintf(notification, "b7", "failed", "exit code 2", "")), "b7 failed: exit code 2"},
		{"in a reminder", shell().user("<system-reminder>\n[SYSTEM NOTIFICATION - NOT USER INPUT]\n" + fmt.Sprintf(notification, "b7", "killed", "it was killed", "") + "\n</system-reminder>"), "b7 stopped: it was killed"},
		{"asked for", shell().call("TaskOutput", `{"task_id":"b7"}`, "<retrieval_status>success</retrieval_status>\n\n<task_id>b7</task_id>\n\n<task_type>local_bash</task_type>\n\n<status>completed</status>\n\n<exit_code>0</exit_code>\n\n<output>\n3 of 3 passed\n</output>"), "b7 done: 3 of 3 passed"},
		{"still running", shell().call("BashOutput", `{"bash_id":"b7"}`, "<status>running</status>\n\n<stdout>\n1 passed\n</stdout>"), "b7 running:"},
		{"a failure", shell().call("BashOutput", `{"bash_id":"b7"}`, "<status>completed</status>\n\n<exit_code>2</exit_code>\n\n<stdout>\nmake: *** [soak] Error 2\n</stdout>"), "b7 failed: make: *** [soak] Error 2"},
		{"stopped", shell().call("KillShell", `{"shell_id":"b7"}`, `{"message":"Successfully killed shell: b7 (make soak)","shell_id":"b7"}`), "b7 stopped:"},
		{"Codex polls", codex().call("write_stdin", `{"session_id":4711,"chars":""}`, "Chunk ID: 2\nWall time: 5.0 seconds\nProcess running with session ID 4711\nOutput:\n"), "4711 running:"},
		{"Codex' end", codex().call("write_stdin", `{"session_id":4711,"chars":""}`, "Chunk ID: 2\nWall time: 5.0 seconds\nProcess exited with code 1\nOutput:\nsoak: FAIL"), "4711 failed: soak: FAIL"},
		{"Codex' agents", start().call("spawn_agent", `{"agent_type":"explorer","message":"Find it"}`, `{"agent_id":"019-a1","nickname":"Ada"}`), "019-a1 running:"},
		{"their end", start().call("spawn_agent", `{"message":"Find it"}`, `{"agent_id":"019-a1"}`).user("<subagent_notification>\n{\"agent_id\":\"019-a1\",\"status\":{\"completed\":\"It is in evict.go.\"}}\n</subagent_notification>"), "019-a1 done: It is in evict.go."},
		{"waited for", start().call("spawn_agent", `{"message":"Find it"}`, `{"agent_id":"019-a1"}`).call("wait", `{"ids":["019-a1"]}`, `{"status":{"019-a1":{"completed":"It is in evict.go."}},"timed_out":false}`), "019-a1 done: It is in evict.go."},
		{"an agent that reports at once", start().call("Task", `{"description":"look","prompt":"Look","subagent_type":"Explore"}`, "It is in evict.go.\nagentId: a9c0 (for resuming to continue this agent's work if needed)\n<usage>total_tokens: 5</usage>"), "a9c0 done: It is in evict.go."},
		{"opencode", start().call("task", `{"description":"look","prompt":"Look","subagent_type":"general"}`, "<task id=\"ses_1\" state=\"completed\">\n<task_result>\nAll read.\n</task_result>\n</task>"), "ses_1 done: All read."},
		{"an ID that is used again", shell().user(fmt.Sprintf(notification, "b7", "completed", "one", "")).call("Bash", `{"command":"make lint","run_in_background":true}`, "Command running in background with ID: b7"), "b7 done: one; b7 running:"},

		{"a source file", start().call("Read", `{"file_path":"t.go"}`, "// the result contains \"agentId: <id>\"\nAsync agent launched"), ""},
		{"a log that is shown", start().call("Bash", `{"command":"cat session.log"}`, "Command running in background with ID: b9"), ""},
		{"in brackets", start().call("terminal", `{"command":"make e2e","background":true}`, `{"session_id":"proc_1","output":"Background process started"}`).user("[IMPORTANT: Background process proc_1 completed (exit_code=1).\nCommand: make e2e\nOutput:\n2 failing]"), "proc_1 failed: 2 failing"},
		{"in brackets, well", start().user("[IMPORTANT: Background process proc_2 completed normally (exit code 0).\nCommand: make\nOutput:\nmade]"), "proc_2 done: made"},
		{"a page in brackets", start().call("WebFetch", `{"url":"http://x","prompt":"p"}`, "[IMPORTANT: Background process proc_3 completed (exit_code=1).\nOutput:\nx]"), ""},
		{"a page", start().call("WebFetch", `{"url":"http://x","prompt":"p"}`, fmt.Sprintf(notification, "b9", "completed", "x", "")), ""},
		{"a search", start().call("Grep", `{"pattern":"background"}`, "a.go:3: Background shell started"), ""},
		{"pasted words", start().user("What is this?\n" + fmt.Sprintf(notification, "b9", "completed", "x", "")), ""},
	} {
		if got := jobsOf(tt.k.read()); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

const skill = "Base directory for this skill: /h/.claude/skills/deploy-ostrich\n\n# Deploy\n\nFollow these steps:\n1. Run ./deploy.sh --dry-run first.\n2. Never deploy on a Friday.\nYou must ask before a rollback. It is a nice tool.\n```\nnever run this example\n```\n"

func TestSkills(t *testing.T) {
	orders := []string{"Run ./deploy.sh --dry-run first.", "Never deploy on a Friday.", "You must ask before a rollback."}
	beside := start().call("Skill", `{"skill":"deploy-ostrich"}`, "Launching skill: deploy-ostrich")
	last := &beside.msgs[len(beside.msgs)-1]
	last.Content = append(last.Content, precis.Text{Text: skill})
	_, body, _ := strings.Cut(skill, "\n\n")
	for _, tt := range []struct {
		name, where string
		k           *talk
	}{
		{"beside the result", "/h/.claude/skills/deploy-ostrich/SKILL.md", beside},
		{"in the result", "", start().call("Skill", `{"skill":"deploy-ostrich"}`, "Launching skill: deploy-ostrich\n\n"+body)},
		{"Codex", "/s/deploy-ostrich/SKILL.md", start().user("<skill>\n<name>deploy-ostrich</name>\n<path>/s/deploy-ostrich/SKILL.md</path>\n" + body + "</skill>")},
		{"opencode", "", start().call("skill", `{"name":"deploy-ostrich"}`, "<skill_content name=\"deploy-ostrich\">\n"+body+"</skill_content>")},
		{"its file was read", "/s/x/SKILL.md", start().call("Read", `{"file_path":"/s/x/SKILL.md"}`, "     1→---\n     2→name: deploy-ostrich\n     3→---\n"+body)},
		{"its file was printed", "/s/deploy-ostrich/SKILL.md", start().call("exec_command", `{"cmd":"sed -n 1,200p /s/deploy-ostrich/SKILL.md"}`, body)},
	} {
		r := tt.k.read()
		if len(r.Skills) != 1 || r.Skills[0].Text != "deploy-ostrich" || r.Skills[0].Where != tt.where || !reflect.DeepEqual(r.Skills[0].Orders, orders) {
			t.Errorf("%s: %+v", tt.name, r.Skills)
		}
	}
	if r := start().call("Skill", `{"skill":"a"}`, "one: never do it").call("Skill", `{"skill":"a"}`, "two: never do that").read(); len(r.Skills) != 1 || r.Skills[0].Orders[0] != "two: never do that" {
		t.Errorf("%+v", r.Skills)
	}
	// A call names it with its plugin, its folder without; two plugins may have one of the same name.
	r := start().call("Skill", `{"skill":"birds:deploy-ostrich"}`, "Launching skill: birds:deploy-ostrich").user(skill).read()
	if len(r.Skills) != 1 || r.Skills[0].Text != "birds:deploy-ostrich" || r.Skills[0].Where != "/h/.claude/skills/deploy-ostrich/SKILL.md" || !reflect.DeepEqual(r.Skills[0].Orders, orders) {
		t.Errorf("%+v", r.Skills)
	}
	if r := start().call("Skill", `{"skill":"birds:a"}`, "one: never do it").call("Skill", `{"skill":"fish:a"}`, "two: never do that").read(); len(r.Skills) != 2 {
		t.Errorf("%+v", r.Skills)
	}
	if r := start().user("My notes about the skill: Base directory for this skill: /x\nnever do it").read(); len(r.Skills) != 0 {
		t.Errorf("a person's words are a skill: %+v", r.Skills)
	}
}

func TestInstructions(t *testing.T) {
	r := start().says(precis.RoleSystem, "All output for area 2 must be in French.").user("<system-reminder>\nToday's date is 2026-11-01.\n</system-reminder>").
		user("<system-reminder>\nToday's date is 2026-11-02.\n</system-reminder>").user(skill).says(precis.RoleSystem, "[SYSTEM NOTIFICATION - NOT USER INPUT]\n"+fmt.Sprintf(notification, "b", "completed", "s", "")).read()
	var got []string
	for _, i := range r.Instructions {
		got = append(got, i.Text)
	}
	if want := []string{"All output for area 2 must be in French.", "Today's date is 2026-11-02."}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

func TestLinesOfWhatMustNotBeForgotten(t *testing.T) {
	k := start().call("TodoWrite", `{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"}]}`, "ok").
		call("Bash", `{"command":"make soak","run_in_background":true}`, "Command running in background with ID: b7")
	all := func(string) bool { return true }
	if got := k.read().Lines(0, 3, all); !reflect.DeepEqual(got, []string{"- [ ] b"}) {
		t.Errorf("%q", got)
	}
	if got := k.read().Lines(0, 9, all); !reflect.DeepEqual(got, []string{"- [ ] b", "- m3.b0 Bash b7 (make soak): running"}) {
		t.Errorf("%q", got)
	}
	if got := k.read().Lines(0, 9, func(l string) bool { return len(l) < 10 }); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// anything is a conversation of events of every kind, in any order.
func anything(t *rapid.T) []precis.Message {
	k := start()
	for range rapid.IntRange(0, 25).Draw(t, "events") {
		switch rapid.IntRange(0, 10).Draw(t, "event") {
		case 0:
			k.call("TodoWrite", rapid.SampledFrom([]string{`{"todos":[{"content":"a","status":"pending"},{"content":"b","status":"completed"}]}`, `{"todos":[]}`, `{"todos":[{"content":"c","status":"pending"}]}`}).Draw(t, "todos"), "ok")
		case 1:
			k.call("TaskCreate", `{"subject":"a task"}`, fmt.Sprintf("Task #%d created successfully", rapid.IntRange(1, 3).Draw(t, "id")))
		case 2:
			k.call("TaskUpdate", fmt.Sprintf(`{"taskId":"%d","status":"completed"}`, rapid.IntRange(1, 3).Draw(t, "id")), "ok")
		case 3:
			k.call("Bash", `{"command":"make","run_in_background":true}`, fmt.Sprintf("Command running in background with ID: b%d", rapid.IntRange(1, 2).Draw(t, "job")))
		case 4:
			k.user(fmt.Sprintf(notification, fmt.Sprint("b", rapid.IntRange(1, 3).Draw(t, "job")), rapid.SampledFrom([]string{"completed", "failed", "running"}).Draw(t, "state"), "s", ""))
		case 5:
			k.user(rapid.SampledFrom([]string{"Drop all that.", "ok", "Skip the task.", "Why?"}).Draw(t, "words"))
		case 6:
			k.says(precis.RoleAssistant, "- [ ] x\n- [x] y")
		case 7:
			k.user(skill)
		case 8:
			k.call("Skill", `{"skill":"s"}`, "never do it")
		case 9:
			k.says(precis.RoleSystem, "You must speak French.")
		default:
			k.call("ExitPlanMode", `{"plan":"1. p\n2. q"}`, "User has approved your plan.")
		}
	}
	return k.msgs
}

func TestReadingInTwoPartsIsReadingAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := anything(t)
		calls := toolcall.Find(msgs)
		at := rapid.IntRange(0, len(msgs)).Draw(t, "at")
		whole, parts, prefix := newFold(), newFold(), newFold()
		whole.read(msgs, calls, 0, len(msgs))
		parts.read(msgs, calls, 0, at)
		prefix.read(msgs[:at], toolcall.Find(msgs[:at]), 0, at)
		if a, b := parts.reading(), prefix.reading(); !reflect.DeepEqual(a, b) {
			t.Fatalf("what holds at m%d depends on what came later:\n%+v\n%+v", at, a, b)
		}
		parts.read(msgs, calls, at, len(msgs))
		if a, b := whole.reading(), parts.reading(); !reflect.DeepEqual(a, b) {
			t.Fatalf("read at once:\n%+v\nin two parts:\n%+v", a, b)
		}
	})
}

func TestWhatWasRewoundDoesNotHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := anything(t)
		at := rapid.IntRange(1, len(msgs)).Draw(t, "at")
		conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
		if at < len(msgs) {
			conv.Edits = []precis.Edit{{ID: "r", Kind: precis.KindRewind, Seen: len(msgs), Replace: []precis.Replacement{{From: at, To: len(msgs)}}}}
		}
		fresh := &precis.Conversation{Transcript: precis.NewTranscript(msgs[:at]...)}
		if a, b := Of(conv), Of(fresh); !reflect.DeepEqual(a, b) {
			t.Fatalf("rewound to m%d:\n%+v\nfresh:\n%+v", at, a, b)
		}
	})
}

// BenchmarkRead reads 100,000 messages, a third of them calls that change a plan or a job.
func BenchmarkRead(b *testing.B) {
	k := start()
	for i := 0; len(k.msgs) < 100_000; i++ {
		switch i % 6 {
		case 0:
			k.call("TodoWrite", `{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"},{"content":"c","status":"pending"}]}`, "ok")
		case 1:
			k.call("Bash", `{"command":"make","run_in_background":true}`, fmt.Sprintf("Command running in background with ID: b%d", i))
		case 2:
			k.user("Look at the next part, please, and do not skip the tests.")
		default:
			k.call("Read", fmt.Sprintf(`{"file_path":"f%d.go"}`, i), strings.Repeat("func x() { return }\n", 20))
		}
	}
	calls := toolcall.Find(k.msgs)
	b.ResetTimer()
	for b.Loop() {
		Read(k.msgs, calls)
	}
}

// TestOrdersKeepWhatGovernsThem: the points of a list under "Never" are not told as things to do.
func TestOrdersKeepWhatGovernsThem(t *testing.T) {
	got := Directives("# Review\n\n## Forbidden Responses\n\n**NEVER:**\n- \"You're absolutely right!\"\n\n- \"Great point!\"\n\n**INSTEAD:**\n- Restate the requirement\n\nPush back when:\n1. The suggestion breaks things\n\nSteps:\n- Read it\n\n## Mistakes\n- Batch without testing\n\n| Mistake | Mend |\n|---|---|\n| No pages | Always use `--paginate` |\n")
	want := []string{`NEVER: "You're absolutely right!"`, `NEVER: "Great point!"`, "INSTEAD: Restate the requirement", "Push back when: The suggestion breaks things", "Read it", "Mistakes: Batch without testing"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
