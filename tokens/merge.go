package tokens

// merge returns the tokens of one non-empty piece. They are valid until the next call.
func (w *worker) merge(piece string) []uint32 {
	token := w.vocab.trie.longest(piece)
	switch {
	case int(w.vocab.length[token]) == len(piece):
		w.tokens = append(w.tokens[:0], token)
	case len(piece) <= maxShort:
		w.mergeShort(piece)
	default:
		w.mergeLong(piece)
	}
	return w.tokens
}

// maxShort is the length in bytes of the longest piece that mergeShort takes.
const (
	maxShort  = 1 << placeBits
	placeBits = 4
)

// mergeShort implements the definition of the encoding: among all neighbors that merge into a
// token, it merges the pair with the lowest ID, the leftmost first, until no pair is left. It takes
// quadratic time, but is fastest for short pieces.
func (w *worker) mergeShort(piece string) {
	v := w.vocab
	var tokens, merged [maxShort]uint32 // merged[i] is the merge of tokens[i] and tokens[i+1]
	n := len(piece)
	for i := range n - 1 {
		tokens[i] = v.trie.nodes[v.trie.roots[piece[i]]].token
		merged[i] = v.pairs[int(piece[i])<<8|int(piece[i+1])]
	}
	tokens[n-1] = v.trie.nodes[v.trie.roots[piece[n-1]]].token
	for n > 1 {
		lowest := uint64(none) << placeBits
		for i, id := range merged[:n-1] {
			lowest = min(lowest, uint64(id)<<placeBits|uint64(i))
		}
		if lowest >= none<<placeBits {
			break
		}
		at := int(lowest & (1<<placeBits - 1))
		tokens[at] = uint32(lowest >> placeBits)
		n--
		for i := at + 1; i < n; i++ {
			tokens[i], merged[i-1] = tokens[i+1], merged[i]
		}
		if at > 0 {
			merged[at-1] = v.merged(tokens[at-1], tokens[at])
		}
		if at < n-1 {
			merged[at] = v.merged(tokens[at], tokens[at+1])
		}
	}
	w.tokens = append(w.tokens[:0], tokens[:n]...)
}

// mergeLong works from left to right. In the result of merging, and in no other sequence, every
// two adjacent tokens are the merge result of their joint text. So it takes the longest token
// compatible with the previous one, shortens it if the rest cannot be continued, and never returns
// to a position that has failed. Time is linear in the length of the piece; the method comes from
// the Rust crate bpe (github.com/github/rust-gems, MIT). Repeating text is merged once, see runSkipper.
func (w *worker) mergeLong(piece string) {
	if !w.mergeFrom(piece, &runSkipper{next: minLeap}) {
		w.mergeFrom(piece, nil)
	}
}

// mergeFrom is mergeLong with or without leaps. It reports whether it found the tokens; without
// leaps it always does.
func (w *worker) mergeFrom(piece string, l *runSkipper) bool {
	v := w.vocab
	w.tokens = w.tokens[:0]
	next := v.trie.longest(piece)
	w.dead.reset(len(piece) + 1)
	for pos := 0; ; w.steps++ {
		end := pos + int(v.length[next])
		last := uint32(none)
		if len(w.tokens) > 0 {
			last = w.tokens[len(w.tokens)-1]
		}
		switch {
		case !w.dead.has(end) && (last == none || w.stable(last, next)):
			w.tokens = append(w.tokens, next)
			if end == len(piece) {
				return true
			}
			pos = end
			if l != nil {
				w.tokens, pos = l.skipRun(piece, w.tokens, pos)
			}
			next = v.trie.longest(piece[pos:])
		case v.prefix[next] != none:
			next = v.prefix[next]
		case last == none:
			return false
		default:
			w.dead.add(pos)
			w.tokens = w.tokens[:len(w.tokens)-1]
			pos -= int(v.length[last])
			next = last
		}
	}
}

// stable is vocabulary.stable with a cache.
func (w *worker) stable(left, right uint32) bool {
	key := (uint64(left)<<idBits|uint64(right))<<1 + 2
	slot := &w.pairs[key*0x9E3779B97F4A7C15>>(64-pairBits)]
	if *slot&^1 != key {
		*slot = key
		if w.vocab.stable(left, right) {
			*slot = key | 1
		}
	}
	return *slot&1 != 0
}

const pairBits = 14

// stable reports whether merging keeps left and right as these two tokens. It undoes their merges
// from the latest on and checks whether a merge across the border would have come first.
func (v *vocabulary) stable(left, right uint32) bool {
	limit := uint32(none)
	for {
		merged := v.merged(left, right)
		if merged < limit {
			return false
		}
		// Single bytes have the lowest ranks, so if the later of the two is one, both are and there
		// is no merge left to undo.
		switch {
		case max(left, right) < singleBytes:
			return true
		case left > right:
			limit = left
			left = v.halves[left][1]
		default:
			limit = right + 1
			right = v.halves[right][0]
		}
	}
}

// bitSet is a set of small numbers.
type bitSet []uint64

// reset empties the set and makes room for numbers below n.
func (s *bitSet) reset(n int) {
	size := (n + 63) / 64
	if cap(*s) < size {
		*s = make(bitSet, size)
		return
	}
	*s = (*s)[:size]
	clear(*s)
}

func (s bitSet) add(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s bitSet) has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }
