package method

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/regression"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// randomNumbers returns a connected random graph with weights, then two nodes without edges. Values follow a cosine on a
// third of the nodes.
func randomNumbers(t testing.TB, seed uint64, n int) *engine.Problem {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var e []sparse.Triplet
	add := func(i, j int, w float64) {
		e = append(e, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: w})
	}
	for i := 1; i < n-2; i++ {
		add(i, i-1, 1+rng.Float64())
		if j := rng.IntN(i); i-j > 1 {
			add(i, j, 0.5+rng.Float64())
		}
	}
	a, err := sparse.FromTriplets(n, n, e)
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.New(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &engine.Problem{Graph: g}
	for i := range n {
		if rng.IntN(3) == 0 {
			p.Row, p.Value = append(p.Row, i), append(p.Value, 7+5*math.Cos(float64(i)/9)+rng.NormFloat64()/4)
		}
	}
	return p
}

func dense(p *engine.Problem) *mat.Dense {
	n := len(p.Degrees)
	a := mat.NewDense(n, n, nil)
	_ = sparse.Sweep(context.Background(), p.A, 1, func(_ int, panel sparse.Panel) error {
		for i := panel.Lo; i < panel.Hi; i++ {
			columns, values := panel.Row(i - panel.Lo)
			for k, j := range columns {
				a.Set(i, int(j), values[k])
			}
		}
		return nil
	})
	return a
}

func runOne(t testing.TB, p *engine.Problem, method string, s *engine.Settings) *predictedNumbers {
	t.Helper()
	methods, err := ParseList(method, engine.Numbers)
	if err != nil {
		t.Fatal(err)
	}
	out, err := predictNumbers(t.Context(), p, methods, s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type predictedNumbers struct {
	*engine.Prediction
	*engine.Contest
}

func predictNumbers(ctx context.Context, p *engine.Problem, methods []engine.Entry, s *engine.Settings) (*predictedNumbers, error) {
	out, err := Best(methods).Predict(ctx, p, nil, s)
	if err != nil {
		return nil, err
	}
	return &predictedNumbers{out, out.Contest}, nil
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-8*max(1, math.Abs(want[i]))) {
			t.Fatalf("%s at node %d: %v, want %v", what, i, got[i], want[i])
		}
	}
}

// keepKnown keeps known values and clips other values to their range.
func keepKnown(p *engine.Problem, values []float64) []float64 {
	for i, v := range values {
		values[i] = min(max(v, slices.Min(p.Value)), slices.Max(p.Value))
	}
	for i, row := range p.Row {
		values[row] = p.Value[i]
	}
	return values
}

func TestHarmonicAgreesWithDenseAlgebra(t *testing.T) {
	p := randomNumbers(t, 1, 90)
	n := len(p.Degrees)
	a := dense(p)
	system, b := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	mean := stat.Mean(p.Value, nil)
	for i := range n {
		at := slices.Index(p.Row, i)
		system.Set(i, i, 1)
		switch {
		case at >= 0:
			b.SetVec(i, p.Value[at])
		case p.Degrees[i] == 0:
			b.SetVec(i, mean)
		default:
			for j := range n {
				if j != i {
					system.Set(i, j, -a.At(i, j)/p.Degrees[i])
				}
			}
		}
	}
	var want mat.VecDense
	if err := want.SolveVec(system, b); err != nil {
		t.Fatal(err)
	}
	near(t, "value", runOne(t, p, "harmonic", nil).Value, want.RawVector().Data)
}

// heat returns exp(−βL̃) with L̃ = J − S.
func heat(p *engine.Problem, beta float64) *mat.SymDense {
	n := len(p.Degrees)
	a := dense(p)
	l := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			if d := p.Degrees[i] * p.Degrees[j]; d > 0 {
				l.SetSym(i, j, -a.At(i, j)/math.Sqrt(d))
			}
		}
		if p.Degrees[i] > 0 {
			l.SetSym(i, i, l.At(i, i)+1)
		}
	}
	var eigen mat.EigenSym
	eigen.Factorize(l, true)
	var u, scaled, k mat.Dense
	eigen.VectorsTo(&u)
	scaled.Apply(func(_, q int, v float64) float64 { return v * math.Exp(-beta*eigen.Values(nil)[q]) }, &u)
	k.Mul(&scaled, u.T())
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, k.At(i, j))
		}
	}
	return out
}

