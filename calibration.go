package precis

import (
	"context"
	"math"
)

// CalibrationStore is a [Store] that keeps what was learned about counting.
type CalibrationStore interface {
	// SaveCalibration replaces the stored state of a model, see
	// [CalibrationState.Key].
	SaveCalibration(ctx context.Context, model string, state []byte) error
	// LoadCalibrations returns the stored states by model.
	LoadCalibrations(ctx context.Context) (map[string][]byte, error)
}

// Calibrator turns counted tokens into those a model's provider would report.
// Implementations are safe for concurrent use.
type Calibrator interface {
	// Factor returns reported tokens divided by counted ones for a model; 1 when
	// nothing is known.
	Factor(model string) float64
	// Observe takes in one request's counted and reported input tokens.
	Observe(model string, counted, reported int)
}

// CalibrationState is a [Calibrator] whose knowledge can be kept.
type CalibrationState interface {
	// Key is the name under which what was learned about a model is kept.
	Key(model string) string
	// State returns what was learned about a model; nil when nothing was.
	State(model string) []byte
	// SetState replaces what is kept under a key.
	SetState(key string, state []byte) error
}

// OwnerCalibrator is a [Calibrator] that learns for each owner of conversations
// apart: what one owner's requests teach decides nothing for another.
type OwnerCalibrator interface {
	// ForOwner returns the calibrator of an owner; that of "" is the calibrator
	// itself.
	ForOwner(owner string) Calibrator
}

// ForOwner returns a manager that counts as an owner's requests have taught, if the
// calibrator is an [OwnerCalibrator], and shares everything else with m.
func (m *Manager) ForOwner(owner string) *Manager {
	c, ok := m.o.Calibrator.(OwnerCalibrator)
	if !ok {
		return m
	}
	out := *m
	out.o.Calibrator = c.ForOwner(owner)
	return &out
}

// mostMedia is the part of a view that may be counted by rules when its reported
// tokens are to say how a model's tokenizer counts text.
const mostMedia = 0.1

// Teaches reports whether the view is of words enough to learn from what a provider counts for it.
func (r Report) Teaches() bool { return float64(r.After.Media) <= mostMedia*float64(r.After.Tokens) }

// Observe records the input tokens, cached ones included, that a provider reported
// for the view of r. The ratio of reported to counted tokens applies to the model
// from the next call on and is kept in the store, if that is a
// [CalibrationStore]. A view of which more than a tenth is images, documents or
// unknown blocks teaches nothing. Without a calibrator Observe does nothing.
func (m *Manager) Observe(ctx context.Context, r Report, reported int) error {
	if m.o.Calibrator == nil || r.Calibration <= 0 || !r.Teaches() {
		return nil
	}
	m.o.Calibrator.Observe(r.Model, int(float64(r.After.Tokens)/r.Calibration), reported)
	return m.SaveCalibration(ctx, r.Model)
}

// Counted returns what the manager counts where a model's provider would report tokens.
func (m *Manager) Counted(model string, tokens int) int {
	return int(float64(tokens) / m.factor(model))
}

// Calibrated returns what a model's provider would report of counted tokens, by what is
// known now.
func (m *Manager) Calibrated(model string, counted int) int {
	return calibrated(counted, m.factor(model))
}

func (m *Manager) factor(model string) float64 {
	if m.o.Calibrator == nil {
		return 1
	}
	return m.o.Calibrator.Factor(model)
}

func calibrated(counted int, factor float64) int {
	return int(math.Ceil(float64(counted)*factor - 1e-6))
}

// SaveCalibration stores the calibration of a model, if the
// calibrator and the store can; else it does nothing.
func (m *Manager) SaveCalibration(ctx context.Context, model string) error {
	st, ok := m.o.Store.(CalibrationStore)
	c, can := m.o.Calibrator.(CalibrationState)
	if !ok || !can {
		return nil
	}
	state := c.State(model)
	if state == nil {
		return nil
	}
	return st.SaveCalibration(ctx, c.Key(model), state)
}

// LoadCalibration loads what earlier processes learned about counting from the store. A
// store that keeps none is no error; a state that cannot be read is left out.
func (m *Manager) LoadCalibration(ctx context.Context) error {
	st, ok := m.o.Store.(CalibrationStore)
	c, can := m.o.Calibrator.(CalibrationState)
	if !ok || !can {
		return nil
	}
	states, err := st.LoadCalibrations(ctx)
	if err != nil {
		return err
	}
	for key, state := range states {
		if err := c.SetState(key, state); err != nil {
			m.o.Logger.WarnContext(ctx, "calibration left out", "key", key, "error", err)
		}
	}
	return nil
}
