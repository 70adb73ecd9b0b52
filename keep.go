package precis

import "sort"

// Kept says what a run must not touch: the last user turn, the newest messages
// and everything pinned. It is made once for a run and safe to read from many
// goroutines.
type Kept struct {
	Tail     int          // first message of the kept tail; the transcript's length when there is none
	LastUser int          // message of the last user turn; -1 when there is none
	groups   []int        // first message of each group, then the transcript's length
	pinned   map[int]bool // whole messages
	blocks   map[[2]int]bool
}

// Keep works out what is kept: the last user turn, pins, and the newest
// messages: at least count of them, and as many more as fit in tailTokens. The
// tail never begins between a tool use and its result.
func Keep(t *Transcript, edits []Edit, m *Meter, count, tailTokens int) *Kept {
	msgs := t.Messages()
	k := &Kept{LastUser: -1, groups: append(Groups(msgs), len(msgs)), pinned: map[int]bool{}, blocks: map[[2]int]bool{}}
	for i := len(msgs) - 1; i >= 0 && k.LastUser < 0; i-- {
		if msgs[i].IsUserTurn() {
			k.LastUser = i
		}
	}
	for _, h := range Pinned(edits) {
		k.pin(h, len(msgs))
	}
	k.Tail = k.tail(msgs, m, count, tailTokens)
	return k
}

func (k *Kept) pin(h Handle, n int) {
	if h.Block >= 0 {
		k.blocks[[2]int{h.From, h.Block}] = true
		return
	}
	for i := max(h.From, 0); i < min(h.To, n); i++ {
		k.pinned[i] = true
	}
}

func (k *Kept) tail(msgs []Message, m *Meter, count, tailTokens int) int {
	start, used := len(msgs), 0
	for g := len(k.groups) - 2; g >= 0; g-- {
		from := k.groups[g]
		for i := from; i < start; i++ {
			used += m.Message(msgs[i])
		}
		if len(msgs)-start >= count && used > tailTokens {
			break
		}
		start = from
	}
	return start
}

// Message reports whether message i is kept whole.
func (k *Kept) Message(i int) bool {
	return i >= k.Tail || i == k.LastUser || k.pinned[i]
}

// Block reports whether block b of message i is kept: because its message is, or
// because it is pinned itself.
func (k *Kept) Block(i, b int) bool { return k.Message(i) || k.blocks[[2]int{i, b}] }

// Pinned reports whether message i, or a block of it, is pinned.
func (k *Kept) Pinned(i int) bool {
	if k.pinned[i] {
		return true
	}
	for at := range k.blocks {
		if at[0] == i {
			return true
		}
	}
	return false
}

// PinnedBlock reports whether block b of message i, or its message, is pinned.
func (k *Kept) PinnedBlock(i, b int) bool { return k.pinned[i] || k.blocks[[2]int{i, b}] }

// Group returns the messages [from,to) that stand or fall with message i: tool
// uses and their results.
func (k *Kept) Group(i int) (from, to int) {
	g := sort.SearchInts(k.groups, i+1)
	return k.groups[g-1], k.groups[g]
}

// Groups returns the first message of each group: the places where a list of
// messages may be cut without parting a tool use from its result. Cutting
// before a group leaves both sides complete.
func Groups(msgs []Message) []int {
	var starts []int
	end := 0 // first message after everything that earlier messages wait for
	pending := map[string]bool{}
	for i, m := range msgs {
		if i >= end {
			starts = append(starts, i)
		}
		if m.Role == RoleAssistant {
			if i > 0 && msgs[i-1].Role != RoleAssistant {
				clear(pending)
			}
			for _, b := range m.Content {
				if u, ok := b.(ToolUse); ok {
					pending[u.ID] = true
				}
			}
			end = max(end, answeredBy(msgs, i, pending))
		}
	}
	return starts
}

// answeredBy returns the index after the last message of the user turn that
// follows message i and answers a pending tool use; 0 when none does.
func answeredBy(msgs []Message, i int, pending map[string]bool) int {
	j := i + 1
	for j < len(msgs) && msgs[j].Role != RoleUser {
		j++
	}
	end := 0
	for ; j < len(msgs) && msgs[j].Role != RoleAssistant; j++ {
		for _, b := range msgs[j].Content {
			if r, ok := b.(ToolResult); ok && pending[r.ToolUseID] {
				end = j + 1
			}
		}
	}
	return end
}
