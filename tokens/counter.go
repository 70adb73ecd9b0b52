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
	Images ImageRule // how pictures are counted; "": by Anthropic's rule, the largest
}

// New returns a counter. The error is [precis.CodeInvalid] for an unknown name
// or image rule.
func New(o Options) (precis.Counter, error) {
	if o.Images == "" {
		o.Images = ImagesAnthropic
	}
	if !o.Images.valid() {
		return nil, precis.Errorf(precis.CodeInvalid, "make counter", "unknown image rule %q", o.Images)
	}
	switch o.Name {
	case "", NameO200k:
		return exact{name: NameO200k, enc: O200k(), images: o.Images}, nil
	case NameCl100k:
		return exact{name: NameCl100k, enc: Cl100k(), images: o.Images}, nil
	case NameRoo:
		return Roo{}, nil
	case NameChars4:
		return chars4{}, nil
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
	name   string
	enc    *Encoding
	images ImageRule
}

func (c exact) Name() string { return c.name }

func (c exact) Count(m precis.Message) int {
	if len(m.Content) == 0 {
		return 0
	}
	return messageFrame + c.blocks(m.Content)
}

func (c exact) blocks(blocks []precis.Block) int {
	n := 0
	for _, b := range blocks {
		n += c.block(b)
	}
	return n
}

func (c exact) block(b precis.Block) int {
	switch b := b.(type) {
	case precis.Text:
		return c.enc.Count(b.Text)
	case precis.Thinking:
		return c.enc.Count(b.Text)
	case precis.RedactedThinking:
		return opaqueTokens(len(b.Data))
	case precis.ToolUse:
		return callFrame + c.enc.Count(b.Name) + c.enc.Count(string(b.Input))
	case precis.ToolResult:
		return resultFrame + c.blocks(b.Content)
	case precis.Image:
		return ImageTokens(b, c.images)
	case precis.Document:
		return documentTokens(b, c.enc.Count(b.Title)+c.enc.Count(b.Text))
	case precis.Opaque:
		return c.enc.Count(string(b.Raw))
	}
	return 0
}

// opaqueTokens estimates encrypted content by its length in base64: about four
// characters of the text it stands for become six.
func opaqueTokens(chars int) int { return chars / 6 }

// documentTokens estimates a document: its text when it is given, else, for a
// PDF, 1,500 tokens a page (the lower figure Anthropic states) with a page for
// each 50 kB.
func documentTokens(b precis.Document, text int) int {
	if b.Text != "" || b.Data == "" && b.URL == "" {
		return text
	}
	pages := 1 + len(b.Data)*3/4/50_000
	return text + 1500*pages
}

// chars4 counts a quarter of the characters of everything a model would read:
// the coarse estimate that many tools use. Tool arguments count as JSON with a
// space after each comma and colon.
type chars4 struct{}

func (chars4) Name() string { return NameChars4 }

func (chars4) Count(m precis.Message) int {
	n := 0
	for _, b := range m.Content {
		n += charsOf(b)
	}
	return (n + 3) / 4
}

func charsOf(b precis.Block) int {
	switch b := b.(type) {
	case precis.Text:
		return utf8.RuneCountInString(b.Text)
	case precis.Thinking:
		return utf8.RuneCountInString(b.Text)
	case precis.ToolUse:
		return utf8.RuneCountInString(b.Name) + spacedLength(b.Input)
	case precis.ToolResult:
		n := max(len(b.Content)-1, 0)
		for _, c := range b.Content {
			n += charsOf(c)
		}
		return n
	case precis.Image:
		return 4 * ImageTokens(b, ImagesAnthropic)
	case precis.Document:
		return 4 * documentTokens(b, (utf8.RuneCountInString(b.Text)+3)/4)
	case precis.RedactedThinking:
		return 4 * opaqueTokens(len(b.Data))
	case precis.Opaque:
		return utf8.RuneCount(b.Raw)
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
