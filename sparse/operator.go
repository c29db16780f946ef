package sparse

import (
	"context"
	"math"
	"sync"
)

// Operator is the linear map
//
//	Ā = Scale·diag(Left)·A·diag(Right) + diag(Diag) + Gamma·U·Vᵀ
//
// with A as stored. Vectors that are nil are absent (ones for Left and Right,
// zeros for Diag, U and V). The term of rank one costs a pass over the block before
// each sweep. The fields must not change between steps, nor an operator be
// copied after the first; it is safe for concurrent use. With Right a step keeps a
// scaled copy of X: memory for one more block.
type Operator[T Float] struct {
	A       Matrix
	Scale   float64   // 0 means 1
	Left    []float64 // one factor for each row
	Right   []float64 // one factor for each column
	Diag    []float64 // A must be square
	Gamma   float64   // of the term of rank one
	U, V    []float64 // both or neither; A must be square
	Workers int       // goroutines of a sweep, 0: one for each processor; never changes a result

	once   sync.Once
	splits []int // the ranges that are pieces of long rows, in order

	mu   sync.Mutex
	idle []*fused[T] // what earlier steps have left, with their buffers
}

// NewTransition returns T = D⁻¹A, the random walk. A row without entries keeps
// what it has: T_ii = 1 there. deg is A·1, see [Degrees].
func NewTransition[T Float](a Matrix, deg []float64) *Operator[T] {
	left := make([]float64, len(deg))
	var diag []float64
	for i, d := range deg {
		if d > 0 {
			left[i] = 1 / d
			continue
		}
		if diag == nil {
			diag = make([]float64, len(deg))
		}
		diag[i] = 1
	}
	return &Operator[T]{A: a, Left: left, Diag: diag}
}

// NewNormalizedAdjacency returns S = D^-½·A·D^-½ with 0^-½ := 0.
func NewNormalizedAdjacency[T Float](a Matrix, deg []float64) *Operator[T] {
	root := inverseRoots(deg)
	return &Operator[T]{A: a, Left: root, Right: root}
}

// NewLaplacian returns L = D − A.
func NewLaplacian[T Float](a Matrix, deg []float64) *Operator[T] {
	return &Operator[T]{A: a, Scale: -1, Diag: deg}
}

// NewLaplacianNormalized returns D^-½·L·D^-½ = J − S, where J is the identity
// on rows with entries and 0 elsewhere, so that the eigenvalue 0 has one
// eigenvector for each component.
func NewLaplacianNormalized[T Float](a Matrix, deg []float64) *Operator[T] {
	root := inverseRoots(deg)
	diag := make([]float64, len(deg))
	for i, d := range deg {
		if d > 0 {
			diag[i] = 1
		}
	}
	return &Operator[T]{A: a, Scale: -1, Left: root, Right: root, Diag: diag}
}

// NewModularity returns M = A − γ·d·dᵀ/vol with vol = Σd, the modularity
// matrix at resolution γ.
func NewModularity[T Float](a Matrix, deg []float64, resolution float64) *Operator[T] {
	var vol float64
	for _, d := range deg {
		vol += d
	}
	o := &Operator[T]{A: a}
	if vol > 0 {
		o.Gamma, o.U, o.V = -resolution/vol, deg, deg
	}
	return o
}

func inverseRoots(deg []float64) []float64 {
	root := make([]float64, len(deg))
	for i, d := range deg {
		if d > 0 {
			root[i] = 1 / math.Sqrt(d)
		}
	}
	return root
}

// Dims returns the number of rows and columns.
func (o *Operator[T]) Dims() (r, c int) { return o.A.Dims() }

// ApplyTo stores Ā·X in dst. dst must not overlap x.
func (o *Operator[T]) ApplyTo(ctx context.Context, dst, x *Block[T]) error {
	return o.StepTo(ctx, dst, x, Step[T]{Alpha: 1})
}

// Degrees returns d = A·1, the sums of the rows, in float64. Cost: one sweep.
func Degrees(ctx context.Context, a Matrix, workers int) ([]float64, error) {
	rows, _ := a.Dims()
	deg := make([]float64, rows)
	ranges := a.Ranges()
	partial := make([]float64, len(ranges)) // sums of pieces of long rows
	err := a.Sweep(ctx, workers, func(_ int, p Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			col, val := p.Row(i - p.Lo)
			sum := float64(len(col))
			if val != nil {
				sum = 0
				for _, v := range val {
					sum += v
				}
			}
			if p.Pieces > 1 {
				partial[p.Index] = sum
			} else {
				deg[i] = sum
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, r := range ranges {
		if r.Pieces > 1 {
			deg[r.Lo] += partial[i]
		}
	}
	return deg, nil
}
