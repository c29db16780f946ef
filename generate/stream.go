package generate

import (
	"context"
	"errors"
	"io"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Stream returns the edges of g, made while they are read. Reading ends with
// the error of making them. stop, which is to be called in the end, ends the
// making and waits for it; it panics if that did.
func Stream(ctx context.Context, g Graph) (edges io.Reader, stop func()) {
	read, write := io.Pipe()
	var group sched.Group
	group.Go(func() {
		err := errStopped                                // by a panic
		defer func() { _ = write.CloseWithError(err) }() // never fails
		err = g.EdgesTo(ctx, write)
	})
	return read, func() {
		_ = read.Close() // never fails
		group.Wait()
	}
}

// errStopped ends readers when the making panics.
var errStopped = errors.New("generate: stopped")
