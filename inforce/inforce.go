// Package inforce finds what of a conversation stays in force until its program replaces it: system
// messages, reminders, loaded tools and settings, by their structure alone; and it holds the items that
// a caller names, such as a plan. [Find] returns all of it; a [Carrier] shows it again where an edit
// hides it.
package inforce

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Fields of a system message of the Messages API: when it stops being in force, and the settings
// from there on.
const (
	clearAt      = "clear_at"
	outputConfig = "output_config"
)

// lawRank is the rank of the items that the caller names: after all items that the messages show to be
// in force.
const lawRank = 1 << 10

// Content is the content of a conversation that is in force, by its place.
type Content struct {
	// by message and block, -1 for the whole message; false: only what a program appended
	held  map[int]map[int]bool
	order []int  // the messages, in order, see [Content.Sort]
	Items []Item // items that the caller named, and items too large to be held, see [Item.Kept]
}

// Whole reports whether message i is held as a whole.
func (st *Content) Whole(i int) bool { return st.held[i][-1] }

// Block reports whether block b of message i is held, by itself or with its message.
func (st *Content) Block(i, b int) bool { return st.Whole(i) || st.held[i][b] }

// Find returns what is in force among the wanted messages, and adds the items of law that concern
// them, in its order. Items that define no tools are held up to room tokens, as count counts: lowest
// rank first, then newest first. Call [Content.Sort] after the last addition.
func Find(msgs []precis.Message, wanted func(i int) bool, count func([]precis.Message) int, room int,
	law []Item) Content {
	f := newFinder(msgs)
	force := f.content(wanted)
	slices.Reverse(force)
	slices.SortStableFunc(force, func(a, b Item) int { return a.rank - b.rank })
	for _, h := range law {
		h = f.resolved(h)
		if len(h.At) > 0 && !slices.ContainsFunc(h.At,
			func(at precis.Handle) bool { return !wanted(at.From) }) {
			force = append(force, h)
		}
	}
	st := Content{held: map[int]map[int]bool{}}
	for _, h := range force {
		size := st.size(h, msgs, count)
		if h.isAddition && size > h.MaxTokens {
			h.cut = true
			size = st.size(h, msgs, count)
		}
		if h.kept = h.defines || !h.words && size <= room &&
			(h.MaxTokens == 0 || size <= h.MaxTokens); h.kept {
			for _, at := range h.At {
				st.Add(at, !h.cuts(at))
			}
		}
		if h.kept && !h.defines {
			room -= size
		}
		if !h.kept || h.rank == lawRank {
			st.Items = append(st.Items, h)
		}
	}
	return st
}

// content returns the items that no later item replaces, in order.
func (f *finder) content(wanted func(i int) bool) (out []Item) {
	var all []Item
	newest := map[string]int{}
	for i := range f.msgs {
		if !wanted(i) {
			continue
		}
		for _, h := range f.at(i) {
			newest[h.Key] = len(all)
			all = append(all, h)
		}
	}
	for n, h := range all {
		if newest[h.Key] == n {
			out = append(out, h)
		}
	}
	return out
}

// Handles returns the handles of texts of programs that are in force until the program replaces
// them, in order: system messages within the conversation, texts in the user's role, and items that
// answer no call. A handle names a message, or a block of one. Tool definitions within the
// conversation are excluded.
func Handles(msgs []precis.Message) []precis.Handle {
	var out []precis.Handle
	for _, h := range newFinder(msgs).content(func(int) bool { return true }) {
		at := h.At[0]
		if len(h.At) == 1 && (!h.defines || msgs[at.From].Role == precis.RoleSystem) {
			out = append(out, at)
		}
	}
	return out
}

// size returns the tokens that an item adds to those held already.
func (st *Content) size(h Item, msgs []precis.Message, count func([]precis.Message) int) (n int) {
	for _, at := range h.At {
		if whole := !h.cuts(at); !st.Holds(at, whole) {
			n += count([]precis.Message{Excerpt(msgs[at.From], at.From, map[int]bool{at.Block: whole})})
		}
	}
	return n
}

