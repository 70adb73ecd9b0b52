package conversation

import (
	"context"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/census"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
)

// Kinds of content that fill a window, in display order.
const (
	KindSystem = "system"
	KindTools  = "tools"
	// system prompt and tools that the provider counted but the recording lacks
	KindUnrecorded = "not recorded"
	KindDigest     = "digest"  // the texts in place of hidden messages: digests, summaries, markers
	KindUser       = "user"    // text of persons
	KindProgram    = "program" // text in user messages by the agent program or another agent
	KindAssistant  = "assistant"
	KindThinking   = "thinking"
	KindToolUse    = "tool use"
	KindToolResult = "tool result"
	KindMedia      = "media" // images, documents
	KindOther      = "other" // unknown content
)

// Kinds returns the kinds of content in display order.
func Kinds() []string {
	return []string{KindSystem, KindTools, KindUnrecorded, KindDigest, KindUser, KindProgram, KindAssistant,
		KindThinking, KindToolUse, KindToolResult, KindMedia, KindOther}
}

// KindTokens is the number of tokens of one kind of content in a window.
type KindTokens struct {
	Kind   string `json:"kind"`
	Tokens int    `json:"tokens"`
}

// Composition reports how the window of a conversation is used. The kinds add up to Used. Used,
// Reserved and Free add up to the window; if the view is larger than the window, Reserved and Free
// are 0. The tokens of a text with several speakers are divided by its bytes, see [precis.Speech].
type Composition struct {
	Kinds     []KindTokens   `json:"kinds"`   // the kinds that occur, in order
	Results   []KindTokens   `json:"results"` // tool results by tool, the largest first
	Used      int            `json:"used"`    // tokens of the view and the overhead, as in the status
	Share     float64        `json:"share"`   // Used in percent of the window, as in the status
	Free      int            `json:"free"`
	Reserve   policy.Reserve `json:"reserve"`
	Reserved  int            `json:"reserved"` // the part of the reserve that the view does not occupy
	Window    precis.Window  `json:"window"`
	Threshold int            `json:"threshold"` // tokens at which a reduction begins; 0: never automatically
	Percent   float64        `json:"percent"`   // the configured threshold in percent of the window
	Origin    string         `json:"threshold_from"`
	Warn      float64        `json:"warn"` // percent of the window at which users are warned; 0: never

	// View is the same count in detail: tokens and blocks by kind and by tool, and repeated
	// content.
	View census.Census `json:"-"`
}

// CompositionOf returns the composition of the window now, or after edits that a preview made.
func CompositionOf(ctx context.Context, h Home, id string, made ...precis.Edit) (Composition, error) {
	return look(ctx, h, id, func(s *Subject) (Composition, error) {
		if len(made) == 0 {
			return s.composition()
		}
		then, conv := *s, *s.Conversation
		conv.Edits = slices.Concat(conv.Edits, made)
		then.Conversation, then.Template.Meter = &conv, nil // the home's meter counts only recorded messages
		return then.composition()
	})
}

func (s *Subject) composition() (Composition, error) {
	st, err := s.status()
	if err != nil {
		return Composition{}, err
	}
	r := s.request()
	settings, meter := s.Manager.Settings(), s.meter()
	budget := settings.Budget(r.Window, r.MaxOutput, r.OutputLimit, meter.Overhead(s.Conversation).Sum())
	d := policy.Plan(policy.Load{Used: st.Tokens}, budget, settings, r.Profile)
	out := Composition{Used: st.Tokens, Share: st.Percent, Reserve: budget.Reserve, Window: r.Window,
		Warn: settings.Warn, Threshold: d.ReduceAt, Percent: d.Threshold, Origin: d.Origin}
	out.Free = max(r.Window.Tokens-out.Used-out.Reserve.Tokens, 0)
	out.Reserved = max(min(out.Reserve.Tokens, r.Window.Tokens-out.Used), 0)
	view := census.Take(s.Conversation, precis.Units(s.Conversation.Transcript, s.Conversation.Edits),
		s.scratch())
	out.View = view.Of(out.Used)
	out.Kinds, out.Results = tokensOf(out.View.Kinds), tokensOf(out.View.Results)
	return out, nil
}

// Unreduced counts the whole transcript, as if no edit were in force, on the scale of the composition.
func (c Composition) Unreduced(ctx context.Context, h Home, id string) (census.Census, error) {
	return look(ctx, h, id, func(s *Subject) (census.Census, error) {
		t, meter := s.Conversation.Transcript, s.scratch()
		overhead := meter.Overhead(s.Conversation).Sum()
		// Both counts include the overhead around blocks. The ratio of the provider's count to ours
		// is the same for transcript and view.
		whole, shown := overhead+meter.View(t.Messages()), overhead+meter.View(precis.View(t,
			s.Conversation.Edits))
		said := census.Take(s.Conversation, precis.Units(t, nil), meter)
		return said.Of(int(int64(whole) * int64(c.Used) / int64(max(shown, 1)))), nil
	})
}

// scratch returns a meter for rendered messages; the home's meter would remember each of them.
func (s *Subject) scratch() *measure.Meter {
	m := s.Manager.NewMeter()
	m.For(s.Conversation)
	return m
}

// tokensOf returns the shares that have tokens.
func tokensOf(shares []census.Share) []KindTokens {
	out := []KindTokens{}
	for _, s := range shares {
		if s.Tokens > 0 {
			out = append(out, KindTokens{s.Name, s.Tokens})
		}
	}
	return out
}
