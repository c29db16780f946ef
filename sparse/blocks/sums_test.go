package blocks

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
)

const epsilon = 0x1p-52

func random(rng *rand.Rand, rows, cols int) *sparse.Block[float64] {
	b := sparse.NewBlock[float64](rows, cols+2).Columns(1, cols+1)
	for i := range rows {
		for j := range cols {
			b.Row(i)[j] = 2*rng.Float64() - 1
		}
	}
	return b
}

func dense(b *sparse.Block[float64]) *mat.Dense {
	d := mat.NewDense(b.Rows, b.Cols, nil)
	for i := range b.Rows {
		d.SetRow(i, b.Row(i))
	}
	return d
}

func TestSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 7, ChunkRows, 3*ChunkRows + 5} {
		for _, k := range []int{1, 3, 9} {
			x, y := random(rng, n, k), random(rng, n, k)
			tolerance := 2 * float64(n) * epsilon
			near := func(what string, got, want float64) {
				t.Helper()
				if !(math.Abs(got-want) <= tolerance) {
					t.Errorf("%d×%d: %s is %v, want %v", n, k, what, got, want)
				}
			}
			dots, norms := Dots(nil, x, y), Norms(nil, x)
			var product mat.Dense
			product.Mul(dense(x).T(), dense(y))
			square := sparse.NewBlock[float64](k, k)
			ProductTo(nil, square, x, y)
			sums := Sums(nil, n, k, func(i int, sums []float64) { AddScaled(sums, 1, x.Row(i)) })
			for j := range k {
				a, b := mat.Col(nil, j, dense(x)), mat.Col(nil, j, dense(y))
				near("a product of columns", dots[j], product.At(j, j))
				near("a norm", norms[j], mat.Norm(mat.NewVecDense(n, a), 2))
				near("a sum of a column", sums[j], mat.Sum(mat.NewVecDense(n, a)))
				if Dot(nil, a, b) != dots[j] || Norm(a) != norms[j] || Total(nil, a) != sums[j] {
					t.Errorf("%d×%d: column %d alone has other sums", n, k, j)
				}
				for i := range k {
					near("an element of a product", square.Row(i)[j], product.At(i, j))
				}
			}
		}
	}
}

func TestCentre(t *testing.T) {
	const n, k, parts = 3*ChunkRows + 5, 3, 7
	rng := rand.New(rand.NewPCG(3, 4))
	c := &sparse.Components{Of: make([]uint32, n), Sizes: make([]int, parts)}
	weights := make([]float64, n)
	for i := range n {
		part := i * i % parts
		c.Of[i] = uint32(part)
		c.Sizes[part]++
		if part != 2 {
			weights[i] = rng.Float64()
		}
	}
	x := random(rng, n, k)
	before := dense(x)
	Centre(nil, x, c, weights)
	volume, sums := make([]float64, parts), make([]float64, parts*k)
	for i, of := range c.Of {
		volume[of] += weights[i]
		for j, v := range x.Row(i) {
			sums[int(of)*k+j] += weights[i] * v
			if of == 2 && v != before.At(i, j) {
				t.Fatalf("row %d, of a component without weight, was moved", i)
			}
		}
	}
	for part, got := range ByPart(nil, c, weights) {
		if got != volume[part] {
			t.Errorf("component %d weighs %v, want %v", part, got, volume[part])
		}
		for j := range k {
			if v := sums[part*k+j]; math.Abs(v) > 4*n*epsilon {
				t.Errorf("component %d, column %d has the mean %v", part, j, v)
			}
		}
	}
}
