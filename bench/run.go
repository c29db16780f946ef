package bench

import (
	"context"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/lanczos/spectral"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Settings say how much a workload does.
type Settings struct {
	Columns int  // of the block, or eigenpairs; walk has five
	Double  bool // the block holds float64, not float32; Krylov methods always do
	Repeat  int  // repetitions that count, after one that does not
	Workers int  // 0: one for each processor

	// Krylov methods have the rest.
	Tolerance  float64
	Normalized bool             // L̃ in place of L
	Betas      []float64        // of exponential, rising; all are computed at once
	System     string           // M of solve, one of Systems
	Alpha      float64          // of System
	Problem    spectral.Problem // of eigen
	RNGSeed    uint64
	Limit      int64 // bytes of a factor; 0: no limit
}

// Target is a graph that is swept.
type Target struct {
	A       sparse.Matrix
	Degrees []float64
	Order   []uint32 // for each row of A its place in the order of the ids; nil: the same

	graph *graph.Graph // of A, for Krylov methods
}

// Report holds the cost and the results of a workload. Fields that a workload does not have
// are zero.
type Report struct {
	Repeat int `json:"repeat"`
	Times

	// Of sweeps.
	BytesPerSecond   float64 `json:"bytes_per_second,omitempty"` // rows gathered, with padding
	DType            string  `json:"dtype,omitempty"`
	Entries          int64   `json:"entries,omitempty"`
	NsPerEntryColumn float64 `json:"ns_per_entry_column,omitempty"`

	Columns  int      `json:"columns,omitempty"`
	Sweeps   int      `json:"sweeps,omitempty"` // with all columns; of eigen with four
	Checksum *float64 `json:"checksum,omitempty"`

	// Of Krylov methods. Bound is the relative error bound of exponential, and of solve
	// and eigen the largest true residual, relative to the right-hand side or the norm
	// of the matrix.
	Tolerance float64   `json:"tolerance,omitempty"`
	Method    string    `json:"method,omitempty"`
	Bound     *float64  `json:"bound,omitempty"`
	Error     float64   `json:"error,omitempty"`  // the bound itself, of exponential
	Values    []float64 `json:"values,omitempty"` // of eigen
}

// Times are those of repetitions, which Each has in their order.
type Times struct {
	SecondsMin             float64   `json:"seconds_min"`
	SecondsMedian          float64   `json:"seconds_median"`
	SecondsEach            []float64 `json:"seconds_each"`
	ProcessorSecondsMin    float64   `json:"processor_seconds_min"`
	ProcessorSecondsMedian float64   `json:"processor_seconds_median"`
	ProcessorSecondsEach   []float64 `json:"processor_seconds_each"`
}

// add adds a repetition.
func (t *Times) add(wall, processor float64) {
	t.SecondsEach = append(t.SecondsEach, wall)
	t.ProcessorSecondsEach = append(t.ProcessorSecondsEach, processor)
	t.SecondsMin, t.SecondsMedian = smallestAndMedian(t.SecondsEach)
	t.ProcessorSecondsMin, t.ProcessorSecondsMedian = smallestAndMedian(t.ProcessorSecondsEach)
}

func smallestAndMedian(list []float64) (smallest, median float64) {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[0], sorted[len(sorted)/2]
}

// Workload is something to measure on a graph.
type Workload struct {
	param.Spec

	Krylov bool // it runs a Krylov method
	Pairs  bool // it finds Settings.Columns eigenpairs, one for each node at the most
	Coded  bool // it reads the ids of a store's code, which a copy in memory does not have

	run func(ctx context.Context, t *Target, s *Settings) (*Report, error)
}

// onGraph are the inputs of a sweep.
const onGraph = param.Undirected | param.Directed

// Workloads are sweeps and Krylov methods.
var Workloads = param.List[*Workload]{
	{Spec: param.Spec{Name: "decode", Works: onGraph}, Coded: true, run: decode},
	{Spec: param.Spec{Name: "spmm", Works: onGraph}, run: spmm},
	{Spec: param.Spec{Name: "walk", Works: onGraph}, run: walk},
	{Spec: param.Spec{Name: "exponential", Works: param.Undirected}, Krylov: true,
		run: exponential},
	{Spec: param.Spec{Name: "solve", Works: param.Undirected}, Krylov: true,
		run: solve},
	{Spec: param.Spec{Name: "eigen", Works: param.Undirected}, Krylov: true,
		Pairs: true, run: eigen},
}

// Run measures the workload on t.
func (w *Workload) Run(ctx context.Context, t *Target,
	s *Settings) (_ *Report, err error) {
	if w.Krylov {
		if t.graph, err = graph.New(ctx, t.A, &graph.Settings{Workers: s.Workers}); err != nil {
			return nil, err
		}
	}
	return w.run(ctx, t, s)
}

// Bytes estimates the memory of Run on a graph with the given number of rows, without the graph and a factor.
func (w *Workload) Bytes(rows int, s *Settings) int64 {
	switch {
	case w.Pairs:
		return blocks.BlockBytes[float64](rows, 3*s.Columns+80) // the basis and the result
	case w.Krylov:
		return blocks.BlockBytes[float64](rows, (5+len(s.Betas))*s.Columns)
	case w.Name == "walk":
		return s.blockBytes((walkSteps+2)*rows, walkClasses)
	}
	return s.blockBytes(rows, 2*s.Columns+2)
}

// RowBytes returns the bytes of a row of the block that sweeps of the workload gather from, by
// which the layout of a copy is chosen.
func (w *Workload) RowBytes(s *Settings) int {
	switch {
	case w.Pairs:
		return lanczos.RowBytes
	case w.Krylov:
		return 8 * sparse.Stride[float64](s.Columns)
	case w.Name == "walk":
		return int(s.blockBytes(1, walkClasses))
	}
	return int(s.blockBytes(1, s.Columns))
}

// blockBytes returns the memory of a block.
func (s *Settings) blockBytes(rows, columns int) int64 {
	if s.Double {
		return blocks.BlockBytes[float64](rows, columns)
	}
	return blocks.BlockBytes[float32](rows, columns)
}

// measure runs work once to warm caches and buffers, then repeat times.
func measure(repeat int, work func() error) (*Report, error) {
	if err := work(); err != nil {
		return nil, err
	}
	v := &Report{Repeat: max(1, repeat)}
	for range v.Repeat {
		before := processorSeconds()
		start := time.Now()
		if err := work(); err != nil {
			return nil, err
		}
		v.add(time.Since(start).Seconds(), processorSeconds()-before)
	}
	return v, nil
}
