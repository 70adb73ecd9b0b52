package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vectorFile is one file of golden cases.
type vectorFile struct {
	Function string       `json:"function"`
	Cases    []vectorCase `json:"cases"`
}

type vectorCase struct {
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output"`
}

// adapter translates a case's input to production code and its answer back to
// JSON. It does none of the work.
type adapter func(t *testing.T, input json.RawMessage) any

// deviation recognizes, from input and output alone, the cases in which precis
// differs from the reference on purpose, and names the difference. The names
// are explained in docs/deviations.md.
type deviation func(input, output json.RawMessage) string

// maxDeviating is the share of a file's cases that may deviate.
const maxDeviating = 0.30

func directory(t *testing.T, variable string) string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		t.Skipf("%s is not set: nothing to compare with", variable)
	}
	return dir
}

func TestVectors(t *testing.T) {
	dir := filepath.Join(directory(t, "PRECIS_VECTORS"), "roo")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors in %s (%v)", dir, err)
	}
	adapters := vectorAdapters()
	maps.Copy(adapters, shapingAdapters())
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var v vectorFile
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
			if name == definitionsFile {
				compareDefinitions(t, v.Cases)
				return
			}
			if compareManaged(t, name, v.Cases) {
				return
			}
			if name == "checkContextWindowExceededError" {
				t.Logf("%-32s %4d cases  by TestContextWindowExceeded", name, len(v.Cases))
				return
			}
			run, ok := adapters[name]
			if !ok {
				t.Logf("%-32s %4d cases  pending", name, len(v.Cases))
				return
			}
			runVectors(t, name, v.Cases, run)
		})
	}
}

// vectorRun is how one file is checked.
type vectorRun struct {
	adapt   adapter
	deviate deviation // nil: none
}

func runVectors(t *testing.T, name string, cases []vectorCase, run vectorRun) {
	passed := 0
	deviating := map[string]int{}
	for _, c := range cases {
		diff := compare(t, c, run.adapt)
		if diff == "" {
			passed++
			continue
		}
		why := ""
		if run.deviate != nil {
			why = run.deviate(c.Input, c.Output)
		}
		if why == "" {
			t.Errorf("%s %s: (-reference +precis)\n%s", name, c.Name, short(diff))
			continue
		}
		deviating[why]++
	}
	n := 0
	var names []string
	for _, why := range slices.Sorted(maps.Keys(deviating)) {
		n += deviating[why]
		names = append(names, fmt.Sprintf("%s %d", why, deviating[why]))
	}
	t.Logf("%-32s %4d cases  %4d passed  %3d deviating %s", name, len(cases), passed, n, strings.Join(names, ", "))
	if float64(n) > maxDeviating*float64(len(cases)) {
		t.Errorf("%s: %d of %d cases deviate, at most %.0f %% may", name, n, len(cases), 100*maxDeviating)
	}
}

func compare(t *testing.T, c vectorCase, adapt adapter) string {
	t.Helper()
	got, err := json.Marshal(adapt(t, c.Input))
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	want := anyJSON(t, c.Output)
	if m, ok := want.(map[string]any); ok && m["throws"] != nil {
		m["throws"] = true // the text is the reference's own
	}
	return cmp.Diff(want, anyJSON(t, got))
}

func anyJSON(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("malformed JSON %.200s: %v", raw, err)
	}
	return v
}

func short(s string) string {
	if len(s) > 3000 {
		return s[:3000] + "…"
	}
	return s
}

// in decodes a case's input.
func in[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("decode case: %v", err)
	}
	return v
}