// Holds reports whether a message or a block is held: whole, or at least the addition of a program.
func (st *Content) Holds(at precis.Handle, whole bool) bool {
	_, appended := st.held[at.From][at.Block]
	return st.Block(at.From, at.Block) || appended && !whole
}

// Add holds a message or a block: whole, or only what a program appended to it.
func (st *Content) Add(at precis.Handle, whole bool) {
	if st.held[at.From] == nil {
		st.held[at.From] = map[int]bool{}
	}
	st.held[at.From][at.Block] = whole || st.held[at.From][at.Block]
}

// Sort sorts the held messages. It is called once, after the last addition.
func (st *Content) Sort() {
	st.order = slices.Sorted(maps.Keys(st.held))
}

// Of returns the held part of a message as a message of its own.
func (st *Content) Of(msgs []precis.Message, i int) precis.Message {
	return Excerpt(msgs[i], i, st.held[i])
}

// Excerpt returns some blocks of message i as a message of its own, each whole or reduced to a
// program's addition. Blocks of a partial message lose their raw bytes, which an edit does not
// store, so that the view has the same bytes before and after storage.
func Excerpt(m precis.Message, i int, blocks map[int]bool) precis.Message {
	var content []precis.Block
	n := 0
	for b, block := range m.Content {
		whole, held := blocks[b]
		switch {
		case whole:
			content = append(content, precis.WithoutRaw(block))
			n++
		case held:
			content = append(content, tailOf(block, precis.BlockHandle(i, b)))
		}
	}
	if blocks[-1] || n == len(m.Content) {
		return m
	}
	m.Content, m.Raw = content, nil
	return m
}

// tailOf returns a result reduced to the text that a program added to it.
func tailOf(b precis.Block, at precis.Handle) precis.Block {
	r, ok := b.(precis.ToolResult)
	if !ok {
		return b
	}
	var out strings.Builder
	fmt.Fprintf(&out, "[%s: hidden to save room, but for what follows]", at)
	for _, block := range r.Content {
		if t, ok := block.(precis.Text); ok {
			if lists, from := harness.Appended(t.Text); len(lists) > 0 {
				out.WriteString("\n\n" + strings.TrimSpace(t.Text[from:]))
			}
		}
	}
	r.Content, r.Raw = []precis.Block{precis.Text{Text: out.String()}}, nil
	return precis.WithoutRaw(r)
}

// finder finds the items in force that messages contain.
type finder struct {
	msgs     []precis.Message
	lastUser int          // the last user message that answers no tool; -1: none
	setBy    map[int]bool // system messages with a setting that no later one overrides
	pairs    *precis.Pairs
}

func newFinder(msgs []precis.Message) *finder {
	f := &finder{msgs: msgs, lastUser: -1, setBy: map[int]bool{}, pairs: precis.PairsOf(msgs)}
	last := map[string]int{}
	for i, m := range msgs {
		switch {
		case m.Role == precis.RoleUser && !m.HasToolResult():
			f.lastUser = i
		case m.Role == precis.RoleSystem:
			for _, name := range settingsOf(m.Envelope()) {
				last[name] = i
			}
		}
	}
	for _, i := range last {
		f.setBy[i] = true
	}
	return f
}

// settingsOf returns the names of a system message's settings: the fields of its output_config, or
// output_config itself if it is not an object.
func settingsOf(fields []precis.Field) []string {
	raw := fieldOf(fields, outputConfig)
	if raw == nil {
		return nil
	}
	var settings map[string]json.RawMessage
	if json.Unmarshal(raw, &settings) != nil {
		return []string{outputConfig}
	}
	return slices.Sorted(maps.Keys(settings))
}

