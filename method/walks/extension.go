package walks

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// decisions has what a new node x needs of classifiers that are linear in walks. Since P_t(x) = Σ_u w_xu·P_(t−1)(u)/d(x) at a node
// without a label, the decisions Σ_t W_t·P_t(x) + b are means over neighbours of the columns Σ_t W_t·P_(t−1)(u), plus b.
type decisions struct {
	Pairs classify.Pairs `json:"pairs"`
	Bias  []float64      `json:"bias"`
	Prior []float64      `json:"prior"`
	Votes choose.Votes   `json:"votes"`
}

func (m method) extension() *engine.Extension {
	if perNode(m.learner) {
		return nil
	}
	return &engine.Extension{
		Count: func(p *engine.Problem, _ *engine.Settings) int {
			return max(len(p.Names), len(p.Names)*(len(p.Names)-1)/2)
		},
		Restore: func(kept []byte, classes, columns int) (func() engine.Step, error) {
			d := new(decisions)
			if json.Unmarshal(kept, d) != nil || len(d.Prior) != classes || len(d.Bias) != columns || len(d.Pairs) != columns ||
				slices.ContainsFunc(d.Pairs, func(p classify.Pair) bool { return p.Positive < 0 || max(p.Positive, p.Negative) >= classes }) {
				return nil, engine.ErrChanged
			}
			j := &engine.Job{Learner: m.learner, Votes: d.Votes}
			return func() engine.Step {
				sums := make([]float64, len(d.Bias))
				return func(x *engine.NewNode) {
					copy(x.Columns, x.Mean) // decisions one step earlier
					copy(x.Scores, d.Prior)
					if x.Reached {
						floats.AddTo(sums, x.Mean, d.Bias)
						j.VoteTo(x.Scores, d.Pairs, sums)
					}
				}
			}, nil
		},
	}
}

// columns stores the columns of decisions in r.Out.Columns, if they are asked for. Cost: a walk of all classes.
func (r *predictor) columns(ctx context.Context) error {
	if !r.Settings.Columns || r.model == nil {
		return nil
	}
	k := len(r.Problem.Names)
	machines := len(r.model.Pairs)
	first := r.par.MinSteps()
	d := &decisions{Pairs: r.model.Pairs, Bias: append([]float64(nil), r.model.Bias...), Votes: r.Votes,
		Prior: r.Settings.Prior.Distributions(r.Problem.Seeds())(0)}
	weights := r.weights()
	floats.Scale(r.par.Scale(), weights.Data)
	if first == 0 { // P_0 of a new node is the prior
		for b, q := range d.Prior {
			floats.AddScaled(d.Bias, q, weights.Row(b))
		}
		weights = blocks.Range(weights, k, weights.Rows)
		first++
	}
	columns := sparse.NewBlock[float64](len(r.Problem.Degrees), machines)
	if r.par.Steps() >= first {
		w := scoreWalk(r.Problem, r.Settings, r.par, true)
		w.Steps--
		floats.Scale(math.Sqrt(float64(w.Steps-first+2)), weights.Data) // Scores divides by it
		if err := w.Scores(ctx, columns, first-1, weights, nil, nil); err != nil {
			return err
		}
	}
	values := sparse.NewBlock[float32](columns.Rows, machines)
	for i := range columns.Rows {
		simd.ConvertTo(values.Row(i), columns.Row(i))
	}
	r.Out.Columns = &engine.Columns{Kept: d, Values: values}
	return nil
}
