package sched

import "context"

// Abandon calls f, which cannot be interrupted, for example a dense factorisation in a library. If ctx ends first,
// Abandon returns the error of ctx at once, while f continues in its goroutine; f must not use data that the caller
// uses afterwards. A panic in f reaches the caller unless Abandon has returned.
func Abandon(ctx context.Context, f func()) error {
	if err := Cause(ctx); err != nil {
		return err
	}
	var group Group
	ended := make(chan struct{})
	group.Go(func() {
		defer close(ended)
		f()
	})
	select {
	case <-ended:
		group.Wait()
		return nil
	case <-ctx.Done():
		return Cause(ctx)
	}
}