// at returns the items in force in message i, including tools that the provider's server found or
// listed.
func (f *finder) at(i int) []Item {
	m := f.msgs[i]
	if m.Role == precis.RoleSystem {
		return f.system(i, m)
	}
	var out []Item
	for b, block := range m.Content {
		at := precis.BlockHandle(i, b)
		switch block := block.(type) {
		case precis.Text:
			if s, ok := harness.StandingList(block.Text); ok && m.Role == precis.RoleUser &&
				m.Authors()[b] != precis.AuthorPerson {
				out = append(out, Item{At: []precis.Handle{at}, Key: s.Key, rank: int(s.Rank)})
			}
		case precis.ToolResult:
			out = append(out, f.result(at, block)...)
		case precis.Opaque:
			call := f.call(at)
			if DefinesTools(block.Type) {
				at = precis.MessageHandle(i)
			} else if block.Type != "tool_search_tool_result" {
				continue
			}
			out = append(out, Item{At: append(call, at), Key: keyOf(block.Raw), defines: true})
		}
	}
	return out
}

// searchOutput is the type of the item that holds the tools which a search found.
const searchOutput = "tool_search_output"

// DefinesTools reports whether a type of block or item defines, withdraws or lists tools within a
// conversation, in the Messages API or the Responses API.
func DefinesTools(kind string) bool {
	switch kind {
	case "tool_addition", "tool_removal", "additional_tools", "mcp_list_tools", "mcp_tool_listing",
		searchOutput, "configuration_update":
		return true
	}
	return false
}

// keyOf returns the key of content that only its own copies replace.
func keyOf(content []byte) string { return "=" + string(content) }

// system returns the items of a system message within the conversation. Each list in it is an item:
// a later message that names the same lists replaces it.
func (f *finder) system(i int, m precis.Message) []Item {
	h := Item{At: []precis.Handle{precis.MessageHandle(i)}}
	var text strings.Builder
	for _, b := range m.Content {
		switch b := b.(type) {
		case precis.Text:
			text.WriteString(b.Text)
		case precis.Opaque:
			h.defines = h.defines || DefinesTools(b.Type)
			text.Write(b.Raw)
		}
	}
	fields := m.Envelope()
	if namesNextUserMessage(fieldOf(fields, clearAt)) && f.lastUser > i {
		return nil
	}
	s, known := harness.StandingList(text.String())
	switch {
	case !known && harness.IsTransient(text.String()):
		return nil
	case known && !h.defines:
		h.Key, h.rank = s.Key, int(s.Rank)
	default:
		h.Key = keyOf([]byte(text.String()))
	}
	if fieldOf(fields, outputConfig) != nil {
		if m.OnlySettings() {
			if !f.setBy[i] {
				return nil
			}
			h.Key = fmt.Sprint(outputConfig, " ", i)
		}
		h.defines = h.defines || f.setBy[i]
	}
	return []Item{h}
}

// namesNextUserMessage reports whether a clear_at names the next message of the user.
func namesNextUserMessage(raw json.RawMessage) bool {
	const next = "next_user_message"
	return string(raw) == strconv.Quote(next) || stringOf(raw, "type") == next
}

// mostAppended is the most tokens of a result that is held whole because of a program's addition to
// it.
const mostAppended = 1000

// result returns the tools that a result loads, with the call that it answers, and an output that
// answers no call: the program's own item.
func (f *finder) result(at precis.Handle, r precis.ToolResult) []Item {
	if f.msgs[at.From].Format == precis.FormatResponses && stringOf(r.Raw, "call_id") == "" && r.Raw != nil {
		return []Item{{At: []precis.Handle{precis.MessageHandle(at.From)},
			Key: "item " + stringOf(r.Raw, "name") + stringOf(r.Raw, "namespace")}}
	}
	var names []string
	var out []Item
	for _, block := range r.Content {
		switch block := block.(type) {
		case precis.Opaque:
			if name := loadedBy(block); name != "" {
				names = append(names, name)
			}
		case precis.Text: // rules of the folder of a file that was read
			lists, _ := harness.Appended(block.Text)
			for _, l := range lists {
				if l.Rank != harness.Jobs {
					out = append(out, Item{Key: l.Key, Name: l.Key, MaxTokens: mostAppended,
						rank:       int(l.Rank),
						isAddition: true})
				}
			}
		}
	}
	if len(names) > 0 {
		out = []Item{{Key: "tools " + strings.Join(names, " "), defines: true}}
	}
	for k := range out {
		if out[k].At = f.withCall(at); out[k].At == nil {
			return nil
		}
	}
	return out
}

