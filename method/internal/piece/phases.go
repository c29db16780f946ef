package piece

import (
	"context"
	"time"
)

// Phase is a part of a prediction, and where its time is added up.
type Phase struct {
	Do      func(context.Context) error
	Seconds *float64
}

// Phases does one phase after the other, up to the first error.
func Phases(ctx context.Context, phases []Phase) error {
	for _, phase := range phases {
		start := time.Now()
		if err := phase.Do(ctx); err != nil {
			return err
		}
		*phase.Seconds += time.Since(start).Seconds()
	}
	return nil
}
