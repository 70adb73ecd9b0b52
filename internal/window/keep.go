package window

import "encoding/json"

// Merge returns the combined evidence of two replicas: the newer one of each limit, and the larger
// answered request, as far as neither disproves the other.
func (e Evidence) Merge(o Evidence) Evidence {
	e.Stated, e.Refused = e.Stated.newer(o.Stated), e.Refused.newer(o.Refused)
	switch {
	case e.pending.Time.Equal(o.pending.Time):
		e.largestAnswered = max(e.largestAnswered, o.largestAnswered)
	case o.pending.Time.After(e.pending.Time):
		e.pending, e.largestAnswered = o.pending, o.largestAnswered
	}
	if a := o.Accepted; a.Tokens > e.Accepted.Tokens ||
		a.Tokens == e.Accepted.Tokens && a.Time.After(e.Accepted.Time) {
		e.Accepted = a
	}
	a := e.Accepted
	disproved := func(l Limit, size int) bool { return size > l.Tokens && a.Time.After(l.Time) }
	if disproved(e.Stated, a.Tokens) {
		e.Stated = Limit{}
	}
	if disproved(e.Refused, min(a.Tokens, a.Counted)) {
		e.Refused = Limit{}
	}
	for _, l := range []Limit{e.Stated, e.Refused} {
		if l.Tokens > 0 && a.Tokens > l.Tokens && l.Time.After(a.Time) {
			e.Accepted = Size{} // the window has become smaller since
		}
	}
	return e
}

// newer returns the limit that was confirmed last; at equal times the more often stated one.
func (l Limit) newer(o Limit) Limit {
	if o.Time.After(l.Time) || o.Time.Equal(l.Time) && o.Times > l.Times {
		return o
	}
	return l
}

// Merge returns the newer answer of a server that two replicas know.
func (s Served) Merge(o Served) Served {
	if o.Asked.After(s.Asked) {
		return o
	}
	return s
}

// stored is the stored form of [Evidence].
type stored struct {
	Stated   Limit `json:"stated,omitzero"`
	Refused  Limit `json:"refused,omitzero"`
	Pending  Limit `json:"pending,omitzero"`
	Fits     int   `json:"fits,omitempty"`
	Accepted Size  `json:"accepted,omitzero"`
}

// MarshalJSON writes the stored form of the evidence.
func (e Evidence) MarshalJSON() ([]byte, error) {
	return json.Marshal(stored{e.Stated, e.Refused, e.pending, e.largestAnswered, e.Accepted})
}

// UnmarshalJSON reads the output of MarshalJSON, also of another version of precis: implausible
// values are dropped, and unknown fields are ignored.
func (e *Evidence) UnmarshalJSON(data []byte) error {
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	limit := func(l Limit) Limit {
		if l.Tokens <= 0 || l.Tokens > mostServed || l.Times <= 0 || l.Time.IsZero() {
			return Limit{}
		}
		return l
	}
	*e = Evidence{Stated: limit(s.Stated), Refused: limit(s.Refused), pending: limit(s.Pending)}
	if e.pending.Tokens > 0 {
		e.largestAnswered = max(s.Fits, 0)
	}
	if a := s.Accepted; a.Tokens > 0 && a.Tokens <= mostServed && a.Counted >= 0 && !a.Time.IsZero() {
		e.Accepted = a
	}
	return nil
}
