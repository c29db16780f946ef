package iterative

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/heatwalk/heatwalk/sparse"
)

// ErrParameter is returned for a parameter outside of its range.
var ErrParameter = errors.New("iterative: parameter out of range")

// The sums of weights at a node lie within these bounds, or are 0: squares and
// products of two of them, in norms and in bounds on eigenvalues, then neither
// overflow nor vanish.
const (
	leastDegree   = 1e-100
	largestDegree = 1e100
)

// ScaleError is returned for a graph whose weights are so large or so small
// that computing with them would overflow or vanish.
type ScaleError struct {
	Least, Largest float64 // of the degrees that are not 0
}

// Error implements error.
func (e *ScaleError) Error() string { return "iterative: edge weights: " + e.What() }

// What says what is wrong, and what to do.
func (e *ScaleError) What() string {
	return fmt.Sprintf("at a node they add up to between %.3g and %.3g; multiply all of them by a number that brings these sums between %g and %g",
		e.Least, e.Largest, leastDegree, largestDegree)
}

// checkScale returns a [ScaleError] unless all degrees can be computed with.
func checkScale(degrees []float64) error {
	e := &ScaleError{Least: math.Inf(1)}
	for _, d := range degrees {
		if d != 0 {
			e.Least, e.Largest = min(e.Least, d), max(e.Largest, d)
		}
	}
	if e.Largest == 0 || e.Least >= leastDegree && e.Largest <= largestDegree {
		return nil
	}
	return e
}

// Graph is what systems are made of: a symmetric matrix A with weights ≥ 0 and
// what follows from it.
type Graph struct {
	A          sparse.Matrix
	Degrees    []float64 // A·1, to half an ulp
	Loops      []float64 // the diagonal of A; nil if it is zero
	Components *sparse.Components
	Workers    int // goroutines of everything, 0: one for each processor; never changes a result

	// Memory is the largest number of bytes that searching for an eigenvalue of A, or
	// the factor of a [Harmonic], may take; 0 means no limit. It decides whether a
	// factor is made.
	Memory int64

	beside []float64 // sums of rows without the diagonal, where L is made of these, see edges

	once [2]sync.Once
	null [2]*NullSpace // of L and L̃

	finding sync.Mutex
	radius  [2]float64 // of A, exact and rough; 0: not found yet
}

// Radius returns the spectral radius of A, or with rough about that, as find
// tells it, which is called until it has succeeded once for each.
func (g *Graph) Radius(rough bool, find func() (float64, error)) (float64, error) {
	g.finding.Lock()
	defer g.finding.Unlock()
	known := &g.radius[0]
	if rough {
		known = &g.radius[1]
	}
	if *known > 0 {
		return *known, nil
	}
	radius, err := find()
	if err == nil {
		*known = radius
	}
	return radius, err
}

// NullSpace returns the null space of L, or of L̃ with normalized: the constants
// on each component, or d^½. It is made once.
func (g *Graph) NullSpace(normalized bool) *NullSpace {
	which, weights := 0, []float64(nil)
	if normalized {
		which = 1
	}
	g.once[which].Do(func() {
		if normalized {
			weights = g.roots()
		}
		g.null[which] = NewNullSpace(g.Components, weights)
	})
	return g.null[which]
}

// GraphSweeps is the number of sweeps that [NewGraph] makes.
const GraphSweeps = 2

// NewGraph returns a with what a [Graph] holds beside it. Cost: [GraphSweeps].
// The error wraps [ErrWeight], is a [*ScaleError] or that of a sweep.
func NewGraph(ctx context.Context, a sparse.Matrix, workers int) (*Graph, error) {
	return NewGraphOf(ctx, a, nil, workers)
}

