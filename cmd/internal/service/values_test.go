package service_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if v, err := s.Gateway.SettingsInForce(""); err != nil || v.KeepMessages != 7 || v.Spend.Day != 2.5 || v.Percent != 60 {
		t.Errorf("in force are %+v, %v", v, err)
	}
	written := content(t, s.file)
	for _, form := range []string{"spend.day=much", "rungs=fly", "pin=(", "summarizer.template=seven"} {
		if code := post(form); code != 400 || content(t, s.file) != written {
			t.Errorf("%s: %d, or it was written", form, code)
		}
	}
	if code := post("hooks.before=evil.sh&summarizer.url=http://evil&gateway.store=x&summarizer.prompt_file=/etc/passwd"); code != 303 || content(t, s.file) != written {
		t.Errorf("keys that are not offered: %d, or they were written", code)
	}
	if code := post("profile=careful&keep.first=2"); code != 303 || !strings.HasPrefix(content(t, careful), "threshold: 40 # early\n") || !strings.Contains(content(t, careful), "first: 2") {
		t.Errorf("%d, the profile's file is %q", code, content(t, careful))
	}
	prompt := filepath.Join(t.TempDir(), "prompt.txt")
	if err := os.WriteFile(prompt, []byte("Sum it up."), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.file, []byte(strings.Replace(written, "template: six", "prompt_file: "+prompt, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.ask("GET", "/precis/settings", "").Body.String(), "Reset to the template") || post("summarizer.prompt_file=") != 303 || strings.Contains(content(t, s.file), "prompt_file") {
		t.Errorf("the prompt is not reset: %s", content(t, s.file))
	}
	if post("summarizer.prompt_file=/etc/passwd") != 303 || strings.Contains(content(t, s.file), "passwd") {
		t.Error("a file can be named")
	}
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