// bordered solves [K + λs·I, 1; 1ᵀ, 0], s the mean of the diagonal over known nodes, and returns the predictions.
func bordered(t *testing.T, p *engine.Problem, positions []int, k *mat.SymDense, lambda float64) (values []float64) {
	t.Helper()
	m, s := len(positions), 0.0
	for _, row := range p.Row {
		s += k.At(row, row) / float64(len(p.Row))
	}
	system, b := mat.NewDense(m+1, m+1, nil), mat.NewVecDense(m+1, nil)
	for i, at := range positions {
		for j, other := range positions {
			system.Set(i, j, k.At(p.Row[at], p.Row[other]))
		}
		system.Set(i, i, system.At(i, i)+lambda*s)
		system.Set(i, m, 1)
		system.Set(m, i, 1)
		b.SetVec(i, p.Value[at])
	}
	var inverse mat.Dense
	if err := inverse.Inverse(system); err != nil {
		t.Fatal(err)
	}
	var x mat.VecDense
	x.MulVec(&inverse, b)
	for v := range p.Degrees {
		row := mat.NewVecDense(m+1, nil)
		for i, at := range positions {
			row.SetVec(i, k.At(v, p.Row[at]))
		}
		row.SetVec(m, 1)
		values = append(values, mat.Dot(row, &x))
	}
	return values
}

func TestKernelsAgreeWithDenseAlgebra(t *testing.T) {
	p := randomNumbers(t, 2, 90)
	k := heat(p, 3)
	all := sched.UpTo(len(p.Row))
	values := bordered(t, p, all, k, 0.02)
	out := runOne(t, p, "diffusion:beta=3+rls:lambda=0.02", nil)
	near(t, "value", out.Value, keepKnown(p, values))

	// The closed form agrees with a fit without the fold.
	fold := choose.DrawFolds(p, choose.FoldCount(len(p.Row)), 0, 0).Of
	squares := 0.0
	for f := range slices.Max(fold) + 1 {
		split := choose.OfFold(fold, f)
		train, test := split.Train, split.Test
		values := bordered(t, p, train, k, 0.02)
		known := p.At(train).Value
		for _, i := range test {
			squares += math.Pow(p.Value[i]-min(max(values[p.Row[i]], slices.Min(known)), slices.Max(known)), 2)
		}
	}
	near(t, "RMSE", []float64{out.RMSE}, []float64{math.Sqrt(squares / float64(len(p.Row)))})
}

// lowerLimits lowers the sizes of samples and conjugate gradients, because dense solves take cubic time.
func lowerLimits(t *testing.T) {
	compared := engine.MostCompared
	t.Cleanup(func() { engine.MostCompared = compared })
	engine.MostCompared = 250
}

// TestManyValues compares conjugate gradients with the factor of fewer values. A node without a value follows.
func TestManyValues(t *testing.T) {
	lowerLimits(t)
	engine.MostCompared *= 3 // one value more makes little difference
	p := randomNumbers(t, 3, engine.MostCompared+3)
	p.Row, p.Value = nil, nil
	for i := range engine.MostCompared + 1 {
		p.Row, p.Value = append(p.Row, i), append(p.Value, 7+5*math.Cos(float64(i)/9))
	}
	want := runOne(t, p.At(sched.UpTo(engine.MostCompared)), "diffusion:beta=2+rls:lambda=0.1", nil)
	got := runOne(t, p, "diffusion:beta=2+rls:lambda=0.1", nil)
	if v, w := got.Value[engine.MostCompared+2], want.Value[engine.MostCompared+2]; math.Abs(v-w) > 0.01 {
		t.Errorf("%v, want %v", v, w)
	}
}

