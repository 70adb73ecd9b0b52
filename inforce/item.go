package inforce

import (
	"slices"

	"github.com/precis-dev/precis"
)

// Item is one item in force: a plan, a skill, a job. If its blocks are too large to keep, the text
// that replaces them, or a note added to it, contains the texts of Must.
type Item struct {
	Key string          // unique in a conversation
	At  []precis.Handle // the blocks that state it; calls and results are held in pairs
	// tokens up to which the blocks are kept word for word; 0: as far as there is room
	MaxTokens int
	Name      string   // names it in the note, on one line
	Required  []string // the required texts, each on one line; may be empty

	rank       int  // the lowest is dropped last
	defines    bool // tools and settings: without it the API refuses later calls, or answers otherwise
	words      bool // its blocks cannot be kept: only Must is
	isAddition bool // of a program to a result, the last block
	cut        bool // of the last block only the addition is held
	kept       bool
}

// cuts reports whether only a program's addition is held of a block.
func (h Item) cuts(at precis.Handle) bool { return h.cut && at == h.At[len(h.At)-1] }

// resolved returns an item that the caller named with all blocks that must be kept together. If one of them
// cannot be kept (the assistant's words, a handle without a block, a call without a result), the
// item is reduced to its Must texts. At is empty if a handle is out of range.
func (f *finder) resolved(h Item) Item {
	said := h.At
	h.At, h.rank = nil, lawRank
	for _, at := range said {
		if at.From < 0 || at.From >= len(f.msgs) || at.Block < 0 || at.Block >= len(f.msgs[at.From].Content) {
			h.At = nil
			return h
		}
		var together []precis.Handle
		switch f.msgs[at.From].Content[at.Block].(type) {
		case precis.ToolUse, precis.ToolResult:
			together = f.withCall(at)
		case precis.Text:
			if f.msgs[at.From].Role == precis.RoleUser {
				together = []precis.Handle{at}
			}
		}
		if together == nil {
			together, h.words = []precis.Handle{at}, true
		}
		for _, at := range together {
			if !slices.Contains(h.At, at) {
				h.At = append(h.At, at)
			}
		}
	}
	return h
}

// Kept reports whether the item's blocks are held. Otherwise a note must state its Must texts.
func (h Item) Kept() bool { return h.kept }

// Named reports whether the caller of [Find] named the item; otherwise the messages show it.
func (h Item) Named() bool { return h.rank == lawRank }
