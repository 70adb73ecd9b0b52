package precis

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"precis/internal/harness"
)

// Fields of a system message of the Messages API: when it is no longer in force, and
// the settings from there on.
const (
	clearAt      = "clear_at"
	outputConfig = "output_config"
)

// part is a message, or some blocks of it.
type part struct {
	at     int
	blocks []int // nil: the whole message
	tails  []int // blocks of which only what a program added behind the result is held
}

func blockPart(at, b int) part { return part{at: at, blocks: []int{b}} }

// hold is one thing that was said once and is in force until it is said anew: standing
// instructions of the program around the model, a tool that was defined, withdrawn or
// discovered within the conversation, a setting. No edit of the ladder hides it.
type hold struct {
	parts   []part
	key     string   // of several with one key the newest is in force
	defines bool     // tools and settings: without it the API refuses later calls, or answers otherwise
	rank    int      // what is left out last has the lowest
	most    int      // tokens that it may take; 0: as many as there are
	name    string   // what it is, where its words do not begin with that
	must    []string // what has to be said where it is not held
	kept    bool     // it is held, of a law
}

// lawRank is the rank of what a [Law] holds: behind all that the wire shows to be in force.
const lawRank = 1 << 10

// standing holds what is in force of a transcript, by its place.
type standing struct {
	blocks map[int]map[int]bool // by message; nil value: the whole message
	tails  map[int]map[int]bool // by message: results of which what a program added is held
	order  []int                // the messages, in order, see settle
	left   []hold               // in force, and too large to be held
	law    []hold               // what a law holds
}

func (st *standing) whole(i int) bool {
	blocks, held := st.blocks[i]
	return held && blocks == nil
}

func (st *standing) block(i, b int) bool {
	blocks, held := st.blocks[i]
	return held && (blocks == nil || blocks[b])
}

// standingIn finds what is in force among messages, of those that are wanted, and takes in
// what a law holds, in its order. What defines nothing is held up to room tokens: the kinds
// of the lowest rank first, of one kind the newest first.
func standingIn(msgs []Message, wanted func(i int) bool, m *Meter, room int, law []Held) standing {
	var all []hold
	f := newFinder(msgs)
	for i := range msgs {
		if wanted(i) {
			all = append(all, f.at(i)...)
		}
	}
	force := newestOf(all)
	slices.Reverse(force)
	slices.SortStableFunc(force, func(a, b hold) int { return a.rank - b.rank })
	var said []hold
	for _, l := range law {
		h, keeps := f.held(l)
		switch {
		case len(h.parts) == 0 || slices.ContainsFunc(h.parts, func(p part) bool { return !wanted(p.at) }):
		case keeps:
			force = append(force, h)
		default:
			said = append(said, h)
		}
	}
	st := standing{blocks: map[int]map[int]bool{}, tails: map[int]map[int]bool{}, law: said}
	for _, h := range force {
		if !h.defines {
			size := st.size(h, msgs, m)
			if h.most > 0 && size > h.most && h.shorten(msgs) {
				size = st.size(h, msgs, m)
			}
			switch {
			case h.rank == lawRank && (size > room || h.most > 0 && size > h.most):
				st.law = append(st.law, h)
				continue
			case size > room || h.most > 0 && size > h.most:
				st.left = append(st.left, h)
				continue
			}
			room -= size
		}
		if h.rank == lawRank {
			h.kept = true
			st.law = append(st.law, h)
		}
		for _, p := range h.parts {
			st.add(p)
		}
	}
	return st
}

// newestOf returns what no later one takes the place of, in order.
func newestOf(all []hold) (out []hold) {
	newest := map[string]int{}
	for n, h := range all {
		newest[h.key] = n
	}
	for n, h := range all {
		if newest[h.key] == n {
			out = append(out, h)
		}
	}
	return out
}

// InForce returns where the words of programs stand that are in force until they are said
// anew, in order: system messages within the conversation, texts in the user's role, and
// items that answer no call. A handle names a message, or a block of one. Tools that are
// defined within the conversation are not among them.
func InForce(msgs []Message) []Handle {
	var all []hold
	f := newFinder(msgs)
	for i := range msgs {
		all = append(all, f.at(i)...)
	}
	var out []Handle
	for _, h := range newestOf(all) {
		p := h.parts[0]
		switch {
		case len(h.parts) > 1 || h.defines && msgs[p.at].Role != RoleSystem:
		case p.blocks == nil:
			out = append(out, MessageHandle(p.at))
		default:
			out = append(out, BlockHandle(p.at, p.blocks[0]))
		}
	}
	return out
}

