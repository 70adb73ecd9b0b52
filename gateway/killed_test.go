//go:build unix

package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/store/sqlite"
)

// killed is one conversation through a gateway that is a process of its own, over a database on
// disk, while something goes wrong that a row of the table names.
type killed struct {
	t      *testing.T
	db     string
	listen string
	limit  int // of the size of its files, in blocks as the shell counts them; 0: none
	up     string
	middle atomic.Pointer[func()] // called when the first half of an answer is with the client
	log    logged
	p      *process
	a      *agent

	again   int // turns that were sent again
	reduced int
	ids     map[string]bool
	edits   map[string]bool // that were in the database at some time
}

// logged is what a process wrote to its standard error.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newKilled(t *testing.T) *killed {
	k := &killed{t: t, db: filepath.Join(t.TempDir(), "c.db"), listen: "127.0.0.1:0", ids: map[string]bool{}, edits: map[string]bool{}, a: newAgent("anthropic", "Read the files one by one.")}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		streaming(w, twoEvents)
		if f := k.middle.Swap(nil); f != nil {
			(*f)()
			select { // whoever reads it notices before the rest comes
			case <-r.Context().Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
		streaming(w, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	}))
	t.Cleanup(s.Close)
	k.up = s.URL
	return k
}

// begin starts the process over the database; it listens where the one before did.
func (k *killed) begin() {
	k.t.Helper()
	cmd := exec.Command(os.Args[0])
	if k.limit > 0 {
		if _, err := exec.LookPath("sh"); err != nil {
			k.t.Skip("no shell to limit the size of files with")
		}
		cmd = exec.Command("sh", "-c", fmt.Sprintf(`trap "" XFSZ; ulimit -f %d && exec "$0"`, k.limit), os.Args[0])
	}
	cmd.Env = append(os.Environ(), childStore+"="+k.db, childUpstream+"="+k.up, childListen+"="+k.listen, childLog+"=1")
	cmd.Stderr = &k.log
	k.p = started(k.t, cmd)
	k.listen = strings.TrimPrefix(k.p.base, "http://")
}

// kill ends the process as it is, and notes which edits the database has.
func (k *killed) kill() {
	k.p.kill()
	for id := range k.stored() {
		k.edits[id] = true
	}
}

// stored returns the edits that the database has.
func (k *killed) stored() map[string]bool {
	st, err := sqlite.Open(k.t.Context(), k.db, sqlite.Options{})
	if err != nil {
		k.t.Errorf("the database cannot be opened: %v", err)
		return nil
	}
	defer func() { _ = st.Close() }()
	out := map[string]bool{}
	h := shelf.InStore(shelf.StoreOptions{Store: st, Manager: frugal(k.t)})
	for id := range k.ids {
		list, err := conversation.Edits(k.t.Context(), h, id)
		if err != nil {
			continue // it was not stored yet
		}
		for _, e := range list.Items {
			out[e.ID] = true
		}
	}
	return out
}

// turn sends a turn, again once it is not answered, as clients do.
func (k *killed) turn(n int) {
	k.t.Helper()
	k.a.read(n, words(40, n))
	var why error
	for try := range 3 {
		if try > 0 {
			k.again++
		}
		if why = k.send(k.t.Context()); why == nil {
			return
		}
		if k.p == nil {
			k.begin()
		}
	}
	k.t.Fatalf("turn %d is never answered: %v", n, why)
}

func (k *killed) send(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+k.listen+k.a.path(), strings.NewReader(k.a.body(true)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	k.ids[res.Header.Get("X-Precis-Conversation")] = true
	if res.Header.Get("X-Precis-Action") == "reduced" {
		k.reduced++
	}
	b, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != 200 || !bytes.Contains(b, []byte("message_stop"))) {
		err = fmt.Errorf("%d %.300s", res.StatusCode, b)
	}
	return err
}

