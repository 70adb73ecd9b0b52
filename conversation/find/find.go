// Package find answers: where in a conversation do words stand? [In] searches every block of one
// conversation for a [Query], hidden or not; [Passages] yields the texts that searches over many
// conversations read.
package find

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/block"
	"github.com/precis-dev/precis/internal/words"
	"github.com/precis-dev/precis/store"
)

// Place is a result of [In]: a block, or a text that an edit shows instead of messages. In the
// latter case Handle names these messages.
type Place struct {
	Handle precis.Handle `json:"handle"`
	// the ID of the side conversation with the handle, or [InSystem]; else ""
	In string `json:"in,omitempty"`
	block.Name
	View conversation.State `json:"view"`         // how the view shows it
	By   precis.EditKind    `json:"by,omitempty"` // the kind of edit that hides or shortens it
	Line string             `json:"line"`
	Also []precis.Handle    `json:"also,omitempty"` // places with the same line

	Related store.RelatedWords `json:"related,omitempty"` // words here that matched query words it lacks

	words int // on the line
	rank  words.Rank
}

// InSystem is [Place.In] of the system prompt, which no handle names.
const InSystem = "system"

// In returns the blocks of one conversation, hidden or not, that contain all words of a query. Order:
// blocks with all words on one line, then the newest, then matches of a widened query only (see
// [Query.Widen]), and last earlier calls of precis's own search. It also searches summaries, digests,
// notes, the system prompt and the side conversations of a recording. Unlike [conversation.Search] it
// reads every block, thinking included. If no block matches, the error is [precis.CodeNotFound] with a
// hint that names a word that occurs nowhere.
func In(ctx context.Context, h conversation.Home, id string, q *Query) (out []Place, err error) {
	err = h.Look(ctx, id, func(s *conversation.Subject) error {
		out, err = find(ctx, s.Conversation, q)
		return err
	})
	return out, err
}

func find(ctx context.Context, conv *precis.Conversation, q *Query) ([]Place, error) {
	msgs := conv.Transcript.Messages()
	exact := *q
	exact.wider = nil
	var handles []precis.Handle
	by := map[precis.Handle]*Query{}
	ever := make([]bool, len(q.words))
	for i, m := range msgs {
		if err := ctx.Err(); err != nil {
			return nil, precis.Errorf(precis.CodeCanceled, "search", "%w", context.Cause(ctx))
		}
		for _, q := range exact.withWider(q) {
			for _, h := range q.message(i, m, ever) {
				if by[h] == nil {
					by[h] = q
					handles = append(handles, h)
				}
			}
		}
	}
	names, shown := block.New(msgs), precis.ShownBy(conv.Transcript, conv.Edits)
	places := make([]Place, len(handles))
	for i, h := range handles {
		look := shown.Block(h.From, h.Block)
		p := Place{Handle: h, Name: names.Name(h), View: conversation.StateOf(look), By: look.Kind}
		places[i] = by[h].fill(p, searched(names.At(h)))
	}
	said := map[string]bool{}
	for _, p := range places {
		said[p.Line] = true
	}
	for p, blocks := range textsOutside(conv, shown) {
		for _, found := range q.add(nil, p, ever, blocks...) {
			if !said[found.Line] { // a message has this line, too
				places = append(places, found)
			}
		}
	}
	if len(places) == 0 {
		return nil, q.noMatchError(ever)
	}
	slices.SortStableFunc(places, func(a, b Place) int {
		return cmp.Or(a.searches()-b.searches(), int(a.rank-b.rank), b.words-a.words,
			b.Handle.From-a.Handle.From, a.Handle.Block-b.Handle.Block)
	})
	return distinct(places), nil
}

// searches returns 1 for a call of precis's own search, which always contains the words it searches
// for, and 0 otherwise.
func (p Place) searches() int {
	if strings.Contains(p.Tool, "precis") && strings.HasSuffix(p.Tool, "search") {
		return 1
	}
	return 0
}

// textsOutside yields the blocks outside of the messages, each with its place: the system prompt, the
// texts that edits in force show, and the side conversations (sub-agents and abandoned branches).
func textsOutside(conv *precis.Conversation, shown *precis.Shown) iter.Seq2[Place, []precis.Block] {
	return func(yield func(Place, []precis.Block) bool) {
		system := Place{Handle: precis.MessageHandle(0), In: InSystem,
			Name: block.Name{Role: precis.RoleSystem, Kind: "text"}, View: conversation.Shown}
		if conv.HasSystem() && !yield(system, conv.System.Content) {
			return
		}
		for _, e := range precis.Active(conv.Edits) {
			if !put(e, shown, yield) {
				return
			}
		}
		for _, side := range conv.Branches {
			names := block.New(side.Transcript.Messages())
			for i, m := range side.Transcript.Messages() {
				for b, block := range m.Content {
					h := precis.BlockHandle(i, b)
					if !yield(Place{Handle: h, In: side.ID, Name: names.Name(h), View: conversation.Hidden},
						[]precis.Block{block}) {
						return
					}
				}
			}
		}
	}
}

