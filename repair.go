package precis

import (
	"fmt"
	"slices"
)

// The texts that [Repair] inserts.
const (
	repairedResult = "[No result was recorded for this tool call.]"
	repairedStart  = "[The recorded conversation begins with the assistant.]"
)

// Repair returns a list of messages without breaches that says the same, and
// the breaches it mended. Nothing is lost: a tool result without its tool use
// becomes text, a tool use without a result gets one that says so, results move
// to the front of their turn, a second use of an ID gets a new ID, blank text is
// dropped. A valid list is returned as it is. Repair is pure, so the same view
// is repaired the same way on every turn.
func Repair(view []Message) ([]Message, []Breach) { return RepairNew(view, nil) }

// RepairNew is [Repair] for a view of messages that somebody sent who answers for
// them: it mends only the breaches that these messages did not have as they were
// sent, said, and leaves every turn without such a breach as it is, byte for byte.
// What is returned may therefore still have breaches of said.
func RepairNew(view []Message, said []Breach) ([]Message, []Breach) {
	breaches := newBreaches(Check(view), said)
	if len(breaches) == 0 {
		return view, nil
	}
	broken := make([]bool, len(view))
	for i := range broken {
		broken[i] = len(said) == 0
	}
	for _, b := range breaches {
		broken[b.Message] = true
	}
	view, broken = dropBlank(view, broken)
	r := repairer{seen: map[string]bool{}, next: map[string]int{}}
	at := 0
	for _, turn := range turnsOf(view) {
		mend := slices.Contains(broken[at:at+len(turn)], true)
		at += len(turn)
		switch assistant := turn[0].Role == RoleAssistant; {
		case assistant && mend:
			r.assistant(turn)
		case assistant:
			r.leaveAssistant(turn)
		case mend || r.mends:
			r.user(turn)
		default:
			r.leaveUser(turn)
		}
		r.mends = mend
	}
	if r.mends {
		r.flush()
	}
	return r.out, breaches
}

// newBreaches returns the breaches that are not among those of said, whatever message
// they stand at.
func newBreaches(all, said []Breach) []Breach {
	if len(said) == 0 {
		return all
	}
	had := map[string]bool{}
	for _, b := range said {
		had[b.Rule+b.Detail] = true
	}
	return slices.DeleteFunc(all, func(b Breach) bool { return had[b.Rule+b.Detail] })
}

// repairer walks the turns. names maps the IDs of the last assistant turn's tool
// uses to the IDs they were given; order holds the given IDs as they came.
type repairer struct {
	out   []Message
	seen  map[string]bool
	next  map[string]int // numbers given to repeats of an ID
	names map[string]string
	order []string
	begun bool // a user or assistant turn is in out
	mends bool // the turn before is mended
}

// leaveAssistant takes over an assistant turn that has nothing to mend. Its calls are
// open to the turn behind it.
func (r *repairer) leaveAssistant(turn []Message) {
	r.begun = true
	r.names, r.order = map[string]string{}, nil
	for _, m := range turn {
		for _, b := range m.Content {
			if use, ok := b.(ToolUse); ok {
				r.seen[use.ID], r.names[use.ID] = true, use.ID
				r.order = append(r.order, use.ID)
			}
		}
	}
	r.out = append(r.out, turn...)
}

// leaveUser takes over a user turn that has nothing to mend.
func (r *repairer) leaveUser(turn []Message) {
	r.begun = r.begun || turn[0].Role == RoleUser
	r.names, r.order = nil, nil
	r.out = append(r.out, turn...)
}

func (r *repairer) assistant(turn []Message) {
	r.flush()
	if !r.begun {
		r.out = append(r.out, NewText(RoleUser, repairedStart))
	}
	r.begun = true
	r.names, r.order = map[string]string{}, nil
	for _, m := range turn {
		r.out = append(r.out, mapBlocks(m, func(b Block) Block {
			switch b := b.(type) {
			case ToolUse:
				if m.Role != RoleAssistant {
					return strayUse(b)
				}
				return r.use(b)
			case ToolResult:
				return strayResult(b)
			}
			return b
		}))
	}
}

func (r *repairer) use(b ToolUse) ToolUse {
	id := b.ID
	for r.seen[id] {
		r.next[b.ID]++
		id = fmt.Sprintf("%s_%d", b.ID, r.next[b.ID]+1)
	}
	r.seen[id] = true
	r.order = append(r.order, id)
	if _, taken := r.names[b.ID]; !taken {
		r.names[b.ID] = id
	}
	if id != b.ID {
		b.ID, b.Raw = id, nil
	}
	return b
}

// user repairs a user turn: the results of the open tool uses come first, what
// answers nothing becomes text.
func (r *repairer) user(turn []Message) {
	r.begun = r.begun || turn[0].Role == RoleUser
	answers := map[string]ToolResult{}
	rest := make([]Message, len(turn))
	for i, m := range turn {
		rest[i] = mapBlocks(m, func(b Block) Block { return r.collect(b, m.Role, answers) })
	}
	results := r.results(answers)
	if intact(turn, results) {
		r.out = append(r.out, turn...)
		return
	}
	for i, m := range rest {
		if len(results) > 0 && m.Role == RoleUser {
			m = prepend(m, results)
			results = nil
		}
		if len(m.Content) > 0 {
			rest[i] = m
			r.out = append(r.out, m)
		}
	}
	if len(results) > 0 {
		r.out = append(r.out, Message{Role: RoleUser, Content: results})
	}
}

