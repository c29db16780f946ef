package shard

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestDegreeList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var l degreeList
		var want []float64
		path := "degrees"
		known := rapid.Bool().Draw(rt, "known")
		frames := rapid.IntRange(0, 8).Draw(rt, "frames")
		weights := rapid.IntRange(0, 2*frames).Draw(rt, "weights") // first frame with weights
		if known {
			l.rows = 3 * frames
		}
		for i := range frames {
			degree := rapid.Map(rapid.IntRange(0, 600), func(n int) float64 { return float64(n) })
			if i >= weights {
				l.weigh()
				degree = rapid.Float64Range(-1, 1000)
			}
			if rapid.Bool().Draw(rt, "pieces") {
				n, sum := rapid.IntRange(1, 3).Draw(rt, "n"), 0.0
				for p := range n {
					d := degree.Draw(rt, "piece")
					l.add([]float64{d}, p == n-1)
					sum += d
				}
				want = append(want, sum)
				continue
			}
			rows := rapid.SliceOfN(degree, 1, 3).Draw(rt, "rows")
			l.add(rows, true)
			want = append(want, rows...)
		}
		m := &Manifest{Rows: int64(len(want)), Weighted: l.weighted}
		if got := must(parseDegrees(path, l.content, m)); !slices.Equal(got, want) {
			rt.Fatalf("%v, want %v", got, want)
		}
	})
}
