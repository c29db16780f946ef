package sparse_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Only one process has values.
func TestSumOnSeveralProcesses(t *testing.T) {
	const n = 300
	for _, weighted := range []bool{false, true} {
		r := rand.New(rand.NewPCG(3, 4))
		seen := map[[2]int]bool{}
		var entries []sparse.Triplet
		for range 4 * n {
			i, j := r.IntN(n-40), r.IntN(n-40) // the last nodes are isolated
			if r.IntN(30) == 0 {
				j = i
			}
			if seen[[2]int{i, j}] {
				continue
			}
			seen[[2]int{i, j}] = true
			e := sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: 1}
			if weighted && i < 60 {
				e.Val = 0.5 + r.Float64()
			}
			entries = append(entries, e)
		}
		a, err := sparse.FromTriplets(n, n, entries)
		if err != nil {
			t.Fatal(err)
		}
		in := a.Transpose()
		want, err := sparse.Sum(t.Context(), a, in, 2)
		if err != nil {
			t.Fatal(err)
		}
		degrees, err := sparse.Degrees(t.Context(), want, 2)
		if err != nil {
			t.Fatal(err)
		}
		x, y := sparse.NewBlock[float64](n, 3), sparse.NewBlock[float64](n, 3)
		for i := range x.Data {
			x.Data[i] = r.NormFloat64()
		}
		if err := (&sparse.Operator[float64]{A: want}).ApplyTo(t.Context(), y, x); err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{2, 3} {
			bounds := []int{0}
			for k := range 2 * size {
				bounds = append(bounds, n*(k+1)/(2*size))
			}
			err := testgraph.Processes(size, func(network sparse.Network) error {
				d := sparse.NewDivision(n, network, bounds, []int{5, 70, 299})
				var parts [2]*sparse.Divided
				for i, m := range []sparse.Matrix{a, in} {
					part, err := sparse.Divide(t.Context(), m, d, 0, 1)
					if err != nil {
						return err
					}
					defer part.Close()
					parts[i] = part
				}
				if err := parts[1].Tile(t.Context(), 50); err != nil {
					return err
				}
				sum, err := sparse.Sum(t.Context(), parts[0], parts[1], 1+network.Rank())
				if err != nil {
					return err
				}
				defer sum.(*sparse.Divided).Close()
				if got := sparse.EntriesOf(sum); got != want.NNZ() || sparse.EntriesOf(parts[0]) != a.NNZ() {
					return fmt.Errorf("%d entries, want %d; A has %d", got, want.NNZ(), sparse.EntriesOf(parts[0]))
				}
				if bytes, most := sum.(*sparse.Divided).Bytes(), sparse.SumBytes(parts[0], parts[1], weighted); bytes > most {
					return fmt.Errorf("%d bytes, estimated %d", bytes, most)
				}
				got, err := sparse.Degrees(t.Context(), sum, 2)
				if err != nil {
					return err
				}
				local, product := sparse.NewBlock[float64](len(d.Team.Rows), 3), sparse.NewBlock[float64](len(d.Team.Rows), 3)
				eachRow(d, func(i, row int) { copy(local.Row(i), x.Row(row)) })
				if err := (&sparse.Operator[float64]{A: sum}).ApplyTo(t.Context(), product, local); err != nil {
					return err
				}
				var wrong error
				eachRow(d, func(i, row int) {
					if got[i] != degrees[row] || !cmp.Equal(product.Row(i), y.Row(row)) {
						wrong = fmt.Errorf("row %d has the degree %v and the product %v, want %v and %v", row, got[i], product.Row(i), degrees[row], y.Row(row))
					}
				})
				return wrong
			})
			if err != nil {
				t.Errorf("weighted %t, %d processes: %v", weighted, size, err)
			}
		}
	}
}
