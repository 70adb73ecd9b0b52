package control_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/registry"
	"github.com/precis-dev/precis/store/sqlite"
)

// length is how many lines a file has.
const length = 120

// whole reports whether a request holds a file whole.
func whole(sent string, file int) bool {
	text := quote(lines(length, file))
	return strings.Contains(sent, text[1:len(text)-1])
}

// stages runs a test on a conversation in memory and on one that only the store
// knows: the gateway was started again meanwhile.
func stages(t *testing.T, dialect string, calls int, f func(t *testing.T, p *place, a *agent)) {
	for _, stage := range []string{"memory", "store"} {
		t.Run(stage, func(t *testing.T) {
			st := openStore(t)
			p := start(t, st)
			a := p.agent(dialect, "Read the files one by one. Never write to the disk.")
			for range calls {
				a.reads(1, length)
				a.ask()
			}
			p.settled()
			if stage == "store" {
				a.p = p.again(t, st)
			}
			f(t, a.p, a)
			if problems := a.p.up.Problems(); len(problems) > 0 {
				t.Error(problems)
			}
		})
	}
}

// settled waits until everything that was said and done is stored.
func (p *place) settled() {
	p.t.Helper()
	var s struct {
		Store struct{ Waiting registry.StoreWaiting }
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if p.get("/status", &s); s.Store.Waiting == (registry.StoreWaiting{}) {
			return
		}
	}
	p.t.Fatalf("what waits is not stored: %+v", s.Store.Waiting)
}

// again starts another gateway on the same store.
func (p *place) again(t *testing.T, st *sqlite.Store) *place {
	p.stop()
	return start(t, st)
}

func TestLookingAtAConversation(t *testing.T) {
	for _, dialect := range []string{"anthropic", "chat"} {
		stages(t, dialect, 12, func(t *testing.T, p *place, a *agent) {
			var list conversation.Page[conversation.ListItem]
			p.get("/conversations?text=read+the", &list)
			if len(list.Items) != 1 || list.Items[0].ID != a.id || list.Items[0].Requests != 12 || list.Items[0].Title != "Read the files one by one. Never write to the disk." {
				t.Fatalf("list %+v, want %s", list, a.id)
			}
			one := "/conversations/" + a.id
			var d conversation.Details
			p.get(one, &d)
			if d.Status.Messages != 25 || d.Window.Tokens != 20_000 || d.Status.Window != 20_000 || d.Edits.InForce == 0 || d.Edits.Saved == 0 {
				t.Errorf("details %+v", d)
			}
			if d.InMemory != (d.Last != nil) || d.InMemory == (len(d.Notes) > 0) {
				t.Errorf("in memory %v: last report %v, notes %v", d.InMemory, d.Last, d.Notes)
			}
			looksAtMessages(t, p, one)
			looksAtViews(t, p, one, dialect)
			looksAtEdits(t, p, one)
			var work conversation.WorkState
			p.get(one+"/state", &work)
			if r := work.State.Requests; len(r) == 0 || r[0].Handle.From != 0 || !r[len(r)-1].Current || len(work.State.Files) == 0 {
				t.Errorf("state %+v", work)
			}
			var loss conversation.LossReport
			p.get(one+"/loss", &loss)
			if loss.Messages != 25 || loss.Hidden+loss.Shortened == 0 || loss.Retention.Rules != 1 || len(loss.Retention.RulesLost) != 0 {
				t.Errorf("loss %+v", loss)
			}
			looksAtWhatIsLacking(t, p, one)
			looksAround(t, p, a.id)
		})
	}
}

// What a summary and the view lack is said with the figures of the verb.
func looksAtWhatIsLacking(t *testing.T, p *place, one string) {
	var v, now conversation.Verified
	p.post(one+"/verify", `{"summary":"The agent read the files one by one. It stops with ERR_NO_DATABASE in production."}`, &v)
	if holds, of := v.WordsHeld(); holds == of || len(v.Lacks) == 0 || v.Lacks[0].Kind != "words" || v.Lacks[0].Handle.String() != "m0" || len(v.Invents) != 1 || !strings.HasSuffix(one, "/"+v.Conversation) || v.Messages != 25 || v.Of != "" {
		t.Errorf("verified %+v", v)
	}
	p.get(one+"/verify?view=now", &now)
	if holds, of := now.WordsHeld(); holds != of || of == 0 || len(now.Lacks)+len(now.Contradicts)+len(now.Invents) > 0 || now.Lacks == nil {
		t.Errorf("the view now: %+v", now)
	}
}

