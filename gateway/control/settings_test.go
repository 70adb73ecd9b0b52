package control_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"precis"
	"precis/conversation"
	"precis/gateway"
	"precis/gateway/control"
)

func TestSettings(t *testing.T) {
	p := start(t, nil, func(o *gateway.Options, _ *control.Options) {
		o.Profiles = map[string]*precis.Manager{"other": o.Manager.With(nil)}
	})
	var s gateway.Settings
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
	s = gateway.Settings{}
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
	var again gateway.Settings
	p.get("/settings", &again)
	if fmt.Sprint(again) != fmt.Sprint(s) {
		t.Errorf("a refused patch changed %+v to %+v", s, again)
	}
	var list gateway.ProfileList
	p.get("/profiles", &list)
	p.get("/settings?profile=other", &again)
	if len(list.Items) != 2 || list.Items[1].Name != "other" || again.Profile != "other" {
		t.Errorf("profiles %+v", list)
	}
}
