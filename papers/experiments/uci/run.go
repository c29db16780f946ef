package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/papers/closed"
	_ "github.com/heatwalk/heatwalk/papers/learners"
	"github.com/heatwalk/heatwalk/param"
)

// problem is a data set with a kernel.
type problem struct {
	*set
	attributes []nodefile.Column
	class      []int
	classes    int
	seed       uint64
	values     *values
}

// run prints the lines of a data set.
func run(ctx context.Context, dir string, s *set, splits int, seed uint64) error {
	p := &problem{set: s, seed: seed}
	var err error
	if p.attributes, p.class, p.classes, err = s.read(ctx, dir); err != nil {
		return err
	}
	missing := param.Of(s.missing)
	rounds := param.Values{"epochs": param.Of(10), "vote": param.Of("voted")}
	err = p.line(ctx, splits, "hamming", param.Values{"missing-values": missing},
		"perceptron", rounds, s.hamming)
	if err != nil {
		return err
	}
	beta, err := p.bestBeta(ctx, missing, rounds)
	if err != nil {
		return err
	}
	kernel := param.Values{"missing-values": missing, "beta": beta}
	if err := p.line(ctx, splits, "categorical", kernel, "perceptron", rounds,
		s.diffusion); err != nil {
		return err
	}
	for _, learner := range []string{"svm", "logistic"} {
		if err := p.line(ctx, splits, "categorical", kernel, learner, nil, published{}); err != nil {
			return err
		}
	}
	return nil
}

// bestBeta returns the β of the usual ones with the least error on the splits for tuning.
func (p *problem) bestBeta(ctx context.Context, missing param.Value,
	rounds param.Values) (best param.Value, err error) {
	smallest := math.Inf(1)
	for _, beta := range closed.Kernels().Named("categorical").Param("beta").Grid {
		if err := p.use("categorical",
			param.Values{"missing-values": missing, "beta": beta}); err != nil {
			return best, err
		}
		o, err := p.evaluate(ctx, "perceptron", rounds, p.tuning, p.seed+1)
		if err != nil {
			return best, err
		}
		if o.err < smallest {
			smallest = o.err
			best = beta
		}
	}
	return best, nil
}

// use makes the kernel the one of the problem.
func (p *problem) use(name string, params param.Values) error {
	k := closed.Kernels().Named(name)
	v, err := k.Resolve(params, nil)
	if err != nil {
		return err
	}
	g, err := k.Of(p.attributes, v)
	if err == nil {
		p.values = nil // before others are made
		p.values = valuesOf(g)
	}
	return err
}

// line prints the errors of a kernel and a learner, whose parameters are chosen among
// the usual ones unless given.
func (p *problem) line(ctx context.Context, splits int, kernel string,
	ofKernel param.Values, learner string, params param.Values,
	says published) error {
	if err := p.use(kernel, ofKernel); err != nil {
		return err
	}
	l := classify.Learners().Named(learner)
	settings, err := split.Settings(&l.Spec, params, nil)
	if err != nil {
		return err
	}
	best := settings[0]
	smallest := math.Inf(1)
	for _, v := range settings {
		if len(settings) == 1 {
			break
		}
		o, err := p.evaluate(ctx, learner, v, p.tuning, p.seed+1)
		if err != nil {
			return err
		}
		if o.err < smallest {
			smallest = o.err
			best = v
		}
	}
	o, err := p.evaluate(ctx, learner, best, splits, p.seed)
	if err != nil {
		return err
	}
	text := ""
	if beta, ok := ofKernel["beta"]; ok {
		text = "β = " + beta.String()
	}
	if cost, ok := best["cost"]; ok {
		text += ", C = " + cost.String()
	}
	if lambda, ok := best["lambda"]; ok {
		text += ", λ = " + lambda.String()
	}
	fmt.Printf("| %s | %s, %s | %s | %s | %s | %.2f ± %.2f | %.1f | %s |\n",
		p.name, kernel, learner, says.err, says.mistakes, says.beta, 100*o.err,
		100*o.deviation, o.support, text)
	return nil
}

// outcome holds means over splits.
type outcome struct{ err, deviation, support float64 }

// evaluate trains and tests a learner on each split.
func (p *problem) evaluate(ctx context.Context, learner string, v param.Values,
	splits int, seed uint64) (o outcome, err error) {
	wrong := make([]float64, splits)
	support := make([]float64, splits)
	err = sched.Run(ctx, 0, splits, func(_, i int) (err error) {
		order := rand.New(rand.NewPCG(seed, uint64(i))).Perm(len(p.class))
		cut := len(order) * 4 / 5
		train := order[:cut]
		if p.sample > 0 && learner != "perceptron" {
			train = train[:p.sample]
		}
		wrong[i], support[i], err = p.trial(ctx, learner, v, train, order[cut:])
		return err
	})
	for i := range wrong {
		o.err += wrong[i] / float64(splits)
		o.support += support[i] / float64(splits)
	}
	for _, e := range wrong {
		o.deviation += (e - o.err) * (e - o.err) / float64(splits-1)
	}
	o.deviation = math.Sqrt(o.deviation)
	return o, err
}

// trial returns the share of misclassified test records, and the number of support vectors or
// terms of the model.
func (p *problem) trial(ctx context.Context, learner string, v param.Values,
	train, test []int) (wrong, support float64, err error) {
	k := newPart(p.values, train)
	y := make([]int, len(train))
	for i, r := range train {
		y[i] = p.class[r]
	}
	model, err := classify.Learners().Named(learner).Fit(ctx, k, y, p.classes, v)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %s: %w", p.name, learner, err)
	}
	says := map[int]int{} // by distinct record
	row := make([]float64, len(train))
	scores := make([]float64, len(model.Pairs))
	for _, r := range test {
		class, ok := says[p.values.alike[r]]
		if !ok {
			k.withTo(row, r)
			class = model.Pairs.Predict(model.ScoresTo(scores, row, 1))
			says[p.values.alike[r]] = class
		}
		if class != p.class[r] {
			wrong += 1 / float64(len(test))
		}
	}
	return wrong, float64(model.Support()), nil
}
