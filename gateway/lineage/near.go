package lineage

import (
	"hash/maphash"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/wire"
)

// Lines are also indexed by the first bytes of their newest body, at several lengths, so that the
// body of the next request can be compared with it before it is parsed. This only saves time:
// candidates are compared byte by byte, and without a candidate the body is parsed completely.

var seed = maphash.MakeSeed()

// levels are the prefix lengths, in bytes, at which bodies are indexed.
var levels = []int{256, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}

// perLevel is how many lines of one level are compared at most.
const perLevel = 8

type levelKey struct {
	owner, dialect string
	length         int
	hash           uint64
}

// index adds a line to the index by the first bytes of its newest body.
func (t *Table[S]) index(l *Line[S]) {
	items := l.body.Items()
	if len(items) == 0 {
		return
	}
	raw := l.body.Raw()
	stable := items[max(0, len(items)-3)].To // clients still change the last ones
	for _, n := range levels {
		if n > stable {
			break
		}
		k := levelKey{l.Owner, l.Dialect, n, maphash.Bytes(seed, raw[:n])}
		l.levels = append(l.levels, k)
		lines := t.levels[k]
		if len(lines) >= 4*perLevel {
			lines = slices.Delete(lines, 0, 1)
		}
		t.levels[k] = append(lines, l)
	}
}

// neighbor is a line at the time of its lookup.
type neighbor struct {
	body         *wire.Body
	lead         int
	messages     []precis.Message
	fingerprints []precis.Fingerprint
	prompt       wire.Prompt
}

// nearestLine returns the line with the newest body that has the longest common prefix with the request's;
// the zero neighbor when there is no candidate.
func (t *Table[S]) nearestLine(r Request) (best neighbor) {
	most := 0
	for i := len(levels) - 1; i >= 0; i-- {
		n := levels[i]
		if n > len(r.Body) {
			continue
		}
		k := levelKey{r.Owner, r.Dialect.Name(), n, maphash.Bytes(seed, r.Body[:n])}
		for _, c := range t.candidates(k) {
			if common := wire.Common(c.body.Raw(), r.Body); common > most {
				best, most = c, common
			}
		}
		if most > 0 {
			return best
		}
	}
	return best
}

func (t *Table[S]) candidates(k levelKey) []neighbor {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.levels[k]
	out := make([]neighbor, 0, perLevel)
	for i := len(lines) - 1; i >= 0 && len(out) < perLevel; i-- {
		l := lines[i]
		out = append(out, neighbor{l.body, l.lead, l.Transcript.Messages(), l.fingerprints, l.prompt})
	}
	return out
}
