package tokens

// Running counts the tokens of a text that grows at its end, such as a
// streamed reply, without counting all of it again. Get one from
// [Encoding.Running]. A Running must not be used concurrently.
type Running struct {
	encoding *Encoding
	settled  int    // tokens of the pieces that no longer change
	tail     []byte // the text after these, as valid UTF-8
	pending  string // the start of an incomplete character
	settleAt int    // length of tail that makes settling worth its time
	count    int    // of settled, tail and pending, or -1
}

const minSettle = 256

// Running returns a count of the empty text.
func (e *Encoding) Running() *Running {
	return &Running{encoding: e, settleAt: minSettle}
}

// Append adds text to the end. A character may be divided between calls. The
// time it takes is proportional to the length of text, on average over many
// calls.
func (r *Running) Append(text string) {
	if text == "" {
		return
	}
	text = r.pending + text
	complete := len(text) - incompleteSuffix(text)
	r.pending = text[complete:]
	r.tail = append(r.tail, validUTF8(text[:complete])...)
	r.count = -1
	if len(r.tail) >= r.settleAt {
		r.settle()
	}
}

// Count returns the number of tokens in the text so far, like [Encoding.Count] for all of it. After
// an Append it takes time proportional to the last few pieces of the text, most often words.
func (r *Running) Count() int {
	if r.count < 0 {
		tail := string(r.tail)
		if r.pending != "" {
			tail += replacement
		}
		r.count = r.settled + r.encoding.Count(tail)
	}
	return r.count
}

// settle counts all pieces of tail except the last three and removes them. Appended text changes at
// most the last two: white space before the last word can end elsewhere, a contraction can join the
// word before it, and so can a letter that makes a word mixed case.
func (r *Running) settle() {
	w := r.encoding.workers.Get().(*worker)
	defer r.encoding.workers.Put(w)
	text := string(r.tail)
	var starts [4]int // of the last three pieces, and the end
	for starts[3] < len(text) {
		if starts[1] > starts[0] {
			r.settled += w.countPiece(text, starts[0], starts[1])
		}
		copy(starts[:], starts[1:])
		starts[3] = w.split.next(text, starts[2])
	}
	r.tail = append(r.tail[:0], text[starts[0]:]...)
	r.settleAt = max(minSettle, 2*len(r.tail))
}
