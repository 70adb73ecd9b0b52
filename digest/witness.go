package digest

import (
	"math"
	"slices"
	"strings"

	"precis"
	"precis/internal/visible"
	"precis/retain"
)

// remark is a sentence or a line of the conversation.
type remark struct {
	text string
	at   int // message
	who  voice
}

// voice is who said a passage.
type voice uint8

const (
	byPerson voice = iota
	byAgent        // in words, or thought
	byCall         // arguments of a call
	byTool         // a result
	byProgram
)

// witness finds the passages of a conversation that speak of the same as a sentence.
type witness struct {
	remarks []remark
	ids     map[string]int32
	posts   [][]int32 // by word: the passages that hold it
	score   []float64 // of each passage, while one sentence is looked up
}

// Limits of a witness: bytes that are read, bytes of a passage, and passages that hold a word which is looked up by.
const (
	mostRead    = 24 << 20
	mostPassage = 600
	mostPosts   = 4000
)

// witness returns that of the whole conversation.
func (in *input) witness() *witness {
	if in.heard != nil {
		return in.heard
	}
	w := &witness{ids: map[string]int32{}}
	seen := map[string]bool{} // lines of results
	left := mostRead
	for i, m := range in.messages {
		for _, b := range m.Content {
			if t, ok := b.(precis.Thinking); ok && left > 0 {
				left -= len(t.Text)
				w.read(t.Text, i, byAgent, nil)
			}
		}
	}
	for _, s := range in.record().said {
		w.read(s.text, s.at, byPerson, nil)
	}
	for i := range in.x.Texts {
		t := &in.x.Texts[i]
		if left -= len(t.Body); left < 0 {
			break
		}
		who, once := byTool, seen
		from, speaks := in.speaks(t)
		switch {
		case t.Source == retain.User:
			continue // as it was said
		case speaks:
			who, once = byAgent, nil
		case t.Source == retain.Written || t.Source == retain.Called:
			who = byCall
		case t.Source == retain.Harness:
			who = byProgram
		}
		w.read(unmarked(visible.WithoutSequences(spread(t.Body[from:]))), t.Handle.From, who, once)
	}
	w.score = make([]float64, len(w.remarks))
	in.heard = w
	return w
}

// spread returns a text of JSON with the lines that its strings hold.
func spread(text string) string {
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return escapes.Replace(text)
	}
	return text
}

// read takes in a text; lines that are in seen already are not taken in again.
func (w *witness) read(text string, at int, who voice, seen map[string]bool) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if seen != nil {
			if seen[line] {
				continue
			}
			seen[line] = true
		}
		if who == byTool || who == byCall {
			w.add(line[:min(len(line), 4*mostPassage)], at, who)
			continue
		}
		for _, cut := range sentencesOf(line) {
			if s := line[cut[0]:cut[1]]; len(s) > 1 {
				w.add(s[:min(len(s), mostPassage)], at, who)
			}
		}
	}
}

func (w *witness) add(text string, at int, who voice) {
	n := int32(len(w.remarks))
	w.remarks = append(w.remarks, remark{text, at, who})
	eachStem(text, func(stem []byte) {
		id, ok := w.ids[string(stem)]
		if !ok {
			id = int32(len(w.posts))
			w.ids[string(stem)] = id
			w.posts = append(w.posts, nil)
		}
		if p := w.posts[id]; len(p) == 0 || p[len(p)-1] != n {
			w.posts[id] = append(p, n)
		}
	})
}

// eachStem calls f with the stem of each word of a text. The bytes are valid until f returns.
func eachStem(text string, f func(stem []byte)) {
	for _, t := range termsOf(text) {
		if !t.empty {
			f([]byte(t.stem))
		}
	}
}

// weight returns how much a word tells, by how few passages hold it.
func (w *witness) weight(stem string) float64 {
	n := 0
	if id, ok := w.ids[stem]; ok {
		n = len(w.posts[id])
	}
	return math.Log(float64(len(w.remarks)+2) / float64(n+1))
}

// knows reports whether a passage holds a word.
func (w *witness) knows(stem string) bool { _, ok := w.ids[stem]; return ok }

// share returns how much of the weight of some words others hold.
func (w *witness) share(words, others []term) float64 {
	total, held := 0.0, 0.0
	for _, t := range words {
		if t.empty || t.number {
			continue
		}
		weight := w.weight(t.stem)
		total += weight
		if slices.ContainsFunc(others, func(o term) bool { return o.stem == t.stem }) {
			held += weight
		}
	}
	if total == 0 {
		return 0
	}
	return held / total
}

// echo is a passage that speaks of the same as a sentence.
type echo struct {
	*remark
	share float64 // of the weight of the sentence's words
}

// find returns the passages that hold most of the words of a sentence, the best first.
func (w *witness) find(terms []term, most int) []echo {
	type word struct {
		stem   string
		weight float64
		posts  []int32
	}
	var words []word
	total := 0.0
	for _, t := range terms {
		if t.empty || t.number || slices.ContainsFunc(words, func(o word) bool { return o.stem == t.stem }) {
			continue
		}
		one := word{stem: t.stem, weight: w.weight(t.stem)}
		if id, ok := w.ids[t.stem]; ok && len(w.posts[id]) <= mostPosts {
			one.posts = w.posts[id]
		}
		total += one.weight
		words = append(words, one)
	}
	var touched []int32
	for _, one := range words {
		for _, p := range one.posts {
			if w.score[p] == 0 {
				touched = append(touched, p)
			}
			w.score[p] += one.weight
		}
	}
	var out []echo
	for _, p := range touched {
		score := w.score[p]
		w.score[p] = 0
		if pass := &w.remarks[p]; score >= total*leastAlike {
			out = append(out, echo{pass, score / total})
		}
	}
	slices.SortStableFunc(out, func(a, b echo) int {
		switch {
		case a.share > b.share:
			return -1
		case a.share < b.share:
			return 1
		}
		return b.at - a.at
	})
	return out[:min(len(out), most)]
}

// leastAlike is the least share of a sentence's words that a passage on the same holds.
const leastAlike = 0.22