func TestErrorsOfManyValues(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	lowerLimits(t)
	p := randomNumbers(t, 5, engine.MostCompared*39/10)
	for _, list := range testgraph.Sample(t, 1, []string{"harmonic", "diffusion:beta=3+rls"}) {
		got := runOne(t, p, list, nil)
		fold := choose.DrawFolds(p, 5, 0, 0).Of
		var squares []float64
		for f := range 5 {
			s := choose.OfFold(fold, f)
			predicted := runOne(t, p.At(s.Train), list, nil).Value
			for _, i := range s.Test {
				squares = append(squares, math.Pow(p.Value[i]-predicted[p.Row[i]], 2))
			}
		}
		mse := stat.Mean(squares, nil)
		if got.Tested != len(p.Row) || math.Abs(got.RMSE*got.RMSE-mse) > 3*stat.StdDev(squares, nil)/math.Sqrt(float64(len(p.Row))) || got.R2Stderr == 0 {
			t.Errorf("%s: RMSE² %v of %d values, R² ± %v; all folds have %v", list, got.RMSE*got.RMSE, got.Tested, got.R2Stderr, mse)
		}
	}
	noise := randomNumbers(t, 6, 40)
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range noise.Value {
		noise.Value[i] = rng.NormFloat64()
	}
	if out := runOne(t, noise, "harmonic,hops:lambda=0.0001", nil); out.R2 > 0.1 || len(out.Methods) != 2 || (out.Method == "mean") != (out.Methods[0].R2 < 0 && out.Methods[1].R2 < 0) {
		t.Errorf("%s, R² %v, of %+v", out.Method, out.R2, out.Methods)
	}
}

// Nodes without a known value in their component have the mean.
func TestMeansAgreeWithDenseAlgebra(t *testing.T) {
	p := randomNumbers(t, 8, 90)
	n := len(p.Degrees)
	a := dense(p)
	system := mat.NewDense(n, n, nil)
	system.Apply(func(i, j int, w float64) float64 {
		x := 0.0
		if i == j {
			x = 1
		}
		if w != 0 {
			x -= 0.9 * w / math.Sqrt(p.Degrees[i]*p.Degrees[j])
		}
		return x
	}, a)
	mean := stat.Mean(p.Value, nil)
	b := mat.NewDense(n, 2, nil)
	for i, row := range p.Row {
		b.SetRow(row, []float64{p.Value[i] - mean, 1})
	}
	if err := b.Solve(system, b); err != nil {
		t.Fatal(err)
	}
	want := make([]float64, n)
	for i := range want {
		want[i] = mean + b.At(i, 0)/(b.At(i, 1)+1e-6)
	}
	near(t, "value", runOne(t, p, "lgc:alpha=0.9", nil).Value, keepKnown(p, want))
}

