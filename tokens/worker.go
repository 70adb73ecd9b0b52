package tokens

import "math/bits"

// worker holds what one call of an Encoding writes to.
type worker struct {
	split  splitter
	vocab  *vocabulary
	short  pieceCache
	long   longCache
	pairs  [1 << pairBits]uint64 // see stable
	tokens []uint32
	dead   bitSet
	steps  int // turns of mergeLong, for the test that they are few
}

func newWorker(e *Encoding) *worker {
	return &worker{split: e.split, vocab: e.vocab}
}

// count returns the number of tokens in text, which is valid UTF-8.
func (w *worker) count(text string) int {
	n := 0
	for start := 0; start < len(text); {
		if start+windowSize <= len(text) && text[start]|text[start+1] < 0x80 {
			from := start
			for starts := w.split.starts(text[start:]) &^ 1; starts != 0; starts &= starts - 1 {
				end := from + bits.TrailingZeros64(starts)
				n += w.countPiece(text, start, end)
				start = end
			}
			if start > from {
				continue
			}
		}
		end := w.split.next(text, start)
		n += w.countPiece(text, start, end)
		start = end
	}
	return n
}

// countPiece returns the number of tokens in text[start:end].
func (w *worker) countPiece(text string, start, end int) int {
	if end-start > maxCached {
		return w.countLong(text[start:end])
	}
	key := makeKey(text, start, end)
	set := w.short.set(key)
	if set[0].same(key) {
		return set[0].count()
	}
	found := set[1]
	if !found.same(key) {
		found = key.counted(len(w.merge(text[start:end])))
	}
	set[0], set[1] = found, set[0]
	return found.count()
}

func (w *worker) countLong(piece string) int {
	if len(piece) > maxLongCached {
		return len(w.merge(piece))
	}
	slot := w.long.slot(piece)
	if slot.same(piece) {
		return int(slot.count)
	}
	n := len(w.merge(piece))
	slot.set(piece, n)
	return n
}
