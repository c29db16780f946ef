package regression

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Ridge is ridge regression of numbers on the attributes of their nodes alone, each attribute with mean 0 and variance 1 over
// the nodes it learns from. It takes attributes as they are, where [Hops] takes their normal scores. A node without attributes
// has their means.
var Ridge = featureRidge{fixed: ownFeatures}.method(&param.Spec{
	Name: "ridge", Title: "ridge regression on the attributes of a node alone", Works: param.Undirected | param.Signed,
	Source: "Hoerl and Kennard, Ridge regression, 1970",
	Params: []param.Param{{
		Name: "lambda", Symbol: "λ", Meaning: "ridge, relative to the number of attributes",
		Range: param.Above(0), Default: param.Of(0.01), Grid: engine.Ratios,
	}},
}, func(p *engine.Problem) budget.Workspace {
	if p.Attributes == nil {
		return budget.Workspace{}
	}
	fitted := min(len(p.Row), mostFitted)
	return budget.Held(3*budget.Block[float64](fitted, p.Attributes.Cols+1), 3*budget.Block[float64](p.Attributes.Cols+1, p.Attributes.Cols+1))
})

// ownFeatures returns the attributes of known nodes, each with mean 0 and variance 1 over these nodes.
func ownFeatures(_ context.Context, j *engine.Job, p *engine.Problem, positions []int, _ param.Values) (*features, error) {
	if p.Team() != nil {
		return nil, &problem.Error{Method: "ridge", Err: sparse.ErrDivided}
	}
	if p.Attributes == nil {
		return &features{Block: &sparse.Block[float64]{Rows: len(positions)}}, nil
	}
	t := p.Attributes
	x := sparse.NewBlock[float64](len(positions), t.Cols)
	present := make([]bool, len(positions))
	mean := make([]float64, t.Cols)
	factor := make([]float64, t.Cols)
	rows := t.Reader()
	count := 0.0
	for a, i := range positions {
		present[a] = t.Has(p.Row[i])
		if !present[a] {
			continue
		}
		count++
		columns, values := rows.Row(p.Row[i])
		eachValue(columns, values, func(k int, v float64) {
			x.Row(a)[k] = v
			mean[k] += v
		})
	}
	for k := range mean {
		mean[k] /= max(1, count)
	}
	for a, isPresent := range present {
		for k := range mean {
			if isPresent {
				d := x.Row(a)[k] - mean[k]
				x.Row(a)[k] = d
				factor[k] += float64(d * d)
			}
		}
	}
	for k, squares := range factor {
		factor[k] = 0
		if deviation := math.Sqrt(squares / max(1, count)); deviation > rounding*math.Abs(mean[k]) {
			factor[k] = 1 / deviation
		}
		for a := range positions {
			x.Row(a)[k] *= factor[k]
		}
	}
	add := func(ctx context.Context, w, values []float64) error {
		constant := 0.0
		slope := make([]float64, len(w))
		for k, weight := range w {
			slope[k] = float64(weight * factor[k])
			constant += float64(slope[k] * mean[k])
		}
		err := blocks.EachNodeChunk(ctx, j.Settings.Workers, len(values), func(_, lo, hi int) {
			rows := t.Reader()
			for v := lo; v < hi; v++ {
				if !t.Has(v) {
					continue
				}
				sum := 0.0
				columns, row := rows.Row(v)
				eachValue(columns, row, func(k int, x float64) { sum += float64(slope[k] * x) })
				values[v] += sum - constant
			}
		})
		if err != nil {
			return err
		}
		return t.Err()
	}
	return &features{x, add}, t.Err()
}

// eachValue calls visit with the column and the value of each entry of a row of a table.
func eachValue(columns []uint32, values []float32, visit func(column int, value float64)) {
	for i, x := range values {
		if columns != nil {
			visit(int(columns[i]), float64(x))
		} else {
			visit(i, float64(x))
		}
	}
}
