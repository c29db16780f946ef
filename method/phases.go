package method

import (
	"context"
	"time"
)

// phase is a part of a prediction, with the variable that its time is added to.
type phase struct {
	Do      func(context.Context) error
	Seconds *float64
}

// runPhases runs the phases in order, up to the first error.
func runPhases(ctx context.Context, list []phase) error {
	for _, p := range list {
		start := time.Now()
		if err := p.Do(ctx); err != nil {
			return err
		}
		*p.Seconds += time.Since(start).Seconds()
	}
	return nil
}
