package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/wire/anthropic"
)

// nodesOf returns the nodes of an agent's conversation.
func nodesOf(t *testing.T, a *agent) []precis.Fingerprint {
	t.Helper()
	var body struct{ Messages json.RawMessage }
	if err := json.Unmarshal([]byte(a.body(true)), &body); err != nil {
		t.Fatal(err)
	}
	msgs, err := anthropic.DecodeMessages(body.Messages)
	if err != nil {
		t.Fatal(err)
	}
	tr := precis.NewTranscript(msgs...)
	out := make([]precis.Fingerprint, tr.Len())
	for i := range out {
		out[i] = tr.Fingerprint(i + 1)
	}
	return out
}

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
