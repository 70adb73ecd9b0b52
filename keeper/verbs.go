package keeper

import (
	"context"

	"precis"
	"precis/conversation"
)

// The verbs of package conversation for one conversation; that package has more of
// them, for [Keeper.Home] and [Conversation.ID].

// Status returns the conversation at a glance: how full its window is, how many turns
// are left, what was edited.
func (c *Conversation) Status(ctx context.Context) (conversation.Details, error) {
	return conversation.Status(ctx, c.home, c.id)
}

// Edits lists the edits, the oldest first.
func (c *Conversation) Edits(ctx context.Context) (conversation.EditList, error) {
	return conversation.Edits(ctx, c.home, c.id)
}

// Undo takes edits back by their ID or short name, such as "e2"; without any those that
// the newest reduction made.
func (c *Conversation) Undo(ctx context.Context, edits ...string) (conversation.Change, error) {
	return conversation.Undo(ctx, c.home, c.id, edits...)
}

// Condense reduces the conversation now, whatever the threshold.
func (c *Conversation) Condense(ctx context.Context, o conversation.CondenseOptions) (conversation.Condensed, error) {
	return conversation.Condense(ctx, c.home, c.id, o)
}

// Preview says what Condense would do. No model is called.
func (c *Conversation) Preview(ctx context.Context, o conversation.CondenseOptions) (conversation.Condensed, error) {
	return conversation.Preview(ctx, c.home, c.id, o)
}

// Pin marks messages or blocks as important: no later reduction hides or cuts them.
func (c *Conversation) Pin(ctx context.Context, handles ...precis.Handle) (conversation.Change, error) {
	return conversation.Pin(ctx, c.home, c.id, handles...)
}

// Unpin takes the mark of Pin away.
func (c *Conversation) Unpin(ctx context.Context, handles ...precis.Handle) (conversation.Change, error) {
	return conversation.Unpin(ctx, c.home, c.id, handles...)
}

// Restore shows the model again what a reduction has hidden.
func (c *Conversation) Restore(ctx context.Context, handle precis.Handle) (conversation.Change, error) {
	return conversation.Restore(ctx, c.home, c.id, handle)
}

// Exclude hides messages from the model until it is undone.
func (c *Conversation) Exclude(ctx context.Context, handle precis.Handle) (conversation.Change, error) {
	return conversation.Exclude(ctx, c.home, c.id, handle)
}

// Rewind returns to what the conversation was after its first n messages. What came
// later stays stored, and undo brings it back.
func (c *Conversation) Rewind(ctx context.Context, n int) (conversation.Change, error) {
	return conversation.Rewind(ctx, c.home, c.id, n)
}

// Search finds messages by words, all of which must occur, hidden or not. A message may
// be found a little after it was said. Limit is the most hits to return; 0: 20.
func (c *Conversation) Search(ctx context.Context, text string, limit int) (conversation.FoundList, error) {
	return conversation.Search(ctx, c.home, conversation.SearchOptions{Text: text, Conversation: c.id, Limit: limit})
}

// Show returns the original messages or block that a handle names.
func (c *Conversation) Show(ctx context.Context, handle precis.Handle) (conversation.Originals, error) {
	return conversation.Show(ctx, c.home, c.id, handle)
}

// Read returns what a handle names as text, hidden or not, a piece at a time: what a
// tool for the model returns that reads again what its view hides. The error is
// [precis.CodeInvalid] for a text that is no handle.
func (c *Conversation) Read(ctx context.Context, handle string, o conversation.ReadOptions) (conversation.Reading, error) {
	h, err := precis.ParseHandle(handle)
	if err != nil {
		return conversation.Reading{}, err
	}
	return conversation.Read(ctx, c.home, c.id, h, o)
}

// Digest writes a summary of the whole conversation without a model.
func (c *Conversation) Digest(ctx context.Context, o conversation.DigestOptions) (conversation.Digested, error) {
	return conversation.Digest(ctx, c.home, c.id, o)
}
