package generate

import (
	"context"
	"errors"
	"io"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Stream returns a reader of the edges of g. A goroutine generates the edges while they are read. The reader
// returns an error of the generator. The caller must call stop at the end. stop ends the goroutine, waits for
// it, and passes on its panic.
func Stream(ctx context.Context, g Graph) (edges io.Reader, stop func()) {
	read, write := io.Pipe()
	var group sched.Group
	group.Go(func() {
		err := errStopped                                // error after a panic
		defer func() { _ = write.CloseWithError(err) }() // never fails
		err = g.EdgesTo(ctx, write)
	})
	return read, func() {
		_ = read.Close() // never fails
		group.Wait()
	}
}

// errStopped is the error of the reader if the generator panics.
var errStopped = errors.New("generate: stopped")
