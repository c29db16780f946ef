package lanczos

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// filter is the map p(B) that Lanczos runs on. B = ±A, whose upper end is wanted, and p(B) is B or a Chebyshev polynomial
//
//	T_d((B − centre)/half),
//
// which stays within [−1, 1] on the unwanted part centre ± half of the spectrum and grows monotonically beyond. The
// polynomial spreads the wanted eigenvalues, so that fewer vectors must be made orthogonal, which costs more than the
// sweeps of a sparse graph. The degree is odd, so that eigenvalues below the interval go to the other end.
type filter struct {
	sign, centre, half float64
	degree             int // 1: B itself
	clean              int // products between removals of the known vectors, which products enlarge; 0: no removals
}

// lambda returns the eigenvalue λ of B for which the map has the eigenvalue value = p(λ). If λ is in the unwanted interval,
// lambda returns the upper end of the interval.
func (f filter) lambda(value float64) float64 {
	if f.degree == 1 {
		return value
	}
	return f.centre + f.half*math.Cosh(math.Acosh(max(1, value))/float64(f.degree))
}

func (f filter) cut() float64 {
	if f.degree == 1 {
		return math.Inf(-1)
	}
	return f.centre + f.half
}

// value returns p(λ), the eigenvalue of the map for an eigenvalue λ of B. If λ is in the unwanted interval, value returns
// 1.
func (f filter) value(lambda float64) float64 {
	if f.degree == 1 {
		return lambda
	}
	return math.Cosh(float64(f.degree) * math.Acosh(max(1,
		(lambda-f.centre)/f.half)))
}

// slope returns a lower bound of (p(λ) − p(μ))/(λ − μ) over all unwanted μ, where value = p(λ). A pair with the residual r
// for the map has a residual of at most about r/slope for B.
func (f filter) slope(value float64) float64 {
	if f.degree == 1 {
		return 1
	}
	return max(0, value-1) / (f.lambda(value) - f.centre + f.half)
}

// steepest returns an upper bound of (p(λ) − p(μ))/(λ − μ) over all μ ≤ λ, where value = p(λ). A pair with the residual r
// for the map has a residual of at least r/steepest for B.
func (f filter) steepest(value float64) float64 {
	if f.degree == 1 || value <= 1 {
		return float64(f.degree*f.degree) / f.half
	}
	x := math.Acosh(value) / float64(f.degree)
	d := float64(f.degree)
	return d * math.Sinh(d*x) / (f.half * math.Sinh(x))
}

// apply returns the product of the map with x. It uses x and y as memory and returns one of them. remove must subtract the
// known vectors from a block. Cost: degree sweeps.
func (f *filter) apply(ctx context.Context, a sparse.Applier[float64],
	x, y *sparse.Block[float64],
	remove func(*sparse.Block[float64])) (*sparse.Block[float64], error) {
	if f.degree == 1 {
		return y, a.StepTo(ctx, y, x, sparse.Step[float64]{Alpha: f.sign})
	}
	alpha := f.sign / f.half
	beta := -f.centre / f.half
	if err := a.StepTo(ctx, y, x, sparse.Step[float64]{Alpha: alpha, Beta: beta}); err != nil {
		return nil, err
	}
	for i := range f.degree - 1 {
		err := a.StepTo(ctx, x, y,
			sparse.Step[float64]{Alpha: 2 * alpha, Beta: 2 * beta,
				Delta: -1, Prev: x})
		if err != nil {
			return nil, err
		}
		x, y = y, x
		if f.clean > 0 && (i+1)%f.clean == 0 {
			remove(x)
			remove(y)
		}
	}
	return y, nil
}

// balancedMap is the map R²·M = R·A·R⁻¹ for a map A = R·M·R with R = diag(factor). Its products need no scaled copy of the
// block, which takes a quarter of a product with few entries in a row.
type balancedMap struct {
	sparse.Applier[float64]
	factor, inverse []float64
}

