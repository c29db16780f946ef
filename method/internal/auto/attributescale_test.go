package auto

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/sparse"
)

func TestCommonWords(t *testing.T) {
	const nodes, columns = 40, 100
	words := func(v int, common float32) []float32 {
		row := make([]float32, columns)
		row[0], row[1+v%(columns-1)], row[1+v*7%(columns-1)] = common, 1, 1
		return row
	}
	for _, counts := range []bool{false, true} {
		table := &sparse.Table{Rows: nodes, Cols: columns}
		common := make([]float64, nodes)
		for v := range nodes {
			if common[v] = 1; counts {
				common[v] = float64(1 + v%3)
			}
			table.Set(v, words(v, float32(common[v])))
		}
		score, scores := scoresOf(common), make([]float64, nodes)
		for v, x := range common {
			scores[v] = score(x)
		}
		mean, deviation := stat.PopMeanStdDev(scores, nil)
		a, got := newAttributeTable(nil, table), make([]float32, columns)
		for v := range nodes {
			want := words(v, 1)
			if counts {
				want[0] = 0
			}
			length := 0.0
			for _, x := range want {
				length += float64(x * x)
			}
			for j := range want {
				want[j] /= float32(math.Sqrt(length))
			}
			if counts {
				want[0] = float32((scores[v] - mean) / deviation)
			}
			readerOf(a).rowTo(got, v, 0, columns)
			if !slices.EqualFunc(got, want, func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 }) {
				t.Fatalf("counts %v: the row of node %d is\n%v, want\n%v", counts, v, got, want)
			}
		}
	}
}
