package retain

import (
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

type indexKey struct{}

// run is the state that the rungs of one run of the ladder share.
type run struct {
	x     *Index
	worth []float64
	reuse *ReusePredictor
}

// Of returns the index of a situation's conversation, the worths of its facts
// and the predictor of reuse. They are computed once for each run of the
// ladder.
func Of(s *policy.Situation) (*Index, []float64, *ReusePredictor) {
	r := s.Once(indexKey{}, func() any {
		x := Read(s.Conversation.System.PlainText(), WithoutRewound(s.Transcript, s.Edits))
		worth := x.Worths()
		return run{x, worth, x.NewReusePredictor(worth)}
	}).(run)
	return r.x, r.worth, r.reuse
}

// WithoutRewound returns the messages of a transcript, with those that a rewind hides emptied: they are
// neither shown nor needed again. Messages that other edits hide are complete.
func WithoutRewound(t *precis.Transcript, edits []precis.Edit) []precis.Message {
	msgs := t.Messages()
	if !slices.ContainsFunc(edits, func(e precis.Edit) bool { return e.Kind == precis.KindRewind }) {
		return msgs
	}
	shown := precis.ShownBy(t, edits)
	cloned := false
	for i := range msgs {
		if !shown.Rewound(i) {
			continue
		}
		if !cloned {
			msgs, cloned = slices.Clone(msgs), true
		}
		msgs[i] = precis.Message{Role: msgs[i].Role}
	}
	return msgs
}

// Pending reports whether message i is the message to be answered and has less than a quarter of
// the target's tokens. Such a message stays whole while others can be shortened.
func Pending(s *policy.Situation, i int) bool {
	last := s.Transcript.Len() - 1
	return i == last && s.Meter.View([]precis.Message{s.Transcript.At(last)}) < s.Target/4
}
