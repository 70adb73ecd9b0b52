package precis

import "context"

// CalibrationState is a [Calibrator] whose knowledge can be kept.
type CalibrationState interface {
	// State returns what was learned about a model; nil when nothing was.
	State(model string) []byte
	// SetState replaces it.
	SetState(model string, state []byte) error
}

// Observe tells the manager what a provider reported for the view of a report:
// the input tokens it says it read, cached ones included. The ratio to what was
// counted is used for this model from now on and kept in the store, if the store
// can. Without a calibrator it does nothing.
func (m *Manager) Observe(ctx context.Context, r Report, reported int) error {
	if m.o.Calibrator == nil || r.Calibration <= 0 {
		return nil
	}
	m.o.Calibrator.Observe(r.Model, int(float64(r.After.Tokens)/r.Calibration), reported)
	return m.SaveCalibration(ctx, r.Model)
}

// SaveCalibration stores what is known about counting for a model, if the
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
	return st.SaveCalibration(ctx, model, state)
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
	for model, state := range states {
		if err := c.SetState(model, state); err != nil {
			m.o.Logger.WarnContext(ctx, "calibration left out", "model", model, "error", err)
		}
	}
	return nil
}
