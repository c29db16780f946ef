package shift

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// The probability of a distance is the share of random samples with a larger one.
func TestSpectrum(t *testing.T) {
	const nodes, labels, samples = 400, 40, 5000
	r := rand.New(rand.NewPCG(3, 4))
	x := sparse.NewBlock[float32](nodes, 6)
	for v := range nodes {
		row := x.Row(v)
		square := 0.0
		for j := range row {
			y := r.NormFloat64() / 2
			if j == min(v%8, 5) {
				y += 2
			}
			row[j] = float32(y)
			square += y * y
		}
		for j := range row {
			row[j] /= float32(math.Sqrt(square))
		}
	}
	a, err := sparse.FromTriplets(nodes, nodes, []sparse.Triplet{{Row: 0, Col: 1, Val: 1}, {Row: 1, Col: 0, Val: 1}})
	if err != nil {
		t.Fatal(err)
	}
	compare := func(rows []int) Spectrum {
		p := problemtest.Of(testgraph.Labelled{A: a, Degrees: testgraph.Degrees(t, a), Row: rows, Class: make([]int, labels), Names: []string{"a"}})
		return compareSpectrum(p, x, func(int, bool) bool { return true })
	}
	order := sched.UpTo(nodes)
	draw := func() []int {
		r.Shuffle(nodes, func(i, j int) { order[i], order[j] = order[j], order[i] })
		return slices.Clone(order[:labels])
	}
	var distances []float64
	for range samples {
		distances = append(distances, compare(draw()).Distance)
	}
	slices.Sort(distances)
	if mean := stat.Mean(distances, nil); math.Abs(mean-1) > 0.02 {
		t.Errorf("the mean distance of random samples is %v, want 1", mean)
	}
	for excess := 0; excess <= 24; excess += 3 {
		rows := draw()
		for i, moved := 0, 0; moved < excess; i++ {
			if v := rows[i] / 8 * 8; !slices.Contains(rows, v) { // of the first cluster
				rows[i] = v
				moved++
			}
		}
		got := compare(rows)
		position, _ := slices.BinarySearch(distances, got.Distance)
		want := float64(samples-position) / samples
		if tolerance := 0.2*want + 4*math.Sqrt((want+1.0/samples)/samples); math.Abs(got.Probability-want) > tolerance {
			t.Errorf("%d nodes of one cluster more: distance %v with probability %v, of random samples %v", excess, got.Distance, got.Probability, want)
		}
		if excess == 24 && !got.Exceeds() {
			t.Errorf("24 nodes of one cluster more: %+v", got)
		}
	}
}