// size returns the tokens that a thing takes beside what is held already.
func (st *standing) size(h hold, msgs []Message, m *Meter) (n int) {
	for _, p := range h.parts {
		if !st.holds(p) {
			n += m.View([]Message{p.of(msgs)})
		}
	}
	return n
}

// shorten leaves of the result that a program added something to no more than that; false
// when the thing does not end with such a result.
func (h *hold) shorten(msgs []Message) bool {
	last := &h.parts[len(h.parts)-1]
	if len(last.blocks) != 1 {
		return false
	}
	r, ok := msgs[last.at].Content[last.blocks[0]].(ToolResult)
	added := func(b Block) bool {
		t, isText := b.(Text)
		if !isText {
			return false
		}
		lists, _ := harness.Appended(t.Text)
		return len(lists) > 0
	}
	if !ok || !slices.ContainsFunc(r.Content, added) {
		return false
	}
	last.blocks, last.tails = []int{}, last.blocks
	return true
}

// holds reports whether a part is held.
func (st *standing) holds(p part) bool {
	if st.whole(p.at) {
		return true
	}
	missing := func(b int) bool { return !st.block(p.at, b) }
	return p.blocks != nil && !slices.ContainsFunc(p.blocks, missing) && !slices.ContainsFunc(p.tails, func(b int) bool { return missing(b) && !st.tails[p.at][b] })
}

func (st *standing) add(p part) {
	blocks, held := st.blocks[p.at]
	switch {
	case p.blocks == nil || held && blocks == nil:
		st.blocks[p.at] = nil
		return
	case len(p.tails) > 0:
		if st.tails[p.at] == nil {
			st.tails[p.at] = map[int]bool{}
		}
		for _, b := range p.tails {
			st.tails[p.at][b] = true
		}
		return
	case !held:
		blocks = map[int]bool{}
		st.blocks[p.at] = blocks
	}
	for _, b := range p.blocks {
		blocks[b] = true
	}
}

// settle sorts what is held. It is called once, when nothing more is added.
func (st *standing) settle() {
	st.order = slices.Sorted(maps.Keys(st.blocks))
	for at := range st.tails {
		if _, there := st.blocks[at]; !there {
			st.order = append(st.order, at)
		}
	}
	slices.Sort(st.order)
}

// of returns the part as a message of its own. Blocks of a message that is not whole are
// without the bytes that they came from, which an edit does not keep: the view has the same
// bytes after the edit was stored.
func (p part) of(msgs []Message) Message {
	m := msgs[p.at]
	if p.blocks == nil || len(p.blocks) == len(m.Content) {
		return m
	}
	var content []Block
	for b, block := range m.Content {
		switch {
		case slices.Contains(p.blocks, b):
			content = append(content, withoutBytes(block))
		case slices.Contains(p.tails, b):
			content = append(content, tailOf(block, BlockHandle(p.at, b)))
		}
	}
	m.Content, m.Raw = content, nil
	return m
}

// tailOf returns a result with no more of its texts than what a program added to them.
func tailOf(b Block, at Handle) Block {
	r, ok := b.(ToolResult)
	if !ok {
		return b
	}
	var out strings.Builder
	fmt.Fprintf(&out, "[%s: hidden to save room, but for what follows]", at)
	for _, block := range r.Content {
		if t, ok := block.(Text); ok {
			if lists, from := harness.Appended(t.Text); len(lists) > 0 {
				out.WriteString("\n\n" + strings.TrimSpace(t.Text[from:]))
			}
		}
	}
	r.Content, r.Raw = []Block{Text{Text: out.String()}}, nil
	return withoutBytes(r)
}

// withoutBytes returns a block without the bytes that it came from, as an edit that was
// stored gives it back. What is not understood is its bytes.
func withoutBytes(b Block) Block {
	stored, err := fromBlock(toBlock(b))
	if err != nil {
		return b
	}
	return stored
}

