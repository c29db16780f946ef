package blocks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestSumsOfSeveralProcesses(t *testing.T) {
	const n, k = 6000, 3
	rng := rand.New(rand.NewPCG(3, 4))
	x, y, weights := random(rng, n, k), random(rng, n, k), make([]float64, n)
	c := &sparse.Components{Of: make([]uint32, n), Sizes: make([]int, 40)}
	for i := range n {
		weights[i] = rng.Float64()
		c.Of[i] = uint32(min(i/200, 29+i%11)) // some lie in one process, some in several
		c.Sizes[c.Of[i]]++
	}
	results := func(team *sparse.Team, x, y *sparse.Block[float64], c *sparse.Components, weights []float64) (all []float64, centred, removed *sparse.Block[float64]) {
		product := sparse.NewBlock[float64](k, k)
		ProductTo(team, product, x, y)
		all = append(Norms(team, x), Dots(team, x, y)...)
		all = append(all, Total(team, weights), Dot(team, weights, weights))
		for i := range k {
			all = append(all, product.Row(i)...)
		}
		all = append(all, ByPart(team, c, weights)...)
		p := NewPieces(team, x.Rows, ChunkRows, 2)
		_ = p.Each(t.Context(), 1, func(_, chunk int, sums []float64) {
			for i := chunk * ChunkRows; i < min((chunk+1)*ChunkRows, x.Rows); i++ {
				sums[0] += x.Row(i)[0]
			}
		})
		total := make([]float64, 1)
		p.TotalTo(total, 1, 0)
		all = append(all, total[0])
		removed = sparse.NewBlock[float64](x.Rows, k)
		NewDisjoint(team, c, weights).RemoveTo(removed, x, 2)
		Centre(team, x, c, weights)
		return all, x, removed
	}
	clone := sparse.NewBlock[float64](n, k)
	Copy(clone, x)
	want, centred, removed := results(nil, clone, y, c, weights)
	a, err := sparse.FromTriplets(n, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = testgraph.Processes(3, func(network sparse.Network) error {
		d := sparse.NewDivision(n, network, []int{0, 1000, 4500, n}, []int{7, 1003, 4999})
		m, err := sparse.Divide(t.Context(), a, d, 0, 1)
		if err != nil {
			return err
		}
		rows := len(d.Team.Rows)
		px, py, pw := sparse.NewBlock[float64](rows, k), sparse.NewBlock[float64](rows, k), make([]float64, rows)
		pc := &sparse.Components{Of: make([]uint32, rows), Sizes: c.Sizes}
		each := func(visit func(local, row int)) {
			for local, row := range d.Team.Rows {
				if !d.Team.IsPadding(local) {
					visit(local, int(row))
				}
			}
		}
		each(func(local, row int) {
			copy(px.Row(local), x.Row(row))
			copy(py.Row(local), y.Row(row))
			pw[local], pc.Of[local] = weights[row], c.Of[row]
		})
		got, gotCentred, gotRemoved := results(sparse.TeamOf(m), px, py, pc, pw)
		for i, v := range want {
			if math.Abs(got[i]-v) > 1e-10 {
				return fmt.Errorf("process %d: result %d is %v, want %v", network.Rank(), i, got[i], v)
			}
		}
		wrong := 0
		each(func(local, row int) {
			for j := range k {
				if math.Abs(gotCentred.Row(local)[j]-centred.Row(row)[j])+math.Abs(gotRemoved.Row(local)[j]-removed.Row(row)[j]) > 1e-12 {
					wrong++
				}
			}
		})
		if wrong > 0 {
			return fmt.Errorf("process %d: %d wrong elements", network.Rank(), wrong)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
