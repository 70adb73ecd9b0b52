package dashboard_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/recording"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/dashboard"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

// shotsEnv names a folder that pictures of every page are written to.
const shotsEnv = "PRECIS_SHOTS"

// gallery is a home of several conversations with costs, arms, relatives, and one whose next
// request waits.
type gallery struct {
	conversation.Home
	conversation.Stored
	conversation.Counted

	held string
	mu   sync.Mutex
	hold conversation.Holding
}

func (g *gallery) Hold(context.Context, string, time.Duration) error { return nil }
func (g *gallery) LetGo(context.Context, string, bool) error         { return nil }

func (g *gallery) Holding(_ context.Context, id string) (conversation.Holding, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if id != g.held {
		return conversation.Holding{}, nil
	}
	return g.hold, nil
}

// Family has the second conversation begun by the first, and begin the third.
func (g *gallery) Family(ctx context.Context, id string) (out conversation.Family, err error) {
	one := func(id string) *conversation.ListItem {
		var l conversation.ListItem
		if lookErr := g.Look(ctx, id, func(s *conversation.Subject) error {
			l = conversation.NewListItem(s.Owner, s.Record, true)
			return nil
		}); lookErr != nil {
			err = lookErr
		}
		return &l
	}
	switch out.Children = []conversation.ListItem{}; id {
	case "c1":
		out.Children = []conversation.ListItem{*one("c2"), *one("c4")}
	case "c2":
		out.Parent, out.Children = one("c1"), []conversation.ListItem{*one("c3")}
	case "c3":
		out.Parent = one("c2")
	case "c4":
		out.Parent = one("c1")
	}
	return out, err
}

// tasks are what the conversations of the gallery are about.
var tasks = []string{
	"Add a counter for o200k, and have --estimate choose it", "Find out why the nightly build is slow. Never touch the release branch.", "Read the logs of the last failure and name the first error",
	"Which tests cover the parser?", "Rewrite the importer so that a bad line is skipped and counted", "Why does the cache miss after every deploy?", "Translate the error messages to French",
	"Upgrade the database driver and run every test against it", "Write the release notes for 2.4", "Make the search page work without a script",
}

