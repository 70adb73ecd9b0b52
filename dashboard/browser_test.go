package dashboard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/dashboard"
	"github.com/precis-dev/precis/policy"
)

// tab is a page in a real browser. What its console says, and what its policy refuses,
// fails the test.
type tab struct {
	*testing.T
	*place
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

// chromium returns the browser; tests skip where there is none, unless
// CI_REQUIRE_CHROMIUM is set, and with -short.
func chromium(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes long")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI_REQUIRE_CHROMIUM") != "" {
		t.Fatal("chromium is missing, and CI_REQUIRE_CHROMIUM is set")
	}
	t.Skip("chromium is not installed: the pages are not tried in a browser")
	return ""
}

// openTab opens a browser on a dashboard.
func openTab(t *testing.T, p *place) *tab {
	t.Helper()
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(chromium(t)), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-gpu", true))
	alloc, stop := chromedp.NewExecAllocator(t.Context(), o...)
	t.Cleanup(stop)
	ctx, leave := chromedp.NewContext(alloc)
	t.Cleanup(leave)
	b := &tab{T: t, place: p, ctx: ctx}
	b.do(chromedp.Navigate("about:blank"))
	err := chromedp.Listen(ctx, b.hear)
	if err == nil {
		_, err = chromedp.Call(ctx, cdplog.Enable, cdp.Empty{})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.quiet)
	return b
}

// hear notes what goes wrong in the page. Answers that are errors are looked at by the
// tests themselves.
func (b *tab) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.problems = append(b.problems, "console: "+string(e.Type))
	case *cdplog.EventEntryAdded:
		if !strings.Contains(e.Entry.Text, "the server responded with a status of") {
			b.problems = append(b.problems, "log: "+e.Entry.Text)
		}
	}
}

// quiet fails the test for what went wrong.
func (b *tab) quiet() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.T.Error("in the page: ", p)
	}
	b.problems = nil
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	if err := b.try(steps...); err != nil {
		b.T.Fatal(err)
	}
}

func (b *tab) try(steps ...chromedp.Action[chromedp.Void]) error {
	ctx := b.ctx
	if chromedpStarted(ctx) {
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		ctx = limited
	}
	return chromedp.Do(ctx, steps...)
}

// chromedpStarted reports whether the browser of a context runs: a limit of the first
// call would be one of the whole browser.
func chromedpStarted(ctx context.Context) bool {
	c := chromedp.FromContext(ctx)
	return c != nil && c.Browser != nil
}

// open opens a page below the base: again when the page that is shown goes somewhere itself meanwhile, as after a form.
func (b *tab) open(path string) {
	b.T.Helper()
	const tries = 5
	for n := 1; ; n++ {
		err := b.try(chromedp.Navigate(b.url + "/precis/" + path))
		if err == nil {
			return
		}
		if n == tries || !strings.Contains(err.Error(), "ERR_ABORTED") {
			b.T.Fatal(err)
		}
	}
}

// value evaluates an expression in the page.
func value[V any](b *tab, js string) V {
	b.T.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[V](js))
	if err != nil {
		b.T.Fatalf("%s: %v", js, err)
	}
	return v
}

// until waits for an expression to become true, also on a page that follows.
func (b *tab) until(js string) {
	b.T.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+js+")"))
		if err == nil && ok {
			return
		}
		if time.Now().After(end) {
			b.T.Fatalf("%s does not become true: %v", js, err)
		}
	}
}

// run runs a part of a test in the same tab.
func (b *tab) run(name string, f func(t *testing.T)) {
	whole := b.T
	defer func() { b.T = whole }()
	whole.Run(name, func(t *testing.T) {
		b.T = t
		f(t)
	})
}

// key presses keys, once the page listens to them.
func (b *tab) key(keys string) {
	b.T.Helper()
	b.until(`document.readyState === "complete"`)
	b.do(chromedp.KeyEvent(keys))
}

const shown = `document.querySelector("#dialog[open]") !== null`

