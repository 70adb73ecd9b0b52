package service

import (
	"testing"

	"precis/cmd/internal/config"
)

// Behind the gateway a reduction makes room for turns to come, unless the user
// says otherwise.
func TestRoomForTurnsToCome(t *testing.T) {
	for _, tt := range []struct {
		flags map[string]string
		want  int
	}{
		{nil, roomTurns}, {map[string]string{"room.turns": "0"}, 0}, {map[string]string{"room.turns": "3"}, 3},
		{map[string]string{"preset": "roo"}, 0}, {map[string]string{"preset": "frugal"}, roomTurns},
	} {
		c, err := config.Load(config.Sources{Flags: tt.flags})
		if err != nil {
			t.Fatal(err)
		}
		if got := roomy(c).Turns; got != tt.want {
			t.Errorf("%v: room for %d turns, want %d", tt.flags, got, tt.want)
		}
	}
}

func TestOfficialAPIsNeedNoPolyfill(t *testing.T) {
	for host, want := range map[string]bool{"api.anthropic.com": true, "api.openai.com": true, "127.0.0.1:9": false, "openrouter.ai": false} {
		if n := native(host); (n != nil && n.Compact) != want {
			t.Errorf("%s: %v", host, n)
		}
	}
}
