package pi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Draft is an entry that an extension of pi proposes at the end of a turn: a "context_edit" of one
// entry, a "compaction" of those before one, or a "custom" entry that no model sees. pi adds the
// ID, the parent and the time (docs/session-format.md of pi 1.6).
type Draft struct {
	Type        string          `json:"type"`
	TargetID    string          `json:"targetId,omitempty"`
	Replacement json.RawMessage `json:"replacement,omitempty"` // null leaves the target out
	Summary     string          `json:"summary,omitempty"`
	FirstKeptID string          `json:"firstKeptEntryId,omitempty"`
	CustomType  string          `json:"customType,omitempty"`
	Data        any             `json:"data,omitempty"`
}

// ownType is the type of the custom entries of precis, and a member of the details of its compactions.
const ownType = "precis"

// ownEdits are the data of a custom entry of precis: edits, and how many following entries
// translate them.
type ownEdits struct {
	Edits   []precis.Edit `json:"edits"`
	Entries int           `json:"entries"`
}

// Drafts returns the entries that turn pi's projection of a session into the view of conv, and the ID
// of the newest entry, which they follow. conv is the conversation of that session with more edits than
// the session holds.
//
// The head of the view, up to the last text that replaces hidden messages, becomes the summary of one
// compaction: these texts, and the messages between them as text. Later messages keep their entries; a
// context edit shortens a message or restores it. pi does not edit some entries, such as the user's
// commands: they remain as they were said.
func Drafts(src archive.Source, conv *precis.Conversation) (drafts []Draft, leaf string, err error) {
	s := open(src)
	b := s.build(s.tree.Path(s.leaf))
	summary, units := head(conv)
	if len(units) == 0 || len(b.entryOf) != conv.Transcript.Len() || len(b.Edits) > len(conv.Edits) {
		return nil, "", precis.Errorf(precis.CodeConflict, "write entries",
			"this is not the conversation of the session")
	}
	if b.summary != summary || b.kept != units[0].From {
		first := s.entries[b.entryOf[units[0].From]].id
		drafts = append(drafts, Draft{Type: "compaction", Summary: cmp.Or(summary, takenBack),
			FirstKeptID: first})
	}
	for _, u := range units {
		d, err := b.draftEdit(u)
		if err != nil {
			return nil, "", err
		}
		if d != nil {
			drafts = append(drafts, *d)
		}
	}
	own := Draft{Type: "custom", CustomType: ownType, Data: ownEdits{conv.Edits[len(b.Edits):], len(drafts)}}
	return append([]Draft{own}, drafts...), s.entries[s.leaf].id, nil
}

// takenBack is the summary of a compaction that hides no message.
const takenBack = "[precis: the compaction before this one is taken back. What it hid follows.]"

// head divides a view into its leading text and the units with entries in pi.
func head(conv *precis.Conversation) (summary string, rest []precis.Unit) {
	rest = precis.Units(conv.Transcript, conv.Edits)
	n := len(rest)
	for n > 0 && (inPlace(conv.Transcript, rest[n-1]) || len(rest[n-1].Messages) == 0) {
		n--
	}
	var texts []string
	for _, u := range rest[:n] {
		for _, m := range u.Messages {
			text := words(m)
			if inPlace(conv.Transcript, u) {
				text = fmt.Sprintf("[%s, word for word:]\n%s", precis.MessageHandle(u.From), text)
			}
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n"), rest[n:]
}

// inPlace reports whether the entry of a message can show a unit.
func inPlace(t *precis.Transcript, u precis.Unit) bool {
	m := t.At(u.From)
	return u.Original() || u.To == u.From+1 && len(u.Messages) == 1 && u.Messages[0].Role == m.Role &&
		!m.HasToolResult()
}

// words writes a message as text.
func words(m precis.Message) string {
	var out []string
	for _, b := range m.Content {
		switch b := b.(type) {
		case precis.Text:
			out = append(out, b.Text)
		case precis.ToolUse:
			out = append(out, fmt.Sprintf("[call of %s] %s", b.Name, b.Input))
		case precis.ToolResult:
			out = append(out, "[result] "+b.Text())
		}
	}
	return strings.Join(out, "\n")
}

// draftEdit returns the context edit that makes pi show a unit; nil: pi shows it already, or the unit is
// hidden.
func (b built) draftEdit(u precis.Unit) (*Draft, error) {
	e := b.entries[b.entryOf[u.From]]
	if e.content == nil || len(u.Messages) == 0 {
		return nil, nil
	}
	was, now := blocksOf(b.Transcript.At(u.From)), blocksOf(u.Messages[0])
	if edit, ok := b.edits[b.entryOf[u.From]]; ok {
		was = b.entries[edit].instead
	}
	if slices.EqualFunc(was, now, precis.EqualBlocks) {
		return nil, nil
	}
	content, err := e.written(now)
	return &Draft{Type: "context_edit", TargetID: e.id, Replacement: content}, err
}

// blocksOf returns the blocks that a context edit replaces: a message's own, or the content of its tool
// result.
func blocksOf(m precis.Message) []precis.Block {
	if r, ok := m.Content[0].(precis.ToolResult); ok {
		return r.Content
	}
	return m.Content
}

// written returns the replacement for an entry's content. Blocks keep members unknown to precis,
// also in calls with shortened arguments.
func (e entry) written(blocks []precis.Block) (jsonValue, error) {
	said := map[string]map[string]jsonValue{} // empty if the content is a text
	for span, err := range jsonspan.Array(e.content) {
		if b, broken := decodeBlock(span.Raw); err == nil && broken == nil {
			said[nameOf(b)], _ = jsonspan.Fields(span.Raw) // valid: decodeBlock has parsed it
		}
	}
	content := make([]map[string]jsonValue, 0, len(blocks)) // encodes as [], not null
	for _, b := range blocks {
		f := said[nameOf(b)]
		switch b := b.(type) {
		case precis.ToolUse:
			if f != nil {
				f["arguments"] = b.Input
			}
		case precis.Text:
			if f == nil {
				f = map[string]jsonValue{"type": jsonValue(`"text"`),
					"text": jsonspan.AppendString(nil, b.Text)}
			}
		}
		if f == nil {
			return nil, fmt.Errorf("a block of the type %T cannot be written", b)
		}
		content = append(content, f)
	}
	return json.Marshal(map[string]any{"content": content})
}

// nameOf identifies a block within its message.
func nameOf(b precis.Block) string {
	if call, ok := b.(precis.ToolUse); ok {
		return "call " + call.ID
	}
	hash := precis.HashBlock(b)
	return string(hash[:])
}
