package bench

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/heatwalk/heatwalk/generate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// OverNodes times [SpMM] on R-MAT graphs of the given scales, which it makes
// as stores in dir, one beside the other.
func OverNodes[T sparse.Float](ctx context.Context, dir string, scales []int, columns, workers, repeat int) (*Scaling, error) {
	s := &Scaling{Over: "nodes"}
	for _, scale := range scales {
		store, err := rmat(ctx, filepath.Join(dir, fmt.Sprintf("rmat%d", scale)), scale, workers)
		if err != nil {
			return nil, err
		}
		sweeps, err := loaded[T](ctx, store, columns, workers, repeat)
		if err != nil {
			return nil, err
		}
		s.Points = append(s.Points, Point{1 << scale, sweeps})
	}
	return s, nil
}

// rmat ingests a generated graph without writing its text.
func rmat(ctx context.Context, dir string, scale, workers int) (*shard.Store, error) {
	edges, stop := generate.Stream(ctx, generate.RMAT{Scale: scale, RNGSeed: 1, Workers: workers})
	_, err := ingest.Run(ctx, dir, []string{"-"}, &ingest.Config{Stdin: edges, Workers: workers})
	stop()
	if err != nil {
		return nil, err
	}
	return shard.Open(ctx, dir, &shard.Options{Workers: workers})
}

// loaded times a product on the store's matrix in memory.
func loaded[T sparse.Float](ctx context.Context, store *shard.Store, columns, workers, repeat int) (sweeps Sweeps, err error) {
	defer func() {
		if closed := store.Close(); err == nil {
			err = closed
		}
	}()
	a, err := sparse.Load(ctx, store, workers)
	if err != nil {
		return Sweeps{}, err
	}
	return SpMM[T](ctx, a, store.Degrees(), store.Nodes().Order(), columns, workers, repeat)
}
