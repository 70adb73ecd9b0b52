package words

import (
	"slices"

	"precis/store"
)

// Rank says by what a text answers a word of a query. A lower rank goes first.
type Rank int

const (
	Exact   Rank = iota // the word itself
	Form                // another form of it, in English: fixed for fix
	Related             // a word that is used in its place: login for auth
	none
)

// weights make every score of a rank higher than any of the next: of at most 64 KB of
// text, the score of one word lies between 0.006 and 1.
var weights = [none]float64{1, 1e-3, 1e-6}

const (
	mostIndexed = 32 // words that an index is asked for
	mostOther   = 8  // words of a query for which others are looked for; a longer query is a quotation
)

// Query is the words that a search asks for, and for each the words that answer it.
type Query struct {
	asked   []string
	others  [][none][]string // by word asked for and rank
	answers map[string][]answer
}

// answer says which word asked for a word answers, and by what.
type answer struct {
	asked int
	rank  Rank
}

// NewQuery reads what a user wrote. There is nothing it could refuse. A word that is
// asked for answers no other word, and a form of one is related to none. Where exact, each word answers only itself.
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

// add notes words that answer word i, but for those that answer a word by a lower rank.
func (q *Query) add(i int, rank Rank, list []string) {
	for _, other := range list {
		if slices.ContainsFunc(q.answers[other], func(a answer) bool { return a.rank < rank || a.asked == i }) {
			continue
		}
		q.answers[other] = append(q.answers[other], answer{i, rank})
		q.others[i][rank] = append(q.others[i][rank], other)
	}
}

// Empty reports whether no word is asked for.
func (q Query) Empty() bool { return len(q.asked) == 0 }

// Step is what an index is asked for: texts that hold a word of each clause. They may
// answer with this rank or a lower one; [Query.Score] looks closer.
type Step struct {
	Rank    Rank
	Clauses [][]string
}

// Steps returns what an index is asked for, one question after the other until enough is
// found, each for more texts than the one before.
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

// Widest returns the last of the steps, which finds all that answers.
func (q Query) Widest() Step {
	steps := q.Steps()
	return steps[len(steps)-1]
}

// Score says how well a text answers, 0 when it answers not every word, and by what it
// answers the word that it answers worst. A word counts the more the more often it
// occurs, in a short text more than in a long one; other words count only where the
// text has none of a lower rank.
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

// Answers returns how a text answers a word that is asked for; ok is false when it does
// not, or when the word is not one of the query.
func (q Query) Answers(text string) func(word string) (found string, rank Rank, ok bool) {
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

// Places returns where the words stand in a text that answer the query: pairs of byte
// offsets, in order.
func (q Query) Places(text string) (out [][]int) {
	for s := range spans(text) {
		if len(q.answers[s.word]) > 0 {
			out = append(out, []int{s.from, s.to})
		}
	}
	return out
}

// found is how a text answers a word that is asked for.
type found struct {
	rank Rank
	n    int    // how often
	word string // the first that answers
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

// Show returns a hit for a text that answers: what is to be shown of it, and which words
// answer by being related. Where it is, and its score, are for the caller to fill in.
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
