package method

import (
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
)

// Walk features have a column for each class and step, so that those of a thousand classes need
// more memory than everything else. The kernel between labelled nodes is a sum over classes,
// however, and so are predictions: classes are cut into groups, and the features of one group are
// in memory at a time. The size of a group depends on the problem and the settings only, since
// the order of sums, and with it the last bits of a result, must not depend on a memory limit.

// groupBytes bounds the features of a group of classes. It is a variable so that tests reach
// several groups on small graphs.
var groupBytes int64 = 128 << 20

// featureBytes is the size above which features and their weights are not kept for all classes.
var featureBytes int64 = 512 << 20

// classGroup returns the number of classes in a group for the given numbers of rows and steps.
func classGroup(rows, steps, classes int) int {
	column := max(1, 4*int64(rows)*int64(steps))
	return int(max(1, min(int64(classes), groupBytes/column)))
}

// groupWalk returns w restricted to the classes lo ≤ c < hi.
func groupWalk(w *cwk.Walk[float32], lo, hi, minSteps, picks int) *cwk.Walk[float32] {
	group := *w
	if hi-lo < w.Seeds.Classes {
		group.Lo, group.Hi = lo, hi
	}
	narrow(&group, minSteps, picks)
	return &group
}

// eachGroup calls visit with the features of the picked rows for one group of classes after
// another. Blocks are reused by the garbage collector only, so visit must not keep x.
func eachGroup(ctx context.Context, w *cwk.Walk[float32], minSteps int, picks []cwk.Pick, s *Settings, out *Prediction, visit func(x *sparse.Block[float32], classes int) error) error {
	k := w.Seeds.Classes
	group := classGroup(len(picks), w.Steps-minSteps+1, k)
	for lo := 0; lo < k; lo += group {
		hi := min(lo+group, k)
		x, err := collect(ctx, groupWalk(w, lo, hi, minSteps, len(picks)), minSteps, picks, &out.Work, func(done, total int64) {
			s.reportShare("features", (float64(lo)+float64(hi-lo)*float64(done)/float64(total))/float64(k))
		})
		if err == nil {
			err = visit(x, hi-lo)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sumsGroups reports whether a prediction sums over groups of classes: if the features of the
// training rows, with the fit to them and the weights of all classifiers, are large, and the kernel
// between the rows is smaller. rows are all rows of the walk, train those for training.
func sumsGroups(s *Settings, p *Problem, rows, train, steps int) bool {
	if s.learner.Whole {
		return false // it needs the kernel between all nodes, which is larger still
	}
	if s.learner.perNode() {
		rows += len(p.Degrees)
	}
	machines, _ := s.machines(len(p.Names))
	width := int64(steps) * int64(len(p.Names))
	features := 4*int64(rows)*width + 2*8*int64(machines)*width
	if s.learner.LinearMemory != nil {
		features += s.learner.LinearMemory(s.load(p, int64(train), width))
	}
	return features > featureBytes && 8*int64(train)*int64(train) < features
}

// classGroups takes the place of features, if classes are walked in groups.
type classGroups struct {
	walk *cwk.Walk[float32] // of training rows
	rows []cwk.Pick         // training rows

	// The kernel between training rows and that of each trial, until the learner has used them.
	gram     *sparse.Block[float64]
	products []*choose.Products
}

// addProducts computes the kernel between training rows, and that of each trial, by groups of
// classes.
func (r *predictor) addProducts(ctx context.Context, w *cwk.Walk[float32], picks []cwk.Pick) error {
	tried, err := r.set.candidates(len(r.p.Names))
	if err != nil {
		return err
	}
	m, g := len(r.train), r.groups
	g.products, g.gram = r.trials.products(&tried), chunks.Block[float64](m, m)
	walk, held := *w, 8*int64(m)*int64(m)
	for _, p := range g.products {
		held += p.Bytes()
	}
	walk.Memory = budget.Remaining(w.Memory, held)
	nodes := upTo(len(picks))
	err = eachGroup(ctx, &walk, r.par.MinSteps, picks, r.set, r.out, func(x *sparse.Block[float32], classes int) error {
		for _, p := range g.products {
			if err := p.Add(ctx, x, nodes, classes, r.set.Workers); err != nil {
				return err
			}
		}
		rows := rowsFrom(x, r.train[0], m)
		return classify.AddInnerProducts(ctx, g.gram, rows, rows, r.set.Workers)
	})
	if err == nil {
		choose.Scale(g.gram, r.par.scale()*r.par.scale())
	}
	g.rows = picks[r.train[0]:][:m]
	return err
}

// rowsFrom returns the given number of rows of a block from row first on. They share its memory.
func rowsFrom(x *sparse.Block[float32], first, rows int) *sparse.Block[float32] {
	return &sparse.Block[float32]{Rows: rows, Cols: x.Cols, Stride: x.Stride, Data: x.Data[first*x.Stride:]}
}

// learnOnGram fits the learner to the kernel between training rows.
func (r *predictor) learnOnGram(ctx context.Context) (err error) {
	l, values := r.learner, r.par.Declared.Values
	if l.path != nil {
		if values, err = r.pathValues(l); err != nil {
			return err
		}
	}
	gram := classify.DenseGram(r.groups.gram)
	if l.path != nil && l.path.Train != nil {
		r.fitted, err = l.path.Train(ctx, gram, r.class, len(r.p.Names), values, r.set.Workers)
	} else {
		r.fitted, err = l.Fit(ctx, gram, r.class, len(r.p.Names), values)
	}
	r.groups.gram, r.groups.products = nil, nil
	if errors.Is(err, classify.ErrIterationLimit) && r.fitted != nil {
		err, r.out.Unfinished = nil, l.unfinished() // it is the best so far
	}
	if err != nil || r.learner.perNode() {
		return err
	}
	r.model = &classify.LinearModel{Classes: r.fitted.Classes, Pairs: r.fitted.Pairs}
	for i := range r.fitted.Machines {
		machine := &r.fitted.Machines[i]
		if l.path != nil && split.TooFew(r.p.Class) { // see neutral: a row of each P_t sums to one
			machine.Rho = 0
			for _, c := range machine.Coef {
				machine.Rho += c / float64(len(r.p.Names))
			}
		}
		r.model.Bias = append(r.model.Bias, -machine.Rho)
	}
	return nil
}

// weights returns the weights of classifiers on the features of a group of classes,
// w = Σ_i coef_i·f_i over the training rows i, whose features are walked again.
func (g *classGroups) weights(par *Parameters, fitted *classify.Model, workers int, work *problem.Work) cwk.Weights {
	w := g.walkOfRows()
	return func(ctx context.Context, lo, hi, first, last int) (*sparse.Block[float64], error) {
		steps := w.Steps - par.MinSteps + 1
		coef := sparse.NewBlock[float64](len(g.rows), last-first)
		for o := first; o < last; o++ {
			machine := &fitted.Machines[o]
			for a, item := range machine.Index {
				coef.Row(item)[o-first] = machine.Coef[a]
			}
		}
		weights := sparse.NewBlock[float64](steps*(hi-lo), last-first)
		group := classGroup(len(g.rows), steps, hi-lo)
		for start := lo; start < hi; start += group {
			end := min(start+group, hi)
			x, err := collect(ctx, groupWalk(w, start, end, par.MinSteps, len(g.rows)), par.MinSteps, g.rows, work, ignoreShare)
			if err != nil {
				return nil, err
			}
			if err := addWeights(ctx, workers, weights, x, coef, par.scale(), start-lo, hi-lo); err != nil {
				return nil, err
			}
		}
		return weights, nil
	}
}

func ignoreShare(int64, int64) {}

// addWeights adds the weights on the features x of some classes, times a scale, from number first of the given
// number of classes on.
func addWeights(ctx context.Context, workers int, weights *sparse.Block[float64], x *sparse.Block[float32], coef *sparse.Block[float64], scale float64, first, classes int) error {
	const tile = 16 // rows of weights that stay in cache while the coefficients pass
	steps := x.Cols / (weights.Rows / classes)
	return sched.Run(ctx, workers, (x.Cols+tile-1)/tile, func(_, t int) error {
		for i := range x.Rows {
			for j, v := range x.Row(i)[t*tile : min(x.Cols, (t+1)*tile)] {
				if row := t*tile + j; v != 0 {
					simd.AddScaled(weights.Row(row/steps*classes+first+row%steps), scale*float64(v), coef.Row(i))
				}
			}
		}
		return ctx.Err()
	})
}

// groupWeightsBytes returns the memory of [classGroups.weights] for the given number of training rows, but
// for the weights, without and with the coefficients of one classifier.
func groupWeightsBytes(w *cwk.Walk[float32], minSteps, rows int) (bytes, perClassifier int64) {
	steps := w.Steps - minSteps + 1
	group := classGroup(rows, steps, min(cwk.ScoreClasses, w.Seeds.Classes))
	walk := *w
	walk.Memory, walk.Lo, walk.Hi = 0, 0, group
	narrow(&walk, minSteps, rows)
	if walk.Memory == 0 {
		walk.Memory = walk.CollectBytes(minSteps, rows)
	}
	return walk.Memory, 8 * int64(rows)
}

// walkOfRows returns the walk that the training rows are picked from, without a memory limit: it is
// narrow, and its memory is part of the estimate.
func (g *classGroups) walkOfRows() *cwk.Walk[float32] {
	w := *g.walk
	w.Memory = 0
	return &w
}

// limitScores lowers the memory of a walk that computes scores by the memory of [classGroups.weights].
func limitScores(w, training *cwk.Walk[float32], minSteps, rows int) {
	bytes, perClassifier := groupWeightsBytes(training, minSteps, rows)
	column := 8 * int64(len(w.Degrees)) // of scores
	w.Memory = max(1, (w.Memory-bytes)/(column+perClassifier)*column)
}

// nodeBytes returns the memory of a node in [classGroups.score]: its kernel values with the training rows,
// and its features for a group of classes.
func nodeBytes(par *Parameters, classes, rows int) int64 {
	steps := par.Steps - par.MinSteps + 1
	return 8*int64(rows+1) + 4*int64(classGroup(rows, steps, classes))*int64(steps)
}

// score computes the scores of a learner that needs the kernel between each node and the
// training rows: for some nodes after others, by groups of classes.
func (g *classGroups) score(ctx context.Context, r *nodeVotes, par *Parameters, fitted *classify.Model) error {
	n, k, m, steps := len(r.p.Degrees), len(r.p.Names), len(g.rows), par.Steps-par.MinSteps+1
	r.beginShares(fitted.Pairs)
	group := classGroup(m, steps, k)
	slab := n
	if r.set.Memory > 0 {
		bytes, _ := groupWeightsBytes(g.walk, par.MinSteps, m)
		free := r.set.Memory - scoreBytes(r.p) - bytes
		slab = int(max(1, min(int64(n), free/nodeBytes(par, k, m))))
	}
	for first := 0; first < n; first += slab {
		nodes := min(slab, n-first)
		picks := append(make([]cwk.Pick, 0, m+nodes), g.rows...)
		for i := range nodes {
			picks = append(picks, cwk.Pick{Row: first + i})
		}
		values, norms := sparse.BlockOf(nodes, m, make([]float64, nodes*m)), make([]float64, nodes)
		for lo := 0; lo < k; lo += group {
			hi := min(lo+group, k)
			x, err := collect(ctx, groupWalk(g.walkOfRows(), lo, hi, par.MinSteps, len(picks)), par.MinSteps, picks, &r.out.Work, ignoreShare)
			if err != nil {
				return err
			}
			f := rowsFrom(x, m, nodes)
			if err := classify.AddInnerProducts(ctx, values, f, rowsFrom(x, 0, m), r.set.Workers); err != nil {
				return err
			}
			for i := range norms {
				for _, v := range f.Row(i) {
					norms[i] += float64(v) * float64(v)
				}
			}
		}
		scale := par.scale() * par.scale()
		choose.Scale(values, scale)
		err := r.shareNodes(ctx, fitted.Pairs, first, first+nodes, 0, func(_ []float64, i int) []float64 {
			return fitted.ScoresTo(nil, values.Row(i-first), scale*norms[i-first])
		})
		if err != nil {
			return err
		}
		r.set.Progress("walk", int64(first+nodes), int64(n))
	}
	return nil
}

// slabByGroups is slab for one α, by groups of classes.
func (c *chooser) slabByGroups(ctx context.Context, a int, tried choose.Candidates, hits choose.Hits, report func(done float64)) error {
	g, classes, minSteps := c.set.Grid, len(c.p.Names), c.set.Grid.minSteps()
	list := c.products(&tried)
	productCount := len(list)
	for len(list) > 0 {
		batch := list[:productsTogether(list, productsLimit(c.set.Memory))]
		list = list[len(batch):]
		var held int64
		var rows []int
		for _, p := range batch {
			held += p.Bytes()
			rows = append(rows, p.Rows()...)
		}
		slices.Sort(rows)
		rows = slices.Compact(rows)
		w := c.walk(g.alphas()[a : a+1])
		w.Memory = budget.Remaining(w.Memory, held)
		picks := make([]cwk.Pick, len(rows))
		for i, row := range rows {
			picks[i] = c.picks[row]
		}
		for start, group := 0, c.classGroup(); start < classes; start += group {
			end := min(start+group, classes)
			x, err := collect(ctx, groupWalk(w, start, end, minSteps, len(picks)), minSteps, picks, &c.work, func(done, total int64) {
				share := float64(productCount-len(list)-len(batch)) / float64(productCount)
				report(share + (float64(start)+float64(end-start)*float64(done)/float64(total))/float64(classes)*float64(len(batch))/float64(productCount))
			})
			if err != nil {
				return err
			}
			for _, p := range batch {
				if err := p.Add(ctx, x, rows, end-start, c.set.Workers); err != nil {
					return err
				}
			}
		}
		var jobs []trialJob
		for _, p := range batch {
			for _, t := range p.Trials {
				for f, kind := range g.Features {
					for i := range c.trials[kind] {
						if t == &c.trials[kind][i] {
							jobs = append(jobs, trialJob{firstHit(c.set.Grid, i, f, a), func(w *choose.Tester, hits choose.Hits) error {
								return w.RunOn(ctx, p, t, hits)
							}})
						}
					}
				}
			}
		}
		if err := c.runJobs(ctx, tried, jobs, hits, int(held)); err != nil {
			return err
		}
	}
	return nil
}