func TestHopsAgreesWithDenseAlgebra(t *testing.T) {
	p := randomNumbers(t, 4, 120)
	n, m := len(p.Degrees), len(p.Row)
	rng := rand.New(rand.NewPCG(1, 2))
	p.Attributes = &sparse.Table{Rows: n, Cols: 3} // the third is in no row
	x := mat.NewDense(n, 6, nil)
	for i := range n {
		row := make([]float32, 3)
		if i%7 == 0 {
			continue
		}
		for j := range 2 {
			row[j] = float32(rng.IntN(6) / 5)
		}
		p.Attributes.Set(i, row)
		if length := math.Hypot(float64(row[0]), float64(row[1])); length > 0 {
			x.SetRow(i, []float64{float64(row[0]) / length, float64(row[1]) / length, 0, 0, 0, 0})
		}
	}
	const lambda = 0.03
	out := runOne(t, p, "hops:lambda=0.03", &engine.Settings{RNGSeed: 5})

	walk := mat.NewDense(n, n, nil)
	a := dense(p)
	for i := range n {
		for j := range n {
			if walk.Set(i, j, 0); p.Degrees[i] > 0 {
				walk.Set(i, j, a.At(i, j)/p.Degrees[i])
			} else if i == j {
				walk.Set(i, j, 1)
			}
		}
	}
	loop := floats.Sum(p.Degrees) / float64(p.A.NNZ())
	lazy := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			w := a.At(i, j)
			if i == j {
				w += loop
			}
			lazy.Set(i, j, w/(p.Degrees[i]+loop))
		}
	}
	var image mat.Dense
	image.Mul(lazy, x.Slice(0, n, 0, 3))
	for i := range n {
		for j := range 3 {
			x.Set(i, 3+j, 0.1*x.At(i, j)+0.9*image.At(i, j))
		}
	}
	fold := choose.DrawFolds(p, choose.FoldCount(len(p.Row)), 5, 0).Of
	// without the values of two folds
	features := func(v, f, g int) []float64 {
		row := make([]float64, 10)
		sum, count := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
		for i, r := range p.Row {
			if fold[i] != f && fold[i] != g {
				sum.SetVec(r, p.Value[i])
				count.SetVec(r, 1)
			}
		}
		mean := mat.Sum(sum) / mat.Sum(count)
		for h := range 3 {
			var s, k mat.VecDense
			s.MulVec(walk, sum)
			k.MulVec(walk, count)
			sum, count = &s, &k
			if row[h] = mean; k.AtVec(v) > 0 {
				row[h] = s.AtVec(v) / k.AtVec(v)
			}
		}
		row[3] = math.Log1p(p.Degrees[v])
		copy(row[4:], x.RawRowView(v))
		return row
	}
	fit := func(positions []int, rows [][]float64) func(row []float64) float64 {
		k := float64(len(rows))
		mean, factor := make([]float64, 10), slices.Repeat([]float64{1}, 10)
		y := 0.0
		for j := range 10 {
			squares := 0.0
			for _, row := range rows {
				mean[j] += row[j] / k
			}
			for _, row := range rows {
				squares += math.Pow(row[j]-mean[j], 2)
			}
			if j < 4 {
				factor[j] = math.Sqrt(k / squares)
			}
		}
		for _, i := range positions {
			y += p.Value[i] / k
		}
		phi, target := mat.NewDense(len(rows), 10, nil), mat.NewVecDense(len(rows), nil)
		for a, row := range rows {
			for j := range 10 {
				phi.Set(a, j, (row[j]-mean[j])*factor[j])
			}
			target.SetVec(a, p.Value[positions[a]]-y)
		}
		var normal mat.Dense
		var b, w mat.VecDense
		normal.Mul(phi.T(), phi)
		for j := range 10 {
			normal.Set(j, j, normal.At(j, j)+lambda*k)
		}
		b.MulVec(phi.T(), target)
		if err := w.SolveVec(&normal, &b); err != nil {
			t.Fatal(err)
		}
		return func(row []float64) float64 {
			value := y
			for j := range 10 {
				value += w.AtVec(j) * (row[j] - mean[j]) * factor[j]
			}
			return value
		}
	}
	var rows [][]float64
	for i, row := range p.Row {
		rows = append(rows, features(row, fold[i], -1))
	}
	predict, want := fit(sched.UpTo(m), rows), make([]float64, n)
	for v := range want {
		want[v] = predict(features(v, -1, -1))
	}
	for i, w := range keepKnown(p, want) { // attributes and their weights are float32
		if !(math.Abs(out.Value[i]-w) <= 16*0x1p-23*max(1, math.Abs(w))) {
			t.Fatalf("value at node %d: %v, want %v", i, out.Value[i], w)
		}
	}
}

func TestSameBits(t *testing.T) {
	p := randomNumbers(t, 6, 300)
	var want *predictedNumbers
	for _, workers := range []int{1, 2, 7} {
		p.Workers = workers
		out := runOne(t, p, "harmonic,diffusion:beta=2+rls,hops,regularized-laplacian+rls,spectral,lgc", &engine.Settings{Workers: workers})
		if len(out.Methods) != 6 || out.RMSE >= out.Mean.RMSE || out.Tested != len(p.Row) {
			t.Errorf("%v, mean %v, %d tested", out.Methods, out.Mean, out.Tested)
		}
		if want == nil {
			want = out
		}
		if diff := cmp.Diff(want.Value, out.Value); diff != "" || out.Errors != want.Errors {
			t.Errorf("%d workers: %v, want %v\n%s", workers, out.Errors, want.Errors, diff)
		}
	}
}

