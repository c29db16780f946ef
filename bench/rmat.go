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

// OverNodes times the product on R-MAT graphs of the scales least to most, which it makes
// as stores in dir, one beside the other.
func OverNodes(ctx context.Context, dir string, least, most int, s *Settings) (*Scaling, error) {
	v := &Scaling{Over: "nodes"}
	for scale := least; scale <= most; scale++ {
		store, err := rmat(ctx, filepath.Join(dir, fmt.Sprintf("rmat%d", scale)), scale, s.Workers)
		if err != nil {
			return nil, err
		}
		a, err := sparse.Load(ctx, store, s.Workers)
		if err == nil {
			err = v.Add(ctx, 1<<scale, &Target{a, store.Degrees(), store.Nodes().Order()}, s)
		}
		if err = errors.Join(err, store.Close()); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// OverNodesMemory lists what the largest graph of [OverNodes] takes, while it is made or
// while it is measured.
func OverNodesMemory(most int, s *Settings) []spec.Bytes {
	nodes := int64(1) << most
	edges := 16 * nodes
	made, err := ingest.Estimate(context.Background(), []string{"-"}, &ingest.Config{Counts: &ingest.Counts{Nodes: nodes, Lines: edges}})
	if err != nil {
		panic(err) // the settings are the defaults, without a limit
	}
	return measured(max(spec.Sum(made.Memory), 4*2*edges+3*8*nodes+WorkloadOf("spmm").bytes(int(nodes), s)))
}

// rmat ingests a generated graph without writing its text.
func rmat(ctx context.Context, dir string, scale, workers int) (*shard.Store, error) {
	g, err := generate.New("rmat", spec.Values{"scale": spec.Int(scale)}, 1, workers)
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
