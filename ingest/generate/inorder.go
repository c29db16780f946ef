package generate

import (
	"context"
	"io"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// inOrder writes the blocks 0 ≤ k < blocks to w in order. The workers call block, which appends block k to
// text. A panic in block reaches the caller, see [sched.Run].
func inOrder(ctx context.Context, w io.Writer, workers, blocks int,
	block func(text []byte, k int) []byte) error {
	texts := make([][]byte, min(workers, blocks))
	for done := 0; done < blocks; done += len(texts) {
		texts = texts[:min(len(texts), blocks-done)]
		err := sched.Run(ctx, workers, len(texts), func(_, i int) error {
			texts[i] = block(texts[i][:0], done+i)
			return nil
		})
		if err != nil {
			return err
		}
		for _, text := range texts {
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}
