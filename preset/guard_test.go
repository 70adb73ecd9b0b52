package preset_test

import (
	"context"
	"runtime/debug"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// BenchmarkGuardCondense condenses a recording of some 150,000 tokens with the preset balanced. The
// guard reads the bytes that it allocates.
func BenchmarkGuardCondense(b *testing.B) {
	rec, err := archive.Open("../examples/add-a-counter.jsonl", formats.All())
	if err != nil {
		b.Fatal(err)
	}
	m, err := preset.New(preset.Options{})
	if err != nil {
		b.Fatal(err)
	}
	messages := rec.Conversation.Transcript.Messages()
	condense := func() {
		conv := &precis.Conversation{Transcript: precis.NewTranscript(messages...)}
		res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 64_000}, MaxOutput: 8_000})
		if err != nil {
			b.Fatal(err)
		}
		if len(res.Edits) == 0 {
			b.Fatal("the conversation was not condensed")
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools
	condense()                                       // loads what later runs share
	for b.Loop() {
		condense()
	}
}
