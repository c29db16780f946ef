package auto

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// diffusionScores are scores of regularised least squares on the diffusion kernel exp(−βL̃),
// with targets of 0 and 1:
//
//	r(v) = K[v, L]·(K[L, L] + λI)⁻¹·Y
//
// They count labels that are near each other less, because these carry the same information;
// walks count each of them fully. The row of a label is computed without it,
// Y_i − a_i/((K + λI)⁻¹)_ii for the solution a. The scores of a second kernel, S², stand behind
// those of the first one, see common neighbours below.
type diffusionScores struct {
	full    *sparse.Block[float32] // a row for each node, of each kernel a column for each class
	leftOut [][]float64            // of each label, without it; λ chosen without its fold
	inFold  [][][]float64          // of each fold and label outside it, without both; nil: as whole
	forms   []kernelForm           // of each kernel; nil: not kept
}

// kernelForm has the scores of a kernel as sums over the labels, K[v, u]·weights[u, c].
type kernelForm struct {
	rows    []int // of the labels
	weights *sparse.Block[float64]
	apply   func(ctx context.Context, x *sparse.Block[float64]) (*sparse.Block[float64], error)
}

// addShares adds the shares of labels in the scores of kernels, with a weight for each kernel and class, to the terms of nodes.
func (d *diffusionScores) addShares(ctx context.Context, nodes []int, weights []*inputs, terms []explain.Terms) error {
	for index, form := range d.forms {
		y, err := form.apply(ctx, explain.UnitColumns(d.full.Rows, nodes))
		if err != nil {
			return err
		}
		k := form.weights.Cols
		for i := range form.rows {
			for j := range nodes {
				for c, w := range form.weights.Row(i) {
					terms[j].Share[i] += y.Row(form.rows[i])[j] * w * weights[j].kernels[index*k+c]
				}
			}
		}
	}
	return nil
}

// keepForm keeps the scores of a kernel, times scale, as sums over the labels.
func (r *kernelRegression) keepForm(coefficients *mat.Dense, scale float64, apply func(ctx context.Context, x *sparse.Block[float64]) (*sparse.Block[float64], error)) {
	if !r.in.set.Explain {
		return
	}
	form := kernelForm{rows: r.p.Row, weights: sparse.NewBlock[float64](coefficients.Dims()), apply: apply}
	for i := range r.p.Row {
		for c := range form.weights.Cols {
			form.weights.Row(i)[c] = scale * coefficients.At(i, c)
		}
	}
	r.scores.forms = append(r.scores.forms, form)
}

// of returns the scores of a label without it and a fold, −1 for none; nil if there are none.
func (d *diffusionScores) of(label, fold, hidden int) []float64 {
	switch {
	case d == nil:
		return nil
	case hidden < 0 || fold == hidden || d.inFold[hidden][label] == nil:
		return d.leftOut[label]
	}
	return d.inFold[hidden][label]
}

const (
	// mostKernelLabels is the number of labels up to which kernels are computed: a kernel takes a factorization for each
	// of kernelLambdas, and one for each fold. With more labels walks are as good: with samples of 400 labels kernels
	// gained 0.1 points on PubMed with 986 labels and nothing on tolokers with 588. Entries × labels are at most
	// kernelWork, which takes a second, but for leastKernelLabels.
	mostKernelLabels  = 400
	leastKernelLabels = 100
	kernelWork        = 100_000_000

	// kernelTolerance is the error of values of the diffusion kernel relative to the largest one. It is small
	// next to the least λ.
	kernelTolerance = 1e-6

	kernels = 2 // kernels whose scores are columns: diffusion and S²
)

// diffusionBetas, and kernelLambdas of a kernel whose mean on the diagonal is 1, are searched.
var (
	diffusionBetas = []float64{2, 8, 32}
	kernelLambdas  = []float64{0.001, 0.01, 0.1, 1}
)

// kernelLabels returns the largest number of labels with which kernels are computed.
func kernelLabels(p *problem.Problem) int {
	return int(max(leastKernelLabels, min(mostKernelLabels, kernelWork/max(1, sparse.EntriesOf(p.A)))))
}

// diffusionKernels returns the kernels' family and their parameters.
func diffusionKernels() (*kernel.Family, []param.Values) {
	var grid []param.Values
	for _, beta := range diffusionBetas {
		grid = append(grid, param.Values{"laplacian": param.Of("normalized"), "beta": param.Of(beta)})
	}
	return kernel.Families().Named("diffusion"), grid
}

