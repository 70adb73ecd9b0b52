package dashboard_test

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/precis-dev/precis/dashboard"
)

func (v *valued) Experiments() []dashboard.SettingsExperiment {
	if v.shown != nil {
		return v.shown.experiments
	}
	return []dashboard.SettingsExperiment{{Name: "early <one>", Share: "50", Arms: []dashboard.SettingsArm{
		{Name: "control", Weight: "1"}, {Name: "sixty", Weight: "2", Preset: "frugal", Threshold: "60", Others: []string{"keep.messages: 9"}}, {Name: "watched", Weight: "1", Alone: true},
	}}}
}

func (v *valued) SetExperiment(*http.Request) func(context.Context, dashboard.SettingsExperiment) error {
	if v.fixed {
		return nil
	}
	return func(_ context.Context, x dashboard.SettingsExperiment) error {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.trial = &x
		return nil
	}
}

// experiment returns the experiment that was written last.
func (v *valued) experiment() dashboard.SettingsExperiment {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.trial == nil {
		return dashboard.SettingsExperiment{}
	}
	return *v.trial
}

// An experiment is set up, changed and removed in a browser, by its form.
func TestExperimentsAreSetUpInABrowser(t *testing.T) {
	v := newValued()
	b := openTab(t, serve(t, home(t, window, messages(3)), func(o *dashboard.Options) { o.Settings = v }))
	sent := func() {
		t.Helper()
		b.until(`document.querySelector(".flash") !== null`)
	}
	b.open("settings")
	b.do(chromedp.SetValue(".trial .arm:nth-of-type(3) input[name=threshold]", "65"), chromedp.SetValue(".trial .arm:nth-of-type(2) select[name=does]", "remove"),
		chromedp.SetValue(".trial .arm:nth-of-type(5) input[name=arm]", "brief"), chromedp.SetValue(".trial .arm:nth-of-type(5) input[name=target]", "30"), chromedp.Click(".trial button.main"))
	sent()
	want := dashboard.SettingsExperiment{Name: "early <one>", Share: "50", Arms: []dashboard.SettingsArm{
		{Name: "sixty", Weight: "2", Preset: "frugal", Threshold: "65"}, {Name: "watched", Weight: "1", Alone: true}, {Name: "brief", Weight: "1", Target: "30"},
	}}
	if got := v.experiment(); !reflect.DeepEqual(got, want) {
		t.Errorf("written is\n%+v, want\n%+v", got, want)
	}
	b.open("settings")
	b.do(chromedp.Click(".trial button[name=remove]"))
	sent()
	if got := v.experiment(); got.Name != "early <one>" || got.Arms != nil {
		t.Errorf("removed is %+v", got)
	}
	b.open("settings")
	b.do(chromedp.Click("details.why:last-of-type summary"), chromedp.SetValue("details.why[open] input[name=name]", "late"), chromedp.SetValue("details.why[open] input[name=share]", "20"),
		chromedp.SetValue("details.why[open] .arm:nth-of-type(3) input[name=arm]", "off"), chromedp.SetValue("details.why[open] .arm:nth-of-type(3) select[name=does]", "alone"), chromedp.Click("details.why[open] button.main"))
	sent()
	want = dashboard.SettingsExperiment{Name: "late", Share: "20", Arms: []dashboard.SettingsArm{{Name: "control", Weight: "1"}, {Name: "off", Weight: "1", Alone: true}}}
	if got := v.experiment(); !reflect.DeepEqual(got, want) {
		t.Errorf("the new one is\n%+v, want\n%+v", got, want)
	}
}

// Who may not change the file sees no form of it, and cannot send one.
func TestExperimentsAreForThoseWhoMay(t *testing.T) {
	v := newValued()
	p := serve(t, home(t, window, messages(3)), func(o *dashboard.Options) { o.Settings = v })
	p.wants(p.get(200, "settings"), "early &lt;one&gt;", "keep.messages: 9")
	v.fixed = true
	if page := p.get(200, "settings"); strings.Contains(page, "early") {
		t.Error("the experiments are shown")
	}
	form := token(p)
	for field, value := range map[string]string{"name": "x", "share": "5", "arm": "a", "does": "own", "weight": "1", "preset": "", "threshold": "", "target": ""} {
		form.Set(field, value)
	}
	p.post(403, "settings/experiment", form)
	if got := v.experiment(); !reflect.DeepEqual(got, dashboard.SettingsExperiment{}) {
		t.Errorf("written is %+v", got)
	}
	v.fixed = false
	p.post(403, "settings/experiment", url.Values{"token": {"another"}, "name": {"x"}})
}
