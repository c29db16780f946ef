package graphs

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
)

// A text ends being written where the run is interrupted.
func TestInterruptedText(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	run := shell.NewSession(ctx, nil, nil, nil, io.Discard, io.Discard)
	lines := 0
	_, err := writeFile(run, io.Discard, "x.tsv", func(w io.Writer) error {
		for ; lines < 10; lines++ {
			if lines == 3 {
				cancel(shell.ErrInterrupted)
			}
			if _, err := io.WriteString(w, "a line\n"); err != nil {
				return err
			}
		}
		return nil
	})
	if !errors.Is(err, shell.ErrInterrupted) || lines != 3 {
		t.Errorf("%d lines, error %v; want 3 and %v", lines, err, shell.ErrInterrupted)
	}
}
