package regression

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

// drawSets gives most labelled nodes their class, and sometimes other classes.
func drawSets(p *engine.Problem, labels int) [][]int {
	rng := rand.New(rand.NewPCG(8, 9))
	sets := make([][]int, len(p.Row))
	for i := range sets {
		for c := range labels {
			if c == p.Class[i] && rng.IntN(5) > 0 || rng.IntN(7) == 0 {
				sets[i] = append(sets[i], c)
			}
		}
	}
	return sets
}

// Columns are eigenvectors of the matrix by its definition, times the sizes of their values.
func TestColumns(t *testing.T) {
	p := contract.Planted(t, 3, 90, 20)
	c, err := auto.NewEmbedding(t.Context(), p, auto.EmbeddingColumns, new(lanczos.Settings))
	if err != nil {
		t.Fatal(err)
	}
	n, mean := len(p.Degrees), 0.0
	for _, d := range p.Degrees {
		mean += d / float64(n)
	}
	s := mat.NewSymDense(n, nil)
	dense := p.A.(*sparse.CSR)
	for i := range n {
		for j := range i + 1 {
			s.SetSym(i, j, dense.At(i, j)/math.Sqrt((p.Degrees[i]+mean)*(p.Degrees[j]+mean)))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(s, false) {
		t.Fatal("no eigenvalues")
	}
	values := eigen.Values(nil)
	slices.Reverse(values)
	_, k := c.Dims()
	if k != n/2 {
		t.Fatalf("%d columns of %d nodes", k, n)
	}
	for j := range k {
		u, squares := mat.NewVecDense(n, nil), 0.0
		for v := range n {
			u.SetVec(v, c.Row(v)[j])
			squares += u.AtVec(v) * u.AtVec(v)
		}
		if got, want := math.Sqrt(squares), math.Abs(values[j]); math.Abs(got-want) > 2*1e-3 {
			t.Errorf("column %d has the norm %v, want %v", j, got, want)
		}
		var su mat.VecDense
		su.MulVec(s, u)
		su.AddScaledVec(&su, -values[j], u)
		if r := mat.Norm(&su, 2); r > 4*1e-3*math.Sqrt(squares)+1e-12 {
			t.Errorf("column %d has the residual %v", j, r)
		}
	}
}

// The model agrees with least squares without each node, and its sigmoids are where their likelihood is flat.
func TestFit(t *testing.T) {
	const labels = 4
	p := contract.Planted(t, 5, 60, 24)
	sets := drawSets(p, labels)
	c, err := auto.NewEmbedding(t.Context(), p, auto.EmbeddingColumns, new(lanczos.Settings))
	if err != nil {
		t.Fatal(err)
	}
	got, err := (&labelFit{Embedding: c, node: p.Row, sets: sets, labels: labels}).choose(t.Context(), choose.TaskOf(&engine.Problem{Row: p.Row}, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	m := len(p.Row)
	share := make([]float64, labels)
	for _, own := range sets {
		for _, l := range own {
			share[l] += 1 / float64(m)
		}
	}
	features := func(width, node int) []float64 {
		row := slices.Clone(c.Row(node)[:width])
		all := 0.0
		for v := range c.Rows {
			all += floats.Dot(c.Row(v)[:width], c.Row(v)[:width])
		}
		floats.Scale(1/math.Sqrt(floats.Dot(row, row)+1e-4*all/float64(c.Rows)), row)
		return append(row, 1)
	}
	scores := func(width int, lambda float64, without, node int) []float64 {
		trace := 0.0
		for _, v := range p.Row {
			x := features(width, v)
			trace += mat.Dot(mat.NewVecDense(width+1, x), mat.NewVecDense(width+1, x))
		}
		square, right := mat.NewDense(width+1, width+1, nil), mat.NewDense(width+1, labels, nil)
		for i, v := range p.Row {
			if i == without {
				continue
			}
			x, y := features(width, v), make([]float64, labels)
			for l := range y {
				y[l] = -share[l]
			}
			for _, l := range sets[i] {
				y[l]++
			}
			var outer mat.Dense
			outer.Outer(1, mat.NewVecDense(width+1, x), mat.NewVecDense(width+1, x))
			square.Add(square, &outer)
			outer.Reset()
			outer.Outer(1, mat.NewVecDense(width+1, x), mat.NewVecDense(labels, y))
			right.Add(right, &outer)
		}
		for j := range width + 1 {
			square.Set(j, j, square.At(j, j)+lambda*trace/float64(m))
		}
		var w, s mat.Dense
		if err := w.Solve(square, right); err != nil {
			t.Fatal(err)
		}
		s.Mul(mat.NewDense(1, width+1, features(width, node)), &w)
		floats.Add(s.RawRowView(0), share)
		return s.RawRowView(0)
	}
	best, width, lambda := -1.0, 0, 0.0
	var left [][]float64
	for _, k := range []int{30, 15, 7} {
		for _, l := range lambdas() {
			var all [][]float64
			for i, v := range p.Row {
				all = append(all, scores(k, l, i, v))
			}
			if micro, _, _ := choose.LabelF1(sets, labels, func(i int) []float64 { return all[i] }); micro > best {
				best, width, lambda, left = micro, k, l, all
			}
		}
	}
	// The choice, sigmoids and threshold of a fold come from the other folds, which choose alike here.
	fold := choose.DrawFolds(&engine.Problem{Row: sched.UpTo(m)}, 10, 0, 0).Of
	matrix := mat.NewDense(m, labels, slices.Concat(left...))
	rows := make([][]float64, m)
	var predicted [][]int
	for i := range sets {
		rows[i] = got.Probable(slices.Clone(left[i]))
		var outside engine.LabelSetModel
		limit := calibrate(&outside, matrix, sets, labels, choose.OfFold(fold, fold[i]).Train)
		predicted = append(predicted, choose.LabelsAbove(outside.Probable(slices.Clone(left[i])), limit-1e-9))
	}
	want, _, _ := choose.SetF1(sets, labels, func(i int) []int { return predicted[i] })
	if limit := choose.LabelThreshold(sets, func(i int) []float64 { return rows[i] }); got.Columns != width || got.Lambda != lambda || math.Abs(got.Threshold-limit) > 1e-9 || math.Abs(got.MicroF1-want) > 1e-9 || got.Stderr < 0.01 || got.Stderr > 0.2 {
		t.Errorf("chose %d columns, λ = %v, threshold %v at %v ± %v; want %d, %v, %v at %v", got.Columns, got.Lambda, got.Threshold, got.MicroF1, got.Stderr, width, lambda, limit, want)
	}
	for v := range p.Degrees {
		s, want := got.Scores(v), scores(width, lambda, -1, v)
		for l := range labels {
			if !(math.Abs(s[l]-want[l]) <= 1e-9) {
				t.Errorf("node %d has the score %v of label %d, want %v", v, s[l], l, want[l])
			}
		}
	}
	for l := range labels {
		if got.Slopes[l] == 0 {
			continue
		}
		yes, flat, slope := share[l]*float64(m), 0.0, 0.0
		for i := range m {
			target := 1 / (float64(m) - yes + 2)
			if slices.Contains(sets[i], l) {
				target = (yes + 1) / (yes + 2)
			}
			d := target - 1/(1+math.Exp(got.Slopes[l]*left[i][l]+got.Shifts[l]))
			flat, slope = flat+d, slope+d*left[i][l]
		}
		if math.Abs(flat) > 1e-6 || math.Abs(slope) > 1e-6 {
			t.Errorf("label %d: the likelihood has the slopes %v and %v", l, flat, slope)
		}
	}
}

func TestWithoutLabels(t *testing.T) {
	p := contract.Planted(t, 6, 50, 20)
	sets := drawSets(p, 3)
	for i := range sets {
		sets[i] = append(sets[i], 4)
	}
	c, err := auto.NewEmbedding(t.Context(), p, auto.EmbeddingColumns, new(lanczos.Settings))
	if err != nil {
		t.Fatal(err)
	}
	model, err := (&labelFit{Embedding: c, node: p.Row, sets: sets, labels: 5}).choose(t.Context(), choose.TaskOf(&engine.Problem{Row: p.Row}, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	got := model.Probabilities(0)
	if want := 1. / 22; math.Abs(got[3]-want) > 1e-9 || math.Abs(got[4]-21./22) > 1e-9 {
		t.Errorf("probabilities %v, want %v of label 3 and %v of label 4", got, want, 21./22)
	}
}

func TestWorkersAgree(t *testing.T) {
	p := contract.Planted(t, 4, 300, 60)
	sets := drawSets(p, 4)
	var want *engine.Prediction
	for _, workers := range []int{1, 2, 7} {
		s := &engine.Settings{Workers: workers}
		c, err := auto.NewEmbedding(t.Context(), p, auto.EmbeddingColumns, &lanczos.Settings{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		model, err := (&labelFit{Embedding: c, node: p.Row, sets: sets, labels: 4, workers: s.Workers}).choose(t.Context(), choose.TaskOf(&engine.Problem{Row: p.Row}, 0, 0))
		if err != nil {
			t.Fatal(err)
		}
		got, err := predictSets(t.Context(), model, p, s)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got.Scores, want.Scores) || !got.Reached.Equals(want.Reached) {
			t.Errorf("%d workers predict otherwise than 1", workers)
		}
	}
}

func TestSetsOf(t *testing.T) {
	l := NewLabelLearner(&engine.Problem{Row: []int{4, 1, 4, 4, 1}, Class: []int{1, 0, 2, 0, 2}}, nil)
	node, sets := l.Row, l.Sets
	if !slices.Equal(node, []int{4, 1}) || !reflect.DeepEqual(sets, [][]int{{0, 1, 2}, {0, 2}}) {
		t.Errorf("nodes %v have %v", node, sets)
	}
}

// One label depends on an attribute alone. The second model has more columns than mostWide, and learns from a sample.
func TestAttributes(t *testing.T) {
	defer func(most int) { mostWide = most }(mostWide)
	mostWide = 200
	rng := rand.New(rand.NewPCG(3, 5))
	for _, columns := range []int{3, 30} {
		p := contract.Planted(t, 5, 600, 300)
		values := make([]float32, len(p.Degrees)*columns)
		for i := range values {
			values[i] = float32(rng.NormFloat64())
		}
		p.Attributes = &sparse.Table{Rows: len(p.Degrees), Cols: columns}
		for v := range p.Degrees {
			p.Attributes.Set(v, values[v*columns:][:columns])
		}
		for i, v := range p.Row {
			if values[v*columns] > 0 {
				p.Row = append(p.Row, v)
				p.Class = append(p.Class, 4)
			}
			p.Class[i] %= 4
		}
		p.Names = []string{"a", "b", "c", "d", "e"}
		out, err := Spectral.Predict(t.Context(), p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for v := range p.Degrees {
			if (out.Scores.Row(v)[4] > 0.5) == (values[v*columns] > 0) {
				right++
			}
		}
		if share := float64(right) / float64(len(p.Degrees)); share < 0.75 || columns == 3 && share < 0.9 {
			t.Errorf("%d columns: %v of the nodes have the right attribute", columns, share)
		}
		model, err := Spectral.Keep(out, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Spectral.Restore(model).Predict(t.Context(), p, nil, &engine.Settings{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again.Scores, out.Scores) {
			t.Errorf("%d columns: a kept choice predicts otherwise", columns)
		}
	}
}
