package auto

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// diffused are scores of regularised least squares on the diffusion kernel exp(−βL̃),
// with targets of 0 and 1:
//
//	r(v) = K[v, L]·(K[L, L] + λI)⁻¹·Y
//
// They count labels that say the same thing twice once, which walks do not. A label's
// own row is that of all others, Y_i − a_i/((K + λI)⁻¹)_ii for the solution a. Behind them
// stand the same scores of another kernel, S², see relateLinks.
type diffused struct {
	full  *sparse.Block[float32] // a row for each node, of each kernel a column for each class
	whole [][]float64            // of each label, without it; chosen without its part
	part  [][][]float64          // of each part and label outside it, without both; nil: as whole
}

const (
	// mostRelated is the number of labels between which kernels are made: a kernel takes a
	// factorisation for each of relatedLambdas, and one for each part. Of more labels it is a
	// sample: on a block model of 60,000 nodes with 610, 1,200 and 3,000 labels it gained 8,
	// 4 and 1 points. Of more than mostSampled walks tell as much. Where entries × labels are
	// more than relatedWork, which takes a minute or less, the sample is smaller, but not below
	// leastRelated, whose columns take about as long as walks do.
	mostRelated    = 600
	leastRelated   = 100
	mostSampled    = 4000
	relatedWork    = 3_000_000_000
	diffusion      = "diffusion"
	relatedKernels = 2 // kernels whose scores are columns: diffusion and S²
)

// relatedBetas and relatedLambdas, of a kernel whose mean on the diagonal is 1, are
// those that are tried.
var (
	relatedBetas   = []float64{2, 8, 32}
	relatedLambdas = []float64{0.001, 0.01, 0.1, 1}
)

// relates reports whether scores of a kernel take part.
func relates(p *problem.Problem, set *Settings) bool {
	if set.LowEffort || len(p.Row) <= fewestLabels {
		return false
	}
	most := sampleSize(p)
	few := 4*len(p.Names) <= most // or two labels of each class are most of a sample
	return len(p.Row) <= most || len(p.Row) <= mostSampled && few
}

// sampleSize bounds the labels between which kernels are made.
func sampleSize(p *problem.Problem) int {
	return int(max(leastRelated, min(mostRelated, relatedWork/max(1, p.A.NNZ()))))
}

// relatedLabels returns the positions of the labels between which kernels are made.
func relatedLabels(p *problem.Problem, set *Settings) []int {
	return validate.Sample(p.Class, sampleSize(p), set.RNGSeed, 0)
}

// relateAll makes the scores of both kernels. Labels beside a sample have their scores as
// other nodes have them.
func (r *weigher) relateAll(ctx context.Context) (*diffused, error) {
	labels := relatedLabels(r.p, r.set)
	s := &sources{part: make([]int, len(labels)), parts: r.sources.parts}
	for at, i := range labels {
		s.part[at] = r.sources.part[i]
	}
	of := &weigher{p: r.p.At(labels), set: r.set, out: r.out, sources: s}
	of.related = newDiffused(piece.Block[float32](len(r.p.Degrees), relatedKernels*len(r.p.Names)), len(labels), s.parts)
	if err := of.relate(ctx); err != nil {
		return nil, err
	}
	if err := of.relateLinks(ctx); err != nil {
		return nil, err
	}
	d := of.related
	all := newDiffused(d.full, len(r.p.Row), s.parts)
	for at, i := range labels {
		all.whole[i] = d.whole[at]
		for f := range all.part {
			all.part[f][i] = d.part[f][at]
		}
	}
	for i, row := range r.p.Row {
		if all.whole[i] == nil {
			all.whole[i] = doubled(d.full.Row(row))
		}
	}
	return all, nil
}

// relatedGrid lists the kernels.
func relatedGrid() []spec.Values {
	var grid []spec.Values
	for _, beta := range relatedBetas {
		grid = append(grid, spec.Values{"laplacian": spec.Of("normalized"), "beta": spec.Of(beta)})
	}
	return grid
}

