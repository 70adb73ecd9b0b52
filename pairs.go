package precis

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Pairs says which result answers which call in a list of messages. It pairs tool uses with
// tool results, and what is not understood by its type: *_use or *_call with *_result or
// *_output, such as a server's tool whose result opens the model's next message.
//
// A result answers an open call with its ID, wherever the two stand: one of the newest turn
// of the model that has such a call, the first of that turn. So calls of one answer that
// share an ID, or have none, are answered in order, an ID that is used again later means the
// newer call, and a late result still goes to its call. A result with the ID of a call that
// is answered belongs to that call, too. What a result answers depends on the messages up to
// it alone: it stays the same when messages are added.
//
// Pairs are made once and safe for concurrent use.
type Pairs struct {
	results map[Handle]Handle   // the first result of a call
	calls   map[Handle]Handle   // of a result, the first or a later one
	later   map[Handle][]Handle // results of a call but the first; nil: none
}

// PairsOf pairs the calls and results of msgs, in one walk.
func PairsOf(msgs []Message) *Pairs {
	p := pairer{
		Pairs: &Pairs{results: map[Handle]Handle{}, calls: map[Handle]Handle{}},
		open:  map[pairKey][]*openCalls{}, last: map[pairKey]Handle{},
	}
	for i, m := range msgs {
		p.message(i, m)
	}
	return p.Pairs
}

// Result returns the block that first answers the call at a block; ok is false when none
// does, or the block is no call.
func (p *Pairs) Result(call Handle) (result Handle, ok bool) {
	result, ok = p.results[call]
	return result, ok
}

// Call returns the block that makes the call which a result answers; ok is false when there
// is no such call, or the block is no result.
func (p *Pairs) Call(result Handle) (call Handle, ok bool) {
	call, ok = p.calls[result]
	return call, ok
}

// again returns the results of a call but the first.
func (p *Pairs) again(call Handle) []Handle { return p.later[call] }

// pairKey is what a call and its result share.
type pairKey struct {
	opaque bool
	id     string // "" for results that name no call
	stem   string // of an opaque type without an ID: its name without the ending
}

// openCalls are the calls of one turn of the model that nothing answers yet, in order.
type openCalls struct {
	turn  int
	calls []Handle
}

// pairer makes Pairs.
type pairer struct {
	*Pairs
	open  map[pairKey][]*openCalls // the newest turn last; none is empty
	last  map[pairKey]Handle       // the call that was answered last
	turn  int                      // of the model, counted
	spoke bool                     // the last message but for the system's is the model's
}

func (p *pairer) message(i int, m Message) {
	if m.Role == RoleAssistant && !p.spoke {
		p.turn++
	}
	if m.Role != RoleSystem {
		p.spoke = m.Role == RoleAssistant
	}
	for b, block := range m.Content {
		key, half := halfOf(block)
		switch {
		case half == asks && m.Role == RoleAssistant:
			p.ask(key, BlockHandle(i, b))
		case half == answers:
			p.answer(key, BlockHandle(i, b))
		}
	}
}

func (p *pairer) ask(key pairKey, call Handle) {
	list := p.open[key]
	if n := len(list); n > 0 && list[n-1].turn == p.turn {
		list[n-1].calls = append(list[n-1].calls, call)
		return
	}
	p.open[key] = append(list, &openCalls{p.turn, []Handle{call}})
}

func (p *pairer) answer(key pairKey, result Handle) {
	list := p.open[key]
	if len(list) == 0 {
		if call, again := p.last[key]; again && key.id != "" {
			if p.later == nil {
				p.later = map[Handle][]Handle{}
			}
			p.calls[result], p.later[call] = call, append(p.later[call], result)
		}
		return
	}
	newest := list[len(list)-1]
	call := newest.calls[0]
	if newest.calls = newest.calls[1:]; len(newest.calls) == 0 {
		p.open[key] = list[:len(list)-1]
	}
	p.calls[result], p.results[call], p.last[key] = call, result, call
}

// half says which half of a pair a block may be.
type half int

const (
	alone half = iota
	asks
	answers
)

// halfOf returns which half of a pair a block is, and what the other half shares with it.
func halfOf(b Block) (pairKey, half) {
	switch b := b.(type) {
	case ToolUse:
		return pairKey{id: b.ID}, asks
	case ToolResult:
		return pairKey{id: b.ToolUseID}, answers
	case Opaque:
		for _, end := range []struct {
			suffix string
			half   half
			id     string // the field that holds the ID
		}{{"_use", asks, "id"}, {"_call", asks, "call_id"}, {"_result", answers, "tool_use_id"}, {"_output", answers, "call_id"}} {
			if stem, ok := strings.CutSuffix(b.Type, end.suffix); ok {
				key := pairKey{opaque: true, id: field(b.Raw, end.id)}
				if key.id == "" {
					key.stem = stem
				}
				return key, end.half
			}
		}
	}
	return pairKey{}, alone
}

// servedHalf returns which half of a pair a block of a tool is that the provider's server
// runs, in the Messages API, and the ID that both halves share; alone for other blocks.
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

// field returns a member of a JSON object that is a string; "" when there is none. It reads
// no further than it must.
func field(raw json.RawMessage, want string) (s string) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return ""
		}
		if name == want {
			_ = json.Unmarshal(value, &s) // "" when it is no string
			return s
		}
	}
	return ""
}
