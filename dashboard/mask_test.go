package dashboard_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
)

// canaries are messages with a word of its own in each field that may hold what somebody
// said, a tool was given, or a tool answered.
func canaries() (msgs []precis.Message) {
	n := 0
	word := func(where string) string { n++; return fmt.Sprintf("CANARY%s%d", where, n) }
	pad := strings.Repeat("It goes on and on, line by line.\n", 60)
	say := func(role precis.Role, b ...precis.Block) { msgs = append(msgs, precis.Message{Role: role, Content: b}) }
	say(precis.RoleUser, precis.Text{Text: "Never delete " + word("rule") + ". Read " + word("task") + "/file.go, please."})
	for i := range 14 {
		id := fmt.Sprintf("t%d", i)
		say(precis.RoleAssistant, precis.Thinking{Text: word("thinking")}, precis.Text{Text: "I say " + word("says")},
			precis.ToolUse{ID: id, Name: []string{"Bash", "Read", "Write", "TodoWrite"}[i%4], Input: []byte(fmt.Sprintf(
				`{"command":"curl -H 'x-api-key: %s' %s","file_path":"/home/%s/a.go","content":%q,"todos":[{"content":%q,"status":"pending"}]}`,
				word("key"), word("command"), word("path"), word("content")+pad, word("todo")))})
		say(precis.RoleUser, precis.ToolResult{ToolUseID: id, IsError: i%5 == 4, Content: []precis.Block{precis.Text{Text: "error: " + word("result") + "\n" + pad + word("end")}}})
	}
	say(precis.RoleAssistant, precis.Opaque{Type: "note", Raw: []byte(`{"type":"note","text":"` + word("opaque") + `"}`)}, precis.Text{Text: word("answer")})
	say(precis.RoleUser, precis.Text{Text: "And now " + word("last") + ": always keep " + word("rule2") + "."})
	return msgs
}

// With the mask on, no page shows a word of what was said, in whatever field it stands; with
// it off the pages show it.
func TestTheMaskCoversEveryField(t *testing.T) {
	p := serve(t, home(t, window, canaries()), nil)
	p.condense(4000)
	link := regexp.MustCompile(`(?:href|data-src)="/precis/([^"#]*)`)
	crawl := func() (pages map[string]string) {
		pages = map[string]string{}
		todo := []string{"", p.one, p.one + "/loss", p.one + "/work", p.one + "/verify", p.one + "/edits", p.one + "/time", p.one + "/family", p.one + "/head", p.one + "/row", "search?q=Read", "search?q=CANARY", "jump?text=Read", "costs", "settings",
			p.one + "/condense?target=" + url.QueryEscape("5%"), p.one + "/condense?target=" + url.QueryEscape("0.1%"), p.one + "/compare?a=frugal&b=roo&target=2000", "nowhere"}
		most := 250
		if testing.Short() {
			most = 60
		}
		for len(todo) > 0 && len(pages) < most {
			path := strings.ReplaceAll(todo[0], "&amp;", "&")
			todo = todo[1:]
			if _, ok := pages[path]; ok || strings.HasPrefix(path, "assets/") || strings.HasPrefix(path, "live") {
				continue
			}
			res, err := p.client.Get(p.url + "/precis/" + path)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			if res.Body.Close(); err != nil {
				t.Fatal(err)
			}
			pages[path] = string(body)
			for _, m := range link.FindAllStringSubmatch(pages[path], -1) {
				todo = append(todo, m[1])
			}
		}
		return pages
	}
	canary := regexp.MustCompile(`CANARY[a-z]+\d+`)
	where := func(pages map[string]string) map[string]bool {
		found := map[string]bool{}
		for _, page := range pages {
			for _, w := range canary.FindAllString(page, -1) {
				found[w] = true
			}
		}
		return found
	}
	open := crawl()
	if n := len(where(open)); n < 60 {
		t.Fatalf("%d canaries are on %d pages without a mask", n, len(open))
	}
	p.submit(http.StatusOK, p.one, "prefs", url.Values{"mask": {"on"}})
	masked := crawl()
	if len(masked) < 40 {
		t.Fatalf("%d pages", len(masked))
	}
	for path, page := range masked {
		if strings.Contains(path, "CANARY") {
			continue // what the reader typed
		}
		for _, at := range canary.FindAllStringIndex(page, 5) {
			t.Errorf("%s: …%s…", path, page[max(at[0]-120, 0):min(at[1]+20, len(page))])
		}
	}
	// What is ours stays readable.
	p.wants(masked[p.one+"/edits"], "digest", "condensation")
	p.wants(masked["settings"], "frugal")
	p.wants(masked[p.one+"/condense?target=5%25"], "reduced from", "Condense now")
	p.wants(masked["nowhere"], "there is no such page")
}
