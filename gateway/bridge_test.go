package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/accounts"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

// What a client's own summary lacks in these tests.
const (
	plantedRule  = "Never push to main without asking me first."
	plantedError = "ERROR E4711: the lease of shard kestrel-7 expired at ledger.go:88"
)

// ownSummary is what a model answers to the request for a summary: nothing of what was
// planted.
const ownSummary = "<analysis>\nThe conversation is about files that hold settings of a program.\n</analysis>\n<summary>\n" +
	"1. The user asked for all of the configuration files to be read.\n2. Several files were read, and each of them holds settings with numbers.\n" +
	"3. Nothing was changed so far, and there are no problems that are known.\n4. The next step is to read the files that remain, in their order.\n</summary>"

// askForSummary is how clients ask for one.
const askForSummary = "Create a detailed summary of the conversation so far. Put it into <summary> tags."

// shownSummary is what a client begins the next conversation with.
func shownSummary() string {
	_, inner, _ := strings.Cut(ownSummary, "<summary>\n")
	inner, _, _ = strings.Cut(inner, "\n</summary>")
	return "This session is being continued from a previous conversation that ran out of context.\nSummary:\n" + inner + "\nGo on without further questions."
}

// worked returns an agent that was told a rule and met an error.
func worked(dialect, task string) *agent {
	a := newAgent(dialect, task+" "+plantedRule)
	for n := range 8 {
		text := words(30, n+1)
		if n == 2 {
			text += plantedError + "\n"
		}
		a.read(n, text)
	}
	a.messages = append(a.messages, `{"role":"assistant","content":"Eight of them are read."}`, `{"role":"user","content":"Then read those that remain."}`)
	return a
}

// asking returns an agent that asks for a summary.
func (a *agent) asking() *agent {
	b := *a
	b.messages = append(slices.Clone(a.messages), `{"role":"user","content":`+quote(askForSummary)+`}`)
	return &b
}

// condensed has an agent work and then ask for a summary, and returns it as it was before
// that.
func condensed(t *testing.T, base string, s *providertest.Server) *agent {
	t.Helper()
	a := worked("anthropic", "Read all of the configuration files.")
	post(t, base+a.path(), a.body(false))
	s.Enqueue(providertest.Reply{Text: ownSummary})
	post(t, base+a.path(), a.asking().body(false))
	return a
}

func lastBody(s *providertest.Server) string {
	all := s.Requests()
	return string(all[len(all)-1].Body)
}

// A conversation that goes on from its client's own summary holds what that lacks, in
// each dialect, streamed or not; its next request begins with the same bytes; and the
// two are linked.
func TestWhatAClientsSummaryLacks(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects(t) {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(dialect, " stream=", stream), func(t *testing.T) {
				s := providertest.New(t, providertest.Options{})
				base, g := start(t, s.URL, func(o *gateway.Options) { o.Recall = true })
				old := worked(dialect, "Read all of the configuration files.")
				res, _ := post(t, base+old.path(), old.body(stream))
				id := res.Header.Get("X-Precis-Conversation")
				s.Enqueue(providertest.Reply{Text: ownSummary})
				if res, _ := post(t, base+old.path(), old.asking().body(stream)); res.Header.Get("X-Precis-Conversation") != id {
					t.Fatal("the request for a summary is not that of the conversation")
				}
				next := newAgent(dialect, shownSummary())
				res, _ = post(t, base+next.path(), next.body(stream))
				sent := lastBody(s)
				for _, want := range []string{plantedRule, "E4711", "What the summary above lacks", "The next step is to read", id[:6] + ":m"} {
					if !strings.Contains(sent, want) {
						t.Errorf("the next conversation lacks %q", want)
					}
				}
				if strings.Count(sent, plantedRule) != 1 || res.Header.Get("X-Precis-Action") != "reduced" {
					t.Errorf("the rule is there %d times, action %s", strings.Count(sent, plantedRule), res.Header.Get("X-Precis-Action"))
				}
				newID := res.Header.Get("X-Precis-Conversation")
				family, err := conversation.FamilyOf(t.Context(), g.Home(""), newID)
				if newID == id || err != nil || family.Parent == nil || family.Parent.ID != id {
					t.Errorf("%s goes on from %s: %+v %v", newID, id, family.Parent, err)
				}
				next.read(20, words(10, 20))
				post(t, base+next.path(), next.body(stream))
				if at := strings.Index(sent, plantedRule); !strings.HasPrefix(lastBody(s), sent[:at]) {
					t.Error("the next request begins with other bytes")
				}
				if p := s.Problems(); len(p) > 0 {
					t.Error(p)
				}
			})
		}
	}
}