func TestInABrowser(t *testing.T) {
	p := serve(t, home(t, window, messages(40)), nil)
	b := openTab(t, p)
	b.run("condense by keys", func(t *testing.T) {
		b.open("")
		b.until(`document.querySelector(".row .k-tool-result") !== null`) // the bar came by itself
		b.key("j")
		b.key("\r")
		b.until(`location.pathname.startsWith("/precis/c/") && document.readyState === "complete"`)
		b.key("c")
		b.until(`location.pathname.endsWith("/condense")`)
		b.open(p.one + "/condense?target=9000")
		b.do(chromedp.Click("form[data-slow] button"))
		b.until(`document.querySelector(".flash") !== null`)
		if p.status().Edits.InForce == 0 {
			t.Error("nothing is condensed")
		}
	})
	b.run("a fold opens on its originals", func(t *testing.T) {
		b.do(chromedp.Click(".fold summary"))
		b.until(`document.querySelector(".fold .load article") !== null`)
	})
	b.run("restore and undo in the place", func(t *testing.T) {
		before := p.status()
		b.open(p.one)
		for range 5 {
			if b.key("j"); value[bool](b, `document.querySelector(".fold.on") !== null`) {
				break
			}
		}
		b.key("r")
		b.until(shown)
		b.do(chromedp.Click("#dialog button.main"))
		b.until(`document.querySelector(".flash") !== null`)
		if now := p.status(); now.Status.Tokens <= before.Status.Tokens {
			t.Errorf("%d tokens, before %d", now.Status.Tokens, before.Status.Tokens)
		}
		b.key("u")
		b.until(`document.querySelector(".flash form") === null || document.querySelector(".flash input[name=edit]") !== null`)
		waitFor(t, func() bool { return p.status().Status.Tokens == before.Status.Tokens })
	})
	b.run("pin, exclude, rewind", func(t *testing.T) {
		for _, verb := range []string{"pin", "exclude", "rewind"} {
			had := p.status().Edits.Total
			b.open(p.one)
			link := `document.querySelector("a[href*='/do/` + verb + `']")`
			b.until(link + ` !== null`) // rows are fetched
			b.do(chromedp.Evaluate[chromedp.Void](link + `.click()`))
			b.until(shown)
			b.do(chromedp.Click("#dialog button.main"))
			b.until(`document.querySelector(".flash") !== null`)
			if p.status().Edits.Total == had {
				t.Errorf("%s made no edit", verb)
			}
		}
	})
	b.run("live", func(t *testing.T) { live(t, b) })
	b.run("finding", func(t *testing.T) { finding(t, b) })
	b.run("time", func(t *testing.T) {
		b.open(p.one + "/time")
		b.do(chromedp.Evaluate[chromedp.Void](`(() => { const s = document.querySelector("[data-scrub]"); s.value = 9; s.dispatchEvent(new Event("change")); })()`))
		b.until(`location.search.includes("at=9") && document.querySelector("h2").textContent.includes("9")`)
	})
}

// What the script fetches is in the language of the page, also when the address names it.
func TestPartsAreInTheLanguageOfThePageInABrowser(t *testing.T) {
	b := openTab(t, serve(t, home(t, window, messages(5)), nil))
	b.open("?lang=fr")
	b.until(`document.querySelector(".row .k-tool-result") !== null`)
	if row := value[string](b, `document.querySelector(".row").textContent`); !strings.Contains(row, "tient") || strings.Contains(row, "fits") {
		t.Errorf("the row is %q", row)
	}
}

func TestSettingsShowWhereTheyWouldActInABrowser(t *testing.T) {
	b := openTab(t, serve(t, home(t, window, messages(3)), nil))
	b.open("settings")
	b.do(chromedp.SetValue("input[name=percent]", "40"), chromedp.Evaluate[chromedp.Void](`document.querySelector("input[name=percent]").dispatchEvent(new Event("input"))`))
	b.until(`document.querySelector("line[data-at=percent]").getAttribute("x1") === "40%"`)
	b.do(chromedp.Click(".set button"))
	b.until(`document.querySelector(".flash") !== null && document.querySelector("input[name=percent]").value === "40"`)
}

func TestSettingsAreWrittenInABrowser(t *testing.T) {
	s := &settings{s: policy.DefaultSettings()}
	k := kept{s, "/home/somebody/.config/precis/config.yaml", "threshold: 66\n"}
	b := openTab(t, serve(t, home(t, window, messages(3)), func(o *dashboard.Options) { o.Settings = k }))
	b.open("settings")
	b.until(`document.querySelector("pre.yaml").textContent === "threshold: 66\n"`)
	b.do(chromedp.Click("input[name=save]"), chromedp.Click(".set button"))
	b.until(`document.querySelector(".flash") !== null && document.querySelector(".flash").textContent.includes("in the file")`)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.saved {
		t.Error("the box is not sent")
	}
}

// waitFor waits for a condition outside the page.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not happen")
		}
	}
}

