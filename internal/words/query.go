package words

import (
	"slices"

	"github.com/precis-dev/precis/store"
)

// Rank is how a word of a text matches a word of a query. A lower rank goes first.
type Rank int

const (
	Exact   Rank = iota // the word itself
	Form                // another form of it, in English: fixed for fix
	Related             // a word with a related meaning: login for auth
	none
)

// weights make every score of a rank higher than any of the next: of at most 64 KB of
// text, the score of one word lies between 0.006 and 1.
var weights = [none]float64{1, 1e-3, 1e-6}

const (
	mostIndexed = 32 // words in one request to an index
	mostOther   = 8  // words of a query with alternatives; a longer query is a quotation
)

// Query is the words of a search, each with the words that match it.
type Query struct {
	asked   []string
	others  [][none][]string // by word asked for and rank
	answers map[string][]answer
}

// answer is a match: the index of the query's word, and the rank.
type answer struct {
	asked int
	rank  Rank
}

// NewQuery parses a user's search text; every text is valid. A word of the query matches no other
// word of it, and a form of one is not used as a related word. With exact, each word matches only
// itself.
func NewQuery(text string, exact bool) Query {
	q := Query{asked: Distinct(text), answers: map[string][]answer{}}
	for i, word := range q.asked {
		q.answers[word] = []answer{{i, Exact}}
	}
	if exact || len(q.asked) > mostOther {
		return q
	}
	q.others = make([][none][]string, len(q.asked))
	for i, word := range q.asked {
		q.add(i, Form, forms(word))
	}
	for i, word := range q.asked {
		q.add(i, Related, related(word))
	}
	return q
}

// add adds words that match word i, except words that match a query word with a lower rank.
func (q *Query) add(i int, rank Rank, list []string) {
	for _, other := range list {
		if slices.ContainsFunc(q.answers[other],
			func(a answer) bool { return a.rank < rank || a.asked == i }) {
			continue
		}
		q.answers[other] = append(q.answers[other], answer{i, rank})
		q.others[i][rank] = append(q.others[i][rank], other)
	}
}

// Empty reports whether the query has no words.
func (q Query) Empty() bool { return len(q.asked) == 0 }

// Step is a request to an index: texts that contain a word of each clause. Results have this rank
// or a lower one; [Query.Score] determines it.
type Step struct {
	Rank    Rank
	Clauses [][]string
}

// Steps returns the requests to an index, to be made in order until enough is found; each finds
// more texts than the one before.
func (q Query) Steps() []Step {
	asked := q.asked[:min(len(q.asked), mostIndexed)]
	step := Step{Clauses: make([][]string, len(asked))}
	for i, word := range asked {
		step.Clauses[i] = []string{word}
	}
	out := []Step{step}
	for rank := Form; rank < none && q.others != nil; rank++ {
		more := false
		step = Step{Rank: rank, Clauses: slices.Clone(step.Clauses)}
		for i := range step.Clauses {
			more = more || len(q.others[i][rank]) > 0
			step.Clauses[i] = slices.Concat(step.Clauses[i], q.others[i][rank])
		}
		if more {
			out = append(out, step)
		}
	}
	return out
}

// Widest returns the last of the steps, which finds all matches.
func (q Query) Widest() Step {
	steps := q.Steps()
	return steps[len(steps)-1]
}

// Score returns how well a text matches, 0 if a word has no match, and the rank of the worst match.
// A word counts more the more often it occurs, in a short text more than in a long one;
// alternatives count only if the text has no match of a lower rank.
func (q Query) Score(text string) (score float64, worst Rank) {
	best, all := q.look(text)
	for _, b := range best {
		if b.n == 0 {
			return 0, none
		}
		score += float64(b.n) / (float64(b.n) + 0.5 + float64(all)/200)
		worst = max(worst, b.rank)
	}
	return score * weights[worst], worst
}

// Matcher returns a function that looks up how a text matches a word of the query; ok is false
// without a match, or if the word is not in the query.
func (q Query) Matcher(text string) func(word string) (found string, rank Rank, ok bool) {
	best, _ := q.look(text)
	return func(word string) (string, Rank, bool) {
		folded := Fold(word)
		if d := Distinct(word); len(d) == 1 {
			folded = d[0]
		}
		for _, a := range q.answers[folded] {
			if b := best[a.asked]; a.rank == Exact && b.n > 0 {
				return b.word, b.rank, true
			}
		}
		return "", none, false
	}
}

// Places returns where matching words occur in a text: pairs of byte offsets, in order.
func (q Query) Places(text string) (out [][]int) {
	for s := range spans(text) {
		if len(q.answers[s.word]) > 0 {
			out = append(out, []int{s.from, s.to})
		}
	}
	return out
}

// found is the match of a word in a text.
type found struct {
	rank Rank
	n    int    // how often
	word string // the first that matches
}

// look reads a text of all words.
func (q Query) look(text string) (best []found, all int) {
	best = make([]found, len(q.asked))
	for s := range spans(text) {
		all++
		for _, a := range q.answers[s.word] {
			b := &best[a.asked]
			if b.n == 0 || a.rank < b.rank {
				*b = found{rank: a.rank, word: s.word}
			}
			if a.rank == b.rank {
				b.n++
			}
		}
	}
	return best, all
}

// Show returns a hit for a matching text: the snippet, and the words that match only as related
// ones. The caller fills in the place and the score.
func (q Query) Show(text string) store.Hit {
	best, _ := q.look(text)
	from, to, shown := q.best(text, best)
	h := store.Hit{Snippet: snippet(text, from, to)}
	for i, b := range best {
		if b.n > 0 && b.rank == Related {
			word := b.word
			if shown[i] != "" {
				word = shown[i]
			}
			h.Related = append(h.Related, store.Related{Asked: q.asked[i], Found: word})
		}
	}
	return h
}
