package filelock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"precis"
	"precis/internal/filelock"
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

func TestNoLockIsTakenOnceCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "f")
	if _, err := filelock.Lock(ctx, path); precis.CodeOf(err) != precis.CodeCanceled {
		t.Errorf("%v", err)
	}
}
