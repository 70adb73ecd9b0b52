package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
)

// The window that an agent reports counts for a model that the catalog does not have.
func TestReportedWindows(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	window := func(model string) precis.Window {
		t.Helper()
		catalog, err := (&config.Config{}).Catalog()
		if err != nil {
			t.Fatal(err)
		}
		return catalog.Window(model)
	}
	report := func(model string, tokens int) {
		t.Helper()
		if err := config.ReportWindow(model, tokens); err != nil {
			t.Fatal(err)
		}
	}
	known := window("claude-sonnet-4-5")
	report("claude-sonnet-4-5", 5_000_000)
	report("brand-new-1", 700_000)
	report("", 700_000)
	report("brand-new-2", 0)
	if got := window("brand-new-1"); got.Tokens != 700_000 || got.Source != precis.SourceRecorded {
		t.Errorf("a new model: %+v", got)
	}
	if got := window("claude-sonnet-4-5"); got != known {
		t.Errorf("a model of the catalog: %+v, want %+v", got, known)
	}
	if got := window("brand-new-2"); got.Source != precis.SourceAssumed {
		t.Errorf("no window was reported: %+v", got)
	}
	path := filepath.Join(cache, "precis", "windows.json")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	report("brand-new-1", 700_000)
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the same window is written again: %v", err)
	}
	many := map[string]int{}
	for i := range 200 {
		many[fmt.Sprint("many-", i)] = 1000 + i
	}
	if data, err := json.Marshal(many); err != nil || os.WriteFile(path, data, 0o600) != nil {
		t.Fatal(err)
	}
	report("brand-new-1", 700_000)
	if data, err := os.ReadFile(path); err != nil || len(data) > 100 || window("brand-new-1").Tokens != 700_000 {
		t.Errorf("one too many: %s, %v", data, err)
	}
	for i, damaged := range []string{"{damaged", "null", `{"brand-new-1":"many"}`} {
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := window("brand-new-1"); got.Source != precis.SourceAssumed {
			t.Errorf("%s: %+v", damaged, got)
		}
		report("brand-new-1", 800_000+i)
		if got := window("brand-new-1"); got.Tokens != 800_000+i {
			t.Errorf("after %s: %+v", damaged, got)
		}
	}
}
