package source

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Citations returns the source of a graph on the nodes of a directed store. With cocitation, two nodes have
// an edge if other nodes point to both; the weight is the number of these nodes. With coupling, two nodes
// have an edge if both point to the same nodes; the weight is the number of these nodes. With both, the
// weights are added, which gives the co-citation graph of Zhang and Mao (2008). Self loops and weights of the
// store are ignored. Memory: the store, 16 bytes for each arc while the store is read, and rows of the
// products. Time: Σ_v d_v² over the nodes v with d_v arcs.
func Citations(store *shard.Store, cocitation, coupling bool,
	workers int) *ingest.Source {
	var sides []sparse.Matrix
	s := &ingest.Source{Name: "citations", Bytes: store.Held()}
	if cocitation {
		sides = append(sides, store.Transpose())
		s.Option = "cocitation"
	}
	if coupling {
		sides = append(sides, store)
		s.Option += " coupling"
	}
	nodes := store.Nodes
	s.Read = func(ctx context.Context, visit graphfile.Visitor, hold graphfile.Holder) ([]ingest.FileReport, error) {
		p := &pairs{ctx: ctx, send: visit, id: nodes.AppendID}
		if err := p.list(nodes.Rows()); err != nil {
			return nil, err
		}
		for _, a := range sides {
			x, err := pattern(ctx, a, hold)
			if err != nil {
				return nil, err
			}
			rows, cols := x.Dims()
			products := productBytes(rows, cols, x.NNZ(), maxCommonRows(x), workers)
			if err := hold(patternBytes(a) + products); err != nil {
				return nil, err
			}
			if err := eachProduct(ctx, x, workers, p.add); err != nil {
				return nil, err
			}
		}
		return nil, p.flush()
	}
	return s
}

// NeighbourSettings states which neighbours [Neighbours] joins. Neighbours or Least must be given.
type NeighbourSettings struct {
	Neighbours int     // the largest number of neighbours of a row; 0: no limit
	Least      float64 // the least cosine of neighbours, from 0 to 1
	Weight     float64 // weight of an edge with cosine 1
	Workers    int     // 0 means one for each processor
}

// Neighbours returns the source of the exact graph of nearest neighbours among the rows of x by cosine. Two
// rows have an edge if one of them is a neighbour of the other. The weight is s.Weight times the cosine. If
// cosines are equal, the lower row is nearer. Cosines of 0 and below give no edge. ids are the ids of the
// rows. Memory: x twice, and rows of x·xᵀ.
func Neighbours(x *sparse.CSR, ids []string, s *NeighbourSettings) *ingest.Source {
	rows, cols := x.Dims()
	const slice = 24 // bytes of a slice or a string, at the most
	text := int64(0)
	for _, id := range ids {
		text += int64(len(id))
	}
	n := int64(rows)
	entries := x.NNZ()
	common := maxCommonRows(x)
	edges := common
	if s.Neighbours > 0 {
		edges = min(edges, int64(s.Neighbours))
	}
	held := productBytes(rows, cols, entries, common, s.Workers) + (slice+8*edges)*n
	source := &ingest.Source{Name: "neighbours",
		Bytes: (4+8)*(entries+entries/4) + 8*(n+1) + slice*n + text}
	source.Read = func(ctx context.Context, visit graphfile.Visitor, hold graphfile.Holder) ([]ingest.FileReport, error) {
		if err := hold(held); err != nil {
			return nil, err
		}
		p := &pairs{ctx: ctx, send: visit,
			id: func(dst []byte, row int) []byte { return append(dst, ids[row]...) }}
		if err := p.list(slices.Values(sched.UpTo(len(ids)))); err != nil {
			return nil, err
		}
		last := make([][]uint32, len(ids))
		err := nearestRows(ctx, x, s, func(i int, j []uint32, v []float64) error {
			last[i] = slices.Clone(j)
			var (
				columns []uint32
				weights []float64
			)
			for k, neighbour := range j {
				// The earlier row may have added the edge.
				if int(neighbour) < i {
					if _, ok := slices.BinarySearch(last[neighbour], uint32(i)); ok {
						continue
					}
				}
				columns = append(columns, neighbour)
				weights = append(weights, s.Weight*v[k])
			}
			return p.add(i, columns, weights)
		})
		if err != nil {
			return nil, err
		}
		return nil, p.flush()
	}
	return source
}

func patternBytes(a sparse.Matrix) int64 {
	rows, _ := a.Dims()
	return 4*a.NNZ() + 8*int64(rows+1)
}

// pattern returns the positions of the entries of a outside the diagonal, each once. It calls hold with the
// bytes of the result.
func pattern(ctx context.Context, a sparse.Matrix,
	hold graphfile.Holder) (*sparse.CSR, error) {
	rows, cols := a.Dims()
	if err := hold(patternBytes(a)); err != nil {
		return nil, err
	}
	ptr := make([]int64, 1, rows+1)
	col := make([]uint32, 0, a.NNZ())
	err := sparse.EachRow(ctx, a, 1, func(_, i int, columns []uint32, _ []float64) error {
		for e, j := range columns {
			if int(j) != i && (e == 0 || columns[e-1] != j) { // a store with kinds has an entry for each kind
				col = append(col, j)
			}
		}
		ptr = append(ptr, int64(len(col)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return sparse.NewCSR(rows, cols, ptr, col, nil)
}

type pairs struct {
	ctx   context.Context
	send  graphfile.Visitor
	id    func(dst []byte, row int) []byte
	batch graphfile.Batch
}

// batchEnds is the number of ids in a batch before it is sent.
const batchEnds = 1 << 15

func (p *pairs) list(rows func(yield func(int) bool)) error {
	for row := range rows {
		p.end(row)
		if len(p.batch.End) >= batchEnds {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	err := p.flush()
	p.batch.Edges = true
	return err
}

// add adds edges between row i and the rows j with the weights v, or without weights if v is nil. It is a
// visitor of [eachProduct].
func (p *pairs) add(i int, j []uint32, v []float64) error {
	for k := range j {
		p.end(i)
		p.end(int(j[k]))
		if v != nil {
			p.batch.Weight = append(p.batch.Weight, v[k])
		}
		if len(p.batch.End) >= batchEnds {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// end adds an end of an edge by its id, because rows of x are not rows of the new store.
func (p *pairs) end(row int) {
	p.batch.Text = p.id(p.batch.Text, row)
	p.batch.End = append(p.batch.End, len(p.batch.Text))
}

// flush sends a batch that is not empty, and empties it.
func (p *pairs) flush() error {
	if p.ctx.Err() != nil {
		return sched.Cause(p.ctx)
	}
	if len(p.batch.End) == 0 {
		return nil
	}
	err := p.send(&p.batch)
	p.batch.Text, p.batch.End, p.batch.Weight = p.batch.Text[:0], p.batch.End[:0],
		p.batch.Weight[:0]
	return err
}