// newGallery fills a store: the first conversation is a recorded one, which was condensed.
func newGallery(t *testing.T, now time.Time) *gallery {
	t.Helper()
	st := memory.New()
	m := manager(t, preset.Balanced)
	f, err := recording.Open(filepath.Join("..", "examples", "add-a-counter.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	arms := []string{"", "early/control", "early/sixty", "early/control", "early/sixty", "early/alone"}
	for i, title := range tasks {
		msgs, size := messages(6+7*i), 64_000
		if i == 0 {
			msgs, size = f.Conversation.Transcript.Messages(), 200_000
		}
		msgs = append([]precis.Message{precis.NewText(precis.RoleUser, title)}, msgs[1:]...)
		head, err := st.Append(t.Context(), precis.Fingerprint{}, msgs...)
		if err != nil {
			t.Fatal(err)
		}
		at := now.Add(-time.Duration(i*i*37+2) * time.Minute)
		model, tokens := []string{"claude-sonnet-4-5", "gpt-5.1", "claude-haiku-4-5"}[i%3], 0
		for _, msg := range msgs {
			tokens += m.NewMeter().Message(msg)
		}
		rec := store.Record{ID: fmt.Sprint("c", i+1), Title: title, Dialect: "anthropic", Model: model, Client: []string{"Claude Code", "Codex", "opencode"}[i%3],
			Head: head, Messages: len(msgs), Tokens: tokens, Window: size, Requests: len(msgs) / 2, Created: at.Add(-time.Hour), Updated: at, Arm: arms[i%len(arms)]}
		if err := st.PutConversation(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		for n := range 6 * (i + 2) {
			said := tokens * (n + 1) / (6 * (i + 2))
			e := precis.LedgerEntry{Time: at.Add(-time.Duration(n*n) * time.Hour), Conversation: rec.ID, Model: rec.Model, Kind: "request", Before: said, After: said - said*(n%7)/10,
				Usage: precis.Usage{Input: said / 9, CacheRead: said / 2, Output: 300}, CostUSD: 0.021 + float64(said)*2e-7}
			e.SavedUSD = float64(e.Before-e.After) * 3e-7
			if err := st.Book(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		if err := st.Book(t.Context(), precis.LedgerEntry{Time: at, Conversation: rec.ID, Kind: "condensation", CostUSD: 0.011}); err != nil {
			t.Fatal(err)
		}
	}
	h := shelf.InStore(shelf.StoreOptions{Store: st, Manager: m, Window: func(model string) precis.Window {
		if strings.HasPrefix(model, "claude-sonnet") {
			return precis.Window{Tokens: 200_000, Source: precis.SourceCatalog, Detail: model}
		}
		return precis.Window{Tokens: 64_000, Source: precis.SourceConfigured}
	}})
	for i := range tasks { // as the pages count them
		id := fmt.Sprint("c", i+1)
		d, err := conversation.Status(t.Context(), h, id)
		if err == nil {
			d.Record.Tokens = d.Status.Tokens
			err = st.PutConversation(t.Context(), d.Record)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for id, target := range map[string]policy.Tokens{"c1": 30_000, "c6": 12_000, "c9": 20_000} {
		if _, err := conversation.Condense(t.Context(), h, id, conversation.CondenseOptions{Target: target}); err != nil {
			t.Fatal(err)
		}
	}
	return &gallery{Home: h, Stored: h, Counted: h.(conversation.Counted), held: "c6", hold: conversation.Holding{Ordered: true, Waiting: true, Limit: 120, Until: now.Add(90 * time.Second)}}
}

// shownSettings are what a file could hold.
type shownSettings struct {
	values      []dashboard.SettingsValue
	experiments []dashboard.SettingsExperiment
}

func newShownSettings() *shownSettings {
	value := func(key, value, from, help string, choices ...string) dashboard.SettingsValue {
		return dashboard.SettingsValue{Key: key, Value: value, From: from, Help: help, Choices: choices}
	}
	prompt := value("summarizer.prompt", "", "default", "prompt that replaces the template")
	prompt.Long, prompt.Builtin = 12_000, condense.Prompt{}.Text()
	return &shownSettings{
		values: []dashboard.SettingsValue{
			value("summarizer.model", "claude-haiku-4-5", "config.yaml:7", "model that writes summaries; own: that of each conversation; empty: none, digests are written without one"),
			value("summarizer.template", "", "default", "what is asked for: nine, six or brief", "", "nine", "six", "brief"), prompt,
			value("keep.messages", "3", "preset balanced", "newest messages always kept"), value("spend.day", "5", "config.yaml:12", "dollars that condensing may cost in a day; 0: no limit"),
		},
		experiments: []dashboard.SettingsExperiment{{Name: "early", Share: "50", Arms: []dashboard.SettingsArm{
			{Name: "control", Weight: "1"}, {Name: "sixty", Weight: "2", Threshold: "60", Others: []string{"summarizer.template: brief"}}, {Name: "alone", Alone: true, Weight: "1"},
		}}},
	}
}

// TestPicturesOfEveryPage writes pictures of every page, in light, dark and on a phone, into
// the folder that PRECIS_SHOTS names. Without it nothing is drawn.
func TestPicturesOfEveryPage(t *testing.T) {
	dir := os.Getenv(shotsEnv)
	if dir == "" {
		t.Skip(shotsEnv + " names no folder")
	}
	now := time.Now().Truncate(time.Minute)
	g := newGallery(t, now)
	v := newValued()
	v.shown = newShownSettings()
	base := home(t, window, messages(20))
	p := serve(t, base, func(o *dashboard.Options) {
		o.Home = func(*http.Request) (conversation.Home, error) { return g, nil }
		o.Settings, o.Source, o.Now = v, "precis gateway", func() time.Time { return now }
	})
	p.one = "c/c1"
	alone := serve(t, opened(t, 200_000, filepath.Join("..", "examples", "add-a-counter.jsonl"), filepath.Join(t.TempDir(), "x.precis")), func(o *dashboard.Options) { o.Now = nil })
	away := serve(t, base, func(o *dashboard.Options) {
		o.Home = func(*http.Request) (conversation.Home, error) { return nil, dashboard.ErrLogin }
		o.Login, o.Logout = func(http.ResponseWriter, *http.Request, string) error { return nil }, func(http.ResponseWriter, *http.Request) {}
	})
	pages := []struct {
		name, path, js, until string
		most                  int // height; 0: longest
	}{
		{"overview", "", "", "", 0}, {"search", "search?q=setting_8", "", "", 1000}, {"settings", "settings", "", "", 0}, {"experiments", "experiments", "", "", 0}, {"costs", "costs", "", "", 0}, {"view", "c/c1", "", "", 1000},
		{"fold", "c/c1", `document.querySelector(".fold summary").click()`, `document.querySelector(".fold .load article")`, 1000}, {"time", "c/c1/time?at=90", "", "", 1000}, {"edits", "c/c1/edits", `document.querySelectorAll(".edits details").forEach((d) => d.open = true)`, "true", 0},
		{"loss", "c/c6/loss", "", "", 0}, {"work", "c/c1/work", "", "", 1000}, {"family", "c/c2/family", "", "", 0}, {"message", "c/c1/m/m9", "", "", 1000}, {"condense", "c/c10/condense?target=20000", "", "", 1000},
		{"held", "c/c6", "", "", 1000}, {"restore", "c/c1/do/restore?handle=m9", "", "", 0}, {"error", "nowhere", "", "", 0}, {"keys", "", `document.querySelector("#keys").showModal()`, "true", 0},
		{"jump", "", `document.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true}))`, `document.querySelector("#jump[open] .found a")`, 0}, {"hold", "c/c1", `document.querySelector("details.hold").open = true`, "true", 1000},
	}
	b := openTab(t, p)
	for _, look := range []struct {
		name, scheme string
		width        int
		phone        bool
	}{{"light", "light", 1280, false}, {"dark", "dark", 1280, false}, {"phone", "light", 390, true}, {"phone-dark", "dark", 390, true}} {
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}}); err != nil {
			t.Fatal(err)
		}
		for _, pg := range pages {
			b.place = p
			shoot(b, filepath.Join(dir, pg.name+"-"+look.name+".png"), pg.path, pg.js, pg.until, look.width, pg.most, look.phone)
		}
		b.place = alone
		shoot(b, filepath.Join(dir, "compare-"+look.name+".png"), alone.one+"/compare?a=balanced&b=roo&target=60000", "", "", look.width, 1000, look.phone)
		draft := draftOf(alone)
		shoot(b, filepath.Join(dir, "draft-"+look.name+".png"), draft, "", "", look.width, 1000, look.phone)
		b.place = away
		shoot(b, filepath.Join(dir, "login-"+look.name+".png"), "", "", "", look.width, 0, look.phone)
	}
}

// longest is how long a picture is at most, in pixels.
const longest = 2000

// shoot draws one page, as long as it is, but not longer than that.
func shoot(b *tab, path, page, js, until string, width, most int, phone bool) {
	b.T.Helper()
	size := func(height int) {
		b.T.Helper()
		params := emulation.SetDeviceMetricsOverrideParams{Width: int64(width), Height: int64(height), DeviceScaleFactor: 1, Mobile: phone}
		if _, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, params); err != nil {
			b.T.Fatal(err)
		}
	}
	size(longest) // so that all rows are in sight, which have their bars drawn then
	b.open(page)
	b.until(`document.readyState === "complete" && document.querySelector("[data-src]:not(details)") === null`)
	if js != "" {
		b.do(chromedp.Evaluate[chromedp.Void](js))
		b.until(until)
	}
	size(800)
	if phone {
		most = 1200
	}
	size(min(max(value[int](b, `document.documentElement.scrollHeight`), 800), cmp.Or(most, longest)))
	data, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		data, err = small(data)
	}
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		b.T.Fatal(err)
	}
}

// small writes a picture with 256 colors, which takes a third of the bytes: the most
// frequent ones that differ from each other.
func small(data []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	counts := map[color.Color]int{}
	r := full.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			counts[full.At(x, y)]++
		}
	}
	colors := slices.Collect(maps.Keys(counts))
	slices.SortFunc(colors, func(a, b color.Color) int { return cmp.Compare(counts[b], counts[a]) })
	var palette color.Palette
	for _, c := range colors {
		if len(palette) < 256 && !slices.ContainsFunc(palette, func(o color.Color) bool { return alike(c, o) }) {
			palette = append(palette, c)
		}
	}
	few := image.NewPaletted(r, palette)
	nearest := map[color.Color]uint8{}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := full.At(x, y)
			i, ok := nearest[c]
			if !ok {
				i = uint8(few.Palette.Index(c))
				nearest[c] = i
			}
			few.SetColorIndex(x, y, i)
		}
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few)
	return out.Bytes(), err
}

// alike reports whether two colors can stand for each other.
func alike(a, b color.Color) bool {
	ar, ag, ab, _ := a.RGBA()
	br, bg, bb, _ := b.RGBA()
	apart := func(x, y uint32) uint32 { return (max(x, y) - min(x, y)) >> 8 }
	return apart(ar, br)+apart(ag, bg)+apart(ab, bb) < 24
}