// A client may condense what it goes on with again, and may name its first summary then:
// the third conversation is given what both before it held.
func TestAChainOfSummaries(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]string{
		"asked as before": askForSummary,
		"to be updated":   "Update the anchored summary below using the conversation history above.\n<previous-summary>\n" + ownSummary + "\n</previous-summary>",
	} {
		t.Run(name, func(t *testing.T) { chain(t, ask) })
	}
}

func chain(t *testing.T, ask string) {
	s := providertest.New(t, providertest.Options{})
	base, g := start(t, s.URL, func(o *gateway.Options) { o.Store = memory.New() })
	at := condensed(t, base, s)
	second := newAgent("anthropic", shownSummary())
	post(t, base+at.path(), second.body(false))
	for n := range 6 {
		second.read(30+n, words(20, n+40)+"WARNING W0815: the index of heron-3 is stale\n")
	}
	post(t, base+at.path(), second.body(false))
	again := strings.ReplaceAll(ownSummary, "read", "opened")
	s.Enqueue(providertest.Reply{Text: again})
	second.messages = append(second.messages, `{"role":"user","content":`+quote(ask)+`}`)
	post(t, base+at.path(), second.body(false))
	third := newAgent("anthropic", strings.ReplaceAll(shownSummary(), "read", "opened"))
	res, _ := post(t, base+at.path(), third.body(false))
	for want, most := range map[string]int{plantedRule: 1, "E4711": 1, "W0815": 2} {
		if n := strings.Count(lastBody(s), want); n == 0 || n > most {
			t.Errorf("the third conversation has %q %d times", want, n)
		}
	}
	e := firstEdit(t, g, res.Header.Get("X-Precis-Conversation"))
	if e.Report.Rung != "bridge" || e.Report.Repaired == 0 {
		t.Errorf("the edit is %+v", e.Report)
	}
}

