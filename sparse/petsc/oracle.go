//go:build petsc && cgo

package petsc

// #include "shim.h"
import "C"

import (
	"fmt"
	"runtime/cgo"
	"unsafe"
)

// Product stores A·x in y for the rows of this process, where A is a symmetric matrix of all
// processes. x and y are valid until it returns. All processes call it together, so that it may use
// the network.
type Product func(y, x []float64) error

// shell is a product during a call of PETSc.
type shell struct {
	w       *World
	product Product
	rows    int
	err     error // of the product, which PETSc does not know
}

//export heatwalkMultiply
func heatwalkMultiply(handle C.uintptr_t, y, x *C.double) C.int {
	s := cgo.Handle(handle).Value().(*shell)
	s.err = s.multiply(unsafe.Slice((*float64)(y), s.rows),
		unsafe.Slice((*float64)(x), s.rows))
	if s.err != nil {
		return 1
	}
	return 0
}

// multiply runs the product on a goroutine of its own, and the product's calls of the network on this
// one, which has the thread of MPI.
func (s *shell) multiply(y, x []float64) error {
	done := make(chan error)
	go func() {
		defer func() {
			if r := recover(); r != nil { // must not unwind the stack of PETSc
				done <- fmt.Errorf("panic in the product: %v", r)
			}
		}()
		done <- s.product(y, x)
	}()
	for {
		select {
		case call := <-s.w.calls:
			call()
		case err := <-done:
			return err
		}
	}
}

// with calls PETSc with the handle of a product. PETSc's own communication has no time limit.
func (w *World) with(product Product, rows int,
	call func(handle C.uintptr_t, total C.int64_t) C.int) error {
	total, err := totalRows(w, rows)
	if err != nil {
		return err
	}
	s := &shell{w: w, product: product, rows: rows}
	handle := cgo.NewHandle(s)
	defer handle.Delete()
	done := make(chan error)
	w.calls <- func() { done <- check(call(C.uintptr_t(handle), C.int64_t(total))) }
	if err := <-done; s.err == nil {
		return err
	}
	return s.err
}

// totalRows returns the number of rows of all processes.
func totalRows(w *World, rows int) (int64, error) {
	counts := make([]float64, w.size)
	w.AllGather(counts, []float64{float64(rows)})
	total := int64(0)
	for _, n := range counts {
		total += int64(n)
	}
	return total, checkIndex(total, "rows")
}

// Solve solves A·x = b by PETSc's conjugate gradients without preconditioner, where A is positive
// definite. b holds the rows of this process. It stops at a relative residual of tolerance, and returns
// an error after limit iterations.
//
// After an error on one process only, the others wait: the process must exit without [World.Close].
func (w *World) Solve(product Product, b []float64, tolerance float64,
	limit int) (x []float64, iterations int, err error) {
	x = make([]float64, len(b))
	var done C.int64_t
	err = w.with(product, len(b), func(handle C.uintptr_t, total C.int64_t) C.int {
		return C.hw_solve(handle, C.int64_t(len(b)), total, C.double(tolerance),
			C.int64_t(limit), doubles(b), doubles(x), &done)
	})
	return x, int(done), err
}

// Eigenproblem asks for eigenpairs of a symmetric matrix.
type Eigenproblem struct {
	Count     int         // number of eigenpairs
	Largest   bool        // the largest eigenvalues, otherwise the smallest ones
	Tolerance float64     // absolute residual ‖Av − λv‖ at which a pair of unit length is accepted
	Limit     int         // iterations
	Deflate   [][]float64 // rows of this process of eigenvectors that are known and left out
}

// Eigenpairs are the solution of an [Eigenproblem].
type Eigenpairs struct {
	Values    []float64
	Vectors   [][]float64 // the rows of this process, unit length over all processes
	Residuals []float64   // ‖Av − λv‖, computed with the product
}

// Eigen computes eigenpairs by SLEPc's Krylov–Schur method. rows is the number of rows of this process.
// It returns an error if fewer pairs converge. The method sees an eigenvalue of multiplicity m once
// in exact arithmetic; its further copies come from rounding errors and differ between numbers
// of processes. Deflate the known vectors, for example D^½·1 of each component.
//
// After an error on one process only, the others wait: the process must exit without [World.Close].
func (w *World) Eigen(product Product, rows int,
	p Eigenproblem) (*Eigenpairs, error) {
	values, residuals := make([]float64, p.Count), make([]float64, p.Count)
	vectors := make([]float64, p.Count*rows)
	var deflate []float64
	for _, v := range p.Deflate {
		if len(v) != rows {
			panic(badLength)
		}
		deflate = append(deflate, v...)
	}
	largest := C.int(0)
	if p.Largest {
		largest = 1
	}
	var converged C.int64_t
	err := w.with(product, rows, func(handle C.uintptr_t, total C.int64_t) C.int {
		return C.hw_eigen(handle, C.int64_t(rows), total, C.int64_t(p.Count), largest, C.double(p.Tolerance), C.int64_t(p.Limit),
			C.int64_t(len(p.Deflate)), doubles(deflate), doubles(values),
			doubles(vectors), doubles(residuals), &converged)
	})
	if err == nil && int(converged) < p.Count {
		err = fmt.Errorf("SLEPc: %d of %d eigenpairs converged in %d iterations",
			converged, p.Count, p.Limit)
	}
	if err != nil {
		return nil, err
	}
	pairs := &Eigenpairs{Values: values, Residuals: residuals}
	for i := range p.Count {
		pairs.Vectors = append(pairs.Vectors, vectors[i*rows:(i+1)*rows])
	}
	return pairs, nil
}

// Matrix is a sparse matrix of PETSc (MPIAIJ), which multiplies blocks as MAIJ.
type Matrix struct {
	w    *World
	a    *C.hw_matrix
	rows int
}

// NewMatrix copies the rows of this process of a square matrix: row i has the columns
// col[ptr[i]:ptr[i+1]] with the values val. The rows of the processes follow each other, in the order of
// the processes, and columns have the same numbers.
func (w *World) NewMatrix(ptr, col []int64, val []float64) (*Matrix, error) {
	rows := len(ptr) - 1
	if rows < 0 || ptr[rows] != int64(len(col)) || len(col) != len(val) {
		panic(badLength)
	}
	total, err := totalRows(w, rows)
	if err == nil {
		err = checkIndex(int64(len(col)), "entries of one process")
	}
	if err != nil {
		return nil, err
	}
	m := &Matrix{w: w, rows: rows}
	err = w.run(func() C.int {
		return C.hw_matrix_new(C.int64_t(rows), C.int64_t(total),
			(*C.int64_t)(&ptr[0]), (*C.int64_t)(unsafe.SliceData(col)),
			doubles(val), &m.a)
	})
	return m, err
}

// MulTo stores A·x in y, for blocks of k columns that hold the rows of this process one after the other.
func (m *Matrix) MulTo(y, x []float64, k int) error {
	if k < 1 || len(x) != m.rows*k || len(y) != len(x) {
		panic(badLength)
	}
	return m.w.run(func() C.int { return C.hw_matrix_multiply(m.a, C.int64_t(k), doubles(x), doubles(y)) })
}

// Close releases the matrix.
func (m *Matrix) Close() error {
	return m.w.run(func() C.int { return C.hw_matrix_free(m.a) })
}

func doubles(v []float64) *C.double {
	return (*C.double)(unsafe.SliceData(v))
}
