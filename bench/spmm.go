package bench

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Sweeps is the report of a workload that sweeps a matrix.
type Sweeps struct {
	Timing
	Columns          int     `json:"columns"`
	DType            string  `json:"dtype"`
	Entries          int64   `json:"entries"`
	Sweeps           int     `json:"sweeps"`
	NsPerEntryColumn float64 `json:"ns_per_entry_column"`
	BytesPerSecond   float64 `json:"bytes_per_second"` // rows gathered, with padding
	Checksum         float64 `json:"checksum"`

	// GatherShare is what [GatherShare] returned for the fastest repetition.
	GatherShare float64 `json:"gather_share,omitempty"`
}

// SpMM times Y = D⁻¹A·X with X_ij = ((i·k + j) mod 17) + 1 on a block of k
// columns. The checksum is Σ Y. order gives the row of the order of the ids for
// each row of a, nil if they are the same.
func SpMM[T sparse.Float](ctx context.Context, a sparse.Matrix, degrees []float64, order []uint32, k, workers, repeat int) (Sweeps, error) {
	n, _ := a.Dims()
	x, y := sparse.NewBlock[T](n, k), sparse.NewBlock[T](n, k)
	for r := range n {
		i := position(order, r)
		for j := range x.Row(r) {
			x.Row(r)[j] = T((i*k+j)%17 + 1)
		}
	}
	op := &sparse.Operator[T]{A: a, Left: inverse(degrees), Workers: workers}
	timing, err := measure(repeat, func() error { return op.ApplyTo(ctx, y, x) })
	if err != nil {
		return Sweeps{}, err
	}
	s := sweeps[T](timing, a, k, y.Stride, 1)
	s.Checksum = sum(y, nil, func(int, int) float64 { return 1 })
	return s, nil
}

// SpMMBytes returns the memory that [SpMM] takes beside its matrix.
func SpMMBytes[T sparse.Float](rows, cols int) int64 {
	return 2*sparse.BlockBytes[T](rows, cols) + 8*int64(rows)
}

const walkSteps, walkClasses = 10, 5

// WalkBytes returns the memory that [Walk] takes beside its matrix.
func WalkBytes[T sparse.Float](rows int) int64 {
	return sparse.BlockBytes[T]((walkSteps+1)*rows, walkClasses) + 9*int64(rows) // degrees and seeds
}

