package conversation_test

import (
	"testing"
	"time"

	"precis"
	"precis/conversation"
	"precis/conversation/conversationtest"
	"precis/preset"
	"precis/store"
	"precis/store/memory"
)

// frugal is a manager that reduces only when it is asked to.
func frugal(t *testing.T) *precis.Manager {
	t.Helper()
	settings, err := preset.Settings(preset.Frugal)
	if err != nil {
		t.Fatal(err)
	}
	settings.Auto = false
	m, err := preset.New(preset.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestInStore(t *testing.T) {
	conversationtest.Test(t, func(t *testing.T, msgs []precis.Message) conversationtest.Place {
		st := memory.New()
		head, err := st.Append(t.Context(), precis.Fingerprint{}, msgs...)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Unix(1_700_000_000, 0)
		rec := store.Record{ID: "c1", Dialect: "anthropic", Model: "claude-sonnet-4-5", Head: head, Messages: len(msgs), Requests: 1, Created: now, Updated: now}
		if err := st.PutConversation(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		home := func() conversation.Home {
			return conversation.InStore(conversation.StoreOptions{Store: st, Manager: frugal(t), Window: func(string) precis.Window {
				return precis.Window{Tokens: conversationtest.Window, Source: precis.SourceConfigured}
			}})
		}
		return conversationtest.Place{Home: home(), ID: "c1", Rival: home()}
	})
}
