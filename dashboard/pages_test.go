package dashboard_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/dashboard"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/wire/anthropic"
)

func TestEveryPage(t *testing.T) {
	p := serve(t, home(t, window, messages(40)), nil)
	p.condense(9000)
	for path, texts := range map[string][]string{
		"":                          {p.ID(), "81 messages", "ID"},
		"?text=nothing+like+it":     {"No conversation matches"},
		"search?q=setting_8+value":  {"messages found", `from=`},
		"search":                    {"Type words"},
		"search?q=option":           {"related: setting ~ option"},
		"jump?q=option":             {"related: setting ~ option"},
		"settings":                  {"Threshold", `name="percent"`},
		"settings?profile=cautious": {`aria-current="page"`},
		p.one:                       {"context condensed", "of 40,000 tokens", "condenses at", "reserve", `<b data-fig="window">40,000</b>`, "Condense…"},
		p.one + "?from=80":          {"m80"},
		p.one + "?from=4#m4":        {"<details open>", "As it was said", "I read file 1."},
		p.one + "/time":             {"What the model saw at 81 messages", "window 40,000", "<polygon"},
		p.one + "/time?at=9":        {"What the model saw at 9 messages", "I read file 3."},
		p.one + "/edits":            {"at 81 messages", "e1"},
		p.one + "/loss":             {"The view keeps"},
		p.one + "/work":             {"Never write to the disk.", "f00.txt", `handle=m0">Pin</a>`},
		p.one + "/compare":          {"under two policies", "frugal"},
		p.one + "/compare?a=frugal&b=roo&target=2000": {"Condense like this"},
		p.one + "/m/m3":                 {"I read file 1.", "f01.txt"},
		p.one + "/m/m3.b1":              {"f01.txt"},
		p.one + "/m/m0-m80":             {"Read the files", "m50-m80"},
		p.one + "/shown/m4":             {"What the model sees", "Digest of messages"},
		p.one + "/condense?target=5000": {"Condense now", "digest", "Why, rung by rung"},
		p.one + "/condense?by=model":    {"no model writes summaries"},
		p.one + "/do/restore?handle=m3": {"Restore", "→"},
		p.one + "/do/pin?handle=m3":     {"No later run"},
		p.one + "/do/rewind?messages=5": {"Everything after this"},
		p.one + "/do/branch?messages=5": {"A new conversation"},
		p.one + "/do/undo":              {"taken back"},
		p.one + "/row?part=1":           {`data-id="`, "k-digest"},
		p.one + "/head?part=1":          {"k-digest", "edits in force"},
		"costs":                         {"No request has been booked"},
		"experiments":                   {"No conversation belongs to an arm"},
		"jump?part=1&q=setting":         {"<ul"},
	} {
		t.Run(path, func(t *testing.T) {
			page := p.get(http.StatusOK, path)
			p.wants(page, texts...)
			if strings.Contains(page, "%!") {
				t.Error("a text lacks an argument")
			}
			if !strings.Contains(path, "part=1") {
				p.wants(page, `<main id="main"`, `lang="en"`, "a test")
			}
		})
	}
}

func TestWhatDoesNotExist(t *testing.T) {
	p := serve(t, home(t, window, messages(5)), nil)
	for path, status := range map[string]int{
		"nowhere": 404, p.one + "/shown/m999": 404, p.one + "/shown/x": 400, "c/none": 404, "c/none/row": 404, p.one + "/m/m999": 404, p.one + "/m/zzz": 400, p.one + "/time?at=999": 200,
		p.one + "/do/sing": 400, p.one + "/do/restore?handle=m1": 404, p.one + "/do/restore": 400, p.one + "/condense?target=many": 400,
		"?cursor=!!": 400, "assets/none.css": 404, "search?q=+": 400, p.one + "/do/rewind?messages=x": 400,
	} {
		page := p.get(status, path)
		if status != 200 && !strings.HasPrefix(path, "assets") {
			p.wants(page, "That did not work")
		}
	}
}

