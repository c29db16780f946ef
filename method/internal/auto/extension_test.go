package auto

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

// A node without a label, extended from its neighbours, has the walks of the run, and mostly its class.
func TestExtension(t *testing.T) {
	for _, hasWords := range []bool{false, true} {
		p, class := contract.Blocks(t, 7, 300, 90, 3, 0.2, 0.1)
		if hasWords {
			p.Attributes = wordsOf(rand.New(rand.NewPCG(1, 1)), class, 0.4, 0.04)
		}
		out := evident(t, p, &settings{Settings: engine.Settings{Workers: 1, Columns: true}})
		e := out.Columns.Kept.(*extended)
		steps := restored(t, e, out.Columns.Values.Cols)
		k := len(p.Names)
		isLabelled := problem.MarkLabels(p)
		same, nodes := 0, 0
		err := sparse.EachRow(context.Background(), p.A, 1, func(_, v int, col []uint32, weight []float64) error {
			if isLabelled[v] || len(col) == 0 {
				return nil
			}
			x := &engine.NewNode{Mean: make([]float64, out.Columns.Values.Cols), Reached: true,
				Columns: make([]float64, out.Columns.Values.Cols), Scores: make([]float64, k)}
			for j, u := range col {
				w := 1.0
				if weight != nil {
					w = weight[j]
				}
				x.Degree += w
				row := make([]float64, len(x.Mean))
				simd.ConvertTo(row, out.Columns.Values.Row(int(u)))
				floats.AddScaled(x.Mean, w, row)
			}
			floats.Scale(1/x.Degree, x.Mean)
			if hasWords {
				x.Attributes = make([]float32, p.Attributes.Cols)
				columns, values := p.Attributes.Reader().Row(v)
				for j, y := range values {
					column := j
					if columns != nil {
						column = int(columns[j])
					}
					x.Attributes[column] = y
				}
			}
			steps(x)
			want := out.Columns.Values.Row(v)
			for i, f := range e.Filters {
				tolerance := 1e-6
				if f == decay85 || f == decay95 || f == source { // the last step of a walk is missing
					tolerance = 0.2
				}
				for c := range k {
					if y := float64(want[i*k+c]); math.Abs(x.Columns[i*k+c]-y) > tolerance*(y+1e-3) {
						t.Fatalf("node %d, filter %d, class %d: %g, run %g", v, f, c, x.Columns[i*k+c], y)
					}
				}
			}
			nodes++
			if classify.ArgMax(x.Scores) == out.Class[v] {
				same++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if float64(same) < 0.95*float64(nodes) {
			t.Errorf("words %v: %d of %d nodes have the class of the run", hasWords, same, nodes)
		}
	}
}

func restored(t *testing.T, e *extended, columns int) engine.Step {
	kept, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := extension.Restore(kept, len(e.Prior), columns)
	if err != nil {
		t.Fatal(err)
	}
	return steps()
}

// The features of attributes of a new node are those of a node of the graph.
func TestAttributeRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		table, _ := tableOf(rng, rapid.IntRange(1, 60).Draw(t, "nodes"), rapid.IntRange(0, 90).Draw(t, "words"), rapid.IntRange(1, 3).Draw(t, "real"))
		a := newAttributeTable(nil, table)
		row := newAttributeRow(a.scales())
		w := newBlock(table.Cols, 2)
		for i := range w.Data {
			w.Data[i] = float32(rng.NormFloat64())
		}
		all := (&lens{a: a}).productOf(w)
		one := row.productOf(w)
		want, got := newBlock(1, 2), newBlock(1, 2)
		for v := range table.Rows {
			columns, values := table.Reader().Row(v)
			if row.set(nil); values != nil {
				dense := make([]float32, table.Cols)
				for j, x := range values {
					if columns == nil {
						dense[j] = x
					} else {
						dense[columns[j]] = x
					}
				}
				row.set(dense)
			}
			all(want, v)
			one(got, 0)
			for c, x := range got.Row(0) {
				if y := want.Row(0)[c]; math.Abs(float64(x-y)) > 1e-6*(1+math.Abs(float64(y))) {
					t.Fatalf("node %d: %v, table %v", v, got.Row(0), want.Row(0))
				}
			}
		}
	})
}
