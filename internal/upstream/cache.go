package upstream

import "crypto/sha256"

const (
	leastCached = 1024 // tokens of the shortest prefix that is cached
	lookBack    = 20   // blocks before a breakpoint to look up
	cacheStep   = 128  // tokens by which the automatic cache advances
)

// lookUp returns how many tokens of a prompt are read from and written to the cache, and writes
// them.
func (s *Server) lookUp(p *prompt) (read, written int) {
	if p.dialect == anthropicDialect {
		return s.markedCache(p.segments)
	}
	return s.automaticCache(p)
}

// markedCache caches prefixes that end at blocks with cache_control.
func (s *Server) markedCache(segments []segment) (read, written int) {
	upTo := make([]int, len(segments)) // tokens
	n := 0
	for i, g := range segments {
		n += g.chars
		upTo[i] = n / 4
	}
	var made []hash
	last := 0
	for i, g := range segments {
		if !g.marked || upTo[i] < leastCached {
			continue
		}
		for at := i; at >= 0 && at > i-lookBack; at-- {
			if s.cache[segments[at].prefix] {
				read = max(read, upTo[at])
				break
			}
		}
		made, last = append(made, g.prefix), upTo[i]
	}
	for _, key := range made {
		s.cache[key] = true
	}
	return read, max(0, last-read)
}

// automaticCache caches whole steps of the prompt.
func (s *Server) automaticCache(p *prompt) (read, written int) {
	var text []byte
	for _, g := range p.segments {
		text = append(text, g.text...)
	}
	all := len(text)
	key, hit, steps := sha256.Sum256([]byte(p.name)), true, 0
	for ; len(text) >= 4*cacheStep; text = text[4*cacheStep:] {
		key = sha256.Sum256(append(key[:], text[:4*cacheStep]...))
		if hit = hit && s.cache[key]; hit {
			steps++
		}
		s.cache[key] = true
	}
	// JSON syntax has no tokens, so the cached part is computed as a share of the prompt.
	read = int(float64(p.tokens) * float64(steps*4*cacheStep) / float64(max(all, 1)))
	if read -= read % cacheStep; read < leastCached {
		read = 0
	}
	return read, 0
}
