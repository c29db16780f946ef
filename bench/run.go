package bench

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// Settings say how much a workload does.
type Settings struct {
	Columns int  // of the block; walk has five
	Rows    int  // of the block of gather
	Double  bool // the block holds float64, not float32
	Repeat  int  // repetitions that count, after one that does not
	Workers int  // 0: one for each processor
}

// Target is a graph that is swept.
type Target struct {
	A       sparse.Matrix
	Degrees []float64
	Order   []uint32 // for each row of A its place in the order of the ids; nil: the same
}

// Report is what a workload took: Limit of stream and gather, Sweeps of the others. What
// every workload has stands here, since JSON takes the outermost of several fields of
// one name.
type Report struct {
	Timing
	BytesPerSecond float64 `json:"bytes_per_second"`
	*Limit
	*Sweeps
}

// Workload is something to measure.
type Workload struct {
	Name    string
	OnGraph bool // it sweeps a graph

	bytes func(rows int, s *Settings) int64
	limit func(ctx context.Context, s *Settings) (Limit, error)
	sweep func(ctx context.Context, t *Target, s *Settings) (Sweeps, error)
}

// Workloads lists them.
var Workloads = []*Workload{
	{Name: "stream", bytes: func(int, *Settings) int64 { return streamBytes }, limit: stream},
	{Name: "gather", bytes: func(_ int, s *Settings) int64 { return s.blockBytes(s.Rows, s.Columns) + 4*gatherEntries }, limit: gatherRandom},
	{Name: "decode", OnGraph: true, bytes: func(int, *Settings) int64 { return 0 }, sweep: decode},
	{Name: "spmm", OnGraph: true, bytes: func(rows int, s *Settings) int64 { return 2*s.blockBytes(rows, s.Columns) + 8*int64(rows) }, sweep: spmm},
	{Name: "walk", OnGraph: true, bytes: func(rows int, s *Settings) int64 {
		return s.blockBytes((walkSteps+1)*rows, walkClasses) + 9*int64(rows) // degrees and seeds
	}, sweep: walk},
}

// WorkloadOf returns the workload of a name, nil if there is none.
func WorkloadOf(name string) *Workload {
	i := slices.IndexFunc(Workloads, func(w *Workload) bool { return w.Name == name })
	if i < 0 {
		return nil
	}
	return Workloads[i]
}

// Memory lists what Run takes beside a graph of so many rows.
func (w *Workload) Memory(rows int, s *Settings) []spec.Bytes { return measured(w.bytes(rows, s)) }

// measured is the list of what is measured.
func measured(bytes int64) []spec.Bytes {
	return []spec.Bytes{{What: "what is measured", Bytes: bytes}}
}

// Run measures the workload, on t if it sweeps a graph.
func (w *Workload) Run(ctx context.Context, t *Target, s *Settings) (*Report, error) {
	if w.OnGraph {
		sweeps, err := w.sweep(ctx, t, s)
		return &Report{Timing: sweeps.Timing, BytesPerSecond: sweeps.BytesPerSecond, Sweeps: &sweeps}, err
	}
	limit, err := w.limit(ctx, s)
	return &Report{Timing: limit.Timing, BytesPerSecond: limit.BytesPerSecond, Limit: &limit}, err
}

// RowBytes returns what a row of the block takes.
func (s *Settings) RowBytes() int { return int(s.blockBytes(1, s.Columns)) }

// blockBytes returns what a block takes.
func (s *Settings) blockBytes(rows, columns int) int64 {
	if s.Double {
		return sparse.BlockBytes[float64](rows, columns)
	}
	return sparse.BlockBytes[float32](rows, columns)
}