// diffuse computes the scores of both kernels.
func diffuse(ctx context.Context, in *input, fold []int) (*diffusionScores, error) {
	r := newKernelRegression(in, fold)
	if err := r.addDiffusion(ctx); err != nil {
		return nil, err
	}
	return r.scores, r.addCommonNeighbours(ctx)
}

// kernelRegression computes the scores of one kernel after the other.
type kernelRegression struct {
	in     *input
	p      *problem.Problem
	fold   []int // of labels
	scores *diffusionScores
}

func newKernelRegression(in *input, fold []int) *kernelRegression {
	m, full := len(fold), chunks.Block[float32](len(in.p.Degrees), kernels*len(in.p.Names))
	d := &diffusionScores{full: full, leftOut: make([][]float64, m), inFold: make([][][]float64, in.folds)}
	for f := range d.inFold {
		d.inFold[f] = make([][]float64, m)
	}
	return &kernelRegression{in: in, p: in.p, fold: fold, scores: d}
}

// addDiffusion adds the scores of the diffusion kernel. β and λ are chosen by all labels;
// for rows of a fold, and those that are computed without it, by the labels of other folds.
func (r *kernelRegression) addDiffusion(ctx context.Context) error {
	in, p := r.in, r.p
	g, err := graph.New(ctx, p.A, &graph.Settings{Components: p.Components, Workers: in.set.Workers})
	if err != nil {
		return err
	}
	g.Memory = in.memory
	family, grid := diffusionKernels()
	list, err := family.NewAll(ctx, g, grid)
	if err != nil {
		return err
	}
	settings := &kernel.Settings{Memory: in.memory, Tolerance: kernelTolerance}
	grams, sweeps, err := kernel.Grams(ctx, list, p.Row, nil, settings)
	if err != nil {
		return err
	}
	in.work.Add(problem.Work{Sweeps: sweeps, EntryColumns: int64(sweeps) * sparse.EntriesOf(p.A) * int64(len(p.Row))})
	scales := make([]float64, len(grams))
	for i, g := range grams {
		scales[i] = choose.Rescale(g)
	}
	best, coefficients, err := r.addScores(ctx, grams)
	if err != nil {
		return err
	}
	x := r.atLabels(coefficients, scales[best])
	y := sparse.NewBlock[float64](len(p.Degrees), len(p.Names))
	report, err := list[best].ApplyTo(ctx, y, x, settings)
	if err != nil {
		return err
	}
	in.work.Add(problem.Work{Sweeps: report.Sweeps, EntryColumns: int64(report.Sweeps) * sparse.EntriesOf(p.A) * int64(y.Cols)})
	r.keep(y, 0)
	r.keepForm(coefficients, scales[best], func(ctx context.Context, x *sparse.Block[float64]) (*sparse.Block[float64], error) {
		y := sparse.NewBlock[float64](x.Rows, x.Cols)
		_, err := list[best].ApplyTo(ctx, y, x, settings)
		return y, err
	})
	return nil
}

