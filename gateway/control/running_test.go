package control_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/gateway/control"
	"github.com/precis-dev/precis/store"
)

// listen reads events until the stream ends.
func (p *place) listen(ctx context.Context, headers ...string) <-chan control.Event {
	p.t.Helper()
	req, _ := http.NewRequestWithContext(ctx, "GET", p.base+control.Prefix+"/events", nil)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		p.t.Fatalf("events: %v %v", err, res)
	}
	out := make(chan control.Event, 1000)
	lines := bufio.NewScanner(res.Body)
	lines.Scan() // the sign that it listens
	go func() {
		defer close(out)
		defer res.Body.Close()
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var e control.Event
			if ok && data != "{}" && json.Unmarshal([]byte(data), &e) == nil {
				out <- e
			}
		}
	}()
	return out
}

func TestEvents(t *testing.T) {
	p := start(t, openStore(t))
	ctx, leave := context.WithCancel(t.Context())
	gone := p.listen(ctx)
	leave()
	for range gone {
	}
	events := p.listen(t.Context())
	a := p.agent("anthropic", "Read.")
	for range 10 {
		a.reads(1, length)
		a.ask()
	}
	one := "/conversations/" + a.id
	p.post(one+"/pin", `{"handles":["m0"]}`, nil)
	p.want(200, "PATCH", "/settings", `{"percent":70}`, nil)
	p.post("/purge", `{"all":true}`, nil)
	again := p.listen(t.Context(), "Last-Event-ID", "1")
	p.events.Close()
	missed := 0
	for range again {
		missed++
	}
	count, total := map[string]int{}, 0
	var reduced, pinned bool
	for e := range events {
		count[e.Type]++
		total++
		switch e.Type {
		case control.EventTurn:
			if e.Conversation != a.id || e.Turn.Status != 200 || e.Turn.Sent == 0 || e.Turn.Window != 20_000 || e.Turn.CostUSD == 0 {
				t.Errorf("turn %+v", e.Turn)
			}
			reduced = reduced || e.Turn.Action == "reduced"
		case control.EventEdits:
			pinned = pinned || e.Edits[0].Kind == precis.KindPin && e.Conversation == a.id
		}
	}
	if count[control.EventTurn] != 10 || count[control.EventEdits] < 2 || count[control.EventPurge] != 1 || count[control.EventSettings] != 1 || !reduced || !pinned {
		t.Errorf("events %v, reduced %v, pinned %v", count, reduced, pinned)
	}
	if missed != total-1 {
		t.Errorf("%d events happened after the first, who comes back hears of %d", total-1, missed)
	}
	if code, _ := p.problem(http.StatusServiceUnavailable, "GET", "/events", ""); code != "busy" {
		t.Error("closed events are listened to")
	}
}

func TestPagesOfAList(t *testing.T) {
	st := openStore(t)
	p := start(t, st)
	const stored, fresh = 7, 4
	want := map[string]bool{}
	talk := func(from, n int) {
		for i := range n {
			a := p.agent("chat", fmt.Sprintf("Task %d.", from+i), "Authorization", fmt.Sprint("Bearer k", i%3))
			a.reads(2, 5)
			a.ask()
			want[a.id] = true
		}
	}
	talk(0, stored)
	p = p.again(t, st)
	talk(stored, fresh)
	var last conversation.ListItem
	seen := map[string]bool{}
	for cursor, pages := "", 0; ; pages++ {
		var page conversation.Page[conversation.ListItem]
		p.get("/conversations?limit=3&cursor="+cursor, &page)
		for _, l := range page.Items {
			if seen[l.ID] || !want[l.ID] || !last.Updated.IsZero() && l.Updated.After(last.Updated) {
				t.Errorf("%s comes after %s", l.ID, last.ID)
			}
			seen[l.ID], last = true, l
		}
		if cursor = page.Next; cursor == "" {
			break
		}
		if len(page.Items) != 3 || pages > 5 {
			t.Fatalf("page %d has %d", pages, len(page.Items))
		}
	}
	if len(seen) != stored+fresh {
		t.Errorf("%d of %d are listed", len(seen), stored+fresh)
	}
	var page conversation.Page[conversation.ListItem]
	p.get("/conversations?text=TASK+9", &page)
	if len(page.Items) != 1 || !page.Items[0].InMemory {
		t.Errorf("found %+v", page.Items)
	}
}

