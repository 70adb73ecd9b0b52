package conversation

import (
	"context"
	"slices"

	"precis"
	"precis/internal/census"
)

// Kinds of content that fill a window, in the order in which they are shown.
const (
	KindSystem     = "system"
	KindTools      = "tools"
	KindUnrecorded = "not recorded" // system prompt and tools that the provider counted and a recording does not hold
	KindDigest     = "digest"       // the texts in place of hidden messages: digests, summaries, markers
	KindUser       = "user"         // what persons said
	KindProgram    = "program"      // what the program around the model, or another agent, said in the user's place
	KindAssistant  = "assistant"
	KindThinking   = "thinking"
	KindToolUse    = "tool use"
	KindToolResult = "tool result"
	KindMedia      = "media" // images, documents
	KindOther      = "other" // content that is not understood
)

// Kinds returns the kinds of content in the order in which they are shown.
func Kinds() []string {
	return []string{KindSystem, KindTools, KindUnrecorded, KindDigest, KindUser, KindProgram, KindAssistant, KindThinking, KindToolUse, KindToolResult, KindMedia, KindOther}
}

// KindTokens is what one kind of content uses of a window.
type KindTokens struct {
	Kind   string `json:"kind"`
	Tokens int    `json:"tokens"`
}

// Composition says what fills the window of a conversation. The kinds add up to
// Used; Used, Reserved and Free add up to the window, unless the view is larger than
// the window, when both are 0. The tokens of a text in which
// several speak are divided by its bytes, see [precis.Speech].
type Composition struct {
	Kinds     []KindTokens   `json:"kinds"`   // those that occur, in order
	Results   []KindTokens   `json:"results"` // tool results by tool, the largest first
	Used      int            `json:"used"`    // tokens of the view and the overhead, as in the status
	Share     float64        `json:"share"`   // Used in percent of the window, as in the status
	Free      int            `json:"free"`
	Reserve   precis.Reserve `json:"reserve"`
	Reserved  int            `json:"reserved"` // what is left of the reserve beside the view
	Window    precis.Window  `json:"window"`
	Threshold int            `json:"threshold"` // tokens at which a reduction begins; 0: never by itself
	Percent   float64        `json:"percent"`   // the threshold as it is set, of the window
	Origin    string         `json:"threshold_from"`
	Warn      float64        `json:"warn"` // percent of the window from which users are warned; 0: never

	// View is the same count in full: tokens and blocks by kind and by tool, and what is there
	// more than once.
	View census.Census `json:"-"`
}

// Compose returns what fills the window of a conversation, or would fill it after
// edits that a preview made.
func Compose(ctx context.Context, h Home, id string, made ...precis.Edit) (Composition, error) {
	return look(ctx, h, id, func(s *Subject) (Composition, error) {
		if len(made) == 0 {
			return s.composition()
		}
		then, conv := *s, *s.Conversation
		conv.Edits = slices.Concat(conv.Edits, made)
		then.Conversation, then.Ask.Meter = &conv, nil // the meter of the home is for what is recorded
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
	d := precis.Plan(precis.Load{Used: st.Tokens}, budget, settings, r.Profile)
	out := Composition{Used: st.Tokens, Share: st.Percent, Reserve: budget.Reserve, Window: r.Window, Warn: settings.Warn, Threshold: d.Acts, Percent: d.Threshold, Origin: d.Origin}
	out.Free = max(r.Window.Tokens-out.Used-out.Reserve.Tokens, 0)
	out.Reserved = max(min(out.Reserve.Tokens, r.Window.Tokens-out.Used), 0)
	view := census.Take(s.Conversation, precis.Units(s.Conversation.Transcript, s.Conversation.Edits), s.scratch())
	out.View = view.Of(out.Used)
	out.Kinds, out.Results = tokensOf(out.View.Kinds), tokensOf(out.View.Results)
	return out, nil
}

// Said counts all that was said in a conversation by the measure of a composition of it:
// what fills the window when nothing is replaced.
func (c Composition) Said(ctx context.Context, h Home, id string) (census.Census, error) {
	return look(ctx, h, id, func(s *Subject) (census.Census, error) {
		t, meter := s.Conversation.Transcript, s.scratch()
		overhead := meter.Overhead(s.Conversation).Sum()
		// What stands around the blocks of a message counts in both, and how the provider
		// counts as much in what was said as in the view.
		whole, shown := overhead+meter.View(t.Messages()), overhead+meter.View(precis.View(t, s.Conversation.Edits))
		said := census.Take(s.Conversation, precis.Units(t, nil), meter)
		return said.Of(int(int64(whole) * int64(c.Used) / int64(max(shown, 1)))), nil
	})
}

// scratch returns a meter for messages that are made by rendering: the meter of the
// home would remember each of them.
func (s *Subject) scratch() *precis.Meter {
	m := s.Manager.NewMeter()
	m.For(s.Conversation)
	return m
}

// tokensOf returns the tokens of shares that have any.
func tokensOf(shares []census.Share) []KindTokens {
	out := []KindTokens{}
	for _, s := range shares {
		if s.Tokens > 0 {
			out = append(out, KindTokens{s.Name, s.Tokens})
		}
	}
	return out
}
