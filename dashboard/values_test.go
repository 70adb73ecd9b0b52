package dashboard_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/precis-dev/precis/dashboard"
	"github.com/precis-dev/precis/policy"
)

// valued are settings whose file has further values.
type valued struct {
	kept
	prompt string
	set    map[string]string
	trial  *dashboard.SettingsExperiment // written last
	shown  *shownSettings                // nil: values that are hard to show
	fixed  bool
}

func (v *valued) Values(string) []dashboard.SettingsValue {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shown != nil {
		return v.shown.values
	}
	return []dashboard.SettingsValue{
		{Key: "summarizer.model", Value: "<gpt>", Help: "model that writes summaries", From: "a file"},
		{Key: "summarizer.selective", Value: "false", Help: "single results first", From: "default", Choices: []string{"false", "true"}},
		{Key: "summarizer.prompt", Value: v.prompt, Help: "the prompt's text", From: "default", Long: 12_000, Builtin: "Sum it up.\n\n* <files>"},
		{Key: "summarizer.prompt_file", Value: "/etc/prompt.txt", Help: "a prompt", From: "a file", Reset: true},
	}
}

func (v *valued) SetValues(*http.Request) func(context.Context, string, map[string]string) error {
	if v.fixed {
		return nil
	}
	return func(_ context.Context, _ string, values map[string]string) error {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.set = values
		return nil
	}
}

// written returns what was written last.
func (v *valued) written() map[string]string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.set
}

func (v *valued) Owners(*http.Request) []dashboard.Owner {
	return []dashboard.Owner{{Name: "ann", Admin: true}, {Name: "<bert>"}}
}

func newValued() *valued {
	return &valued{kept: kept{settings: &settings{s: policy.DefaultSettings()}, file: "/etc/precis.yaml"}}
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

// The built-in prompt stands in the field of one's own, and is none until it is changed.
func TestThePromptIsWrittenAsATextOfItsOwn(t *testing.T) {
	v := newValued()
	p := serve(t, home(t, window, messages(3)), func(o *dashboard.Options) { o.Settings = v })
	page := p.get(200, "settings")
	p.wants(page, "Sum it up.\n\n* &lt;files&gt;</textarea>", "the built-in prompt")
	if strings.Contains(page, "Reset to the built-in prompt") {
		t.Error("a prompt that is not set can be reset")
	}
	for _, tt := range []struct{ is, field, reset, want string }{ // want "-": nothing is written
		{"", "Sum it up.\r\n\r\n* <files>\r\n", "", "-"},
		{"", "Sum it up.\r\n\r\n* files  \r\n\r\n", "", "Sum it up.\n\n* files"},
		{"Mine.\n\nAll\u200b of it.\n", "Mine.\r\n\r\nAll<U+200B> of it.\r\n", "", "-"},
		{"Mine.", "Sum it up.\r\n\r\n* <files>", "", ""},
		{"Mine.", " \r\n", "", ""},
		{"Mine.", "Mine, changed.", "summarizer.prompt", ""},
		{"", "", "summarizer.prompt", "-"},
	} {
		v.prompt, v.set = tt.is, nil
		form := url.Values{"summarizer.prompt": {tt.field}}
		if tt.reset != "" {
			form.Set("reset", tt.reset)
		}
		p.wants(p.submit(200, "settings", "settings/values", form), "in the file")
		if got, ok := v.set["summarizer.prompt"]; ok == (tt.want == "-") || ok && got != tt.want || len(v.set) > 1 {
			t.Errorf("%q with %q in the field: written are %q", tt.is, tt.field, v.set)
		}
	}
	v.prompt = "Mine."
	p.wants(p.get(200, "settings"), "Mine.</textarea>", "Reset to the built-in prompt")
}

// A prompt is typed and reset on the page.
func TestAPromptIsTypedInABrowser(t *testing.T) {
	v := newValued()
	b := openTab(t, serve(t, home(t, window, messages(3)), func(o *dashboard.Options) { o.Settings = v }))
	b.open("settings")
	const field = `document.getElementById("v-summarizer.prompt")`
	b.until(field + `.value === "Sum it up.\n\n* <files>"`)
	b.do(chromedp.Evaluate[chromedp.Void](field+`.value += "\n* commands"`), chromedp.Click(".values button.main"))
	b.until(`document.querySelector(".flash") !== null`)
	if got := v.written()["summarizer.prompt"]; got != "Sum it up.\n\n* <files>\n* commands" {
		t.Errorf("written is %q", got)
	}
	v.mu.Lock()
	v.prompt = "Mine."
	v.mu.Unlock()
	b.open("settings")
	b.until(field + `.value === "Mine."`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("v-summarizer.model").select()`), chromedp.KeyEvent("own\r"))
	b.until(`document.querySelector(".flash") !== null`)
	if got := v.written(); len(got) != 1 || got["summarizer.model"] != "own" {
		t.Errorf("the key Enter in another field has written %q", got)
	}
	b.open("settings")
	b.until(field + `.value === "Mine."`)
	b.do(chromedp.Click(`button[name=reset]`))
	b.until(`document.querySelector(".flash") !== null`)
	if got, ok := v.written()["summarizer.prompt"]; !ok || got != "" {
		t.Errorf("written is %q, %v", got, ok)
	}
}

// A form that is refused comes back with what was typed, and can be sent again.
func TestARefusedFormKeepsWhatWasTyped(t *testing.T) {
	v := newValued()
	p := serve(t, home(t, window, messages(3)), func(o *dashboard.Options) { o.Settings = v })
	got := p.submit(400, "settings", "settings", url.Values{"percent": {"6000"}, "target": {"<20>"}})
	p.wants(got, "What you typed is still here", `action="/precis/settings"`, `name="percent" value="6000"`, `value="&lt;20&gt;"`)
	_, form, _ := strings.Cut(got, "<form class=\"values\"")
	token := hidden.FindStringSubmatch(form)
	p.post(200, "settings", url.Values{token[1]: {token[2]}, "percent": {"60"}}) // the page to which it leads
	if got, _ := v.Settings(""); got.Percent != 60 {
		t.Errorf("the threshold is %g", got.Percent)
	}
	if refused := p.post(403, "settings", url.Values{"token": {"another"}, "percent": {"6000"}}); strings.Contains(refused, "6000") {
		t.Error("a form of another site comes back")
	}
}