// put yields the texts that an edit shows and reports whether the caller wants more.
func put(e precis.Edit, shown *precis.Shown, yield func(Place, []precis.Block) bool) bool {
	p := Place{Name: block.Name{Kind: "note"}, By: e.Kind}
	if e.Kind == precis.KindCondensation {
		p.Kind = "summary"
	}
	for _, r := range e.Replace {
		p.Handle, p.View, p.Role = precis.SpanHandle(r.From, r.To), conversation.Hidden, ""
		stands := func(u precis.Unit) bool { return u.From == r.From && u.To == r.To && !u.Original() }
		if r.Block != nil {
			p.Handle = precis.BlockHandle(r.From, r.Block.Index)
			stands = func(u precis.Unit) bool { return u.From == r.From && u.Changed }
		}
		if slices.ContainsFunc(shown.Units, stands) {
			p.View = conversation.Shown
		}
		for _, m := range r.With {
			p.Role = m.Role
			if !yield(p, m.Content) {
				return false
			}
		}
		if r.WithBlock != nil && !yield(p, []precis.Block{r.WithBlock}) {
			return false
		}
	}
	return true
}

// Passage is a text that searches over many conversations read.
type Passage struct {
	Place  // without its line
	blocks []precis.Block
}

// Text returns the searchable text of a passage, as [In] reads it.
func (p Passage) Text() string {
	texts := make([]string, len(p.blocks))
	for i, b := range p.blocks {
		texts[i] = searched(b)
	}
	return strings.Join(texts, "\n")
}

// Passages yields the passages of a conversation: its messages in order, then what [In] finds besides them.
func Passages(conv *precis.Conversation) iter.Seq[Passage] {
	return func(yield func(Passage) bool) {
		for i, m := range conv.Transcript.Messages() {
			p := Place{Handle: precis.MessageHandle(i), Name: block.Name{Role: m.Role, Kind: "text"}}
			if !yield(Passage{p, m.Content}) {
				return
			}
		}
		for p, blocks := range textsOutside(conv, precis.ShownBy(conv.Transcript, conv.Edits)) {
			if !yield(Passage{p, blocks}) {
				return
			}
		}
	}
}

// add adds a place for each of the blocks that contains all words.
func (q *Query) add(out []Place, p Place, ever []bool, blocks ...precis.Block) []Place {
	for _, b := range blocks {
		text := searched(b)
		has, n := q.in(text)
		for w, ok := range has {
			ever[w] = ever[w] || ok
		}
		if n < len(q.words) {
			continue
		}
		out = append(out, q.fill(p, text))
	}
	return out
}

// fill returns a place with the line of its text that matches the query best.
func (q *Query) fill(p Place, text string) Place {
	p.Line, p.words = q.line(text)
	p.rank, p.Related = q.rankMatches(text, p.Line)
	p.Line = strings.TrimSpace(p.Line)
	return p
}