// addScores adds the scores of labels by the kernel and λ that all labels, or those of other
// folds, choose. It returns the kernel that all labels choose, and its coefficients.
func (r *kernelRegression) addScores(ctx context.Context, grams []*sparse.Block[float64]) (int, *mat.Dense, error) {
	solutions := make([]*solution, len(grams)*len(kernelLambdas))
	err := sched.Run(ctx, r.in.set.Workers, len(solutions), func(_, i int) (err error) {
		solutions[i], err = r.solve(grams[i/len(kernelLambdas)], kernelLambdas[i%len(kernelLambdas)])
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	err = sched.Run(ctx, r.in.set.Workers, r.in.folds, func(_, f int) error {
		best := r.bestSolution(solutions, f)
		rows, err := r.without(best, f)
		if err != nil {
			return err
		}
		for i, fold := range r.fold {
			if fold == f {
				r.scores.leftOut[i] = append(r.scores.leftOut[i], best.rows[i]...)
			} else {
				r.scores.inFold[f][i] = append(r.scores.inFold[f][i], rows[i]...)
			}
		}
		return nil
	})
	best := r.bestSolution(solutions, -1)
	return slices.Index(solutions, best) / len(kernelLambdas), best.coefficients, err
}

// bestSolution returns the solution with the largest accuracy less half of the mean squared
// error, at labels outside a fold, −1 for none.
func (r *kernelRegression) bestSolution(solutions []*solution, hidden int) (best *solution) {
	highest := math.Inf(-1)
	for _, s := range solutions {
		merit := 0.0
		for label, row := range s.rows {
			if r.fold[label] == hidden {
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
		if merit > highest {
			best, highest = s, merit
		}
	}
	return best
}

// solution is one of least squares.
type solution struct {
	inverse      *mat.SymDense // G = (K + λI)⁻¹
	coefficients *mat.Dense    // A = GY
	rows         [][]float64   // scores of each label without it
}

// solve solves least squares on all labels.
func (r *kernelRegression) solve(gram *sparse.Block[float64], lambda float64) (*solution, error) {
	m, k := len(r.p.Row), len(r.p.Names)
	s := &solution{mat.NewSymDense(m, nil), mat.NewDense(m, k, nil), make([][]float64, m)}
	targets := mat.NewDense(m, k, nil)
	for i := range m {
		for j, v := range gram.Row(i)[i:] {
			s.inverse.SetSym(i, i+j, v)
		}
		s.inverse.SetSym(i, i, gram.Row(i)[i]+lambda)
		targets.Set(i, r.p.Class[i], 1)
	}
	var factor mat.Cholesky
	if !factor.Factorize(s.inverse) {
		return nil, fmt.Errorf("method: %w: the diffusion kernel between labels", classify.ErrIndefinite)
	}
	if err := factor.InverseTo(s.inverse); err != nil {
		return nil, fmt.Errorf("method: diffusion kernel between labels: %w", err)
	}
	s.coefficients.Mul(s.inverse, targets)
	for i := range m {
		s.rows[i] = r.leftOut(i, s.coefficients.RawRowView(i), s.inverse.At(i, i))
	}
	return s, nil
}

// leftOut returns the scores of a label without it, by its coefficients and diagonal value of the inverse.
func (r *kernelRegression) leftOut(label int, coefficients []float64, diagonal float64) []float64 {
	row := make([]float64, len(coefficients))
	for c, a := range coefficients {
		row[c] = -a / diagonal
	}
	row[r.p.Class[label]]++
	return row
}

// without returns the scores of labels without a fold F and themselves. The inverse without F is
//
//	G − G_·F·G_FF⁻¹·G_F·
//
// and the coefficients are A − G_·F·G_FF⁻¹·A_F.
func (r *kernelRegression) without(s *solution, fold int) ([][]float64, error) {
	var hidden []int
	for i, f := range r.fold {
		if f == fold {
			hidden = append(hidden, i)
		}
	}
	m, k := len(r.p.Row), len(r.p.Names)
	rows := make([][]float64, m)
	if len(hidden) == 0 {
		return s.rows, nil
	}
	square, right := mat.NewSymDense(len(hidden), nil), mat.NewDense(len(hidden), m+k, nil)
	for a, i := range hidden {
		for b := a; b < len(hidden); b++ {
			square.SetSym(a, b, s.inverse.At(i, hidden[b]))
		}
		for j := range m {
			right.Set(a, j, s.inverse.At(i, j))
		}
		copy(right.RawRowView(a)[m:], s.coefficients.RawRowView(i))
	}
	var factor mat.Cholesky
	if !factor.Factorize(square) {
		return nil, fmt.Errorf("method: %w: the diffusion kernel between labels", classify.ErrIndefinite)
	}
	var solved mat.Dense
	if err := factor.SolveTo(&solved, right); err != nil {
		return nil, fmt.Errorf("method: diffusion kernel between labels: %w", err)
	}
	for i, f := range r.fold {
		if f == fold {
			continue
		}
		diagonal, coefficients := s.inverse.At(i, i), slices.Clone(s.coefficients.RawRowView(i))
		for a, j := range hidden {
			g := s.inverse.At(i, j)
			diagonal -= float64(g * solved.At(a, i))
			for c := range coefficients {
				coefficients[c] -= float64(g * solved.At(a, m+c))
			}
		}
		rows[i] = r.leftOut(i, coefficients, diagonal)
	}
	return rows, nil
}

// atLabels returns scale times the coefficients at labels, and zeros at other nodes.
func (r *kernelRegression) atLabels(coefficients *mat.Dense, scale float64) *sparse.Block[float64] {
	x := sparse.NewBlock[float64](len(r.p.Degrees), len(r.p.Names))
	for i, row := range r.p.Row {
		for c := range x.Cols {
			x.Row(row)[c] = scale * coefficients.At(i, c)
		}
	}
	return x
}

// keep stores the scores of all nodes by kernel number index, 0 or 1.
func (r *kernelRegression) keep(scores *sparse.Block[float64], index int) {
	for v := range scores.Rows {
		simd.ConvertTo(r.scores.full.Row(v)[index*scores.Cols:], scores.Row(v))
	}
}

// squareColumns bounds the columns that are multiplied by S² together.
const squareColumns = 64

// addCommonNeighbours adds the scores of least squares on the kernel S² with S = D^-½AD^-½, λ
// chosen as for the diffusion kernel. It is large between nodes that share neighbours, which
// may be of one class where neighbours are not. Cost: two products with a column for
// each label and each class.
func (r *kernelRegression) addCommonNeighbours(ctx context.Context) error {
	gram, err := r.squareGram(ctx)
	if err != nil {
		return err
	}
	scale := choose.Rescale(gram)
	_, coefficients, err := r.addScores(ctx, []*sparse.Block[float64]{gram})
	if err != nil {
		return err
	}
	x := r.atLabels(coefficients, scale)
	if err := timesSquare(ctx, r.in, x, sparse.NewBlock[float64](x.Rows, x.Cols)); err != nil {
		return err
	}
	r.keep(x, 1)
	r.keepForm(coefficients, scale, func(ctx context.Context, x *sparse.Block[float64]) (*sparse.Block[float64], error) {
		return x, timesSquare(ctx, r.in, x, sparse.NewBlock[float64](x.Rows, x.Cols))
	})
	return nil
}

// squareGram returns S² between labels.
func (r *kernelRegression) squareGram(ctx context.Context) (*sparse.Block[float64], error) {
	n, m := len(r.p.Degrees), len(r.p.Row)
	slab := min(m, squareColumns)
	gram, x, y := sparse.NewBlock[float64](m, m), sparse.NewBlock[float64](n, slab), sparse.NewBlock[float64](n, slab)
	for lo := 0; lo < m; lo += slab {
		for v := range n {
			clear(x.Row(v))
		}
		columns := r.p.Row[lo:min(m, lo+slab)]
		for j, row := range columns {
			x.Row(row)[j] = 1
		}
		if err := timesSquare(ctx, r.in, x, y); err != nil {
			return nil, err
		}
		for i, row := range r.p.Row {
			copy(gram.Row(i)[lo:lo+len(columns)], x.Row(row))
		}
	}
	return gram, nil
}

// timesSquare stores S²·X = D^½·T²·D^-½·X in x. Nodes without neighbours have zeros. y is
// overwritten.
func timesSquare(ctx context.Context, in *input, x, y *sparse.Block[float64]) error {
	for v, d := range in.p.Degrees {
		for c := range x.Row(v) {
			if d == 0 {
				x.Row(v)[c] = 0
			} else {
				x.Row(v)[c] /= math.Sqrt(d)
			}
		}
	}
	op := sparse.NewOperator[float64](sparse.Transition, in.p.A, in.p.Degrees)
	op.Workers = in.set.Workers
	if err := op.ApplyTo(ctx, y, x); err != nil {
		return err
	}
	if err := op.ApplyTo(ctx, x, y); err != nil {
		return err
	}
	in.work.Add(problem.Work{Sweeps: 2, EntryColumns: 2 * sparse.EntriesOf(in.p.A) * int64(x.Cols)})
	for v, d := range in.p.Degrees {
		for c := range x.Row(v) {
			x.Row(v)[c] *= math.Sqrt(d)
		}
	}
	return nil
}

// diffusionBytes returns the size of the scores, and the largest size of the blocks to compute them within a limit, 0 for
// none.
func diffusionBytes(p *problem.Problem, folds, workers int, limit int64) (retained, peak int64) {
	n, m, k := len(p.Degrees), len(p.Row), len(p.Names)
	retained = chunks.Bytes[float32](n, kernels*k) + int64((1+folds)*m)*int64(48+8*kernels*k)

	family, grid := diffusionKernels()
	solutions := int64(len(grid) * len(kernelLambdas))
	l := int64(m)
	grams := 8 * l * l * int64(len(grid))
	solving := 8*l*l*3*min(int64(sched.Workers(workers)), solutions) + solutions*l*(8*l+int64(24+16*k))
	squares := 8*l*l + 2*blocks.BlockBytes[float64](n, squareColumns)
	applied := family.ApplyBytes(grid[len(grid)-1], p.Degrees, k) + grams + 2*blocks.BlockBytes[float64](n, k)
	return retained, max(family.GramsBytes(grid, p.Degrees, p.A.NNZ(), p.Row, limit), grams+solving, squares, applied)
}
