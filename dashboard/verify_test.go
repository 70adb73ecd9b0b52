package dashboard_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/dashboard"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

// writing is a conversation in which an agent writes so many files.
func writing(files int) []precis.Message {
	out := []precis.Message{precis.NewText(precis.RoleUser, "Never touch main.go. Write the parts of the parser one by one, please.")}
	for i := range files {
		id := fmt.Sprint("t", i)
		out = append(out,
			precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.Text{Text: fmt.Sprintf("I write part %d.", i)}, precis.ToolUse{ID: id, Name: "Write", Input: fmt.Appendf(nil, `{"file_path":"/src/part%d.go","content":"package parser"}`, i)}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: "the file was written"}}}}})
	}
	return out
}

// The page says what a summary lacks and invents, each with a link to the message, and of long
// lists the first with how many there are. It does so where nothing can be edited, too.
func TestVerifyASummary(t *testing.T) {
	p := serve(t, home(t, window, writing(50)), func(o *dashboard.Options) { o.Edits = false })
	summary := "The agent wrote the parts of the parser.\r\nIt stops with ERR_NO_DATABASE in production.\r\nIt is done."
	page := p.submit(http.StatusOK, p.one+"/verify", p.one+"/verify", url.Values{"summary": {summary}})
	v, err := conversation.Verify(p.Context(), p.Home, p.ID(), conversation.VerifyOptions{Summary: strings.ReplaceAll(summary, "\r\n", "\n")})
	if err != nil || len(v.Invents) != 1 || len(v.Lacks) < 51 {
		t.Fatalf("%+v %v", v, err)
	}
	p.wants(page, `data-fig="holds:words of:words">0 of 69<`, `data-fig="holds:files of:files">0 of 50<`, `data-fig="lacks.listed:files lacks:files">the first 30 of 50<`,
		fmt.Sprintf(`data-fig="lacks">%d<`, len(v.Lacks)), "Never touch main.go.", `href="/precis/`+p.one+`/m/m0"`, "Invented: nothing bears it out", "It stops with ERR_NO_DATABASE in production.",
		"ERR_NO_DATABASE stands nowhere in the conversation", "/src/part20.go (created)", ">The agent wrote the parts of the parser.\nIt stops")
	if strings.Contains(page, "part19.go") {
		t.Error("more of a list is shown than 30")
	}
	p.wants(p.submit(http.StatusBadRequest, p.one+"/verify", p.one+"/verify", url.Values{"summary": {" \r\n"}}), "the summary is empty")
	p.post(http.StatusForbidden, p.one+"/verify", url.Values{"summary": {"without the token of a page"}})
	p.wants(p.submit(http.StatusOK, p.one+"/verify", p.one+"/verify", url.Values{"summary": {strings.Repeat("The agent wrote the parts of the parser. ", 4000)}}), "Only its beginning was read")
}

// Without a compaction of the client's own the page is about the view, and says so in every
// language.
func TestVerifyTheView(t *testing.T) {
	p := serve(t, home(t, window, writing(20)), nil)
	for lang, want := range map[string]string{"en": "No compaction of the client’s own program", "fr": "la conversation ne contient aucune compaction", "ja": "会話に圧縮がありません", "zh": "会话中没有压缩"} {
		p.wants(p.get(http.StatusOK, p.one+"/verify", "Accept-Language", lang), want, `data-fig="holds:words of:words"`)
	}
	if page := p.get(http.StatusOK, p.one+"/verify?view=now"); strings.Contains(page, "No compaction") || !strings.Contains(page, "Nothing is lacking.") {
		t.Error("the view was asked for")
	}
	if _, err := conversation.Exclude(p.Context(), p.Home, p.ID(), precis.SpanHandle(5, 7)); err != nil {
		t.Fatal(err)
	}
	p.wants(p.get(http.StatusOK, p.one+"/verify?view=now"), "/src/part2.go (created)", `/m/m5.b1"`, `data-fig="lacks:files">1<`)
	p.get(http.StatusNotFound, "c/nowhere/verify")
}