// relate makes the scores of the diffusion kernel. Kernel and λ are chosen by all labels;
// for rows of a part, and those that are made without it, by the labels of other parts.
func (r *weigher) relate(ctx context.Context) error {
	memory := beside(r.p, r.set)
	g, err := graph.New(ctx, r.p.A, &graph.Settings{Components: r.p.Components, Workers: r.set.Workers})
	if err != nil {
		return err
	}
	g.Memory = memory
	kernels, err := kernel.Families().Named(diffusion).NewAll(ctx, g, relatedGrid())
	if err != nil {
		return err
	}
	settings := &kernel.Settings{Memory: memory}
	grams, sweeps, err := kernel.Grams(ctx, kernels, r.p.Row, nil, settings)
	if err != nil {
		return err
	}
	r.out.Work.Add(problem.Work{Sweeps: sweeps, EntryColumns: int64(sweeps) * r.p.A.NNZ() * int64(len(r.p.Row))})
	scales := make([]float64, len(grams))
	for i, g := range grams {
		scales[i] = choose.Rescale(g)
	}
	best, coef, err := r.addScores(ctx, grams)
	if err != nil {
		return err
	}
	x := r.weighted(coef, scales[best])
	y := sparse.NewBlock[float64](len(r.p.Degrees), len(r.p.Names))
	report, err := kernels[best].ApplyTo(ctx, y, x, settings)
	if err != nil {
		return err
	}
	r.out.Work.Add(problem.Work{Sweeps: report.Sweeps, EntryColumns: int64(report.Sweeps) * r.p.A.NNZ() * int64(y.Cols)})
	r.keepScores(y, 0)
	return nil
}

// diffusedMemory lists what scores of kernels take: of nodes, and of labels, without
// themselves and without each part.
func diffusedMemory(p *problem.Problem, set *Settings) []spec.Bytes {
	if !relates(p, set) {
		return nil
	}
	k, m, folds := len(p.Names), int64(len(p.Row)), int64(validate.FoldCount(len(p.Row)))
	apart := folds * int64(min(len(p.Row), 2*mostRelated)) * 8 * relatedKernels * int64(k)
	return []spec.Bytes{
		{What: "scores of kernels", Bytes: piece.Bytes[float32](len(p.Degrees), relatedKernels*k)},
		{What: "scores of kernels for labels", Bytes: 2*(1+folds)*24*m + m*8*relatedKernels*int64(k) + apart},
	}
}

// relateMemory lists what is held while the scores of kernels are made: their values between
// labels, the solutions, the columns that are multiplied by S², and those that a kernel is
// applied to, each by itself.
func relateMemory(p *problem.Problem, set *Settings, limit int64) (phases [][]spec.Bytes) {
	if !relates(p, set) {
		return nil
	}
	labels := p.At(relatedLabels(p, set)).Row
	n, m, k, grid := len(p.Degrees), int64(len(labels)), len(p.Names), relatedGrid()
	f, solutions := kernel.Families().Named(diffusion), int64(len(grid)*len(relatedLambdas))
	workers, slab := min(int64(sched.Workers(set.Workers)), solutions), linkSlab(n, int(m), limit)
	grams := spec.Bytes{What: "values of kernels between labels", Bytes: 8 * m * m * int64(len(grid))}
	return [][]spec.Bytes{
		f.GramsMemory(grid, p.Degrees, p.A.NNZ(), labels, limit),
		{grams, {What: "factors and inverses", Bytes: 8 * m * m * 3 * workers}, {What: "solutions between labels", Bytes: solutions * m * (24 + 16*int64(k))}},
		{{What: "common neighbours of labels", Bytes: 8 * m * m}, {What: "columns of labels", Bytes: 2 * tall.BlockBytes[float64](n, slab), Row: 8 * sparse.Stride[float64](slab)}},
		append(f.ApplyMemory(grid[len(grid)-1], p.Degrees, k), grams,
			spec.Bytes{What: "labels and scores", Bytes: 2 * tall.BlockBytes[float64](n, k), Row: 8 * sparse.Stride[float64](k)}),
	}
}

// newDiffused returns room for scores of so many labels in so many parts, beside those of all
// nodes.
func newDiffused(full *sparse.Block[float32], labels, parts int) *diffused {
	d := &diffused{full: full, whole: make([][]float64, labels), part: make([][][]float64, parts)}
	for f := range d.part {
		d.part[f] = make([][]float64, labels)
	}
	return d
}