func firstEdit(t *testing.T, g *gateway.Gateway, id string) (e precis.Edit) {
	t.Helper()
	err := g.Home("").Look(t.Context(), id, func(s *conversation.Subject) error {
		if len(s.Conversation.Edits) == 0 {
			t.Fatal("there is no edit")
		}
		e = s.Conversation.Edits[0]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// What was given back survives when precis condenses the conversation later, and undo
// takes it back.
func TestABridgeThenADigest(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{Window: 12_000})
	base, g := start(t, s.URL, window(12_000))
	old := condensed(t, base, s)
	next := newAgent("anthropic", shownSummary())
	res, _ := post(t, base+old.path(), next.body(false))
	id := res.Header.Get("X-Precis-Conversation")
	reduced := 0
	for n := range 40 {
		next.read(50+n, words(30, n+60))
		res, out := post(t, base+old.path(), next.body(false))
		if res.StatusCode != 200 {
			t.Fatalf("%d %s", res.StatusCode, out)
		}
		if res.Header.Get("X-Precis-Action") == "reduced" {
			reduced++
		}
		if !strings.Contains(lastBody(s), plantedRule) {
			t.Fatalf("turn %d, after %d reductions: the rule is gone", n, reduced)
		}
	}
	if reduced == 0 {
		t.Error("nothing was condensed")
	}
	e := firstEdit(t, g, id)
	if _, err := conversation.UndoAll(t.Context(), g.Home(""), id); err != nil {
		t.Fatal(err)
	}
	if err := g.Home("").Look(t.Context(), id, func(s *conversation.Subject) error {
		if strings.Contains(s.Conversation.Transcript.At(0).PlainText(), plantedRule) || slices.ContainsFunc(precis.Active(s.Conversation.Edits), func(x precis.Edit) bool { return x.ID == e.ID }) {
			t.Error("undo left the edit")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// What is no continuation is left alone: another owner's, a conversation that holds the
// summary and everything before it, one that says something else, and all of them where the
// bridge is off.
func TestNoBridge(t *testing.T) {
	t.Parallel()
	keys := map[string]string{accounts.HashKey("ann"): "ann", accounts.HashKey("bob"): "bob"}
	for name, c := range map[string]struct {
		off  bool
		key  string
		next func(old *agent) *agent
	}{
		"another owner": {key: "bob", next: func(*agent) *agent { return newAgent("anthropic", shownSummary()) }},
		"the same conversation": {key: "ann", next: func(old *agent) *agent {
			b := *old
			b.messages = append(slices.Clone(old.messages), `{"role":"assistant","content":`+quote(shownSummary())+`}`, `{"role":"user","content":"Thanks. Go on."}`)
			return &b
		}},
		"something else": {key: "ann", next: func(*agent) *agent {
			return newAgent("anthropic", "Write a letter.\n"+strings.Repeat("Dear all, nothing of this was in the summary.\n", 10))
		}},
		"off": {off: true, key: "ann", next: func(*agent) *agent { return newAgent("anthropic", shownSummary()) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := providertest.New(t, providertest.Options{})
			base, _ := start(t, s.URL, func(o *gateway.Options) {
				o.Auth.Keys = keys
				if c.off {
					o.Bridge = gateway.BridgeOff
				}
			})
			old := worked("anthropic", "Read all of the configuration files.")
			post(t, base+old.path(), old.body(false), "X-Precis-Key", "ann")
			s.Enqueue(providertest.Reply{Text: ownSummary})
			post(t, base+old.path(), old.asking().body(false), "X-Precis-Key", "ann")
			next := c.next(old)
			res, out := post(t, base+old.path(), next.body(false), "X-Precis-Key", c.key)
			if res.StatusCode != http.StatusOK || strings.Contains(lastBody(s), "What the summary above lacks") {
				t.Errorf("%d %s\nsent %.600s", res.StatusCode, out, lastBody(s))
			}
		})
	}
}

// A client that has a model summarize the conversation as one text is recognized by that
// text.
func TestASummaryMadeAside(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	old := worked("anthropic", "Read all of the configuration files.\nTell me when a value is negative.")
	post(t, base+old.path(), old.body(false))
	flat := "[User]: Read all of the configuration files.\nTell me when a value is negative. " + plantedRule + "\n[Tool]: (cut)\n[Assistant]: Eight of them are read.\n[User]: Then read those that remain.\n"
	s.Enqueue(providertest.Reply{Text: ownSummary})
	post(t, base+old.path(), `{"model":"claude-sonnet-4-5","max_tokens":500,"system":"You are a context summarization assistant. Summarize the conversation.","messages":[{"role":"user","content":`+
		quote("<conversation>\n"+flat+"</conversation>\nWrite it now.")+`}]}`)
	next := newAgent("anthropic", shownSummary())
	post(t, base+old.path(), next.body(false))
	if !strings.Contains(lastBody(s), plantedRule) || !strings.Contains(lastBody(s), "E4711") {
		t.Errorf("sent %.1500s", lastBody(s))
	}
}

// Handles of the conversation that was summarized are read by the recall tool, and its
// searches look there, too. What stands beside the summary in its message stays as it came.
func TestRecallAcrossTheBridge(t *testing.T) {
	t.Parallel()
	var id string
	asked := 0
	s := newScript(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		parts := []part{{text: "ok"}}
		switch asked {
		case 2:
			parts = []part{{text: ownSummary}}
		case 3:
			parts = []part{recalls(`{"handle":"` + id[:6] + `:m0"}`)}
		case 4:
			parts = []part{recalls(`{"search":"kestrel-7"}`)}
		case 5:
			parts = []part{recalls(`{"handle":"c00000:m0"}`)}
		}
		said("anthropic", false, asked, parts...)(w, r)
	})
	base, _ := start(t, s.URL, func(o *gateway.Options) { o.Recall = true })
	old := worked("anthropic", "Read all of the configuration files.")
	res, _ := post(t, base+old.path(), old.body(false))
	id = res.Header.Get("X-Precis-Conversation")
	post(t, base+old.path(), old.asking().body(false))
	next := newAgent("anthropic", "")
	const picture = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="},"x" : 1}`
	next.messages = []string{`{"role":"user","content":[` + picture + `,{"type":"text","text":` + quote(shownSummary()) + `}]}`}
	post(t, base+old.path(), next.body(false))
	sent := s.sent()
	if len(sent) != 6 {
		t.Fatalf("%d requests: the calls were not answered", len(sent))
	}
	for n, want := range map[int]string{2: picture, 3: "[" + id[:6] + ":m0.b0, user: text]\\nRead all of the configuration files. " + plantedRule, 4: id[:6] + ":m6.b0", 5: "No conversation before this one"} {
		if !strings.Contains(sent[n], want) {
			t.Errorf("request %d lacks %q:\n%.3000s", n, want, sent[n])
		}
	}
}

// A branch of a conversation that goes on from a summary goes on from it, too: what both
// before it held is given to the one that its client makes of it.
func TestABranchKeepsTheBridge(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	old := condensed(t, base, s)
	next := newAgent("anthropic", shownSummary())
	post(t, base+old.path(), next.body(false))
	next.read(20, words(10, 20))
	post(t, base+old.path(), next.body(false))
	fork := *next
	fork.messages = slices.Clone(next.messages)
	next.read(21, words(10, 21))
	post(t, base+old.path(), next.body(false))
	fork.read(22, words(10, 22))
	post(t, base+old.path(), fork.body(false))
	if !strings.Contains(lastBody(s), plantedRule) {
		t.Error("the branch lacks what the summary lacked")
	}
	again := strings.ReplaceAll(ownSummary, "read", "opened")
	s.Enqueue(providertest.Reply{Text: again})
	post(t, base+old.path(), fork.asking().body(false))
	third := newAgent("anthropic", strings.ReplaceAll(shownSummary(), "read", "opened"))
	post(t, base+old.path(), third.body(false))
	if !strings.Contains(lastBody(s), plantedRule) {
		t.Error("what goes on from the branch lacks what the first conversation held")
	}
}

// The task of a user that names a summary is for the model, also where summaries are not.
func TestATaskIsNoRequestForASummary(t *testing.T) {
	t.Parallel()
	for _, task := range []string{
		"Write a summary of the git history of this repository into NOTES.md.",
		"Write a summary of our conversation so far into NOTES.md.",
		"Create a summary.go that prints how long each session took.",
		"Provide the component SummaryPanel and its summary view, with tests for the session list.",
	} {
		s := providertest.New(t, providertest.Options{})
		base, _ := start(t, s.URL, func(o *gateway.Options) { o.Bridge = gateway.BridgeDigest })
		a := newAgent("anthropic", task)
		post(t, base+a.path(), a.body(false))
		if len(s.Requests()) != 1 {
			t.Errorf("first message %q: the model was asked %d times", task, len(s.Requests()))
		}
		b := worked("anthropic", "Read all.")
		post(t, base+a.path(), b.body(false))
		n := len(s.Requests())
		b.messages = append(b.messages, `{"role":"assistant","content":"Done."}`, `{"role":"user","content":`+quote(task)+`}`)
		res, _ := post(t, base+a.path(), b.body(false))
		if len(s.Requests()) != n+1 {
			t.Errorf("later turn %q: the model was not asked, action %s", task, res.Header.Get("X-Precis-Action"))
		}
	}
}

// An item by which an API is asked to condense is for that API.
func TestATriggerIsForTheAPI(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, func(o *gateway.Options) {
		o.Bridge = gateway.BridgeDigest
		o.Native = gateway.Native{Compact: true, ContextManagement: true}
	})
	old := worked("responses", "Read all of the configuration files.")
	post(t, base+old.path(), old.body(false))
	n := len(s.Requests())
	b := *old
	b.messages = append(slices.Clone(old.messages), `{"type":"compaction_trigger"}`)
	res, out := post(t, base+old.path(), b.body(false))
	if len(s.Requests()) != n+1 {
		t.Errorf("%s %.300s", res.Header.Get("X-Precis-Action"), out)
	}
}

// A client that leaves at the end marker has the whole summary.
func TestAClientLeavesAtTheEndMarker(t *testing.T) {
	t.Parallel()
	first := said("anthropic", true, 1, part{text: "ok"})
	linger := func(w http.ResponseWriter, r *http.Request) {
		said("anthropic", true, 2, part{text: ownSummary})(w, r)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(2 * time.Second):
		}
	}
	s := newScript(t, first, linger, first)
	base, _ := start(t, s.URL, nil)
	old := worked("anthropic", "Read all of the configuration files.")
	post(t, base+old.path(), old.body(true))
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "POST", base+old.path(), strings.NewReader(old.asking().body(true)))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if strings.Contains(lines.Text(), `"message_stop"`) {
			break
		}
	}
	cancel()
	_ = res.Body.Close()
	time.Sleep(200 * time.Millisecond)
	next := newAgent("anthropic", shownSummary())
	post(t, base+old.path(), next.body(true))
	all := s.sent()
	if !strings.Contains(all[len(all)-1], plantedRule) {
		t.Error("the whole summary reached the client, and it was not kept")
	}
}

// What the client had taken back before it asked for the summary does not come back.
func TestWhatWasTakenBackStaysAway(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	old := worked("anthropic", "Read all of the configuration files.")
	post(t, base+old.path(), old.body(false))
	long := *old
	long.messages = append(slices.Clone(old.messages), `{"role":"assistant","content":"I will."}`, `{"role":"user","content":"Always delete the directory build/cache before each test."}`)
	long.read(9, words(10, 9)+"FATAL F9999: the disk osprey-2 is full\n")
	post(t, base+old.path(), long.body(false))
	// The user goes back to before that, and has the rest condensed.
	s.Enqueue(providertest.Reply{Text: ownSummary})
	res, _ := post(t, base+old.path(), old.asking().body(false))
	next := newAgent("anthropic", shownSummary())
	post(t, base+old.path(), next.body(false))
	if strings.Contains(lastBody(s), "delete the directory") || strings.Contains(lastBody(s), "F9999") {
		i := strings.Index(lastBody(s), "What the summary")
		t.Errorf("match %s; what was taken back before the summary is given to the next: %.900s", res.Header.Get("X-Precis-Match"), lastBody(s)[i:])
	}
}

// A client that caches marks the summary, which is not sent as it was said: what is given
// with it is marked in the client's form.
func TestTheSummaryIsCached(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	old := condensed(t, base, s)
	next := newAgent("anthropic", "")
	next.messages = []string{`{"role":"user","content":[{"type":"text","text":` + quote(shownSummary()) + `,"cache_control":{"type":"ephemeral","ttl":"1h"}}]}`}
	post(t, base+old.path(), next.body(false))
	var sent struct{ Messages json.RawMessage }
	if err := json.Unmarshal([]byte(lastBody(s)), &sent); err != nil || !strings.Contains(string(sent.Messages), plantedRule) {
		t.Fatal(err, string(sent.Messages))
	}
	if marks := bytes.Count(sent.Messages, []byte(`"cache_control":{"type":"ephemeral","ttl":"1h"}`)); marks != 1 {
		t.Errorf("%d of the client's marks: %s", marks, sent.Messages)
	}
}

// A client may keep the first messages and put the summary behind them, whether it stands for
// the rest or for everything: what the messages say is not given again, what the rest said is.
func TestASummaryBehindWhatIsKept(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	old := newAgent("anthropic", "Read all of the configuration files. "+plantedRule)
	for n := range 8 {
		text := words(30, n+1)
		if n == 7 {
			text += plantedError + "\n"
		}
		old.read(n, text)
	}
	post(t, base+old.path(), old.body(false))
	s.Enqueue(providertest.Reply{Text: ownSummary})
	post(t, base+old.path(), old.asking().body(false))
	for _, kept := range []int{13, 17} {
		next := *old
		next.messages = append(slices.Clone(old.messages[:kept]), `{"role":"assistant","content":`+quote(shownSummary())+`}`, `{"role":"user","content":"Then go on."}`)
		res, _ := post(t, base+old.path(), next.body(false))
		for _, once := range []string{plantedRule, "E4711"} {
			if n := strings.Count(lastBody(s), once); n != 1 {
				t.Errorf("%d kept, %s: %q is there %d times", kept, res.Header.Get("X-Precis-Match"), once, n)
			}
		}
	}
}

// A client that clears old results and leaves out the newest messages where it asks for the
// summary condenses the whole conversation all the same.
func TestARequestForASummaryThatLeavesOut(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	old := newAgent("anthropic", "Read all of the configuration files.")
	for n := range 8 {
		text := words(30, n+1)
		if n == 7 {
			text += plantedError + "\n"
		}
		old.read(n, text)
	}
	post(t, base+old.path(), old.body(false))
	short := *old
	short.messages = slices.Clone(old.messages[:15])
	short.messages[2] = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t0","content":"[cleared]"}]}`
	s.Enqueue(providertest.Reply{Text: ownSummary})
	post(t, base+old.path(), short.asking().body(false))
	post(t, base+old.path(), newAgent("anthropic", shownSummary()).body(false))
	if !strings.Contains(lastBody(s), "E4711") {
		t.Error("what was left out is not given back")
	}
}

// What a user takes back is not given again.
func TestABridgeTakenBack(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, g := start(t, s.URL, nil)
	old := condensed(t, base, s)
	next := newAgent("anthropic", shownSummary())
	res, _ := post(t, base+old.path(), next.body(false))
	if _, err := conversation.Undo(t.Context(), g.Home(""), res.Header.Get("X-Precis-Conversation")); err != nil {
		t.Fatal(err)
	}
	next.read(20, words(10, 20))
	if res, _ := post(t, base+old.path(), next.body(false)); strings.Contains(lastBody(s), plantedRule) {
		t.Errorf("it is there again: match %s", res.Header.Get("X-Precis-Match"))
	}
}

// A digest in place of the summary is no longer than the client wants it to be; where that
// leaves no room to say anything the model is asked.
func TestASummaryOfTheLengthAskedFor(t *testing.T) {
	t.Parallel()
	var rules strings.Builder
	for n := range 200 {
		fmt.Fprintf(&rules, " Never rename file %d, which %s reads.", n, strings.Fields(words(1, n+1))[0])
	}
	size := map[int]int{}
	for _, most := range []int{200, 400, 8000} {
		s := providertest.New(t, providertest.Options{})
		base, _ := start(t, s.URL, func(o *gateway.Options) { o.Bridge = gateway.BridgeDigest })
		old := worked("anthropic", "Read all of the configuration files."+rules.String())
		post(t, base+old.path(), old.body(false))
		_, out := post(t, base+old.path(), strings.Replace(old.asking().body(false), `"max_tokens":500`, fmt.Sprintf(`"max_tokens":%d`, most), 1))
		if n := len(s.Requests()) - 1; n != map[bool]int{true: 1}[most == 200] {
			t.Errorf("at most %d tokens: the model was asked %d times", most, n)
		}
		size[most] = len(out) / 4
	}
	if size[400] > 600 || size[8000] < 800 {
		t.Errorf("about so many tokens: %v", size)
	}
}

// Two conversations that begin with one summary are both given what it lacks.
func TestTheSameSummaryTwice(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	old := worked("chat", "Read all of the configuration files.")
	post(t, base+old.path(), old.body(false))
	s.Enqueue(providertest.Reply{Text: ownSummary})
	post(t, base+old.path(), old.asking().body(false))
	begin := func(n int) *agent {
		a := newAgent("chat", "What did we do so far?")
		a.messages = append(a.messages, `{"role":"assistant","content":`+quote(shownSummary())+`}`, `{"role":"user","content":`+quote(fmt.Sprint("Continue with part ", n))+`}`)
		return a
	}
	for n := range 3 {
		post(t, base+old.path(), begin(n).body(false))
		if c := strings.Count(lastBody(s), plantedRule); c != 1 {
			t.Errorf("conversation %d has the rule %d times", n, c)
		}
	}
}

// While the store does not answer the request goes on without what the summary lacks, soon;
// the next one has it.
func TestABridgeOverAStoreThatFails(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]int32{"fails": fails, "hangs": hangs} {
		t.Run(name, func(t *testing.T) {
			st := newFaulty(memory.New())
			s := providertest.New(t, providertest.Options{})
			base, g := start(t, s.URL, func(o *gateway.Options) {
				o.Store, o.Memory, o.Patience = st, 100<<10, 200*time.Millisecond
			})
			t.Cleanup(func() { st.set(works) })
			old := condensed(t, base, s)
			for n := 0; n == 0; { // else memory gives up what it has no room for; a turn ends behind its answer
				if _, err := conversation.List(t.Context(), g.Home(""), conversation.ListQuery{}); err != nil {
					t.Fatal(err)
				}
				records, err := st.Conversations(t.Context(), store.Query{})
				if err != nil || t.Context().Err() != nil {
					t.Fatal(err, t.Context().Err())
				}
				n = len(records)
			}
			for n := range 6 { // until memory has forgotten it
				other := newAgent("anthropic", fmt.Sprint("Something else ", n, strings.Repeat(" many words", 4000)))
				post(t, base+old.path(), other.body(false))
			}
			st.set(mode)
			next := newAgent("anthropic", shownSummary())
			if res, out := post(t, base+old.path(), next.body(false)); res.StatusCode != http.StatusOK {
				t.Fatalf("%d %s", res.StatusCode, out)
			}
			if strings.Contains(lastBody(s), plantedRule) {
				t.Fatal("memory still has the conversation: nothing is tested")
			}
			st.set(works)
			next.read(20, words(10, 20))
			post(t, base+old.path(), next.body(false))
			if !strings.Contains(lastBody(s), plantedRule) {
				t.Error("the store answers again, and the rule is still missing")
			}
		})
	}
}

