package control_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/accounts"
	"github.com/precis-dev/precis/gateway/control"
	"github.com/precis-dev/precis/store"
)

func TestErrors(t *testing.T) {
	p := start(t, openStore(t))
	a := p.agent("anthropic", "Read.")
	a.reads(3, 20)
	a.ask()
	one := "/conversations/" + a.id
	for _, c := range []struct {
		method, path, body string
		status             int
		code, message      string
	}{
		{"GET", "/nothing", "", 404, "not_found", "no such path"},
		{"DELETE", "/status", "", 405, "method_not_allowed", "GET"},
		{"POST", "/settings", "{}", 405, "method_not_allowed", "GET or PATCH"},
		{"GET", "/conversations/c0", "", 404, "not_found", `"c0"`},
		{"GET", "/conversations?limit=0", "", 400, "invalid", "limit"},
		{"GET", "/conversations?limit=501", "", 400, "invalid", "501"},
		{"GET", "/conversations?limit=x", "", 400, "invalid", "whole number"},
		{"GET", "/conversations?since=yesterday", "", 400, "invalid", "since"},
		{"GET", "/conversations?cursor=x", "", 400, "invalid", "cursor"},
		{"GET", "/conversations?name=x", "", 400, "invalid", "name"},
		{"GET", "/conversations?text=a&text=b", "", 400, "invalid", "twice"},
		{"GET", "/conversations?text=%zz", "", 400, "invalid", "escape"},
		{"GET", one + "/messages?state=gone", "", 400, "invalid", "state"},
		{"GET", one + "/messages?cursor=-1", "", 400, "invalid", "cursor"},
		{"GET", one + "/messages/7", "", 400, "invalid", "handle"},
		{"GET", one + "/messages/m99", "", 404, "not_found", "7 messages"},
		{"GET", one + "/messages/m1.b9", "", 404, "not_found", "1 blocks"},
		{"GET", one + "/view/cobol", "", 400, "invalid", "cobol"},
		{"GET", one + "/edits/e1", "", 404, "not_found", "e1"},
		{"GET", "/settings?profile=x", "", 404, "not_found", "profile"},
		{"GET", "/search?q=+", "", 400, "invalid", "nothing to look for"},
		{"GET", "/search?q=x&exact=1", "", 400, "invalid", "neither true nor false"},
		{"GET", "/search?q=x&conversation=c0", "", 404, "not_found", "c0"},
		{"GET", one + "/verify", "", 404, "not_found", "holds no compaction"},
		{"GET", one + "/verify?view=then", "", 400, "invalid", "then"},
		{"GET", "/conversations/c0/verify?view=now", "", 404, "not_found", `"c0"`},
		{"POST", "/conversations/c0/verify", `{"summary":"x"}`, 404, "not_found", `"c0"`},
		{"POST", one + "/verify", "", 400, "invalid", "/summary"},
		{"POST", one + "/verify", `{"summary":" \n"}`, 400, "invalid", "/summary"},
		{"POST", one + "/verify", `{"summary":["x"]}`, 400, "invalid", "/summary"},
		{"POST", one + "/verify", `{"summary":"x","min_score":1}`, 400, "invalid", "/min_score"},
		{"POST", one + "/verify", "{\"summary\":\"\xff\"}", 400, "invalid", "/summary"},
		{"POST", one + "/verify", `{"summary":"` + strings.Repeat("x", 2<<20) + `"}`, 413, "too_large", "1048576"},
		{"POST", one + "/condense", `{"targets":1}`, 400, "invalid", "/targets"},
		{"POST", one + "/condense", `{"focus":1}`, 400, "invalid", "/focus"},
		{"POST", one + "/condense", `{"target_tokens":-1}`, 400, "invalid", "target"},
		{"POST", one + "/condense", `{"from":3,"to":2}`, 400, "invalid", "no range"},
		{"POST", one + "/condense", `{"from":3}`, 400, "invalid", "no range"},
		{"POST", one + "/preview", `{"from":3,"to":8}`, 404, "not_found", "7"},
		{"POST", one + "/condense", `{"summarizer":"oracle"}`, 400, "invalid", "oracle"},
		{"POST", one + "/condense", `{"summarizer":"model"}`, 400, "invalid", "no model"},
		{"POST", one + "/condense", `{"profile":"x"}`, 404, "not_found", "profile"},
		{"POST", one + "/condense", `{`, 400, "invalid", "byte 1"},
		{"POST", one + "/condense", `{} {}`, 400, "invalid", "byte"},
		{"POST", one + "/condense", `[]`, 400, "invalid", "array"},
		{"POST", one + "/preview", `{"focus":"` + strings.Repeat("x", 3000) + `"}`, 400, "invalid", "3000"},
		{"POST", one + "/preview", `{"focus":"` + strings.Repeat("x", 2<<20) + `"}`, 413, "too_large", "1048576"},
		{"POST", one + "/undo", "", 404, "not_found", "no edit is in force"},
		{"POST", one + "/undo", `{"edits":["e1"]}`, 404, "not_found", "e1"},
		{"POST", one + "/pin", `{}`, 400, "invalid", "no handle"},
		{"POST", one + "/pin", `{"handles":["x"]}`, 400, "invalid", "/handles/0"},
		{"POST", one + "/pin", `{"handles":["m7"]}`, 404, "not_found", "m7"},
		{"POST", one + "/restore", `{}`, 400, "invalid", "/handle"},
		{"POST", one + "/exclude", `{}`, 400, "invalid", "/handle"},
		{"POST", one + "/reword", `{"text":"y"}`, 400, "invalid", "/edit"},
		{"POST", one + "/reword", `{"edit":"nowhere","text":"y"}`, 404, "not_found", "nowhere"},
		{"POST", one + "/hold", `{"seconds":601}`, 400, "invalid", "10m"},
		{"POST", one + "/hold", `{"seconds":-1}`, 400, "invalid", "10m"},
		{"POST", one + "/hold", `{"minutes":1}`, 400, "invalid", "/minutes"},
		{"POST", one + "/apply", `{}`, 400, "invalid", "/draft"},
		{"POST", one + "/apply", `{"draft":"x"}`, 404, "not_found", "no such draft"},
		{"POST", one + "/draft", `{"profile":"x"}`, 404, "not_found", "profile"},
		{"POST", one + "/exclude", `{"handle":"m0.b0"}`, 400, "invalid", "whole messages"},
		{"POST", one + "/restore", `{"handle":"m1"}`, 404, "not_found", "shown as it was said"},
		{"POST", one + "/rewind", `{}`, 400, "invalid", "/messages"},
		{"POST", one + "/rewind", `{"messages":8}`, 404, "not_found", "8"},
		{"POST", one + "/branch", `{"messages":0}`, 404, "not_found", "0"},
		{"POST", "/purge", `{}`, 400, "invalid", "one of the three"},
		{"POST", "/purge", `{"all":true,"ids":["a"]}`, 400, "invalid", "one of the three"},
	} {
		code, message := p.problem(c.status, c.method, c.path, c.body)
		if code != c.code || !strings.Contains(message, c.message) {
			t.Errorf("%s %s %.60s: %s %q, want %s %q", c.method, c.path, c.body, code, message, c.code, c.message)
		}
	}
}

