package policy

import (
	"context"
	"math"

	"github.com/precis-dev/precis"
)

// ForOwner returns a manager with the owner's calibrator, if the calibrator is an
// [precis.OwnerCalibrator]. It shares everything else with m.
func (m *Manager) ForOwner(owner string) *Manager {
	c, ok := m.o.Calibrator.(precis.OwnerCalibrator)
	if !ok {
		return m
	}
	out := *m
	out.o.Calibrator = c.ForOwner(owner)
	return &out
}

// mostMedia is the largest share of media in a view from which the calibrator learns, since media
// are counted by rules, not by the tokenizer.
const mostMedia = 0.1

// CanCalibrate reports whether the view consists of enough text to learn from its provider's count.
func (r Report) CanCalibrate() bool {
	return float64(r.After.Media) <= mostMedia*float64(r.After.Tokens)
}

// Observe records the input tokens, cached ones included, that a provider reported for the view of
// r. The ratio of reported to counted tokens applies to the model from the next call on and is kept
// in the store, if that is a [precis.CalibrationStore]. A view with more than a tenth of images, documents
// or unknown blocks is ignored. Without a calibrator Observe returns nil.
func (m *Manager) Observe(ctx context.Context, r Report, reported int) error {
	if m.o.Calibrator == nil || r.Calibration <= 0 || !r.CanCalibrate() {
		return nil
	}
	m.o.Calibrator.Observe(r.Model, int(float64(r.After.Tokens)/r.Calibration), reported)
	return m.SaveCalibration(ctx, r.Model)
}

// Counted converts tokens as a model's provider reports them to tokens as the manager counts them.
func (m *Manager) Counted(model string, tokens int) int {
	return int(float64(tokens) / m.factor(model))
}

// Calibrated converts counted tokens to tokens as a model's provider would report them, by the
// current calibration.
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

// SaveCalibration stores the calibration of a model, if calibrator and store support it.
func (m *Manager) SaveCalibration(ctx context.Context, model string) error {
	st, ok := m.o.Store.(precis.CalibrationStore)
	c, can := m.o.Calibrator.(precis.CalibrationState)
	if !ok || !can {
		return nil
	}
	state := c.State(model)
	if state == nil {
		return nil
	}
	return st.SaveCalibration(ctx, c.Key(model), state)
}

// LoadCalibration loads the calibration of earlier processes from the store. A store without
// calibrations is no error; unreadable states are skipped.
func (m *Manager) LoadCalibration(ctx context.Context) error {
	st, ok := m.o.Store.(precis.CalibrationStore)
	c, can := m.o.Calibrator.(precis.CalibrationState)
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
