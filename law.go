package precis

import "slices"

// Law says what holds in a conversation beyond what the wire itself shows to be in force,
// and has to be in every view of it: what was planned, loaded or begun and is not done. It
// is asked once for each climb of the ladder. Implementations are stateless and safe for
// concurrent use.
type Law interface {
	// Holds returns what holds in the situation's conversation, what matters most first.
	Holds(s *Situation) []Held
}

// Held is one thing that holds: a plan, a skill, a job.
type Held struct {
	Key  string   // of one conversation each has its own
	At   []Handle // the blocks that say it; a call is held with its result, and a result with its call
	Most int      // tokens up to which the blocks are kept word for word; 0: as far as there is room
}

// held finds the parts of what a law holds, in order; nil when one of them cannot be kept:
// the assistant's words, what is no block, a call without a result.
func (f *finder) held(h Held) hold {
	out := hold{key: "law " + h.Key, rank: lawRank, most: h.Most}
	add := func(parts ...part) {
		for _, p := range parts {
			if !slices.ContainsFunc(out.parts, func(q part) bool { return q.at == p.at && slices.Equal(q.blocks, p.blocks) }) {
				out.parts = append(out.parts, p)
			}
		}
	}
	for _, at := range h.At {
		if at.From < 0 || at.From >= len(f.msgs) || at.Block < 0 || at.Block >= len(f.msgs[at.From].Content) {
			return hold{}
		}
		switch block := f.msgs[at.From].Content[at.Block]; block.(type) {
		case ToolUse:
			result, answered := f.pairs.Result(at)
			if !answered {
				return hold{}
			}
			add(append(f.call(result.From, result.Block), part{result.From, []int{result.Block}})...)
		case ToolResult:
			call := f.call(at.From, at.Block)
			if call == nil {
				return hold{}
			}
			add(append(call, part{at.From, []int{at.Block}})...)
		case Text:
			if f.msgs[at.From].Role != RoleUser {
				return hold{}
			}
			add(part{at.From, []int{at.Block}})
		default:
			return hold{}
		}
	}
	return out
}
