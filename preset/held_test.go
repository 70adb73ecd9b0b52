package preset_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/tokens"
	"github.com/precis-dev/precis/wire/anthropic"
	chatwire "github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// script writes a conversation of the Messages API as agents send it, and what of it is in
// force.
type script struct {
	r        *rand.Rand
	messages []string
	must     map[string]string // what every view shows, by what takes its place
	n        int
	skills   int
	jobs     map[string]bool
}

func (s *script) say(format string, args ...any) {
	s.messages = append(s.messages, fmt.Sprintf(format, args...))
}

func quoted(text string) string { raw, _ := json.Marshal(text); return string(raw) }

func (s *script) words(n int) string {
	var out strings.Builder
	for range n {
		fmt.Fprintf(&out, "word%d ", s.r.IntN(5000))
	}
	return out.String()
}

// start is the first request of Claude Code: its standing texts ride in front of the task.
func (s *script) start() {
	s.must["memory"] = "kestrels come first"
	s.say(`{"role":"user","content":[{"type":"text","text":%s},{"type":"text","text":"Do the work."}]}`,
		quoted("<system-reminder>\nCodebase and user instructions are shown below. kestrels come first\n</system-reminder>"))
	if s.r.IntN(2) == 0 {
		s.must["lists"] = "the skill deploy-ostrich"
		s.say(`{"role":"system","content":"# Environment\nlinux\n\nThe following skills are available for use with the Skill tool:\n- the skill deploy-ostrich","output_config":{"effort":"low"}}`)
		s.must["effort"] = `"effort":"low"`
	}
	s.say(`{"role":"assistant","content":"I begin."}`)
}

// turn is a request with some calls, and now and then what changes what is in force.
func (s *script) turn() {
	s.n++
	s.say(`{"role":"user","content":%s}`, quoted(fmt.Sprintf("Request %d. %s", s.n, s.words(20))))
	switch s.r.IntN(8) {
	case 0:
		rule := fmt.Sprintf("standing order %d holds", s.n)
		s.must[rule] = rule
		s.say(`{"role":"system","content":[{"type":"text","text":%s}]}`, quoted(rule))
	case 1:
		name := fmt.Sprintf("tool_%d", s.n)
		s.must[name] = `"name":"` + name + `"`
		s.say(`{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":%s,"input_schema":{"type":"object"}}}}]}`, quoted(name))
	case 2:
		effort := fmt.Sprintf(`"effort":"e%d"`, s.n)
		s.must["effort"] = effort
		s.say(`{"role":"system","content":[],"output_config":{%s}}`, effort)
	case 3:
		s.say(`{"role":"system","content":"until you speak again, be brief","clear_at":"next_user_message"}`)
	}
	for range s.r.IntN(4) {
		s.call()
	}
	s.say(`{"role":"assistant","content":[{"type":"text","text":%s}]}`, quoted("Done. "+s.words(30)))
}

func (s *script) call() {
	s.n++
	id := fmt.Sprintf("toolu_%d", s.n)
	if s.r.IntN(6) == 0 {
		s.must["tool "+id] = `"tool_name":"found_` + id + `"`
		s.say(`{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"ToolSearch","input":{"query":"x"}}]}`, id)
		s.say(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":[{"type":"tool_reference","tool_name":"found_%s"}]},{"type":"text","text":"Tool loaded."}]}`, id, id)
		return
	}
	if s.lasting(id) {
		return
	}
	s.say(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":%q,"name":"Read","input":{"file_path":"f%d.go"}}]}`, id, s.n)
	beside := ""
	if s.r.IntN(8) == 0 {
		path := fmt.Sprintf("/p/d%d/CLAUDE.md", s.n)
		s.must[path] = "rule of " + path
		beside = fmt.Sprintf(`,{"type":"text","text":%s}`, quoted("<system-reminder>\nContents of "+path+":\n\nrule of "+path+"\n</system-reminder>"))
	}
	s.say(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s}%s]}`, id, quoted(s.words(100+s.r.IntN(900))), beside)
}

// lasting makes, now and then, a call of which something holds: a plan, a skill, a job, a file
// with the rules of its folder.
func (s *script) lasting(id string) bool {
	pair := func(name, input, result string) bool {
		s.say(`{"role":"assistant","content":[{"type":"text","text":"Now this."},{"type":"tool_use","id":%q,"name":%q,"input":%s}]}`, id, name, input)
		s.say(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s}]}`, id, quoted(result))
		return true
	}
	switch s.r.IntN(16) {
	case 0:
		s.must["plan"] = fmt.Sprintf("move table %d", s.n)
		return pair("TodoWrite", fmt.Sprintf(`{"todos":[{"content":"map the tables","status":"completed"},{"content":%q,"status":"in_progress"}]}`, s.must["plan"]), "Todos have been modified.")
	case 1:
		order := fmt.Sprintf("Never touch stripe %d.", s.n)
		if s.skills++; s.skills > 3 {
			return false
		}
		s.must[order] = order
		return pair("Skill", fmt.Sprintf(`{"skill":"lint%d"}`, s.n), fmt.Sprintf("Base directory for this skill: /p/skills/lint%d\n\n# lint\n%s", s.n, order))
	case 2:
		job := fmt.Sprintf("b%dx", s.n)
		if s.jobs == nil {
			s.jobs = map[string]bool{}
		}
		if len(s.jobs) > 3 {
			return false
		}
		s.jobs[job], s.must[job] = true, job
		return pair("Bash", `{"command":"make serve","run_in_background":true}`, "Command running in background with ID: "+job+". Output is being written to: /tmp/x")
	case 3:
		path := fmt.Sprintf("/p/e%d/CLAUDE.md", s.n)
		s.must[path] = "order of " + path
		return pair("Read", fmt.Sprintf(`{"file_path":"/p/e%d/a.go"}`, s.n), s.words(20+s.r.IntN(900))+"\n\n<system-reminder>\nContents of "+path+":\n\norder of "+path+"\n</system-reminder>")
	}
	return false
}

