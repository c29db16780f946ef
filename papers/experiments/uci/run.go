package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/papers/closed"
	_ "github.com/heatwalk/heatwalk/papers/learners"
	"github.com/heatwalk/heatwalk/param"
)

// problem is a data set with a kernel and a learner, and how many splits they are compared on.
type problem struct {
	*set
	records *nodefile.Attributes
	kernel  *closed.Kernel
	learner *classify.Learner
	splits  int
	seed    uint64
}

// run prints the lines of a data set.
func run(ctx context.Context, dir string, s *set, splits int, seed uint64) error {
	a, err := s.read(ctx, dir)
	if err != nil {
		return err
	}
	p := &problem{set: s, records: a, splits: splits, seed: seed}
	settings := param.Values{"missing-values": param.Of(s.missing), "epochs": param.Of(10), "vote": param.Of("voted")}
	if _, err := p.line(ctx, "hamming", "perceptron", settings, s.hamming); err != nil {
		return err
	}
	best, err := p.line(ctx, "categorical", "perceptron", settings, s.diffusion)
	if err != nil {
		return err
	}
	settings["beta"] = best["beta"]
	for _, learner := range []string{"svm", "logistic"} {
		if _, err := p.line(ctx, "categorical", learner, settings, published{}); err != nil {
			return err
		}
	}
	return nil
}

// line prints the errors of a kernel and a learner. Parameters that are not given are those of the usual ones with
// the least error on separate splits; it returns all.
func (p *problem) line(ctx context.Context, kernel, learner string, given param.Values,
	says published) (best param.Values, err error) {
	p.kernel = closed.Kernels().Named(kernel)
	p.learner = classify.Learners().Named(learner)
	spec := &param.Spec{Params: slices.Concat(p.kernel.Params, p.learner.Params)}
	settings, err := choose.Combinations(spec, spec.Own(given), nil)
	if err != nil {
		return nil, err
	}
	best = settings[0]
	smallest := math.Inf(1)
	for _, v := range settings {
		if len(settings) == 1 {
			break
		}
		wrong, _, err := p.evaluate(ctx, v, p.tuning, p.seed+1)
		if err != nil {
			return nil, err
		}
		if mean := stat.Mean(wrong, nil); mean < smallest {
			smallest = mean
			best = v
		}
	}
	wrong, support, err := p.evaluate(ctx, best, p.splits, p.seed)
	mean, deviation := stat.MeanStdDev(wrong, nil)
	fmt.Printf("| %s | %s, %s | %s | %s | %s | %.2f ± %.2f | %.1f | %s |\n", p.name, kernel, learner,
		says.err, says.mistakes, says.beta, 100*mean, 100*deviation, stat.Mean(support, nil), spec.Text(best))
	return best, err
}

// evaluate returns the errors of each split, and the numbers of support vectors.
func (p *problem) evaluate(ctx context.Context, v param.Values, splits int,
	seed uint64) (wrong, support []float64, err error) {
	wrong = make([]float64, splits)
	support = make([]float64, splits)
	err = sched.Run(ctx, 0, splits, func(_, i int) (err error) {
		order := rand.New(rand.NewPCG(seed, uint64(i))).Perm(len(p.records.IDs))
		wrong[i], support[i], err = p.test(ctx, v, order)
		return err
	})
	return wrong, support, err
}

// test learns from the first 80 % of the records in the given order. It returns the share of the others that are
// misclassified, and the number of support vectors or terms of the model.
func (p *problem) test(ctx context.Context, v param.Values, order []int) (wrong, support float64, err error) {
	columns := slices.Clone(p.records.Columns)
	for c, column := range columns {
		columns[c].Code = make([]int32, len(order))
		for j, record := range order {
			columns[c].Code[j] = column.Code[record]
		}
	}
	values, err := p.kernel.Resolve(p.kernel.Own(v), nil)
	if err != nil {
		return 0, 0, err
	}
	k, err := p.kernel.Of(columns, values)
	if err != nil {
		return 0, 0, err
	}
	first := len(order) * 4 / 5 // of the test records
	train := first
	if p.sample > 0 && p.learner.Name != "perceptron" {
		train = p.sample
	}
	y := slices.Repeat([]int{-1}, len(order))
	for j, record := range order[:train] {
		y[j] = p.records.Classes.Class[record]
	}
	model, err := p.learner.Fit(ctx, k, y, len(p.records.Classes.Names), p.learner.Own(v))
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %s: %w", p.name, p.learner.Name, err)
	}
	row := make([]float64, len(order))
	for j := first; j < len(order); j++ {
		k.RowTo(row, j)
		if model.Pairs.Predict(model.ScoresTo(nil, row, row[j])) != p.records.Classes.Class[order[j]] {
			wrong += 1 / float64(len(order)-first)
		}
	}
	return wrong, float64(model.Support()), nil
}
