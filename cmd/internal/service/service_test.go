package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"precis"
	"precis/cmd/internal/config"
	"precis/cmd/internal/service"
	"precis/gateway"
	"precis/provider/providertest"
)

// setup is a service in front of a scripted upstream.
type setup struct {
	*service.Service
	upstream *providertest.Server
	file     string // the configuration
	log      *bytes.Buffer
}

// open makes a service of a configuration in YAML; UPSTREAM in it is the URL of
// the upstream and DIR a folder.
func open(t *testing.T, yaml string, change ...func(*service.Parts)) *setup {
	t.Helper()
	s := &setup{upstream: providertest.New(t, providertest.Options{}), file: filepath.Join(t.TempDir(), "precis.yaml"), log: &bytes.Buffer{}}
	s.write(t, yaml)
	c, err := s.load()
	if err != nil {
		t.Fatal(err)
	}
	p := service.Parts{Config: c, Reload: s.load, Operations: true, Logger: slog.New(slog.NewTextHandler(s.log, nil))}
	for _, f := range change {
		f(&p)
	}
	if s.Service, err = service.Open(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
		if p := s.upstream.Problems(); len(p) > 0 {
			t.Errorf("the API would refuse: %q", p)
		}
	})
	return s
}

func (s *setup) write(t *testing.T, yaml string) {
	t.Helper()
	yaml = strings.NewReplacer("UPSTREAM", s.upstream.URL, "DIR", filepath.Dir(s.file)).Replace(yaml)
	if err := os.WriteFile(s.file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *setup) load() (*config.Config, error) {
	return config.Load(config.Sources{Path: s.file})
}

// ask sends a request as one from this machine, with headers in pairs.
func (s *setup) ask(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8377"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:50000"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Anthropic-Version", "2023-06-01")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		switch headers[i] {
		case "Host":
			r.Host = headers[i+1]
		case "From":
			r.RemoteAddr = headers[i+1]
		default:
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

const plain = `preset: frugal
gateway: {upstream: UPSTREAM, store: memory}
`

func hello(turns int) string {
	type object = map[string]any
	messages := []object{{"role": "user", "content": "Say hello."}}
	for n := range turns {
		messages = append(messages, object{"role": "assistant", "content": fmt.Sprint("hello ", n)}, object{"role": "user", "content": "and again"})
	}
	body, _ := json.Marshal(object{"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": messages, "tools": []object{{"name": "read", "input_schema": object{"type": "object"}}}})
	return string(body)
}

func TestBrowsersAreKeptOut(t *testing.T) {
	s := open(t, plain+"  # nothing else\n")
	named := open(t, "gateway: {upstream: UPSTREAM, store: memory, hosts: [precis.example, 'app://notes']}\n")
	for name, c := range map[string]struct {
		s       *setup
		headers []string
		want    int
	}{
		"a program":                 {s, nil, 200},
		"localhost":                 {s, []string{"Host", "localhost:8377"}, 200},
		"another name":              {s, []string{"Host", "evil.example:8377"}, 403}, // DNS rebinding
		"a name that is allowed":    {named, []string{"Host", "precis.example"}, 200},
		"its own page":              {s, []string{"Origin", "http://127.0.0.1:8377"}, 200},
		"a page of another port":    {s, []string{"Origin", "http://localhost:3000"}, 403},
		"a page of another site":    {s, []string{"Origin", "https://evil.example"}, 403},
		"a page of nobody":          {s, []string{"Origin", "null"}, 403},
		"an image of another site":  {s, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		"a link from another site":  {s, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200},
		"an origin that is allowed": {named, []string{"Origin", "app://notes"}, 200},
		"another app":               {named, []string{"Origin", "app://evil"}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(c.s.upstream.Requests())
			if got := c.s.ask("POST", "/v1/messages", hello(0), c.headers...); got.Code != c.want {
				t.Errorf("the proxy answers %d, want %d: %s", got.Code, c.want, got.Body)
			}
			if asked := len(c.s.upstream.Requests()) > before; asked != (c.want == 200) {
				t.Errorf("the upstream was asked: %v", asked)
			}
			if got := c.s.ask("GET", "/precis/api/v1/status", "", c.headers...); (got.Code == 403) != (c.want == 403) {
				t.Errorf("the control API answers %d", got.Code)
			}
		})
	}
}

func TestOperationsAreForThisMachine(t *testing.T) {
	s := open(t, plain)
	for _, path := range []string{"/metrics", "/precis/api/v1/status"} {
		if got := s.ask("GET", path, ""); got.Code != 200 {
			t.Errorf("%s: %d from here", path, got.Code)
		}
		if got := s.ask("GET", path, "", "From", "10.0.0.9:1"); got.Code != 401 {
			t.Errorf("%s: %d from elsewhere", path, got.Code)
		}
		if got := s.ask("GET", path, "", "X-Forwarded-For", "10.0.0.9"); got.Code != 401 {
			t.Errorf("%s: %d by a proxy on this machine", path, got.Code)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if got := s.ask("GET", path, "", "From", "10.0.0.9:1"); got.Code != 200 {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
	if got := s.ask("GET", "/precis/nothing", ""); got.Code != 404 || len(s.upstream.Requests()) > 0 {
		t.Errorf("what is ours was asked of the upstream: %d", got.Code)
	}
}

func TestKeysAreReplacedWhileItRuns(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	put := func(lines ...string) {
		if err := os.WriteFile(keys, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := func(name, key string) string { return name + " " + gateway.HashKey(key) }
	put(line("ann", "one"), line("bob", "two"))
	yaml := "preset: frugal\ngateway: {upstream: UPSTREAM, store: memory, keys_file: " + keys + "}\n"
	s := open(t, yaml)
	status := func(key string) int {
		return s.ask("POST", "/v1/messages", hello(0), "X-Precis-Key", key).Code
	}
	for key, want := range map[string]int{"one": 200, "two": 200, "three": 401, "": 401} {
		if got := status(key); got != want {
			t.Errorf("key %q: %d, want %d", key, got, want)
		}
	}
	for _, r := range s.upstream.Requests() {
		if r.Header.Get("X-Precis-Key") != "" {
			t.Error("the upstream was told the key")
		}
	}
	put(line("ann", "three"), line("eve", "four"))
	restart, err := s.Reload(t.Context())
	if err != nil || len(restart) != 1 || !strings.Contains(restart[0], "eve") {
		t.Fatalf("%q, %v", restart, err)
	}
	for key, want := range map[string]int{"one": 401, "two": 401, "three": 200, "four": 401} {
		if got := status(key); got != want {
			t.Errorf("afterwards, key %q: %d, want %d", key, got, want)
		}
	}
	if got := s.ask("GET", "/metrics", "", "Authorization", "Bearer three"); got.Code != 200 {
		t.Errorf("metrics with a key: %d", got.Code)
	}
	if got := s.ask("GET", "/metrics", ""); got.Code != 401 {
		t.Errorf("metrics without a key: %d", got.Code)
	}
	put("nonsense")
	if _, err := s.Reload(t.Context()); err == nil {
		t.Error("a broken file was taken")
	}
	if got := status("three"); got != 200 {
		t.Errorf("after a broken file: %d", got)
	}
}

func TestReloadTakesWhatItCan(t *testing.T) {
	s := open(t, plain)
	settings := func() gateway.Settings {
		got, err := s.Gateway.Settings("")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	s.write(t, "preset: frugal\nthreshold: 42\nwindow: 50k\ngateway: {upstream: UPSTREAM, store: memory, memory_mb: 17, hosts: [new.example]}\n")
	restart, err := s.Reload(t.Context())
	if err != nil || strings.Join(restart, " ") != "gateway.memory_mb" {
		t.Fatalf("%q, %v", restart, err)
	}
	if got := settings().Percent; got != 42 {
		t.Errorf("threshold %g", got)
	}
	if got := s.ask("POST", "/v1/messages", hello(0), "Host", "new.example"); got.Code != 200 || !strings.HasPrefix(got.Header().Get("X-Precis-Window"), "50000 ") {
		t.Errorf("%d %q", got.Code, got.Header().Get("X-Precis-Window"))
	}
	s.write(t, "threshold: high\n")
	if _, err := s.Reload(t.Context()); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("a broken file: %v", err)
	}
	if got := settings().Percent; got != 42 {
		t.Errorf("after a broken file: threshold %g", got)
	}
}

func TestRequestsAreLoggedAndCountedWithoutContent(t *testing.T) {
	s := open(t, plain)
	if got := s.ask("POST", "/v1/messages", hello(1), "X-Api-Key", "test-key-1234"); got.Code != 200 {
		t.Fatal(got.Code)
	}
	out := s.ask("GET", "/metrics", "").Body.String()
	for _, want := range []string{
		`precis_requests_total{action="none",dialect="anthropic",model="claude-sonnet-4-5",status="2xx"} 1`,
		`precis_conversations_in_memory 1`, `precis_store_up 1`, "precis_overhead_seconds_count", "precis_cost_usd_total",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	log := s.log.String()
	if !strings.Contains(log, "msg=request") || !strings.Contains(log, "action=none") {
		t.Errorf("the log: %s", log)
	}
	for _, secret := range []string{"hello", "test-key"} {
		if strings.Contains(log+out, secret) {
			t.Errorf("%q is in the log or the metrics", secret)
		}
	}
}

// A gateway that ends says so first, and lets what is under way finish.
func TestDraining(t *testing.T) {
	s := open(t, plain)
	l, err := service.Listen(config.Gateway{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	arrived, proceed := make(chan bool), make(chan bool)
	s.upstream.SetDefault(providertest.Reply{Do: func(providertest.Request) providertest.Reply {
		close(arrived)
		<-proceed
		return providertest.Text("at last")
	}})
	answered := make(chan string, 1)
	go func() {
		req, err := http.NewRequest(http.MethodPost, "http://"+l.Addr().String()+"/v1/messages", strings.NewReader(hello(0)))
		if err != nil {
			answered <- err.Error()
			return
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Anthropic-Version", "2023-06-01")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		answered <- string(text)
	}()
	select {
	case <-arrived:
	case got := <-answered:
		t.Fatalf("the request did not arrive: %s", got)
	}
	cancel()
	for s.ask("GET", "/readyz", "").Code != 503 {
		time.Sleep(time.Millisecond)
	}
	if got := s.ask("GET", "/healthz", "").Code; got != 200 {
		t.Errorf("healthz: %d", got)
	}
	close(proceed)
	if got := <-answered; !strings.Contains(got, "at last") {
		t.Errorf("the request under way: %s", got)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A file that changes is read again while the gateway serves.
func TestChangedFilesAreSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("short: files are looked at every two seconds")
	}
	s := open(t, plain)
	l, err := service.Listen(config.Gateway{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	s.write(t, "threshold: 33\ngateway: {upstream: UPSTREAM, store: memory}\n")
	later := time.Now().Add(time.Hour) // whenever it was looked at first
	if err := os.Chtimes(s.file, later, later); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		got, err := s.Gateway.Settings("")
		if err != nil {
			t.Fatal(err)
		}
		if got.Percent == 33 {
			break
		}
		later = later.Add(time.Second)
		if err := os.Chtimes(s.file, later, later); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got, _ := s.Gateway.Settings(""); got.Percent != 33 {
		t.Errorf("threshold %g", got.Percent)
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestWhatIsSaidIsNotStored(t *testing.T) {
	s := open(t, "gateway: {upstream: UPSTREAM, store: DIR/c.db, bodies: off}\n")
	if got := s.ask("POST", "/v1/messages", hello(3)); got.Code != 200 {
		t.Fatal(got.Code)
	}
	list, err := s.Gateway.Conversations(t.Context(), gateway.AllOwners, gateway.Listing{})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	g := config.Gateway{Store: filepath.Join(filepath.Dir(s.file), "c.db")}
	var entries int
	for range 500 { // what is stored is stored behind the requests
		st, err := service.OpenStore(t.Context(), g, true)
		if err != nil {
			t.Fatal(err)
		}
		entries = entriesIn(t, st)
		records, err := st.(precis.Catalog).Conversations(t.Context(), precis.ConversationQuery{})
		if err != nil || len(records) > 0 {
			t.Fatalf("conversations are stored: %v, %v", records, err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		if entries > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if entries == 0 {
		t.Error("what it cost is not stored")
	}
	for _, name := range []string{"c.db", "c.db-wal"} {
		data, _ := os.ReadFile(filepath.Join(filepath.Dir(s.file), name)) // one may be missing
		if bytes.Contains(data, []byte("hello 1")) {
			t.Errorf("%s holds what was said", name)
		}
	}
}

func entriesIn(t *testing.T, st precis.Store) (n int) {
	t.Helper()
	owners, err := st.(precis.Scoper).Scopes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, owner := range owners {
		all, err := st.(precis.Scoper).Scope(owner).(precis.Ledger).Entries(t.Context(), "", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		n += len(all)
	}
	return n
}

func TestOldConversationsAreForgotten(t *testing.T) {
	s := open(t, "gateway: {upstream: UPSTREAM, store: DIR/c.db, retention_days: 30}\n")
	st, err := service.OpenStore(t.Context(), config.Gateway{Store: filepath.Join(filepath.Dir(s.file), "c.db")}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	put := func(id string, age time.Duration) {
		node, err := st.Append(t.Context(), precis.Fingerprint{}, precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.Text{Text: id}}})
		if err != nil {
			t.Fatal(err)
		}
		r := precis.ConversationRecord{ID: id, Head: node, Messages: 1, Updated: time.Now().Add(-age)}
		if err := st.(precis.Catalog).PutConversation(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	put("old", 31*24*time.Hour)
	put("new", 29*24*time.Hour)
	s.Forget(t.Context())
	records, err := st.(precis.Catalog).Conversations(t.Context(), precis.ConversationQuery{})
	if err != nil || len(records) != 1 || records[0].ID != "new" {
		t.Errorf("%+v, %v", records, err)
	}
}

func TestOthersAreTold(t *testing.T) {
	posted, traced := make(chan string, 8), make(chan string, 8)
	outside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/hook" {
			posted <- string(body)
			return
		}
		traced <- r.URL.Path
	}))
	defer outside.Close()
	s := open(t, "gateway: {upstream: 'http://127.0.0.1:1', store: memory, proxy: off, webhook: '"+outside.URL+"/hook', otlp_endpoint: '"+outside.URL+"'}\n")
	if got := s.ask("POST", "/v1/messages", hello(0)); got.Code != 502 {
		t.Fatal(got.Code)
	}
	if got := <-posted; !strings.Contains(got, `"type":"error"`) || !strings.Contains(got, `"code":"upstream"`) {
		t.Errorf("posted %s", got)
	}
	if got := <-traced; got != "/v1/traces" { // a batch is sent within seconds
		t.Errorf("traced to %s", got)
	}
	for _, yaml := range []string{"gateway: {store: memory, webhook: nonsense}\n", "gateway: {store: memory, otlp_endpoint: nonsense}\n"} {
		path := filepath.Join(t.TempDir(), "precis.yaml")
		if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Sources{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := service.Open(t.Context(), service.Parts{Config: c}); precis.CodeOf(err) != precis.CodeInvalid {
			t.Errorf("%s: %v", yaml, err)
		}
	}
}