// Each value is predicted by the other value, so that the errors of all settings are equal.
func TestTwoValues(t *testing.T) {
	p := randomNumbers(t, 7, 40).At([]int{0, 1})
	p.Value[1] = p.Value[0] + 1
	for _, list := range []string{"harmonic,diffusion+rls,hops", "hops,diffusion+rls,harmonic", "diffusion+rls,hops"} {
		methods, err := ParseList(list, engine.Numbers)
		if err != nil {
			t.Fatal(err)
		}
		out, err := predictNumbers(t.Context(), p, methods, nil)
		if err != nil {
			t.Fatal(err)
		}
		if out.Method != "mean" {
			t.Errorf("%s: %s", list, out.Method)
		}
	}
}

func TestFewValues(t *testing.T) {
	const n = 100
	methods := DefaultNumbers(n, false, 0)
	for _, kind := range []struct {
		smooth, outlier float64 // added to noise
		values, draws   int
		least, most     float64 // bounds of the mean R² less the R² of the mean
	}{{values: 10, draws: 20, least: -0.05, most: 0.1}, {outlier: 100, values: 10, draws: 10, least: -0.1, most: 0.1},
		{smooth: 20, values: 40, draws: 4, least: 0.5, most: 1}} {
		var gains, biases []float64
		for draw := range kind.draws {
			p := randomNumbers(t, uint64(100+draw), n)
			rng := rand.New(rand.NewPCG(uint64(draw), 9))
			truth := make([]float64, n)
			for i := range truth {
				truth[i] = kind.smooth*math.Cos(float64(i)/9) + rng.NormFloat64()
			}
			p.Row = rng.Perm(n)
			truth[p.Row[0]] += kind.outlier
			truth[p.Row[n-1]] += kind.outlier
			p.Row = p.Row[:kind.values]
			p.Value = problem.Pick(truth, p.Row)
			out := runOne(t, p, methods, nil)
			if slices.Max(out.Value) > slices.Max(p.Value) || slices.Min(out.Value) < slices.Min(p.Value) {
				t.Errorf("draw %d: predictions from %v to %v", draw, slices.Min(out.Value), slices.Max(out.Value))
			}
			others := slices.DeleteFunc(sched.UpTo(n), func(i int) bool { return slices.Contains(p.Row, i) })
			hidden := problem.Pick(truth, others)
			found := engine.MeasureErrors(hidden, problem.Pick(out.Value, others)).R2
			gains = append(gains, found-engine.MeasureErrors(hidden, slices.Repeat([]float64{stat.Mean(p.Value, nil)}, len(others))).R2)
			biases = append(biases, out.R2-found)
			for _, unit := range []float64{0x1p-320, 0x1p320} {
				if draw > 0 {
					break
				}
				scaled := *p
				scaled.Value = slices.Clone(p.Value)
				floats.Scale(unit, scaled.Value)
				o := runOne(t, &scaled, methods, nil)
				near(t, fmt.Sprint("R² of values in units of ", unit), []float64{o.R2, o.R2Stderr, o.Shrinkage}, []float64{out.R2, out.R2Stderr, out.Shrinkage})
			}
			model, err := Best(nil).Keep(out.Prediction, nil)
			if err != nil {
				t.Fatal(err)
			}
			engine, err := Restore(model, engine.Numbers)
			if err != nil {
				t.Fatal(err)
			}
			kept, err := engine.Predict(t.Context(), p, nil, nil)
			if err != nil || !slices.Equal(kept.Value, out.Value) {
				t.Errorf("draw %d: a kept model of %s, shrinkage %v, predicts other values: %v", draw, out.Method, out.Shrinkage, err)
			}
		}
		gain, bias := stat.Mean(gains, nil), stat.Mean(biases, nil)
		if gain < kind.least || gain > kind.most || slices.Min(gains) < kind.least-0.5 || kind.outlier == 0 && math.Abs(bias) > 0.25 {
			t.Errorf("%+v: R² above that of the mean by %v, at least %v; printed less found %v", kind, gain, slices.Min(gains), bias)
		}
	}
}

