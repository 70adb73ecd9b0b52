//go:build unix

package pgtest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// childEnv makes a copy of the test binary start a cluster, say where, and wait.
const childEnv = "PRECIS_PGTEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		c, err := Start()
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(c.dir)
		select {}
	}
	os.Exit(m.Run())
}

// TestServerEndsWithTheProcess: a process that is killed leaves nothing.
func TestServerEndsWithTheProcess(t *testing.T) {
	if _, err := programs(); err != nil {
		SkipOrFail(t, err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self)
	child.Env = append(os.Environ(), childEnv+"=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	dir, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	dir = strings.TrimSpace(dir)
	if _, err := os.Stat(filepath.Join(dir, "data", "postmaster.pid")); err != nil {
		t.Error(err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return
		}
		if time.Since(start) > 20*time.Second {
			t.Fatalf("%s is still there", dir)
		}
	}
}

// fake records how a test was ended.
type fake struct {
	testing.TB
	ended string
}

func (f *fake) Helper()      {}
func (f *fake) Skip(...any)  { f.ended = "skipped" }
func (f *fake) Fatal(...any) { f.ended = "failed" }

func TestNeed(t *testing.T) {
	for _, c := range []struct {
		err           error
		require, want string
	}{
		{nil, "", ""}, {nil, "1", ""}, {ErrMissing, "", "skipped"}, {ErrMissing, "1", "failed"}, {errors.New("other"), "", "failed"},
	} {
		t.Setenv(RequireEnv, c.require)
		f := &fake{}
		SkipOrFail(f, c.err)
		if f.ended != c.want {
			t.Errorf("%v with %q: %q, want %q", c.err, c.require, f.ended, c.want)
		}
	}
}
