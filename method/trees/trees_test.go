package trees

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// drawProblem returns a graph of n nodes with weights, loops and isolated nodes, two attributes that some nodes lack, and its
// adjacency matrix. Half of the nodes have one of three classes, which follow the first attribute.
func drawProblem(t testing.TB, rng *rand.Rand, n int) (*problem.Problem, [][]float64) {
	a := make([][]float64, n)
	for v := range a {
		a[v] = make([]float64, n)
	}
	var entries []sparse.Triplet
	for range 2 * n {
		u, v := rng.IntN(n), rng.IntN(n)
		if v%7 == 3 || u%7 == 3 || a[u][v] > 0 {
			continue
		}
		w := math.Ldexp(1+rng.Float64(), rng.IntN(8)-4)
		a[u][v], a[v][u] = w, w
	}
	for u := range a {
		for v, w := range a[u] {
			if w > 0 {
				entries = append(entries, sparse.Triplet{Row: uint32(u), Col: uint32(v), Val: w})
			}
		}
	}
	m, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	p := &problem.Problem{Graph: &graph.Graph{A: m, Degrees: testgraph.Degrees(t, m)}, Weighted: true, Names: []string{"a", "b", "c"}}
	p.Attributes = &sparse.Table{Rows: n, Cols: 2}
	for v := range n {
		x := float32(rng.NormFloat64())
		if rng.IntN(5) > 0 {
			p.Attributes.Set(v, []float32{x, float32(rng.IntN(4))})
		}
		if v%2 == 0 {
			p.Row = append(p.Row, v)
			p.Class = append(p.Class, min(2, max(0, int(x+1.5))))
		}
	}
	return p, a
}

func sampleOf(p *problem.Problem, folds, workers int) *Sample {
	s := &Sample{Problem: p, Row: p.Row, Class: p.Class, Folds: folds, Workers: workers, Work: new(graph.Work)}
	for i := range p.Row {
		s.Fold = append(s.Fold, i%folds)
	}
	return s
}

// meanOver returns the mean of x weighted by w, of the finite values of x, or NaN if they have no weight.
func meanOver(w, x []float64) float64 {
	sum, mass := 0.0, 0.0
	for u, y := range x {
		if w[u] > 0 && y == y {
			sum += w[u] * y
			mass += w[u]
		}
	}
	return sum / mass
}

func product(a, b [][]float64) [][]float64 {
	c := make([][]float64, len(a))
	for i := range a {
		c[i] = make([]float64, len(a))
		for k, x := range a[i] {
			for j, y := range b[k] {
				c[i][j] += x * y
			}
		}
	}
	return c
}

