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
	KindDigest     = "digest"  // what stands for hidden messages: digests, summaries, markers
	KindUser       = "user"    // what persons said
	KindProgram    = "program" // what the program around the model, or another agent, said in the user's place
	KindAssistant  = "assistant"
	KindThinking   = "thinking"
	KindToolUse    = "tool use"
	KindToolResult = "tool result"
	KindOther      = "other" // images, documents, content that is not understood
)

// Kinds returns the kinds of content in the order in which they are shown.
func Kinds() []string {
	return []string{KindSystem, KindTools, KindDigest, KindUser, KindProgram, KindAssistant, KindThinking, KindToolUse, KindToolResult, KindOther}
}

// KindTokens is what one kind of content uses of a window.
type KindTokens struct {
	Kind   string `json:"kind"`
	Tokens int    `json:"tokens"`
}

// Composition says what fills the window of a conversation. The kinds add up to
// Used; Used, Reserve and Free add up to the window, unless the view is larger than
// what the reserve leaves, when Free is 0. The tokens of a text in which
// several speak are divided by its bytes, see [precis.Speech].
type Composition struct {
	Kinds     []KindTokens   `json:"kinds"`   // those that occur, in order
	Results   []KindTokens   `json:"results"` // tool results by tool, the largest first
	Used      int            `json:"used"`    // tokens of the view and the overhead, as in the status
	Free      int            `json:"free"`
	Reserve   precis.Reserve `json:"reserve"`
	Window    precis.Window  `json:"window"`
	Threshold int            `json:"threshold"` // tokens at which a reduction begins; 0: never by itself
	Percent   float64        `json:"percent"`   // the threshold as it is set, of the window
	Origin    string         `json:"threshold_from"`
	Warn      float64        `json:"warn"` // percent of the window from which users are warned; 0: never
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
	budget := settings.Budget(r.Window, r.MaxOutput, r.OutputLimit, meter.Overhead(s.Conversation))
	out := Composition{Used: st.Tokens, Reserve: budget.Reserve, Window: r.Window, Warn: settings.Warn}
	out.Free = max(r.Window.Tokens-out.Used-out.Reserve.Tokens, 0)
	out.Percent, out.Origin, _ = settings.Threshold(r.Profile)
	if !settings.Observe {
		out.Threshold = max(int(budget.Allowed()), 0)
		if settings.Auto {
			out.Threshold = min(out.Threshold, int(float64(r.Window.Tokens)*out.Percent/100))
		}
	}
	c := census.Take(s.Conversation, precis.Units(s.Conversation.Transcript, s.Conversation.Edits), s.scratch()).Of(out.Used)
	out.Kinds, out.Results = tokensOf(c.Kinds), tokensOf(c.Results)
	return out, nil
}

// scratch returns a meter for messages that are made by rendering: the meter of the
// home would remember each of them.
func (s *Subject) scratch() *precis.Meter {
	m := s.Manager.NewMeter()
	m.ForModel(s.Conversation.Model)
	return m
}

// tokensOf returns the shares of a census; pictures and documents count as other.
func tokensOf(shares []census.Share) []KindTokens {
	out := []KindTokens{}
	for _, s := range shares {
		if s.Name == string(census.Media) {
			s.Name = KindOther
		}
		if n := len(out); s.Name == KindOther && n > 0 && out[n-1].Kind == KindOther {
			out[n-1].Tokens += s.Tokens
			continue
		}
		if s.Tokens > 0 {
			out = append(out, KindTokens{s.Name, s.Tokens})
		}
	}
	return out
}
