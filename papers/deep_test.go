package papers

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestDeepKernelMachineGolden(t *testing.T) {
	for _, graph := range contract.GoldenGraphs {
		l := contract.NewLesson(t, graph)
		for _, bandwidth := range []string{"all", "obs"} {
			for depth := range 4 {
				if graph == "sbm300" && depth == 2 {
					continue // not among the files
				}
				got := l.Scores(t, "dkm", param.Values{"depth": param.Of(depth), "bandwidth": param.Of(bandwidth)})
				testgraph.Close(t, got, l.Golden(t, "dkm_scores_%s_l%d.npy", bandwidth, depth), 1e-10, 1e-9)
			}
		}
		for bandwidth, items := range map[string][]int{"all": sched.UpTo(l.K.Rows), "obs": classify.LabelledItems(l.Y)} {
			var m deep
			if err := m.measure(t.Context(), l.Gram(), items, 3); err != nil {
				t.Fatal(err)
			}
			bandwidths := sparse.BlockOf(3, 1, m.h)
			testgraph.Close(t, bandwidths, l.Golden(t, "dkm_h_%s.npy", bandwidth), 1e-10, 1e-9)
		}
	}
}

// The reference is the base classifier on the kernel of the level.
func TestDeepBase(t *testing.T) {
	p := contract.Clouds(6, 30, 3, 3, 2)
	for i := range p.Y {
		if i%4 == 3 {
			p.Y[i] = -1
		}
	}
	k := p.Values()
	level := sparse.BlockOf(k.Rows, k.Rows, make([]float64, k.Rows*k.Rows))
	h := 0.0
	distance := func(i, j int) float64 {
		d := 0.0
		for c, v := range p.F.Row(i) {
			d += (v - p.F.Row(j)[c]) * (v - p.F.Row(j)[c])
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
	for _, d := range classify.Learners() {
		name, isDeep := strings.CutPrefix(d.Name, "dkm")
		if !isDeep {
			continue
		}
		base := classify.Learners().Named(cmp.Or(strings.TrimPrefix(name, "-"), "density"))
		v, err := d.Resolve(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Fit(t.Context(), classify.DenseGram(k), p.Y, p.Classes, v)
		if err != nil {
			t.Fatal(err)
		}
		want, err := base.Fit(t.Context(), classify.DenseGram(level), p.Y, p.Classes, v)
		if err != nil {
			t.Fatal(err)
		}
		for i := range k.Rows {
			row := level.Row(i)
			expected := want.ScoresTo(nil, row, row[i])
			for c, s := range got.ScoresTo(nil, k.Row(i), k.Row(i)[i]) {
				contract.Within(t, fmt.Sprintf("%s, item %d, score %d", d.Name, i, c), s, expected[c], 1e-6*(1+math.Abs(expected[c])))
			}
		}
	}
}

func TestDistances(t *testing.T) {
	p := contract.Clouds(2, 12, 3, 2, 1)
	k := p.Values()
	diagonal := make([]float64, k.Rows)
	for i := range diagonal {
		diagonal[i] = k.Row(i)[i]
	}
	x := []float64{0.5, -1, 2}
	row := p.Row(x)
	new(deep).distances(row, contract.Inner(x, x), diagonal, 0)
	for i, d := range row {
		want := 0.0
		for c, v := range p.F.Row(i) {
			want = math.Hypot(want, v-x[c])
		}
		contract.Within(t, "a distance", d, want, 1e-12)
	}
}

func TestDeepInOnePlace(t *testing.T) {
	k := classify.DenseGram(sparse.BlockOf(2, 2, []float64{1, 1, 1, 1}))
	d := classify.Learners().Named("dkm")
	v, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Fit(t.Context(), k, []int{0, 1}, 2, v); !errors.Is(err, ErrNoDistance) {
		t.Errorf("%v, want %v", err, ErrNoDistance)
	}
}

// Few labels take far less memory than the values between all items.
func TestDeepMemory(t *testing.T) {
	const n = 1200
	p := contract.Clouds(3, n, 3, 3, 2)
	for i := range p.Y {
		if i%40 != 0 {
			p.Y[i] = -1
		}
	}
	l := classify.Learners().Named("dkm")
	v, err := l.Resolve(param.Values{"depth": param.Of(2)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := l.Fit(t.Context(), classify.LinearGram(p.F), p.Y, p.Classes, v); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took, all := after.TotalAlloc-before.TotalAlloc, uint64(8*n*n); took > all/20 {
		t.Errorf("a fit took %d bytes, the values of all items are %d", took, all)
	}
}
