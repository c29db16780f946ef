package method

import "context"

// Smoothed puts Correct & Smooth around a method.
func Smoothed(m *Engine) *Engine { return addSmoothing(m) }

// Predict predicts with the engine of a model.
func (m *Model) Predict(ctx context.Context, p *Problem, s *Settings) (*Prediction, error) {
	e, err := Restore(m, Classes)
	if err != nil {
		return nil, err
	}
	return e.Predict(ctx, p, nil, s)
}