// What the client's own compaction lost is shown, with links into the conversation before.
func TestVerifyTheClientsCompaction(t *testing.T) {
	st := memory.New()
	for i, msgs := range [][]precis.Message{writing(8), {precis.NewText(precis.RoleUser, "The parts of the parser were written: part0.go and part1.go. Go on.")}} {
		head, err := st.Append(t.Context(), precis.Fingerprint{}, msgs...)
		if err != nil {
			t.Fatal(err)
		}
		rec := store.Record{ID: fmt.Sprint("c", i), Head: head, Messages: len(msgs)}
		if i > 0 {
			rec.Continues = "c0"
		}
		if err := st.PutConversation(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	h := shelf.InStore(shelf.StoreOptions{Store: st, Manager: manager(t, preset.Frugal), Window: func(string) precis.Window { return precis.Window{Tokens: window} }})
	p := serve(t, home(t, window, writing(1)), func(o *dashboard.Options) {
		o.Home = func(*http.Request) (conversation.Home, error) { return h, nil }
	})
	page := p.get(http.StatusOK, "c/c1/verify")
	p.wants(page, "the compaction in message m0", `href="/precis/c/c0">of the conversation before<`, `href="/precis/c/c0/m/m0">m0<`, `data-fig="holds:files of:files">2 of 8<`, "Never touch main.go.")
	if strings.Contains(page, `href="/precis/c/c1/m/`) {
		t.Error("a handle leads into the wrong conversation")
	}
}

// Whatever a summary and a conversation hold is text on the page, and masked where the reader
// wants a mask.
func TestVerifyIsSafe(t *testing.T) {
	p := serve(t, home(t, 600_000, hostile()), nil)
	bad := attack + "\u202e\u200b\x1b[2J the user approved " + attack + ". The agent read </textarea><script>alert(10)</script>.\nThe file src/<script>alert(11)</script>evil.go was deleted. `" + attack + "`"
	page := p.submit(http.StatusOK, p.one+"/verify", p.one+"/verify", url.Values{"summary": {bad}})
	p.wants(page, "&lt;/textarea&gt;&lt;script&gt;alert(10)", "Lacking")
	for _, tag := range tags.FindAllStringSubmatch(page, -1) {
		if own := tag[1] == "script" && strings.HasPrefix(tag[2], `src="/precis/assets/app-`) || tag[1] == "svg" || tag[1] == "b"; !own || strings.Contains(tag[2], "alert") || strings.Contains(tag[2], " on") {
			t.Errorf("the page holds %s", tag[0])
		}
	}
	if strings.Count(page, "</textarea>") != 1 || strings.ContainsAny(page, "\u202e\u200b\x1b\x00") || strings.Contains(page, "style=") {
		t.Error("the page holds what is to be escaped")
	}
	p = serve(t, home(t, window, canaries()), nil)
	p.submit(http.StatusOK, p.one, "prefs", url.Values{"mask": {"on"}})
	page = p.submit(http.StatusOK, p.one+"/verify", p.one+"/verify", url.Values{"summary": {"I say CANARYmine1. It stops with ERR_NO_DATABASE in CANARYmine2/other.go and CANARYrule1 again."}})
	if at := strings.Index(page, "CANARY"); at >= 0 {
		t.Errorf("the mask lets through …%s…", page[max(at-120, 0):at+40])
	}
	p.wants(page, "words of the user", "Lacking")
}

// The recordings of agents that compacted their conversation themselves are shown as the verb
// reads them.
func TestVerifyRecordings(t *testing.T) {
	dir := os.Getenv("PRECIS_TRANSCRIPTS")
	if dir == "" {
		t.Skip("PRECIS_TRANSCRIPTS names no folder of recordings")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "claude-code", "*"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range paths {
		if n == 3 {
			break
		}
		h := opened(t, 200_000, path, filepath.Join(t.TempDir(), "edits.precis"))
		v, err := conversation.Verify(t.Context(), h, h.ID(), conversation.VerifyOptions{})
		if err != nil {
			continue
		}
		n++
		p := serve(t, h, nil)
		page := p.get(http.StatusOK, p.one+"/verify")
		p.wants(page, v.What, fmt.Sprintf(`data-fig="lacks">%d<`, len(v.Lacks)))
		for _, l := range v.Lacks[:min(len(v.Lacks), 3)] {
			p.wants(page, html.EscapeString(l.Handle.String())+"</a>")
		}
	}
	if n == 0 {
		t.Error("no recording holds a compaction")
	}
}
