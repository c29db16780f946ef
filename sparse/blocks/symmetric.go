package blocks

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/sparse"
)

// ErrAsymmetric is returned for a matrix that must be symmetric and is not.
var ErrAsymmetric = errors.New("the graph is directed, or its matrix is not symmetric; give edges without a direction")

// asymmetry is the largest accepted asymmetry of a map, relative to the size of its products. It allows for maps that
// solve equations to a tolerance.
const asymmetry = 1e-7

// CheckSymmetric returns [ErrAsymmetric] if |xᵀ(Ay) − yᵀ(Ax)| > rounding for two random vectors x and y. If rounding is
// 0, the limit is 1e-7 of the typical size of such a product. Cost: a sweep of two columns.
func CheckSymmetric(ctx context.Context, a sparse.Applier[float64], rounding float64) error {
	n, _ := a.Dims()
	team := sparse.TeamOf(a)
	x, y := sparse.NewBlock[float64](n, 2), sparse.NewBlock[float64](n, 2)
	source := rand.NewPCG(1, 1)
	rng := rand.New(source)
	for i := range n {
		source.Seed(1, uint64(team.Row(i))) // all processes need the same values in a named row
		x.Row(i)[0], x.Row(i)[1] = rng.Float64(), rng.Float64()
	}
	if err := a.StepTo(ctx, y, x, sparse.Step[float64]{Alpha: 1}); err != nil {
		return err
	}
	if rounding == 0 {
		sizes, images := Norms(team, x), Norms(team, y)
		rounding = asymmetry * (sizes[0]*images[1] + sizes[1]*images[0]) / math.Sqrt(float64(team.TotalOf(n)))
	}
	product := func(i, j int) float64 { return Dots(team, x.Columns(i, i+1), y.Columns(j, j+1))[0] }
	if math.Abs(product(0, 1)-product(1, 0)) > rounding {
		return ErrAsymmetric
	}
	return nil
}