func TestActionsAreShownDoneAndTakenBack(t *testing.T) {
	p := serve(t, home(t, window, messages(40)), nil)
	before := p.status().Status.Tokens
	page := p.submit(200, p.one+"/condense?target=9000", p.one+"/condense", nil)
	p.wants(page, "Done: condensation", "context condensed")
	if now := p.status(); now.Status.Tokens >= before || now.Edits.InForce == 0 {
		t.Fatalf("nothing was condensed: %+v", now.Edits)
	}
	hidden := regexp.MustCompile(`do/restore\?[^"]*handle=(m\d+)`).FindStringSubmatch(p.get(200, p.one+"?from=3"))
	if hidden == nil {
		t.Fatal("nothing can be restored")
	}
	state := func(h string) conversation.State {
		found, err := conversation.HiddenParts(t.Context(), p.Home, p.ID(), parse(t, h))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			return conversation.Shown
		}
		return found[0].State
	}
	p.wants(p.submit(200, p.one+"/do/restore?handle=m2", p.one+"/do/restore", nil), "Done: restore")
	if state("m2") != conversation.Shown {
		t.Error("a message is not restored")
	}
	page = p.submit(200, p.one+"/do/exclude?handle=m2", p.one+"/do/exclude", nil)
	p.wants(page, "Done: exclude")
	if state("m2") != conversation.Hidden {
		t.Error("a message is not excluded")
	}
	// The page that follows offers the way back.
	did := regexp.MustCompile(`name="edit" value="([^"]+)"`).FindStringSubmatch(page)
	if did == nil {
		t.Fatal("undo is not offered")
	}
	p.submit(200, p.one+"/do/undo?edit="+url.QueryEscape(did[1]), p.one+"/do/undo", nil)
	if state("m2") != conversation.Shown {
		t.Error("excluding is not undone")
	}
	form := regexp.MustCompile(`do/reword\?[^"]*edit=([^"&]+)`).FindStringSubmatch(p.get(200, p.one+"/edits"))
	if form == nil {
		t.Fatal("no text can be edited")
	}
	p.wants(p.submit(200, p.one+"/do/reword?edit="+form[1], p.one+"/do/reword", url.Values{"text": {"What I remember <b>of it</b>."}}), "Done: ")
	p.wants(p.get(200, p.one), "What I remember &lt;b&gt;of it&lt;/b&gt;.")
	p.post(400, p.one+"/do/reword", url.Values{"token": token(p)["token"], "edit": {form[1]}, "text": {" "}})
	p.wants(p.post(400, p.one+"/do/reword", url.Values{"token": token(p)["token"], "edit": {form[1]}, "text": {strings.Repeat("A long text is read. ", 60_000)}}), "the messages it stands for")
	p.submit(200, p.one+"/do/pin?handle=m4", p.one+"/do/pin", nil)
	p.submit(200, p.one+"/do/rewind?messages=5", p.one+"/do/rewind", nil)
	if state("m30") != conversation.Hidden {
		t.Error("nothing is rewound")
	}
	p.wants(p.get(200, p.one+"/edits"), "rewind", "undone", "pin")
	if page := p.post(400, p.one+"/do/branch", token(p)); !strings.Contains(page, "branches need a store") {
		t.Error("a recording has branches")
	}
}

// The first edit of a run opens on the rungs that were tried for it; one that was stored
// without them is shown all the same.
func TestDeclinedRungsAreShownWithTheEdit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	if err := os.WriteFile(path, fmt.Appendf(nil, `{"messages":%s}`, anthropic.AppendMessages(nil, messages(40))), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := path + ".precis"
	p := serve(t, opened(t, window, path, kept), nil)
	p.condense(9000)
	p.wants(p.get(200, p.one+"/edits"), "rungs, ", "<td>dedupe</td><td>found nothing</td>", "nothing is repeated")
	if strings.Contains(p.get(200, p.one+"/edits"), "one run with e1") {
		t.Error("the only edit of a run is said to be one with itself")
	}
	p.wants(p.get(200, p.one+"/edits?lang=fr"), "échelons, dont", "<td>rien trouvé</td>", "rien n’est répété", "utilisés ")
	p.wants(p.get(404, p.one+"/nowhere?lang=ja"), "存在しません (そのページはありません)")
	p.wants(p.get(400, p.one+"/condense?lang=zh&target=7"), "目标为 7，没有单位", "窗口的比例写作 7%")
	file, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	old := regexp.MustCompile(`(?s),\s*"steps":\s*\[.*?\}\s*\]`).ReplaceAll(file, nil)
	if len(old) == len(file) {
		t.Fatal("the file has no steps")
	}
	if err := os.WriteFile(kept, old, 0o600); err != nil {
		t.Fatal(err)
	}
	q := serve(t, opened(t, window, kept, ""), nil)
	if page := q.get(200, q.one+"/edits"); !strings.Contains(page, "<code>e1</code>") || strings.Contains(page, "rungs, ") {
		t.Errorf("an edit of an earlier version:\n%s", page)
	}
}

