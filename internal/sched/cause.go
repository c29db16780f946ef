package sched

import (
	"context"
	"errors"
	"fmt"
)

// Cause returns the error of a context that has ended. It wraps the error of the context and the cause of its end. If the
// context has not ended, Cause returns nil. It replaces ctx.Err and [context.Cause] as the error of a job.
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
