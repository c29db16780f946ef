package generate

import (
	"context"
	"errors"
	"io"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Graph is a model that can write its edges.
type Graph interface {
	Validate() error
	Size() Size // of one that is valid
	EdgesTo(ctx context.Context, w io.Writer) error
}

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

// errStopped ends readers, and the other workers, when one worker panics.
var errStopped = errors.New("generate: stopped")
