//go:build linux || darwin

package outlineworker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/precis-dev/precis/outline"
)

// fake is the parser of the test's process: what the content says happens.
type fake struct{}

func (fake) Parse(language, content string) ([]outline.Definition, []outline.Doubt, bool) {
	verb, _, _ := strings.Cut(content, " ")
	switch verb {
	case "crash":
		os.Exit(3)
	case "hang":
		select {}
	case "impossible":
		return nil, []outline.Doubt{{Start: 1, End: 1, Def: 7}}, true
	case "unknown":
		return []outline.Definition{{Name: "a", Kind: "spell", Start: 1, End: 1}}, nil, true
	case "eat": // until the limit
		var all [][]byte
		for range 2 << 10 {
			all = append(all, bytes.Repeat([]byte("x"), 1<<20))
		}
		return nil, nil, len(all) > 0
	case "environment":
		return []outline.Definition{{Name: strings.Join(os.Environ(), " "), Kind: outline.Type, Start: 1, End: 1}}, nil, true
	case "pid":
		return []outline.Definition{{Name: fmt.Sprint(os.Getpid()), Kind: outline.Type, Start: 1, End: 1}}, nil, true
	}
	return []outline.Definition{{Name: language, Kind: outline.Function, Start: 1, End: 2}}, []outline.Doubt{{Start: 2, End: 2, Def: 0}}, true
}

// TestMain makes this program the process, too: of the first argument's kind.
func TestMain(m *testing.M) {
	kind := ""
	if len(os.Args) > 1 {
		kind = os.Args[1]
	}
	switch kind {
	case "worker":
		if err := errors.Join(Limit(), Serve(os.Stdin, os.Stdout, fake{})); err != nil {
			os.Exit(1)
		}
	case "stranger":
		fmt.Println("usage: stranger [file]")
	case "flood":
		_ = writeFrame(os.Stdout, hello)
		_, _ = os.Stdout.Write(binary.BigEndian.AppendUint32(nil, 1<<31))
		_, _ = io.Copy(os.Stdout, zeros{})
	case "greedy", "modest":
		size := map[string]int{"greedy": 2 * mostMemory, "modest": mostMemory / 8}[kind]
		if err := Limit(); err != nil || len(bytes.Repeat([]byte("x"), size)) != size {
			os.Exit(1)
		}
	case "deaf": // does not read
		_ = writeFrame(os.Stdout, hello)
		select {}
	default:
		os.Exit(m.Run())
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// clock is a time that only moves when it is set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newWorker(t *testing.T, kind string) (*Worker, *clock) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{now: time.Unix(0, 0)}
	w := New(Options{Command: []string{self, kind}, Now: c.Now})
	w.time = time.Minute // a busy machine is slow; what hangs sets another
	t.Cleanup(func() { w.Close() })
	return w, c
}

// name returns the name of the only definition of an answer; "" when there is no
// answer.
func name(w *Worker, content string) string {
	defs, _, ok := w.Parse("go", content)
	if !ok || len(defs) != 1 {
		return ""
	}
	return defs[0].Name
}

// running returns the process ID of a worker's process, 0 for none.
func running(w *Worker) int {
	s := <-w.turn
	defer func() { w.turn <- s }()
	if s.process == nil {
		return 0
	}
	return s.process.cmd.Process.Pid
}

func TestAWorkerParses(t *testing.T) {
	w, _ := newWorker(t, "worker")
	defs, doubts, ok := w.Parse("rust", "fine \xff text")
	if !ok || !reflect.DeepEqual(defs, []outline.Definition{{Name: "rust", Kind: outline.Function, Start: 1, End: 2}}) || len(doubts) != 1 || doubts[0].Def != 0 {
		t.Errorf("%v %v %v", defs, doubts, ok)
	}
	first := running(w)
	if _, _, ok = w.Parse("go", strings.Repeat("large ", outline.MaxParsed/6)); !ok || running(w) != first {
		t.Errorf("%v, process %d and then %d", ok, first, running(w))
	}
	if got := name(w, "environment"); strings.Contains(got, "PATH") || strings.Contains(got, "KEY") {
		t.Errorf("the process knows %q", got)
	}
}

// Whatever happens to the process, the caller gets no answer, in time, and the
// next file is parsed by a new process.
func TestAFailureCostsOneFile(t *testing.T) {
	for _, verb := range []string{"crash", "hang", "impossible", "unknown", "eat"} {
		w, _ := newWorker(t, "worker")
		if name(w, "fine") == "" {
			t.Fatal("the worker does not work")
		}
		old := running(w)
		if verb == "hang" {
			w.time = time.Millisecond
		}
		for range 5 { // only the first reaches the process
			if _, _, ok := w.Parse("go", verb+" it"); ok {
				t.Errorf("%s is answered", verb)
			}
		}
		w.time = time.Minute
		if alive(old) {
			t.Errorf("%s: process %d is left", verb, old)
		}
		if name(w, "fine") == "" {
			t.Errorf("after %s no file is parsed", verb)
		}
	}
}

// alive reports whether a process exists, one that ended and was not waited for
// among them.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestKilledInTheMiddle(t *testing.T) {
	w, _ := newWorker(t, "worker")
	pid := running(w)
	if name(w, "fine") == "" || pid != 0 {
		t.Fatalf("process %d before the first request", pid)
	}
	pid = running(w)
	done := make(chan bool)
	go func() {
		_, _, ok := w.Parse("go", "hang until killed")
		done <- ok
	}()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if <-done {
		t.Error("a killed process answers")
	}
	if alive(pid) || name(w, "fine") == "" || running(w) == pid {
		t.Errorf("process %d is left, or no new one came", pid)
	}
}

