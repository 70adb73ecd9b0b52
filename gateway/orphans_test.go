package gateway_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// What a client lost of a call and its result is sent as it came. When the upstream refuses
// it, it is made valid however short the conversation is, and at once from then on; all else
// has the client's bytes.
func TestOrphansAreMendedBelowTheThreshold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		dialect wire.Dialect
		body    string
		keeps   []string // items that are sent as they came
		tells   string   // what the orphan said is still said
	}{
		{anthropic.Dialect{}, `{"model":"m","max_tokens":9,"tools":[],"messages":[` +
			`{"role":"user","content":"Go on."},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"lost","content":"said by a tool"}]},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{"x" : 1}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"found","cache_control":{"type":"ephemeral"}}]}]}`,
			[]string{`{"role":"user","content":"Go on."}`, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{"x" : 1}}]}`,
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"found","cache_control":{"type":"ephemeral"}}]}`}, "said by a tool"},
		{chat.Dialect{}, `{"model":"m","tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}],"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Go on."},` +
			`{"role":"tool","tool_call_id":"lost","content":"said by a tool"},` +
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"x\" : 1}"}}]},{"role":"tool","tool_call_id":"a","content":"found"}]}`,
			[]string{`{"role":"system","content":"Be brief."}`, `{"role":"user","content":"Go on."}`, `{"role":"tool","tool_call_id":"a","content":"found"}`}, "said by a tool"},
		{responses.Dialect{}, `{"model":"m","tools":[],"input":[{"role":"user","content":"Go on."},` +
			`{"type":"function_call_output","call_id":"lost","output":"said by a tool"},` +
			`{"type":"function_call","call_id":"a","name":"read","arguments":"{\"x\" : 1}"},{"type":"function_call_output","call_id":"a","output":"found"}]}`,
			[]string{`{"role":"user","content":"Go on."}`, `{"type":"function_call","call_id":"a","name":"read","arguments":"{\"x\" : 1}"}`, `{"type":"function_call_output","call_id":"a","output":"found"}`}, "said by a tool"},
	} {
		t.Run(tt.dialect.Name(), func(t *testing.T) {
			s := providertest.New(t, providertest.Options{})
			base, _ := start(t, s.URL, nil)
			a := &agent{dialect: tt.dialect.Name()}
			for range 2 { // and again, when the conversation is known
				res, body := post(t, base+a.path(), tt.body)
				if res.StatusCode != 200 {
					t.Fatalf("%d %s", res.StatusCode, body)
				}
			}
			requests := s.Requests()
			if len(requests) != 3 || string(requests[0].Body) != tt.body {
				t.Fatalf("%d requests, the first %s", len(requests), requests[0].Body)
			}
			for _, r := range requests[1:] {
				var view []precis.Message
				for item := range jsonspan.Array(jsonspan.Field(r.Body, tt.dialect.List())) {
					m, err := tt.dialect.Decode(item.Raw)
					if err != nil {
						t.Fatal(err)
					}
					if m.Role != precis.RoleSystem {
						view = append(view, m)
					}
				}
				if problems := tt.dialect.Check(view); len(problems) > 0 {
					t.Errorf("%v in %s", problems, r.Body)
				}
				for _, want := range tt.keeps {
					if !bytes.Contains(r.Body, []byte(want)) {
						t.Errorf("%s is not in %s", want, r.Body)
					}
				}
				if !strings.Contains(string(r.Body), tt.tells) {
					t.Errorf("what the orphan said is lost: %s", r.Body)
				}
			}
		})
	}
}
