package service

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/gateway/profiles"
)

// The watcher notices what others write, and not what the gateway itself does: its
// profiles keep what was changed for the process alone.
func TestOwnWritesAreNotNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	write := func(text string, age time.Duration) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	write("preset: frugal\ngateway: {store: memory}\n", time.Hour)
	load := func() (*config.Config, error) { return config.Load(config.Sources{Path: path}) }
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Parts{Config: c, Reload: load, Local: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	s.changed() // how the watcher begins
	percent := 55.0
	save := func() error {
		percent++
		_, err := s.saveSettings(t.Context(), "", profiles.Patch{Percent: &percent})
		return err
	}
	if err := save(); err != nil || s.changed() {
		t.Errorf("its own write is noticed; %v", err)
	}
	write("preset: frugal\nthreshold: 60\ngateway: {store: memory}\n", time.Minute)
	if !s.changed() || s.changed() {
		t.Error("another write is noticed never, or twice")
	}
	s.reload(t.Context())
	s.watchNewFiles()
	if err := save(); err != nil || s.changed() {
		t.Errorf("its own write is noticed after a reload; %v", err)
	}
	// With experiments the arms have to follow.
	write("preset: frugal\nexperiments: {x: {arms: {a: {}}}}\ngateway: {store: memory}\n", 2*time.Minute)
	s.changed()
	s.reload(t.Context())
	s.watchNewFiles()
	if err := save(); err != nil || !s.changed() {
		t.Errorf("the arms of an experiment do not follow; %v", err)
	}
	// Somebody writes between the gateway's write and its note of it.
	now, err := load()
	if err != nil {
		t.Fatal(err)
	}
	write("threshold: 61\n", time.Second)
	s.files.mu.Lock()
	s.recordWritten("", now)
	s.files.mu.Unlock()
	if !s.changed() {
		t.Error("a write right after the gateway's is lost")
	}
}
