package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/service"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/accounts"
	"github.com/precis-dev/precis/gateway/profiles"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store"
)

// setup is a service in front of a scripted upstream.
type setup struct {
	*service.Service
	upstream *providertest.Server
	file     string // the configuration
	log      *bytes.Buffer
	gateway  config.Gateway
	secret   string // see service.LocalSecret
}

// TestMain keeps the data folder of who runs the tests out of them.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "precis-service-")
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("XDG_DATA_HOME", dir)
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
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
	s.gateway = c.Gateway
	if s.secret, err = service.LocalSecret(c.Gateway); err != nil {
		t.Fatal(err)
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
	r.Header.Set(service.HeaderLocal, s.secret) // as programs of this account do
	for i := 0; i+1 < len(headers); i += 2 {
		switch headers[i] {
		case "Host":
			r.Host = headers[i+1]
		case "From":
			r.RemoteAddr = headers[i+1]
		case "To":
			to := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(headers[i+1]))
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(to)))
		case "Proto":
			r.Proto, r.ProtoMajor, r.ProtoMinor = headers[i+1], 1, 0
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
		for _, by := range [][]string{{"Via", "1.1 edge"}, {"X-Forwarded-Proto", "https"}, {"Proto", "HTTP/1.0"}, {"Host", "192.0.2.7:8377"}, {"To", "192.0.2.7:8377"}} {
			if got := s.ask("GET", path, "", by...); got.Code != 401 {
				t.Errorf("%s: %d with %q, as proxies and tunnels send it", path, got.Code, by)
			}
		}
		for _, host := range []string{"localhost:8377", "[::1]:8377", "127.0.0.9"} {
			if got := s.ask("GET", path, "", "Host", host); got.Code != 200 {
				t.Errorf("%s: %d by the name %s", path, got.Code, host)
			}
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
	line := func(name, key string) string { return name + " " + accounts.HashKey(key) }
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
	if restart, err := s.Reload(t.Context()); err != nil || len(restart) != 0 {
		t.Fatalf("%q, %v", restart, err)
	}
	for key, want := range map[string]int{"one": 401, "two": 401, "three": 200, "four": 200} {
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
	for key, want := range map[string]string{"one": "was taken back", "": "asks for a key of its own"} {
		if got := s.ask("POST", "/v1/messages", hello(0), "X-Precis-Key", key); !strings.Contains(got.Body.String(), want) {
			t.Errorf("with the key %q: %s", key, got.Body)
		}
	}
	put("nonsense")
	if _, err := s.Reload(t.Context()); err == nil {
		t.Error("a broken file was taken")
	}
	if got := status("three"); got != 200 {
		t.Errorf("after a broken file: %d", got)
	}
}

// TestAdminsAreNamedInTheKeysFile has who is admin follow the file.
func TestAdminsAreNamedInTheKeysFile(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	put := func(lines ...string) {
		if err := os.WriteFile(keys, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := func(name, key string) string { return name + " " + accounts.HashKey(key) }
	put(line("ann", "one")+" admin", line("bob", "two"))
	s := open(t, "preset: frugal\ngateway: {upstream: UPSTREAM, store: memory, keys_file: "+keys+"}\n")
	for _, key := range []string{"one", "two"} {
		if got := s.ask("POST", "/v1/messages", hello(0), "X-Precis-Key", key); got.Code != 200 {
			t.Fatalf("key %q: %d", key, got.Code)
		}
	}
	sees := func(key string) int {
		var list conversation.Page[conversation.ListItem]
		if err := json.Unmarshal(s.ask("GET", "/precis/api/v1/conversations", "", "X-Precis-Key", key).Body.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}
	patch := func(key string) int {
		return s.ask("PATCH", "/precis/api/v1/settings", `{"percent":60}`, "X-Precis-Key", key, "Content-Type", "application/json").Code
	}
	metrics := func(key string) int { return s.ask("GET", "/metrics", "", "X-Precis-Key", key).Code }
	if metrics("one") != 200 || metrics("two") != 403 {
		t.Errorf("metrics: ann %d, bob %d", metrics("one"), metrics("two"))
	}
	if patch("one") != 200 || patch("two") != 403 || sees("one") != 2 || sees("two") != 1 {
		t.Errorf("ann patches: %d, sees %d; bob patches: %d, sees %d", patch("one"), sees("one"), patch("two"), sees("two"))
	}
	put(line("ann", "one"), line("bob", "two")+" admin")
	if restart, err := s.Reload(t.Context()); err != nil || len(restart) > 0 {
		t.Fatalf("%q, %v", restart, err)
	}
	if metrics("one") != 403 || metrics("two") != 200 {
		t.Errorf("afterwards metrics: ann %d, bob %d", metrics("one"), metrics("two"))
	}
	if patch("one") != 403 || patch("two") != 200 || sees("one") != 1 {
		t.Errorf("afterwards ann patches: %d, sees %d; bob patches: %d", patch("one"), sees("one"), patch("two"))
	}
	put(line("ann", "one") + " owner")
	if _, err := s.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a third word that is not admin: %v", err)
	}
}

func TestReloadTakesWhatItCan(t *testing.T) {
	s := open(t, plain)
	settings := func() profiles.Settings {
		got, err := s.Gateway.Profiles().Settings("")
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

// A database that somebody deletes is noticed, and so is one in its place.
func TestALostDatabaseIsNoticed(t *testing.T) {
	s := open(t, "preset: frugal\ngateway: {upstream: UPSTREAM, store: DIR/store.db}\n")
	if got := s.ask("GET", "/readyz", ""); got.Code != 200 {
		t.Fatal(got.Code, got.Body)
	}
	file := filepath.Join(filepath.Dir(s.file), "store.db")
	if err := os.Rename(file, file+".moved"); err != nil {
		t.Skip("an open file cannot be moved here: ", err)
	}
	ready := func(want string) {
		t.Helper()
		for range 3 {
			if got := s.ask("GET", "/readyz", ""); got.Code != 503 || !strings.Contains(got.Body.String(), want) || strings.Contains(got.Body.String(), file) {
				t.Errorf("%d %s", got.Code, got.Body)
			}
		}
	}
	ready("deleted")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ready("replaced")
	if n := strings.Count(s.log.String(), "does not keep what is new"); n != 1 {
		t.Errorf("it is logged %d times:\n%s", n, s.log)
	}
	if out := s.ask("GET", "/metrics", "").Body.String(); !strings.Contains(out, "precis_store_keeps 0") || strings.Contains(out, "precis_store_last_error_seconds 0\n") {
		t.Error("the metrics do not show it")
	}
	var status gateway.Status
	if err := json.Unmarshal(s.ask("GET", "/precis/api/v1/status", "").Body.Bytes(), &status); err != nil || status.Store.Failing.IsZero() || status.Store.Failed.IsZero() {
		t.Errorf("the status does not show it: %+v, %v", status.Store, err)
	}
	if err := os.Rename(file+".moved", file); err != nil {
		t.Fatal(err)
	}
	if got := s.ask("GET", "/readyz", ""); got.Code != 200 {
		t.Errorf("put back: %d %s", got.Code, got.Body)
	}
}

func TestTheSoftLimitOfMemory(t *testing.T) {
	if n := service.SoftMemoryLimit(config.Gateway{MemoryMB: 256}); n != (320+1024)<<20 {
		t.Errorf("%d MB", n>>20)
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
		got, err := s.Gateway.Profiles().Settings("")
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
	if got, _ := s.Gateway.Profiles().Settings(""); got.Percent != 33 {
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
	list, err := conversation.List(t.Context(), s.Gateway.Home(gateway.AllOwners), conversation.ListQuery{})
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
		records, err := st.(store.Lister).Conversations(t.Context(), store.Query{})
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
	sums, err := ledger.Of(t.Context(), s.Gateway.Home(gateway.AllOwners), ledger.Query{})
	if err != nil || sums.Total.Requests != entries || len(sums.Conversations) != 1 {
		t.Errorf("%d entries are summed up to %+v: %v", entries, sums, err)
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
	owners, err := st.(store.Scoper).Scopes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, owner := range owners {
		all, err := st.(store.Scoper).Scope(owner).(precis.Ledger).Entries(t.Context(), "", time.Time{})
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
		r := store.Record{ID: id, Head: node, Messages: 1, Updated: time.Now().Add(-age)}
		if err := st.(store.Lister).PutConversation(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	put("old", 31*24*time.Hour)
	put("new", 29*24*time.Hour)
	s.Forget(t.Context())
	records, err := st.(store.Lister).Conversations(t.Context(), store.Query{})
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
	s := open(t, "gateway: {upstream: 'http://127.0.0.1:1', store: memory, webhook: '"+outside.URL+"/hook'}\n", func(p *service.Parts) { p.OTLP = outside.URL })
	if got := s.ask("POST", "/v1/messages", hello(0)); got.Code != 502 {
		t.Fatal(got.Code)
	}
	if got := <-posted; !strings.Contains(got, `"type":"error"`) || !strings.Contains(got, `"code":"upstream"`) {
		t.Errorf("posted %s", got)
	}
	if got := <-traced; got != "/v1/traces" { // a batch is sent within seconds
		t.Errorf("traced to %s", got)
	}
	for yaml, otlp := range map[string]string{"gateway: {store: memory, webhook: nonsense}\n": "", "gateway: {store: memory}\n": "nonsense"} {
		path := filepath.Join(t.TempDir(), "precis.yaml")
		if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Sources{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := service.Open(t.Context(), service.Parts{Config: c, OTLP: otlp}); precis.CodeOf(err) != precis.CodeInvalid {
			t.Errorf("%s: %v", yaml, err)
		}
	}
}

// The file of the current folder is not trusted when it is read again, either.
func TestReloadRefusesWhatAFolderMustNotSet(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "precis.yaml")
	put := func(yaml string) {
		if err := os.WriteFile(folder, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("threshold: 60\n")
	load := func() (*config.Config, error) {
		return config.Load(config.Sources{Folder: folder, Flags: map[string]string{"gateway.store": "memory"}})
	}
	s := open(t, plain, func(p *service.Parts) { p.Reload = load })
	if _, err := s.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	put("gateway: {webhook: 'http://127.0.0.1:9/'}\n")
	if _, err := s.Reload(t.Context()); !errors.Is(err, config.ErrRefused) {
		t.Errorf("want it refused: %v", err)
	}
}
