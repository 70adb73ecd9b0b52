package precis

// Retention says what a view keeps of what the conversation is expected to need
// again.
type Retention struct {
	Anchors  int     `json:"anchors"`  // facts likely to be needed again
	Kept     int     `json:"kept"`     // of these, in the view
	Repaired int     `json:"repaired"` // of those kept, only because a digest or the gate names them
	Share    float64 `json:"share"`    // of all that is expected to be needed, likely or not, 0 to 1

	Rules     int          `json:"rules"`                // sentences in which the user sets rules
	RulesLost []LostAnchor `json:"rules_lost,omitempty"` // of these, not in the view word for word

	Lost []LostAnchor `json:"lost,omitempty"` // the likeliest first, [MaxLost] at most
}

// MaxLost is the most a [Retention] lists as lost.
const MaxLost = 50

// LostAnchor is one fact that a view does not show, with the handle where it
// can be read.
type LostAnchor struct {
	Text   string  `json:"text"`
	Kind   string  `json:"kind"`
	Handle Handle  `json:"handle"`
	Worth  float64 `json:"worth,omitempty"` // how likely it is to be needed again, 0 to 1
}

// Auditor is a [Gate] that can say what a view keeps and has lost. made are the
// edits of this run, in force already in s.
type Auditor interface {
	Audit(s *Situation, made []Edit) Retention
}
