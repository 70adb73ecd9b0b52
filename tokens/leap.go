package tokens

const (
	minLeap   = 256 // bytes between two looks for text that repeats, and the least that has to repeat
	maxPeriod = 64  // bytes of the longest text that is looked for
	// What has been looked at before a token is final. Failing to see this only
	// costs time: the tokens of a piece are the only ones whose neighbors are all
	// stable, so whatever mergeFrom finds is right, and when it finds nothing it
	// is done again without leaps.
	leapMargin = 4 * maxToken
)

// leap skips the middle of a long run of one character or of few, such as a line of
// dashes: most tokens of such runs overlap with shorter ones of the same run, and
// finding the right one costs a search at every place. When the tokens of a run
// begin to repeat, they repeat to its end.
type leap struct {
	next int // where to look for a run again; the run in hand ends here, too

	period int    // of the run in hand in bytes; 0: none
	from   int    // where the tokens are watched from
	token  uint32 // the last one before that place
	depth  int    // how many there were
	watch  int    // how many are watched before the place is moved
}

// forward is called when the tokens reach pos. It returns them and pos, both moved
// on where a run allows it.
func (l *leap) forward(piece string, tokens []uint32, pos int) ([]uint32, int) {
	if l.period == 0 || pos >= l.next {
		if pos < l.next || !l.find(piece, pos) {
			return tokens, pos
		}
		l.mark(tokens, pos, 1)
		return tokens, pos
	}
	seen := len(tokens) - l.depth
	switch {
	case seen <= 0 || tokens[l.depth-1] != l.token: // the search went back behind the place
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

func (l *leap) mark(tokens []uint32, pos, watch int) {
	l.from, l.token, l.depth, l.watch = pos, tokens[len(tokens)-1], len(tokens), watch
}

// find looks for a run at pos that is long enough to be worth it.
func (l *leap) find(piece string, pos int) bool {
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
