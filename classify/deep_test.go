package classify

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestDeepKernelMachineGolden(t *testing.T) {
	for _, graph := range goldenGraphs {
		l := newLesson(t, graph)
		for _, bandwidth := range []string{"all", "obs"} {
			for depth := range 4 {
				if graph == "sbm300" && depth == 2 {
					continue // not among the files
				}
				got := l.scores(t, "dkm", param.Values{"depth": param.Of(depth), "bandwidth": param.Of(bandwidth)})
				testgraph.Close(t, got, l.golden(t, "dkm_scores_%s_l%d.npy", bandwidth, depth), 1e-10, 1e-9)
			}
		}
		for bandwidth, items := range map[string][]int{"all": all(l.k.Rows), "obs": labelledItems(l.y)} {
			var m deep
			if err := m.measure(t.Context(), l.k, items, 3); err != nil {
				t.Fatal(err)
			}
			bandwidths := sparse.BlockOf(3, 1, m.h)
			testgraph.Close(t, bandwidths, l.golden(t, "dkm_h_%s.npy", bandwidth), 1e-10, 1e-9)
		}
	}
}

func all(n int) []int {
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	return items
}

// TestDeepBase holds that a base classifier on a deep kernel is that classifier on the
// kernel of the level, made plainly.
func TestDeepBase(t *testing.T) {
	p := clouds(6, 30, 3, 3, 2)
	for i := range p.y {
		if i%4 == 3 {
			p.y[i] = -1
		}
	}
	k := p.gram()
	level := &denseGram[float64]{Rows: k.Rows, Cols: k.Rows, Stride: k.Rows, Data: make([]float64, k.Rows*k.Rows)}
	h := 0.0
	distance := func(i, j int) float64 {
		d := 0.0
		for c, v := range p.f.Row(i) {
			d += (v - p.f.Row(j)[c]) * (v - p.f.Row(j)[c])
		}
		return math.Sqrt(d)
	}
	for i := range k.Rows {
		for j := range k.Rows {
			h += distance(i, j) / float64(k.Rows*k.Rows)
		}
	}
	for i := range k.Rows {
		for j := range k.Rows {
			d := distance(i, j) / h
			level.Data[i*k.Rows+j] = math.Exp(-d*d/2) / (math.Sqrt(2*math.Pi) * h)
		}
	}
	for _, d := range Learners() {
		name, isDeep := strings.CutPrefix(d.Name, "dkm")
		if !isDeep {
			continue
		}
		base := Learners().Named(cmp.Or(strings.TrimPrefix(name, "-"), "density"))
		v, err := d.Resolve(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Fit(t.Context(), k, p.y, p.classes, v)
		if err != nil {
			t.Fatal(err)
		}
		want, err := base.Fit(t.Context(), level, p.y, p.classes, v)
		if err != nil {
			t.Fatal(err)
		}
		for i := range k.Rows {
			row := level.row(i)
			expected := want.ScoresTo(nil, row, row[i])
			for c, s := range got.ScoresTo(nil, k.row(i), k.row(i)[i]) {
				within(t, fmt.Sprintf("%s, item %d, score %d", d.Name, i, c), s, expected[c], 1e-6*(1+math.Abs(expected[c])))
			}
		}
	}
}

// TestDistances compares with distances of features.
func TestDistances(t *testing.T) {
	p := clouds(2, 12, 3, 2, 1)
	k := p.gram()
	diagonal := make([]float64, k.Rows)
	for i := range diagonal {
		diagonal[i] = k.row(i)[i]
	}
	x := []float64{0.5, -1, 2}
	row := p.row(x)
	new(deep).distances(row, inner(x, x), diagonal, 0)
	for i, d := range row {
		want := 0.0
		for c, v := range p.f.Row(i) {
			want = math.Hypot(want, v-x[c])
		}
		within(t, "a distance", d, want, 1e-12)
	}
}

func TestDeepInOnePlace(t *testing.T) {
	k := &denseGram[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 1, 1, 1}}
	d := Learners().Named("dkm")
	v, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Fit(t.Context(), k, []int{0, 1}, 2, v); !errors.Is(err, ErrNoDistance) {
		t.Errorf("%v, want %v", err, ErrNoDistance)
	}
}

// TestDeepMemory fits a deep classifier to a few labels among many items: it takes far less than
// the values between all of them.
func TestDeepMemory(t *testing.T) {
	const n = 1200
	p := clouds(3, n, 3, 3, 2)
	for i := range p.y {
		if i%40 != 0 {
			p.y[i] = -1
		}
	}
	l := Learners().Named("dkm")
	v, err := l.Resolve(param.Values{"depth": param.Of(2)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := l.Fit(t.Context(), LinearGram(p.f), p.y, p.classes, v); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took, all := after.TotalAlloc-before.TotalAlloc, uint64(8*n*n); took > all/20 {
		t.Errorf("a fit took %d bytes, the values of all items are %d", took, all)
	}
}
