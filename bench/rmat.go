package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/ingest/generate"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// AddRMAT times the product on R-MAT graphs of the scales least to most, which it makes
// as stores in dir. check is called first with the memory of the largest, while it is ingested or
// while it is measured; its error ends the run.
func (s *Scaling) AddRMAT(ctx context.Context, dir string, lowest, highest int, settings *Settings, check func(bytes int64) error) error {
	g, err := rmatOf(highest, settings.Workers)
	if err != nil {
		return err
	}
	largest := g.Size()
	input := (&ingest.Counts{Nodes: largest.Nodes, Lines: largest.Lines}).Bytes(nil)
	const node = 8 + 8 // bytes of its degree, and of its id and its place in their order
	swept := sparse.LoadBytes(largest.Nodes, 2*largest.Lines, false) + node*largest.Nodes + settings.productBytes(int(largest.Nodes))
	if err := check(max(input, swept)); err != nil {
		return err
	}
	for scale := lowest; scale <= highest; scale++ {
		store, err := rmat(ctx, filepath.Join(dir, fmt.Sprintf("rmat%d", scale)), scale, settings.Workers)
		if err != nil {
			return err
		}
		a, err := sparse.Load(ctx, store, settings.Workers)
		if err == nil {
			err = s.add(ctx, 1<<scale, &Target{A: a, Degrees: store.Degrees, Order: store.Nodes.Order}, settings)
		}
		if err = errors.Join(err, store.Close()); err != nil {
			return err
		}
	}
	return nil
}

// rmatOf returns the graph of a scale.
func rmatOf(scale, workers int) (generate.Graph, error) {
	return generate.New("rmat", param.Values{"scale": param.Of(scale)}, 1, workers)
}

// rmat ingests a generated graph without writing its text.
func rmat(ctx context.Context, dir string, scale, workers int) (*shard.Store, error) {
	g, err := rmatOf(scale, workers)
	if err != nil {
		return nil, err
	}
	edges, stop := generate.Stream(ctx, g)
	_, err = ingest.Run(ctx, dir, []string{"-"}, &ingest.Config{Stdin: edges, Workers: workers})
	stop()
	if err != nil {
		return nil, err
	}
	return shard.Open(ctx, dir, &shard.Options{Workers: workers, Stream: true}) // because sweeps are over a copy
}