// finder finds what a message says that stays in force.
type finder struct {
	msgs     []Message
	lastUser int          // the last user message that answers no tool; -1: none
	setBy    map[int]bool // system messages that set something that no later one sets
	pairs    *Pairs
}

func newFinder(msgs []Message) *finder {
	f := &finder{msgs: msgs, lastUser: -1, setBy: map[int]bool{}, pairs: PairsOf(msgs)}
	last := map[string]int{}
	for i, m := range msgs {
		switch {
		case m.Role == RoleUser && !m.HasToolResult():
			f.lastUser = i
		case m.Role == RoleSystem:
			for _, name := range settingsOf(envelopeOf(m)) {
				last[name] = i
			}
		}
	}
	for _, i := range last {
		f.setBy[i] = true
	}
	return f
}

// settingsOf returns the names of what a system message sets: the fields of its
// output_config; the whole of it where that is no object.
func settingsOf(e envelope) []string {
	raw := e.get(outputConfig)
	if raw == nil {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return []string{outputConfig}
	}
	return slices.Sorted(maps.Keys(fields))
}

func (f *finder) at(i int) []hold {
	m := f.msgs[i]
	switch m.Role {
	case RoleSystem:
		return f.system(i, m)
	case RoleAssistant:
		return f.served(i, m)
	}
	var out []hold
	authors := m.authors()
	for b, block := range m.Content {
		switch block := block.(type) {
		case Text:
			if s, ok := harness.Standing(block.Text); ok && authors[b] != AuthorPerson {
				out = append(out, hold{parts: []part{blockPart(i, b)}, key: s.Key, rank: int(s.Rank)})
			}
		case ToolResult:
			out = append(out, f.result(i, b, block)...)
		case Opaque:
			if definesTools(block.Type) {
				out = append(out, hold{parts: append(f.call(i, b), part{at: i}), key: keyOf(block.Raw), defines: true})
			}
		}
	}
	return out
}

// searchOutput is the type of the item that holds the tools which a search found.
const searchOutput = "tool_search_output"

// The types of blocks and items that define, withdraw or list tools within a
// conversation, of the Messages API and the Responses API.
func definesTools(kind string) bool {
	switch kind {
	case "tool_addition", "tool_removal", "additional_tools", "mcp_list_tools", "mcp_tool_listing", searchOutput, "configuration_update":
		return true
	}
	return false
}

// keyOf names content that replaces nothing but its own copies.
func keyOf(content []byte) string { return "=" + string(content) }

// system returns what a system message within the conversation says. Each of its lists
// is one of the message: a message that names the same lists again takes its place.
func (f *finder) system(i int, m Message) []hold {
	h := hold{parts: []part{{at: i}}}
	var text strings.Builder
	for _, b := range m.Content {
		switch b := b.(type) {
		case Text:
			text.WriteString(b.Text)
		case Opaque:
			h.defines = h.defines || definesTools(b.Type)
			text.Write(b.Raw)
		}
	}
	fields := envelopeOf(m)
	if clears(fields.get(clearAt)) && f.lastUser > i {
		return nil
	}
	s, known := harness.Standing(text.String())
	switch {
	case !known && harness.Passing(text.String()):
		return nil
	case known && !h.defines:
		h.key, h.rank = s.Key, int(s.Rank)
	default:
		h.key = keyOf([]byte(text.String()))
	}
	if fields.get(outputConfig) != nil {
		if m.SetsOnly() {
			if !f.setBy[i] {
				return nil
			}
			h.key = fmt.Sprint(outputConfig, " ", i)
		}
		h.defines = h.defines || f.setBy[i]
	}
	return []hold{h}
}

// clears reports whether a clear_at names the next message of the user.
func clears(raw json.RawMessage) bool {
	const next = "next_user_message"
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return name == next
	}
	var typed struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(raw, &typed) == nil && typed.Type == next
}

// served returns the tools that the provider's server has found or listed.
func (f *finder) served(i int, m Message) (out []hold) {
	for b, block := range m.Content {
		o, ok := block.(Opaque)
		switch {
		case !ok:
		case o.Type == "tool_search_tool_result":
			out = append(out, hold{parts: append(f.call(i, b), blockPart(i, b)), key: keyOf(o.Raw), defines: true})
		case definesTools(o.Type):
			out = append(out, hold{parts: []part{{at: i}}, key: keyOf(o.Raw), defines: true})
		}
	}
	return out
}

