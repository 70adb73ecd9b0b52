package retain

import "precis"

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
		x := Read(s.Conversation.System.PlainText(), s.Transcript.Messages())
		worth := x.Worths()
		return run{x, worth, x.Reuser(worth)}
	}).(run)
	return r.x, r.worth, r.reuse
}
