package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/provider/providertest"
)

// oddErrors are answers of an upstream in trouble, which say nothing true about a window, though
// some sound as if they did.
var oddErrors = []struct {
	status int
	body   string
}{
	{400, ""}, {400, "{}"}, {400, `{"error":{"message":"Bad Request"}}`}, {413, ""}, {413, `{"error":{"message":"Payload Too Large"}}`},
	{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}`},
	{400, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","code":"context_length_exceeded"}}`},
	{400, `{"error":{"message":"the request is too large: maximum context length is 12 tokens"}}`},
	{400, `{"error":{"message":"This model's maximum context length is 1048576 tokens."}}`},
	{422, `{"detail":"input too long"}`}, {500, ""}, {502, "<html>bad gateway</html>"}, {503, `{"error":{"message":"overloaded"}}`}, {529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`},
	{429, `{"error":{"message":"Rate limit reached"}}`}, {404, `{"error":{"message":"model is loading"}}`}, {200, ""}, {200, `{"type":"error","error":{"type":"api_error","message":"internal"}}`},
}

// lengthErrors are those that say that a request is too long, without a number.
var lengthErrors = []int{4, 5, 6, 9}

// odd answers as it is told, and as a healthy upstream with a window when it is told nothing.
type odd struct {
	healthy http.Handler
	next    []int // of oddErrors
}

func (o *odd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if len(o.next) == 0 || r.Method != http.MethodPost {
		var b bytes.Buffer
		_, _ = b.ReadFrom(r.Body)
		r.Body = io.NopCloser(&b) // a proxy that reads the end of a body after the answer began breaks the answer
		o.healthy.ServeHTTP(w, r)
		return
	}
	e := oddErrors[o.next[0]]
	o.next = o.next[1:]
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.status)
	_, _ = w.Write([]byte(e.body))
}

// After any sequence of odd errors and then a healthy upstream, from the third turn on no turn
// fails, and nothing is cut that the upstream would take: however full the window is.
func TestOddErrorsTeachNoWindow(t *testing.T) {
	sequential(t)
	t.Parallel()
	const tokens = 20_000
	scripted := providertest.New(t, providertest.Options{Window: tokens})
	healthy, manager := httputil.NewSingleHostReverseProxy(parsed(t, scripted.URL)), managerOf(t, preset.Frugal, func(s *policy.Settings) { s.Percent = 100 })
	rapid.Check(t, func(rt *rapid.T) {
		dialect := rapid.SampledFrom([]string{"anthropic", "chat", "responses"}).Draw(rt, "dialect")
		errs := rapid.SliceOfN(rapid.IntRange(0, len(oddErrors)-1), 1, 12).Draw(rt, "errors")
		calm := rapid.IntRange(0, 2).Draw(rt, "turns between errors")
		if rapid.Bool().Draw(rt, "in no words but of the length") {
			for i := range errs {
				errs[i] = rapid.SampledFrom(lengthErrors).Draw(rt, "error")
			}
		}
		before := rapid.SampledFrom([]int{0, 0, 300, 500, 560}).Draw(rt, "lines before the errors") // 560: what the turns then add fills what the window has room for besides an answer
		up := &odd{healthy: healthy}
		front := httptest.NewServer(up)
		defer front.Close()
		g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{Name: "up", URL: parsed(t, front.URL)}}, Manager: manager, Window: func(context.Context, string) precis.Window {
			return precis.Window{Tokens: tokens, Source: precis.SourceCatalog}
		}})
		if err != nil {
			rt.Fatal(err)
		}
		s := httptest.NewServer(g)
		base := s.URL
		defer func() { s.Close(); _ = g.Close(context.Background()) }()
		a := newAgent(dialect, "Read the files one by one.")
		n := 0
		turn := func(lines int) (int, http.Header) {
			n++
			a.read(n, words(lines, n))
			res, _ := post(t, base+a.path(), a.body(n%2 == 0))
			return res.StatusCode, res.Header
		}
		if before > 0 {
			turn(before)
		}
		for len(errs) > 0 {
			k := min(len(errs), 1+len(errs)%3)
			up.next, errs = errs[:k], errs[k:]
			turn(6)
			for range calm {
				up.next = nil
				turn(2)
			}
		}
		up.next = nil
		for k := 1; k <= 6; k++ {
			status, h := turn(10)
			if k < 3 {
				continue
			}
			if status != 200 {
				rt.Fatalf("turn %d after the errors: %d", k, status)
			}
			if action := h.Get("X-Precis-Action"); action != "none" {
				rt.Fatalf("turn %d after the errors: %s, %s of %s tokens, window %s", k, action, h.Get("X-Precis-Tokens-After"), h.Get("X-Precis-Tokens-Before"), h.Get("X-Precis-Window"))
			}
			if w := h.Get("X-Precis-Window"); !strings.HasPrefix(w, fmt.Sprint(tokens)) && !strings.HasPrefix(w, "1048576") {
				rt.Fatalf("turn %d after the errors: the window is %s", k, w)
			}
		}
	})
}

func parsed(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
