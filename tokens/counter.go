package tokens

import (
	"unicode/utf8"

	"github.com/precis-dev/precis"
)

// The names of the counters.
const (
	NameO200k  = "o200k"
	NameCl100k = "cl100k"
	NameRoo    = "roo"
	NameChars4 = "chars4"
)

// Names returns the names that [New] knows.
func Names() []string { return []string{NameO200k, NameCl100k, NameRoo, NameChars4} }

// Options select a counter.
type Options struct {
	Name   string    // "": o200k
	Images ImageRule // rule for images; "": the rule of the model, see [ImageRuleOf]
	Model  string    // model for the image rule until [precis.ModelCounter] names another; "": unknown
}

// New returns a counter. It loads its tables when it counts the first text, see [O200k]. The error
// is [precis.CodeInvalid] for an unknown name or image rule.
func New(o Options) (precis.Counter, error) {
	if o.Images != "" && !o.Images.valid() {
		return nil, precis.Errorf(precis.CodeInvalid, "make counter", "unknown image rule %q", o.Images)
	}
	m := media{rule: o.Images}
	switch o.Name {
	case "", NameO200k:
		return exact{NameO200k, &byO200k, m, o.Images != ""}.ForModel(o.Model), nil
	case NameCl100k:
		return exact{NameCl100k, &byCl100k, m, o.Images != ""}.ForModel(o.Model), nil
	case NameRoo:
		return Roo{}, nil
	case NameChars4:
		return chars4{m, o.Images != ""}.ForModel(o.Model), nil
	}
	return nil, precis.Errorf(precis.CodeInvalid, "make counter", "unknown estimate %q, want one of %v",
		o.Name, Names())
}

// Estimated tokens that APIs add to a message and its blocks: role markers, call and result
// framing. They are a little high.
const (
	messageFrame = 4
	callFrame    = 8
	resultFrame  = 6
)

// exact counts text with a vocabulary and all other content by rules.
type exact struct {
	name  string
	enc   *onUse
	media media
	fixed bool // the image rule is the same for all models
}

// onUse is an encoding that loads its tables for the first text, because most commands make a
// counter and many count no text.
type onUse struct{ encoding func() *Encoding }

var byO200k, byCl100k = onUse{O200k}, onUse{Cl100k} // one of each, so that equal counters compare equal

// Count is [Encoding.Count].
func (u *onUse) Count(text string) int { return u.encoding().Count(text) }

func (c exact) Name() string { return c.name }

// ForModel returns a counter with the media rules of a model. Counts that its provider states are
// divided by the factor that all counts for the model are multiplied by, see [FamilyFactor].
func (c exact) ForModel(model string) precis.Counter {
	if !c.fixed {
		c.media.rule = ImageRuleOf(model)
	}
	factor, _ := FamilyFactor(model)
	c.media.scale = 1 / factor
	return c
}

func (c exact) Count(m precis.Message) int {
	if len(m.Content) == 0 {
		return 0
	}
	n := messageFrame
	for _, b := range m.Content {
		n += c.block(b, m.Role)
	}
	return n
}

func (c exact) block(b precis.Block, role precis.Role) int {
	switch b := b.(type) {
	case precis.Text:
		return c.enc.Count(b.Text)
	case precis.Thinking:
		return max(c.enc.Count(b.Text), reasoningTokens(len(b.Signature)))
	case precis.RedactedThinking:
		return max(reasoningTokens(len(b.Data)), 1)
	case precis.ToolUse:
		return callFrame + c.enc.Count(b.Name) + c.enc.Count(string(b.Input))
	case precis.ToolResult:
		n := resultFrame
		for _, inner := range b.Content {
			n += c.block(inner, role)
		}
		return n
	case precis.Image:
		return c.media.scaled(ImageTokens(b, c.media.rule))
	case precis.Document:
		return c.media.documentTokens(b, role, c.enc.Count)
	case precis.Opaque:
		return c.media.opaqueTokens(b, role, c.enc.Count)
	}
	return 0
}

// chars4 counts a quarter of the characters that a model reads: the coarse estimate that many tools
// use. Tool arguments count as JSON with a space after each comma and colon.
type chars4 struct {
	media media
	fixed bool
}

func (chars4) Name() string { return NameChars4 }

// ForModel returns a counter with the media rules of a model.
func (c chars4) ForModel(model string) precis.Counter {
	if !c.fixed {
		c.media.rule = ImageRuleOf(model)
	}
	return c
}

func (c chars4) Count(m precis.Message) int {
	n := 0
	for _, b := range m.Content {
		n += c.chars(b, m.Role)
	}
	return (n + 3) / 4
}

// quarter returns the tokens of a text: a quarter of its characters, rounded up.
func quarter(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }

func (c chars4) chars(b precis.Block, role precis.Role) int {
	switch b := b.(type) {
	case precis.Text:
		return utf8.RuneCountInString(b.Text)
	case precis.Thinking:
		return max(utf8.RuneCountInString(b.Text), 4*reasoningTokens(len(b.Signature)))
	case precis.ToolUse:
		return utf8.RuneCountInString(b.Name) + spacedLength(b.Input)
	case precis.ToolResult:
		n := max(len(b.Content)-1, 0)
		for _, inner := range b.Content {
			n += c.chars(inner, role)
		}
		return n
	case precis.Image:
		return 4 * ImageTokens(b, c.media.rule)
	case precis.Document:
		return 4 * c.media.documentTokens(b, role, quarter)
	case precis.RedactedThinking:
		return 4 * max(reasoningTokens(len(b.Data)), 1)
	case precis.Opaque:
		return 4 * c.media.opaqueTokens(b, role, quarter)
	}
	return 0
}

// spacedLength returns the number of characters of a JSON text with one space after each comma and
// colon and no other white space.
func spacedLength(raw []byte) int {
	n, inString := 0, false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case inString && c == '\\' && i+1 < len(raw):
			i++
			n += 2
			continue
		case c == '"':
			inString = !inString
		case !inString && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			continue
		case !inString && (c == ',' || c == ':'):
			n++
		}
		if utf8.RuneStart(c) {
			n++
		}
	}
	return n
}
