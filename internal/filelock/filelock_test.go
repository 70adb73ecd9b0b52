package filelock_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/filelock"
)

// held makes a lock of the given age, which cannot be removed when full.
func held(t *testing.T, age time.Duration, full bool) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "f")
	name := path + ".lock"
	if err := os.Mkdir(name, 0o755); err != nil {
		t.Fatal(err)
	}
	if full {
		if err := os.WriteFile(filepath.Join(name, "x"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	then := time.Now().Add(-age)
	if err := os.Chtimes(name, then, then); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := held(t, time.Hour, false)
		unlock, err := filelock.Lock(t.Context(), path)
		if err != nil {
			t.Fatalf("an old lock is not taken over: %v", err)
		}
		if _, err := filelock.Lock(t.Context(), path); precis.CodeOf(err) != precis.CodeConflict || !strings.Contains(err.Error(), "in use") {
			t.Errorf("a held lock: %v", err)
		}
		unlock()
		if unlock, err = filelock.Lock(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		unlock()
		if _, err := os.Stat(path + ".lock"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the lock stays: %v", err)
		}
	})
}

// A lock that is old and cannot be removed is waited for as long as any other.
func TestOldLockThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := filelock.Lock(ctx, held(t, time.Hour, true))
		var e *precis.Error
		if !errors.As(err, &e) || e.Code != precis.CodeConflict || !strings.Contains(e.Hint, "f.lock") {
			t.Errorf("%v", err)
		}
	})
}

// Many at once have the lock of a file of precis one after the other, and nothing stays behind.
func TestOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	inside, n := atomic.Int32{}, 0
	var all sync.WaitGroup
	for range 60 {
		all.Go(func() {
			unlock, err := filelock.Own(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			if inside.Add(1) != 1 {
				t.Error("two have it")
			}
			n++
			inside.Add(-1)
			unlock()
		})
	}
	all.Wait()
	if n != 60 {
		t.Errorf("%d had it", n)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
		t.Errorf("%v stays", left)
	}
	if _, err := filelock.Own(t.Context(), filepath.Join(path, "no folder")); precis.CodeOf(err) != precis.CodeInternal {
		t.Errorf("no folder: %v", err)
	}
	old := held(t, time.Hour, false) // of an earlier version that was killed
	unlock, err := filelock.Own(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// A process that is killed leaves no lock.
func TestOwnOfTheKilled(t *testing.T) {
	if path := os.Getenv("FILELOCK_TEST"); path != "" {
		if _, err := filelock.Own(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		select {}
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the kernel's locks are not used here")
	}
	path := filepath.Join(t.TempDir(), "f")
	cmd := exec.Command(os.Args[0], "-test.run=^TestOwnOfTheKilled$")
	cmd.Env = append(os.Environ(), "FILELOCK_TEST="+path)
	if err := cmd.Run(); err == nil {
		t.Fatal("it was not killed")
	}
	if _, err := os.Stat(path + ".lock"); err != nil {
		t.Fatalf("it had no lock: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	unlock, err := filelock.Own(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := filelock.Own(ctx, path); precis.CodeOf(err) != precis.CodeCanceled {
		t.Errorf("held, and canceled: %v", err)
	}
	unlock()
}

func TestNoLockIsTakenOnceCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "f")
	if _, err := filelock.Lock(ctx, path); precis.CodeOf(err) != precis.CodeCanceled {
		t.Errorf("%v", err)
	}
}
