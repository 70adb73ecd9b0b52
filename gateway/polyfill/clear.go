package polyfill

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// clearer clears old tool results and old reasoning.
type clearer struct{ *Emulator }

// clearing is a tool use and its result, as they are in the transcript.
type clearing struct {
	name        string
	use, result precis.Handle
	cleared     bool // the result is cleared
	before      bool // it was cleared once; if it no longer is, the user has undone that
	shown       bool // the view shows the message of the result, in some form
}

// clearedNote begins the text that replaces a cleared result.
const clearedNote = "[Tool result cleared to save context."

// clearTools clears old tool results when the view is large enough. Cleared results stay cleared,
// so that later turns send the same bytes.
func (e clearer) clearTools(ctx context.Context) error {
	c := e.Edits.Tools
	uses := e.toolUses()
	open := 0
	for _, u := range uses {
		if u.shown && !u.cleared && !u.before {
			open++
		}
	}
	if c.Uses > 0 && open > c.Uses || c.Uses == 0 && e.tokens() > c.Tokens {
		edit := e.clearEdit(c, uses)
		if len(edit.Replace) > 0 && e.clearsEnough(c, edit) {
			if _, err := e.apply(ctx, edit, true); err != nil {
				return err
			}
			uses = e.toolUses()
		}
	}
	n := 0
	for _, u := range uses {
		if u.shown && u.cleared {
			n++
		}
	}
	if n > 0 {
		e.applied = append(e.applied,
			Applied{Type: TypeClearTools, Count: n,
				Tokens: e.tokensSavedBy(TypeClearTools, precis.KindPruning)})
	}
	return nil
}

// clearsEnough reports whether an edit clears at least as many tokens as the request demands.
func (e clearer) clearsEnough(c *ClearTools, edit precis.Edit) bool {
	if c.AtLeast == 0 {
		return true
	}
	saves := e.counted(e.edits()) - e.counted(slices.Concat(e.edits(), []precis.Edit{edit}))
	return e.calibrated(saves) >= c.AtLeast
}

// toolUses returns the tool uses that have a result, in order.
func (e clearer) toolUses() []clearing {
	before := e.replacedBlocks(TypeClearTools)
	units := map[int]precis.Unit{}
	for _, u := range e.units() {
		if u.Original() {
			units[u.From] = u
		}
	}
	pairs := precis.PairsOf(e.Messages)
	var out []clearing
	for i, msg := range e.Messages {
		for b := range msg.Content {
			result := precis.BlockHandle(i, b)
			call, ok := pairs.Call(result)
			if !ok {
				continue
			}
			use, ok := e.Messages[call.From].Content[call.Block].(precis.ToolUse)
			if !ok {
				continue
			}
			unit, shown := units[i]
			out = append(out, clearing{name: use.Name, use: call, result: result, shown: shown,
				cleared: isCleared(unit, b), before: before[result]})
		}
	}
	return out
}

// replacedBlocks returns the blocks that edits of a rung have replaced, whether still in force or not.
func (e clearer) replacedBlocks(rung string) map[precis.Handle]bool {
	out := map[precis.Handle]bool{}
	for _, edit := range e.edits() {
		for _, r := range edit.Replace {
			if edit.Report.Rung == rung && r.Block != nil {
				out[precis.BlockHandle(r.From, r.Block.Index)] = true
			}
		}
	}
	return out
}

// isCleared reports whether a unit shows a note in place of block b of its message.
func isCleared(u precis.Unit, b int) bool {
	if !u.Changed {
		return false
	}
	k := slices.Index(u.OriginalIndexes, b)
	if k < 0 || len(u.Messages) == 0 {
		return false
	}
	r, ok := u.Messages[0].Content[k].(precis.ToolResult)
	return ok && strings.HasPrefix(r.Text(), clearedNote)
}

