package service_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/service"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/accounts"
	"github.com/precis-dev/precis/policy"
)

// commented is a configuration that somebody looks after, with a profile of its own.
const commented = `# of the team
preset: frugal   # no model
threshold: 60    # agreed
gateway: {upstream: UPSTREAM, store: memory, profiles: [careful=DIR/careful.yaml]}
`

func openCommented(t *testing.T, change ...func(*service.Parts)) (s *setup, careful string) {
	t.Helper()
	s = open(t, commented, append(change, func(p *service.Parts) {
		p.Load = func(path string) (*config.Config, error) { return config.Load(config.Sources{Path: path}) }
		if p.Config.Gateway.Profiles != nil {
			careful = strings.TrimPrefix(p.Config.Gateway.Profiles[0], "careful=")
			if err := os.WriteFile(careful, []byte("threshold: 40 # early\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})...)
	return s, careful
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// patch changes settings by the API and returns the answer.
func (s *setup) patch(profile, body string) *httptest.ResponseRecorder {
	return s.ask("PATCH", "/precis/api/v1/settings?profile="+url.QueryEscape(profile), body)
}

func TestSettingsAreWrittenToTheFile(t *testing.T) {
	s, careful := openCommented(t)
	was := content(t, s.file)
	if got := s.patch("", `{"percent":55}`); got.Code != 200 || content(t, s.file) != was {
		t.Fatalf("%d %s, the file is %s", got.Code, got.Body, content(t, s.file))
	}
	if got := s.patch("", `{"target":30,"thresholds":{"m":50},"persist":true}`); got.Code != 200 {
		t.Fatal(got.Body)
	}
	want := strings.Replace(was, "60    #", "55    #", 1) + "target: 30\nprofiles:\n  m: 50\n"
	if got := content(t, s.file); got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	if got := s.patch("careful", `{"percent":45,"persist":true}`); got.Code != 200 || content(t, careful) != "threshold: 45 # early\n" || content(t, s.file) != want {
		t.Errorf("%s, the profile's file is %q", got.Body, content(t, careful))
	}
	if got := s.patch("frugal", `{"percent":45,"persist":true}`); got.Code != 409 || !strings.Contains(got.Body.String(), "has no file of its own") {
		t.Errorf("a preset: %d %s", got.Code, got.Body)
	}
	if restart, err := s.Reload(t.Context()); err != nil || len(restart) > 0 {
		t.Fatalf("%v, %v", restart, err)
	}
	if v, err := s.Gateway.Profiles().Settings(""); err != nil || v.Percent != 55 || v.Target != 30 || v.Thresholds["m"] != 50 {
		t.Errorf("read again: %+v, %v", v, err)
	}
	if v, err := s.Gateway.Profiles().Settings("careful"); err != nil || v.Percent != 45 {
		t.Errorf("read again: %+v, %v", v, err)
	}
	if got := s.patch("", `{"thresholds":{"m":null},"preset":"off","persist":true}`); got.Code != 200 {
		t.Fatal(got.Body)
	}
	if c, err := s.load(); err != nil || c.Settings.Preset != "off" || len(c.Settings.Profiles) != 0 || !c.Settings.Observe || len(c.Changes(mustInForce(t, s))) > 0 {
		t.Errorf("%v\n%s", err, content(t, s.file))
	}
}

func mustInForce(t *testing.T, s *setup) policy.Settings {
	t.Helper()
	in, err := s.Gateway.Profiles().PolicySettings("")
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// A change that cannot be written is not in force either.
func TestSettingsThatCannotBeWrittenStay(t *testing.T) {
	s, _ := openCommented(t)
	s.write(t, strings.Replace(commented, "agreed", "agreed again", 1))
	was := content(t, s.file)
	if got := s.patch("", `{"percent":55,"persist":true}`); got.Code != 409 || !strings.Contains(got.Body.String(), "has changed") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if v, _ := s.Gateway.Profiles().Settings(""); v.Percent != 60 || content(t, s.file) != was {
		t.Errorf("in force is %g, the file is\n%s", v.Percent, content(t, s.file))
	}
	if _, err := s.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.patch("", `{"percent":55,"persist":true}`); got.Code != 200 || !strings.Contains(content(t, s.file), "threshold: 55    # agreed again") {
		t.Errorf("after it was read: %s", got.Body)
	}
	none := open(t, plain, func(p *service.Parts) {
		c, err := config.Load(config.Sources{Flags: map[string]string{"preset": "frugal", "gateway.store": "memory", "gateway.upstream": p.Config.Gateway.Upstream}})
		if err != nil {
			t.Fatal(err)
		}
		p.Config = c
	})
	if got := none.patch("", `{"percent":55,"persist":true}`); got.Code != 409 || !strings.Contains(got.Body.String(), "no configuration file") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	b := browse(t, none)
	if page := b.send(200, "/precis/settings", url.Values{"percent": {"55"}}); !strings.Contains(page, "There is no configuration file") || !strings.Contains(page, ">threshold: 55\n</pre>") {
		t.Error("the page does not say what to write into a file")
	}
}

func TestTheSettingsPageWritesTheFile(t *testing.T) {
	s, _ := openCommented(t)
	b := browse(t, s)
	for _, profile := range []string{"", "careful", "off", "frugal", "selective", "roo", "balanced"} {
		if page := b.page(200, "/precis/settings?profile="+profile); strings.Contains(page, "<pre") {
			t.Errorf("profile %q: nothing was changed, and something is not in the file", profile)
		}
	}
	if page := b.page(200, "/precis/settings"); !strings.Contains(page, s.file) {
		t.Error("the page does not name the file")
	}
	if page := b.send(200, "/precis/settings", url.Values{"percent": {"57"}, "save": {"on"}}); !strings.Contains(page, "in the file") || strings.Contains(page, "<pre") {
		t.Error("the page does not say that it is written")
	}
	if got := content(t, s.file); !strings.Contains(got, "threshold: 57    # agreed") {
		t.Errorf("the file is\n%s", got)
	}
}

// Only admins change settings, in the file or not.
func TestOnlyAdminsWriteSettings(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte("anna "+accounts.HashKey("key-anna")+" admin\nben "+accounts.HashKey("key-ben")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, "preset: frugal\ngateway: {upstream: UPSTREAM, store: memory, keys_file: "+keys+"}\n")
	was := content(t, s.file)
	ask := func(key string) int {
		return s.ask("PATCH", "/precis/api/v1/settings", `{"percent":55,"persist":true}`, "X-Precis-Key", key).Code
	}
	if code := ask("key-ben"); code != 403 || content(t, s.file) != was {
		t.Errorf("ben: %d", code)
	}
	if code := ask("key-anna"); code != 200 || !strings.Contains(content(t, s.file), "threshold: 55") {
		t.Errorf("anna: %d", code)
	}
}

// Conversations are assigned to the arms of the file; one under way keeps its own when
// the file changes.
func TestConversationsAreAssignedToArms(t *testing.T) {
	s := open(t, plain+"experiments: {early: {arms: {control: {}, alone: off}}}\n")
	arms := map[string]int{}
	var first, arm string
	for i := range 20 {
		got := s.ask("POST", "/v1/messages", strings.Replace(hello(1), "Say hello.", fmt.Sprint("Say hello ", i), 1))
		id := got.Header().Get("X-Precis-Conversation")
		d, err := conversation.Status(t.Context(), s.Gateway.Home(gateway.AllOwners), id)
		if err != nil {
			t.Fatal(err)
		}
		if arms[d.Arm]++; i == 0 {
			first, arm = id, d.Arm
		}
	}
	if arms["early/control"] == 0 || arms["early/alone"] == 0 || len(arms) != 2 {
		t.Errorf("20 conversations are in %v", arms)
	}
	if v, err := s.Gateway.Profiles().Settings("early/alone"); err != nil || !v.Observe {
		t.Errorf("what is left alone: %+v, %v", v, err)
	}
	b := browse(t, s)
	if page := b.page(200, "/precis/settings?profile=early%2Falone"); strings.Contains(page, "<pre") {
		t.Error("nothing was changed, and something is not in the file")
	}
	if got := s.patch("early/alone", `{"percent":45,"persist":true}`); got.Code != 409 {
		t.Errorf("an arm: %d %s", got.Code, got.Body)
	}
	s.write(t, plain+"experiments: {late: {arms: {other: {threshold: 90}}}}\n")
	if restart, err := s.Reload(t.Context()); err != nil || len(restart) > 0 {
		t.Fatalf("%v, %v", restart, err)
	}
	s.ask("POST", "/v1/messages", strings.Replace(hello(2), "Say hello.", "Say hello 0", 1))
	if d, err := conversation.Status(t.Context(), s.Gateway.Home(gateway.AllOwners), first); err != nil || d.Arm != arm {
		t.Errorf("%q became %q, %v", arm, d.Arm, err)
	}
	got := s.ask("POST", "/v1/messages", strings.Replace(hello(1), "Say hello.", "Say something else", 1))
	if d, err := conversation.Status(t.Context(), s.Gateway.Home(gateway.AllOwners), got.Header().Get("X-Precis-Conversation")); err != nil || d.Arm != "late/other" {
		t.Errorf("a new conversation is in %q, %v", d.Arm, err)
	}
}
