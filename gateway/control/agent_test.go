package control_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// agent is a client that reads files, in one of the dialects.
type agent struct {
	p        *place
	dialect  string
	headers  []string
	messages []string
	n        int
	id       string
}

func quote(s string) string { b, _ := json.Marshal(s); return string(b) }

func (p *place) agent(dialect, task string, headers ...string) *agent {
	return &agent{p: p, dialect: dialect, headers: headers, messages: []string{`{"role":"user","content":` + quote(task) + `}`}}
}

func lines(n, file int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of file %d: the value of setting_%d is %d\n", i, file, i*file, i*i+file)
	}
	return b.String()
}

// reads adds calls with results of so many lines.
func (a *agent) reads(calls, length int) {
	for range calls {
		a.n++
		path, text := fmt.Sprintf("f%02d.txt", a.n), quote(lines(length, a.n))
		if a.dialect == "chat" {
			a.messages = append(a.messages,
				fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"t%d","type":"function","function":{"name":"read","arguments":%s}}]}`, a.n, quote(`{"path":"`+path+`"}`)),
				fmt.Sprintf(`{"role":"tool","tool_call_id":"t%d","content":%s}`, a.n, text))
			continue
		}
		a.messages = append(a.messages,
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"read","input":{"path":%q}}]}`, a.n, path),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%s}]}`, a.n, text))
	}
}

// ask sends the request and returns what was forwarded.
func (a *agent) ask() string {
	a.p.t.Helper()
	path, form := "/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":500,"system":"You read files.","messages":[%s],"tools":[{"name":"read","input_schema":{"type":"object"}}]}`
	if a.dialect == "chat" {
		path, form = "/v1/chat/completions", `{"model":"m","max_tokens":500,"messages":[{"role":"system","content":"You read files."},%s],"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]}`
	}
	req, _ := http.NewRequestWithContext(a.p.t.Context(), "POST", a.p.base+path, strings.NewReader(fmt.Sprintf(form, strings.Join(a.messages, ","))))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i+1 < len(a.headers); i += 2 {
		req.Header.Set(a.headers[i], a.headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		a.p.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusOK {
		a.p.t.Fatalf("%d %s %v", res.StatusCode, raw, a.p.up.Problems())
	}
	a.id = res.Header.Get("X-Precis-Conversation")
	sent := a.p.up.Requests()
	return string(sent[len(sent)-1].Body)
}
