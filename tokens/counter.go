package tokens

import (
	"unicode/utf8"

	"precis"
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

// Options choose a counter.
type Options struct {
	Name   string    // "": o200k
	Images ImageRule // how pictures are counted; "": as the model does, see [ImageRuleOf]
	Model  string    // whose rule that is until [precis.ModelCounter] names another; "": unknown
}

// New returns a counter; the first text that it counts loads its tables, see [O200k]. The error is [precis.CodeInvalid] for an unknown name
// or image rule.
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
	return nil, precis.Errorf(precis.CodeInvalid, "make counter", "unknown estimate %q, want one of %v", o.Name, Names())
}

// The tokens that APIs add around a message and its blocks: role markers, call
// and result framing. They are estimates, a little high.
const (
	messageFrame = 4
	callFrame    = 8
	resultFrame  = 6
)

// exact counts text with a vocabulary and everything else by rule.
type exact struct {
	name  string
	enc   *onUse
	media media
	fixed bool // the rule for images is the same for all models
}

// onUse counts with an encoding whose tables are loaded by the first text: most commands make a counter, and many count nothing.
type onUse struct{ encoding func() *Encoding }

var byO200k, byCl100k = onUse{O200k}, onUse{Cl100k} // one of each: counters that count alike are equal

// Count is [Encoding.Count].
func (u *onUse) Count(text string) int { return u.encoding().Count(text) }

func (c exact) Name() string { return c.name }

// ForModel counts media as a model does. What its provider states is divided by
// the factor that all counts for the model are multiplied by, see [FamilyFactor].
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

// chars4 counts a quarter of the characters of everything a model would read:
// the coarse estimate that many tools use. Tool arguments count as JSON with a
// space after each comma and colon.
type chars4 struct {
	media media
	fixed bool
}

func (chars4) Name() string { return NameChars4 }

// ForModel counts media as a model does.
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

// quarter is the tokens of a text.
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

// spacedLength returns the characters of a JSON text with one space after each
// comma and colon and none elsewhere.
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
