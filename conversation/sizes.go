package conversation

import (
	"context"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/measure"
)

// Sizes are the sizes of the view of a conversation at each of its lengths.
type Sizes struct {
	Points []SizeAt   `json:"points"` // by the number of messages, ascending
	Marks  []SizeMark `json:"marks"`  // where edits were made
	Window int        `json:"window"` // tokens
}

// SizeAt is the size of the view, overhead included, and of the transcript, at a number of
// messages.
type SizeAt struct {
	Messages  int `json:"messages"`
	Tokens    int `json:"tokens"`
	Unreduced int `json:"said"`
}

// SizeMark is a place where edits were made.
type SizeMark struct {
	Messages int               `json:"messages"`
	Kinds    []precis.EditKind `json:"kinds"` // of the edits, each kind once
	Before   int               `json:"tokens_before"`
	After    int               `json:"tokens_after"`
}

// SizeHistory returns the size of the view over the course of a conversation: at most about the given
// number of points, plus two for each place where edits were made.
func SizeHistory(ctx context.Context, h Home, id string, points int) (Sizes, error) {
	if points < 2 || points > 5000 {
		return Sizes{}, precis.Errorf(precis.CodeInvalid, "read history", "points is %d, want 2 to 5000",
			points)
	}
	return look(ctx, h, id, func(s *Subject) (Sizes, error) { return s.history(points) })
}

func (s *Subject) history(points int) (Sizes, error) {
	st, err := s.status()
	if err != nil {
		return Sizes{}, err
	}
	t := s.Conversation.Transcript
	w := walker{s: s, scratch: s.scratch(), step: max(t.Len()/points, 1),
		overhead: s.meter().Overhead(s.Conversation).Sum()}
	places := editPlaces(s.Conversation.Edits, t.Len())
	for k, from := range places {
		to := t.Len()
		if k+1 < len(places) {
			to = places[k+1]
		}
		w.stretch(from, to, k > 0)
	}
	w.scale(st.Tokens)
	w.out.Window = s.Template.Window.Tokens
	return w.out, nil
}

// editPlaces returns the lengths at which edits were made, after 0.
func editPlaces(edits []precis.Edit, n int) []int {
	out := []int{0}
	for _, e := range edits {
		out = append(out, min(e.Seen, n))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// walker follows the size of a view along a conversation.
type walker struct {
	s             *Subject
	scratch       *measure.Meter
	step          int
	overhead      int
	messageTokens int // tokens of the messages passed
	view          int // tokens of the view of the messages passed
	out           Sizes
}

// stretch adds the points between two places where edits were made. With edited, the first point
// includes the edits of its place.
func (w *walker) stretch(from, to int, edited bool) {
	t := w.s.Conversation.Transcript
	if edited {
		before := w.view
		w.view = w.sizeAt(from)
		w.add(from)
		w.mark(from, before)
	}
	for n := from; n < to; n++ {
		size := w.s.meter().Message(t.At(n))
		w.messageTokens += size
		w.view += size
		if (n+1)%w.step == 0 || n+1 == to {
			w.add(n + 1)
		}
	}
}

func (w *walker) add(n int) {
	w.out.Points = append(w.out.Points,
		SizeAt{Messages: n, Tokens: w.overhead + w.view, Unreduced: w.overhead + w.messageTokens})
}

// sizeAt returns the tokens of the view when there were n messages.
func (w *walker) sizeAt(n int) int {
	then := precis.Rewound(w.s.Conversation, n)
	total := 0
	for _, u := range precis.Units(then.Transcript, then.Edits) {
		meter := w.s.meter()
		if !u.Original() || u.Changed {
			meter = w.scratch
		}
		total += meter.View(u.Messages)
	}
	return total
}

func (w *walker) mark(n, before int) {
	m := SizeMark{Messages: n, Before: w.overhead + before, After: w.overhead + w.view}
	for _, e := range w.s.Conversation.Edits {
		if min(e.Seen, w.s.Conversation.Transcript.Len()) == n && !slices.Contains(m.Kinds, e.Kind) {
			m.Kinds = append(m.Kinds, e.Kind)
		}
	}
	w.out.Marks = append(w.out.Marks, m)
}

// scale calibrates all sizes so that the last one equals the status.
func (w *walker) scale(tokens int) {
	last := w.overhead + w.view
	if last <= 0 || last == tokens {
		return
	}
	by := func(n *int) { *n = *n * tokens / last }
	for i := range w.out.Points {
		by(&w.out.Points[i].Tokens)
		by(&w.out.Points[i].Unreduced)
	}
	for i := range w.out.Marks {
		by(&w.out.Marks[i].Before)
		by(&w.out.Marks[i].After)
	}
}
