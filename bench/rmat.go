package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/heatwalk/heatwalk/generate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/spec"
)

// AddRMAT times the product on R-MAT graphs of the scales least to most, which it makes
// as stores in dir, one beside the other. First room is asked for what the largest takes,
// while it is made or while it is measured.
func (s *Scaling) AddRMAT(ctx context.Context, dir string, least, most int, settings *Settings, room func([]spec.Bytes) error) error {
	nodes := 1 << most
	edges := 16 * int64(nodes)
	made, err := ingest.Estimate(ctx, []string{"-"}, &ingest.Config{Counts: &ingest.Counts{Nodes: int64(nodes), Lines: edges}})
	if err != nil {
		return err
	}
	swept := 4*2*edges + 3*8*int64(nodes) + spec.Sum(settings.productMemory(nodes))
	if err := room(measured(max(spec.Sum(made.Memory), swept), 0)); err != nil {
		return err
	}
	for scale := least; scale <= most; scale++ {
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

// rmat ingests a generated graph without writing its text.
func rmat(ctx context.Context, dir string, scale, workers int) (*shard.Store, error) {
	g, err := generate.New("rmat", spec.Values{"scale": spec.Of(scale)}, 1, workers)
	if err != nil {
		return nil, err
	}
	edges, stop := generate.Stream(ctx, g)
	_, err = ingest.Run(ctx, dir, []string{"-"}, &ingest.Config{Stdin: edges, Workers: workers})
	stop()
	if err != nil {
		return nil, err
	}
	return shard.Open(ctx, dir, &shard.Options{Workers: workers})
}
