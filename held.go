package precis

import (
	"encoding/json"
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
}

// hold is one thing that was said once and is in force until it is said anew: standing
// instructions of the program around the model, a tool that was defined, withdrawn or
// discovered within the conversation, a setting. No edit of the ladder hides it.
type hold struct {
	parts   []part
	key     string // of several with one key the newest is in force
	defines bool   // tools and settings: without it the API refuses later calls, or answers otherwise
	rank    int    // what is left out last has the lowest
}

// standing holds what is in force of a transcript, by its place.
type standing struct {
	blocks map[int][]int // by message; nil value: the whole message
	left   []hold        // in force, and too large to be held
}

func (st *standing) whole(i int) bool {
	blocks, held := st.blocks[i]
	return held && blocks == nil
}

func (st *standing) block(i, b int) bool {
	blocks, held := st.blocks[i]
	return held && (blocks == nil || slices.Contains(blocks, b))
}

// standingIn finds what is in force among messages, of those that are wanted. What
// defines nothing is held up to room tokens: the kinds of the lowest rank first, of one
// kind the newest first.
func standingIn(msgs []Message, wanted func(i int) bool, m *Meter, room int) standing {
	var all []hold
	f := newFinder(msgs)
	for i := range msgs {
		if wanted(i) {
			all = append(all, f.at(i)...)
		}
	}
	newest := map[string]int{}
	for n, h := range all {
		newest[h.key] = n
	}
	var force []hold
	for n, h := range all {
		if newest[h.key] == n {
			force = append(force, h)
		}
	}
	slices.Reverse(force)
	slices.SortStableFunc(force, func(a, b hold) int { return a.rank - b.rank })
	st := standing{blocks: map[int][]int{}}
	for _, h := range force {
		if !h.defines {
			size := 0
			for _, p := range h.parts {
				size += m.View([]Message{p.of(msgs)})
			}
			if size > room {
				st.left = append(st.left, h)
				continue
			}
			room -= size
		}
		for _, p := range h.parts {
			st.add(p)
		}
	}
	return st
}

func (st *standing) add(p part) {
	blocks, held := st.blocks[p.at]
	switch {
	case p.blocks == nil || held && blocks == nil:
		st.blocks[p.at] = nil
	default:
		for _, b := range p.blocks {
			if !slices.Contains(blocks, b) {
				blocks = append(blocks, b)
			}
		}
		slices.Sort(blocks)
		st.blocks[p.at] = blocks
	}
}

// of returns the part as a message of its own. The bytes of its blocks stay.
func (p part) of(msgs []Message) Message {
	m := msgs[p.at]
	if p.blocks == nil || len(p.blocks) == len(m.Content) {
		return m
	}
	content := make([]Block, len(p.blocks))
	for k, b := range p.blocks {
		content[k] = m.Content[b]
	}
	m.Content, m.Raw = content, nil
	return m
}

// finder finds what a message says that stays in force. It reads the messages before,
// never those behind, but for whether the user has spoken since.
type finder struct {
	msgs     []Message
	lastUser int // the last user message that answers no tool; -1: none
	lastSet  int // the last system message that sets something; -1: none
}

func newFinder(msgs []Message) *finder {
	f := &finder{msgs: msgs, lastUser: -1, lastSet: -1}
	for i, m := range msgs {
		switch {
		case m.Role == RoleUser && !m.HasToolResult():
			f.lastUser = i
		case m.Role == RoleSystem && envelopeOf(m).get(outputConfig) != nil:
			f.lastSet = i
		}
	}
	return f
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
	for b, block := range m.Content {
		switch block := block.(type) {
		case Text:
			if s, ok := harness.Standing(block.Text); ok {
				out = append(out, hold{parts: []part{{i, []int{b}}}, key: s.Key, rank: int(s.Rank)})
			}
		case ToolResult:
			out = append(out, f.result(i, b, block)...)
		case Opaque:
			if definesTools(block.Type) {
				out = append(out, hold{parts: []part{{at: i}}, key: keyOf(block.Raw), defines: true})
			}
		}
	}
	return out
}

// The types of blocks and items that define, withdraw or list tools within a
// conversation, of the Messages API and the Responses API.
func definesTools(kind string) bool {
	switch kind {
	case "tool_addition", "tool_removal", "additional_tools", "mcp_list_tools", "mcp_tool_listing", "tool_search_output", "configuration_update":
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
		if len(m.Content) == 0 {
			h.key = outputConfig
		}
		h.defines = h.defines || i == f.lastSet
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
			h := hold{parts: []part{{i, []int{b}}}, key: keyOf(o.Raw), defines: true}
			id := field(o.Raw, "tool_use_id")
			for k, other := range m.Content[:b] {
				if use, ok := other.(Opaque); ok && use.Type == "server_tool_use" && field(use.Raw, "id") == id {
					h.parts[0].blocks = []int{k, b}
				}
			}
			out = append(out, h)
		case definesTools(o.Type):
			out = append(out, hold{parts: []part{{at: i}}, key: keyOf(o.Raw), defines: true})
		}
	}
	return out
}

// field returns a string field of a JSON object; "" when there is none.
func field(raw json.RawMessage, name string) string {
	var fields map[string]json.RawMessage
	var s string
	if json.Unmarshal(raw, &fields) == nil {
		_ = json.Unmarshal(fields[name], &s) // "" when it is no string
	}
	return s
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
		case "tool_search_output":
			if tools := toolNames(o.Raw); tools != "" {
				names = append(names, tools)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	call := f.call(i, r.ToolUseID)
	if call == nil {
		return nil
	}
	return []hold{{parts: append(call, part{i, []int{b}}), key: "tools " + strings.Join(names, " "), defines: true}}
}

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

// call returns the tool use with an ID. In the Responses API it comes with the
// reasoning that led to it and with what stands between, results included: the API
// takes an item only with its reasoning, and reasoning only with what followed it. It is
// nil when there is no such call.
func (f *finder) call(i int, id string) []part {
	result := i
	for i--; i >= 0 && f.msgs[i].Role != RoleAssistant; i-- {
	}
	for ; i >= 0 && f.msgs[i].Role == RoleAssistant; i-- {
		for b, block := range f.msgs[i].Content {
			use, ok := block.(ToolUse)
			if !ok || use.ID != id {
				continue
			}
			if f.msgs[i].Format != formatResponses {
				return []part{{i, []int{b}}}
			}
			return f.answer(i, result)
		}
	}
	return nil
}

// answer returns the items from the reasoning that led to item i up to it, and the
// results of the calls among them before the one at result.
func (f *finder) answer(i, result int) []part {
	from := i
	for k := i - 1; k >= 0 && f.msgs[k].Role == RoleAssistant; k-- {
		if onlyReasoning(f.msgs[k]) {
			from = k
			break
		}
	}
	var out []part
	calls := map[string]bool{}
	for k := from; k <= i; k++ {
		out = append(out, part{at: k})
		for _, b := range f.msgs[k].Content {
			if use, ok := b.(ToolUse); ok {
				calls[use.ID] = true
			}
		}
	}
	for k := i + 1; k < result; k++ {
		for _, b := range f.msgs[k].Content {
			if r, ok := b.(ToolResult); ok && calls[r.ToolUseID] {
				out = append(out, part{at: k})
			}
		}
	}
	return out
}
