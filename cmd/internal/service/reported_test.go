package service_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis/gateway/accounts"
)

// What a provider counted for a view of the engine is reported with the next request. It holds for
// the owner of the key, an admin or not, and after a restart.
func TestReportedCountsAreLearned(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	lines := "ann " + accounts.HashKey("one") + " admin\nbob " + accounts.HashKey("two") + "\neve " + accounts.HashKey("three") + "\n"
	if err := os.WriteFile(keys, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(t.TempDir(), "precis.db")
	yaml := "preset: frugal\ngateway: {upstream: UPSTREAM, store: \"" + db + "\", keys_file: " + keys + "}\n"
	text, _ := json.Marshal(strings.Repeat("a line of the file\n", 500))
	var s *setup
	assemble := func(key, reported string) (counted []byte, factor float64) {
		t.Helper()
		w := s.ask("POST", "/precis/api/v1/assemble", `{"model":"m","messages":[{"role":"user","content":`+string(text)+`}]`+reported+`}`, "X-Precis-Key", key)
		var v struct {
			Counted json.RawMessage
			Report  struct{ Calibration float64 }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != 200 {
			t.Fatalf("%d %s: %v", w.Code, w.Body, err)
		}
		return v.Counted, v.Report.Calibration
	}
	s = open(t, yaml)
	for key, share := range map[string]float64{"one": 1.5, "two": 1.2} {
		counted, before := assemble(key, "")
		var c struct{ Tokens float64 }
		if err := json.Unmarshal(counted, &c); err != nil || before != 1 {
			t.Fatalf("%s: %v, factor %g", counted, err, before)
		}
		input, _ := json.Marshal(int(share * c.Tokens))
		counted = append(bytes.TrimSuffix(counted, []byte("}")), `,"input":`+string(input)+`}`...)
		if _, factor := assemble(key, `,"reported":`+string(counted)); math.Abs(factor-share) > .01 {
			t.Errorf("key %s: factor %g after %s, want %g", key, factor, counted, share)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s = open(t, yaml)
	for key, want := range map[string]float64{"one": 1.5, "two": 1.2, "three": 1} {
		if _, factor := assemble(key, ""); math.Abs(factor-want) > .01 {
			t.Errorf("key %s after a restart: factor %g, want %g", key, factor, want)
		}
	}
	for _, impossible := range []string{`{"model":"m","tokens":-5,"input":9}`, `{"model":"m","tokens":4000,"input":4000000}`, `{"tokens":0}`} {
		if _, factor := assemble("three", `,"reported":`+impossible); factor != 1 {
			t.Errorf("%s: factor %g", impossible, factor)
		}
	}
}
