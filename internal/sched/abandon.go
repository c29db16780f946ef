package sched

import "context"

// Abandon calls f, which nothing can stop, such as a dense factorisation, and
// returns nil when it has ended. When ctx is done before, it returns the
// context's error at once and f goes on by itself: f must use nothing that the
// caller still uses then. A panic in f reaches the caller who waits for it.
func Abandon(ctx context.Context, f func()) error {
	if err := ctx.Err(); err != nil {
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
		return ctx.Err()
	}
}