// NewGraphOf is [NewGraph] for a matrix whose components are known, or nil.
func NewGraphOf(ctx context.Context, a sparse.Matrix, parts *sparse.Components, workers int) (*Graph, error) {
	g := &Graph{A: a, Components: parts, Workers: workers}
	if err := g.weigh(ctx); err != nil {
		return nil, err
	}
	if err := checkScale(g.Degrees); err != nil {
		return nil, err
	}
	if parts == nil {
		var err error
		if g.Components, err = sparse.FindComponents(ctx, a, workers); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// ShiftedLaplacian is the system a·L + c·I with a > 0 and c ≥ 0: the
// regularised Laplacian with c = 1; with c = 0 its solution is (a·L)⁺·B.
func (g *Graph) ShiftedLaplacian(a, c float64) (*System, error) {
	if err := checkShift(a, c); err != nil {
		return nil, err
	}
	s := &System{Graph: g, Edge: a, Least: c}
	if c == 0 {
		s.Null = g.NullSpace(false)
		return s, nil
	}
	s.easy = g.NullSpace(false)
	s.Ground = make([]float64, len(g.Degrees))
	for i := range s.Ground {
		s.Ground[i] = c
	}
	return s, nil
}

// ShiftedLaplacianNormalized is the system a·L̃ + c·I with a > 0 and c ≥ 0;
// with c = 0 its solution is (a·L̃)⁺·B.
func (g *Graph) ShiftedLaplacianNormalized(a, c float64) (*System, error) {
	if err := checkShift(a, c); err != nil {
		return nil, err
	}
	s := &System{Graph: g, Edge: a, Least: c, Scale: g.roots()}
	if c == 0 {
		s.Null = g.NullSpace(true)
		return s, nil
	}
	s.easy = g.NullSpace(true)
	s.Ground = g.groundOf(c)
	return s, nil
}

// VonNeumann is the system I − αS with 0 < α < 1. A row without entries is
// that of the identity.
func (g *Graph) VonNeumann(alpha float64) (*System, error) {
	if !(alpha > 0 && alpha < 1) {
		return nil, fmt.Errorf("%w: α = %g; I − αS is definite for 0 < α < 1", ErrParameter, alpha)
	}
	s := &System{Graph: g, Edge: alpha, Least: 1 - alpha, Scale: g.roots(), easy: g.NullSpace(true)}
	s.Ground = g.groundOf(1 - alpha)
	for i, d := range g.Degrees {
		if d == 0 {
			s.Ground[i] = 1
		}
	}
	return s, nil
}

// RegularizedCommuteTime is the system D − αA with 0 < α < 1; its solution is
// (D − αA)⁺·B, which is 0 in rows without entries.
func (g *Graph) RegularizedCommuteTime(alpha float64) (*System, error) {
	if !(alpha > 0 && alpha < 1) {
		return nil, fmt.Errorf("%w: α = %g; D − αA is definite for 0 < α < 1", ErrParameter, alpha)
	}
	n := len(g.Degrees)
	s := &System{Graph: g, Edge: alpha, Ground: make([]float64, n)}
	least, isolated := math.Inf(1), false
	self, unit := make([]uint32, n), make([]float64, n)
	for i, d := range g.Degrees {
		self[i] = uint32(i)
		s.Ground[i] = (1 - alpha) * d
		if d > 0 {
			least = min(least, d)
		} else {
			unit[i], isolated = 1, true
		}
	}
	if !math.IsInf(least, 1) {
		s.Least = (1 - alpha) * least
	}
	if isolated {
		s.Null = newNullSpace(self, n, unit)
	}
	return s, nil
}

func checkShift(a, c float64) error {
	if !(a > 0) || math.IsInf(a, 1) || !(c >= 0) || math.IsInf(c, 1) {
		return fmt.Errorf("%w: %g·L + %g·I; the factor of L must be positive and that of I not negative", ErrParameter, a, c)
	}
	return nil
}

// roots returns d^½, and 1 for a row without entries.
func (g *Graph) roots() []float64 {
	root := make([]float64, len(g.Degrees))
	for i, d := range g.Degrees {
		root[i] = 1
		if d > 0 {
			root[i] = math.Sqrt(d)
		}
	}
	return root
}

// groundOf returns c·d, and c for a row without entries.
func (g *Graph) groundOf(c float64) []float64 {
	ground := make([]float64, len(g.Degrees))
	for i, d := range g.Degrees {
		ground[i] = c
		if d > 0 {
			ground[i] = c * d
		}
	}
	return ground
}
