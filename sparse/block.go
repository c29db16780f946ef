package sparse

import (
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/system"
)

// Float is the element type of a block, float32 or float64.
type Float interface{ simd.Float }

// Block is a dense Rows×Cols matrix stored by rows: element (i, j) is Data[i·Stride+j]. Elements
// between Cols and Stride are padding, which is always zero in a block from [NewBlock].
type Block[T Float] struct {
	Rows, Cols, Stride int
	Data               []T
}

// NewBlock returns a zero block. Its rows are padded to 4, 8, 16 or 32 bytes, or to a multiple of 32 bytes. Large
// blocks are on huge pages if the system has huge pages.
func NewBlock[T Float](rows, cols int) *Block[T] {
	if rows < 0 || cols < 1 {
		panic(badShape)
	}
	stride := Stride[T](cols)
	return &Block[T]{Rows: rows, Cols: cols, Stride: stride,
		Data: system.Make[T](rows * stride)}
}

// Stride returns the stride, in elements, of a block of cols columns from [NewBlock].
func Stride[T Float](cols int) int {
	return int(budget.Row[T](cols)) / sizeOf[T]()
}

// BlockOf returns a rows×cols block that shares the memory of data, where rows have no padding.
func BlockOf[T Float](rows, cols int, data []T) *Block[T] {
	if rows < 0 || cols < 1 || len(data) != rows*cols {
		panic(badShape)
	}
	return &Block[T]{Rows: rows, Cols: cols, Stride: cols, Data: data}
}

// Row returns row i, which shares memory with the block.
func (b *Block[T]) Row(i int) []T {
	return b.Data[i*b.Stride : i*b.Stride+b.Cols : i*b.Stride+b.Cols]
}

// Columns returns the columns lo ≤ j < hi as a block that shares memory with b. Elements of its rows after the last
// column may be nonzero.
func (b *Block[T]) Columns(lo, hi int) *Block[T] {
	if lo < 0 || hi > b.Cols || lo >= hi {
		panic(badShape)
	}
	data := b.Data
	if b.Rows > 0 {
		data = data[lo : (b.Rows-1)*b.Stride+hi]
	}
	return &Block[T]{Rows: b.Rows, Cols: hi - lo, Stride: b.Stride, Data: data}
}

// Dims returns the number of rows and columns.
func (b *Block[T]) Dims() (r, c int) { return b.Rows, b.Cols }

// At returns element (i, j).
func (b *Block[T]) At(i, j int) float64 {
	if uint(i) >= uint(b.Rows) || uint(j) >= uint(b.Cols) {
		panic(badIndex)
	}
	return float64(b.Data[i*b.Stride+j])
}

// T returns the transpose as a view.
func (b *Block[T]) T() mat.Matrix {
	return mat.Transpose{Matrix: b}
}

// overlaps reports whether a and b share an element. Views of different columns of one block share no element.
func overlaps[T Float](a, b *Block[T]) bool {
	if len(a.Data) == 0 || len(b.Data) == 0 {
		return false
	}
	size := uintptr(sizeOf[T]())
	startA := uintptr(unsafe.Pointer(&a.Data[0]))
	startB := uintptr(unsafe.Pointer(&b.Data[0]))
	if startA > startB {
		a, b, startA, startB = b, a, startB, startA
	}
	distance := int((startB - startA) / size)
	if distance >= len(a.Data) {
		return false
	}
	if a.Stride != b.Stride {
		return true
	}
	column := distance % a.Stride
	return column < a.Cols || column+b.Cols > a.Stride
}

const (
	badShape   = "sparse: dimension mismatch"
	badKind    = "sparse: no operator for the matrix "
	badIndex   = "sparse: index out of range"
	badOverlap = "sparse: dst overlaps x"
	badPrev    = "sparse: dst overlaps Prev"
)
