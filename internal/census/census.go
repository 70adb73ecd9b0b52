// Package census counts the contents of a conversation's context: tokens by kind of content and by
// tool, and repeated content. Start with [Take].
package census

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/measure"
)

// Kind is a kind of content.
type Kind string

// The kinds, in display order.
const (
	System Kind = "system"
	Tools  Kind = "tools"
	// system prompt and tools that the provider counted and the recording lacks
	Unrecorded Kind = "not recorded"
	Digest     Kind = "digest" // replacements of messages: a summary, a digest, a marker
	User       Kind = "user"   // messages of persons
	// messages of the program around the model, or of another agent, in the user role
	Program    Kind = "program"
	Assistant  Kind = "assistant"
	Thinking   Kind = "thinking"
	ToolUse    Kind = "tool use"
	ToolResult Kind = "tool result"
	Media      Kind = "media"
	Other      Kind = "other"
)

// Kinds returns all kinds in order.
func Kinds() []Kind {
	return []Kind{System, Tools, Unrecorded, Digest, User, Program, Assistant, Thinking, ToolUse, ToolResult,
		Media, Other}
}

// Share is the usage of one kind or tool.
type Share struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Blocks int    `json:"blocks"`
}

// Census is the result, for a list of messages.
type Census struct {
	Total      int     `json:"tokens"`
	Kinds      []Share `json:"kinds"`      // by kind, in display order; only used ones
	Results    []Share `json:"results"`    // tool results by tool, largest first
	Duplicates Share   `json:"duplicates"` // copies of long texts that are repeated word for word
}

// longText is the shortest text, in bytes, that counts as repeated.
const longText = 200

// Take counts a conversation's system prompt and tools, and the messages of a view given in pieces.
func Take(c *precis.Conversation, units []precis.Unit, m *measure.Meter) Census {
	t := taker{meter: m, kinds: map[Kind]*Share{}, tools: map[string]*Share{}, seen: map[[32]byte]bool{}}
	overhead := m.Overhead(c)
	if c.HasSystem() || c.Unstored.System > 0 {
		t.add(System, overhead.System)
	}
	if overhead.Tools > 0 {
		t.add(Tools, overhead.Tools)
	}
	if overhead.Unrecorded > 0 {
		t.add(Unrecorded, overhead.Unrecorded)
	}
	t.results = resultTools(c.Transcript.Messages())
	speech := c.Transcript.Speech()
	for _, u := range units {
		if !u.Original() {
			for _, msg := range u.Messages {
				for _, block := range msg.Content {
					t.block(precis.Handle{}, msg.Role, block, kindsOf(msg.Role, block, nil, true))
				}
			}
			continue
		}
		spans := speech.Spans(u.From)
		for b, block := range u.Blocks() {
			t.block(precis.BlockHandle(u.From, b), u.Messages[0].Role, block,
				kindsOf(u.Messages[0].Role, block, spansOf(spans, b), false))
		}
	}
	return t.census()
}

type taker struct {
	meter   *measure.Meter
	kinds   map[Kind]*Share
	tools   map[string]*Share
	results map[precis.Handle]string
	seen    map[[32]byte]bool
	copies  Share
}

// resultTools maps each block that holds a tool's result to the tool's name.
func resultTools(msgs []precis.Message) map[precis.Handle]string {
	out := map[precis.Handle]string{}
	for _, call := range toolcall.Find(msgs) {
		for _, h := range call.Results {
			out[h] = call.Name
		}
	}
	return out
}

func (t *taker) add(k Kind, tokens int) {
	s := t.kinds[k]
	if s == nil {
		s = &Share{Name: string(k)}
		t.kinds[k] = s
	}
	s.Tokens += tokens
	s.Blocks++
}

// block counts one block with the given kinds.
func (t *taker) block(h precis.Handle, role precis.Role, b precis.Block, kinds []part) {
	tokens := t.meter.Block(role, b)
	divide(tokens, kinds, t.add)
	if kinds[0].Kind == ToolResult {
		tool := t.results[h]
		if tool == "" {
			tool = "(unknown)"
		}
		if t.tools[tool] == nil {
			t.tools[tool] = &Share{Name: tool}
		}
		t.tools[tool].Tokens += tokens
		t.tools[tool].Blocks++
	}
	t.repeat(b, tokens)
}

// repeat counts a long text that occurred before.
func (t *taker) repeat(b precis.Block, tokens int) {
	text := ""
	switch b := b.(type) {
	case precis.Text:
		text = b.Text
	case precis.ToolResult:
		text = b.Text()
	}
	if len(text) < longText {
		return
	}
	key := sha256.Sum256([]byte(text))
	if t.seen[key] {
		t.copies.Tokens += tokens
		t.copies.Blocks++
	}
	t.seen[key] = true
}

