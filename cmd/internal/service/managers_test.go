package service

import (
	"testing"

	"precis/cmd/internal/config"
	"precis/gateway"
)

// Behind the gateway as everywhere a reduction comes down to the target, unless the
// user asks for room for turns to come: it costs what an agent remembers.
func TestRoomForTurnsToComeIsAskedFor(t *testing.T) {
	for _, tt := range []struct {
		flags map[string]string
		want  int
	}{{nil, 0}, {map[string]string{"room.turns": "3"}, 3}, {map[string]string{"preset": "balanced"}, 0}} {
		c, err := config.Load(config.Sources{Flags: tt.flags})
		if err != nil {
			t.Fatal(err)
		}
		if c.Settings.Turns != tt.want {
			t.Errorf("%v: room for %d turns, want %d", tt.flags, c.Settings.Turns, tt.want)
		}
	}
}

func TestOfficialAPIsNeedNoPolyfill(t *testing.T) {
	for host, want := range map[string]bool{"api.anthropic.com": true, "api.openai.com": true, "127.0.0.1:9": false, "openrouter.ai": false} {
		if n := gateway.NativeOf(host); (n != nil && n.Compact) != want {
			t.Errorf("%s: %v", host, n)
		}
	}
}
