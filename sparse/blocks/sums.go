package blocks

import (
	"math"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// Sums returns a vector of size sums over all rows of the matrix. rows is the number of rows of blocks in this process.
// add must add the contribution of row i to sums.
func Sums(team *sparse.Team, rows, size int,
	add func(i int, sums []float64)) []float64 {
	return chunkSums(team, rows, size, func(lo, hi int, sums []float64) {
		for i := lo; i < hi; i++ {
			add(i, sums)
		}
	})
}

func chunkSums(team *sparse.Team, rows, size int,
	add func(lo, hi int, sums []float64)) []float64 {
	halves := make([]float64, 2*size)
	total := halves[:size:size]
	sums := halves[size:]
	for lo, hi := range Slabs(rows, ChunkRows) {
		for start, end := range team.CountingRows(lo, hi) {
			clear(sums)
			add(start, end, sums)
			AddScaled(total, 1, sums)
		}
	}
	team.Sum(total)
	return total
}

// Dots returns the inner product of each column of x with the same column of y.
func Dots(team *sparse.Team, x, y *sparse.Block[float64]) []float64 {
	if x.Rows != y.Rows || x.Cols != y.Cols {
		panic(badShape)
	}
	return chunkSums(team, x.Rows, x.Cols, func(lo, hi int, sums []float64) {
		simd.DotColumns(sums, hi-lo, simd.RowsOf(x.Data, x.Stride, lo), simd.RowsOf(y.Data, y.Stride, lo))
	})
}

// Norms returns the Euclidean norms of the columns of x. The norms are accurate even if their
// squares overflow or underflow.
func Norms(team *sparse.Team, x *sparse.Block[float64]) []float64 {
	norms := Dots(team, x, x)
	for j, square := range norms {
		norms[j] = math.Sqrt(square)
		factor := 0x1p-540
		if square < 0x1p-900 {
			factor = 0x1p+1000
		}
		if square < 0x1p-900 || math.IsInf(square, 1) {
			norms[j] = math.Sqrt(Sums(team, x.Rows, 1, func(i int, sums []float64) {
				v := factor * x.Row(i)[j]
				sums[0] += float64(v * v)
			})[0]) / factor
		}
	}
	return norms
}

// Dot returns the inner product of x and y.
func Dot(team *sparse.Team, x, y []float64) float64 {
	return Dots(team, sparse.BlockOf(len(x), 1, x), sparse.BlockOf(len(y), 1, y))[0]
}

// Norm returns the Euclidean norm of x.
func Norm(x []float64) float64 {
	return math.Sqrt(Dot(nil, x, x))
}

// Total returns the sum of a vector's elements.
func Total(team *sparse.Team, x []float64) float64 {
	return chunkSums(team, len(x), 1, func(lo, hi int, sums []float64) {
		sum := 0.0 // not in memory, so that an addition does not wait for a store
		for _, v := range x[lo:hi] {
			sum += v
		}
		sums[0] = sum
	})[0]
}

// SumOver returns the sum of v over the processes.
func SumOver(team *sparse.Team, v float64) float64 {
	sum := []float64{v}
	team.Sum(sum)
	return sum[0]
}

// MaxOver returns the largest v of all processes.
func MaxOver(team *sparse.Team, v float64) float64 {
	largest := []float64{v}
	team.Max(largest)
	return largest[0]
}

// Largest returns the largest absolute value of an element of x over all processes.
func Largest(team *sparse.Team, x *sparse.Block[float64]) (size float64) {
	rows := x.Rows
	cols := x.Cols
	if x.Stride == cols { // short rows are slower
		rows, cols = 1, rows*cols
	}
	for i := range rows {
		for _, v := range x.Data[i*x.Stride:][:cols] {
			v = math.Abs(v)
			if !(v <= size) { // a branch that is rarely taken; NaN stays
				size = max(size, v)
			}
		}
	}
	return MaxOver(team, size)
}

// ProductTo stores aᵀ·b in dst. Products are rounded before they are added, so that aᵀ·a is symmetric to the bit.
func ProductTo(team *sparse.Team, dst, a, b *sparse.Block[float64]) {
	ShareOfProductTo(team, dst, a, b)
	for i := range dst.Rows {
		team.Sum(dst.Row(i))
	}
}

// ShareOfProductTo stores in dst the part of aᵀ·b from the rows that count in this process. It does not communicate, so
// that goroutines may call it.
func ShareOfProductTo(team *sparse.Team, dst, a, b *sparse.Block[float64]) {
	if a.Rows != b.Rows || dst.Rows != a.Cols || dst.Cols != b.Cols {
		panic(badShape)
	}
	sum := make([]float64, a.Cols*b.Cols)
	total := simd.Rows[float64]{Data: dst.Data, Stride: dst.Stride}
	target := simd.Rows[float64]{Data: sum, Stride: b.Cols}
	one := []float64{1}
	clear(dst.Data[:(dst.Rows-1)*dst.Stride+dst.Cols])
	for lo, hi := range Slabs(a.Rows, ChunkRows) {
		for start, end := range team.CountingRows(lo, hi) {
			clear(sum)
			for r := start; r < end; r++ {
				simd.AddRows(target, a.Cols, b.Cols, target, a.Row(r),
					simd.Rows[float64]{Data: b.Row(r)})
			}
			simd.AddRows(total, a.Cols, b.Cols, total, one, target)
		}
	}
}

// BoundRounding returns a bound on the rounding error of the inner product of two columns of n rows, in units of ε
// times the product of their norms.
func BoundRounding(n int) float64 {
	return float64(min(n, ChunkRows) + n/ChunkRows + 2)
}

// ByPart returns, for each component, the sum of v over its rows, added in the order of the rows.
func ByPart(team *sparse.Team, c *sparse.Components, v []float64) []float64 {
	sums := make([]float64, len(c.Sizes))
	for lo, hi := range team.CountingRows(0, len(v)) {
		for i, component := range c.Of[lo:hi] {
			sums[component] += v[lo+i]
		}
	}
	team.Sum(sums)
	return sums
}

// Centre subtracts from each column of x, in each component, the weighted mean of the column. The weights of the rows
// must be ≥ 0. Components of weight 0 do not change.
func Centre(team *sparse.Team, x *sparse.Block[float64], c *sparse.Components,
	weights []float64) {
	volume := ByPart(team, c, weights)
	mean := make([]float64, len(c.Sizes)*x.Cols)
	meanOf := func(i int) []float64 { return mean[int(c.Of[i])*x.Cols:][:x.Cols] }
	for lo, hi := range team.CountingRows(0, x.Rows) {
		for i := lo; i < hi; i++ {
			AddScaled(meanOf(i), weights[i], x.Row(i))
		}
	}
	team.Sum(mean)
	for i := range x.Rows {
		if volume[c.Of[i]] == 0 || team.IsPadding(i) {
			continue
		}
		for j, sum := range meanOf(i) {
			x.Row(i)[j] -= sum / volume[c.Of[i]]
		}
	}
}
