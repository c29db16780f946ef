package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestStepOnSeveralProcesses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		r := rand.New(rand.NewPCG(seed, 1))
		n := rapid.IntRange(1, 200).Draw(t, "rows")
		size := rapid.IntRange(1, 4).Draw(t, "processes")
		cols := rapid.SampledFrom([]int{1, 2, 5, 9, 40}).Draw(t, "columns")
		a := randomMatrix(r, n, rapid.Bool().Draw(t, "weights"))
		bounds := []int{0, n}
		for range size*rapid.IntRange(1, 3).Draw(t, "ranges of a process") - 1 {
			bounds = append(bounds, r.IntN(n+1))
		}
		slices.Sort(bounds)
		var named []int
		share := rapid.SampledFrom([]float64{0, 0.2, 1}).Draw(t, "named")
		for i := range n {
			if r.Float64() < share {
				named = append(named, i)
			}
		}
		vector := func() []float64 {
			v := make([]float64, n)
			for i := range v {
				v[i] = r.NormFloat64()
			}
			return v
		}
		whole := &sparse.Operator[float64]{A: a, Scale: -0.5, Left: vector(), Right: vector(), Diag: vector(), Gamma: 0.25, U: vector(), V: vector()}
		plain, tiles := rapid.Bool().Draw(t, "plain"), rapid.Bool().Draw(t, "tiles")
		if plain {
			whole = &sparse.Operator[float64]{A: a}
		}
		x, prev, want := sparse.NewBlock[float64](n, cols), sparse.NewBlock[float64](n, cols), sparse.NewBlock[float64](n, cols)
		for i := range n {
			copy(x.Row(i), vector())
			copy(prev.Row(i), vector())
		}
		step := sparse.Step[float64]{Alpha: 0.75, Beta: -0.5, Delta: 2, Prev: prev}
		addOne := func(y *sparse.Block[float64]) func(rows sparse.Rows) {
			return func(rows sparse.Rows) {
				for i := rows.Lo; i < rows.Hi; i++ {
					for j := range y.Cols {
						y.Row(i)[j]++
					}
				}
			}
		}
		step.Visit = addOne(want)
		if err := whole.StepTo(t.Context(), want, x, step); err != nil {
			t.Fatal(err)
		}
		err := testgraph.Processes(size, func(network sparse.Network) error {
			d := sparse.NewDivision(n, network, bounds, named)
			m, err := sparse.Divide(t.Context(), a, d, 0, 2)
			if err != nil {
				return err
			}
			defer m.Close()
			if tiles {
				if err := m.Tile(t.Context(), 3); err != nil {
					return err
				}
			}
			part := func(v []float64) []float64 {
				if v == nil {
					return nil
				}
				p := make([]float64, len(d.Team.Rows))
				eachRow(d, func(local, row int) { p[local] = v[row] })
				return p
			}
			block := func(b *sparse.Block[float64]) *sparse.Block[float64] {
				p := sparse.NewBlock[float64](len(d.Team.Rows), cols)
				eachRow(d, func(local, row int) { copy(p.Row(local), b.Row(row)) })
				return p
			}
			op := &sparse.Operator[float64]{A: m, Scale: whole.Scale, Left: part(whole.Left), Right: part(whole.Right), Diag: part(whole.Diag), Gamma: whole.Gamma, U: part(whole.U), V: part(whole.V), Workers: 2}
			for range 2 { // the second time with the buffers of the first
				s := step
				s.Prev = block(prev)
				s.Visit = addOne(s.Prev)
				if err := op.StepTo(t.Context(), s.Prev, block(x), s); err != nil {
					return err
				}
				var wrong error
				eachRow(d, func(local, row int) {
					for j, v := range want.Row(row) {
						// Without the rank-one term, which is a sum over processes, bits are the same.
						if got := s.Prev.Row(local)[j]; plain && got != v || math.Abs(got-v) > 1e-12*(1+math.Abs(v))*float64(n) {
							wrong = fmt.Errorf("process %d, row %d: %g, want %g", network.Rank(), row, got, v)
						}
					}
				})
				if wrong != nil {
					return wrong
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// eachRow omits padding.
func eachRow(d *sparse.Division, visit func(local, row int)) {
	for local, row := range d.Team.Rows {
		if local < d.Team.Own || local >= d.Team.First {
			visit(local, int(row))
		}
	}
}

func randomMatrix(r *rand.Rand, n int, weighted bool) *sparse.CSR {
	var entries []sparse.Triplet
	seen := map[[2]int]bool{}
	for range r.IntN(6*n + 1) {
		i, j := r.IntN(n), r.IntN(n)
		if seen[[2]int{i, j}] {
			continue
		}
		seen[[2]int{i, j}] = true
		w := 1.0
		if weighted {
			w = r.Float64() + 0.5
		}
		entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w})
	}
	m, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		panic(err)
	}
	return m
}