// loadedBy names the tools that a block of a result loads; "" when it loads none.
func loadedBy(o precis.Opaque) string {
	switch o.Type {
	case "tool_reference":
		return stringOf(o.Raw, "tool_name")
	case searchOutput:
		if tools := string(jsonspan.Field(o.Raw, "tools")); strings.Contains(tools, "{") {
			// else it found none
			return tools
		}
	}
	return ""
}

// withCall returns a call and its result, given either; nil when one of them is missing.
func (f *finder) withCall(at precis.Handle) []precis.Handle {
	if result, answered := f.pairs.Result(at); answered {
		at = result
	}
	call := f.call(at)
	if call == nil {
		return nil
	}
	return append(call, at)
}

// call returns the call that a block answers, or nil. In the Responses API it includes the
// reasoning for the call and all items up to the call, results included: the API takes an item only
// with its reasoning, and reasoning only with the items after it.
func (f *finder) call(result precis.Handle) []precis.Handle {
	use, there := f.pairs.Call(result)
	switch {
	case !there:
		return nil
	case f.msgs[use.From].Format == precis.FormatResponses:
		return f.answer(use.From, result.From)
	case f.isMostlyCall(use.From):
		return []precis.Handle{precis.MessageHandle(use.From)}
	}
	return []precis.Handle{use}
}

// fewWords is the most bytes of other text in an answer that is kept along with its call.
const fewWords = 400

// isMostlyCall reports whether an answer is one call with little other text: such an answer stays
// whole, with its raw bytes.
func (f *finder) isMostlyCall(i int) bool {
	calls, size := 0, 0
	for _, block := range f.msgs[i].Content {
		switch block := block.(type) {
		case precis.ToolUse:
			calls++
		case precis.Text:
			size += len(block.Text)
		default:
			return false
		}
	}
	return calls == 1 && size <= fewWords
}

// mostOfAnswer is the most items of one answer that are held for a call in it. In a longer answer
// the call is held without its reasoning.
const mostOfAnswer = 64

// answer returns the items from the reasoning for item i up to it, and the results of the other
// calls among them, in order. The caller adds the result at last.
func (f *finder) answer(i, last int) []precis.Handle {
	from := i
	for k := i - 1; k >= max(0, i-mostOfAnswer) && f.msgs[k].Role == precis.RoleAssistant; k-- {
		if f.msgs[k].OnlyReasoning() {
			from = k
			break
		}
	}
	var out []precis.Handle
	for k := from; k <= i; k++ {
		out = append(out, precis.MessageHandle(k))
		for b := range f.msgs[k].Content {
			if r, there := f.pairs.Result(precis.BlockHandle(k, b)); there && r.From > i && r.From != last {
				out = append(out, precis.MessageHandle(r.From))
			}
		}
	}
	return out
}

// stringOf returns a string member of a JSON object; "" if there is none.
func stringOf(raw json.RawMessage, name string) string {
	s, _ := jsonspan.String(jsonspan.Field(raw, name))
	return s
}

// In returns the messages [from,to) with items in force, in order.
func (st *Content) In(from, to int) []int {
	first, _ := slices.BinarySearch(st.order, from)
	last, _ := slices.BinarySearch(st.order, to)
	return st.order[min(first, last):last]
}

// Empty reports whether nothing is in force.
func (st *Content) Empty() bool { return len(st.order)+len(st.Items) == 0 }
