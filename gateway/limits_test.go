package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/precis-dev/precis/gateway"
)

// What an API takes at most beside tokens: a turn that is refused for it is sent again with
// less, and goes through.
func TestLimitsBesideTokens(t *testing.T) {
	t.Parallel()
	shot := func(k int) string {
		return fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"shot","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":[{"type":"text","text":"page %d"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA%04d"}}]}]}`, k, k, k, k)
	}
	for name, tt := range map[string]struct {
		refuse func(images, messages int) string
		status int
	}{
		"number": {func(images, _ int) string {
			return map[bool]string{true: "Too many images and documents: 13 + 0 > 12"}[images > 12]
		}, 400},
		"dimension": {func(images, _ int) string {
			return map[bool]string{true: "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"}[images > 7]
		}, 400},
		"length": {func(_, messages int) string {
			return map[bool]string{true: "Invalid 'messages': array too long. Expected an array with maximum length 20, but got an array with length 21 instead."}[messages > 20]
		}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls++
				body, _ := io.ReadAll(r.Body)
				var q struct{ Messages []json.RawMessage }
				_ = json.Unmarshal(body, &q)
				w.Header().Set("Content-Type", "application/json")
				if why := tt.refuse(strings.Count(string(body), `"type":"image"`), len(q.Messages)); why != "" {
					w.WriteHeader(tt.status)
					fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, why)
					return
				}
				_, _ = io.WriteString(w, `{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"seen"}],"stop_reason":"end_turn","usage":{"input_tokens":321,"output_tokens":7}}`)
			}))
			defer upstream.Close()
			base, _ := start(t, upstream.URL, func(o *gateway.Options) { window(500_000)(o) })
			list, again := `{"role":"user","content":"Look at every page."}`, 0
			for k := range 30 {
				list += "," + shot(k)
				calls = 0
				res, out := post(t, base+"/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":9,"tools":[{"name":"shot","input_schema":{"type":"object"}}],"messages":[`+list+`]}`)
				if res.StatusCode != 200 {
					t.Fatalf("turn %d: %d %s", k, res.StatusCode, out)
				}
				if calls > 1 {
					again++
				}
			}
			if again == 0 || again > 12 {
				t.Errorf("%d of 30 turns were sent again", again)
			}
		})
	}
	// What would not help is not tried.
	calls := 0
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		w.WriteHeader(400)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.2: too many images: the maximum is 0"}}`)
	}))
	defer upstream.Close()
	base, _ := start(t, upstream.URL, func(o *gateway.Options) { window(500_000)(o) })
	res, out := post(t, base+"/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":9,"tools":[{"name":"shot","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"hi"},`+shot(1)+`]}`)
	if res.StatusCode != 400 || calls != 1 || !strings.Contains(out, "the maximum is 0") {
		t.Errorf("%d after %d calls: %s", res.StatusCode, calls, out)
	}
}