func TestTheDocumentIsServed(t *testing.T) {
	p := start(t, nil)
	var doc map[string]any
	p.get("/openapi.json", &doc)
	if doc["openapi"] != "3.1.0" {
		t.Error("this is another document")
	}
}

func TestOverBudgetIsSaid(t *testing.T) {
	p := start(t, nil, func(o *gateway.Options, _ *control.Options) {
		o.Window = func(context.Context, string) precis.Window {
			return precis.Window{Tokens: 60, Source: precis.SourceConfigured}
		}
	})
	a := p.agent("chat", "Read.")
	a.reads(2, 20)
	a.ask()
	code, message := p.problem(400, "POST", "/conversations/"+a.id+"/condense", "")
	if code != "over_budget" || !strings.Contains(message, "60") {
		t.Errorf("%s %s", code, message)
	}
}

func TestPagesOfOtherHostsAreRefused(t *testing.T) {
	p := start(t, nil, func(_ *gateway.Options, o *control.Options) { o.Hosts = []string{"precis.example"} })
	for _, c := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"nobody says where it comes from", nil, 200},
		{"the gateway's own page", []string{"Origin", p.base}, 200},
		{"another host", []string{"Origin", "https://evil.example"}, 403},
		{"another port", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"a sandboxed page", []string{"Origin", "null"}, 403},
		{"an allowed host", []string{"Origin", "https://precis.example", "Host", "precis.example:443"}, 200},
		{"a rebound name", []string{"Host", "evil.example"}, 403},
		{"a rebound name that is its own origin", []string{"Host", "evil.example", "Origin", "http://evil.example"}, 403},
		{"localhost", []string{"Host", "localhost:4100"}, 200},
		{"another address", []string{"Host", "[::1]:4100"}, 200},
	} {
		for _, method := range []string{"GET", "PATCH"} {
			res, raw := p.send(method, "/settings", "", c.headers...)
			if res.StatusCode != c.status {
				t.Errorf("%s: %s: %d %s, want %d", c.name, method, res.StatusCode, raw, c.status)
			}
		}
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", ""} {
		if code, _ := p.problem(415, "PATCH", "/settings", "{}", "Content-Type", kind); code != "unsupported_media_type" {
			t.Errorf("%q: %s", kind, code)
		}
	}
}

