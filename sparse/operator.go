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
// with A as stored. Nil vectors mean ones for Left and Right, and zeros for Diag, U and V. The term of rank one costs a
// pass over the block before each sweep. With Right, a step needs memory for a scaled copy of X. After the first step,
// fields must not be changed and the operator must not be copied. An operator is safe for concurrent use.
type Operator[T Float] struct {
	A       Matrix
	Scale   float64 // 0 means 1
	Left    []float64
	Right   []float64
	Diag    []float64 // A must be square
	Gamma   float64   // factor of the term of rank one
	U, V    []float64 // both or neither; A must be square
	Workers int       // number of goroutines, 0: one for each processor; does not change results

	once   sync.Once
	splits []int // ranges that are pieces of long rows, in order

	mu   sync.Mutex
	idle []*fused[T] // states of earlier steps, with their buffers
}

// NewOperator returns a matrix of the graph with the adjacency matrix a and the vector deg, usually [Degrees]. The
// operator of the Laplacian keeps the slice deg. NewOperator panics for [Modularity], because the modularity matrix has
// a parameter.
func NewOperator[T Float](kind Kind, a Matrix, deg []float64) *Operator[T] {
	o := &Operator[T]{A: a}
	switch kind {
	case Adjacency:
		return o
	case Laplacian:
		if deg == nil { // nil would mean a diagonal of zeros; StepTo rejects other wrong lengths
			panic(badShape)
		}
		o.Scale = -1
		o.Diag = deg
		return o
	case NormalizedLaplacian:
		o.Scale = -1
		o.Diag = make([]float64, len(deg))
	case Transition, NormalizedAdjacency:
	default:
		panic(badKind + string(kind))
	}
	o.Left = make([]float64, len(deg))
	for i, d := range deg {
		switch {
		case d > 0 && kind == Transition:
			o.Left[i] = 1 / d
		case d > 0:
			o.Left[i] = 1 / math.Sqrt(d)
			if kind == NormalizedLaplacian {
				o.Diag[i] = 1
			}
		case kind == Transition:
			if o.Diag == nil {
				o.Diag = make([]float64, len(deg))
			}
			o.Diag[i] = 1
		}
	}
	if kind != Transition {
		o.Right = o.Left
	}
	return o
}

// Dims returns the number of rows and columns.
func (o *Operator[T]) Dims() (r, c int) { return o.A.Dims() }

// Team returns the team that shares the rows of A, or nil if this process has all rows.
func (o *Operator[T]) Team() *Team { return TeamOf(o.A) }

// ApplyTo stores Ā·X in dst. dst must not overlap x.
func (o *Operator[T]) ApplyTo(ctx context.Context, dst, x *Block[T]) error {
	return o.StepTo(ctx, dst, x, Step[T]{Alpha: 1})
}

// Degrees returns d_i = Σ_j |a_ij|. Cost: one sweep.
func Degrees(ctx context.Context, a Matrix, workers int) ([]float64, error) {
	return RowSums(ctx, a, workers, func(col []uint32, val []float64) float64 {
		if val == nil {
			return float64(len(col))
		}
		sum := 0.0
		for _, v := range val {
			sum += math.Abs(v)
		}
		return sum
	})
}
