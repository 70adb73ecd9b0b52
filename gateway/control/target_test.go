package control_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/policy"
)

// doubtful are targets that no face takes: each could mean something else, or nothing.
var doubtful = []string{`20`, `20.0`, `1`, `1.0`, `999`, `-20`, `-0.2`, `1e30`, `true`, `[20]`, `{}`, `"20"`, `" 20 "`, `"1.0"`, `"-20%"`, `"120%"`, `"0%"`, `"NaN"`, `"20 tokens"`, `"twenty"`}

// A target that could mean two things is refused wherever one is taken, with both of its
// readings, and nothing is changed.
func TestDoubtfulTargetsAreRefused(t *testing.T) {
	stages(t, "anthropic", 5, func(t *testing.T, p *place, a *agent) {
		one := "/conversations/" + a.id
		var before, after conversation.DialectView
		p.want(http.StatusOK, "GET", one+"/view/anthropic", "", &before)
		list := `"messages":[{"role":"user","content":"Never write. Go on."}]`
		for _, target := range doubtful {
			for _, path := range []string{one + "/preview", one + "/condense", one + "/draft", "/assemble"} {
				body := `{"target_tokens":` + target + `}`
				if path == "/assemble" {
					body = `{"now":true,"target":` + target + `,` + list + `}`
				}
				status, text := answerOf(p.send("POST", path, body))
				if status != http.StatusBadRequest || !strings.Contains(text, `"invalid"`) || !strings.Contains(text, "target") {
					t.Errorf("%s %s: %d %s", path, body, status, text)
				}
				if n := strings.Trim(target, `" `); n == "20" && (!strings.Contains(text, "20%") || !strings.Contains(text, "20 tokens") || !strings.Contains(text, "20k")) {
					t.Errorf("%s %s: not both readings: %s", path, body, text)
				}
			}
		}
		p.want(http.StatusOK, "GET", one+"/view/anthropic", "", &after)
		if string(before.Messages) != string(after.Messages) {
			t.Error("the view is another one")
		}
		for _, target := range []string{`0.5`, `"50%"`, `10000`, `"10k"`, `1e4`, `0`, `null`, `""`} {
			var pre conversation.Condensed
			p.post(one+"/preview", `{"target_tokens":`+target+`}`, &pre)
			want := pre.Report.Decision.Window.Tokens / 2
			if n := strings.Trim(target, `"`); n == "0" || n == "" || n == "null" {
				continue
			} else if strings.HasPrefix(n, "1") {
				want = 10_000
			}
			if got := pre.Report.Decision.Target; got != min(want, int(pre.Report.Decision.Allowed)) {
				t.Errorf("%s comes down to %d of %d", target, got, pre.Report.Decision.Window.Tokens)
			}
		}
	})
}

// What would be lost altogether is refused with the list of it, in every state of the
// conversation, and done with force.
func TestWhatWouldBeLostWantsForce(t *testing.T) {
	stages(t, "anthropic", 5, func(t *testing.T, p *place, a *agent) {
		one := "/conversations/" + a.id
		refused := func(path, body string) {
			t.Helper()
			status, text := answerOf(p.send("POST", path, body))
			var f struct {
				Error struct {
					Code  string       `json:"code"`
					Hint  string       `json:"hint"`
					Loses *policy.Loss `json:"would_lose"`
				} `json:"error"`
			}
			if err := json.Unmarshal([]byte(text), &f); err != nil || status != http.StatusConflict || f.Error.Code != "would_lose" || f.Error.Loses == nil || len(f.Error.Loses.Rules) == 0 || !strings.Contains(f.Error.Hint, "force") {
				t.Fatalf("%s: %d %s", path, status, text)
			}
		}
		var before, after conversation.DialectView
		p.want(http.StatusOK, "GET", one+"/view/anthropic", "", &before)
		const tiny = `"target_tokens":"0.1%"`
		var pre conversation.Condensed
		if p.post(one+"/preview", `{`+tiny+`}`, &pre); pre.Loses == nil {
			t.Errorf("the preview does not say it: %s", pre.Report.Outcome)
		}
		refused(one+"/condense", `{`+tiny+`}`)
		var d conversation.Draft
		p.post(one+"/draft", `{`+tiny+`}`, &d)
		refused(one+"/apply", `{"draft":"`+d.ID+`"}`)
		p.want(http.StatusOK, "GET", one+"/view/anthropic", "", &after)
		if string(before.Messages) != string(after.Messages) {
			t.Error("it is refused, and the view is another one")
		}
		var done conversation.Condensed
		if p.post(one+"/condense", `{"force":true,`+tiny+`}`, &done); !done.Changed || done.Report.Loss == nil {
			t.Errorf("with force: %s", done.Report.Outcome)
		}
	})
}

// A program that asks for its view by a target of its own is refused alike.
func TestAssembledViewsWantForce(t *testing.T) {
	p := start(t, openStore(t))
	c := &caller{agent: p.agent("chat", "Read. Never write to the disk."), name: "x"}
	for range 5 {
		c.turn(120)
	}
	for _, more := range []string{`,"now":true,"target":"0.1%"`, `,"now":true,"target":"0.02k"`} {
		status, text := answerOf(p.send("POST", "/assemble", c.body(more)))
		if status != http.StatusConflict || !strings.Contains(text, "would_lose") {
			t.Errorf("%s: %d %.300s", more, status, text)
		}
		if v := c.assemble(""); v.Changed {
			t.Errorf("%s: it is refused, and the view is another one", more)
		}
	}
	if v := c.assemble(`,"now":true,"target":"30%"`); !v.Changed {
		t.Error("an ordinary target is not taken")
	}
	if v := c.assemble(`,"now":true,"target":"0.1%","force":true`); !v.Changed {
		t.Error("force does not help")
	}
}

func answerOf(res *http.Response, body []byte) (int, string) { return res.StatusCode, string(body) }