// live has somebody else edit what the page shows.
func live(t *testing.T, b *tab) {
	b.open(b.one)
	other := &place{TB: t, Home: b.place.Home, url: b.url, client: b.client, one: b.one}
	b.until(`document.documentElement.dataset.live === "on"`)
	before := value[string](b, `document.querySelector("[data-head] .meta:last-of-type, [data-head]").textContent`)
	other.submit(200, b.one+"/do/undo", b.one+"/do/undo", nil)
	b.until(`!document.querySelector(".live").hidden`)
	if now := value[string](b, `document.querySelector("[data-head]").textContent`); now == before {
		t.Error("the head stays as it was")
	}
	b.open("")
	b.until(`document.documentElement.dataset.live === "on" && document.querySelector(".row .k-tool-result") !== null`)
	tokens := value[string](b, `document.querySelector(".row .sums").textContent`)
	if _, err := conversation.Condense(t.Context(), b.place.Home, b.ID(), conversation.CondenseOptions{Target: 3000}); err != nil {
		t.Fatal(err)
	}
	other.submit(200, b.one+"/do/pin?handle=m1", b.one+"/do/pin", nil)
	b.until(fmt.Sprintf(`document.querySelector(".row .sums").textContent !== %q`, tokens))
}

// finding uses the filter, the jump dialog and the help.
func finding(t *testing.T, b *tab) {
	b.open("")
	b.key("/")
	b.do(chromedp.KeyEvent("nothing like it"))
	b.until(`document.querySelector("#list .empty") !== null && location.search.includes("text=")`)
	b.open("")
	b.key("?")
	b.until(`document.querySelector("#keys[open]") !== null`)
	b.do(chromedp.Click("#keys button"))
	b.do(chromedp.Evaluate[chromedp.Void](`document.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true}))`))
	b.until(`document.querySelector("#jump[open] .found a") !== null`)
	b.do(chromedp.KeyEvent("setting_9"))
	b.until(`document.querySelector("#jump .found .h") !== null`)
	b.key("\r")
	b.until(`location.pathname.startsWith("/precis/c/")`)
	// A link to a message that the page does not show leads to the page that does.
	b.open(b.one + "?from=70#m3")
	b.until(`document.querySelector("#m3, .fold.on") !== null`)
}

func TestHostileConversationsDoNothingInABrowser(t *testing.T) {
	p := serve(t, home(t, 600_000, hostile()), nil)
	b := openTab(t, p)
	for _, path := range []string{"", p.one, p.one + "/m/m25", p.one + "/m/m26", p.one + "/work", p.one + "/condense?target=4000", "search?q=onerror"} {
		b.open(path)
		if value[bool](b, `[...document.querySelectorAll("main *")].some((e) => e.matches("script, img, iframe") || [...e.attributes].some((a) => a.name.startsWith("on") || a.name === "style"))`) {
			t.Errorf("%s: the page holds what a conversation brought", path)
		}
	}
}

func TestPagesFitAPhone(t *testing.T) {
	p := serve(t, home(t, 600_000, hostile()), nil)
	p.condense(4000)
	b := openTab(t, p)
	if _, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 390, Height: 844, DeviceScaleFactor: 1, Mobile: true}); err != nil {
		t.Fatal(err)
	}
	fits := func(path string) {
		b.open(path)
		if over := value[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
			t.Errorf("%s: %d pixels too wide", path, over)
		}
	}
	for _, path := range everyPage(p) {
		fits(path)
	}
	held, h := serveHeld(t, func(o *dashboard.Options) { o.Settings = newValued() })
	h.state.Ordered = true
	h.wait()
	b.place = held
	fits(draftOf(held))
	fits("settings")
}

// draftOf drafts a condensation and returns the path of its page.
func draftOf(p *place) string {
	p.Helper()
	v := token(p)
	v.Set("target", "1500")
	found := regexp.MustCompile(`action="/precis/([^"]+/draft/[A-Z0-9]+)"`).FindStringSubmatch(p.post(200, p.one+"/draft", v))
	if found == nil {
		p.Fatal("nothing is drafted")
	}
	return found[1]
}

func everyPage(p *place) []string {
	return []string{
		"", "search?q=value", "settings", "experiments", "costs", p.one, p.one + "?from=3", p.one + "/time", p.one + "/edits", p.one + "/loss", p.one + "/work", p.one + "/compare", p.one + "/family",
		p.one + "/m/m3", p.one + "/condense?target=3000", p.one + "/do/pin?handle=m3", "nowhere",
	}
}