// clearEdit returns the edit that clears tool uses, except the newest ones and uses of excluded
// tools.
func (e clearer) clearEdit(c *ClearTools, uses []clearing) precis.Edit {
	edit := precis.Edit{Kind: precis.KindPruning, Report: precis.EditReport{Rung: TypeClearTools}}
	t := e.transcript()
	pinned := e.pinned()
	for _, u := range uses[:max(len(uses)-c.Keep, 0)] {
		if u.cleared || u.before || !u.shown || slices.Contains(c.Exclude, u.name) || pinned(u.result) {
			continue
		}
		was := t.At(u.result.From).Content[u.result.Block].(precis.ToolResult)
		note := fmt.Sprintf(clearedNote+" What it said can be read again as %s.]", u.result)
		edit.Replace = append(edit.Replace,
			precis.ReplaceBlock(t, u.result.From, u.result.Block, precis.ToolResult{
				ToolUseID: was.ToolUseID, IsError: was.IsError,
				Content: []precis.Block{precis.Text{Text: note}},
			}))
		edit.Report.Blocks++
		if use := t.At(u.use.From).Content[u.use.Block].(precis.ToolUse); c.ClearsInput(u.name) &&
			!pinned(u.use) {
			input := jsonspan.AppendStringField([]byte("{"), "cleared",
				"to save context; it can be read again as "+u.use.String())
			edit.Replace = append(edit.Replace,
				precis.ReplaceBlock(t, u.use.From, u.use.Block,
					precis.ToolUse{ID: use.ID, Name: use.Name, Input: json.RawMessage(append(input, '}'))}))
			edit.Report.Blocks++
		}
	}
	edit.Report.Reason = fmt.Sprintf("the client asked for it: %d blocks of old tool uses cleared",
		edit.Report.Blocks)
	return edit
}

// pinned returns a function that reports whether the user has pinned a block.
func (e clearer) pinned() func(h precis.Handle) bool {
	pins := precis.Pinned(e.edits())
	return func(h precis.Handle) bool {
		return slices.ContainsFunc(pins, func(p precis.Handle) bool {
			return p.From <= h.From && h.From < p.To && (p.Block < 0 || p.Block == h.Block)
		})
	}
}

// clearThinking leaves out reasoning, except in the newest turns that have any. A turn is all
// output of the model between two messages of the user.
func (e clearer) clearThinking(ctx context.Context) error {
	keep := e.Edits.Thinking.Keep
	if keep == 0 {
		return nil
	}
	turns := e.thinkingTurns()
	old := turns[:max(len(turns)-keep, 0)]
	edit := precis.Edit{Kind: precis.KindThinking, Report: precis.EditReport{Rung: TypeClearThinking}}
	before := e.replacedBlocks(TypeClearThinking)
	cleared := 0
	for _, u := range e.units() {
		for _, span := range old {
			if u.Original() && span[0] <= u.From && u.From < span[1] {
				edit.Replace = append(edit.Replace,
					slices.DeleteFunc(e.reasoningOf(u, false), func(r precis.Replacement) bool {
						return before[precis.BlockHandle(r.From, r.Block.Index)] // the user wants it back
					})...)
			}
		}
	}
	for _, span := range old {
		if slices.ContainsFunc(e.units(),
			func(u precis.Unit) bool { return u.Original() && span[0] <= u.From && u.From < span[1] }) {
			cleared++
		}
	}
	if len(edit.Replace) > 0 {
		edit.Report.Blocks = len(edit.Replace)
		edit.Report.Reason = fmt.Sprintf("the client asked for it: reasoning of old turns left out, %d blocks", edit.Report.Blocks)
		if _, err := e.apply(ctx, edit, true); err != nil {
			return err
		}
	}
	if cleared > 0 {
		e.applied = append(e.applied,
			Applied{Type: TypeClearThinking, Count: cleared,
				Tokens: e.tokensSavedBy(TypeClearThinking, precis.KindThinking)})
	}
	return nil
}

// thinkingTurns returns the assistant turns with reasoning, as spans of messages.
func (e clearer) thinkingTurns() (out [][2]int) {
	from, thinks := 0, false
	msgs := e.Messages
	for i := 0; i <= len(msgs); i++ {
		if i == len(msgs) || msgs[i].IsUserTurn() {
			if thinks {
				out = append(out, [2]int{from, i})
			}
			from, thinks = i, false
			continue
		}
		thinks = thinks || slices.ContainsFunc(msgs[i].Content, isReasoning)
	}
	return out
}

func isReasoning(b precis.Block) bool {
	switch b.(type) {
	case precis.Thinking, precis.RedactedThinking:
		return true
	}
	return false
}
