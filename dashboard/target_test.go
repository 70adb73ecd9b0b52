package dashboard_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// 20 typed into a field of a target is refused with both readings, and changes nothing.
func TestDoubtfulTargetsOfForms(t *testing.T) {
	p := serve(t, home(t, window, messages(40)), nil)
	before := p.status().Status.Tokens
	token := tokenOf(t, p.get(http.StatusOK, p.one+"/condense?target=9000"))
	for _, target := range []string{"20", " 20 ", "20.0", "1", "999", "-20", "120%", "NaN", "1e30", "0%", "many"} {
		q := "?target=" + url.QueryEscape(target)
		for _, page := range []string{p.get(http.StatusBadRequest, p.one+"/condense"+q), p.get(http.StatusBadRequest, p.one+"/compare"+q+"&a=frugal&b=roo")} {
			if strings.TrimSpace(target) == "20" {
				p.wants(page, "20%", "20 tokens")
			}
		}
		p.submit(http.StatusBadRequest, p.one+"/condense?target=9000", p.one+"/condense", url.Values{"target": {target}})
		p.post(http.StatusBadRequest, p.one+"/draft", url.Values{"token": {token}, "target": {target}})
	}
	if now := p.status(); now.Status.Tokens != before || now.Edits.InForce > 0 {
		t.Errorf("%+v", now.Edits)
	}
	p.wants(p.get(http.StatusOK, p.one+"/condense?target=20%25"), `value="20%"`, "Condense now")
}

// What would be lost is shown before, with a second click of its own; the first one is
// refused, and one that is forced is no success.
func TestASecondClickForWhatIsLost(t *testing.T) {
	p := serve(t, home(t, window, messages(40)), nil)
	tiny := p.one + "/condense?target=" + url.QueryEscape("0.1%")
	page := p.get(http.StatusOK, tiny)
	p.wants(page, "Do it all the same", "In no form would the model see any more", `class="act bad" name="force"`)
	if strings.Contains(page, "Condense now") {
		t.Error("there is an ordinary button, too")
	}
	page = p.submit(http.StatusConflict, tiny, p.one+"/condense", nil)
	p.wants(page, "Nothing was changed", "Do it all the same")
	if now := p.status(); now.Edits.InForce > 0 {
		t.Fatalf("%+v", now.Edits)
	}
	draft := p.post(http.StatusOK, p.one+"/draft", url.Values{"token": {tokenOf(t, page)}, "target": {"0.1%"}, "force": {"1"}})
	p.wants(draft, "Do it all the same")
	page = p.submit(http.StatusOK, tiny, p.one+"/condense", url.Values{"force": {"1"}})
	p.wants(page, `class="flash failure"`)
	if now := p.status(); now.Edits.InForce == 0 {
		t.Error("force does not help")
	}

}

func tokenOf(t *testing.T, page string) string {
	t.Helper()
	m := regexp.MustCompile(`name="token" value="([^"]+)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatal("the page has no token")
	}
	return m[1]
}