// TestWhatIsInForceIsInEveryView plays conversations of the Messages API whose tools, settings,
// instructions, plans, skills and jobs change within. After each of many reductions the view is one that the API takes, and
// shows what is in force.
func TestWhatIsInForceIsInEveryView(t *testing.T) {
	seeds := sample.Of(5, 8, 40)
	for _, name := range []string{preset.Balanced, preset.Roo} {
		for seed := range seeds {
			s := &script{r: rand.New(rand.NewPCG(uint64(seed), 3)), must: map[string]string{}}
			m := held(t, name)
			conv := &precis.Conversation{Transcript: &precis.Transcript{}}
			s.start()
			reduced := 0
			for round := range 30 {
				s.turn()
				last := s.n
				s.messages = append(s.messages, fmt.Sprintf(`{"role":"user","content":"And now? %d"}`, last))
				all := decoded(t, "["+strings.Join(s.messages, ",")+"]")
				conv.Transcript.Append(all[conv.Transcript.Len():]...)
				said := conv.Transcript.Messages()
				if b := (anthropic.Dialect{}).Check(said); len(b) > 0 {
					t.Fatalf("seed %d: the conversation itself: %v", seed, b)
				}
				res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 16_000}, Dialect: anthropic.Dialect{}})
				if err != nil {
					t.Fatalf("%s, seed %d, round %d: %v", name, seed, round, err)
				}
				reduced += len(res.Edits)
				if b := (anthropic.Dialect{}).Check(res.View); len(b) > 0 {
					t.Fatalf("%s, seed %d, round %d: %v\n%s", name, seed, round, b, roles(res.View))
				}
				sent := string(anthropic.AppendMessages(nil, res.View))
				for key, text := range s.must {
					if !strings.Contains(sent, strings.Trim(quoted(text), `"`)) && !strings.Contains(sent, text) {
						t.Fatalf("%s, seed %d, round %d: %s is missing: %s\n%s", name, seed, round, key, text, roles(res.View))
					}
				}
				s.messages = append(s.messages, `{"role":"assistant","content":"Going on."}`)
				conv.Transcript.Append(decoded(t, "["+s.messages[len(s.messages)-1]+"]")...)
			}
			if reduced == 0 {
				t.Fatalf("%s, seed %d: nothing was reduced", name, seed)
			}
		}
	}
}

func held(t *testing.T, name string) *policy.Manager {
	t.Helper()
	settings, err := preset.Settings(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: settings, Estimate: tokens.NameChars4})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func decoded(t *testing.T, raw string) []precis.Message {
	t.Helper()
	msgs, err := anthropic.DecodeMessages([]byte(raw))
	if err != nil {
		t.Fatal(err, raw)
	}
	return msgs
}

func roles(view []precis.Message) string {
	var out strings.Builder
	for i, m := range view {
		fmt.Fprintf(&out, "%d %s %.90q\n", i, m.Role, anthropic.AppendMessage(nil, m))
	}
	return out.String()
}

