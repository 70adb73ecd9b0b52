//go:build sdk

package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/memory"
)

// writer writes summaries, or fails.
type writer struct {
	requests []policy.SummaryRequest
	fails    bool
}

func (w *writer) Summarize(_ context.Context, r policy.SummaryRequest) (policy.Summary, error) {
	w.requests = append(w.requests, r)
	if w.fails {
		return policy.Summary{}, errors.New("no model")
	}
	u := precis.Usage{Input: 700, Output: 70}
	return policy.Summary{Text: fmt.Sprintf("SUMMARY %d of the work.", len(w.requests)), Usage: u, CostUSD: 0.01, Call: &precis.CallReport{Model: "m", Calls: 1, Usage: u, CostUSD: 0.01}}, nil
}

// talk is an SDK client of the gateway that holds one conversation.
type talk struct {
	t      *testing.T
	api    anthropic.Client
	params anthropic.BetaMessageNewParams
	stream bool
}

func newTalk(t *testing.T, base string, stream bool, c anthropic.BetaCompact20260112EditParam) *talk {
	return &talk{
		t: t, stream: stream, api: anthropic.NewClient(option.WithBaseURL(base), option.WithAPIKey("k"), option.WithMaxRetries(0)),
		params: anthropic.BetaMessageNewParams{
			Model: "claude-sonnet-4-5", MaxTokens: 500, Betas: []anthropic.AnthropicBeta{anthropic.AnthropicBetaCompact2026_01_12},
			System: []anthropic.BetaTextBlockParam{{Text: "Be brief."}},
			Tools:  []anthropic.BetaToolUnionParam{{OfTool: &anthropic.BetaToolParam{Name: "read", InputSchema: anthropic.BetaToolInputSchemaParam{Properties: map[string]string{}}}}},
			ContextManagement: anthropic.BetaContextManagementConfigParam{
				Edits: []anthropic.BetaContextManagementConfigEditUnionParam{{OfCompact20260112: &c}},
			},
		},
	}
}

func trigger(n int64) anthropic.BetaCompact20260112EditParam {
	return anthropic.BetaCompact20260112EditParam{Trigger: anthropic.BetaInputTokensTriggerParam{Value: n}}
}

// send sends the conversation.
func (c *talk) send() *anthropic.BetaMessage {
	c.t.Helper()
	if !c.stream {
		m, err := c.api.Beta.Messages.New(c.t.Context(), c.params)
		if err != nil {
			c.t.Fatal(err)
		}
		return m
	}
	var m anthropic.BetaMessage
	events := c.api.Beta.Messages.NewStreaming(c.t.Context(), c.params)
	for events.Next() {
		if err := m.Accumulate(events.Current()); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := events.Err(); err != nil {
		c.t.Fatal(err)
	}
	return &m
}

// say sends a question and takes the answer into the conversation.
func (c *talk) say(text string) *anthropic.BetaMessage {
	c.t.Helper()
	c.params.Messages = append(c.params.Messages, anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock(text)))
	m := c.send()
	c.params.Messages = append(c.params.Messages, m.ToParam())
	return m
}

// compaction returns the compaction block, which must be the first.
func compaction(t *testing.T, m *anthropic.BetaMessage) (b anthropic.BetaCompactionBlock, ok bool) {
	t.Helper()
	for i, block := range m.Content {
		if c, is := block.AsAny().(anthropic.BetaCompactionBlock); is {
			if i > 0 {
				t.Fatalf("the compaction block is block %d", i)
			}
			b, ok = c, true
		}
	}
	return b, ok
}

func TestCompactionOverManyTurns(t *testing.T) {
	sequential(t)
	t.Parallel()
	for _, model := range []bool{false, true} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("model=%v stream=%v", model, stream), func(t *testing.T) {
				s := providertest.New(t, providertest.Options{})
				w := &writer{}
				st := memory.New()
				base, _ := start(t, s.URL, func(o *gateway.Options) {
					window(1_000_000)(o)
					o.Store = st
					if model {
						o.Summarizer = w
					}
				})
				c := newTalk(t, base, stream, trigger(2000))
				var before string
				compacted, changed := 0, 0
				for n := range 30 {
					s.Enqueue(providertest.Text(fmt.Sprintf("Answer %d.", n)))
					m := c.say(fmt.Sprintf("Question %d about ALPHA-%d. %s", n, n, words(12, n)))
					if text := m.Content[len(m.Content)-1].Text; text != fmt.Sprintf("Answer %d.", n) {
						t.Fatalf("turn %d: %q", n, text)
					}
					b, ok := compaction(t, m)
					if ok {
						compacted++
						if b.Content == "" || !strings.HasPrefix(b.EncryptedContent, "precis.v1.") || model && !strings.Contains(b.Content, fmt.Sprintf("SUMMARY %d", compacted)) {
							t.Fatalf("turn %d: %s", n, b.RawJSON())
						}
						checkIterations(t, m, model)
					}
					sent := last(s)
					list := string(jsonspan.Field(sent.Body, "messages"))
					if strings.Contains(string(sent.Body), "compaction") || strings.Contains(string(sent.Body), "context_management") || sent.Header.Get("Anthropic-Beta") != "" {
						t.Fatalf("turn %d: sent %s", n, sent.Body)
					}
					if !strings.Contains(list, fmt.Sprintf("Question %d about", n)) || len(list) > 20_000 || compacted > 0 != strings.Contains(list, "[Summary of the conversation") {
						t.Fatalf("turn %d: %d compactions, sent %d bytes: %.300s", n, compacted, len(list), list)
					}
					if open := strings.TrimSuffix(list, "]"); before != "" && !strings.HasPrefix(open, before) {
						changed++
					}
					before = strings.TrimSuffix(list, "]")
				}
				if compacted < 2 || compacted > 12 || changed != compacted || len(s.Problems()) > 0 {
					t.Errorf("%d compactions, the prefix changed %d times, %v", compacted, changed, s.Problems())
				}
				if model && len(w.requests) != compacted {
					t.Errorf("%d summaries for %d compactions", len(w.requests), compacted)
				}
			})
		}
	}
}