func TestWithoutAStore(t *testing.T) {
	p := start(t, nil)
	a := p.agent("anthropic", "Read the manual.")
	a.reads(4, length)
	a.ask()
	one := "/conversations/" + a.id
	var found conversation.SearchResults
	p.get("/search?q=SETTING_78+file", &found)
	if len(found.Items) == 0 || found.Index != "memory" || !strings.Contains(found.Items[0].Snippet, "setting_78") || len(found.Items[0].Snippet) > 300 {
		t.Errorf("found %+v", found)
	}
	p.get("/search?q=options", &found)
	if len(found.Items) == 0 || found.Items[0].Related.String() != "setting ~ options" {
		t.Errorf("found by related words: %+v", found)
	}
	if p.get("/search?exact=true&q=options", &found); len(found.Items) != 0 {
		t.Errorf("found by related words, which was turned off: %+v", found)
	}
	var done conversation.Condensed
	p.post(one+"/condense", p.share(one, 60), &done)
	var list conversation.Page[conversation.ListItem]
	p.get("/conversations", &list)
	if !done.Changed || len(list.Items) != 1 || list.Items[0].Tokens != done.Status.Tokens {
		t.Errorf("listed %+v after %+v", list.Items, done.Status)
	}
	a.reads(1, 1)
	if whole(a.ask(), 1) {
		t.Error("the next request is not condensed")
	}
	var sums ledger.Summary
	p.get("/ledger", &sums)
	if sums.Booked {
		t.Errorf("ledger %+v", sums)
	}
	if code, _ := p.problem(400, "POST", one+"/branch", `{"messages":3}`); code != "invalid" {
		t.Error(code)
	}
	var r store.PurgeResult
	p.post("/purge", `{"all":true}`, &r)
	p.problem(404, "GET", one, "")
	if r.Conversations != 1 {
		t.Errorf("purged %+v", r)
	}
}

// TestWhatAClientHasClearedIsShown clears an old result in place, as some clients
// do.
func TestWhatAClientHasClearedIsShown(t *testing.T) {
	for _, stage := range []string{"memory", "store", "no store"} {
		t.Run(stage, func(t *testing.T) {
			var p *place
			st := openStore(t)
			if stage == "no store" {
				p = start(t, nil)
			} else {
				p = start(t, st)
			}
			a := p.agent("anthropic", "Read.")
			a.reads(3, 30)
			a.ask()
			a.messages[2] = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"[cleared]"}]}`
			id := a.id
			a.reads(1, 1)
			if a.ask(); a.id != id {
				t.Fatalf("another conversation: %s, %s", a.id, id)
			}
			if stage == "store" {
				isStored(t, st, id, len(a.messages))
				p = p.again(t, st)
			}
			var shown conversation.Originals
			p.get("/conversations/"+id+"/messages/m2.b0", &shown)
			if m := shown.Messages[0]; !m.Earlier || m.Blocks[0].Content[0].Text != lines(30, 1) {
				t.Errorf("m2 is %+v", m)
			}
			p.get("/conversations/"+id+"/messages/m4", &shown)
			if shown.Messages[0].Earlier {
				t.Error("what was not cleared is from before")
			}
		})
	}
}

// isStored waits until the store has a conversation with so many messages.
func isStored(t *testing.T, st store.Lister, id string, messages int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; {
		rec, err := st.Conversation(t.Context(), id)
		if err == nil && rec.Messages == messages {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("stored is %+v %v", rec, err)
		}
	}
}

// TestChangesBesideRequests does everything at once.
func TestChangesBesideRequests(t *testing.T) {
	p := start(t, openStore(t))
	var wg sync.WaitGroup
	for n := range 4 {
		a := p.agent([]string{"anthropic", "chat"}[n%2], fmt.Sprintf("Read, agent %d.", n))
		a.reads(2, 20)
		a.ask()
		one := "/conversations/" + a.id
		wg.Go(func() {
			for range 15 {
				a.reads(1, 60)
				a.ask()
			}
		})
		for _, f := range []func(){
			func() { p.send("POST", one+"/condense", `{"target_tokens":3000}`) },
			func() { p.send("POST", one+"/undo", "") },
			func() { p.send("POST", one+"/pin", `{"handles":["m2"]}`) },
			func() { p.send("POST", one+"/rewind", `{"messages":5}`) },
			func() { p.send("POST", one+"/preview", "") },
			func() { p.get(one+"/view", nil); p.get(one+"/messages", nil); p.get(one+"/messages/m2", nil) },
			func() {
				p.get("/conversations", nil)
				p.get(one, nil)
				p.get("/search?q=line", nil)
				p.get("/status", nil)
			},
			func() { p.want(200, "PATCH", "/settings", `{"percent":70}`, nil); p.get(one+"/loss", nil) },
		} {
			wg.Go(func() {
				for range 6 {
					f()
				}
			})
		}
	}
	wg.Wait()
	if problems := p.up.Problems(); len(problems) > 0 {
		t.Error(problems)
	}
}
