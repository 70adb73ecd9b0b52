package hostile_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/hostile"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// BenchmarkHostileConversations reads, digests and reduces conversations that hold 10 MB of
// hostile text in each of its places, and reports the seconds for a megabyte and the
// memory at its highest, as a multiple of the text:
//
//	go test ./internal/hostile -run xxx -bench Hostile -benchtime 1x
func BenchmarkHostileConversations(b *testing.B) {
	const size = 10_000_000
	s, err := preset.Settings(preset.Balanced)
	if err != nil {
		b.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: s})
	if err != nil {
		b.Fatal(err)
	}
	for _, shape := range hostile.Shapes() {
		for place := range places {
			name, _ := hostileConversation(place, "")
			b.Run(fmt.Sprintf("%s/%s", shape.Name, name), func(b *testing.B) {
				text := shape.Text(size)
				for b.Loop() {
					_, conv := hostileConversation(place, text)
					high := highest()
					begin := time.Now()
					if _, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 20_000, Source: precis.SourceConfigured}}); err != nil && precis.CodeOf(err) != precis.CodeOverBudget {
						b.Fatal(err)
					}
					if _, err := (digest.Writer{}).Summarize(context.Background(), policy.SummaryRequest{Messages: conv.Transcript.Messages()}); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(time.Since(begin).Seconds()/(float64(len(text))/1e6), "s/MB")
					b.ReportMetric(float64(high())/float64(len(text)), "memory/text")
				}
				runtime.KeepAlive(text)
			})
		}
	}
}

// highest begins to watch the memory of the heap; the returned function ends that, and
// returns the highest that was seen above what there was, in bytes.
func highest() (most func() uint64) {
	read := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	runtime.GC()
	before, stop, out := read(), make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		top := before
		for {
			select {
			case <-tick.C:
				top = max(top, read())
			case <-stop:
				out <- max(top, read()) - before
				return
			}
		}
	}()
	return func() uint64 { close(stop); return <-out }
}
