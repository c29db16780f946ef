package spread

import (
	"encoding/json"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/beliefs"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
)

// equation has what a new node x needs of scores f with
//
//	f(x) = g·Σ_u w_xu·f(u)/d_x,  or if scores spread by S, f(x) = g·Σ_u w_xu·f(u)/√(d_x·d_u),
//
// at nodes without a label. The columns are f(u), divided by √d_u for S, and the root mean square of the scores of the
// component if probabilities depend on it.
type equation struct {
	Gain   float64   `json:"gain"`
	Prior  []float64 `json:"prior"`            // scores without a label
	Offset []float64 `json:"offset,omitempty"` // see [propagate.Learner.Decide]
	Signed bool      `json:"signed,omitempty"`
}

// columns returns the columns of scores f. square has the mean square of the scores of the component of a node; nil: probabilities
// do not depend on it.
func (q *equation) columns(f *sparse.Block[float64], degrees []float64, isNormalized bool, square func(node int) float64) *engine.Columns {
	width := f.Cols
	if square != nil {
		width++
	}
	values := sparse.NewBlock[float32](f.Rows, width)
	for i := range f.Rows {
		row := values.Row(i)
		unit := 1.0
		if isNormalized && degrees[i] > 0 {
			unit = 1 / math.Sqrt(degrees[i])
		}
		for c, x := range f.Row(i) {
			row[c] = float32(unit * x)
		}
		if square != nil {
			row[f.Cols] = float32(math.Sqrt(square(i)))
		}
	}
	return &engine.Columns{Kept: q, Values: values}
}

// shareTo stores the scores divided by their sum, or if the sum is 0, the prior.
func (q *equation) shareTo(dst, scores []float64) {
	copy(dst, scores)
	if !shareTo(dst) {
		copy(dst, q.Prior)
	}
}

// step returns a step whose probabilities come from share, given the scores and their root mean square.
func (q *equation) step(isNormalized bool, share func(dst, scores []float64, scale float64)) engine.Step {
	k := len(q.Prior)
	scores := make([]float64, k)
	return func(x *engine.NewNode) {
		copy(x.Columns, x.Mean)
		if !x.Reached {
			copy(x.Scores, q.Prior)
			return
		}
		unit := 1.0
		if isNormalized {
			unit = math.Sqrt(x.Degree)
		}
		floats.Scale(q.Gain, x.Columns[:k])
		floats.ScaleTo(scores, unit, x.Columns[:k])
		addTo(scores, q.Offset)
		share(x.Scores, scores, x.Mean[len(x.Mean)-1])
	}
}

func restoreEquation(kept []byte, classes, width, columns int) (*equation, error) {
	q := new(equation)
	if json.Unmarshal(kept, q) != nil || len(q.Prior) != classes || width != columns || q.Offset != nil && len(q.Offset) != classes {
		return nil, engine.ErrChanged
	}
	return q, nil
}

// extension returns nil if the scores of a rule have no equation.
func (m spreading) extension() *engine.Extension {
	if m.rule.Gain == nil {
		return nil
	}
	return &engine.Extension{
		Count: func(p *engine.Problem, _ *engine.Settings) int { return len(p.Names) + 1 },
		Restore: func(kept []byte, classes, columns int) (func() engine.Step, error) {
			width := classes
			if m.rule.Probabilities != nil {
				width++
			}
			q, err := restoreEquation(kept, classes, width, columns)
			return func() engine.Step {
				return q.step(m.rule.Normalized, func(dst, scores []float64, scale float64) {
					if q.Signed || m.rule.Probabilities != nil {
						m.probabilitiesTo(dst, q.Signed, scores, q.Prior, scale*scale)
					} else {
						q.shareTo(dst, scores)
					}
				})
			}, err
		},
	}
}

func (m spreading) columns(j *engine.Job, v param.Values, prior, offset []float64, square func(node int) float64) {
	if j.Settings.Columns && m.rule.Gain != nil {
		if m.rule.Probabilities == nil {
			square = nil
		}
		q := &equation{Gain: m.rule.Gain(v), Prior: prior, Offset: offset, Signed: j.Graph.Signed}
		j.Out.Columns = q.columns(j.Out.Raw, j.Problem.Degrees, m.rule.Normalized, square)
	}
}

// extendPropagation is the equation of the harmonic function. It ignores that walks of a given length have one step less at
// neighbours.
var extendPropagation = &engine.Extension{
	Count: func(p *engine.Problem, _ *engine.Settings) int { return len(p.Names) },
	Restore: func(kept []byte, classes, columns int) (func() engine.Step, error) {
		q, err := restoreEquation(kept, classes, classes, columns)
		return func() engine.Step {
			return q.step(false, func(dst, scores []float64, _ float64) {
				if q.Signed {
					propagate.SignedShares(dst, scores)
				} else {
					q.shareTo(dst, scores)
				}
			})
		}, err
	},
}

var extendBeliefs = &engine.Extension{
	Count: func(p *engine.Problem, _ *engine.Settings) int { return len(p.Names) },
	Restore: func(kept []byte, classes, columns int) (func() engine.Step, error) {
		b := new(beliefs.Messages)
		if json.Unmarshal(kept, b) != nil || !b.IsValid(classes) || columns != classes {
			return nil, engine.ErrChanged
		}
		return func() engine.Step {
			step := b.Step()
			row := make([]float32, len(b.Shares))
			return func(x *engine.NewNode) {
				simd.ConvertTo(row, b.Shares)
				step(x.Columns, row, x.Mean, x.Degree, x.Reached)
				simd.ConvertTo(x.Scores, row)
			}
		}, nil
	},
}
