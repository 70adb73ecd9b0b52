package policy_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/precistest"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/tokens"
)

// work is a conversation of n calls with results of about two kilobytes, some of
// them repeated.
func work(n int) *precis.Transcript {
	r := rand.New(rand.NewPCG(1, 2))
	t := precis.NewTranscript(precis.NewText("user", "Do the work. Never touch main.go."))
	for i := range n {
		id := fmt.Sprint("call", i)
		file := r.IntN(n/2 + 1)
		var out strings.Builder
		for line := range 40 {
			fmt.Fprintf(&out, "%4d\tfunc f%d_%d(x int) int { return x + %d }\n", line, file, line, r.IntN(3))
		}
		t.Append(
			precis.Message{Role: "assistant", Content: []precis.Block{precis.Text{Text: "Reading on."}, precis.ToolUse{ID: id, Name: "read_file", Input: fmt.Appendf(nil, `{"path":"f%d.go"}`, file)}}},
			precis.Message{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: out.String()}}}}})
	}
	return t
}

// BenchmarkManage runs a whole check with the ladder; it must grow with the
// conversation, not faster.
func BenchmarkManage(b *testing.B) {
	counter, err := tokens.New(tokens.Options{})
	if err != nil {
		b.Fatal(err)
	}
	m, err := policy.NewManager(policy.Options{Counter: counter, Strategies: rungs(), Gate: digest.Gate{}})
	if err != nil {
		b.Fatal(err)
	}
	for _, calls := range []int{25, 250, 2500} {
		t := work(calls)
		total := measure.New(counter).View(t.Messages())
		b.Run(fmt.Sprintf("%dk", total/1000), func(b *testing.B) {
			for b.Loop() {
				conv := &precis.Conversation{Transcript: precis.NewTranscript(t.Messages()...)}
				req := policy.Request{Conversation: conv, Window: precis.Window{Tokens: total * 9 / 10}}
				if _, err := m.Manage(context.Background(), req); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(total), "ns/token")
		})
	}
}

func BenchmarkPlan(b *testing.B) {
	s := policy.DefaultSettings()
	for b.Loop() {
		policy.Plan(policy.Load{Used: 100_000}, s.Budget(precis.Window{Tokens: 200_000}, 0, 0, 0), s, "m")
	}
}

func BenchmarkView(b *testing.B) {
	t := work(1000)
	var edits []precis.Edit
	for i := range 20 {
		edits = append(edits, precistest.Span(fmt.Sprint("e", i), 1+2*i, 41+2*i, "marker"))
	}
	for b.Loop() {
		precis.View(t, edits)
	}
}

func BenchmarkFingerprint(b *testing.B) {
	t := work(1000)
	b.SetBytes(2_000_000)
	for b.Loop() {
		precis.NewTranscript(t.Messages()...).Fingerprint(t.Len())
	}
}
