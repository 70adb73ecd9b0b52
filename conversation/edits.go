package conversation

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/block"
)

// EditInfo is an edit of a conversation.
type EditInfo struct {
	ID string `json:"id"`
	// short name: e1 is the oldest edit; accepted in place of an ID
	Name     string            `json:"name"`
	Run      string            `json:"run,omitempty"` // edits of one run are undone together
	Kind     precis.EditKind   `json:"kind"`
	Seen     int               `json:"seen"` // length of the transcript when it was made
	Time     time.Time         `json:"time,omitzero"`
	InForce  bool              `json:"in_force"`
	UndoneBy string            `json:"undone_by,omitempty"`
	Undoes   []string          `json:"undoes,omitempty"`
	Pins     []precis.Handle   `json:"pins,omitempty"`
	Spans    int               `json:"spans"`             // spans of messages it replaces
	Blocks   int               `json:"blocks"`            // single blocks it replaces
	Report   precis.EditReport `json:"report"`            // with the steps of its run only in [Edit]
	Changes  []EditChange      `json:"changes,omitempty"` // only in [Edit]
}

// Before returns the tokens of the view before the edit; nil: unknown.
func (e EditInfo) Before() *int {
	before, _ := e.Report.Sizes()
	return before
}

// After returns the tokens of the view after the edit; nil: unknown.
func (e EditInfo) After() *int {
	_, after := e.Report.Sizes()
	return after
}

// EditChange is one replacement that an edit makes.
type EditChange struct {
	Handle   precis.Handle   `json:"handle"`
	Restored bool            `json:"restored,omitempty"` // the original is shown again
	Messages []block.Message `json:"messages,omitempty"` // shown instead of the span
	// shown instead of the block; nil: the block is removed
	Block *block.Content `json:"block,omitempty"`
}

// EditList are the edits of a conversation, oldest first.
type EditList struct {
	Items []EditInfo `json:"items"`
}

// Edits lists the edits of a conversation, undone ones too.
func Edits(ctx context.Context, h Home, id string) (EditList, error) {
	return look(ctx, h, id, func(s *Subject) (EditList, error) {
		return EditsOf(s.Conversation), nil
	})
}

// EditsOf lists the edits of a conversation, undone ones too.
func EditsOf(c *precis.Conversation) EditList { return EditList{Items: editInfos(c.Edits, c.Edits)} }

// EditName is the short name of edit number i of a conversation, from 0.
func EditName(i int) string { return fmt.Sprintf("e%d", i+1) }

// findEdit returns the index of the edit with an ID or a short name; -1: not found.
func findEdit(edits []precis.Edit, name string) int {
	if i := slices.IndexFunc(edits, func(e precis.Edit) bool { return e.ID == name }); i >= 0 {
		return i
	}
	n, err := strconv.Atoi(strings.TrimPrefix(name, "e"))
	if err != nil || n < 1 || n > len(edits) || name != EditName(n-1) {
		return -1
	}
	return n - 1
}

// editIDs resolves IDs and short names to IDs.
func editIDs(edits []precis.Edit, names []string) ([]string, error) {
	ids := make([]string, len(names))
	for k, name := range names {
		i := findEdit(edits, name)
		if i < 0 {
			return nil, errNoEdit(edits, name)
		}
		ids[k] = edits[i].ID
	}
	return ids, nil
}

func errNoEdit(edits []precis.Edit, name string) error {
	e := &precis.Error{Code: precis.CodeNotFound, Op: "find edit",
		Err: fmt.Errorf("the conversation has no edit %.80q", name)}
	if n := len(edits); n > 0 {
		e.Hint = "its edits are named e1 to " + EditName(n-1) + ", oldest first"
	}
	return e
}

// Edit returns one edit with its replacements and the outcome of each rung in its run.
func Edit(ctx context.Context, h Home, id, edit string) (EditInfo, error) {
	return look(ctx, h, id, func(s *Subject) (EditInfo, error) {
		return editInfo(s.Conversation.Edits,
			edit)
	})
}

func editInfo(edits []precis.Edit, id string) (EditInfo, error) {
	i := findEdit(edits, id)
	if i < 0 {
		return EditInfo{}, errNoEdit(edits, id)
	}
	info := editInfos(edits, edits[i:i+1])[0]
	if first := findEdit(edits, info.Run); info.Run != "" && first >= 0 {
		info.Report.Steps = edits[first].Report.Steps
	}
	for _, r := range edits[i].Replace {
		info.Changes = append(info.Changes, changeOf(r))
	}
	return info, nil
}

// editInfos describes some of the edits of a conversation.
func editInfos(all, some []precis.Edit) []EditInfo {
	gone, names := precis.Undone(all), make(map[string]string, len(all))
	for i, e := range all {
		names[e.ID] = EditName(i)
	}
	out := make([]EditInfo, len(some))
	for i, e := range some {
		by, undone := gone[e.ID]
		info := EditInfo{
			ID: e.ID, Name: names[e.ID], Run: e.Run, Kind: e.Kind, Seen: e.Seen, Time: e.Time,
			InForce: !undone, UndoneBy: by.ID,
			Undoes: e.Undoes, Pins: e.Pins, Report: e.Report,
		}
		for _, r := range e.Replace {
			if r.Block != nil {
				info.Blocks++
			} else {
				info.Spans++
			}
		}
		out[i] = info
	}
	return out
}

func changeOf(r precis.Replacement) EditChange {
	c := EditChange{Handle: precis.SpanHandle(r.From, r.To), Restored: r.Restore}
	if r.Block != nil {
		c.Handle = precis.BlockHandle(r.From, r.Block.Index)
	}
	if r.Restore {
		return c
	}
	for _, m := range r.With {
		c.Messages = append(c.Messages, block.MessageOf(m))
	}
	if r.WithBlock != nil {
		b := block.ContentOf(r.WithBlock)
		c.Block = &b
	}
	return c
}
