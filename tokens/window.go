package tokens

import "math/bits"

// windowSize is the number of bytes that piece starts are found for at once.
const windowSize = 64

// window says of 64 bytes of text which are of a class, one bit per byte,
// the first byte lowest. Bytes of characters beyond ASCII are in both upper
// and newline.
type window struct {
	upper, lower, digit, blank, gap, newline, slash, quote uint64
}

// laneOf gives each field of window one byte of a word.
func laneOf(b byte, class classSet) uint64 {
	const upperLane, newlineLane = 1, 1 << 40
	switch {
	case b >= 0x80:
		return upperLane | newlineLane
	case class == upper:
		return upperLane
	case class == lower:
		return 1 << 8
	case class == number:
		return 1 << 16
	case b == ' ':
		return 1 << 24
	case class == space:
		return 1 << 32
	case class == newline:
		return newlineLane
	case b == '/':
		return 1 << 48
	case b == '\'':
		return 1 << 56
	}
	return 0
}

// window classifies the first 64 bytes of text.
func (t *classTable) window(text string) window {
	var w [8]uint64
	for i := range w {
		s := text[8*i : 8*i+8]
		w[i] = t.lanes[s[0]] | t.lanes[s[1]]<<1 | t.lanes[s[2]]<<2 | t.lanes[s[3]]<<3 |
			t.lanes[s[4]]<<4 | t.lanes[s[5]]<<5 | t.lanes[s[6]]<<6 | t.lanes[s[7]]<<7
	}
	// Turn eight words of eight classes into eight classes of eight words.
	for i := range 4 {
		swap(&w[i], &w[i+4], 32, 0x00000000FFFFFFFF)
	}
	for _, i := range [...]int{0, 1, 4, 5} {
		swap(&w[i], &w[i+2], 16, 0x0000FFFF0000FFFF)
	}
	for i := 0; i < 8; i += 2 {
		swap(&w[i], &w[i+1], 8, 0x00FF00FF00FF00FF)
	}
	return window{w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]}
}

// swap exchanges the high parts of low with the low parts of high.
func swap(low, high *uint64, shift int, mask uint64) {
	t := (*low>>shift ^ *high) & mask
	*low ^= t << shift
	*high ^= t
}

// starts returns the positions of piece starts in the first 64 bytes of text; the first byte starts
// a piece. It omits every start that depends on text after these bytes or on characters beyond
// ASCII, and all later ones.
func (s *splitter) starts(text string) uint64 {
	w := s.classes.window(text)
	foreign := w.upper & w.newline
	known := foreign&-foreign - 1
	w.upper &= known
	w.newline &= known

	letters := w.upper | w.lower
	symbols := known &^ (letters | w.digit | w.blank | w.gap | w.newline)
	trailing := w.newline
	if s.cased {
		trailing |= w.slash
	}
	tail := floodUp(w.newline&(symbols<<1), trailing)
	symbols &^= tail
	spaces := (w.blank | w.gap | w.newline) & known &^ tail
	lines := floodDown(w.newline&^tail, spaces)
	rest := spaces &^ lines

	// The last character of white space goes with letters that follow, and
	// with symbols if it is a blank; so does a single symbol with letters.
	last := rest &^ (rest >> 1)
	bare := first(symbols) &^ (last & w.blank << 1)
	prefix := last | bare
	starts := first(spaces) | first(rest) | last | bare | first(letters)&^(prefix<<1)
	if s.cased {
		starts |= w.upper & (w.lower << 1)
	}
	three := w.digit & (w.digit << 1) & (w.digit << 2)
	for group := first(w.digit); group != 0; group = group << 3 & three {
		starts |= group
	}

	// White space that reaches the end may go on.
	open := floodDown(known&^(known>>1)&spaces, spaces)
	starts &= known &^ (open &^ (open & -open))
	return starts & s.beforeContraction(text, w.quote&known&(letters>>1|^(known>>2)), letters)
}

// beforeContraction returns the bits up to the first of quotes that starts a
// contraction or may do so.
func (s *splitter) beforeContraction(text string, quotes, letters uint64) uint64 {
	if s.cased {
		quotes &= letters << 1
	}
	for ; quotes != 0; quotes &= quotes - 1 {
		i := bits.TrailingZeros64(quotes)
		if i+2 >= windowSize || text[i+1]|text[i+2] >= 0x80 || skipContraction(text, i) > i {
			if s.cased {
				return 1<<i - 1
			}
			return 2<<i - 1
		}
	}
	return ^uint64(0)
}

// first returns the first bit of every run of bits in set.
func first(set uint64) uint64 { return set &^ (set << 1) }

// floodUp returns from, a subset of set, with the bits of set that follow it
// without a gap.
func floodUp(from, set uint64) uint64 {
	for shift := 1; shift < 64; shift *= 2 {
		from |= set & (from << shift)
		set &= set << shift
	}
	return from
}

// floodDown returns from, a subset of set, with the bits of set that lead to
// it without a gap.
func floodDown(from, set uint64) uint64 {
	for shift := 1; shift < 64; shift *= 2 {
		from |= set & (from >> shift)
		set &= set >> shift
	}
	return from
}
