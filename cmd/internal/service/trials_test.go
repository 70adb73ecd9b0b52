package service_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
)

// form is the form of an experiment, each arm as NAME DOES WEIGHT PRESET THRESHOLD TARGET.
func form(name, share string, arms ...[6]string) url.Values {
	v := url.Values{"name": {name}, "share": {share}}
	for _, a := range arms {
		for i, field := range []string{"arm", "does", "weight", "preset", "threshold", "target"} {
			v.Add(field, a[i])
		}
	}
	return v
}

// An experiment that is set up on the page stands in the file, is in force for the next
// conversation, is changed in its place, and goes.
func TestExperimentsAreSetUpOnThePageOfSettings(t *testing.T) {
	s := open(t, "preset: frugal # no model\ngateway: {upstream: UPSTREAM, store: memory}\n")
	was := content(t, s.file)
	b := browse(t, s)
	const path = "/precis/settings/experiment"
	if page := b.page(200, "/precis/settings"); !strings.Contains(page, "Set up another experiment") || strings.Contains(page, `value="early"`) {
		t.Error("the page offers no experiment, or has one")
	}
	v := form("early", "100", [6]string{"control", "own", "1"}, [6]string{"sixty", "own", "2", "balanced", "60", ""}, [6]string{"watched", "alone", "1", "", "", ""}, [6]string{"", "own", "1"})
	v.Set("new", "on")
	b.send(200, path, v)
	want := was + "experiments:\n  early:\n    share: 100\n    arms:\n      control:\n        weight: 1\n      sixty:\n        weight: 2\n        preset: balanced\n        threshold: 60\n      watched: off\n"
	if got := content(t, s.file); got != want {
		t.Fatalf("the file is\n%s\nwant\n%s", got, want)
	}
	if v, err := s.Gateway.Profiles().Settings("early/sixty"); err != nil || v.Percent != 60 {
		t.Errorf("the arm has %+v, %v", v, err)
	}
	got := s.ask("POST", "/v1/messages", hello(1))
	if d, err := conversation.Status(t.Context(), s.Gateway.Home(gateway.AllOwners), got.Header().Get("X-Precis-Conversation")); err != nil || !strings.HasPrefix(d.Arm, "early/") {
		t.Errorf("the next conversation is in the arm %q, %v", d.Arm, err)
	}
	page := b.page(200, "/precis/settings")
	for _, part := range []string{`name="name" value="early"`, `value="sixty" readonly`, `<option selected>balanced</option>`, `value="60"`, `<option value="alone" selected>`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	// What the form does not show stays; an arm is left alone, one no longer is, one goes.
	s.write(t, strings.Replace(want, "threshold: 60\n", "threshold: 60 # agreed\n        keep: {messages: 9}\n", 1))
	if _, err := s.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.page(200, "/precis/settings"), "<code>keep.messages: 9</code>") {
		t.Error("what an arm sets besides is not shown")
	}
	b.send(200, path, form("early", "50", [6]string{"control", "remove", "1"}, [6]string{"sixty", "own", "2", "", "55", "30"}, [6]string{"watched", "own", "1", "", "", ""}))
	want = was + "experiments:\n  early:\n    share: 50\n    arms:\n      sixty:\n        weight: 2\n        threshold: 55 # agreed\n        keep: {messages: 9}\n        target: 30\n      watched:\n        weight: 1\n"
	if got := content(t, s.file); got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	// What the strict configuration refuses is not written.
	for _, bad := range []url.Values{
		form("early", "0", [6]string{"sixty", "own", "2"}), form("early", "50", [6]string{"sixty", "own", "many"}), form("early", "50", [6]string{"sixty", "own", "2", "best"}),
		form("early", "50", [6]string{"sixty", "own", "2", "", "much"}), form("a/b", "5", [6]string{"x", "own", "1"}), form("late", "5", [6]string{"x/y", "own", "1"}),
		form("late", "90", [6]string{"x", "own", "1"}), form("late", "5"), form("late", "5", [6]string{"", "own", "1"}), form("late", "5", [6]string{"x", "own", "1"}, [6]string{"x", "own", "1"}),
		form("", "5", [6]string{"x", "own", "1"}), {"name": {"late"}, "arm": {"x"}},
	} {
		if b.send(400, path, bad); content(t, s.file) != want {
			t.Fatalf("%v was written:\n%s", bad, content(t, s.file))
		}
	}
	again := form("early", "50", [6]string{"x", "own", "1"})
	again.Set("new", "on")
	b.send(400, path, again)
	b.send(200, path, form("early", "", [6]string{"sixty", "own", "2", "", "55", "30"}, [6]string{"watched", "own", "1", "", "", ""}))
	if got, want := content(t, s.file), strings.Replace(want, "share: 50", "share: 100", 1); got != want {
		t.Errorf("with an empty share the file is\n%s\nwant\n%s", got, want)
	}
	b.send(200, path, url.Values{"name": {"early"}, "remove": {"on"}})
	if got := content(t, s.file); got != was+"experiments: {}\n" {
		t.Errorf("the file is\n%s", got)
	}
	if _, err := s.Gateway.Profiles().Settings("early/sixty"); err == nil {
		t.Error("an arm that went can be asked for")
	}
}
