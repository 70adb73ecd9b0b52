package precis

import (
	"encoding/json"
	"fmt"
	"slices"
)

// The texts that [Repair] inserts.
const (
	repairedResult = "[No result was recorded for this tool call.]"
	repairedStart  = "[The recorded conversation begins with the assistant.]"
	repairedCall   = "unrecorded_call" // the name of the tool in a call that was not recorded
)

// Repair returns a list of messages without breaches and with the same content, and the breaches it
// mended. All content is preserved: a result moves to its call, see [Pairs]; a tool use without a
// result gets one that states this; a result without its tool use gets a call of the tool
// "unrecorded_call", since a tool's output must not become a person's words; a second result of one
// call is added to the first; a second use of an ID gets a new ID; blank text is dropped. A result
// of a server's tool without its call, or the reverse, is named in the assistant's text, since no
// other form can be sent. A valid list is returned unchanged. Repair is pure, so the same view is
// repaired the same way on every turn.
func Repair(view []Message) ([]Message, []Breach) { return RepairNew(view, nil) }

// RepairNew is [Repair] for a view of a client's own messages. It mends only breaches that are not
// in said, the breaches of the messages as the client sent them, and leaves turns without a new
// breach byte for byte. The result may therefore still have breaches of said.
func RepairNew(view []Message, said []Breach) ([]Message, []Breach) {
	breaches := NewBreaches(Check(view), said)
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
	r := repairer{view: view, pairs: PairsOf(view), turns: turnsOf(view), seen: map[string]bool{},
		next: map[string]int{}, outIDs: map[Handle]string{}}
	r.mark(broken)
	for n := range r.turns {
		switch assistant := r.view[r.turns[n].from].Role == RoleAssistant; {
		case assistant && r.mend[n]:
			r.assistant(r.turns[n])
		case assistant:
			r.copyAssistant(r.turns[n])
		case r.mend[n]:
			r.user(r.turns[n])
		default:
			r.copyUser(r.turns[n])
		}
	}
	if n := len(r.turns); n > 0 && r.mend[n-1] {
		r.flush()
	}
	return r.out, breaches
}

// NewBreaches returns the breaches that are not in said, at whatever message.
func NewBreaches(all, said []Breach) []Breach {
	if len(said) == 0 {
		return all
	}
	had := map[string]bool{}
	for _, b := range said {
		had[b.Rule+b.Detail] = true
	}
	return slices.DeleteFunc(all, func(b Breach) bool { return had[b.Rule+b.Detail] })
}

// turn is a span of a list of messages, see [turnsOf].
type turn struct{ from, to int }

// repairer walks the turns.
type repairer struct {
	view  []Message
	pairs *Pairs
	turns []turn
	mend  []bool // by turn

	lastTalk int // the first message of the last turn that the model will have spoken in

	out    []Message
	begun  bool // a user or assistant turn is in out
	seen   map[string]bool
	next   map[string]int    // numbers given to repeats of an ID
	outIDs map[Handle]string // the IDs of calls in out
	calls  []Handle          // of the assistant turn before
	stray  []ToolResult      // results in the assistant turn before that answer no call
}

func (r *repairer) messages(t turn) []Message { return r.view[t.from:t.to] }