func checkIterations(t *testing.T, m *anthropic.BetaMessage, model bool) {
	t.Helper()
	i := m.Usage.Iterations
	if len(i) != 2 || i[0].Type != "compaction" || i[1].Type != "message" || i[1].InputTokens == 0 || i[1].InputTokens != m.Usage.InputTokens || i[1].OutputTokens == 0 {
		t.Fatalf("usage %s", m.Usage.RawJSON())
	}
	if model && (i[0].InputTokens != 700 || i[0].OutputTokens != 70) {
		t.Fatalf("usage %s", m.Usage.RawJSON())
	}
}

// grow says enough for a compaction and returns the last answer, which has one.
func (c *talk) grow(n int) *anthropic.BetaMessage {
	c.t.Helper()
	for i := range n {
		m := c.say(fmt.Sprintf("Question %d about ALPHA-%d. %s", i, i, words(12, i)))
		if _, ok := compaction(c.t, m); ok {
			return m
		}
	}
	c.t.Fatal("no compaction")
	return nil
}

func TestCompactionPauses(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		s := providertest.New(t, providertest.Options{})
		w := &writer{}
		base, _ := start(t, s.URL, func(o *gateway.Options) { o.Summarizer = w })
		p := trigger(3000)
		p.PauseAfterCompaction, p.Instructions = anthropic.Bool(true), anthropic.String("Keep the names.")
		c := newTalk(t, base, stream, p)
		m := c.grow(20)
		asked := len(s.Requests())
		if m.StopReason != anthropic.BetaStopReasonCompaction || len(m.Content) != 1 || w.requests[0].Focus != "Keep the names." || m.Role != "assistant" || m.Model != "claude-sonnet-4-5" {
			t.Fatalf("answered %s", m.RawJSON())
		}
		if u := m.Usage; u.InputTokens != 0 || len(u.Iterations) != 1 || u.Iterations[0].InputTokens != 700 {
			t.Errorf("usage %s", u.RawJSON())
		}
		whole := c.params.Messages

		// Sent once more without the block: the same answer.
		c.params.Messages = whole[:len(whole)-1]
		if again := c.send(); again.Content[0].Content.OfString != m.Content[0].Content.OfString || len(s.Requests()) != asked || len(w.requests) != 1 {
			t.Errorf("answered %s", again.RawJSON())
		}
		// Going on with everything, the block last.
		c.params.Messages = whole
		if next := c.send(); next.Content[0].Text != "ok" || len(next.Content) != 1 {
			t.Errorf("answered %s", next.RawJSON())
		}
		checkSummarized(t, s, []string{"SUMMARY 1"}, []string{"ALPHA-0", "compaction"})
		// Going on with the block first, and the last question behind it.
		c.params.Messages = append(slices.Clone(whole[len(whole)-1:]), whole[len(whole)-2])
		if next := c.send(); next.Content[0].Text != "ok" {
			t.Errorf("answered %s", next.RawJSON())
		}
		checkSummarized(t, s, []string{"SUMMARY 1", "Question"}, []string{"ALPHA-0", "compaction"})
		if p := s.Problems(); len(p) > 0 {
			t.Error(p)
		}
	}
}

// checkSummarized checks what the upstream got last.
func checkSummarized(t *testing.T, s *providertest.Server, has, not []string) {
	t.Helper()
	body := string(last(s).Body)
	for _, text := range has {
		if strings.Count(body, text) == 0 {
			t.Errorf("%q is not in %s", text, body)
		}
	}
	for _, text := range not {
		if strings.Contains(body, text) {
			t.Errorf("%q is in %s", text, body)
		}
	}
}

func TestCompactionIsUnderstoodElsewhere(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	w := &writer{}
	first, _ := start(t, s.URL, func(o *gateway.Options) { o.Summarizer = w })
	c := newTalk(t, first, false, trigger(3000))
	m := c.grow(20)
	c.say("And then?")
	inFull := c.params.Messages
	before := string(jsonspan.Field(last(s).Body, "messages"))

	// Another gateway, which has seen nothing of it, shows the same.
	second, _ := start(t, s.URL, func(o *gateway.Options) { o.Summarizer = w })
	c.api = newTalk(t, second, false, trigger(3000)).api
	c.params.Messages = inFull[:len(inFull)-1]
	c.send()
	if again := string(jsonspan.Field(last(s).Body, "messages")); again != before {
		t.Errorf("sent %s\nwant %s", again, before)
	}

	// Cut by the client: the block first.
	for i, p := range inFull {
		if p.Role == "assistant" && len(p.Content) == 2 {
			c.params.Messages = slices.Clone(inFull[i : len(inFull)-1])
		}
	}
	for range 2 { // and once more
		c.send()
		checkSummarized(t, s, []string{"SUMMARY 1", "And then?", `"text":"ok"`, "[Summary of what came before."}, []string{"ALPHA-0", "compaction"})
	}

	// With the beginning changed, all before the block is left out, as the API does.
	c.params.Messages = slices.Clone(inFull[:len(inFull)-1])
	c.params.Messages[0] = anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("Something else, ALPHA-0"))
	c.send()
	checkSummarized(t, s, []string{"SUMMARY 1", "And then?"}, []string{"ALPHA", "compaction"})
	if _, ok := compaction(t, m); !ok || len(s.Problems()) > 0 {
		t.Error(s.Problems())
	}
}