func TestADraftIsEditedBeforeItIsApplied(t *testing.T) {
	p := serve(t, home(t, window, messages(40)), nil)
	before := p.status().Status.Tokens
	v := token(p)
	v.Set("target", "9000")
	p.wants(p.get(200, p.one+"/condense?target=9000"), `formaction="/precis/`+p.one+`/draft"`)
	page := p.post(200, p.one+"/draft", v)
	p.wants(page, "Nothing is in force yet.", "Digest of messages", "Apply")
	if p.status().Status.Tokens != before {
		t.Fatal("a draft is in force")
	}
	action := regexp.MustCompile(`action="/precis/([^"]+/draft/[A-Z0-9]+)"`).FindStringSubmatch(page)
	field := regexp.MustCompile(`name="(text\.[^"]+)"`).FindStringSubmatch(page)
	if action == nil || field == nil {
		t.Fatalf("the page has no form: %v %v", action, field)
	}
	text := func(s string) url.Values { return url.Values{"token": v["token"], field[1]: {s}} }
	p.post(403, action[1], url.Values{field[1]: {"without a token"}})
	p.post(400, action[1], text(" "))
	p.wants(p.post(200, action[1], text("I read <b>files</b>.")), "Done: condensation")
	p.wants(p.get(200, p.one), "I read &lt;b&gt;files&lt;/b&gt;.", "Never write to the disk.")
	p.post(404, action[1], text("again"))
	p.submit(200, p.one+"/do/undo", p.one+"/do/undo", nil)
	if now := p.status().Status.Tokens; now != before {
		t.Errorf("after one undo the view has %d tokens, before it had %d", now, before)
	}
	p = serve(t, home(t, window, messages(40)), func(o *dashboard.Options) { o.Edits = false })
	p.post(403, p.one+"/draft", token(p))
}

