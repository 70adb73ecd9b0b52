package gateway_test

import (
	"path/filepath"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/conversationtest"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/sqlite"
	"github.com/precis-dev/precis/wire/anthropic"
)

// TestHome checks conversations that a client is at, and those that only the store
// knows. Their rival is another replica.
func TestHome(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"open", "stored"} {
		if testing.Short() && where == "stored" {
			continue // under the race detector what is at work is enough
		}
		t.Run(where, func(t *testing.T) {
			conversationtest.Test(t, func(t *testing.T, msgs []precis.Message) conversationtest.Place {
				return placeOf(t, where == "open", msgs)
			})
		})
	}
}

func placeOf(t *testing.T, open bool, msgs []precis.Message) conversationtest.Place {
	s := providertest.New(t, providertest.Options{})
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	settings, err := preset.Settings(preset.Frugal)
	if err != nil {
		t.Fatal(err)
	}
	settings.Auto = false
	replica := func() (string, *gateway.Gateway) {
		return start(t, s.URL, func(o *gateway.Options) {
			o.Store, o.Shared = st, true
			window(conversationtest.Window)(o)
			if o.Manager, err = preset.New(preset.Options{Settings: settings}); err != nil {
				t.Fatal(err)
			}
		})
	}
	base, g := replica()
	body := `{"model":"claude-sonnet-4-5","max_tokens":500,"tools":[{"name":"read","input_schema":{"type":"object"}}],"messages":` + string(anthropic.AppendMessages(nil, msgs)) + `}`
	res, out := post(t, base+"/v1/messages", body)
	if res.StatusCode != 200 {
		t.Fatal(out)
	}
	home := g.Home("")
	if _, err := home.(conversation.Stored).Store(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	_, other := replica()
	place := conversationtest.Place{Home: home, ID: res.Header.Get("X-Precis-Conversation"), Rival: other.Home(gateway.AllOwners)}
	if !open {
		if err := g.Close(t.Context()); err != nil { // a client may have its answer before the turn is stored, and what it measured
			t.Fatal(err)
		}
		_, third := replica()
		place.Home = third.Home(gateway.AllOwners)
	}
	return place
}
