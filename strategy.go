package precis

import "context"

// Strategy is one rung of the ladder: it proposes an edit that makes the view
// smaller. An edit without replacements means that it finds nothing to do.
// Strategies are stateless and safe for concurrent use; they do not record
// anything.
type Strategy interface {
	// Name is the rung's name in settings and reports, e.g. "truncate".
	Name() string
	// Propose returns an edit for the situation. The ladder sets its identity and
	// report; the strategy sets Kind, Replace and the report's Reason and Notes.
	Propose(ctx context.Context, s *Situation) (Edit, error)
}

// LastResort marks a strategy whose edits may touch what is kept. The ladder
// climbs to it only when the view does not fit otherwise.
type LastResort interface{ LastResort() }

// UsesModel marks a strategy that calls a model. The ladder leaves it out for
// windows under [Settings.MinModel] and when the [Cap] is reached.
type UsesModel interface{ UsesModel() }

// Situation is what a strategy sees. It is read only.
type Situation struct {
	Conversation *Conversation
	Transcript   *Transcript
	Edits        []Edit // in force or not, those of this run included
	Units        []Unit // the view now
	Kept         *Kept
	Meter        *Meter
	Budget       Budget
	Settings     Settings
	Profile      string
	Used         int // tokens of the view and the overhead, as the Meter counts
	Target       int // tokens to come down to, as the Meter counts
	Limit        int // tokens the view must not pass, as the Meter counts
	Trigger      int // tokens at which the next check would act again
	Forced       bool
	Automatic    bool      // no user asked for this run
	DryRun       bool      // nothing may be called that costs
	Focus        string    // what the user asked summaries to pay attention to; may be empty
	Environment  string    // what the client tells of its surroundings with each turn; "" on manual runs
	Live         *Live     // the request being answered; nil: none
	Sent         []Message // the view before this run, which a prompt cache may hold

	dialect   Dialect
	reasoning Reasoning
	shared    map[any]any
}

// Repair returns the messages as they can be sent: as they are when the dialect
// of the conversation takes them, else mended by [Repair].
func (s *Situation) Repair(view []Message) ([]Message, []Breach) {
	if s.dialect != nil && len(s.dialect.Check(view)) == 0 {
		return view, nil
	}
	return Repair(view)
}

// Once returns what work makes, the same value for the same key throughout one
// run of the ladder. Parts share by it what is dear to work out. Keys should be
// of a type of their own, as with contexts.
func (s *Situation) Once(key any, work func() any) any {
	v, ok := s.shared[key]
	if !ok {
		v = work()
		if s.shared == nil {
			s.shared = map[any]any{}
		}
		s.shared[key] = v
	}
	return v
}

// Excess returns the tokens the view is over its target; 0 or less when it is
// not.
func (s *Situation) Excess() int { return s.Used - s.Target }

// fits reports whether the view can be sent and would not be reduced again at
// once.
func (s *Situation) fits() bool { return s.Used <= s.Limit && s.Used < s.Trigger }

// Original calls f for each original message still shown, with its unit.
func (s *Situation) Original(f func(i int, m Message, u Unit)) {
	for _, u := range s.Units {
		if u.Original() && len(u.Messages) > 0 {
			f(u.From, u.Messages[0], u)
		}
	}
}

// Gate checks an edit before it is accepted: what must not be lost is still in
// the view, or is added to the edit. Implementations are safe for concurrent use.
type Gate interface {
	Check(ctx context.Context, s *Situation, e Edit) (Edit, error)
}

// Reasoning says what becomes of signed reasoning in a view whose earlier part
// is no longer shown as it was said.
type Reasoning string

// The rules for reasoning.
const (
	ReasoningLeaves Reasoning = ""      // all that comes after a change leaves the view
	ReasoningLoop   Reasoning = "loop"  // as above, but that after the last user turn stays
	ReasoningStays  Reasoning = "stays" // all stays: its signature does not bind it to what came before
)

// Dialect knows one API's rules. Implementations are stateless.
type Dialect interface {
	Name() string
	// Check returns what the API would refuse in these messages.
	Check(view []Message) []Breach
}
