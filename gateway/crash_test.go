package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/internal/pgtest"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/store/postgres"
	"github.com/precis-dev/precis/store/sqlite"
)

// The tests below run gateways as processes of their own, so that they can be
// killed: the test binary starts itself with these variables set.
const (
	childStore    = "PRECIS_TEST_CHILD_STORE"
	childUpstream = "PRECIS_TEST_CHILD_UPSTREAM"
	childListen   = "PRECIS_TEST_CHILD_LISTEN"
	childLog      = "PRECIS_TEST_CHILD_LOG" // not empty: it logs to its standard error
	childWindow   = 8000
)

func TestMain(m *testing.M) {
	if os.Getenv(childUpstream) != "" {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// The tests wait for sockets and timers more than they compute, so more of them run side
	// by side than there are processors, unless somebody says how many.
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		if err := f.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// child serves a gateway until it is killed.
func child() error {
	ctx := context.Background()
	var st precis.Store
	var err error
	shared := strings.HasPrefix(os.Getenv(childStore), "postgres")
	if shared {
		st, err = postgres.Open(ctx, os.Getenv(childStore), postgres.Options{})
	} else {
		st, err = sqlite.Open(ctx, os.Getenv(childStore), sqlite.Options{})
	}
	if err != nil {
		return err
	}
	settings, err := preset.Settings(preset.Frugal)
	if err != nil {
		return err
	}
	m, err := preset.New(preset.Options{Settings: settings})
	if err != nil {
		return err
	}
	u, err := url.Parse(os.Getenv(childUpstream))
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	if os.Getenv(childLog) != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	g, err := gateway.New(gateway.Options{
		Upstreams: []gateway.Upstream{{Name: "up", URL: u}}, Manager: m, Store: st, Shared: shared, Logger: log, Auth: gateway.Auth{Secret: []byte("0123456789abcdef")},
		Window: func(context.Context, string) precis.Window {
			return precis.Window{Tokens: childWindow, Source: precis.SourceConfigured}
		},
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", os.Getenv(childListen))
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	return http.Serve(l, g)
}

// process is a gateway that can be killed.
type process struct {
	cmd  *exec.Cmd
	base string
}

func launch(t *testing.T, store, upstream, listen string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childStore+"="+store, childUpstream+"="+upstream, childListen+"="+listen)
	cmd.Stderr = os.Stderr
	return started(t, cmd)
}

// started starts a gateway, and waits until it listens.
func started(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd}
	t.Cleanup(p.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("the gateway did not start: ", err)
	}
	p.base = strings.TrimSpace(line)
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_, _ = p.cmd.Process.Wait()
}

// recorder is an upstream that keeps what it got, and tells of each request
// before it answers.
type recorder struct {
	mu     sync.Mutex
	bodies [][]byte
	before func(n int) // called with the number of the request, from 1
}

func (r *recorder) serve(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		r.mu.Lock()
		r.bodies = append(r.bodies, body)
		n, before := len(r.bodies), r.before
		r.mu.Unlock()
		if before != nil {
			before(n)
		}
		streaming(w, twoEvents+"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func (r *recorder) set(before func(n int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before = before
}

func (r *recorder) last() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bodies[len(r.bodies)-1]
}

// fresh connects anew for each request: an idle connection to a gateway that was
// killed would fail the request to its successor at the same address.
var fresh = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// try sends a turn once.
func try(base, body string) error {
	res, err := fresh.Post(base+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err != nil {
		return err
	}
	if res.StatusCode != 200 {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}

// TestKilledGatewayGoesOn kills the gateway in each turn: when the upstream has
// the request and not yet answered, or right after the answer. Its successor
// sends the same bytes for the same request, and the views go on from the same
// edits.
func TestKilledGatewayGoesOn(t *testing.T) {
	t.Parallel()
	up := &recorder{}
	url := up.serve(t)
	db := filepath.Join(t.TempDir(), "conversations.db")
	p := launch(t, db, url, "127.0.0.1:0")
	listen := strings.TrimPrefix(p.base, "http://")
	a := newAgent("anthropic", "Read the files. Never write to the disk.")
	reduced := 0
	for n := range 14 {
		a.read(n, words(30, n))
		body := a.body(true)
		if n%2 == 0 { // killed while the upstream has it
			victim := p
			up.set(func(int) { victim.kill() })
			if err := try(p.base, body); err == nil {
				t.Fatal("the killed gateway answered")
			}
			up.set(nil)
			sent := up.last()
			p = launch(t, db, url, listen)
			if err := try(p.base, body); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(up.last(), sent) {
				t.Fatalf("turn %d: the successor sent other bytes:\n%s\nbefore:\n%s", n, up.last(), sent)
			}
		} else { // killed right after the answer
			if err := try(p.base, body); err != nil {
				t.Fatal(err)
			}
			sent := up.last()
			p.kill()
			p = launch(t, db, url, listen)
			if err := try(p.base, body); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(up.last(), sent) {
				t.Fatalf("turn %d: asked again, the successor sent other bytes", n)
			}
		}
		if len(up.last()) < len(body) {
			reduced++
		}
		if !strings.Contains(string(up.last()), "Never write to the disk") {
			t.Fatalf("turn %d: the user's rule is gone", n)
		}
	}
	if reduced < 5 {
		t.Errorf("only %d of 14 views were reduced", reduced)
	}
}

// TestReplicasShareConversations sends each turn to one of two gateways over one
// database, kills one in the middle, and checks that the views are those of one
// conversation.
func TestReplicasShareConversations(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	up := &recorder{}
	url := up.serve(t)
	replicas := []*process{launch(t, database, url, "127.0.0.1:0"), launch(t, database, url, "127.0.0.1:0")}
	a := newAgent("anthropic", "Read the files. Never write to the disk.")
	var previous string
	splices, reduced := 0, 0
	for n := range 24 {
		a.read(n, words(30, n))
		body := a.body(true)
		r := replicas[n%len(replicas)]
		if n == 12 { // one dies with a request under way; the other takes over
			dying := replicas[0]
			up.set(func(int) { dying.kill() })
			if err := try(r.base, body); err == nil {
				t.Fatal("the killed replica answered")
			}
			up.set(nil)
			replicas = replicas[1:]
			r = replicas[0]
		}
		if err := try(r.base, body); err != nil {
			t.Fatal(err)
		}
		view := prefix(string(up.last()))
		if previous != "" && !strings.HasPrefix(view, previous) {
			splices++
		}
		previous = view
		if len(up.last()) < len(body) {
			reduced++
		}
	}
	t.Logf("24 turns over two replicas, one killed at turn 12: %d views reduced, %d splices", reduced, splices)
	if reduced < 10 || splices > 10 {
		t.Errorf("%d views were reduced, the prefix changed %d times", reduced, splices)
	}
}

// cluster is the one server of all tests. It ends with the process.
var cluster = sync.OnceValues(pgtest.Start)

// newDatabase returns an empty PostgreSQL database; the test is skipped where there
// is no server.
func newDatabase(t *testing.T) string {
	t.Helper()
	server, err := cluster()
	pgtest.SkipOrFail(t, err)
	return server.Database(t)
}

// prefix returns the messages of a request without the last one, and without
// breakpoints.
func prefix(body string) string {
	list := body[strings.Index(body, `"messages":`):]
	list = list[:strings.Index(list, `],"tools"`)]
	list = strings.ReplaceAll(list, `,"cache_control":{"type":"ephemeral"}`, "")
	if i := strings.LastIndex(list, `,{"role":"user"`); i > 0 {
		list = list[:i]
	}
	return list
}
