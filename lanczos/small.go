package lanczos

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/symmetric"
)

func fallingEigen(ctx context.Context, h *mat.SymDense,
	count func(values []float64) int, workers int) ([]float64, *mat.Dense, error) {
	values, vectors, err := symmetric.Eigen(ctx, h, count, workers)
	if err != nil {
		return nil, nil, err
	}
	slices.Reverse(values)
	rows, _ := vectors.Dims()
	for i := range rows {
		slices.Reverse(vectors.RawRowView(i))
	}
	return values, vectors, nil
}

func finite(numbers []float64) bool {
	for _, v := range numbers {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// cholesky stores in r the upper triangle R with RᵀR = G, both n×n. A pivot below rounding becomes weakPivot times the
// length of the column, so that R has an inverse. A zero column has the pivot 0.
func cholesky(r, g []float64, n int) {
	clear(r)
	for i := range n {
		pivot := g[i*n+i]
		for k := range i {
			pivot -= r[k*n+i] * r[k*n+i]
		}
		pivot = math.Sqrt(max(pivot, weakPivot*weakPivot*g[i*n+i]))
		r[i*n+i] = pivot
		if pivot == 0 {
			continue
		}
		for j := i + 1; j < n; j++ {
			sum := g[i*n+j]
			for k := range i {
				sum -= r[k*n+i] * r[k*n+j]
			}
			r[i*n+j] = sum / pivot
		}
	}
}

func columnNorm(r []float64, j, n int) (length float64) {
	for i := range j + 1 {
		length = math.Hypot(length, r[i*n+j])
	}
	return length
}

// invertUpper stores R⁻¹ in dst. A column whose pivot is 0 becomes zero.
func invertUpper(dst, r []float64, n int) {
	clear(dst)
	for j := range n {
		if r[j*n+j] == 0 {
			continue
		}
		dst[j*n+j] = 1 / r[j*n+j]
		for i := j - 1; i >= 0; i-- {
			if r[i*n+i] == 0 {
				continue
			}
			var sum float64
			for k := i + 1; k <= j; k++ {
				sum += r[i*n+k] * dst[k*n+j]
			}
			dst[i*n+j] = -sum / r[i*n+i]
		}
	}
}

// multiplyUpper replaces R, which has n rows of cols columns, by U·R.
func multiplyUpper(r, u []float64, n, cols int) {
	for i := range n {
		for j := range cols {
			var sum float64
			for k := i; k < n; k++ {
				sum += u[i*n+k] * r[k*cols+j]
			}
			r[i*cols+j] = sum
		}
	}
}

func addProduct(dst, a, b []float64, rows, inner, cols int) {
	for i := range rows {
		for k := range inner {
			f := a[i*inner+k]
			for j := range cols {
				dst[i*cols+j] += f * b[k*cols+j]
			}
		}
	}
}

func negative(dst, src []float64) {
	for i, v := range src {
		dst[i] = -v
	}
}
