package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/provider/providertest"
)

// A request that is no turn of a conversation, and a text in place of a list, are
// passed on as they came while they fit, and made to fit when they do not: whether
// the window is known or an error says it.
func TestWhatIsNoTurnIsMadeToFit(t *testing.T) {
	t.Parallel()
	bodies := map[string]func(text string) string{
		"/v1/messages": func(text string) string {
			return `{"model":"m","max_tokens":50,"messages":[{"role":"user","content":` + quote(text) + `}]}`
		},
		"/v1/chat/completions": func(text string) string {
			return `{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":` + quote(text) + `}]}`
		},
		"/v1/responses": func(text string) string {
			return `{"model":"m","input":[{"role":"user","content":` + quote(text) + `}]}`
		},
		"/v1/responses?text": func(text string) string {
			return `{"model" : "m","input": ` + quote(text) + `}`
		},
	}
	if testing.Short() {
		bodies = map[string]func(text string) string{"/v1/messages": bodies["/v1/messages"]}
	}
	for path, body := range bodies {
		for name, source := range map[string]precis.Source{"known": precis.SourceConfigured, "learned": precis.SourceAssumed} {
			t.Run(path+" "+name, func(t *testing.T) {
				const window = 8000
				s := providertest.New(t, providertest.Options{Window: window})
				base, _ := start(t, s.URL, func(o *gateway.Options) {
					o.Window = func(context.Context, string) precis.Window {
						if source == precis.SourceAssumed {
							return precis.Window{Tokens: 128_000, Source: source}
						}
						return precis.Window{Tokens: window, Source: source}
					}
				})
				small := body("Name this conversation in three words.")
				if res, out := post(t, base+path, small); res.StatusCode != 200 || string(s.Requests()[0].Body) != small {
					t.Fatalf("what fits: %d %s\nsent %s", res.StatusCode, out, s.Requests()[0].Body)
				}
				var text strings.Builder
				text.WriteString("Sum up what follows, and never mention the moon.\n")
				for n := range 500 {
					fmt.Fprintf(&text, "line %d says %s\n", n, words(5, n))
				}
				res, out := post(t, base+path, body(text.String()))
				sent := s.Requests()
				last := string(sent[len(sent)-1].Body)
				if res.StatusCode != 200 || !strings.Contains(last, "never mention the moon") {
					t.Errorf("what does not fit: %d %.300s\nsent %.300s", res.StatusCode, out, last)
				}
			})
		}
	}
}