// result returns the tools that a result loads, with the call that it answers, and an
// output that answers no call: the program's own item.
func (f *finder) result(i, b int, r ToolResult) []hold {
	if f.msgs[i].Format == formatResponses && field(r.Raw, "call_id") == "" && r.Raw != nil {
		return []hold{{parts: []part{{at: i}}, key: "item " + field(r.Raw, "name") + field(r.Raw, "namespace")}}
	}
	var names []string
	for _, block := range r.Content {
		o, ok := block.(Opaque)
		if !ok {
			continue
		}
		switch o.Type {
		case "tool_reference":
			names = append(names, field(o.Raw, "tool_name"))
		case searchOutput:
			if tools := toolNames(o.Raw); tools != "" {
				names = append(names, tools)
			}
		}
	}
	if len(names) == 0 {
		return f.appended(i, b, r)
	}
	call := f.call(i, b)
	if call == nil {
		return nil
	}
	return []hold{{parts: append(call, blockPart(i, b)), key: "tools " + strings.Join(names, " "), defines: true}}
}

// appended returns what a program has added to a result that stays in force, with the whole of
// the result and its call: rules of the folder of a file that was read.
func (f *finder) appended(i, b int, r ToolResult) (out []hold) {
	for _, block := range r.Content {
		t, ok := block.(Text)
		if !ok {
			continue
		}
		lists, _ := harness.Appended(t.Text)
		for _, l := range lists {
			if call := f.call(i, b); call != nil && l.Rank != harness.Jobs {
				out = append(out, hold{parts: append(call, blockPart(i, b)), key: l.Key, rank: int(l.Rank), most: mostAppended, name: l.Key})
			}
		}
	}
	return out
}

// mostAppended is how many tokens a result may have that is held for the sake of what a
// program added to it. Of a larger one the words of the program are kept by what shortens it.
const mostAppended = 1000

// toolNames returns the definitions in a tool_search_output; "" when it found none.
func toolNames(raw json.RawMessage) string {
	var found struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(raw, &found) != nil || len(found.Tools) == 0 {
		return ""
	}
	all, err := json.Marshal(found.Tools)
	if err != nil {
		return ""
	}
	return string(all)
}

// call returns the call that block b of message i answers. In the Responses API it comes with
// the reasoning that led to it and with what stands between, results included: the API
// takes an item only with its reasoning, and reasoning only with what followed it. It is
// nil when there is no such call.
func (f *finder) call(i, b int) []part {
	use, there := f.pairs.Call(BlockHandle(i, b))
	switch {
	case !there:
		return nil
	case f.msgs[use.From].Format == formatResponses:
		return f.answer(use.From, i)
	case f.saysLittle(use.From):
		return []part{{at: use.From}}
	}
	return []part{blockPart(use.From, use.Block)}
}

// fewWords is how many bytes the words beside a call may have that are kept with it.
const fewWords = 400

// saysLittle reports whether an answer is one call with a few words beside it: it stays whole,
// with the bytes that it came from.
func (f *finder) saysLittle(i int) bool {
	calls, size := 0, 0
	for _, block := range f.msgs[i].Content {
		switch block := block.(type) {
		case ToolUse:
			calls++
		case Text:
			size += len(block.Text)
		default:
			return false
		}
	}
	return calls == 1 && size <= fewWords
}

// mostOfAnswer is how many items of one answer are held for the sake of a call in it. In a
// longer one the call stands without its reasoning.
const mostOfAnswer = 64

// answer returns the items from the reasoning that led to item i up to it, and the
// results of the other calls among them, in order. The result at last is the caller's.
func (f *finder) answer(i, last int) []part {
	from := i
	for k := i - 1; k >= max(0, i-mostOfAnswer) && f.msgs[k].Role == RoleAssistant; k-- {
		if onlyReasoning(f.msgs[k]) {
			from = k
			break
		}
	}
	var out []part
	for k := from; k <= i; k++ {
		out = append(out, part{at: k})
		for b := range f.msgs[k].Content {
			if r, there := f.pairs.Result(BlockHandle(k, b)); there && r.From > i && r.From != last {
				out = append(out, part{at: r.From})
			}
		}
	}
	return out
}
