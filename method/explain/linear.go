package explain

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/sparse"
)

// Linear returns the form of scores that are products of one response and weights,
//
//	score_c(v) = bias_c + Σ_u R(v, u)·w(u, c)
//
// respond must return the responses R(v, ·) of some nodes v at all nodes, one column for each v. It may return a further
// last column, the mean R̄ of the responses of labelled nodes. Then a share is (R(v, u) − γ·R̄(u))·w(u, c), see
// [SubtractCommon], and the rest includes γ·Σ_u R̄(u)·w(u, c). If the absolute values of the shares add up to less with γ =
// 0, γ is 0. rows are the labelled nodes, weights has a row for each labelled node, and scores has a row for each node.
func Linear(rows []int, weights, scores *sparse.Block[float64], bias []float64,
	respond func(ctx context.Context, nodes []int) (*sparse.Block[float64], error)) *Form {
	f := &Form{
		Right: func(node, class int) float64 { return scores.Row(node)[class] - bias[class] },
		Size:  func(int) float64 { return 1 },
	}
	f.Terms = func(ctx context.Context, nodes, class []int) ([]Terms, *sparse.Block[float32], error) {
		r, err := respond(ctx, nodes)
		if err != nil {
			return nil, nil, err
		}
		left := sparse.NewBlock[float32](r.Rows, len(nodes))
		// Dividing by a bound of the norm of R makes the importance of links independent of the factor of R. Functions of L
		// or S attain the bound at the null vector of L.
		for j, v := range nodes {
			squares := math.SmallestNonzeroFloat64
			sum := 0.0
			for i := range r.Rows {
				x := r.Row(i)[j]
				squares += float64(x * x)
				sum += float64(x * math.Sqrt(f.Size(i)/max(f.Size(v), math.SmallestNonzeroFloat64)))
			}
			norm := max(math.Sqrt(squares), math.Abs(sum))
			for i := range r.Rows {
				left.Row(i)[j] = float32(r.Row(i)[j] / norm)
			}
		}
		common := make([]float64, len(nodes))
		if r.Cols > len(nodes) {
			common = SubtractCommon(r, rows)
		}
		terms := make([]Terms, len(nodes))
		shared := make([]float64, len(rows)) // parts of shares that are in the rest
		for j, v := range nodes {
			terms[j] = Terms{Score: scores.Row(v), Rest: bias[class[j]],
				Share: make([]float64, len(rows))}
			size, sizeShared := 0.0, 0.0
			for label, row := range rows {
				w := weights.Row(label)[class[j]]
				terms[j].Share[label] = r.Row(row)[j] * w
				shared[label] = common[j] * r.Row(row)[r.Cols-1] * w
				size += math.Abs(terms[j].Share[label])
				sizeShared += math.Abs(terms[j].Share[label] + shared[label])
			}
			for label, value := range shared {
				if sizeShared < size {
					terms[j].Share[label] += value
				} else {
					terms[j].Rest += value
				}
			}
		}
		return terms, left, nil
	}
	return f
}

// UnitColumns returns a block of n rows with a 1 in row nodes[j] of column j. If rows is not nil, a last column has
// 1/len(rows) in each of rows.
func UnitColumns(n int, nodes, rows []int) *sparse.Block[float64] {
	columns := len(nodes)
	if rows != nil {
		columns++
	}
	b := sparse.NewBlock[float64](n, columns)
	for j, v := range nodes {
		b.Row(v)[j] = 1
	}
	for _, row := range rows {
		b.Row(row)[len(nodes)] += 1 / float64(len(rows))
	}
	return b
}

// SubtractCommon subtracts a multiple of the last column of y from each other column, so that the numbers in the given rows
// become as small as possible. It returns the factor for each column. In a smooth kernel a response that all labelled nodes
// share cancels in the score, but would hide the differences of their shares.
func SubtractCommon(y *sparse.Block[float64], rows []int) []float64 {
	last := y.Cols - 1
	factors := make([]float64, last)
	size := math.SmallestNonzeroFloat64
	for _, row := range rows {
		mean := y.Row(row)[last]
		size += mean * mean
	}
	for _, row := range rows {
		for j, value := range y.Row(row)[:last] {
			factors[j] += value * y.Row(row)[last] / size
		}
	}
	for _, row := range rows {
		for j, factor := range factors {
			y.Row(row)[j] -= factor * y.Row(row)[last]
		}
	}
	return factors
}