func TestARangeIsCondensed(t *testing.T) {
	p := serve(t, home(t, window, messages(40)), nil)
	p.wants(p.get(200, p.one+"?from=20"), "condense?from=0&amp;to=21", "condense?from=20&amp;to=81", "Condense up to here", "Condense from here")
	p.wants(p.get(200, p.one+"/condense?from=0&to=21"), "Only these messages:", "m0-m20")
	p.submit(200, p.one+"/condense?from=0&to=21", p.one+"/condense", nil)
	list, err := conversation.Edits(t.Context(), p.Home, p.ID())
	if err != nil || len(list.Items) == 0 {
		t.Fatal(list, err)
	}
	for _, e := range list.Items {
		one, err := conversation.Edit(t.Context(), p.Home, p.ID(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range one.Changes {
			if c.Handle.To > 21 {
				t.Errorf("%s changes %s", e.Name, c.Handle)
			}
		}
	}
	p.wants(p.get(200, p.one+"/condense?from=9&to=3"), "are no range")
	p.get(400, p.one+"/condense?from=x&to=3")
	p.get(400, p.one+"/condense?to=-1")
}

func parse(t *testing.T, text string) precis.Handle {
	t.Helper()
	h, err := precis.ParseHandle(text)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// token returns what a form must carry.
func token(p *place) url.Values {
	p.Helper()
	found := hidden.FindStringSubmatch(p.get(200, ""))
	if found == nil || found[1] != "token" {
		p.Fatal("the page has no token")
	}
	return url.Values{"token": {found[2]}, "messages": {"3"}}
}

func TestLongConversationsHavePages(t *testing.T) {
	p := serve(t, home(t, 1_000_000, messages(300)), nil)
	rows := regexp.MustCompile(`<li class="unit `)
	page, seen := p.get(200, p.one), 0
	for range 10 {
		seen += len(rows.FindAllString(page, -1))
		next := regexp.MustCompile(`rel="next" data-more href="/precis/([^"]+)"`).FindStringSubmatch(page)
		if next == nil {
			break
		}
		page = p.get(200, next[1])
	}
	if seen != 601 {
		t.Errorf("the pages show %d messages of 601", seen)
	}
	p.wants(p.get(200, p.one+"?from=450"), `id="m450"`, `rel="prev"`, "from=350", "from=550")
}

func TestSettingsAreChanged(t *testing.T) {
	s := &settings{s: policy.DefaultSettings()}
	p := serve(t, home(t, window, messages(3)), func(o *dashboard.Options) { o.Settings = s })
	p.wants(p.submit(200, "settings", "settings", url.Values{"percent": {"66"}}), "from the next request on", `value="66"`)
	if s.s.Percent != 66 {
		t.Errorf("the threshold is %g", s.s.Percent)
	}
	p.submit(400, "settings", "settings", url.Values{"percent": {"two"}})
	p.submit(400, "settings", "settings", url.Values{"percent": {"NaN"}})
	s.fixed = true
	p.wants(p.get(200, "settings"), "disabled", "Read-only")
	p.submit(403, "settings", "settings", nil)
}

func TestSettingsAreWrittenToTheirFile(t *testing.T) {
	s := &settings{s: policy.DefaultSettings()}
	k := &kept{settings: s, file: "/etc/<precis>.yaml", unsaved: "threshold: 66\n"}
	p := serve(t, home(t, window, messages(3)), func(o *dashboard.Options) { o.Settings = k })
	p.wants(p.get(200, "settings"), `name="save"`, "Write them to /etc/&lt;precis&gt;.yaml, too", ">threshold: 66\n</pre>")
	p.wants(p.submit(200, "settings", "settings", url.Values{"percent": {"66"}}), "in force from the next request on.")
	if s.saved {
		t.Error("nobody asked for the file")
	}
	for _, form := range []url.Values{{"percent": {"67"}, "save": {"on"}}, {"preset": {"frugal"}, "save": {"on"}}} {
		s.saved = false
		p.wants(p.submit(200, "settings", "settings", form), "and in the file.")
		if !s.saved {
			t.Errorf("%v is not written", form)
		}
	}
	k.file, k.unsaved = "", ""
	page := p.get(200, "settings")
	p.wants(page, "There is no configuration file")
	if strings.Contains(page, `name="save"`) || strings.Contains(page, "<pre") {
		t.Error("the page offers a file that is not there")
	}
	k.file, k.unsaved, s.fixed = "/etc/precis.yaml", "threshold: 66\n", true
	if page := p.get(200, "settings"); strings.Contains(page, "/etc/") || strings.Contains(page, "threshold: 66") || strings.Contains(page, "There is no configuration file") {
		t.Error("who may not change settings sees their file")
	}
}

func TestPreferences(t *testing.T) {
	p := serve(t, home(t, window, messages(3)), nil)
	p.wants(p.submit(200, p.one, "prefs", url.Values{"theme": {"dark"}}), `class="dark"`, "I read file 0.")
	page := p.submit(200, p.one, "prefs", url.Values{"mask": {"on"}})
	if strings.Contains(page, "I read file") || !strings.Contains(page, "• •••• ••••") {
		t.Error("what was said is not masked")
	}
	p.wants(p.submit(200, p.one, "prefs", url.Values{"lang": {"ja"}}), `lang="ja"`, "設定")
	p.wants(p.submit(200, p.one+"?lang=fr&from=4", "prefs", url.Values{"lang": {"ja"}}), `lang="ja"`, "m4") // the choice goes before the address
	p.wants(p.submit(200, p.one, "prefs", url.Values{"lang": {"xx"}, "back": {"https://evil.example/"}}), "会話")
	other := serve(t, home(t, window, messages(3)), nil)
	other.wants(other.get(200, "", "Accept-Language", "de, fr-CA;q=0.8"), `lang="fr"`)
	other.wants(other.get(200, "?lang=zh"), `lang="zh"`)
}

func TestAnEmptyListSaysWhatFillsIt(t *testing.T) {
	p := serve(t, home(t, window, messages(1)), func(o *dashboard.Options) {
		o.Fill = "run <this>"
		o.Home = func(*http.Request) (conversation.Home, error) {
			return shelf.InStore(shelf.StoreOptions{Store: memory.New()}), nil
		}
	})
	p.wants(p.get(200, ""), "No conversation yet", "run &lt;this&gt;")
	p.wants(p.get(200, "costs"), "No request has been booked")
}

func TestTheOverviewHasTotals(t *testing.T) {
	st, now := memory.New(), time.Unix(1_760_000_000, 0)
	for i := range 2 {
		if err := st.PutConversation(t.Context(), store.Record{ID: fmt.Sprint("c", i), Title: "A <task>", Tokens: 3000, Updated: now}); err != nil {
			t.Fatal(err)
		}
	}
	p := serve(t, home(t, window, messages(1)), func(o *dashboard.Options) {
		o.Now = func() time.Time { return now }
		o.Home = func(*http.Request) (conversation.Home, error) {
			return shelf.InStore(shelf.StoreOptions{Store: st, Manager: manager(t, preset.Frugal)}), nil
		}
	})
	if page := p.get(200, ""); !strings.Contains(page, `<strong data-fig="conversations">2</strong> conversations in all`) || strings.Contains(page, "paid for") {
		t.Error("the conversations are not counted, or totals of an empty ledger are shown")
	}
	for _, e := range []precis.LedgerEntry{
		{Time: now.Add(-40 * 24 * time.Hour), Kind: "request", CostUSD: 64, Before: 9000, After: 9000},
		{Time: now, Conversation: "c0", Kind: "request", CostUSD: 1.5, Before: 2000, After: 1500, SavedUSD: 2},
		{Time: now, Conversation: "c1", Kind: "condensation", CostUSD: 0.25},
		{Time: now, Conversation: "forgotten", Kind: "call"},
	} {
		if err := st.Book(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	p.wants(p.get(200, ""), "in the views of the 2 conversations listed here", "<strong>6", "500 of the 2,000 tokens that clients said", "paid for 1 requests in 30 days", "$1.5", "$0.25", "1 edits",
		"<strong>$1.75</strong> net saving: $2.00 that tokens not sent would have cost at least, less $0.25 for condensing")
	p.wants(p.get(200, "costs"), "<strong>$1.75</strong> net saving", `/precis/c/c0">A &lt;task&gt;</a>`, `/precis/c/forgotten">forgotten</a>`)
	for i := range 100 { // more than a page lists
		if err := st.PutConversation(t.Context(), store.Record{ID: fmt.Sprint("d", i), Updated: now}); err != nil {
			t.Fatal(err)
		}
	}
	p.wants(p.get(200, ""), "<strong data-fig=\"conversations\">102</strong> conversations in all", "in the views of the 50 conversations listed here")
	if strings.Contains(p.get(200, "?text=c0"), "sumlist") {
		t.Error("totals of all stand above a part")
	}
}

// TestCostsAreSummedUpByOwner: where there are several owners the page of costs says what each
// used.
func TestCostsAreSummedUpByOwner(t *testing.T) {
	st, now := memory.New(), time.Unix(1_760_000_000, 0)
	p := serve(t, home(t, window, messages(1)), func(o *dashboard.Options) {
		o.Now = func() time.Time { return now }
		o.Home = func(*http.Request) (conversation.Home, error) {
			return shelf.InStore(shelf.StoreOptions{Store: st, Owner: conversation.AllOwners, Manager: manager(t, preset.Frugal)}), nil
		}
	})
	for _, owner := range []string{"ann", "<bob>"} {
		if page := p.get(200, "costs"); strings.Contains(page, "By owner") {
			t.Error("one owner alone, or none, has a table")
		}
		if err := st.Scope(owner).(precis.Ledger).Book(t.Context(), precis.LedgerEntry{Time: now, Conversation: "c", Kind: "request", CostUSD: 1.5}); err != nil {
			t.Fatal(err)
		}
	}
	p.wants(p.get(200, "costs"), "By owner", "<code>ann</code>", "<code>&lt;bob&gt;</code>")
}

func TestExperimentsCompareArms(t *testing.T) {
	st := memory.New()
	cat, ledger := st.Scope("").(store.Lister), st.Scope("").(precis.Ledger)
	for i := range 12 {
		arm, cost := "a<b>/control", 1.0
		if i%2 == 1 {
			arm, cost = "a<b>/early", 0.25
		}
		at := time.Unix(1_760_000_000, 0)
		r := store.Record{ID: fmt.Sprint("c", i), Arm: arm, Requests: 3, Created: at, Updated: at}
		if err := cat.PutConversation(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		e := precis.LedgerEntry{Time: at, Conversation: r.ID, Kind: "request", CostUSD: cost + float64(i/2)/100, Before: 2000, After: 1500}
		if err := ledger.Book(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	p := serve(t, home(t, window, messages(1)), func(o *dashboard.Options) {
		o.Home = func(*http.Request) (conversation.Home, error) {
			return shelf.InStore(shelf.StoreOptions{Store: st, Manager: manager(t, preset.Frugal)}), nil
		}
	})
	page := p.get(200, "experiments")
	p.wants(page, "<h2 class=\"said\">a&lt;b&gt;</h2>", `<th class="num">control</th><th class="num">early</th>`,
		`<td class="num">6</td><td class="num">6</td>`, "Paid, all in all", "$1.0", "$0.28", "±", "<strong>(−$0.75)</strong>", `<td class="num">3.0</td>`, "1,500")
	if strings.Count(page, "<strong>(") != 1 {
		t.Error("differences that are none are shown")
	}
	p.wants(p.get(200, "settings"), `href="/precis/experiments"`)
}

func TestOptionsAreChecked(t *testing.T) {
	for i, o := range []dashboard.Options{
		{}, {Home: func(*http.Request) (conversation.Home, error) { return nil, nil }, Base: "precis"},
		{Home: func(*http.Request) (conversation.Home, error) { return nil, nil }, Logout: func(http.ResponseWriter, *http.Request) {}},
	} {
		if _, err := dashboard.New(o); precis.CodeOf(err) != precis.CodeInvalid {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestLogin(t *testing.T) {
	h := home(t, window, messages(3))
	p := serve(t, h, func(o *dashboard.Options) {
		o.Home = func(r *http.Request) (conversation.Home, error) {
			if k, err := r.Cookie("who"); err != nil || k.Value != "me" {
				return nil, dashboard.ErrLogin
			}
			return h, nil
		}
		o.Login = func(w http.ResponseWriter, _ *http.Request, key string) error {
			if key != "secret" {
				return fmt.Errorf("no such key")
			}
			http.SetCookie(w, &http.Cookie{Name: "who", Value: "me", Path: "/precis/"})
			return nil
		}
		o.Logout = func(w http.ResponseWriter, _ *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "who", Path: "/precis/", MaxAge: -1})
		}
	})
	p.wants(p.get(200, p.one+"?from=1"), "Gateway key", `value="/precis/`+p.one+`?from=1"`)
	p.get(401, "live")
	p.get(401, p.one+"/row?part=1")
	p.wants(p.submit(403, "login", "login", url.Values{"key": {"guess"}}), "no such key")
	p.wants(p.submit(200, p.one, "login", url.Values{"key": {"secret"}}), "I read file 0.", "Log out")
	p.submit(200, p.one, "logout", nil)
	p.wants(p.get(200, ""), "Gateway key")
}

// related is a home in which one conversation began others.
type related struct {
	conversation.Home
	family conversation.Family
}

func (r related) Family(context.Context, string) (conversation.Family, error) { return r.family, nil }

func TestRelativesAreNamed(t *testing.T) {
	listed := func(id, title string) conversation.ListItem {
		return conversation.NewListItem("", store.Record{ID: id, Title: title}, false)
	}
	parent := listed("the-parent", "Plan <b>the</b> harbour")
	h := home(t, window, messages(3))
	p := serve(t, h, func(o *dashboard.Options) {
		o.Home = func(*http.Request) (conversation.Home, error) {
			return related{h, conversation.Family{Parent: &parent, Children: []conversation.ListItem{listed("a-child", "")}}}, nil
		}
	})
	p.wants(p.get(200, p.one), `begun by <a href="/precis/c/the-parent" class="said">Plan &lt;b&gt;the&lt;/b&gt; harbour</a>`, `began <a href="/precis/c/a-child" class="said">a-child</a>`)
}