// Columns of nodes agree with their definitions on a dense matrix.
func TestNodeColumns(t *testing.T) {
	p, a := drawProblem(t, rand.New(rand.NewPCG(1, 2)), 60)
	n := len(a)
	g := newGraphWalks(p, 2, new(graph.Work))
	c, err := newNodeColumns(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	walk := make([][]float64, n)
	for v := range walk {
		walk[v] = make([]float64, n)
		for u, w := range a[v] {
			if p.Degrees[v] > 0 {
				walk[v][u] = w / p.Degrees[v]
			}
		}
	}
	walks := [][][]float64{walk, product(walk, walk), product(walk, product(walk, walk))}
	attribute := make([][]float64, 2)
	for j := range attribute {
		for v := range n {
			if _, values := p.Attributes.Reader().Row(v); values == nil {
				attribute[j] = append(attribute[j], math.NaN())
			} else {
				dense := make([]float32, 2)
				columns, _ := p.Attributes.Reader().Row(v)
				for i, x := range values {
					if columns != nil {
						dense[columns[i]] = x
					} else {
						dense[i] = x
					}
				}
				attribute[j] = append(attribute[j], float64(dense[j]))
			}
		}
	}
	logs := make([]float64, n)
	for v, d := range p.Degrees {
		logs[v] = math.Log1p(d / g.unit)
	}
	degrees := 0
	for k, column := range c.list {
		for v := range n {
			var near []float64
			neighbours := 0.0
			triangles := 0.0
			for u, w := range a[v] {
				if column.Attribute >= 0 && w > 0 && attribute[column.Attribute][u] == attribute[column.Attribute][u] {
					near = append(near, attribute[column.Attribute][u])
				}
				if u != v && w > 0 {
					neighbours++
					for x := range u {
						if x != v && a[v][x] > 0 && a[u][x] > 0 {
							triangles++
						}
					}
				}
			}
			slices.Sort(near)
			end := func(i int) float64 {
				if i < 0 || i >= len(near) {
					return math.NaN()
				}
				return near[i]
			}
			want := math.NaN()
			switch column.View {
			case Degree:
				want = logs[v]
				if degrees > 0 {
					want = 0
					for u, w := range walks[degrees-1][v] {
						want += w * logs[u]
					}
				}
			case Triangles:
				want = math.Log1p(triangles)
			case Clustering:
				if neighbours > 1 {
					want = 2 * triangles / (neighbours * (neighbours - 1))
				}
			case Own, Category:
				want = attribute[column.Attribute][v]
			case Mean1, Mean2, Mean3:
				want = meanOver(walks[column.View-Mean1][v], attribute[column.Attribute])
			case Most:
				want = end(len(near) - 1)
			case Second:
				want = end(len(near) - 2)
			case Least:
				want = end(0)
			case Spread:
				mean, squares := 0.0, 0.0
				for _, y := range near {
					mean += y / float64(len(near))
				}
				for _, y := range near {
					squares += (y - mean) * (y - mean) / float64(len(near))
				}
				if len(near) > 0 {
					want = math.Sqrt(squares)
				}
			}
			if got := float64(c.Row(v)[k]); !(math.Abs(got-want) <= 1e-3*(1+math.Abs(want))) && (got == got || want == want) { // float32: squares are subtracted
				t.Errorf("node %d: column %d, %+v, is %v, want %v", v, k, column, got, want)
			}
		}
		if column.View == Degree {
			degrees++
		}
	}
}

// Shares of labels agree with their definitions, and do not depend on labels of the hidden fold.
func TestLabelColumns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, a := drawProblem(t, rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1)), rapid.IntRange(4, 40).Draw(rt, "nodes"))
		s := sampleOf(p, 3, 1)
		g := newGraphWalks(p, 1, new(graph.Work))
		target, output := s.outputs()
		c := newLabelColumns(g, s.Row, target, output, true)
		const hidden = 1
		got, err := c.compute(t.Context(), s.Fold, []int{hidden})
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Class {
			if s.Fold[i] == hidden {
				clear(target.Row(i))
				target.Row(i)[(slices.Index(output, s.Class[i])+1)%3] = 1
			}
		}
		again, err := c.compute(t.Context(), s.Fold, []int{hidden})
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range got.Data {
			if y := again.Data[i]; x != y && (x == x || y == y) {
				rt.Fatalf("columns depend on labels of the hidden fold: %v and %v", x, y)
			}
		}
		for k, column := range c.list {
			for v := range a {
				mass, sum := 0.0, 0.0
				for i, u := range s.Row {
					if s.Fold[i] == hidden {
						continue
					}
					w := a[v][u]
					switch column.View {
					case Mean1, Count:
					case Paths, Rare:
						w = 0
						for x := range a {
							w += a[v][x] * a[x][u]
						}
						if column.View == Rare && p.Degrees[u] > 0 {
							w /= p.Degrees[u]
						}
					default:
						continue
					}
					mass += w
					if s.Class[i] == column.Class || column.Class < 0 {
						sum += w
					}
				}
				x := float64(got.Row(v)[k])
				switch column.View {
				case Count:
					if want := math.Log1p(sum / g.unit); math.Abs(x-want) > 1e-5*(1+want) {
						rt.Fatalf("node %d: count %v, want %v", v, x, want)
					}
				case Mean1, Paths, Rare: // between the share and the prior
					prior := float64(c.prior[slices.Index(output, column.Class)])
					share := sum / mass
					if mass > 0 != (x == x) || mass > 0 && (x < min(prior, share)-1e-5 || x > max(prior, share)+1e-5) {
						rt.Fatalf("node %d: %+v: share %v of %v, want one between %v and %v", v, column, x, mass, prior, share)
					}
				}
			}
		}
	})
}

