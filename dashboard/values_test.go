package dashboard_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"precis"
	"precis/dashboard"
)

// valued are settings whose file has further values.
type valued struct {
	kept
	set   map[string]string
	fixed bool
}

func (v *valued) Values(string) []dashboard.SettingsValue {
	return []dashboard.SettingsValue{
		{Key: "summarizer.model", Value: "<gpt>", Help: "model that writes summaries", From: "a file"},
		{Key: "summarizer.selective", Value: "false", Help: "single results first", From: "default", Choices: []string{"false", "true"}},
		{Key: "summarizer.prompt_file", Value: "/etc/prompt.txt", Help: "a prompt", From: "a file", Reset: true},
	}
}

func (v *valued) SetValues(*http.Request) func(context.Context, string, map[string]string) error {
	if v.fixed {
		return nil
	}
	return func(_ context.Context, _ string, values map[string]string) error {
		v.set = values
		return nil
	}
}

func (v *valued) Owners(*http.Request) []dashboard.Owner {
	return []dashboard.Owner{{Name: "ann", Admin: true}, {Name: "<bert>"}}
}

func newValued() *valued {
	return &valued{kept: kept{settings: &settings{s: precis.DefaultSettings()}, file: "/etc/precis.yaml"}}
}

// What differs is written, and nothing else.
func TestFurtherValuesAreWritten(t *testing.T) {
	v := newValued()
	p := serve(t, home(t, window, messages(3)), func(o *dashboard.Options) { o.Settings = v })
	p.wants(p.get(200, "settings"), `value="&lt;gpt&gt;"`, "Reset to the template", "ann", "admin", "&lt;bert&gt;", "written to /etc/precis.yaml")
	p.wants(p.submit(200, "settings", "settings/values", url.Values{"summarizer.model": {"own"}, "summarizer.selective": {"false"}, "hooks.before": {"evil"}}), "in the file")
	if len(v.set) != 1 || v.set["summarizer.model"] != "own" {
		t.Errorf("written are %v", v.set)
	}
	p.submit(200, "settings", "settings/values", url.Values{"summarizer.prompt_file": {""}})
	if got, ok := v.set["summarizer.prompt_file"]; !ok || got != "" {
		t.Errorf("the prompt is not reset: %v", v.set)
	}
	p.post(403, "settings/values", url.Values{"token": {"another"}})
	v.fixed = true
	p.post(403, "settings/values", token(p))
	p = serve(t, home(t, window, messages(3)), nil)
	p.post(403, "settings/values", token(p)) // there is no file
}
