package control_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/control"
	"github.com/precis-dev/precis/gateway/profiles"
	"github.com/precis-dev/precis/policy"
)

func TestSettings(t *testing.T) {
	p := start(t, nil, func(o *gateway.Options, _ *control.Options) {
		o.Profiles = map[string]*policy.Manager{"other": o.Manager.WithStore(nil)}
	})
	var s profiles.Settings
	p.get("/settings", &s)
	if s.Preset != "frugal" || s.Percent != 75 || !s.Auto {
		t.Errorf("settings %+v", s)
	}
	p.want(200, "PATCH", "/settings", `{"percent":60,"prepare":40,"warn":50,"target":30,"thresholds":{"m":20,"x":-1}}`, &s)
	if s.Percent != 60 || s.Prepare != 40 || s.Warn != 50 || s.Target != 30 || s.Thresholds["m"] != 20 || s.Thresholds["x"] != -1 {
		t.Errorf("settings %+v", s)
	}
	a := p.agent("chat", "Read.")
	a.reads(6, length) // a third of the window, and the model's threshold is 20
	a.ask()
	var edits conversation.EditList
	p.get("/conversations/"+a.id+"/edits", &edits)
	if len(edits.Items) == 0 {
		t.Error("the new threshold is not in force")
	}
	s = profiles.Settings{}
	p.want(200, "PATCH", "/settings", `{"preset":"off","thresholds":{"x":null}}`, &s)
	if s.Preset != "off" || !s.Observe || len(s.Thresholds) != 1 {
		t.Errorf("settings %+v", s)
	}
	for body, want := range map[string]string{
		`{"percent":3}`: "percent", `{"thresholds":{"m":101}}`: "thresholds/m", `{"warn":-1}`: "warn", `{"preset":"none"}`: "none", `{"preset":""}`: "preset",
		`{"percents":60}`: "/percents", `{"auto":"yes"}`: "/auto", `{"percent":60,"percent":61}`: "percent",
	} {
		if code, message := p.problem(http.StatusBadRequest, "PATCH", "/settings", body); code != "invalid" || !strings.Contains(message, want) {
			t.Errorf("%s: %s %s", body, code, message)
		}
	}
	var again profiles.Settings
	p.get("/settings", &again)
	if fmt.Sprint(again) != fmt.Sprint(s) {
		t.Errorf("a refused patch changed %+v to %+v", s, again)
	}
	var list profiles.List
	p.get("/profiles", &list)
	p.get("/settings?profile=other", &again)
	if len(list.Items) != 2 || list.Items[1].Name != "other" || again.Profile != "other" {
		t.Errorf("profiles %+v", list)
	}
}

// A change that is to be written is handed on, and without a file it is refused.
func TestSettingsArePersisted(t *testing.T) {
	var saved []string
	full := false
	p := start(t, nil, func(_ *gateway.Options, c *control.Options) {
		c.Save = func(_ context.Context, profile string, p profiles.Patch) (profiles.Settings, error) {
			saved = append(saved, fmt.Sprint(profile, " ", *p.Percent))
			if full {
				return profiles.Settings{}, precis.Errorf(precis.CodeConflict, "write", "it has changed")
			}
			return profiles.Settings{Percent: *p.Percent, Preset: "frugal", Thresholds: map[string]float64{}}, nil
		}
	})
	var s profiles.Settings
	p.want(200, "PATCH", "/settings", `{"percent":61,"persist":false}`, &s)
	if len(saved) > 0 || s.Percent != 61 {
		t.Errorf("saved %v, %+v", saved, s)
	}
	p.want(200, "PATCH", "/settings?profile=x", `{"percent":62,"persist":true}`, &s)
	if fmt.Sprint(saved) != "[x 62]" || s.Percent != 62 {
		t.Errorf("saved %v, %+v", saved, s)
	}
	full = true
	if code, message := p.problem(http.StatusConflict, "PATCH", "/settings", `{"percent":63,"persist":true}`); code != "conflict" || !strings.Contains(message, "it has changed") {
		t.Errorf("%s %s", code, message)
	}
	none := start(t, nil)
	if code, message := none.problem(http.StatusConflict, "PATCH", "/settings", `{"percent":63,"persist":true}`); code != "conflict" || !strings.Contains(message, "no file") {
		t.Errorf("%s %s", code, message)
	}
	none.get("/settings", &s)
	if s.Percent != 75 {
		t.Errorf("a refused change is in force: %+v", s)
	}
}
