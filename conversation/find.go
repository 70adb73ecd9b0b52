package conversation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"precis"
)

// Place is a block that [Find] found.
type Place struct {
	Handle precis.Handle `json:"handle"`
	BlockName
	View State           `json:"view"`         // how the view shows it
	By   precis.EditKind `json:"by,omitempty"` // the kind of edit that hides or shortens it
	Line string          `json:"line"`
	Also []precis.Handle `json:"also,omitempty"` // places with the same line

	words int // on the line
}

// Find returns the blocks of one conversation that hold all words of a query,
// hidden or not, those with all on one line first and then the newest. Unlike
// [Search] it reads every block, thinking included. The error is
// [precis.CodeNotFound] when there is none; its hint names a word that occurs
// nowhere.
func Find(ctx context.Context, h Home, id string, q *Query) ([]Place, error) {
	return look(ctx, h, id, func(s *Subject) ([]Place, error) { return find(ctx, s.Conversation, q) })
}

func find(ctx context.Context, conv *precis.Conversation, q *Query) ([]Place, error) {
	msgs := conv.Transcript.Messages()
	var handles []precis.Handle
	ever := make([]bool, len(q.words))
	for i, m := range msgs {
		if err := ctx.Err(); err != nil {
			return nil, precis.Errorf(precis.CodeCanceled, "search", "%w", context.Cause(ctx))
		}
		handles = append(handles, q.message(i, m, ever)...)
	}
	if len(handles) == 0 {
		return nil, q.nothing(ever)
	}
	names, shown := newNamer(msgs), precis.ShownBy(conv.Transcript, conv.Edits)
	places := make([]Place, len(handles))
	for i, h := range handles {
		look := shown.Block(h.From, h.Block)
		p := Place{Handle: h, BlockName: names.name(h), View: stateOf(look), By: look.Kind}
		p.Line, p.words = q.line(blockText(names.at(h)))
		p.Line = strings.TrimSpace(p.Line)
		places[i] = p
	}
	slices.SortStableFunc(places, func(a, b Place) int {
		return cmp.Or(b.words-a.words, b.Handle.From-a.Handle.From, a.Handle.Block-b.Handle.Block)
	})
	return distinct(places), nil
}

// message returns the blocks of message i that hold all words; when they stand
// in several blocks, the one with most. It notes in ever what it finds.
func (q *Query) message(i int, m precis.Message, ever []bool) (out []precis.Handle) {
	together := make([]bool, len(q.words))
	best, most := 0, 0
	for b, block := range m.Content {
		has, n := q.in(blockText(block))
		if n == len(q.words) {
			out = append(out, precis.BlockHandle(i, b))
		}
		if n > most {
			best, most = b, n
		}
		for w, ok := range has {
			together[w] = together[w] || ok
			ever[w] = ever[w] || ok
		}
	}
	if len(out) == 0 && !slices.Contains(together, false) {
		out = append(out, precis.BlockHandle(i, best))
	}
	return out
}

// distinct leaves out places of the same kind with the same line as one before.
func distinct(places []Place) []Place {
	type key struct{ kind, line string }
	at := map[key]int{}
	out := places[:0]
	for _, p := range places {
		k := key{p.Kind, p.Line}
		if i, ok := at[k]; ok {
			out[i].Also = append(out[i].Also, p.Handle)
			continue
		}
		at[k] = len(out)
		out = append(out, p)
	}
	return out
}

// nothing is the error when no place holds all words.
func (q *Query) nothing(ever []bool) error {
	e := &precis.Error{Code: precis.CodeNotFound, Op: "search", Hint: "each occurs, but no message holds all of them; use fewer words",
		Err: fmt.Errorf("no message holds %s", q)}
	if i := slices.Index(ever, false); i >= 0 {
		e.Hint = fmt.Sprintf("%q occurs nowhere; try a part of it, or fewer words", q.words[i])
	}
	return e
}
