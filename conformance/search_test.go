package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/block"
	"github.com/precis-dev/precis/conversation/find"
	"github.com/precis-dev/precis/conversation/recording"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/internal/words"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/sessions"
	"github.com/precis-dev/precis/store"
)

// searched is a window that every view fits into.
var searched = precis.Window{Tokens: 100_000_000, Source: precis.SourceConfigured}

// windowRunes is the length of the strings that a search has to find.
const windowRunes = 20

// viewTexts returns the texts of a view, as it is shown: the system prompt and each block.
func viewTexts(v conversation.ViewInfo) []string {
	var out []string
	var add func([]block.Content)
	add = func(list []block.Content) {
		for _, c := range list {
			out = append(out, c.Text, c.Title)
			add(c.Content)
		}
	}
	add(v.System)
	for _, u := range v.Units {
		for _, m := range u.Messages {
			add(m.Blocks)
		}
	}
	return out
}

// sampledWindows returns about n strings of the texts of a view, spread evenly over all characters. They begin and end with
// no white space, which a search does not tell apart.
func sampledWindows(v conversation.ViewInfo, n int) (out []string) {
	texts := viewTexts(v)
	step := max(1, len(strings.Join(texts, ""))/n)
	at := step / 2
	for _, text := range texts {
		for ; at < len(text); at += step {
			from := at
			for from > 0 && !utf8.RuneStart(text[from]) {
				from--
			}
			runes := []rune(text[from:min(len(text), from+4*windowRunes)])
			if s := strings.TrimSpace(string(runes[:min(len(runes), windowRunes)])); s != "" && utf8.ValidString(s) && !strings.ContainsRune(s, utf8.RuneError) {
				out = append(out, s)
			}
		}
		at -= len(text)
	}
	return out
}

// plainAndCondensed returns a recording twice: as it is, and as a pass of precis leaves it.
func plainAndCondensed(t *testing.T, m *policy.Manager, path string) []*recording.File {
	t.Helper()
	var out []*recording.File
	for range 2 {
		f, err := recording.Read(content(t, path))
		if err != nil {
			t.Skip(err)
		}
		out = append(out, f)
	}
	conv := out[1].Recording.Conversation
	all, err := m.Status(policy.Request{Conversation: conv, Window: searched})
	if err != nil {
		t.Fatal(err)
	}
	half := precis.Window{Tokens: max(4_000, all.Tokens/2), Source: precis.SourceConfigured}
	if _, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: half, TriggeredBy: precis.TriggeredManual}); err != nil {
		t.Log(err)
	}
	return out
}

// Every string of 20 characters that the view of a recording holds is found in it, whoever shows it there: messages, summaries
// of agents, digests, notes and the system prompt. So are its whole words among all sessions.
func TestSearchFindsTheView(t *testing.T) {
	each := sample.Of(8, 16, 1000)
	settings, err := preset.Settings(preset.Frugal)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range sampledRecordings(t, 60, 12) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			for _, f := range plainAndCondensed(t, m, path) {
				h := f.Home(m, policy.Request{Window: searched})
				v, err := conversation.View(t.Context(), h, h.ID())
				if err != nil {
					t.Fatal(err)
				}
				lib := libraryOf(t, m, f, content(t, path))
				for _, w := range sampledWindows(v, each) {
					q, err := find.NewQuery([]string{w}, false)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := find.In(t.Context(), h, h.ID(), q); err != nil {
						t.Errorf("%q: %v", w, err)
					}
					if whole := strings.Fields(w); len(whole) > 2 {
						inner := strings.Join(whole[1:len(whole)-1], " ")
						hits, err := lib.Search(t.Context(), store.SearchQuery{Text: inner, Exact: true, Limit: 1})
						if err != nil || len(hits) == 0 && len(words.Distinct(inner)) > 0 {
							t.Errorf("%q among sessions: %v", inner, err)
						}
					}
				}
			}
		})
	}
}

// libraryOf returns a library of one session, with the edits of a file.
func libraryOf(t *testing.T, m *policy.Manager, f *recording.File, data []byte) *sessions.Library {
	t.Helper()
	r := f.Recording
	own := archive.NewContainer(r.Format, "session", data)
	plain, err := own.Read("session", formats.All())
	if err != nil {
		t.Fatal(err)
	}
	own.Edits = r.Conversation.Edits[len(plain.Conversation.Edits):]
	file, err := own.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "session.precis"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	lib, err := sessions.Open(t.Context(), sessions.Options{Places: []sessions.Place{{Root: dir, Given: true}}, Manager: m})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lib.Close() })
	if got, err := lib.Refresh(t.Context()); err != nil || got.Sessions != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	return lib
}
