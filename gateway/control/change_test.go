package control_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/store"
)

// TestChanges walks through every change, each seen in the client's next request.
func TestChanges(t *testing.T) {
	stages(t, "anthropic", 5, func(t *testing.T, p *place, a *agent) {
		one := "/conversations/" + a.id
		next := func() string { // the same messages, and one call more
			a.reads(1, 1)
			return a.ask()
		}
		var pre, done conversation.Condensed
		p.post(one+"/preview", `{"target_tokens":2500}`, &pre)
		if !pre.Changed || len(pre.Diff) == 0 || pre.Report.After.Tokens >= pre.Report.Before.Tokens {
			t.Fatalf("preview %+v", pre)
		}
		p.post(one+"/condense", `{"target_tokens":2500,"focus":"settings","summarizer":"digest"}`, &done)
		if !done.Changed || done.Report.After.Tokens != pre.Report.After.Tokens || len(done.Report.Edits) != len(pre.Report.Edits) {
			t.Fatalf("condensed %+v\npreviewed %+v", done.Report, pre.Report)
		}
		if sent := next(); whole(sent, 1) || !strings.Contains(sent, "Never write to the disk") {
			t.Error("the next request is not condensed")
		}
		var c conversation.Change
		p.post(one+"/undo", "", &c)
		if c.Edit.Kind != precis.KindUndo || len(c.Edit.Undoes) != len(done.Report.Edits) || c.Status.Condensations+c.Status.Truncations+c.Status.Other != 0 {
			t.Errorf("undone %+v", c)
		}
		if sent := next(); !whole(sent, 1) {
			t.Error("the next request is still condensed")
		}
		p.post(one+"/undo", `{"edits":["`+c.Edit.ID+`"]}`, &c) // condensed again
		if c.Status.Tokens > done.Status.Tokens+500 {
			t.Errorf("undoing the undo leads to %+v", c.Status)
		}
		p.post(one+"/restore", `{"handle":"m2"}`, &c)
		if sent := next(); !whole(sent, 1) || whole(sent, 2) {
			t.Error("not exactly what was restored is shown")
		}
		p.post(one+"/exclude", `{"handle":"m2"}`, &c)
		if sent := next(); whole(sent, 1) || c.Edit.Kind != precis.KindExclude {
			t.Error("what is excluded is sent")
		}
		p.post(one+"/undo", `{"edits":["`+c.Edit.ID+`"]}`, &c)
		p.post(one+"/pin", `{"handles":["m2","m0.b0"]}`, &c)
		if len(c.Edit.Pins) != 2 {
			t.Errorf("pinned %+v", c)
		}
		p.post(one+"/condense", p.share(one, 95), &done)
		if sent := next(); !whole(sent, 1) {
			t.Error("what is pinned was condensed")
		}
		p.post(one+"/rewind", `{"messages":5}`, &c)
		if sent := next(); strings.Contains(sent, "f04.txt") || !whole(sent, 2) {
			t.Error("the next request is not rewound")
		}
		p.post(one+"/undo", `{"edits":["`+c.Edit.ID+`"]}`, &c)
		if sent := next(); !strings.Contains(sent, "f04.txt") {
			t.Error("the rewinding is not undone")
		}
	})
}

// TestADraftIsEditedBeforeItIsApplied checks that nothing of a draft reaches the model
// before it is applied, and that the edited text then does, once.
func TestADraftIsEditedBeforeItIsApplied(t *testing.T) {
	p := start(t, nil)
	a := p.agent("anthropic", "Never write to the disk. Read the files one by one.")
	a.reads(25, 12)
	a.ask()
	one := "/conversations/" + a.id
	var d conversation.Draft
	p.post(one+"/draft", `{"target_tokens":2000,"summarizer":"digest"}`, &d)
	if !d.Changed || len(d.Texts) == 0 || d.ID == "" {
		t.Fatalf("draft %+v", d)
	}
	a.reads(1, 1)
	if sent := a.ask(); strings.Contains(sent, "Digest of messages") {
		t.Error("a draft is in force")
	}
	body, err := json.Marshal(map[string]any{"draft": d.ID, "texts": map[string]string{d.Texts[0].Edit: "Two files were read by hand."}})
	if err != nil {
		t.Fatal(err)
	}
	var done conversation.Condensed
	p.post(one+"/apply", string(body), &done)
	if !done.Changed || len(done.Report.Edits) != len(d.Report.Edits) {
		t.Errorf("applied %+v", done.Report)
	}
	a.reads(1, 1)
	if sent := a.ask(); strings.Contains(sent, "Digest of messages") || !strings.Contains(sent, "Two files were read by hand.") || !strings.Contains(sent, "Never write to the disk") {
		t.Errorf("the next request has not the edited text, or lacks what the gate adds: %.400s", sent)
	}
	if code, _ := p.problem(404, "POST", one+"/apply", string(body)); code != "not_found" {
		t.Error("a draft is applied twice")
	}
	var c conversation.Change
	p.post(one+"/undo", "", &c)
	if c.Status.Condensations+c.Status.Truncations+c.Status.Other != 0 {
		t.Errorf("one undo leaves %+v", c.Status)
	}
}

