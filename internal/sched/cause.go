package sched

import (
	"context"
	"errors"
	"fmt"
)

// Cause returns nil if the context has not ended. Otherwise it returns an error that wraps ctx.Err and the cause of the
// end. It replaces ctx.Err and [context.Cause] as the error of a job.
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
