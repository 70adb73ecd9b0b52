package service_test

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/cmd/internal/service"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/conversation"
)

// Values of the configuration file are changed on the page of settings: one is written in
// its place and in force at once; files, programs and addresses cannot be named there.
func TestValuesAreWrittenOnThePageOfSettings(t *testing.T) {
	s, careful := openCommented(t)
	was := content(t, s.file)
	page := s.ask("GET", "/precis/settings", "")
	token := cut(page.Body.String(), `name="token" value="`, `"`)
	if page.Code != 200 || token == "" || !strings.Contains(page.Body.String(), `name="spend.day"`) || strings.Contains(page.Body.String(), "hooks.") || strings.Contains(page.Body.String(), "summarizer.url") {
		t.Fatalf("%d %.600s", page.Code, page.Body)
	}
	cookie := strings.Split(page.Header().Get("Set-Cookie"), ";")[0]
	post := func(form string) int {
		got := s.ask("POST", "/precis/settings/values", "token="+token+"&"+form, "Content-Type", "application/x-www-form-urlencoded", "Cookie", cookie)
		return got.Code
	}
	if code := post("keep.messages=7&spend.day=2.5&pin=&summarizer.template=six"); code != 303 {
		t.Fatal(code)
	}
	if got := content(t, s.file); !strings.HasPrefix(got, was) || !strings.Contains(got, "messages: 7") || !strings.Contains(got, "day: 2.5") || !strings.Contains(got, "template: six") || strings.Contains(got, "pin") {
		t.Errorf("the file is\n%s", got)
	}
	if v, err := s.Gateway.Profiles().PolicySettings(""); err != nil || v.KeepMessages != 7 || v.Spend.Day != 2.5 || v.Percent != 60 {
		t.Errorf("in force are %+v, %v", v, err)
	}
	written := content(t, s.file)
	for _, form := range []string{"spend.day=much", "rungs=fly", "pin=(", "summarizer.template=seven"} {
		if code := post(form); code != 400 || content(t, s.file) != written {
			t.Errorf("%s: %d, or it was written", form, code)
		}
	}
	if code := post("hooks.before=evil.sh&summarizer.url=http://evil&gateway.store=x&keep.share=1"); code != 303 || content(t, s.file) != written {
		t.Errorf("keys that are not offered: %d, or they were written", code)
	}
	if code := post("profile=careful&keep.messages=2"); code != 303 || !strings.HasPrefix(content(t, careful), "threshold: 40 # early\n") || !strings.Contains(content(t, careful), "messages: 2") {
		t.Errorf("%d, the profile's file is %q", code, content(t, careful))
	}
	prompt := filepath.Join(t.TempDir(), "prompt.txt")
	if err := os.WriteFile(prompt, []byte("Sum it up."), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"template: ", "prompt_file: "} { // the second as in an earlier version
		if err := os.WriteFile(s.file, []byte(strings.Replace(written, "template: six", line+prompt, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(s.ask("GET", "/precis/settings", "").Body.String(), "Reset to the template") || post("summarizer.template=") != 303 || strings.Contains(content(t, s.file), prompt) {
			t.Errorf("the prompt is not reset: %s", content(t, s.file))
		}
	}
	if post("summarizer.template=/etc/passwd") != 400 || strings.Contains(content(t, s.file), "passwd") {
		t.Error("a file can be named")
	}
}

// Thresholds of models and profiles are added, changed and taken out on the page of
// settings; what would not count is refused.
func TestThresholdsOfModelsAreWrittenOnThePageOfSettings(t *testing.T) {
	s, _ := openCommented(t)
	page := s.ask("GET", "/precis/settings", "")
	token := cut(page.Body.String(), `name="token" value="`, `"`)
	cookie := strings.Split(page.Header().Get("Set-Cookie"), ";")[0]
	if !strings.Contains(page.Body.String(), `name="profiles"`) {
		t.Fatalf("there is no field: %.600s", page.Body)
	}
	was := content(t, s.file)
	for _, step := range []struct {
		form, value string
		code        int
		want        map[string]float64
	}{
		{"profiles", "gpt-oss:20b: 40", 303, map[string]float64{"gpt-oss:20b": 40}},
		{"profiles", " claude-haiku-4-5 :85.5", 303, map[string]float64{"gpt-oss:20b": 40, "claude-haiku-4-5": 85.5}},
		{"profiles.gpt-oss:20b", "-1", 303, map[string]float64{"gpt-oss:20b": -1, "claude-haiku-4-5": 85.5}},
		{"profiles.claude-haiku-4-5", "3", 400, nil},
		{"profiles", "m: 101", 400, nil},
		{"profiles", "m: NaN", 400, nil},
		{"profiles", "m", 400, nil},
		{"profiles", ": 40", 400, nil},
		{"profiles", "m:", 400, nil},
		{"profiles.claude-haiku-4-5", "", 303, map[string]float64{"gpt-oss:20b": -1}},
		{"profiles.nobody", "50", 303, map[string]float64{"gpt-oss:20b": -1}}, // no field of the page
	} {
		before := content(t, s.file)
		got := s.ask("POST", "/precis/settings/values", url.Values{"token": {token}, step.form: {step.value}}.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Cookie", cookie)
		if got.Code != step.code || step.code == 400 && content(t, s.file) != before {
			t.Errorf("%s=%s: %d, the file is\n%s", step.form, step.value, got.Code, content(t, s.file))
		}
		if step.want == nil {
			continue
		}
		if v, err := s.Gateway.Profiles().Settings(""); err != nil || !maps.Equal(v.Thresholds, step.want) || !strings.HasPrefix(content(t, s.file), was) {
			t.Errorf("%s=%s: in force are %v (%v), the file is\n%s", step.form, step.value, v.Thresholds, err, content(t, s.file))
		}
	}
	if body := s.ask("GET", "/precis/settings", "").Body.String(); !strings.Contains(body, `name="profiles.gpt-oss:20b" value="-1"`) {
		t.Error("the threshold has no field")
	}
}

// A prompt that is typed on the page stands in the file as a text of several lines, is what
// the model is asked by from then on, and goes by its reset.
func TestThePromptIsTypedOnThePageOfSettings(t *testing.T) {
	t.Setenv("KEY_OF_THE_TEST", "k")
	s := open(t, "# of the team\ngateway: {upstream: UPSTREAM, store: memory}\nsummarizer:\n  model: claude-haiku-4-5 # cheap\n  url: UPSTREAM\n  key_env: KEY_OF_THE_TEST\n",
		func(p *service.Parts) { p.Condensing = (&jobs.Opener{}).GatewayCondensing })
	was := content(t, s.file)
	page := s.ask("GET", "/precis/settings", "")
	token, cookie := cut(page.Body.String(), `name="token" value="`, `"`), strings.Split(page.Header().Get("Set-Cookie"), ";")[0]
	if !strings.Contains(page.Body.String(), html.EscapeString(condense.Prompt{}.Text()[:60])) {
		t.Error("the built-in prompt is not on the page")
	}
	post := func(v url.Values) int {
		v.Set("token", token)
		return s.ask("POST", "/precis/settings/values", v.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Cookie", cookie).Code
	}
	const prompt = "Sum it up # briefly.\n\n  - files: {all}\n  - commands"
	if code := post(url.Values{"summarizer.prompt": {strings.ReplaceAll(prompt, "\n", "\r\n") + "\r\n"}}); code != 303 {
		t.Fatal(code)
	}
	if got, want := content(t, s.file), was+"  prompt: |-\n    Sum it up # briefly.\n\n      - files: {all}\n      - commands\n"; got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	if asked := s.summarized(t); !strings.Contains(asked, "Sum it up # briefly.") || !strings.Contains(asked, "- files: {all}") {
		t.Errorf("the model is asked %.400s", asked)
	}
	for _, bad := range []string{"a\x00b", "\xff", strings.Repeat("x", config.MaxPrompt+1)} {
		if code := post(url.Values{"summarizer.prompt": {bad}}); code != 400 || !strings.Contains(content(t, s.file), "- commands") {
			t.Errorf("%.10q: %d", bad, code)
		}
	}
	if code := post(url.Values{"summarizer.prompt": {"Sum it up # briefly."}, "reset": {"summarizer.prompt"}}); code != 303 || content(t, s.file) != was {
		t.Errorf("reset: %d, the file is\n%s", code, content(t, s.file))
	}
	if asked := s.summarized(t); strings.Contains(asked, "briefly") {
		t.Errorf("after the reset the model is asked %.400s", asked)
	}
}

// summarized has a conversation condensed by the model, and returns what the model was
// asked.
func (s *setup) summarized(t *testing.T) string {
	t.Helper()
	type object = map[string]any
	var messages []object
	for n := range 30 {
		messages = append(messages, object{"role": "user", "content": fmt.Sprintf("Look at part %d. %s", n, strings.Repeat("It is long. ", 60))},
			object{"role": "assistant", "content": fmt.Sprintf("Part %d is fine. %s", n, strings.Repeat("I looked at it. ", 60))})
	}
	messages = append(messages, object{"role": "user", "content": "Go on."})
	body, err := json.Marshal(object{"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.ask("POST", "/v1/messages", string(body)); got.Code != 200 {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	var list conversation.Page[conversation.ListItem]
	if err := json.Unmarshal(s.ask("GET", "/precis/api/v1/conversations", "").Body.Bytes(), &list); err != nil || len(list.Items) != 1 {
		t.Fatalf("%d conversations, %v", len(list.Items), err)
	}
	before := len(s.upstream.Requests())
	got := s.ask("POST", "/precis/api/v1/conversations/"+list.Items[0].ID+"/draft", `{"target_tokens":4000,"summarizer":"model"}`)
	asked := s.upstream.Requests()[before:]
	if len(asked) == 0 {
		t.Fatalf("no model was asked: %d %s", got.Code, got.Body)
	}
	var text strings.Builder
	for _, r := range asked {
		var request any
		if err := json.Unmarshal(r.Body, &request); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&text, request)
	}
	return text.String()
}

// cut returns what stands between two texts; "" when they are not there.
func cut(s, from, to string) string {
	_, s, ok := strings.Cut(s, from)
	s, _, found := strings.Cut(s, to)
	if !ok || !found {
		return ""
	}
	return s
}