// A model predicts as its parts: the held-out scores of a label are the scores of the model without its fold. Results have
// the same bits for any number of workers.
func TestLearn(t *testing.T) {
	p, _ := drawProblem(t, rand.New(rand.NewPCG(4, 2)), 500)
	var want *Model
	var scores [][]float64
	for _, workers := range testgraph.Workers(1) {
		m, err := Learn(t.Context(), sampleOf(p, 5, workers))
		if err != nil {
			t.Fatal(err)
		}
		got := make([][]float64, len(p.Degrees))
		if err := m.Predict(t.Context(), func(node int, z []float64) { got[node] = slices.Clone(z) }); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want, scores = m, got
			continue
		}
		for v := range got {
			if !slices.Equal(got[v], scores[v]) {
				t.Fatalf("node %d: %d workers predict %v, want %v", v, workers, got[v], scores[v])
			}
		}
		if !slices.Equal(m.Held.Data, want.Held.Data) {
			t.Errorf("%d workers have other held-out scores", workers)
		}
	}
	right := 0
	for i, c := range p.Class {
		if classify.ArgMax(want.PredictionTo(nil, want.Held.Row(i))) == c {
			right++
		}
	}
	if share := float64(right) / float64(len(p.Row)); share < 0.75 { // a fifth of the nodes have no attributes
		t.Errorf("%v of the held-out labels are right", share)
	}
}

