package precis

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Pairs maps calls to results in a list of messages. It pairs tool uses with tool results, and
// opaque blocks by their types: *_use or *_call with *_result or *_output. An example is a server's
// tool with a result that opens the model's next message.
//
// A result answers an open call with its ID, at any distance: the first such call in the newest
// turn of the model that has one. So calls of one answer that share an ID, or have none, are
// answered in order, a reused ID means the newer call, and a late result still finds its call. A
// result with the ID of an answered call belongs to that call, too. A pair depends only on the
// messages up to the result: adding messages does not change it.
//
// Pairs are immutable and safe for concurrent use. They take 20 bytes for each result.
type Pairs struct {
	list   []pair  // in the order of the results
	byCall []int32 // indexes in list, in the order of the calls and then of their results
}

// pair is a result with the call that it answers.
type pair struct{ call, result place }

// place names a block; a Handle in less room.
type place struct{ message, block int32 }

func placeOf(h Handle) place { return place{int32(h.From), int32(h.Block)} }

func (p place) handle() Handle { return BlockHandle(int(p.message), int(p.block)) }

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.message, b.message), cmp.Compare(a.block, b.block))
}

// PairsOf pairs the calls and results of msgs, in one walk.
func PairsOf(msgs []Message) *Pairs {
	p := pairer{Pairs: &Pairs{}, tools: map[string]*waiting{}, others: map[pairKey]*waiting{}}
	for i, m := range msgs {
		p.message(i, m)
	}
	p.byCall = make([]int32, len(p.list))
	for i := range p.byCall {
		p.byCall[i] = int32(i)
	}
	slices.SortStableFunc(p.byCall,
		func(a, b int32) int { return comparePlaces(p.list[a].call, p.list[b].call) })
	return p.Pairs
}

// Result returns the block that first answers the call at a block; ok is false when none
// does, or the block is no call.
func (p *Pairs) Result(call Handle) (result Handle, ok bool) {
	at := placeOf(call)
	i, ok := slices.BinarySearchFunc(p.byCall, at,
		func(i int32, at place) int { return comparePlaces(p.list[i].call, at) })
	if !ok {
		return Handle{}, false
	}
	return p.list[p.byCall[i]].result.handle(), true
}

// Call returns the block that makes the call which a result answers; ok is false when there
// is no such call, or the block is no result.
func (p *Pairs) Call(result Handle) (call Handle, ok bool) {
	i, ok := slices.BinarySearchFunc(p.list, placeOf(result),
		func(q pair, at place) int { return comparePlaces(q.result, at) })
	if !ok {
		return Handle{}, false
	}
	return p.list[i].call.handle(), true
}

// laterResults returns the results of a call after the first, in order, or nil.
func (p *Pairs) laterResults(call Handle) (out []Handle) {
	at := placeOf(call)
	i, _ := slices.BinarySearchFunc(p.byCall, at,
		func(i int32, at place) int { return comparePlaces(p.list[i].call, at) })
	for i++; i < len(p.byCall) && p.list[p.byCall[i]].call == at; i++ {
		out = append(out, p.list[p.byCall[i]].result.handle())
	}
	return out
}

// pairKey is the common part of an opaque call and its result.
type pairKey struct{ id, stem string } // stem: of the type, where there is no ID

// waiting are the calls of one ID.
type waiting struct {
	onlyOpen  place // the only open call …
	turn      int32 // … and its turn; 0: none or several are open
	answered  bool
	last      place       // the call that was answered last
	otherOpen []openCalls // if several are open: the newest turn last; each is nonempty
}

// openCalls are the unanswered calls of one turn of the model, in order.
type openCalls struct {
	turn  int32
	calls []place
}

// pairer makes Pairs.
type pairer struct {
	*Pairs
	tools           map[string]*waiting // by the ID of tool uses
	others          map[pairKey]*waiting
	turn            int32 // of the model, counted from 1
	lastIsAssistant bool  // the last message, system messages aside, is the model's
}

func (p *pairer) message(i int, m Message) {
	if m.Role == RoleAssistant && !p.lastIsAssistant {
		p.turn++
	}
	if m.Role != RoleSystem {
		p.lastIsAssistant = m.Role == RoleAssistant
	}
	for b, block := range m.Content {
		at := place{int32(i), int32(b)}
		switch b := block.(type) {
		case ToolUse:
			if m.Role == RoleAssistant {
				of(p.tools, b.ID).ask(p.turn, at)
			}
		case ToolResult:
			p.answer(p.tools[b.ToolUseID], at, b.ToolUseID != "")
		case Opaque:
			switch key, half := halfOf(b); {
			case half == asks && m.Role == RoleAssistant:
				of(p.others, key).ask(p.turn, at)
			case half == answers:
				p.answer(p.others[key], at, key.id != "")
			}
		}
	}
}

// of returns the calls of a key.
func of[K comparable](all map[K]*waiting, key K) *waiting {
	w := all[key]
	if w == nil {
		w = &waiting{}
		all[key] = w
	}
	return w
}

func (w *waiting) ask(turn int32, call place) {
	switch {
	case w.turn == 0 && w.otherOpen == nil:
		w.onlyOpen, w.turn = call, turn
		return
	case w.turn > 0:
		w.otherOpen, w.turn = []openCalls{{w.turn, []place{w.onlyOpen}}}, 0
	}
	if n := len(w.otherOpen); w.otherOpen[n-1].turn == turn {
		w.otherOpen[n-1].calls = append(w.otherOpen[n-1].calls, call)
		return
	}
	w.otherOpen = append(w.otherOpen, openCalls{turn, []place{call}})
}