func TestOwnersDoNotSeeEachOther(t *testing.T) {
	st := openStore(t)
	keys := func(o *gateway.Options, _ *control.Options) {
		o.Auth.Keys = map[string]string{accounts.HashKey("ka"): "anna", accounts.HashKey("kb"): "bert", accounts.HashKey("root"): "chief"}
		o.Auth.Admins = map[string]bool{"chief": true}
	}
	p := start(t, st, keys)
	for _, stage := range []string{"memory", "store"} {
		if stage == "store" {
			p.stop()
			p = start(t, st, keys)
		}
		ownersIn(t, p, stage == "memory")
	}
}

func ownersIn(t *testing.T, p *place, first bool) {
	anna, bert := []string{"X-Precis-Key", "ka"}, []string{"X-Precis-Key", "kb"}
	list := func(headers ...string) (page conversation.Page[conversation.ListItem]) {
		p.want(200, "GET", "/conversations", "", &page, headers...)
		return page
	}
	if first {
		for _, who := range [][]string{anna, bert} {
			a := p.agent("anthropic", "The same words of both.", who...)
			a.reads(3, 20)
			a.ask()
		}
	}
	a, b := list(anna...), list(bert...)
	all := list("X-Precis-Key", "root")
	if len(a.Items) != 1 || len(b.Items) != 1 || len(all.Items) != 2 || a.Items[0].ID == b.Items[0].ID || a.Items[0].Owner != "key-anna" {
		t.Fatalf("anna %+v\nbert %+v\nall %+v", a, b, all)
	}
	one := "/conversations/" + a.Items[0].ID
	for _, path := range []string{"", "/messages", "/messages/m0", "/view", "/view/own", "/edits", "/edits/x", "/loss", "/verify", "/verify?view=now"} {
		p.problem(404, "GET", one+path, "", bert...)
	}
	for path, body := range map[string]string{
		"/condense": "", "/preview": "", "/undo": "", "/pin": `{"handles":["m0"]}`, "/restore": `{"handle":"m0"}`, "/exclude": `{"handle":"m1"}`, "/reword": `{"edit":"x","text":"y"}`, "/rewind": `{"messages":1}`, "/branch": `{"messages":1}`,
		"/verify": `{"summary":"x"}`, "/draft": "", "/apply": `{"draft":"x"}`, "/hold": "", "/let-go": "",
	} {
		p.problem(404, "POST", one+path, body, bert...)
	}
	p.want(200, "GET", one, "", nil, anna...)
	p.want(200, "GET", one, "", nil, "X-Precis-Key", "root")
	p.want(200, "POST", one+"/pin", `{"handles":["m0"]}`, nil, "X-Precis-Key", "root")
	var r store.PurgeResult
	p.want(200, "POST", "/purge", `{"ids":["`+a.Items[0].ID+`"]}`, &r, bert...)
	var found conversation.SearchResults
	p.want(200, "GET", "/search?q=same+words", "", &found, bert...)
	if r.Conversations != 0 || len(found.Items) != 1 || found.Items[0].Conversation != b.Items[0].ID {
		t.Errorf("bert purged %+v and found %+v", r, found)
	}
	var sums ledger.Summary
	p.want(200, "GET", "/ledger", "", &sums, bert...)
	if len(sums.Conversations) != 1 {
		t.Errorf("bert's ledger is %+v", sums)
	}
	if code, _ := p.problem(403, "PATCH", "/settings", `{"percent":50}`, bert...); code != "forbidden" {
		t.Errorf("bert's patch: %s", code)
	}
	p.want(200, "PATCH", "/settings", `{"percent":75}`, nil, "X-Precis-Key", "root")
	if code, _ := p.problem(401, "GET", "/conversations", ""); code != "unauthorized" {
		t.Errorf("without a key: %s", code)
	}
}

func TestOwnerMayFail(t *testing.T) {
	p := start(t, nil)
	h := control.New(control.Options{Gateway: p.gateway, Owner: func(*http.Request) (string, bool, error) { return "", false, errors.New("who are you?") }})
	p.serve(h)
	if code, message := p.problem(401, "GET", "/status", ""); code != "unauthorized" || message != "who are you?" {
		t.Errorf("%s %s", code, message)
	}
	h = control.New(control.Options{Gateway: p.gateway, Owner: func(*http.Request) (string, bool, error) { return gateway.AllOwners, false, nil }})
	p.serve(h)
	if code, _ := p.problem(403, "PATCH", "/settings", "{}"); code != "forbidden" {
		t.Error("an owner by the name of all is all")
	}
}