// mark decides which turns are mended: those with broken messages, the turn after a mended turn
// with calls, and all turns with a half of a pair that must move.
func (r *repairer) mark(broken []bool) {
	at := make([]int, len(r.view)) // the turn of each message
	r.mend = make([]bool, len(r.turns))
	var todo []int // turns that are mended and may spread it
	mend := func(n int) {
		if !r.mend[n] {
			r.mend[n] = true
			todo = append(todo, n)
		}
	}
	for n, t := range r.turns {
		for i := t.from; i < t.to; i++ {
			if at[i] = n; broken[i] {
				mend(n)
			}
		}
		if r.view[t.from].Role == RoleAssistant {
			r.lastTalk = t.from
		}
	}
	together := make([][]int, len(r.turns))
	for _, p := range r.pairs.list {
		if a, b := at[p.call.message], at[p.result.message]; b != a+1 && isResult(r.view, p.result.handle()) {
			together[a], together[b] = append(together[a], b), append(together[b], a)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n+1 < len(r.turns) && r.view[r.turns[n].from].Role == RoleAssistant {
			mend(n + 1)
		}
		for _, other := range together[n] {
			mend(other)
		}
	}
	for i := r.lastTalk; i < len(r.view); i++ {
		for b := range r.view[i].Content {
			h := BlockHandle(i, b)
			if _, ok := r.pairs.Call(h); !ok && r.mend[at[i]] && isResult(r.view, h) {
				r.lastTalk = len(r.view) // it gets a call
			}
		}
	}
}

func isResult(msgs []Message, h Handle) bool {
	_, ok := msgs[h.From].Content[h.Block].(ToolResult)
	return ok
}

// copyAssistant copies a valid assistant turn. The next turn must answer its calls.
func (r *repairer) copyAssistant(t turn) {
	r.begun = true
	r.calls = nil
	for i := t.from; i < t.to; i++ {
		for b, block := range r.view[i].Content {
			if use, ok := block.(ToolUse); ok {
				h := BlockHandle(i, b)
				r.seen[use.ID], r.outIDs[h] = true, use.ID
				r.calls = append(r.calls, h)
			}
		}
	}
	r.out = append(r.out, r.messages(t)...)
}

func (r *repairer) assistant(t turn) {
	r.flush()
	r.beginWithUser()
	for i := t.from; i < t.to; i++ {
		m := r.view[i]
		r.out = append(r.out, mapBlocks(m, func(k int, b Block) Block {
			h := BlockHandle(i, k)
			switch b := b.(type) {
			case ToolUse:
				if m.Role != RoleAssistant {
					return toolUseAsText(b)
				}
				r.calls = append(r.calls, h)
				return r.withNewID(h, b)
			case ToolResult:
				if _, ok := r.pairs.Call(h); !ok {
					r.stray = append(r.stray, b)
				}
				return nil // it goes after the turn
			case Opaque:
				if m.Role == RoleAssistant {
					return r.servedBlock(h, b)
				}
			}
			return b
		}))
		if last := len(r.out) - 1; len(r.out[last].Content) == 0 && !r.out[last].OnlySettings() {
			r.out = r.out[:last]
		}
	}
}

// beginWithUser makes sure that the user says something before the assistant does.
func (r *repairer) beginWithUser() {
	if !r.begun {
		r.out = append(r.out, NewText(RoleUser, repairedStart))
	}
	r.begun = true
}

// withNewID returns a call with an ID that no call before it has.
func (r *repairer) withNewID(h Handle, b ToolUse) ToolUse {
	id := b.ID
	for r.seen[id] {
		r.next[b.ID]++
		id = fmt.Sprintf("%s_%d", b.ID, r.next[b.ID]+1)
	}
	r.seen[id], r.outIDs[h] = true, id
	if id != b.ID {
		b.ID, b.Raw = id, nil
	}
	return b
}

// servedBlock returns a block of a tool that the provider's server runs, or a text that names it if its
// other half is missing.
func (r *repairer) servedBlock(h Handle, b Opaque) Block {
	_, answered := r.pairs.Result(h)
	_, called := r.pairs.Call(h)
	switch id, half := servedHalf(b); {
	case half == answers && !called:
		return Text{Text: fmt.Sprintf("[%s without its call: %s]", b.Type, id)}
	case half == asks && !answered && h.From < r.lastTalk:
		return Text{Text: fmt.Sprintf("[%s without its result: %s %s]", b.Type, field(b.Raw, "name"), id)}
	}
	return b
}

// user repairs a user turn: the results of the calls before it come first. A message with results
// that answer no call follows a call that is made for them.
func (r *repairer) user(t turn) {
	rest := make([]Message, 0, t.to-t.from)
	stray := make([][]ToolResult, t.to-t.from)
	stray[0], r.stray = r.stray, nil
	strays := len(stray[0])
	for i := t.from; i < t.to; i++ {
		rest = append(rest, mapBlocks(r.view[i], func(k int, b Block) Block {
			switch b := b.(type) {
			case ToolUse:
				return toolUseAsText(b)
			case ToolResult:
				_, called := r.pairs.Call(BlockHandle(i, k))
				switch {
				case called:
				case answersNothing(r.view[i], b):
					return b
				default:
					stray[i-t.from] = append(stray[i-t.from], b)
					strays++
				}
				return nil
			}
			return b
		}))
	}
	results, here := r.results(t)
	if strays == 0 && here && needsNoRepair(r.messages(t), results) {
		r.copyUser(t)
		return
	}
	for i, m := range rest {
		if len(stray[i]) > 0 {
			r.addUserMessage(results)
			results = r.makeCalls(stray[i])
		}
		if len(results) > 0 && m.Role == RoleUser {
			m = prepend(m, results)
			results = nil
		}
		if len(m.Content) > 0 || m.OnlySettings() {
			r.out = append(r.out, m)
			r.begun = r.begun || m.Role == RoleUser
		}
	}
	r.addUserMessage(results)
}

// copyUser copies a valid user turn.
func (r *repairer) copyUser(t turn) {
	r.begun = r.begun || r.view[t.from].Role == RoleUser
	r.out, r.calls = append(r.out, r.messages(t)...), nil
}

// addUserMessage adds a user message of blocks, if there are any.
func (r *repairer) addUserMessage(blocks []Block) {
	if len(blocks) > 0 {
		r.out, r.begun = append(r.out, Message{Role: RoleUser, Content: blocks}), true
	}
}

// makeCalls makes calls for results that answer none, and returns the results.
func (r *repairer) makeCalls(stray []ToolResult) []Block {
	r.beginWithUser()
	calls, results := make([]Block, len(stray)), make([]Block, len(stray))
	for i, b := range stray {
		use := r.withNewID(Handle{}, ToolUse{ID: b.ToolUseID, Name: repairedCall,
			Input: json.RawMessage("{}")})
		calls[i], results[i] = use, renamed(b, use.ID)
	}
	r.out = append(r.out, Message{Role: RoleAssistant, Content: calls})
	return results
}

// renamed returns a result of the call with an ID.
func renamed(b ToolResult, id string) ToolResult {
	if b.ToolUseID != id {
		b.ToolUseID, b.Raw = id, nil
	}
	return b
}

// results returns the answers to the calls of the turn before t in their order, a synthetic one for
// a missing answer, and closes the calls. Further answers of a call are added to its first one. It
// reports whether t already has all answers in their place.
func (r *repairer) results(t turn) (out []Block, here bool) {
	here = true
	for _, call := range r.calls {
		id := r.outIDs[call]
		first, ok := r.pairs.Result(call)
		if !ok {
			out, here = append(out, ToolResult{ToolUseID: id,
				Content: []Block{Text{Text: repairedResult}}}), false
			continue
		}
		rest := r.pairs.laterResults(call)
		here = here && first.From >= t.from && first.From < t.to && r.result(first).ToolUseID == id &&
			rest == nil
		result := renamed(r.result(first), id)
		if rest != nil {
			result.Content = slices.Clone(result.Content)
		}
		for _, again := range rest {
			more := r.result(again)
			result.Content = append(result.Content, more.Content...)
			result.IsError, result.Refused, result.Raw = result.IsError || more.IsError, result.Refused ||
				more.Refused, nil
		}
		out = append(out, result)
	}
	r.calls = nil
	return out, here
}

func (r *repairer) result(h Handle) ToolResult {
	return r.view[h.From].Content[h.Block].(ToolResult) // pairs of tool uses have tool results
}

// flush answers the calls that no user turn follows.
func (r *repairer) flush() {
	results, _ := r.results(turn{})
	r.addUserMessage(results)
	if stray := r.stray; len(stray) > 0 {
		r.stray = nil
		r.addUserMessage(r.makeCalls(stray))
	}
}

// needsNoRepair reports whether the turn needs no repair: it begins with exactly the wanted results, in
// any order, and has no other tool block.
func needsNoRepair(turn []Message, results []Block) bool {
	want := map[string]bool{}
	for _, b := range results {
		want[b.(ToolResult).ToolUseID] = true
	}
	if len(want) < len(results) {
		return false // two have one ID
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

// toolUseAsText writes a tool use outside an assistant turn as text.
func toolUseAsText(b ToolUse) Block {
	return Text{Text: fmt.Sprintf("[Tool use: %s] %s", b.Name, b.Input)}
}

// mapBlocks returns m with each block passed through f; nil drops it. If no block changes, m itself
// is returned, raw bytes and all.
func mapBlocks(m Message, f func(int, Block) Block) Message {
	content := make([]Block, 0, len(m.Content))
	same := true
	for k, b := range m.Content {
		out := f(k, b)
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
	case Opaque:
		_, ok := b.(Opaque)
		return ok
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

// dropBlank removes blank text and messages without content from the broken messages, and turns
// unknown roles into the user's. It returns which of the remaining messages are broken, including
// the neighbors of removed ones.
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
		if !m.OnlySettings() {
			m = mapBlocks(m, func(_ int, b Block) Block {
				if t, ok := b.(Text); ok && blank(t.Text) {
					return nil
				}
				return b
			})
		}
		if gap = len(m.Content) == 0 && !m.OnlySettings(); gap {
			if n := len(left); n > 0 {
				left[n-1] = true
			}
			continue
		}
		out, left = append(out, m), append(left, true)
	}
	return out, left
}

// turnsOf groups consecutive messages of one role. System messages join the turn that they are in;
// leading ones are a turn of their own.
func turnsOf(msgs []Message) []turn {
	var turns []turn
	role := Role("")
	for i, m := range msgs {
		n := len(turns)
		if n > 0 && (m.Role == role || m.Role == RoleSystem) {
			turns[n-1].to++
			continue
		}
		turns = append(turns, turn{i, i + 1})
		role = m.Role
	}
	return turns
}
