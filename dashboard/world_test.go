package dashboard_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/recording"
	"github.com/precis-dev/precis/dashboard"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/wire/anthropic"
)

const window = 40_000

// messages are those of an agent that reads files.
func messages(turns int) []precis.Message {
	at := time.Unix(1_760_000_000, 0)
	out := []precis.Message{precis.NewText(precis.RoleUser, "Read the files one by one. Never write to the disk.")}
	for n := range turns {
		id := fmt.Sprintf("t%d", n)
		var text strings.Builder
		for i := range 24 {
			fmt.Fprintf(&text, "line %d of file %d: the value of setting_%d is %d\n", i, n, i*n, i*i+n)
		}
		out = append(out,
			precis.Message{Role: precis.RoleAssistant, Time: at, Content: []precis.Block{
				precis.Text{Text: fmt.Sprintf("I read file %d.", n)}, precis.ToolUse{ID: id, Name: "read", Input: fmt.Appendf(nil, `{"path":"f%02d.txt"}`, n)}}},
			precis.Message{Role: precis.RoleUser, Time: at, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: text.String()}}}}})
	}
	return out
}

// manager is one that reduces only when it is asked to.
func manager(t testing.TB, name string) *policy.Manager {
	t.Helper()
	settings, err := preset.Settings(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// home holds one recording of the messages; edits are kept in a file.
func home(t testing.TB, size int, msgs []precis.Message) *recording.Home {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.json")
	if err := os.WriteFile(path, fmt.Appendf(nil, `{"messages":%s}`, anthropic.AppendMessages(nil, msgs)), 0o600); err != nil {
		t.Fatal(err)
	}
	return opened(t, size, path, path+".precis")
}

// opened holds the recording in a file, and keeps its edits in another one; "": in the
// file itself.
func opened(t testing.TB, size int, path, edits string) *recording.Home {
	t.Helper()
	f, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Keep(edits, false); err != nil {
		t.Fatal(err)
	}
	return f.Home(manager(t, preset.Frugal), policy.Request{Window: precis.Window{Tokens: size, Source: precis.SourceConfigured}})
}

// place is a dashboard over one recording, and a browser without a script.
type place struct {
	testing.TB
	*recording.Home
	url    string
	client *http.Client
	one    string // address of the conversation, below the base
}

// serve starts a dashboard.
func serve(t testing.TB, h *recording.Home, change func(*dashboard.Options)) *place {
	t.Helper()
	h.Profile = func(name string) (*policy.Manager, error) { return manager(t, name), nil }
	o := dashboard.Options{
		Home:  func(*http.Request) (conversation.Home, error) { return h, nil },
		Edits: true, Profiles: preset.Names, Settings: &settings{s: policy.DefaultSettings()}, Source: "a test",
		Now: func() time.Time { return time.Unix(1_760_003_600, 0) },
	}
	if change != nil {
		change(&o)
	}
	d, err := dashboard.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &place{TB: t, Home: h, url: server.URL, client: &http.Client{Jar: jar}, one: "c/" + h.ID()}
}

// get returns a page, and fails the test when its status is another one.
func (p *place) get(status int, path string, headers ...string) string {
	p.Helper()
	req, err := http.NewRequest(http.MethodGet, p.url+"/precis/"+path, nil)
	if err != nil {
		p.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return p.send(status, req)
}

func (p *place) send(status int, req *http.Request) string {
	p.Helper()
	res, err := p.client.Do(req)
	if err != nil {
		p.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		p.Fatalf("%s %s: status %d, want %d: %v\n%.600s", req.Method, req.URL, res.StatusCode, status, err, body)
	}
	return string(body)
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)

// submit sends the form of a page that leads to path, with what is filled in, and
// returns the page that follows.
func (p *place) submit(status int, page, path string, fill url.Values) string {
	p.Helper()
	body := p.get(http.StatusOK, page)
	_, form, ok := strings.Cut(body, `method="post" action="/precis/`+path+`"`)
	if !ok {
		p.Fatalf("the page %s has no form that leads to %s", page, path)
	}
	form, _, _ = strings.Cut(form, "</form>")
	values := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(form, -1) {
		values.Add(field[1], html.UnescapeString(field[2]))
	}
	for name, v := range fill {
		values[name] = v
	}
	return p.post(status, path, values)
}

func (p *place) post(status int, path string, v url.Values) string {
	p.Helper()
	req, err := http.NewRequest(http.MethodPost, p.url+"/precis/"+path, strings.NewReader(v.Encode()))
	if err != nil {
		p.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return p.send(status, req)
}

// wants fails the test when a page lacks a text.
func (p *place) wants(page string, texts ...string) {
	p.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			p.Errorf("the page lacks %q", text)
		}
	}
}

// condense brings the view down.
func (p *place) condense(target policy.Tokens) {
	p.Helper()
	c, err := conversation.Condense(p.Context(), p.Home, p.ID(), conversation.CondenseOptions{Target: target})
	if err != nil || !c.Changed {
		p.Fatalf("condense: %v, changed %v", err, c.Changed)
	}
}

// status returns the conversation at a glance.
func (p *place) status() conversation.Details {
	p.Helper()
	d, err := conversation.Status(p.Context(), p.Home, p.ID())
	if err != nil {
		p.Fatal(err)
	}
	return d
}

// settings are settings that can be changed.
type settings struct {
	mu    sync.Mutex
	s     policy.Settings
	saved bool // the last change is to be in the file
	fixed bool
}

func (s *settings) Profiles() []string { return []string{"", "cautious"} }
func (s *settings) Presets() []string  { return preset.Names() }

func (s *settings) Settings(string) (policy.Settings, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.s, nil
}

func (s *settings) Change(*http.Request) func(string, dashboard.SettingsChange) error {
	if s.fixed {
		return nil
	}
	return func(_ string, c dashboard.SettingsChange) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if c.Percent != nil {
			s.s.Percent = *c.Percent
		}
		s.saved = c.Save
		return nil
	}
}

// kept are settings of a file.
type kept struct {
	*settings
	file, unsaved string
}

func (k kept) File(string) string             { return k.file }
func (k kept) Unsaved(string) (string, error) { return k.unsaved, nil }