// settle waits until the database has the conversation: what dies before that begins anew.
func (k *killed) settle() {
	k.t.Helper()
	for range 200 {
		if st, err := sqlite.Open(k.t.Context(), k.db, sqlite.Options{}); err == nil {
			list, err := conversation.List(k.t.Context(), shelf.InStore(shelf.StoreOptions{Store: st, Manager: frugal(k.t)}), conversation.ListQuery{})
			_ = st.Close()
			if err == nil && len(list.Items) > 0 {
				return
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	k.t.Fatal("the conversation is never stored")
}

// inTheMiddle calls f when half of the next answer is with the client.
func (k *killed) inTheMiddle(f func()) { k.middle.Store(&f) }

// killedRows are what may go wrong. Each leads one conversation through its turns, and says how many of
// them its client had to send again at most, how many conversations come of it, and what the log says.
var killedRows = []struct {
	name  string
	again int
	ids   int
	words string // that the log has; "": it may have any
	run   func(k *killed)
}{
	{"killed in the middle of every fourth answer", 6, 1, "", func(k *killed) {
		k.begin()
		for n := 1; n <= 24; n++ {
			if n%4 == 0 {
				k.inTheMiddle(func() { k.p.kill() })
			}
			k.a.read(n, words(40, n))
			err := k.send(k.t.Context())
			if n%4 != 0 && err != nil {
				k.t.Fatalf("turn %d: %v", n, err)
			}
			if n == 1 {
				k.settle()
			}
			if err != nil {
				k.kill()
				k.begin()
				k.again++
				if err := k.send(k.t.Context()); err != nil {
					k.t.Fatalf("turn %d after the kill: %v", n, err)
				}
			}
		}
	}},
	{"killed while the store is written", 0, 1, "",
		func(k *killed) {
			k.begin()
			for n := 1; n <= 24; n++ {
				k.turn(n)
				if n == 1 {
					k.settle()
				}
				if n%3 == 0 {
					time.Sleep(time.Duration(n*n%7) * time.Millisecond) // somewhere between the answer and what is stored of it
					k.kill()
					k.begin()
				}
			}
		}},
	{"the disk is full", 0, 2, "the store does not keep what is new", func(k *killed) {
		k.limit = 400
		k.begin()
		for n := 1; n <= 40; n++ {
			k.turn(n)
		}
		k.kill()
		k.limit = 0 // there is room again
		k.begin()
		for n := 41; n <= 44; n++ {
			k.turn(n)
		}
	}},
	{"the database is deleted while it runs", 0, 2, "the file was deleted", func(k *killed) {
		k.begin()
		for n := 1; n <= 24; n++ {
			k.turn(n)
			if n == 12 {
				for _, name := range []string{"", "-wal", "-shm"} {
					_ = os.Remove(k.db + name)
				}
			}
		}
		for range 400 { // the next save notices it
			if strings.Contains(k.log.String(), "the file was deleted") {
				break
			}
			time.Sleep(25 * time.Millisecond)
		}
		k.p.kill()
		k.begin()
		for n := 25; n <= 30; n++ {
			k.turn(n)
		}
	}},
	{"the client leaves in the middle of every third answer", 8, 1, "", func(k *killed) {
		k.begin()
		for n := 1; n <= 24; n++ {
			if n%3 == 0 {
				ctx, leave := context.WithCancel(k.t.Context())
				k.inTheMiddle(leave)
				k.a.read(n, words(40, n))
				if k.send(ctx) == nil {
					k.t.Errorf("turn %d: the client did not leave", n)
				}
				leave()
				k.again++
				if err := k.send(k.t.Context()); err != nil {
					k.t.Fatalf("turn %d, sent again: %v", n, err)
				}
				continue
			}
			k.turn(n)
		}
	}},
}

// TestChaosOfProcesses leads conversations through a gateway that is killed, whose disk is full or
// whose database is gone. No turn fails that the upstream would have answered, a conversation that the
// database has stays one, and an edit that was in the database stays there. make chaos prints the table.
func TestChaosOfProcesses(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	rows := map[string]string{}
	t.Cleanup(func() {
		t.Logf("| %-54s | again | conversations | reduced | edits kept |", "what goes wrong with the process")
		for _, row := range killedRows {
			t.Log(rows[row.name])
		}
	})
	for _, row := range killedRows {
		t.Run(strings.ReplaceAll(row.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			k := newKilled(t)
			row.run(k)
			k.p.kill()
			have := k.stored()
			for id := range k.edits {
				if !have[id] {
					t.Errorf("the edit %s was in the database, and is not any more", id)
				}
			}
			if k.again > row.again || len(k.ids) > row.ids || k.reduced == 0 {
				t.Errorf("%d turns were sent again, at most %d; conversations %v, at most %d; %d views were reduced", k.again, row.again, k.ids, row.ids, k.reduced)
			}
			if !strings.Contains(k.log.String(), row.words) {
				t.Errorf("the log does not say %q:\n%s", row.words, k.log.String())
			}
			mu.Lock()
			rows[row.name] = fmt.Sprintf("| %-54s | %5d | %13d | %7d | %10d |", row.name, k.again, len(k.ids), k.reduced, len(k.edits))
			mu.Unlock()
		})
	}
}
