package tokens

const (
	minLeap   = 256 // bytes between two searches for repeating text, and the shortest repeating text
	maxPeriod = 64  // longest period searched for, in bytes
	// How far beyond a token we must have read before it is final. A wrong value only costs time:
	// only the tokens of the correct result are pairwise stable, so every result of mergeFrom is
	// correct, and if it finds none it runs again without leaps.
	leapMargin = 4 * maxToken
)

// runSkipper skips the middle of a long run of one or few characters, such as a line of dashes. Most
// tokens of such runs overlap with shorter ones of the same run, so finding the right one needs a
// search at every position. Once the tokens of a run begin to repeat, they repeat to its end.
type runSkipper struct {
	next int // where to search for a run next; the current run ends here, too

	period int    // of the current run in bytes; 0: no run
	from   int    // position from which the tokens are compared
	token  uint32 // last token before that position
	depth  int    // number of tokens before that position
	watch  int    // how many tokens are compared before the position moves
}

// skipRun skips the repetitions of a run of characters once its tokens repeat, and returns the
// tokens and the position after it, or both unchanged.
func (l *runSkipper) skipRun(piece string, tokens []uint32, pos int) ([]uint32, int) {
	if l.period == 0 || pos >= l.next {
		if pos < l.next || !l.find(piece, pos) {
			return tokens, pos
		}
		l.mark(tokens, pos, 1)
		return tokens, pos
	}
	seen := len(tokens) - l.depth
	switch {
	case seen <= 0 || tokens[l.depth-1] != l.token: // the search backtracked beyond the position
		l.mark(tokens, pos, l.watch)
	case tokens[len(tokens)-1] == l.token && (pos-l.from)%l.period == 0:
		span := pos - l.from
		cycle := tokens[l.depth:]
		for n := (l.next - leapMargin - pos) / span; n > 0; n-- {
			tokens = append(tokens, cycle...)
			pos += span
		}
		l.period = 0
	case seen >= l.watch:
		l.mark(tokens, pos, 2*l.watch)
	}
	return tokens, pos
}

func (l *runSkipper) mark(tokens []uint32, pos, watch int) {
	l.from, l.token, l.depth, l.watch = pos, tokens[len(tokens)-1], len(tokens), watch
}

// find searches for a sufficiently long run at pos.
func (l *runSkipper) find(piece string, pos int) bool {
	l.period, l.next = 0, pos+minLeap
	const least = 2*leapMargin + minLeap
	if len(piece)-pos < least {
		l.next = len(piece)
		return false
	}
	rest := piece[pos:]
	for p := 1; p <= maxPeriod; p++ {
		if rest[:minLeap] != rest[p:p+minLeap] {
			continue
		}
		end := minLeap
		for end+p < len(rest) && rest[end] == rest[end+p] {
			end++
		}
		if end += p; end >= least {
			l.period, l.next = p, pos+end
			return true
		}
		l.next = pos + end
		return false
	}
	return false
}