// TestPagesAreAccessible runs axe-core, which npm fetches, over every page in light and
// dark.
func TestPagesAreAccessible(t *testing.T) {
	p, h := serveHeld(t, func(o *dashboard.Options) { o.Settings = newValued() })
	p.condense(4000)
	h.state.Ordered = true
	h.wait()
	b := openTab(t, p)
	axe := axeCore(t)
	pages := append(everyPage(p), draftOf(p))
	for _, scheme := range []string{"light", "dark"} {
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
			t.Fatal(err)
		}
		for _, path := range pages {
			b.open(path)
			b.do(chromedp.Evaluate[chromedp.Void](axe))
			raw, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](
				`axe.run(document, {resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations.map((v) => [v.impact, v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200)).join(" | ")])))`, chromedp.EvalAwaitPromise))
			var found [][3]string
			if err == nil {
				err = json.Unmarshal([]byte(raw), &found)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range found {
				if v[0] == "serious" || v[0] == "critical" {
					t.Errorf("%s, %s: %s %s: %s", path, scheme, v[0], v[1], v[2])
				}
			}
		}
	}
}

// axeCore returns the script of axe-core.
func axeCore(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed: accessibility is not checked")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "axe-core@4")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		if os.Getenv("CI_REQUIRE_CHROMIUM") != "" {
			t.Fatalf("axe-core: %v\n%s", err, out)
		}
		t.Skipf("axe-core cannot be fetched: %v", err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A condensation is drafted, its text edited, and only then applied.
func TestADraftIsEditedInABrowser(t *testing.T) {
	p := serve(t, home(t, window, messages(40)), nil)
	b := openTab(t, p)
	b.open(p.one + "/condense?target=9000")
	b.do(chromedp.Click("form[data-slow] button[formaction]"))
	b.until(`location.pathname.includes("/draft/") && document.querySelector("form.draft textarea") !== null`)
	if p.status().Edits.InForce > 0 {
		t.Error("a draft is in force")
	}
	b.do(chromedp.SetValue("form.draft textarea", "What I remember: files were read."), chromedp.Click("form.draft button.main"))
	b.until(`document.querySelector(".flash") !== null && document.querySelector(".fold .first").textContent.includes("What I remember")`)
	if p.status().Edits.InForce == 0 {
		t.Error("nothing is condensed")
	}
}

// The next request is held, waits, and is sent.
// told are events that a test makes.
type told chan dashboard.Notice

func (e told) Follow(*http.Request, uint64) (<-chan dashboard.Notice, func()) { return e, func() {} }

func (told) Edited(*http.Request, string, []conversation.EditInfo) {}

// While a request waits for its view to be reduced, its conversation says so and for how
// long, in the list and on its own page, until the turn has ended.
func TestAReductionThatGoesOnIsShownInABrowser(t *testing.T) {
	events := make(told)
	p := serve(t, home(t, window, messages(10)), func(o *dashboard.Options) { o.Events = events })
	b := openTab(t, p)
	for path, shown := range map[string]string{"": ".row .reducing", p.one: ".live:not([hidden])"} {
		b.open(path)
		b.until(`document.documentElement.dataset.live === "on"`)
		events <- dashboard.Notice{N: 1, Kind: "reducing", Conversation: "another"}
		events <- dashboard.Notice{N: 2, Kind: "reducing", Conversation: p.ID()}
		b.until(`/^Condensing… [1-9]+ s$/.test(document.querySelector("` + shown + `")?.textContent)`)
		events <- dashboard.Notice{N: 3, Kind: "turn", Conversation: p.ID()}
		b.until(`![...document.querySelectorAll("` + shown + `")].some((e) => e.textContent.startsWith("Condensing"))`)
	}
}

func TestRequestsAreHeldInABrowser(t *testing.T) {
	p, h := serveHeld(t, func(o *dashboard.Options) { o.Now = nil })
	b := openTab(t, p)
	b.open(p.one)
	b.do(chromedp.Click("details.hold summary"))
	b.until(`document.querySelector("details.hold[open] form button") !== null`)
	b.do(chromedp.SetValue("details.hold select", "300"), chromedp.Click("details.hold form button"))
	b.until(`document.querySelector(".flash.held") !== null`)
	h.mu.Lock()
	h.state.Waiting, h.state.Until = true, time.Now().Add(90*time.Second)
	limit := h.state.Limit
	h.mu.Unlock()
	if limit != 300 {
		t.Errorf("the limit is %d s", limit)
	}
	b.open(p.one)
	b.until(`/ [0-9]+ s$/.test(document.querySelector("[data-until]").textContent)`) // it counts down
	b.do(chromedp.Click(".flash.held button.main"))
	b.until(`document.querySelector(".flash.held") === null && document.querySelector("details.hold") !== null`)
}