// message returns the blocks of message i that contain all words. If the words are spread over
// several blocks, it returns the block with most of them. It marks the words it finds in ever.
func (q *Query) message(i int, m precis.Message, ever []bool) (out []precis.Handle) {
	together := make([]bool, len(q.words))
	best, most := 0, 0
	for b, block := range m.Content {
		has, n := q.in(searched(block))
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

// searched returns the text of a block in Unicode NFC, as in a [Query].
func searched(b precis.Block) string { return norm.NFC.String(block.Text(b)) }

// distinct keeps the first of several places with the same kind and line.
func distinct(places []Place) []Place {
	type key struct{ in, kind, line string }
	at := map[key]int{}
	out := places[:0]
	for _, p := range places {
		k := key{p.In, p.Kind, p.Line}
		if i, ok := at[k]; ok {
			out[i].Also = append(out[i].Also, p.Handle)
			continue
		}
		at[k] = len(out)
		out = append(out, p)
	}
	return out
}

// The error for a query without a match; ever holds the words that occur.
func (q *Query) noMatchError(ever []bool) error {
	e := &precis.Error{Code: precis.CodeNotFound, Op: "search",
		Hint: "each occurs, but no message holds all of them; use fewer words",
		Err:  fmt.Errorf("no message holds %s", q)}
	if i := slices.Index(ever, false); i >= 0 {
		e.Hint = fmt.Sprintf("%q occurs nowhere; try a part of it, or fewer words", q.words[i])
	}
	return e
}

// Query finds texts that contain all its words. Make one with [NewQuery].
type Query struct {
	words  []string
	find   []*regexp.Regexp // by word
	pieces [][]string       // by word: lower-case strings that every text matched by find contains
	wider  *words.Query     // further matches for words; nil: none
}

// Widen returns a query that also matches other English forms of its words, and related words: the
// other words in the same row of a fixed table of programming terms. A phrase or a regular
// expression matches only itself.
func (q *Query) Widen() *Query {
	var single []string
	for i, w := range q.words {
		if len(q.pieces[i]) == 1 && len(words.Distinct(w)) == 1 {
			single = append(single, w)
		}
	}
	wide := *q
	other := words.NewQuery(strings.Join(single, " "), false)
	wide.wider = &other
	return &wide
}

// withWider returns the query, followed by the wider one if it can match more.
func (q *Query) withWider(wide *Query) []*Query {
	if wide.wider == nil {
		return []*Query{q}
	}
	return []*Query{q, wide}
}

// rankMatches returns the worst rank of the matches of words in a text, and the related words among them. It
// prefers matches in the displayed line.
func (q *Query) rankMatches(text, line string) (worst words.Rank, related store.RelatedWords) {
	if q.wider == nil {
		return words.Exact, nil
	}
	has, _ := q.matchExactly(text)
	inLine, inText := q.wider.Matcher(line), q.wider.Matcher(text)
	for i, w := range q.words {
		if has[i] {
			continue
		}
		found, rank, ok := inLine(w)
		if !ok {
			found, rank, ok = inText(w)
		}
		if ok && rank == words.Related {
			related = append(related, store.Related{Asked: w, Found: found})
		}
		if ok {
			worst = max(worst, rank)
		}
	}
	return worst, related
}

// anySpace matches the white space at which [strings.Fields] divides.
const anySpace = `[\s\v\x{85}\pZ]+`

// NewQuery reads words, or regular expressions (RE2). Case is ignored, and accents match composed
// or decomposed. White space inside a word matches any white space. The error is
// [precis.CodeInvalid].
func NewQuery(list []string, expressions bool) (*Query, error) {
	q := &Query{words: list, find: make([]*regexp.Regexp, len(list)), pieces: make([][]string, len(list))}
	for i, w := range list {
		w = norm.NFC.String(w)
		fields := strings.Fields(w)
		if len(fields) == 0 {
			return nil, precis.Errorf(precis.CodeInvalid, "read words", "word %d is empty", i+1)
		}
		source := w
		if !expressions {
			q.pieces[i] = fields
			quoted := make([]string, len(fields))
			for k, f := range fields {
				quoted[k], fields[k] = regexp.QuoteMeta(f), strings.ToLower(f)
			}
			source = strings.Join(quoted, anySpace)
		}
		re, err := regexp.Compile("(?im:" + source + ")")
		if err != nil {
			return nil, precis.Errorf(precis.CodeInvalid, "read words", "%q is no regular expression: %w", w,
				err)
		}
		q.find[i] = re
	}
	return q, nil
}

// in reports for each word whether a text matches it, and the number of matches.
func (q *Query) in(text string) (has []bool, n int) {
	if has, n = q.matchExactly(text); n == len(has) || q.wider == nil {
		return has, n
	}
	answer := q.wider.Matcher(text)
	for i, w := range q.words {
		if has[i] {
			continue
		}
		if _, _, ok := answer(w); ok {
			has[i] = true
			n++
		}
	}
	return has, n
}

// matchExactly reports for each word whether a text contains it, and the number of such words.
func (q *Query) matchExactly(text string) (has []bool, n int) {
	has = make([]bool, len(q.words))
	lower := strings.ToLower(text)
	for i, re := range q.find {
		missing := slices.ContainsFunc(q.pieces[i],
			func(p string) bool { return !strings.Contains(lower, p) })
		if !missing && re.MatchString(text) {
			has[i] = true
			n++
		}
	}
	return has, n
}

// line returns the first of the lines of a text with the most words, and their number.
func (q *Query) line(text string) (best string, most int) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if _, n := q.in(line); n > most {
			best, most = line, n
			if most == len(q.words) {
				return best, most
			}
		}
	}
	if most > 0 {
		return best, most
	}
	for _, re := range q.find { // the match begins on one line and ends on another
		if at := re.FindStringIndex(text); at != nil {
			start := strings.LastIndexByte(text[:at[0]], '\n') + 1
			line, _, _ := strings.Cut(text[start:], "\n")
			return line, 0
		}
	}
	return "", 0
}

// Matches returns the matches of the words in a line, sorted and disjoint, as pairs of byte offsets.
func (q *Query) Matches(line string) [][]int {
	var all, out [][]int
	for _, re := range q.find {
		all = append(all, re.FindAllStringIndex(line, -1)...)
	}
	if q.wider != nil {
		all = append(all, q.wider.Places(line)...)
	}
	slices.SortFunc(all, func(a, b []int) int { return a[0] - b[0] })
	for _, p := range all {
		if last := len(out) - 1; last >= 0 && p[0] < out[last][1] {
			out[last][1] = max(out[last][1], p[1])
		} else if p[1] > p[0] {
			out = append(out, p)
		}
	}
	return out
}

// String lists the words: "a", "b" and "c".
func (q *Query) String() string {
	var s strings.Builder
	for i, w := range q.words {
		switch {
		case i > 0 && i == len(q.words)-1:
			s.WriteString(" and ")
		case i > 0:
			s.WriteString(", ")
		}
		fmt.Fprintf(&s, "%q", w)
	}
	return s.String()
}
