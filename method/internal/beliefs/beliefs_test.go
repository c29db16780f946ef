package beliefs

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/ingest/generate"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

func blockModel(t testing.TB, nodes, edges, classes int, homophily, labelled float64, workers int) (*graph.Graph, []int, cwk.Seeds) {
	t.Helper()
	m, err := generate.New("sbm", param.Values{
		"nodes": param.Of(nodes), "edges": param.Of(edges), "classes": param.Of(classes), "homophily": param.Of(homophily),
	}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := m.EdgesTo(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	var rows, cols []int
	for line := range strings.Lines(text.String()) {
		u, v, _ := strings.Cut(strings.TrimSpace(line), "\t")
		i, _ := strconv.Atoi(u)
		j, _ := strconv.Atoi(v)
		rows, cols = append(rows, i, j), append(cols, j, i)
	}
	g := graphOf(t, nodes, rows, cols, nil, workers)
	text.Reset()
	if err := m.LabelsTo(t.Context(), &text, 1); err != nil {
		t.Fatal(err)
	}
	var class []int
	for line := range strings.Lines(text.String()) {
		_, c, _ := strings.Cut(strings.TrimSpace(line), "\tc")
		k, _ := strconv.Atoi(c)
		class = append(class, k)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	seeds := cwk.Seeds{Classes: classes}
	for i, c := range class {
		if rng.Float64() < labelled {
			seeds.Row, seeds.Class = append(seeds.Row, i), append(seeds.Class, c)
		}
	}
	return g, class, seeds
}

func graphOf(t testing.TB, nodes int, rows, cols []int, values []float64, workers int) *graph.Graph {
	t.Helper()
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return (rows[a]*nodes + cols[a]) - (rows[b]*nodes + cols[b]) })
	ptr, col := make([]int64, nodes+1), make([]uint32, 0, len(rows))
	var val []float64
	for _, e := range order {
		ptr[rows[e]+1]++
		col = append(col, uint32(cols[e]))
		if values != nil {
			val = append(val, values[e])
		}
	}
	for i := range nodes {
		ptr[i+1] += ptr[i]
	}
	a, err := sparse.NewCSR(nodes, nodes, ptr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.New(t.Context(), a, &graph.Settings{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func deal(labels, folds int) []int {
	fold := make([]int, labels)
	for i := range fold {
		fold[i] = i % folds
	}
	return fold
}

func smallNetwork(t *testing.T) (*mat.SymDense, *network, *mat.Dense) {
	t.Helper()
	const n, c = 40, 3
	rng := rand.New(rand.NewPCG(3, 4))
	dense := mat.NewSymDense(n, nil)
	var rows, cols []int
	var values []float64
	for i := range n - 2 {
		for j := range i {
			if rng.Float64() < 0.2 {
				w := float64(rng.IntN(4)+1) / 2
				dense.SetSym(i, j, w)
				rows, cols, values = append(rows, i, j), append(cols, j, i), append(values, w, w)
			}
		}
	}
	g := graphOf(t, n, rows, cols, values, 2)
	seeds := cwk.Seeds{Row: []int{0, 3, 7, 9, 20}, Class: []int{0, 1, 2, 0, 1}, Classes: c}
	net := newNetwork(g, seeds, []int{0, 1, 0, 1, 0})
	r := mat.NewDense(c, c, []float64{2, 0.4, 0.6, 0.4, 1.5, 1.1, 0.6, 1.1, 1.3})
	return dense, net, r
}

func TestRoundsAgreeWithDense(t *testing.T) {
	const n = 40
	dense, net, r := smallNetwork(t)
	for v, q := range []*run{newRun(net, r, 0, 0.7, 1), newRun(net, nil, 0.8, 1, noFold)} {
		if err := q.advance(t.Context(), 4); err != nil {
			t.Fatal(err)
		}
		want := denseRounds(dense, q, 4)
		for i := range n {
			for j, got := range q.beliefs.Row(i) {
				if math.Abs(float64(got)-want.At(i, j)) > 2e-4 {
					t.Fatalf("run %d, node %d, class %d: %g, want %g", v, i, j, got, want.At(i, j))
				}
			}
		}
	}
}

// More classes than a sweep has columns.
func TestColumnGroups(t *testing.T) {
	const classes = 2*sweepColumns + 9
	g, class, _ := blockModel(t, 300, 900, classes, 0.8, 0, 2)
	seeds := cwk.Seeds{Classes: classes}
	for i := 0; i < len(class); i += 2 {
		seeds.Row, seeds.Class = append(seeds.Row, i), append(seeds.Class, class[i])
	}
	net := newNetwork(g, seeds, make([]int, len(seeds.Row)))
	q := newRun(net, nil, strong, 1, noFold)
	if err := q.advance(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	a := mat.NewSymDense(len(class), nil)
	err := sparse.Sweep(t.Context(), g.A, 1, func(_ int, p sparse.Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			col, _ := p.Row(i - p.Lo)
			for _, j := range col {
				a.SetSym(i, int(j), 1)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := denseRounds(a, q, 3)
	for i := range class {
		for j, got := range q.beliefs.Row(i) {
			if math.Abs(float64(got)-want.At(i, j)) > 2e-4 {
				t.Fatalf("node %d, class %d: %g, want %g", i, j, got, want.At(i, j))
			}
		}
	}
}

func denseRounds(a mat.Symmetric, run *run, rounds int) *mat.Dense {
	n, c, net := a.SymmetricDim(), run.seeds.Classes, run.network
	r := homophily(run.shares, run.strength)
	for i := 0; run.strength == 0 && i < c*c; i++ {
		r.Set(i%c, i/c, float64(run.factors[i]))
	}
	f := mat.NewDense(n, c, nil)
	clamp := func() {
		for i := range n {
			if k := net.known(i, run.hidden); k >= 0 {
				for j := range c {
					f.Set(i, j, 0)
				}
				f.Set(i, k, 1)
			}
		}
	}
	degree, total := make([]float64, n), 0.0
	for i := range n {
		for j := range n {
			degree[i] += a.At(i, j) / net.unit
		}
		total += degree[i]
		f.SetRow(i, run.shares)
	}
	clamp()
	for range rounds {
		var ends mat.Dense
		ends.Mul(f, r)
		mean := make([]float64, c)
		for i := range n {
			for j := range c {
				mean[j] += degree[i] * f.At(i, j) / total
			}
		}
		var field mat.VecDense
		field.MulVec(r.T(), mat.NewVecDense(c, mean))
		next := mat.NewDense(n, c, nil)
		for i := range n {
			e, sum := make([]float64, c), 0.0
			for j := range c {
				for k := range n {
					e[j] += a.At(i, k) / net.unit * (math.Log(ends.At(k, j)) - math.Log(field.AtVec(j)))
				}
				e[j] = run.shares[j] * math.Exp(float64(run.t)*e[j])
				sum += e[j]
			}
			for j := range c {
				next.Set(i, j, 0.7*e[j]/sum+0.3*f.At(i, j))
			}
		}
		f.Copy(next)
		clamp()
	}
	return f
}

func TestWalkPairs(t *testing.T) {
	g, _, seeds := blockModel(t, 60, 150, 2, 0.7, 0.3, 2)
	net := newNetwork(g, seeds, deal(len(seeds.Row), 3))
	n := len(g.Degrees)
	a, id := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	err := sparse.Sweep(t.Context(), g.A, 1, func(_ int, p sparse.Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			col, _ := p.Row(i - p.Lo)
			for _, j := range col {
				a.Set(i, int(j), 1)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		id.Set(i, i, 1)
	}
	for _, fold := range []int{noFold, 1} {
		got, err := walkPairs(t.Context(), net, fold)
		if err != nil {
			t.Fatal(err)
		}
		y := mat.NewDense(n, 2, nil)
		for i, row := range seeds.Row {
			if fold == noFold || net.fold[i] != fold {
				y.Set(row, seeds.Class[i], 1)
			}
		}
		walks := []*mat.Dense{id, a}
		for l := 2; l <= walkSteps; l++ {
			var next mat.Dense
			next.Mul(a, walks[l-1])
			next.Apply(func(i, j int, x float64) float64 {
				back := g.Degrees[i]
				if l > 2 {
					back--
				}
				return x - back*walks[l-2].At(i, j)
			}, &next)
			walks = append(walks, &next)
		}
		for l, w := range walks[1:] {
			var wy, want mat.Dense
			wy.Mul(w, y)
			want.Mul(y.T(), &wy)
			if !mat.EqualApprox(got[l], &want, 1e-4*(1+mat.Max(&want))) {
				t.Errorf("fold %d, length %d: %v, want %v", fold, l+1, mat.Formatted(got[l]), mat.Formatted(&want))
			}
		}
	}
}

func TestWalkGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const c = 3
	f := walkLikelihood{classes: c, prior: prior([]float64{0.5, 0.3, 0.2})}
	for range walkSteps {
		m := mat.NewDense(c, c, nil)
		m.Apply(func(_, _ int, _ float64) float64 { return 10 * rng.Float64() }, m)
		var both mat.Dense
		both.Add(m, m.T())
		f.counts = append(f.counts, &both)
	}
	theta := make([]float64, c*(c+1)/2)
	for i := range theta {
		theta[i] = rng.NormFloat64()
	}
	got := make([]float64, len(theta))
	f.lossAndGradient(theta, got)
	want := fd.Gradient(nil, func(x []float64) float64 { return f.lossAndGradient(x, nil) }, theta, &fd.Settings{Formula: fd.Central})
	for i, w := range want {
		if math.Abs(got[i]-w) > 1e-5*(1+math.Abs(w)) {
			t.Errorf("derivative %d: %g, want %g", i, got[i], w)
		}
	}
}

func TestElementary(t *testing.T) {
	for x := -87.0; x <= 0; x += 0.0137 {
		if got, want := float64(exp32(float32(x))), math.Exp(float64(float32(x))); math.Abs(got-want) > 3e-7*want {
			t.Fatalf("exp(%g) = %g, want %g", x, got, want)
		}
	}
	for x := 1e-9; x < 1e4; x *= 1.0031 {
		if got, want := float64(log32(float32(x))), math.Log(float64(float32(x))); math.Abs(got-want) > 3e-7*max(1, math.Abs(want)) {
			t.Fatalf("log(%g) = %g, want %g", x, got, want)
		}
	}
}

// Classes at the ends of edges have other shares than nodes, as in the block model with degrees.
func TestRatiosOfUnequalDegrees(t *testing.T) {
	joint := mat.NewSymDense(2, []float64{0.5, 0.1, 0.1, 0.3})
	ends := []float64{0.6, 0.4}
	const labels = 1e6
	var pairs []*mat.Dense
	steps := mat.DenseCopyOf(joint) // diag(p)·P^l
	for range walkSteps {
		pair := mat.NewDense(2, 2, nil)
		pair.Scale(2*labels, steps)
		pairs = append(pairs, pair)
		var scaled mat.Dense
		scaled.Mul(mat.NewDiagDense(2, []float64{1 / ends[0], 1 / ends[1]}), joint)
		next := new(mat.Dense)
		next.Mul(steps, &scaled)
		steps = next
	}
	r := fromWalks(pairs, labels, []float64{0.9, 0.1})
	for i := range 2 {
		for j := range 2 {
			if want := joint.At(i, j) / (ends[i] * ends[j]); math.Abs(r.At(i, j)-want) > 0.01 {
				t.Errorf("ratio of classes %d and %d: %.4f, want %.4f", i, j, r.At(i, j), want)
			}
		}
	}
}

func TestBlockModels(t *testing.T) {
	for homophily, least := range map[float64]float64{0.9: 0.97, 0: 0.93} {
		g, class, seeds := blockModel(t, 20_000, 160_000, 5, homophily, 0.02, 0)
		m, err := Fit(t.Context(), g, seeds, deal(len(seeds.Row), 5), &Settings{Candidates: Candidates()[:1]})
		if err != nil {
			t.Fatal(err)
		}
		dst, err := m.Predict(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for i, c := range class {
			row := dst.Row(i)
			if slices.Index(row, slices.Max(row)) == c {
				right++
			}
		}
		accuracy := float64(right) / float64(len(class))
		t.Logf("homophily %g: %s, %d rounds, accuracy %.4f, held out %.3f", homophily, m.Ratios, m.Rounds, accuracy, m.Accuracy)
		if accuracy < least || math.Abs(accuracy-m.Accuracy) > 0.03 || homophily > 0.5 && !m.KnowsItself() {
			t.Errorf("homophily %g: accuracy %.4f, held out %.4f ± %.4f", homophily, accuracy, m.Accuracy, m.Certain)
		}
	}
}

// Most nodes have a label, which makes ratios from beliefs sharper than ratios without a fold.
func TestManyLabelsAreNotTooCertain(t *testing.T) {
	g, class, seeds := blockModel(t, 20_000, 80_000, 5, 0, 0.9, 0)
	m, err := Fit(t.Context(), g, seeds, deal(len(seeds.Row), 5), &Settings{Candidates: []Candidate{{Iterated, 1, rounds}}})
	if err != nil {
		t.Fatal(err)
	}
	dst, err := m.Predict(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum, right, nodes := 0.0, 0.0, 0.0
	for i, c := range class {
		if m.network.seedOf[i] >= 0 {
			continue
		}
		row := dst.Row(i)
		sum += float64(slices.Max(row))
		nodes++
		if slices.Index(row, slices.Max(row)) == c {
			right++
		}
	}
	t.Logf("mean probability %.4f, right %.4f of %.0f", sum/nodes, right/nodes, nodes)
	if math.Abs(sum-right) > 0.02*nodes {
		t.Errorf("the mean probability is %.4f, and %.4f of the nodes are right", sum/nodes, right/nodes)
	}
}

func TestWorkersAgree(t *testing.T) {
	var want []float32
	for _, s := range []struct{ workers, runs int }{{1, 0}, {2, 1}, {7, 3}} {
		g, class, seeds := blockModel(t, 3000, 12_000, 3, 0.6, 0.05, s.workers)
		memory := int64(s.runs) * Workspace(len(class), 3).Required(1)
		m, err := Fit(t.Context(), g, seeds, deal(len(seeds.Row), 5), &Settings{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		dst, err := m.Predict(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []float32
		for i := range class {
			got = append(got, dst.Row(i)...)
		}
		got = append(got, float32(m.Accuracy))
		if want == nil {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("%+v: other bits than with one worker and no limit", s)
		}
	}
}

func TestFormAgreesWithDense(t *testing.T) {
	dense, net, r := smallNetwork(t)
	const rounds = 5
	for _, q := range []*run{newRun(net, r, 0, 0.3, noFold), newRun(net, nil, 0.5, 0.4, noFold)} {
		if err := q.advance(t.Context(), rounds); err != nil {
			t.Fatal(err)
		}
		f, err := newForm(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		nodes, class := []int{1, 11, 0}, []int{0, 2, 0} // the last one has a label
		terms, left, err := f.Terms(t.Context(), nodes, class)
		if err != nil {
			t.Fatal(err)
		}
		before, after := denseRounds(dense, q, rounds), denseRounds(dense, q, rounds+1)
		for j, v := range nodes[:2] {
			c, next := class[j], slices.Index(terms[j].Score, 0)
			odds := func(class int) float64 { return math.Log(after.At(v, class) - damping*before.At(v, class)) }
			sum := float64(q.prior[c] - q.prior[next])
			for u := range dense.SymmetricDim() {
				sum += dense.At(v, u) * float64(left.Row(v)[j]) * (f.Right(u, c) - f.Right(u, next))
			}
			if want := odds(c) - odds(next); math.Abs(terms[j].Rest-want) > 1e-4 || math.Abs(sum-want) > 1e-4 {
				t.Errorf("node %d: score %g, links and prior %g, want %g", v, terms[j].Rest, sum, want)
			}
		}
		if last := terms[2]; last.Share[0] != last.Score[0] || last.Rest != 0 {
			t.Errorf("a labelled node has the terms %+v", last)
		}
	}
}