func TestThreeFailuresInARowRest(t *testing.T) {
	w, c := newWorker(t, "worker")
	for i := range 2 {
		w.Parse("go", fmt.Sprint("crash ", i))
	}
	if name(w, "fine") == "" { // which ends the row
		t.Fatal("two failures stop the worker")
	}
	for i := range 3 {
		w.Parse("go", fmt.Sprint("crash more ", i))
	}
	if name(w, "fine") != "" || running(w) != 0 {
		t.Error("three failures do not stop the worker")
	}
	c.move(restTime - time.Second)
	if name(w, "fine") != "" {
		t.Error("the worker rests less than a minute")
	}
	c.move(time.Second)
	if name(w, "fine") == "" {
		t.Error("the worker rests longer than a minute")
	}
}

func TestOtherProgramsAreNotTrusted(t *testing.T) {
	for _, kind := range []string{"stranger", "flood", "deaf"} {
		w, _ := newWorker(t, kind)
		content := "fine"
		if kind == "deaf" { // more than a pipe holds
			w.time, content = time.Millisecond, strings.Repeat("x", outline.MaxParsed)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, _, ok := w.Parse("go", content); ok {
			t.Errorf("%s: an answer", kind)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 3*mostAnswer {
			t.Errorf("%s costs %d bytes", kind, n)
		}
		if running(w) != 0 {
			t.Errorf("%s still runs", kind)
		}
	}
	for _, command := range [][]string{nil, {filepath.Join(t.TempDir(), "absent")}} {
		w := New(Options{Command: command})
		if _, _, ok := w.Parse("go", "fine"); ok {
			t.Errorf("%v: an answer", command)
		}
		w.Close()
	}
}

func TestLimitBoundsMemory(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(self, "modest").Run(); err != nil {
		t.Errorf("a modest process: %v", err)
	}
	if err := exec.Command(self, "greedy").Run(); err == nil {
		t.Error("a greedy process lives")
	}
}

func TestCloseEndsTheProcess(t *testing.T) {
	w, _ := newWorker(t, "worker")
	name(w, "fine")
	pid := running(w)
	goroutines := runtime.NumGoroutine()
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if alive(pid) {
		t.Errorf("process %d is left", pid)
	}
	if name(w, "fine") != "" {
		t.Error("a closed worker parses")
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
}

func TestManyAtOnce(t *testing.T) {
	w, _ := newWorker(t, "worker")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				w.Parse("go", fmt.Sprint("fine ", i))
			}
		})
	}
	wg.Wait()
	if name(w, "fine") == "" {
		t.Error("no answer after many")
	}
}

// The process ends with its caller.
func TestServeEndsWithItsInput(t *testing.T) {
	var in, out bytes.Buffer
	if err := writeFrame(&in, request{"go", "fine"}); err != nil {
		t.Fatal(err)
	}
	if err := Serve(&in, &out, fake{}); err != nil {
		t.Error(err)
	}
	var said string
	var a answer
	if err := errors.Join(readFrame(&out, 100, &said), readFrame(&out, 1000, &a)); err != nil || said != hello || !a.OK {
		t.Errorf("%q %v %v", said, a, err)
	}
	in.Write([]byte{0xff, 0, 0, 0})
	if err := Serve(&in, io.Discard, fake{}); !errors.Is(err, errFrame) {
		t.Errorf("%v", err)
	}
	if !slices.Contains(kinds, outline.Macro) {
		t.Error("a kind is missing")
	}
}