// closeCall returns the open call that a result answers and closes it.
func (w *waiting) closeCall() (call place, ok bool) {
	switch n := len(w.otherOpen); {
	case w.turn > 0:
		call, w.turn = w.onlyOpen, 0
	case n > 0:
		newest := &w.otherOpen[n-1]
		call = newest.calls[0]
		if newest.calls = newest.calls[1:]; len(newest.calls) == 0 {
			if w.otherOpen = w.otherOpen[:n-1]; n == 1 {
				w.otherOpen = nil
			}
		}
	default:
		return place{}, false
	}
	w.last, w.answered = call, true
	return call, true
}

func (p *pairer) answer(w *waiting, result place, named bool) {
	if w == nil {
		return
	}
	call, ok := w.closeCall()
	if !ok {
		if !named || !w.answered {
			return
		}
		call = w.last
	}
	p.list = append(p.list, pair{call, result})
}

// half says which half of a pair a block may be.
type half int

const (
	alone half = iota
	asks
	answers
)

// halfOf returns, by its type, which half of a pair an opaque block is, and the key that it shares
// with the other half.
func halfOf(b Opaque) (pairKey, half) {
	for _, end := range []struct {
		suffix string
		half   half
		id     string // the field that holds the ID
	}{{"_use", asks, "id"}, {"_call", asks, "call_id"}, {"_result", answers, "tool_use_id"},
		{"_output", answers, "call_id"}} {
		if stem, ok := strings.CutSuffix(b.Type, end.suffix); ok {
			if id := field(b.Raw, end.id); id != "" {
				return pairKey{id: id}, end.half
			}
			return pairKey{stem: stem}, end.half
		}
	}
	return pairKey{}, alone
}

// answersNothing reports whether a result is an item of the Responses API that names no call: a
// text that the program around the model inserts itself, such as the goal of Codex. The API takes
// it anywhere.
func answersNothing(m Message, r ToolResult) bool {
	raw := r.Raw
	if raw == nil && len(m.Content) == 1 {
		raw = m.Raw
	}
	if m.Format != FormatResponses || raw == nil || field(raw, "call_id") != "" {
		return false
	}
	kind := field(raw, "type")
	return kind == "function_call_output" || kind == "custom_tool_call_output"
}

// servedHalf returns, for a block of a tool that the provider's server runs in the Messages API,
// which half of a pair it is, and the ID that both halves share; alone for other blocks.
func servedHalf(b Opaque) (id string, h half) {
	if strings.HasSuffix(b.Type, "_tool_use") || strings.HasSuffix(b.Type, "_tool_result") {
		var key pairKey
		if key, h = halfOf(b); key.id == "" {
			h = alone
		}
		id = key.id
	}
	return id, h
}

// field returns a string member of a JSON object; "" if missing.
func field(raw json.RawMessage, want string) (s string) {
	_ = json.Unmarshal(rawField(raw, want), &s) // "" when it is not a string
	return s
}

// rawField returns a member of a JSON object; nil if missing. It parses only up to that member.
func rawField(raw json.RawMessage, want string) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return nil
		}
		if name == want {
			return value
		}
	}
	return nil
}

// mostApart is the most messages between a call and a result that are kept together. A later result
// is late, or names the call by accident; [Repair] mends such pairs.
const mostApart = 64

// GroupStarts returns the first message of each group: the places where a list of messages may be cut
// without separating a call from its result, see [Pairs], or a separate reasoning message from its
// consequences. Cutting before a group leaves both sides complete.
func GroupStarts(msgs []Message) []int {
	until := make([]int32, len(msgs)) // the first message after those that a message waits for
	for _, p := range PairsOf(msgs).list {
		if p.result.message-p.call.message <= mostApart {
			until[p.call.message] = max(until[p.call.message], p.result.message+1)
		}
	}
	var starts []int
	end := 0 // first message after everything that earlier messages wait for
	for i := 0; i < len(msgs); {
		if msgs[i].Role != RoleAssistant {
			if i >= end {
				starts = append(starts, i)
			}
			i++
			continue
		}
		answer := i
		for answer < len(msgs) && msgs[answer].Role != RoleUser {
			answer++
		}
		for ; i < answer; i++ {
			if i >= end {
				starts = append(starts, i)
			}
			end = max(end, int(until[i]))
			if msgs[i].OnlyReasoning() {
				end = max(end, answer) // the whole answer of the model
			}
		}
	}
	return starts
}

// OnlyReasoning reports whether a message has content, and nothing but reasoning.
func (m Message) OnlyReasoning() bool {
	for _, b := range m.Content {
		if !IsReasoning(b) {
			return false
		}
	}
	return len(m.Content) > 0
}

// WholeRange returns the smallest range that holds the messages [from,to) of the transcript and
// parts no call from its result. From and to are brought within the transcript first.
func WholeRange(t *Transcript, from, to int) (int, int) {
	msgs := t.Messages()
	starts := append(GroupStarts(msgs), len(msgs))
	from = min(max(from, 0), len(msgs))
	to = min(max(to, from), len(msgs))
	at, found := slices.BinarySearch(starts, from)
	if !found {
		from = starts[at-1]
	}
	at, _ = slices.BinarySearch(starts, to)
	return from, starts[at]
}