// The engine predicts at the ends: few labels, one label of a class, no attributes, and kept models.
func TestEngine(t *testing.T) {
	for _, labels := range []int{2, 3, 20, 100} {
		p, _ := drawProblem(t, rand.New(rand.NewPCG(9, uint64(labels))), 200)
		p.Row = p.Row[:labels]
		p.Class = p.Class[:labels]
		p.Class[0] = (p.Class[1] + 1) % 3
		if labels == 20 {
			p.Attributes = nil
		}
		out, err := Engine.Predict(t.Context(), p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for v := range p.Degrees {
			sum := 0.0
			for _, q := range out.Scores.Row(v) {
				sum += float64(q)
			}
			if math.Abs(sum-1) > 1e-5 {
				t.Fatalf("%d labels: probabilities of node %d sum to %v", labels, v, sum)
			}
		}
		kept, err := Engine.Keep(out, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Engine.Restore(kept).Predict(t.Context(), p, nil, &engine.Settings{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.Scores.Data, out.Scores.Data) {
			t.Errorf("%d labels: a kept model predicts otherwise", labels)
		}
	}
}

// The printed accuracy is the accuracy at the other nodes, and so is the mean largest probability, though several models with
// several sets of columns predict these and one model predicts each held-out label.
func TestPrintedAccuracy(t *testing.T) {
	const n, classes, draws = 1500, 4, 4
	printed, right, certain, others := 0.0, 0.0, 0.0, 0.0
	for draw := range draws {
		rng := rand.New(rand.NewPCG(uint64(draw), 3))
		var entries []sparse.Triplet
		for range 12 * n {
			u, v := rng.IntN(n), rng.IntN(n)
			if u != v && (u%classes == v%classes || rng.IntN(5) < 2) {
				entries = append(entries, sparse.Triplet{Row: uint32(u), Col: uint32(v), Val: 1}, sparse.Triplet{Row: uint32(v), Col: uint32(u), Val: 1})
			}
		}
		a, err := sparse.FromTriplets(n, n, entries)
		if err != nil {
			t.Fatal(err)
		}
		p := &problem.Problem{Graph: &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}, Names: []string{"a", "b", "c", "d"}}
		isKnown := make([]bool, n)
		for _, v := range rng.Perm(n)[:500] {
			isKnown[v] = true
			p.Row = append(p.Row, v)
			p.Class = append(p.Class, v%classes)
		}
		out, err := Engine.Predict(t.Context(), p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		printed += out.Estimate.Accuracy / draws
		for v, known := range isKnown {
			if known {
				continue
			}
			others++
			row := out.Scores.Row(v)
			certain += float64(slices.Max(row))
			if int(out.Class[v]) == v%classes {
				right++
			}
		}
	}
	found := right / others
	deviation := math.Sqrt(found * (1 - found) / (draws * 500))
	t.Logf("printed %.4f, found %.4f, mean largest probability %.4f, error %.4f", printed, found, certain/others, deviation)
	if math.Abs(printed-found) > 2*deviation || math.Abs(certain/others-found) > 3*deviation {
		t.Errorf("printed accuracy %v, mean largest probability %v, found %v ± %v", printed, certain/others, found, deviation)
	}
}

// Shares of labels, contributions of attributes and the rest add up to the score, whose differences are the log odds of the
// predicted probabilities. What is not around a node contributes nothing.
func TestTermsAddUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p, _ := drawProblem(t, rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 3)), rapid.IntRange(30, 150).Draw(r, "nodes"))
		if rapid.Bool().Draw(r, "without attributes") {
			p.Attributes = nil
		}
		if rapid.Bool().Draw(r, "two classes") {
			for i := range p.Class {
				p.Class[i] = min(p.Class[i], 1)
			}
		}
		s := sampleOf(p, rapid.IntRange(2, 5).Draw(r, "folds"), 2)
		s.Columns = rapid.SampledFrom([]string{EitherColumns, AllColumns, OwnColumns}).Draw(r, "columns")
		if p.Attributes == nil {
			s.Columns = EitherColumns
		}
		m, err := Learn(t.Context(), s)
		if err != nil {
			r.Fatal(err)
		}
		scores := newBlock(len(p.Degrees), len(p.Names))
		err = m.Predict(t.Context(), func(node int, z []float64) { simd.ConvertTo(scores.Row(node), m.PredictionTo(nil, z)) })
		if err != nil {
			r.Fatal(err)
		}
		var nodes, class []int
		for v := range p.Degrees {
			nodes = append(nodes, v)
			class = append(class, slices.Index(scores.Row(v), slices.Max(scores.Row(v))))
		}
		form := newForm(m, scores)
		terms, _, err := form.Terms(t.Context(), nodes, class)
		if err != nil {
			r.Fatal(err)
		}
		list, err := explain.Nodes(t.Context(), p, form, class, nodes, &explain.Settings{Number: len(p.Row)})
		if err != nil {
			r.Fatal(err)
		}
		for v, e := range list {
			if !(e.Error <= 1e-9*(1+math.Abs(e.Score)+e.Sizes)) {
				r.Fatalf("node %d: the terms differ from the score %v by %v: %+v", v, e.Score, e.Error, e)
			}
			if m.Columns() == OwnColumns && (len(e.Labels) > 0 || len(e.Links) > 0) {
				r.Fatalf("node %d has reasons around it without columns of what is around it: %+v", v, e)
			}
			if p.Degrees[v] == 0 && (len(e.Labels) > 0 || len(e.Links) > 0) {
				r.Fatalf("node %d without edges has labels or links as reasons: %+v", v, e)
			}
			for c, q := range scores.Row(v) {
				got := terms[v].Score[e.Class] - terms[v].Score[c]
				if want := math.Log(float64(scores.Row(v)[e.Class] / q)); q > 0 && math.Abs(got-want) > 1e-4*(1+want) {
					r.Fatalf("node %d: log odds against class %d are %v, want %v", v, c, got, want)
				}
			}
		}
	})
}
