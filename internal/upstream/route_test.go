package upstream_test

import (
	"testing"

	"github.com/precis-dev/precis/internal/upstream"
)

func TestKindOf(t *testing.T) {
	const question = `"messages":[{"role":"user","content":"hello"}]}`
	for _, tt := range []struct {
		path, body string
		want       upstream.Kind
	}{
		{"/v1/messages", `{"model":"m","max_tokens":1,` + question, upstream.Side},
		{"/v1/messages", `{"model":"m","max_tokens":1,"tools":[{"name":"Read","input_schema":{"type":"object"}}],` + question, upstream.Main},
		{"/v1/messages/count_tokens", `{"model":"m",` + question, upstream.Count},
		{"/v1/responses/compact", `{}`, upstream.Compact},
		{"/v1/models", ``, ""},
	} {
		if got := upstream.KindOf(tt.path, []byte(tt.body)); got != tt.want {
			t.Errorf("%s %.60s: %q, want %q", tt.path, tt.body, got, tt.want)
		}
	}
}
