package service

import (
	"testing"

	"github.com/precis-dev/precis/gateway/upstream"
)

func TestOfficialAPIsNeedNoPolyfill(t *testing.T) {
	for host, want := range map[string]bool{"api.anthropic.com": true, "api.openai.com": true, "127.0.0.1:9": false, "openrouter.ai": false} {
		if n := upstream.NativeOf(host); (n != nil && n.Compact) != want {
			t.Errorf("%s: %v", host, n)
		}
	}
}
