package dashboard_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/dashboard"
)

const attack = `"><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>' onclick='alert(4) javascript:alert(5)`

// hostile is a conversation that attacks its readers wherever it can.
func hostile() []precis.Message {
	bidi := "user\u202etxt.exe\u2066 \x1b[2J\x00 \u200bend"
	out := messages(12)
	out = append(out,
		precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{
			precis.Text{Text: attack + bidi}, precis.Thinking{Text: attack},
			precis.ToolUse{ID: "x", Name: attack, Input: []byte(`{"` + `<b onclick=alert(6)>` + `":"<script>alert(7)</script>","command":"</pre><script>alert(8)</script>"}`)}}},
		precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "x", Content: []precis.Block{precis.Text{Text: strings.Repeat("A", 1<<20) + attack}}}}},
		precis.NewText(precis.RoleUser, "Never run "+attack+bidi),
	)
	return out
}

var tags = regexp.MustCompile(`<(script|img|b|svg) ?([^>]*)>`)

func TestHostileConversationsAreText(t *testing.T) {
	p := serve(t, home(t, 600_000, hostile()), nil)
	p.condense(4000)
	for _, path := range []string{
		"", p.one, p.one + "?from=25", p.one + "?from=3", p.one + "/time?at=26", p.one + "/edits", p.one + "/loss", p.one + "/work", p.one + "/verify", p.one + "/m/m25", p.one + "/m/m26", p.one + "/m/m27",
		p.one + "/condense?target=2000&focus=" + url.QueryEscape(attack), "search?q=" + url.QueryEscape("<script>alert(1)"), "search?q=onerror", "?text=" + url.QueryEscape(attack),
		"jump?part=1&q=onerror", p.one + "/compare?a=frugal", p.one + "/do/pin?handle=m3&back=" + url.QueryEscape("javascript:alert(9)"),
	} {
		page := p.get(200, path)
		for _, tag := range tags.FindAllStringSubmatch(page, -1) {
			own := tag[1] == "script" && strings.HasPrefix(tag[2], `src="/precis/assets/app-`) || tag[1] == "svg" || tag[1] == "b"
			if !own || strings.Contains(tag[2], "alert") || strings.Contains(tag[2], " on") {
				t.Errorf("%s: the page holds %s", path, tag[0])
			}
		}
		for _, bad := range []string{"\u202e", "\u2066", "\x1b", "\x00", "\u200b", "javascript:alert(9)", "style="} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: the page holds %q", path, bad)
			}
		}
		if len(page) > 3<<20 {
			t.Errorf("%s: %d bytes", path, len(page))
		}
	}
	p.wants(p.get(200, p.one+"/m/m25"), "&lt;U+202E&gt;", "␛[2J", "&lt;script&gt;")
}

func TestAnswersAreGuarded(t *testing.T) {
	p := serve(t, home(t, window, messages(3)), nil)
	for _, path := range []string{"", p.one, "nowhere", "settings"} {
		res, err := p.client.Get(p.url + "/precis/" + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		header := res.Header.Get("Content-Security-Policy")
		if !strings.Contains(header, "default-src 'none'; script-src 'self'; style-src 'self'") || strings.Contains(header, "unsafe") ||
			res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, res.Header)
		}
	}
	style := regexp.MustCompile(`/precis/assets/style-\w+\.css`).FindString(p.get(200, ""))
	res, err := p.client.Get(p.url + style)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.Header.Get("Content-Type") != "text/css; charset=utf-8" || !strings.Contains(res.Header.Get("Cache-Control"), "immutable") || res.Header.Get("ETag") == "" {
		t.Errorf("%s: %v", style, res.Header)
	}
	p.get(http.StatusNotModified, strings.TrimPrefix(style, "/precis/"), "If-None-Match", res.Header.Get("ETag"))
}

func TestFormsOfOthersAreRefused(t *testing.T) {
	p := serve(t, home(t, window, messages(5)), nil)
	post := func(status int, v url.Values, headers ...string) {
		t.Helper()
		v.Set("handle", "m1")
		req, err := http.NewRequest(http.MethodPost, p.url+"/precis/"+p.one+"/do/pin", strings.NewReader(v.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for i := 0; i+1 < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		p.send(status, req)
	}
	good := token(p)
	post(403, url.Values{})
	post(403, url.Values{"token": {"AAAAAAAAAAAAAAAAAAAAAAAAAA"}})
	post(403, good, "Origin", "https://evil.example")
	post(403, good, "Sec-Fetch-Site", "cross-site")
	if n := p.status().Edits.Total; n != 0 {
		t.Fatalf("%d edits were made", n)
	}
	post(200, good, "Sec-Fetch-Site", "same-origin")
	if n := p.status().Edits.Total; n != 1 {
		t.Errorf("%d edits were made, want 1", n)
	}
	req, err := http.NewRequest(http.MethodGet, p.url+"/precis/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "rebound.example"
	p.send(403, req)
}

func TestReadOnlyRefuses(t *testing.T) {
	p := serve(t, home(t, window, messages(20)), func(o *dashboard.Options) { o.Edits = false })
	v := token(p)
	for _, path := range []string{"/do/pin", "/do/undo", "/do/rewind", "/condense"} {
		p.wants(p.post(http.StatusForbidden, p.one+path, v), "Read-only")
	}
	page := p.get(200, p.one+"/do/pin?handle=m1")
	if strings.Contains(page, `action="/precis/`+p.one+`/do/pin"`) || !strings.Contains(page, "Read-only") {
		t.Error("a read-only page offers an edit")
	}
	if n := p.status().Edits.Total; n != 0 {
		t.Errorf("%d edits were made", n)
	}
}