func TestUnsolvedCandidates(t *testing.T) {
	p := randomNumbers(t, 3, 120)
	failure := &problem.Error{Method: "test", Err: iterative.ErrIterationLimit}
	solvedFrom := func(name string, least float64, fails bool) engine.Entry {
		spec := *regression.Hops.Spec
		spec.Name = name
		m := regression.Hops
		m.Spec = &spec
		m.Predictions = engine.OneByOne(func(ctx context.Context, p *engine.Problem, v param.Values, s *engine.Settings) ([]float64, error) {
			if fails {
				return nil, failure
			}
			out, err := regression.Hops.Engine().Fit(ctx, p, &engine.Parameters{Declared: &engine.Setting{Spec: regression.Hops.Spec, Values: v}}, s)
			if err != nil {
				return nil, err
			}
			return out.Value, nil
		}).Predictions
		m.Scores = func(ctx context.Context, j *engine.Job, v param.Values) error {
			if v.Number("lambda") < least {
				return failure
			}
			return regression.Hops.Scores(ctx, j, v)
		}
		return engine.Entry{Method: m.Engine()}
	}
	compare := func(methods ...engine.Entry) (*predictedNumbers, error) {
		return predictNumbers(t.Context(), p, methods, nil)
	}
	hopsAlone := engine.Entry{Method: regression.Hops.Engine()}
	solved, err := compare(hopsAlone, hopsAlone) // predictions of one method are not moved towards the mean
	if err != nil {
		t.Fatal(err)
	}
	chosen := solved.Parameters.Declared.Values.Number("lambda")
	out, err := compare(solvedFrom("none", 0, true), solvedFrom("large", 10*chosen, false))
	if err != nil {
		t.Fatal(err)
	}
	if lambda := out.Parameters.Declared.Values.Number("lambda"); out.Method != "large" || lambda < 10*chosen || out.R2 > solved.R2 || len(out.Methods) != 1 {
		t.Errorf("%s predicts with λ = %v, R² %v of %d methods; without a failure %v, R² %v", out.Method, lambda, out.R2, len(out.Methods), chosen, solved.R2)
	}
	if len(out.Unsolved) < 2 || out.Unsolved[0].Method != "none" || out.Unsolved[1].Method != "large" {
		t.Errorf("left out: %+v", out.Unsolved)
	}
	if out, err = compare(solvedFrom("never", math.Inf(1), false), hopsAlone); err != nil || out.Method != "hops" || !slices.Equal(out.Value, solved.Value) {
		t.Errorf("the next method: %v", err)
	}
	for _, fails := range []bool{true, false} {
		if _, err := compare(solvedFrom("never", math.Inf(1), fails)); !errors.Is(err, iterative.ErrIterationLimit) {
			t.Errorf("no candidate is solved: %v", err)
		}
	}
	alone, err := solvedFrom("large", 10*chosen, false).Method.Predict(t.Context(), p, nil, nil)
	if err != nil || alone.Parameters.Declared.Values.Number("lambda") < 10*chosen {
		t.Errorf("an engine alone: %+v, %v", alone, err)
	}
}

func TestRefusals(t *testing.T) {
	p := randomNumbers(t, 7, 40)
	for i := range p.Value {
		p.Value[i] = 2
	}
	methods, err := ParseList("harmonic", engine.Numbers)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := predictNumbers(t.Context(), p, methods, nil); !errors.Is(err, problem.ErrConstant) {
		t.Errorf("equal values: %v", err)
	}
	for _, text := range []string{"", "lp", "rls", "diffusion", "commute-time+rls", "diffusion+svm", "diffusion+rls:cost=1", "hops:lambda=-1", "diffusion:beta=x+rls"} {
		if _, err := ParseList(text, engine.Numbers); err == nil {
			t.Errorf("%q is a method", text)
		}
	}
}
