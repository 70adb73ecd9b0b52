package origin_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/precis-dev/precis/internal/origin"
)

func TestPagesOfOtherSitesStayOut(t *testing.T) {
	for name, tt := range map[string]struct {
		host   string
		header map[string]string
		ok     bool
	}{
		"a program":                    {"127.0.0.1:8377", nil, true},
		"a page of ours":               {"127.0.0.1:8377", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8377"}, true},
		"an address that is typed":     {"localhost:8377", map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, true},
		"a link of another site":       {"localhost:8377", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, true},
		"an image of another site":     {"localhost:8377", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, false},
		"a script of another port":     {"localhost:8377", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, false},
		"a page of another port":       {"127.0.0.1:8377", map[string]string{"Origin": "http://127.0.0.1:9999"}, false},
		"a name that resolves to here": {"evil.example:8377", nil, false},
		"a host that is allowed":       {"precis.example:8377", nil, true},
		"a page of it":                 {"127.0.0.1:8377", map[string]string{"Origin": "https://precis.example", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, true},
		"an origin that is allowed":    {"127.0.0.1:8377", map[string]string{"Origin": "app://name"}, true},
		"another of its kind":          {"127.0.0.1:8377", map[string]string{"Origin": "app://names"}, false},
		"no origin at all":             {"127.0.0.1:8377", map[string]string{"Origin": "null"}, false},
	} {
		r := httptest.NewRequest("GET", "/precis/search?q=word", nil)
		r.Host = tt.host
		for k, v := range tt.header {
			r.Header.Set(k, v)
		}
		allowed := []string{"precis.example", "app://name"}
		served := false
		inner := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if served = true; origin.Check(r, nil) != nil {
				t.Errorf("%s: what has passed is refused behind it", name)
			}
		})
		w := httptest.NewRecorder()
		origin.Handler(func() []string { return allowed }, func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(403) }, inner).ServeHTTP(w, r)
		if served != tt.ok || (w.Code == 403) == tt.ok || (origin.Check(r, allowed) == nil) != tt.ok {
			t.Errorf("%s: served %v, %d", name, served, w.Code)
		}
	}
}