// Walk times ten steps of the partially absorbing walk with five classes and
// α = ½, every P_t kept: rows divisible by 20 are labelled, row i with class
// (i/20) mod 5. The checksum is Σ_ic P_10[i,c]·((31·i + 17·c) mod 101). Rows
// are counted in the order of the ids, see [SpMM].
func Walk[T sparse.Float](ctx context.Context, a sparse.Matrix, degrees []float64, order []uint32, workers, repeat int) (Sweeps, error) {
	const steps, classes, absorb, stride = walkSteps, walkClasses, 0.5, 20
	n, _ := a.Dims()
	all := sparse.NewBlock[T]((steps+1)*n, classes) // one, so that huge pages are not cut where a P_t ends
	var p [steps + 1]*sparse.Block[T]
	for t := range p {
		p[t] = &sparse.Block[T]{Rows: n, Cols: classes, Stride: all.Stride, Data: all.Data[t*n*all.Stride : (t+1)*n*all.Stride]}
	}
	left := inverse(degrees)
	seeds := make([]seed, 0, n/stride+1)
	for r := range n {
		i := position(order, r)
		row := p[0].Row(r)
		if i%stride != 0 {
			for c := range row {
				row[c] = 1. / classes
			}
			continue
		}
		class := i / stride % classes
		row[class] = 1
		left[r] *= 1 - absorb
		seeds = append(seeds, seed{r, class})
	}
	op := &sparse.Operator[T]{A: a, Left: left, Workers: workers}
	timing, err := measure(repeat, func() error {
		for t := range steps {
			y := p[t+1]
			err := op.StepTo(ctx, y, p[t], sparse.Step[T]{Alpha: 1, Visit: func(r sparse.Rows) {
				first, _ := slices.BinarySearchFunc(seeds, r.Lo, func(s seed, row int) int { return s.row - row })
				for _, s := range seeds[first:] {
					if s.row >= r.Hi {
						break
					}
					y.Data[s.row*y.Stride+s.class] += absorb
				}
			}})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Sweeps{}, err
	}
	s := sweeps[T](timing, a, classes, p[0].Stride, steps)
	s.Checksum = sum(p[steps], order, func(i, c int) float64 { return float64((31*i + 17*c) % 101) })
	return s, nil
}

// seed is a labelled row.
type seed struct{ row, class int }

// position returns the place of row r in the order of the ids.
func position(order []uint32, r int) int {
	if order == nil {
		return r
	}
	return int(order[r])
}

// Decode times a sweep that reads and decodes every range and adds nothing.
// The checksum is the sum of all column ids.
func Decode(ctx context.Context, a sparse.Matrix, workers, repeat int) (Sweeps, error) {
	ranges := a.Ranges()
	sums := make([]float64, len(ranges))
	pass := func(visit func(p sparse.Panel)) error {
		return a.Sweep(ctx, workers, func(_ int, p sparse.Panel) error {
			visit(p)
			return nil
		})
	}
	timing, err := measure(repeat, func() error { return pass(func(sparse.Panel) {}) })
	if err != nil {
		return Sweeps{}, err
	}
	err = pass(func(p sparse.Panel) {
		for _, c := range p.Col {
			sums[p.Index] += float64(c)
		}
	})
	s := sweeps[float32](timing, a, 1, 1, 1)
	s.DType, s.BytesPerSecond = "uint32", float64(4*a.NNZ())/timing.SecondsMin
	for _, v := range sums {
		s.Checksum += v
	}
	return s, err
}

func sweeps[T sparse.Float](timing Timing, a sparse.Matrix, k, stride, passes int) Sweeps {
	dtype, size := "float32", 4
	if _, double := any(T(0)).(float64); double {
		dtype, size = "float64", 8
	}
	work := float64(a.NNZ()) * float64(passes)
	return Sweeps{
		Timing:           timing,
		Columns:          k,
		DType:            dtype,
		Entries:          a.NNZ(),
		Sweeps:           passes,
		NsPerEntryColumn: timing.SecondsMin / (work * float64(k)) * 1e9,
		BytesPerSecond:   work * float64(stride*size) / timing.SecondsMin,
	}
}

// GatherShare returns the time of gathering the rows of a block of k columns in
// the order of a's own ids, writing nothing, over the given seconds of a sweep:
// no sweep with these rows can beat it, but one over reordered columns. Memory: 4 bytes
// an entry and a block.
func GatherShare[T sparse.Float](ctx context.Context, a sparse.Matrix, k, workers, repeat int, seconds float64) (float64, error) {
	ranges := a.Ranges()
	start := make([]int64, len(ranges)+1)
	for i, r := range ranges {
		start[i+1] = start[i] + int64(r.Entries)
	}
	ids := make([]uint32, a.NNZ(), a.NNZ()+256)
	err := a.Sweep(ctx, workers, func(_ int, p sparse.Panel) error {
		copy(ids[start[p.Index]:], p.Col)
		return nil
	})
	if err != nil {
		return 0, err
	}
	_, cols := a.Dims()
	timing, _, err := gather[T](ctx, ids, cols, k, workers, repeat)
	return timing.SecondsMin / seconds, err
}

func inverse(degrees []float64) []float64 {
	inv := make([]float64, len(degrees))
	for i, d := range degrees {
		if d > 0 {
			inv[i] = 1 / d
		}
	}
	return inv
}

// sum adds weight(i, j)·b_rj, i the place of row r in the order of the ids, in
// fixed chunks of rows.
func sum[T sparse.Float](b *sparse.Block[T], order []uint32, weight func(i, j int) float64) float64 {
	const chunk = 4096
	partial := make([]float64, (b.Rows+chunk-1)/chunk)
	_ = sched.Run(context.Background(), 0, len(partial), func(_, c int) error {
		for r := c * chunk; r < min(b.Rows, (c+1)*chunk); r++ {
			i := position(order, r)
			for j, v := range b.Row(r) {
				partial[c] += weight(i, j) * float64(v)
			}
		}
		return nil
	})
	var total float64
	for _, v := range partial {
		total += v
	}
	return total
}
