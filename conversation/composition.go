package conversation

import (
	"context"
	"slices"

	"precis"
	"precis/internal/census"
	"precis/internal/content"
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
// what the reserve leaves, when Free is 0. The tokens of a message that holds
// several kinds are divided by the bytes of its blocks.
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
	out.Kinds = s.kinds(meter, out.Used)
	out.Results = s.results(out.Kinds)
	return out, nil
}

// results divides the tokens of tool results among the tools, the largest first.
func (s *Subject) results(kinds []KindTokens) []KindTokens {
	sizes, total := census.Take(s.Conversation, precis.Units(s.Conversation.Transcript, s.Conversation.Edits), s.scratch()).Results, 0
	for _, r := range sizes {
		total += r.Tokens
	}
	all := 0
	for _, k := range kinds {
		if k.Kind == KindToolResult {
			all = k.Tokens
		}
	}
	out := []KindTokens{}
	for _, r := range sizes {
		out = append(out, KindTokens{Kind: r.Name, Tokens: int(int64(r.Tokens) * int64(all) / int64(max(total, 1)))})
	}
	return out
}

// kinds divides the used tokens among the kinds of content.
func (s *Subject) kinds(meter *precis.Meter, used int) []KindTokens {
	sizes := map[string]int{KindSystem: meter.Message(s.Conversation.System)}
	sizes[KindTools] = meter.Overhead(s.Conversation) - sizes[KindSystem]
	speech := s.Conversation.Transcript.Speech()
	scratch := s.scratch()
	for _, u := range precis.Units(s.Conversation.Transcript, s.Conversation.Edits) {
		switch {
		case !u.Original():
			sizes[KindDigest] += scratch.View(u.Messages)
		case len(u.Messages) == 0:
		case u.Changed:
			divide(sizes, u, scratch.Message(u.Messages[0]), speech.Of(u.From))
		default:
			divide(sizes, u, meter.Message(u.Messages[0]), speech.Of(u.From))
		}
	}
	return scaled(sizes, used)
}

// scratch returns a meter for messages that are made by rendering: the meter of the
// home would remember each of them.
func (s *Subject) scratch() *precis.Meter {
	m := s.Manager.NewMeter()
	m.ForModel(s.Conversation.Model)
	return m
}

// divide adds the tokens of an original message to its kinds; spans say who said what in it.
func divide(sizes map[string]int, u precis.Unit, tokens int, spans []precis.Span) {
	m := u.Messages[0]
	add := func(k census.Kind, tokens int) {
		if k == census.Media {
			k = KindOther
		}
		sizes[string(k)] += tokens
	}
	total, left := max(content.Size(m.Content), 1), tokens
	var last []census.Part
	for i, b := range u.Blocks() {
		last = census.KindsOf(m.Role, b, census.SpansOf(spans, i), false)
		part := tokens * content.Size([]precis.Block{b}) / total
		census.Divide(part, last, add)
		left -= part
	}
	if last == nil {
		last = []census.Part{{Kind: KindOther, Bytes: 1}}
	}
	add(last[0].Kind, left)
}

// scaled returns the kinds that occur, scaled so that they add up to used.
func scaled(sizes map[string]int, used int) []KindTokens {
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	out := []KindTokens{}
	before, done := 0, 0
	for _, k := range Kinds() {
		if sizes[k] <= 0 {
			continue
		}
		before += sizes[k]
		upTo := used * before / max(sum, 1)
		out = append(out, KindTokens{k, upTo - done})
		done = upTo
	}
	return out
}
