package bench

import (
	"context"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
)

// Settings states how much a workload does.
type Settings struct {
	Columns int  // columns of the block; walk has five
	Double  bool // float64 instead of float32
	Repeat  int  // measured repetitions; one more runs before them to warm caches
	Workers int  // 0: one for each processor
}

// Target is a graph on which workloads are measured.
type Target struct {
	A       sparse.Matrix
	Degrees []float64
	Order   []uint32 // place of each row of A in the order of the ids; nil: the same
}

// Report holds the cost and the results of a workload.
type Report struct {
	Repeat int `json:"repeat"`
	Times

	BytesPerSecond   float64  `json:"bytes_per_second,omitempty"` // rate of gathered rows, with padding
	DType            string   `json:"dtype,omitempty"`
	Entries          int64    `json:"entries,omitempty"`
	NsPerEntryColumn float64  `json:"ns_per_entry_column,omitempty"`
	Columns          int      `json:"columns,omitempty"`
	Sweeps           int      `json:"sweeps,omitempty"` // sweeps with all columns
	Checksum         *float64 `json:"checksum,omitempty"`
}

// Times holds the times of the repetitions, in their order.
type Times struct {
	SecondsMin             float64   `json:"seconds_min"`
	SecondsMedian          float64   `json:"seconds_median"`
	SecondsEach            []float64 `json:"seconds_each"`
	ProcessorSecondsMin    float64   `json:"processor_seconds_min"`
	ProcessorSecondsMedian float64   `json:"processor_seconds_median"`
	ProcessorSecondsEach   []float64 `json:"processor_seconds_each"`
}

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

// Workload is a named measurement.
type Workload struct {
	Name    string
	IsCoded bool // it reads the ids of a store's code, which a copy in memory does not have
	Run     Measurement
}

// Measurement measures a workload on a graph.
type Measurement = func(ctx context.Context, t *Target, s *Settings) (*Report, error)

// Workloads lists the workloads made of sweeps.
var Workloads = []Workload{{"decode", true, decode}, {"spmm", false, spmm}, {"walk", false, walk}}

// Bytes estimates the memory of Run on a graph with the given number of rows, without the graph.
func (w *Workload) Bytes(rows int, s *Settings) int64 {
	if w.Name == "walk" {
		return s.blockBytes((walkSteps+2)*rows, walkClasses)
	}
	return s.blockBytes(rows, 2*s.Columns+2)
}

// RowBytes returns the size in bytes of a row that sweeps of the workload gather. It determines the layout of a copy.
func (w *Workload) RowBytes(s *Settings) int {
	if w.Name == "walk" {
		return int(s.blockBytes(1, walkClasses))
	}
	return int(s.blockBytes(1, s.Columns))
}

func (s *Settings) blockBytes(rows, columns int) int64 {
	if s.Double {
		return budget.Block[float64](rows, columns)
	}
	return budget.Block[float32](rows, columns)
}

// measure runs work once to warm caches, and then measures the repetitions. work must multiply the graph passes times
// with all columns of a block.
func (s *Settings) measure(a sparse.Matrix, columns, passes int, work func() error) (*Report, error) {
	v := &Report{Repeat: max(1, s.Repeat), Columns: columns, DType: "float32", Entries: a.NNZ(), Sweeps: passes}
	if s.Double {
		v.DType = "float64"
	}
	if err := work(); err != nil {
		return nil, err
	}
	for range v.Repeat {
		before := processorSeconds()
		start := time.Now()
		if err := work(); err != nil {
			return nil, err
		}
		v.add(time.Since(start).Seconds(), processorSeconds()-before)
	}
	entries := float64(v.Entries) * float64(passes)
	v.NsPerEntryColumn = v.SecondsMin / (entries * float64(columns)) * 1e9
	v.BytesPerSecond = entries * float64(s.blockBytes(1, columns)) / v.SecondsMin
	return v, nil
}
