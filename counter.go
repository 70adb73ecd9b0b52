package precis

// Counter counts tokens. Implementations are safe for concurrent use and
// deterministic. The package precis/tokens has exact and estimating ones.
type Counter interface {
	// Name identifies the way of counting, e.g. "o200k"; counts of different
	// names are never mixed.
	Name() string
	// Count returns the tokens of one message, its framing included. A message
	// without content counts 0.
	Count(m Message) int
}

// ModelCounter is a [Counter] that counts some content, such as images, by the rules
// of the model it is meant for.
type ModelCounter interface {
	Counter
	// ForModel returns the counter for a model. Two counters are equal (==) if
	// they count alike.
	ForModel(model string) Counter
}

// Calibrator turns counted tokens into those a model's provider would report.
// Implementations are safe for concurrent use.
type Calibrator interface {
	// Factor returns reported tokens divided by counted ones for a model; 1 when unknown.
	Factor(model string) float64
	// Observe records the counted and reported input tokens of one request.
	Observe(model string, counted, reported int)
}

// CalibrationState is a [Calibrator] with state that can be persisted.
type CalibrationState interface {
	// Key is the store's key for the state of a model.
	Key(model string) string
	// State returns the state of a model; nil without observations.
	State(model string) []byte
	// SetState replaces the state of a key.
	SetState(key string, state []byte) error
}

// OwnerCalibrator is a [Calibrator] with separate state for each owner of conversations: one
// owner's requests do not affect another's counts.
type OwnerCalibrator interface {
	// ForOwner returns the calibrator of an owner; for "", the calibrator itself.
	ForOwner(owner string) Calibrator
}
