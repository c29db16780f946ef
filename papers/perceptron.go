package papers

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/param"
)

// perceptron is the voted perceptron on a kernel, one-vs-rest: Freund and Schapire, Large margin
// classification using the perceptron algorithm, Machine Learning 37 (1999). Passes over the items
// in order make predictors v_j, where j counts mistakes: an item with y·v_j(x) ≤ 0 gives v_{j+1} =
// v_j + y·K(x, ·). c_j counts the mistake that made v_j and the items that v_j predicted rightly.
// The scores of x are Σ c_j·sign(v_j(x)), Σ c_j·v_j(x), or the last v_j(x). There is no bias. An
// item of weight w adds w·y·K(x, ·), and counts w times in c_j.
var perceptron = classify.Learner{
	Spec: param.Spec{
		Name: "perceptron", Title: "voted perceptrons, each class against all others",
		Source: "Freund and Schapire, Large margin classification using the perceptron algorithm, Machine Learning 37, 1999",
		Params: []param.Param{
			{Name: "epochs", Symbol: "epochs", Meaning: "passes of a perceptron over the labels", Kind: param.Whole,
				Range: param.Range{Least: 1, Most: 1e6}, Default: param.Of(10),
				Grid: []param.Value{param.Of(1), param.Of(10), param.Of(100)}},
			{Name: "vote", Meaning: "what speaks of all the perceptrons on the way", Kind: param.Choice,
				Words:   []string{"voted", "averaged", "last"},
				Default: param.Of("voted")},
			classify.WeightsParam,
		},
	},
	Fit: func(ctx context.Context, k classify.Gram, y []int, classes int, v param.Values) (*classify.Model, error) {
		pairs, err := classify.AgainstRest(y, classes)
		if err != nil {
			return nil, err
		}
		model := &classify.Model{Classes: classes, Items: k.Len(), Pairs: pairs}
		p := make(voteRule, len(pairs))
		if len(p) == 2 {
			p = p[:1] // the other class makes the same mistakes with opposite signs
		}
		items := classify.LabelledItems(y)
		weights := classify.WeightsOf(v, y, classes)
		err = sched.Run(ctx, 0, len(p), func(_, m int) (err error) {
			p[m], err = makeMistakes(ctx, k, items, y, weights, pairs[m].Positive,
				v.Int("epochs"))
			return err
		})
		if err != nil {
			return nil, err
		}
		if vote := v.Word("vote"); vote == "voted" {
			model.Rule = p
		} else {
			model.Machines = p.sum(model, items, vote == "averaged")
		}
		return model, nil
	},
	Workspace: func(items, _, classes int) budget.Workspace {
		return budget.Held(budget.Vector[float64](4 * items * classes))
	},
}

type mistakes struct {
	item  []int
	step  []float64 // y of the item, ±1, times its weight
	count []float64 // weight of the items that a predictor lasted, from the predictor without mistakes on
}

// makeMistakes trains the perceptron of a class against all others, and returns its mistakes. It passes epochs times over the
// items, whose classes are y. weights are by class; nil means 1. Cost: a kernel value for each item and each mistake.
func makeMistakes(ctx context.Context, k classify.Gram, items, y []int, weights []float64,
	class, epochs int) (mistakes, error) {
	p := mistakes{count: []float64{0}}
	score := make([]float64, len(items))
	row := make([]float64, len(items))
	for range epochs {
		if err := sched.Cause(ctx); err != nil {
			return p, err
		}
		for a, i := range items {
			weight := 1.0
			if weights != nil {
				weight = weights[y[i]]
			}
			step := -weight
			if y[i] == class {
				step = weight
			}
			if step*score[a] > 0 {
				p.count[len(p.item)] += weight
				continue
			}
			p.item = append(p.item, i)
			p.step = append(p.step, step)
			p.count = append(p.count, weight)
			k.PartTo(row, i, items)
			simd.AddScaled(score, step, row)
			if !isFinite(score[a]) {
				return p, classify.ErrNotFinite
			}
		}
	}
	return p, nil
}

// voteRule has the mistakes of the perceptron of each class. With two classes it has only those of the first class, because
// the second makes the same mistakes with opposite signs.
type voteRule []mistakes

// Support implements [classify.Model.Support]: the number of predictors.
func (p voteRule) Support() (mistakes int) {
	for m := range p {
		mistakes += len(p[m].item)
	}
	return mistakes
}

// ScoresTo implements [classify.Rule]. Cost: a sum for each mistake.
func (p voteRule) ScoresTo(dst, row []float64, _ float64) {
	for m := range p {
		k := &p[m]
		var value, votes float64
		for j, i := range k.item {
			value += k.step[j] * row[i]
			if value != 0 {
				votes += math.Copysign(k.count[j+1], value)
			}
		}
		dst[m] = votes
	}
	if len(dst) > len(p) {
		dst[1] = -dst[0]
	}
}

// sum returns for each pair the last predictor, or if counted is set the sum of the predictors weighted by their counts.
func (p voteRule) sum(model *classify.Model, items []int, counted bool) []classify.Machine {
	list := make([]classify.Machine, len(model.Pairs))
	for m := range list {
		k := &p[min(m, len(p)-1)]
		side := 1.0
		if m >= len(p) {
			side = -1
		}
		coef := make([]float64, model.Items)
		weight := 1.0
		if counted {
			weight = 0
		}
		for j := len(k.item) - 1; j >= 0; j-- {
			if counted {
				weight += k.count[j+1]
			}
			coef[k.item[j]] += side * k.step[j] * weight
		}
		for _, i := range items {
			if coef[i] != 0 {
				list[m].Index = append(list[m].Index, i)
				list[m].Iterations++
				list[m].Coef = append(list[m].Coef, coef[i])
			}
		}
	}
	return list
}
