package control_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/control"
	"github.com/precis-dev/precis/preset"
)

// FuzzEngine: whatever is sent, it is refused or answered with JSON, and a list that
// is not changed comes back byte for byte.
func FuzzEngine(f *testing.F) {
	for _, body := range []string{
		`{"messages":[{"role":"user","content":"hi"}]}`, `{"input":[{"role":"user","content":"hi"}],"conversation":"x"}`, `{"input":"hi"}`,
		`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"x"}]}]}],"window":100,"now":true}`,
		`{"edits":[{"id":"a","kind":"condensation","replace":[{"from":0,"to":9}]}],"messages":[{"role":"user","content":"hi"}]}`,
		`{"edits":[{"id":"a","kind":"undo","undoes":["a"]}],"dialect":"anthropic","messages":[{"role":"assistant","content":null}]}`,
		`{"summary":"s","handle":"m0","messages":[{"role":"user","content":"` + "\xff" + `\ud800"}]}`, `{"tools":3,"system":[[]],"messages":[{"role":"user","content":""}]}`,
	} {
		f.Add(uint8(0), body)
		f.Add(uint8(len(body)), body)
	}
	settings, err := preset.Settings(preset.Frugal)
	if err != nil {
		f.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: settings})
	if err != nil {
		f.Fatal(err)
	}
	g, err := gateway.New(gateway.Options{Local: true, Manager: m, Window: func(context.Context, string) precis.Window {
		return precis.Window{Tokens: 2000, Source: precis.SourceConfigured}
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = g.Close(context.Background()) })
	api := control.New(control.Options{Gateway: g})
	verbs := []string{"assemble", "compact", "gate", "digest", "expand"}
	f.Fuzz(func(t *testing.T, verb uint8, body string) {
		r := httptest.NewRequest(http.MethodPost, "http://localhost"+control.Prefix+"/"+verbs[int(verb)%len(verbs)], strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if utf8.ValidString(body) && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%d %s is no JSON", w.Code, w.Body)
		}
		var v struct {
			Changed  bool
			List     string
			Messages json.RawMessage
		}
		if verb%5 == 0 && w.Code == 200 && json.Unmarshal(w.Body.Bytes(), &v) == nil && !v.Changed && !strings.Contains(body, string(v.Messages)) {
			t.Fatalf("the bytes of %s are others", v.Messages)
		}
	})
}