// balance returns a as a balancedMap. It returns nil if a is not R·M·R, if other processes have rows of a, or if factor is 0
// in a row that is not excluded.
func balance(a sparse.Applier[float64], excluded []uint32) *balancedMap {
	o, ok := a.(*sparse.Operator[float64])
	if !ok || o.Team() != nil || o.U != nil || o.Right == nil || !slices.Equal(o.Left, o.Right) {
		return nil
	}
	square := make([]float64, len(o.Right))
	for i, f := range o.Right {
		square[i] = f * f
	}
	factor := slices.Clone(o.Right)
	for _, i := range excluded {
		factor[i] = 1
	}
	if !(slices.Min(factor) > 0) {
		return nil
	}
	return &balancedMap{
		Applier: &sparse.Operator[float64]{A: o.A, Scale: o.Scale, Left: square, Diag: o.Diag,
			Workers: o.Workers},
		factor:  factor,
		inverse: blocks.Inverses(factor),
	}
}

// quantile is a value and the estimated number of eigenvalues beyond it.
type quantile struct{ value, rank float64 }

// spectrum holds quantiles by decreasing value and increasing rank.
type spectrum []quantile

// beyond estimates the value that exactly number eigenvalues exceed.
func (s spectrum) beyond(number int) float64 {
	count := float64(number)
	i := sort.Search(len(s), func(i int) bool { return s[i].rank >= count })
	if i == 0 || i == len(s) {
		return s[min(i, len(s)-1)].value
	}
	a, b := s[i-1], s[i]
	return b.value + (a.value-b.value)*(b.rank-count)/(b.rank-a.rank)
}

const (
	// leastGrowth and mostGrowth bound g, if the filter maps the last wanted eigenvalue to cosh g. With a degree below
	// leastDegree restarts lose too much information.
	leastGrowth, mostGrowth = 1.5, 4.0
	leastDegree             = 5

	// blockGrowth is measured: the number of blocks of a search is proportional to 1 + blockGrowth/g. Orthogonalising a block
	// costs as much as a product with blockEntries entries in each row, and a row as much as rowEntries entries. All three
	// were measured on random graphs.
	blockGrowth, blockEntries, rowEntries = 4.3, 145, 8

	// reach is the number of basis vectors in addition to the eigenvalues above the unwanted interval.
	reach = 4

	// mostAhead is the largest number of eigenvalues above the unwanted interval, in multiples of the wanted number.
	mostAhead = 16
)

type plan struct {
	filter
	products float64 // predicted products of B until convergence
}

type filterChoice struct {
	sign        float64
	spectrum    spectrum
	lowest      float64 // lower end of the spectrum
	first, last float64 // eigenvalues of B: the largest, and the last wanted
	largest     float64 // largest eigenvalue that rounding reintroduces
	norm        float64
	tolerance   float64
	entries     float64 // mean number of entries of a row
	growth      float64 // least growth of the last wanted eigenvalue
}

func (p *filterChoice) block() float64 {
	return blockEntries / (p.entries + rowEntries)
}

// plan returns the filter with the fewest predicted products. It compares unwanted intervals below the eigenvalues of rank
// first, first + step, … up to limit. A filter grows faster if its interval ends near a gap, but the basis must hold all
// eigenvalues above the interval.
func (p *filterChoice) plan(first, limit, step int) plan {
	best := plan{filter: filter{sign: p.sign, degree: 1}, products: math.Inf(1)}
	for degree := first; degree <= limit; degree += step {
		cut := p.spectrum.beyond(degree)
		half := (cut - p.lowest) / 2
		centre := (cut + p.lowest) / 2
		rate := math.Acosh((p.last - centre) / half)
		products := (reach + float64(degree)) / rate
		if !(half > 0) || !(products < best.products) {
			continue
		}
		best.products = products
		best.half = half
		best.centre = centre
		best.degree = 1
		// Rounding of the largest value must not hide the last residual.
		small := 2e-3 * p.tolerance
		share := max(1, p.norm/(p.last-p.lowest))
		ahead := func(value float64) float64 { return max(0, math.Acosh((value-centre)/half)-rate) }
		allowed := math.Log(small*share/epsilon) / ahead(p.first)
		if limit := min(mostGrowth/rate, allowed); limit >= leastDegree {
			degree := max(leastDegree, p.growth/rate,
				math.Sqrt(blockGrowth*p.block()/rate))
			best.degree = int(min(degree, limit-1))/2*2 + 1
			// Between removals, known vectors grow from rounding errors to at most ε^¼ of the
			// block.
			if steps := 0.75 * math.Log(1/epsilon) / ahead(p.largest); steps < float64(best.degree) {
				best.clean = max(1, int(steps))
			}
		}
	}
	return best
}