// addScores adds those of labels by a kernel and λ, chosen by all labels or those of other
// parts, and returns the kernel that all labels choose, and its solution.
func (r *weigher) addScores(ctx context.Context, grams []*sparse.Block[float64]) (int, *mat.Dense, error) {
	solutions := make([]*leaveOneOut, len(grams)*len(relatedLambdas))
	solve := func(i, part int) (*leaveOneOut, error) {
		return r.solveWithout(grams[i/len(relatedLambdas)], relatedLambdas[i%len(relatedLambdas)], part)
	}
	err := sched.Run(ctx, r.set.Workers, len(solutions), func(_, i int) (err error) {
		solutions[i], err = solve(i, -1)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	err = sched.Run(ctx, r.set.Workers, r.sources.parts, func(_, f int) error {
		best := r.mostRelated(solutions, f)
		s, err := solve(best, f)
		if err != nil {
			return err
		}
		for i, part := range r.sources.part {
			if part == f {
				r.related.whole[i] = append(r.related.whole[i], solutions[best].rows[i]...)
			} else {
				r.related.part[f][i] = append(r.related.part[f][i], s.rows[i]...)
			}
		}
		return nil
	})
	best := r.mostRelated(solutions, -1)
	return best / len(relatedLambdas), solutions[best].coef, err
}

// mostRelated returns the solution with the largest share of right answers less half of
// the mean squared error, at labels outside a part, −1 for none.
func (r *weigher) mostRelated(solutions []*leaveOneOut, without int) int {
	best, most := 0, math.Inf(-1)
	for i, s := range solutions {
		merit := 0.0
		for label, row := range s.rows {
			if r.sources.part[label] == without {
				continue
			}
			for c, v := range row {
				if c == r.p.Class[label] {
					v--
				}
				merit -= v * v / 2
			}
			if classify.ArgMax(row) == r.p.Class[label] {
				merit++
			}
		}
		if merit > most {
			best, most = i, merit
		}
	}
	return best
}

// leaveOneOut is a solution of least squares.
type leaveOneOut struct {
	coef *mat.Dense
	rows [][]float64 // of each label that takes part, without it
}

// solveWithout solves least squares on the labels outside a part, −1 for none.
func (r *weigher) solveWithout(gram *sparse.Block[float64], lambda float64, part int) (*leaveOneOut, error) {
	var items []int
	for i := range r.p.Row {
		if r.sources.part[i] != part {
			items = append(items, i)
		}
	}
	m, k := len(items), len(r.p.Names)
	values, targets := mat.NewSymDense(m, nil), mat.NewDense(m, k, nil)
	for a, i := range items {
		for b := a; b < m; b++ {
			values.SetSym(a, b, gram.Row(i)[items[b]])
		}
		values.SetSym(a, a, gram.Row(i)[i]+lambda)
		targets.Set(a, r.p.Class[i], 1)
	}
	var factor mat.Cholesky
	if !factor.Factorize(values) {
		return nil, fmt.Errorf("method: %w: the diffusion kernel between labels", classify.ErrIndefinite)
	}
	if err := factor.InverseTo(values); err != nil {
		return nil, fmt.Errorf("method: diffusion kernel between labels: %w", err)
	}
	s := &leaveOneOut{coef: mat.NewDense(m, k, nil), rows: make([][]float64, len(r.p.Row))}
	s.coef.Mul(values, targets)
	for a, i := range items {
		row := make([]float64, k)
		for c := range row {
			row[c] = targets.At(a, c) - s.coef.At(a, c)/values.At(a, a)
		}
		s.rows[i] = row
	}
	return s, nil
}

// weighted returns scale times the solution at labels, and zeros at other nodes.
func (r *weigher) weighted(coef *mat.Dense, scale float64) *sparse.Block[float64] {
	x := sparse.NewBlock[float64](len(r.p.Degrees), len(r.p.Names))
	for i, row := range r.p.Row {
		for c := range x.Cols {
			x.Row(row)[c] = scale * coef.At(i, c)
		}
	}
	return x
}

// keepScores stores the scores of all nodes by a kernel, the first or the second.
func (r *weigher) keepScores(scores *sparse.Block[float64], of int) {
	for v := range scores.Rows {
		simd.ConvertTo(r.related.full.Row(v)[of*scores.Cols:], scores.Row(v))
	}
}