// collect takes the answers to open tool uses out of a user message.
func (r *repairer) collect(b Block, role Role, answers map[string]ToolResult) Block {
	switch b := b.(type) {
	case ToolUse:
		return strayUse(b)
	case ToolResult:
		id, open := r.names[b.ToolUseID]
		if _, twice := answers[id]; !open || twice || role != RoleUser {
			return strayResult(b)
		}
		if id != b.ToolUseID {
			b.ToolUseID, b.Raw = id, nil
		}
		answers[id] = b
		return nil
	}
	return b
}

// results returns the answers in the order of the tool uses, a synthetic one
// where there is none, and closes the uses.
func (r *repairer) results(answers map[string]ToolResult) []Block {
	var out []Block
	for _, id := range r.order {
		if a, ok := answers[id]; ok {
			out = append(out, a)
		} else {
			out = append(out, ToolResult{ToolUseID: id, Content: []Block{Text{Text: repairedResult}}})
		}
	}
	r.names, r.order = nil, nil
	return out
}

// flush answers the tool uses that no user turn follows.
func (r *repairer) flush() {
	if results := r.results(nil); len(results) > 0 {
		r.out = append(r.out, Message{Role: RoleUser, Content: results})
	}
}

// intact reports whether the turn needs no repair: it begins with exactly the
// wanted results, in any order, and holds no other tool block.
func intact(turn []Message, results []Block) bool {
	want := map[string]bool{}
	for _, b := range results {
		want[b.(ToolResult).ToolUseID] = true
	}
	for _, m := range turn {
		for _, b := range m.Content {
			switch b := b.(type) {
			case ToolUse:
				return false
			case ToolResult:
				if !want[b.ToolUseID] || m.Role != RoleUser {
					return false
				}
				delete(want, b.ToolUseID)
			default:
				if len(want) > 0 && m.Role != RoleSystem {
					return false
				}
			}
		}
	}
	return len(want) == 0
}

// strayUse writes a tool use outside an assistant turn as text.
func strayUse(b ToolUse) Block {
	return Text{Text: fmt.Sprintf("[Tool use: %s] %s", b.Name, b.Input)}
}

// strayResult writes a result without its tool use as text.
func strayResult(b ToolResult) Block {
	return Text{Text: fmt.Sprintf("[Tool result without its call: %s]\n%s", b.ToolUseID, b.Text())}
}

// mapBlocks returns m with each block passed through f; nil drops it. When
// nothing changes m itself is returned, raw bytes and all.
func mapBlocks(m Message, f func(Block) Block) Message {
	content := make([]Block, 0, len(m.Content))
	same := true
	for _, b := range m.Content {
		out := f(b)
		if out == nil {
			same = false
			continue
		}
		same = same && sameBlock(b, out)
		content = append(content, out)
	}
	if same {
		return m
	}
	m.Content, m.Raw = content, nil
	return m
}

// sameBlock reports whether f left the block as it was: repairs that change a
// block change its type or its ID.
func sameBlock(a, b Block) bool {
	switch a := a.(type) {
	case ToolUse:
		b, ok := b.(ToolUse)
		return ok && a.ID == b.ID
	case ToolResult:
		b, ok := b.(ToolResult)
		return ok && a.ToolUseID == b.ToolUseID
	}
	return true
}

func prepend(m Message, blocks []Block) Message {
	m.Content = append(append([]Block{}, blocks...), m.Content...)
	m.Raw = nil
	return m
}

// dropBlank removes blank text and messages without content from the broken messages,
// and unknown roles' claims: any role but assistant and system becomes user. It
// returns which of the messages left are broken: the neighbors of those removed, too.
func dropBlank(view []Message, broken []bool) ([]Message, []bool) {
	var out []Message
	var left []bool
	gap := false // the message before was removed
	for i, m := range view {
		if !broken[i] {
			out, left, gap = append(out, m), append(left, gap), false
			continue
		}
		if m.Role != RoleAssistant && m.Role != RoleSystem && m.Role != RoleUser {
			m.Role, m.Raw = RoleUser, nil
		}
		if !m.SetsOnly() {
			m = mapBlocks(m, func(b Block) Block {
				if t, ok := b.(Text); ok && blank(t.Text) {
					return nil
				}
				return b
			})
		}
		if gap = len(m.Content) == 0 && !m.SetsOnly(); gap {
			if n := len(left); n > 0 {
				left[n-1] = true
			}
			continue
		}
		out, left = append(out, m), append(left, true)
	}
	return out, left
}

// turnsOf groups consecutive messages of one role. System messages join the
// turn they stand in; leading ones join the first.
func turnsOf(msgs []Message) [][]Message {
	var turns [][]Message
	role := Role("")
	for _, m := range msgs {
		n := len(turns)
		if n > 0 && (m.Role == role || m.Role == RoleSystem) {
			turns[n-1] = append(turns[n-1], m)
			continue
		}
		turns = append(turns, []Message{m})
		role = m.Role
	}
	return turns
}
