package sched

import (
	"context"
	"errors"
	"fmt"
)

// Cause returns the error of a context that has ended, which wraps ctx.Err and the cause of its end. Otherwise it
// returns nil. It replaces ctx.Err and [context.Cause] as the error of a job.
func Cause(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