// TestOtherDialectsKeepTheirInstructions: developer messages and tools that were searched for, of the two other dialects.
func TestOtherDialectsKeepTheirInstructions(t *testing.T) {
	filler := strings.Repeat("some output of a tool that is long. ", 300)
	var completions, items []string
	item := func(role, text string) string {
		return fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":"input_text","text":%s}]}`, role, quoted(text))
	}
	for i := range 20 {
		completions = append(completions, fmt.Sprintf(`{"role":"user","content":"request %d"}`, i))
		items = append(items, item("user", fmt.Sprint("request ", i)))
		if i == 3 {
			completions = append(completions, `{"role":"developer","content":"answer in French from here on"}`)
			items = append(items, item("developer", "answer in French from here on"),
				`{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"added_tool"}]}`,
				`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"abc"}`,
				`{"type":"tool_search_call","id":"ts_1","call_id":"c_s","status":"completed","execution":"client","arguments":{"query":"x"}}`,
				`{"type":"tool_search_output","id":"to_1","call_id":"c_s","status":"completed","execution":"client","tools":[{"type":"function","name":"searched_tool"}]}`,
				`{"type":"function_call_output","name":"goal_objective","namespace":"agent","id":"fco_1","output":"ship the release"}`)
		}
		completions = append(completions, fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"t%d","type":"function","function":{"name":"read","arguments":"{}"}}]}`, i),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"t%d","content":%s}`, i, quoted(fmt.Sprint(i, filler))), `{"role":"assistant","content":"fine"}`)
		items = append(items, fmt.Sprintf(`{"type":"function_call","call_id":"t%d","name":"read","arguments":"{}"}`, i),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"t%d","output":%s}`, i, quoted(fmt.Sprint(i, filler))), `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"fine"}]}`)
	}
	for name, tt := range map[string]struct {
		dialect interface {
			precis.Dialect
			AppendMessages([]byte, []precis.Message) []byte
		}
		msgs func() ([]precis.Message, error)
		must []string
	}{
		"chat": {chatwire.Dialect{}, func() ([]precis.Message, error) {
			return chatwire.DecodeMessages([]byte("[" + strings.Join(completions, ",") + "]"))
		}, []string{`{"role":"developer","content":"answer in French from here on"}`}},
		"responses": {responses.Dialect{}, func() ([]precis.Message, error) {
			return responses.DecodeMessages([]byte("[" + strings.Join(items, ",") + "]"))
		},
			[]string{item("developer", "answer in French from here on"), `"name":"added_tool"`, `"name":"searched_tool"`, `"type":"tool_search_call"`, `"encrypted_content":"abc"`, `{"type":"function_call_output","name":"goal_objective","namespace":"agent","id":"fco_1","output":"ship the release"}`}},
	} {
		msgs, err := tt.msgs()
		if err != nil {
			t.Fatal(err)
		}
		for _, window := range []int{16_000, 30_000} {
			conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
			res, err := held(t, preset.Balanced).Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: window}, Dialect: tt.dialect})
			if err != nil || len(res.Edits) == 0 {
				t.Fatalf("%s, %d: %v, %s", name, window, err, res.Report.Outcome)
			}
			sent := string(tt.dialect.AppendMessages(nil, res.View))
			for _, must := range tt.must {
				if !strings.Contains(sent, must) {
					t.Errorf("%s, %d: %s is missing", name, window, must)
				}
			}
			for _, b := range tt.dialect.Check(res.View) {
				if b.Rule != "pairing" || !strings.Contains(b.Detail, "fco_1") { // as it was sent
					t.Errorf("%s, %d: %v", name, window, b)
				}
			}
		}
	}
}

// TestWhatDoesNotFitIsNamed: instructions that are too long for a small window are named with their handles; tools and settings
// stay all the same.
func TestWhatDoesNotFitIsNamed(t *testing.T) {
	s := &script{r: rand.New(rand.NewPCG(5, 3)), must: map[string]string{}}
	s.say(`{"role":"user","content":"Do the work."}`)
	s.say(`{"role":"assistant","content":"I begin."}`)
	s.say(`{"role":"user","content":"Go on."}`)
	s.say(`{"role":"system","content":%s}`, quoted("# A manual of the house\n"+s.words(9000)))
	s.say(`{"role":"assistant","content":"I read it."}`)
	s.say(`{"role":"user","content":"Go on."}`)
	s.say(`{"role":"system","content":[{"type":"tool_addition","tool":{"name":"late_tool"}}],"output_config":{"effort":"max"}}`)
	for range 12 {
		s.say(`{"role":"assistant","content":"So be it."}`)
		s.turn()
	}
	s.say(`{"role":"user","content":"And now?"}`)
	conv := &precis.Conversation{Transcript: precis.NewTranscript(decoded(t, "["+strings.Join(s.messages, ",")+"]")...)}
	res, err := held(t, preset.Balanced).Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 16_000}, Dialect: anthropic.Dialect{}})
	if err != nil || len(res.Edits) == 0 {
		t.Fatal(err, res.Report.Outcome)
	}
	sent := string(anthropic.AppendMessages(nil, res.View))
	for _, want := range []string{"[Also in force", "m3: # A manual of the house", `"name":"late_tool"`, cmp.Or(s.must["effort"], `"effort":"max"`)} {
		if !strings.Contains(sent, want) {
			t.Errorf("%s is missing in\n%s", want, roles(res.View))
		}
	}
	if b := (anthropic.Dialect{}).Check(res.View); len(b) > 0 {
		t.Error(b)
	}
}
