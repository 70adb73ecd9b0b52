package retain

import (
	"slices"

	"precis"
)

type indexKey struct{}

// run is what the parts of one run of the ladder share.
type run struct {
	x     *Index
	worth []float64
	reuse *Reuser
}

// Of returns the index of a situation's conversation, the worths of its facts
// and the predictor of reuse, worked out once for a run.
func Of(s *precis.Situation) (*Index, []float64, *Reuser) {
	r := s.Once(indexKey{}, func() any {
		x := Read(s.Conversation.System.PlainText(), Alive(s.Transcript, s.Edits))
		worth := x.Worths()
		return run{x, worth, x.Reuser(worth)}
	}).(run)
	return r.x, r.worth, r.reuse
}

// Alive returns the messages of a transcript, those that a rewind hides without
// their content: what was taken back is neither told nor needed again. What other
// edits hide is there.
func Alive(t *precis.Transcript, edits []precis.Edit) []precis.Message {
	var rewinds []precis.Edit
	for _, e := range precis.Active(edits) {
		if e.Kind == precis.KindRewind || e.Kind == precis.KindRestore {
			rewinds = append(rewinds, e)
		}
	}
	msgs := t.Messages()
	if len(rewinds) == 0 {
		return msgs
	}
	msgs = slices.Clone(msgs)
	for _, u := range precis.Units(t, rewinds) {
		for i := u.From; i < u.To && !u.Original(); i++ {
			msgs[i] = precis.Message{Role: msgs[i].Role}
		}
	}
	return msgs
}

// Pending reports whether message i is the one to be answered and small enough,
// a quarter of the target, to stay whole while anything else can be shortened.
func Pending(s *precis.Situation, i int) bool {
	last := s.Transcript.Len() - 1
	return i == last && s.Meter.View([]precis.Message{s.Transcript.At(last)}) < s.Target/4
}