// part is the number of bytes of a block that are of a kind.
type part struct {
	Kind  Kind
	Bytes int
}

// spansOf returns the spans of block b of a message.
func spansOf(spans []precis.SpeechSpan, b int) []precis.SpeechSpan {
	from, found := slices.BinarySearchFunc(spans, b,
		func(s precis.SpeechSpan, b int) int { return cmp.Compare(s.Block, b) })
	if !found {
		return nil
	}
	to := from
	for to < len(spans) && spans[to].Block == b {
		to++
	}
	return spans[from:to]
}

// kindsOf returns the kinds of a block, the largest first: only one, except for a text with several
// speakers. Spans name the speakers of the block in the original message, even if only a part of it
// is shown; instead means that the block replaces messages.
func kindsOf(role precis.Role, b precis.Block, spans []precis.SpeechSpan, instead bool) []part {
	one := func(k Kind) []part { return []part{{k, 1}} }
	switch b.(type) {
	case precis.ToolUse:
		return one(ToolUse)
	case precis.ToolResult:
		return one(ToolResult)
	case precis.Thinking, precis.RedactedThinking:
		return one(Thinking)
	case precis.Image, precis.Document:
		return one(Media)
	case precis.Text:
	default:
		return one(Other)
	}
	if instead {
		return one(Digest)
	}
	var out []part
	for _, s := range spans {
		kind := authorKind(role, s.Attribution.Author)
		i := slices.IndexFunc(out, func(p part) bool { return p.Kind == kind })
		if i < 0 {
			i, out = len(out), append(out, part{Kind: kind})
		}
		out[i].Bytes += s.To - s.From
	}
	if len(out) == 0 {
		return one(authorKind(role, precis.AuthorUnknown))
	}
	slices.SortStableFunc(out, func(a, b part) int { return b.Bytes - a.Bytes })
	return out
}

func authorKind(role precis.Role, a precis.Author) Kind {
	switch a {
	case precis.AuthorPerson:
		return User
	case precis.AuthorModel:
		return Assistant
	case precis.AuthorTool:
		return ToolResult
	case precis.AuthorRecap:
		return Digest
	case precis.AuthorProgram, precis.AuthorDelegate:
		return Program
	}
	switch role {
	case precis.RoleUser:
		return Program
	case precis.RoleAssistant:
		return Assistant
	}
	return System
}

// divide distributes the tokens of a block over its kinds, in proportion to their bytes.
func divide(tokens int, kinds []part, add func(k Kind, tokens int)) {
	all := 0
	for _, p := range kinds {
		all += p.Bytes
	}
	left := tokens
	for _, p := range kinds[1:] {
		n := int(int64(tokens) * int64(p.Bytes) / int64(max(all, 1)))
		left -= n
		add(p.Kind, n)
	}
	add(kinds[0].Kind, left)
}

// Of scales the census to a known total of tokens, which includes the overhead of messages and the
// provider's calibration: kinds and results are scaled in proportion, so that the kinds add up to
// the total.
func (c Census) Of(tokens int) Census {
	sum := int64(max(c.Total, 1))
	kinds, results := slices.Clone(c.Kinds), slices.Clone(c.Results)
	before, done := 0, 0
	for i := range kinds {
		before += kinds[i].Tokens
		upTo := int(int64(tokens) * int64(before) / sum)
		kinds[i].Tokens, done = upTo-done, upTo
	}
	for i := range results {
		results[i].Tokens = int(int64(tokens) * int64(results[i].Tokens) / sum)
	}
	none := func(s Share) bool { return s.Tokens <= 0 }
	kinds, results = slices.DeleteFunc(kinds, none), slices.DeleteFunc(results, none)
	c.Kinds, c.Results, c.Duplicates.Tokens = kinds, results, int(int64(tokens)*int64(c.Duplicates.Tokens)/sum)
	if c.Total > 0 {
		c.Total = tokens
	}
	return c
}

func (t *taker) census() Census {
	c := Census{Duplicates: t.copies}
	c.Duplicates.Name = "duplicates"
	for _, k := range Kinds() {
		if s := t.kinds[k]; s != nil {
			c.Kinds = append(c.Kinds, *s)
			c.Total += s.Tokens
		}
	}
	for _, s := range t.tools {
		c.Results = append(c.Results, *s)
	}
	slices.SortFunc(c.Results, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Name, b.Name))
	})
	return c
}