// share asks to come down to so many percent of what the view has.
func (p *place) share(one string, percent int) string {
	var d conversation.Details
	p.get(one, &d)
	return fmt.Sprintf(`{"target_tokens":%d}`, d.Status.Tokens*percent/100)
}

// TestChangesOfWhatOnlyTheStoreKnows makes all changes before a client comes back.
func TestChangesOfWhatOnlyTheStoreKnows(t *testing.T) {
	stages(t, "anthropic", 5, func(t *testing.T, p *place, a *agent) {
		one := "/conversations/" + a.id
		var c conversation.Change
		p.post(one+"/pin", `{"handles":["m4"]}`, nil)
		p.post(one+"/condense", p.share(one, 60), nil)
		p.post(one+"/restore", `{"handle":"m1-m2"}`, nil)
		p.post(one+"/rewind", `{"messages":7}`, &c)
		p.post(one+"/undo", `{"edits":["`+c.Edit.ID+`"]}`, nil)
		var before, after conversation.EditList
		p.get(one+"/edits", &before)
		a.reads(1, 1)
		sent := a.ask()
		p.get(one+"/edits", &after)
		if len(after.Items) != len(before.Items) || len(before.Items) < 5 {
			t.Errorf("%d edits, then %d", len(before.Items), len(after.Items))
		}
		if !whole(sent, 1) || !whole(sent, 2) || whole(sent, 3) {
			t.Error("the next request does not have the edits")
		}
		var list conversation.Page[conversation.ListItem]
		p.get("/conversations", &list)
		if len(list.Items) != 1 {
			t.Errorf("the client's return made another conversation: %+v", list)
		}
	})
}

func TestBranching(t *testing.T) {
	stages(t, "anthropic", 5, func(t *testing.T, p *place, a *agent) {
		var rec store.Record
		res, raw := p.send("POST", "/conversations/"+a.id+"/branch", `{"messages":5}`)
		if err := json.Unmarshal(raw, &rec); err != nil || res.StatusCode != http.StatusCreated || !strings.HasSuffix(res.Header.Get("Location"), "/conversations/"+rec.ID) {
			t.Fatalf("%d %s", res.StatusCode, raw)
		}
		if rec.Branched != a.id || rec.Client != "" || rec.Messages != 5 || rec.ID == a.id {
			t.Errorf("branch %+v", rec)
		}
		var m conversation.MessageList
		p.get("/conversations/"+rec.ID+"/messages", &m)
		var pre conversation.Condensed
		p.post("/conversations/"+rec.ID+"/preview", `{"target_tokens":1500}`, &pre)
		if m.Total != 5 || !pre.Changed {
			t.Errorf("the branch has %d messages; condensing it: %+v", m.Total, pre.Report.Outcome)
		}
		if code, message := p.problem(http.StatusConflict, "POST", "/conversations/"+rec.ID+"/condense", "{}"); code != "conflict" || !strings.Contains(message, a.id) {
			t.Errorf("%s %s", code, message)
		}
	})
}

func TestForgetting(t *testing.T) {
	stages(t, "anthropic", 3, func(t *testing.T, p *place, a *agent) {
		kept := p.agent("chat", "Keep this one, please.")
		kept.reads(2, 20)
		kept.ask()
		var r store.PurgeResult
		p.post("/purge", fmt.Sprintf(`{"ids":[%q,"nothing"]}`, a.id), &r)
		if r.Conversations != 1 {
			t.Errorf("purged %+v", r)
		}
		p.problem(http.StatusNotFound, "GET", "/conversations/"+a.id, "")
		var found conversation.SearchResults
		p.get("/search?q=disk", &found)
		if len(found.Items) != 0 {
			t.Errorf("found %+v", found)
		}
		a.reads(1, 1)
		a.ask() // begins anew
		var list conversation.Page[conversation.ListItem]
		p.get("/conversations", &list)
		if len(list.Items) != 2 {
			t.Errorf("list %+v", list)
		}
		p.post("/purge", `{"before":"`+time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)+`"}`, &r)
		if r.Conversations != 0 {
			t.Errorf("purged %+v", r)
		}
		p.post("/purge", `{"all":true}`, &r)
		p.get("/conversations", &list)
		if r.Conversations != 2 || len(list.Items) != 0 {
			t.Errorf("purged %+v, left %+v", r, list)
		}
	})
}
