package polyfill

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// Summary is the content of a compaction block or item of our own.
type Summary struct {
	Text         string `json:"summary,omitempty"`      // in Anthropic's dialect the block's content
	Conversation string `json:"conversation,omitempty"` // the conversation that its handles refer to
	// Messages and Node identify the summarized messages: the first ones of a conversation with
	// this node after them. 0: it summarizes no messages of the request.
	Messages int    `json:"messages,omitempty"`
	Node     string `json:"node,omitempty"`
}

// seal begins our encrypted_content, with the version of the rest: a [Summary] as JSON in base64.
// It is not secret.
const seal = "precis.v1."

// Seal returns the summary as encrypted_content.
func (s Summary) Seal() string {
	raw, err := json.Marshal(s)
	if err != nil { // not expected for strings and a number
		return ""
	}
	return seal + base64.RawURLEncoding.EncodeToString(raw)
}

// Unseal reads the output of [Summary.Seal]; false for any other text.
func Unseal(sealed string) (s Summary, ok bool) {
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

// Render returns the text for the model. Here means that the summary replaces messages of the same
// conversation.
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

// Kind is the kind of a compaction block or item.
type Kind string

// The kinds of compaction blocks and items.
const (
	Ours     Kind = "ours"     // made by [Summary.Seal]
	Readable Kind = "readable" // made by another program, with readable text only
	Failed   Kind = "failed"   // reports that a compaction failed; no content
	Opaque   Kind = "opaque"   // made by another program, which alone can read it
)

// IsCompaction reports whether a block or item type denotes a compaction.
func IsCompaction(kind string) bool { return kind == "compaction" || kind == "compaction_summary" }

// ReadCompaction reads a compaction block of the Messages API (anthropic) or a compaction
// item of the Responses API.
func ReadCompaction(raw json.RawMessage, anthropic bool) (Summary, Kind) {
	sealed, _ := jsonspan.String(jsonspan.Field(raw, "encrypted_content"))
	s, ours := Unseal(sealed)
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