// inWindow has Codex say in which context window an agent is.
func (a *agent) inWindow(lines ...string) *agent {
	var blocks []string
	for _, text := range []string{"<context_window>", "\nAgent name: /root\n" + strings.Join(lines, "\n") + "\n", "</context_window>"} {
		blocks = append(blocks, `{"type":"input_text","text":`+quote(text)+`}`)
	}
	a.messages = append([]string{`{"type":"message","role":"developer","content":[` + strings.Join(blocks, ",") + `]}`}, a.messages...)
	return a
}

// A new context window of Codex's, which holds neither the conversation before it nor a summary, is given a digest, and
// the window behind it one of both. What the window before is not known of is left as it is.
func TestANewContextWindow(t *testing.T) {
	t.Parallel()
	id := func(n int) string { return fmt.Sprintf("01a22c39-533c-7c92-9ea5-85165341%04d", n) }
	first, current, previous := "First context window id: "+id(1), "Current context window id: ", "Previous context window id: "
	environment := "<environment_context>\n  <cwd>/src</cwd>\n</environment_context>"
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, func(o *gateway.Options) { o.Recall = true })
	old := worked("responses", "Read all of the configuration files.").inWindow(first, current+id(1))
	res, _ := post(t, base+old.path(), old.body(false))
	last := res.Header.Get("X-Precis-Conversation")
	for n := 2; n <= 3; n++ {
		next := newAgent("responses", environment).inWindow(first, current+id(n), previous+id(n-1))
		res, _ := post(t, base+next.path(), next.body(false))
		sent := lastBody(s)
		for _, want := range []string{plantedRule, "E4711", "Digest of messages", last[:6] + ":m", current + id(n)} {
			if !strings.Contains(sent, want) {
				t.Errorf("window %d lacks %q:\n%.3000s", n, want, sent)
			}
		}
		if _, system, _ := strings.Cut(sent, `"developer"`); strings.Contains(strings.SplitN(system, `"role"`, 2)[0], plantedRule) {
			t.Errorf("window %d: what was said before has become an instruction of the program", n)
		}
		for k := range 8 {
			next.read(10*n+k, words(10, n))
		}
		post(t, base+next.path(), next.body(false))
		if again := lastBody(s); strings.Count(again, plantedRule) != 1 {
			t.Errorf("window %d: the rule is there %d times", n, strings.Count(again, plantedRule))
		}
		if before := last; res.Header.Get("X-Precis-Conversation") == before {
			t.Errorf("window %d is the same conversation", n)
		}
		last = res.Header.Get("X-Precis-Conversation")
	}
	other := newAgent("responses", strings.Replace(environment, "src", "other", 1)).inWindow("First context window id: "+id(7), current+id(9), previous+id(8))
	if post(t, base+other.path(), other.body(false)); strings.Contains(lastBody(s), plantedRule) {
		t.Error("a window of another conversation is given what was said in this one")
	}
}
