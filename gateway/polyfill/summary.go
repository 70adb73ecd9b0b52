package polyfill

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"precis/internal/jsonspan"
)

// Summary is what a compaction block or item of our own holds.
type Summary struct {
	Text         string `json:"summary,omitempty"`      // in Anthropic's dialect the block's content
	Conversation string `json:"conversation,omitempty"` // whose messages its handles name
	// Messages and Node say which messages it stands for: the first ones of a
	// conversation whose node after them is Node. 0: it stands for nothing that
	// is sent along.
	Messages int    `json:"messages,omitempty"`
	Node     string `json:"node,omitempty"`
}

// seal begins what we write into encrypted_content, with the version of what
// follows: a [Summary] as JSON in base64. Everybody may read it.
const seal = "precis.v1."

// Seal returns the summary as encrypted_content.
func (s Summary) Seal() string {
	raw, err := json.Marshal(s)
	if err != nil { // strings and a number
		return ""
	}
	return seal + base64.RawURLEncoding.EncodeToString(raw)
}

// Open reads what [Summary.Seal] wrote. Anything else is not ours.
func Open(sealed string) (s Summary, ok bool) {
	rest, ours := strings.CutPrefix(sealed, seal)
	if !ours {
		return Summary{}, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(rest)
	if err != nil || json.Unmarshal(raw, &s) != nil || s.Messages < 0 {
		return Summary{}, false
	}
	return s, true
}

const (
	headHere  = "[Summary of the conversation up to here. What was said is kept; handles such as m3 name messages of it.]\n\n"
	headOther = "[Summary of what came before. Handles such as m3 in it name messages of the conversation it was made in"
	tail      = "\n\n[End of the summary.]"
)

// Render returns the text that a model reads. Here: the summary stands for
// messages of this very conversation.
func (s Summary) Render(here bool) string {
	head := headHere
	if !here {
		head = headOther
		if s.Conversation != "" {
			head += ", " + s.Conversation
		}
		head += ".]\n\n"
	}
	return head + s.Text + tail
}

// Unrender returns the summary in a text that [Summary.Render] wrote.
func Unrender(text string) (string, bool) {
	text, ok := strings.CutSuffix(text, tail)
	if in, here := strings.CutPrefix(text, headHere); ok && here {
		return in, true
	}
	if !strings.HasPrefix(text, headOther) {
		return "", false
	}
	_, in, found := strings.Cut(text, ".]\n\n")
	return in, ok && found
}

// Kind says what a compaction block or item is.
type Kind string

// The kinds of compaction blocks and items.
const (
	Ours     Kind = "ours"     // made by [Summary.Seal]
	Readable Kind = "readable" // another's, whose text is all there is of it
	Failed   Kind = "failed"   // says that a compaction failed: nothing
	Opaque   Kind = "opaque"   // another's, for its maker alone
)

// IsCompaction reports whether a block or item type is one of compactions.
func IsCompaction(kind string) bool { return kind == "compaction" || kind == "compaction_summary" }

// Read reads a compaction block of the Messages API (anthropic) or a compaction
// item of the Responses API.
func Read(raw json.RawMessage, anthropic bool) (Summary, Kind) {
	sealed, _ := jsonspan.String(jsonspan.Field(raw, "encrypted_content"))
	s, ours := Open(sealed)
	if !anthropic {
		if ours && strings.TrimSpace(s.Text) != "" {
			return s, Ours
		}
		return Summary{}, Opaque
	}
	signature, _ := jsonspan.String(jsonspan.Field(raw, "signature"))
	content, _ := jsonspan.String(jsonspan.Field(raw, "content"))
	switch {
	case ours:
	case sealed != "" || signature != "":
		return Summary{}, Opaque
	}
	s.Text = content
	switch {
	case strings.TrimSpace(content) == "":
		return Summary{}, Failed
	case ours:
		return s, Ours
	}
	return s, Readable
}