func looksAtMessages(t *testing.T, p *place, one string) {
	var all []conversation.MessageInfo
	for cursor := ""; ; {
		var m conversation.MessageList
		p.get(one+"/messages?limit=10&cursor="+cursor, &m)
		all = append(all, m.Items...)
		if m.Total != 25 {
			t.Errorf("%d messages in all", m.Total)
		}
		if cursor = m.Next; cursor == "" {
			break
		}
	}
	if len(all) != 25 || all[0].State != conversation.Shown || !all[0].UserTurn || all[24].State != conversation.Shown || all[2].Bytes < 1000 {
		t.Fatalf("%d messages, the first %+v, the last %+v", len(all), all[0], all[len(all)-1])
	}
	var hidden, last conversation.MessageList
	p.get(one+"/messages?state=hidden", &hidden)
	p.get(one+"/messages?state=shortened", &last)
	if n := len(hidden.Items) + len(last.Items); n == 0 {
		t.Error("no message is hidden or shortened")
	}
	for _, m := range hidden.Items {
		var e conversation.EditInfo
		p.get(one+"/edits/"+m.Edit, &e)
		if e.Kind != m.Kind || !e.InForce {
			t.Errorf("%s is hidden by %+v", m.Handle, e)
		}
	}
	p.get(one+"/messages?from=-1", &last)
	if len(last.Items) != 1 || last.Items[0].Handle.String() != "m24" {
		t.Errorf("the last message is %+v", last.Items)
	}
}

func looksAtViews(t *testing.T, p *place, one, dialect string) {
	var shown conversation.Originals
	p.get(one+"/messages/m2", &shown)
	if text := shown.Messages[0].Blocks[0].Content[0].Text; text != lines(length, 1) {
		t.Errorf("m2 is %.80q…", text)
	}
	p.get(one+"/messages/m0-m4", &shown)
	if len(shown.Messages) != 5 || !strings.Contains(string(shown.Messages[2].Original), "line 119 of file 1:") {
		t.Errorf("m0-m4 is %+v", shown)
	}
	p.get(one+"/messages/m1.b0", &shown)
	if b := shown.Messages[0].Blocks; len(b) != 1 || b[0].Name != "read" || string(b[0].Input) != `{"path":"f01.txt"}` || b[0].Handle != "m1.b0" {
		t.Errorf("m1.b0 is %+v", b)
	}
	var v conversation.ViewInfo
	p.get(one+"/view", &v)
	next := 0
	for _, u := range v.Units {
		if u.Handle.From != next {
			t.Errorf("after message %d comes %s", next, u.Handle)
		}
		next = u.Handle.To
	}
	if next != 25 || v.Status.Messages != 25 {
		t.Errorf("the view covers %d messages", next)
	}
	for _, as := range []string{"own", "anthropic", "chat", "responses"} {
		var d conversation.DialectView
		p.get(one+"/view/"+as, &d)
		var messages []map[string]any
		if err := json.Unmarshal(d.Messages, &messages); err != nil || len(messages) == 0 || as == "own" && d.Dialect != dialect || as != "own" && d.Dialect != as {
			t.Errorf("view as %s: %v, %d messages in %s", as, err, len(messages), d.Dialect)
		}
	}
}

func looksAtEdits(t *testing.T, p *place, one string) {
	var list conversation.EditList
	p.get(one+"/edits", &list)
	if len(list.Items) == 0 {
		t.Fatal("there are no edits")
	}
	for _, e := range list.Items {
		var same conversation.EditInfo
		p.get(one+"/edits/"+e.ID, &same)
		if same.ID != e.ID || len(same.Changes) != e.Spans+e.Blocks || e.Report.Trigger != "automatic" || len(same.Report.Steps) == 0 {
			t.Errorf("edit %+v has %d changes", e, len(same.Changes))
		}
	}
}

func looksAround(t *testing.T, p *place, id string) {
	var found conversation.SearchResults
	p.get("/search?q=line+39+%22file+3:%22", &found)
	p.get("/search?limit=3&conversation="+id+"&q=setting_78", &found)
	if len(found.Items) == 0 || found.Items[0].Conversation != id || found.Items[0].Title == "" || found.Index != "store" {
		t.Errorf("found %+v", found)
	}
	p.get("/search?limit=1&q=options", &found) // a setting is one
	if len(found.Items) != 1 || found.Items[0].Related.String() != "setting ~ options" {
		t.Errorf("found by related words: %+v", found)
	}
	if p.get("/search?exact=true&q=options", &found); len(found.Items) != 0 {
		t.Errorf("found by related words, which was turned off: %+v", found)
	}
	var sums ledger.Summary
	p.get("/ledger?since=2020-01-01T00:00:00Z&conversation="+id, &sums)
	if !sums.Booked || sums.Total.Requests != 12 || sums.Total.Edits == 0 || sums.Total.Saved == 0 || sums.Total.CostUSD == 0 || sums.Total.SavedUSD == 0 || sums.Total.SavedUSD > 1.001e-6*float64(sums.Total.Saved) || len(sums.Days) != 1 || len(sums.Conversations) != 1 {
		t.Errorf("ledger %+v", sums)
	}
	var status gateway.Status
	p.get("/status", &status)
	if status.Store.Kind != "sqlite" || len(status.Store.Can) != 6 || status.Replica != "r1" {
		t.Errorf("status %+v", status)
	}
}
