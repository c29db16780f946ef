package auto

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Ridges learn from two kernels between labels. The diffusion kernel exp(−βL̃) counts labels that are near each other less,
// because they carry the same information; walks do not. S² with S = D^-½AD^-½ is large between nodes that share neighbours,
// which may have one class where neighbours do not.
const (
	// Kernels are computed with at most mostKernelLabels labels, because a ridge needs eigenpairs. Fewer labels are used if the
	// cost would exceed both kernelWork, half a second, and the cost of reading and walking; leastKernelLabels labels may cost
	// twice as much. A label costs kernelColumns columns; a node costs as much as kernelNode entries. If fewer than half of the
	// labels could be used, kernels are omitted: such samples gained nearly nothing.
	mostKernelLabels  = 300
	leastKernelLabels = 60

	// With high effort kernels learn from up to mostHighKernelLabels labels, and are omitted below fewestHighLabels.
	mostHighKernelLabels = 1000
	fewestHighLabels     = 100

	kernelColumns = 32
	kernelNode    = 8
	kernelWork    = 3_200_000_000

	// kernelTolerance is the error of the diffusion kernel relative to its largest value, small compared with the smallest
	// λ.
	kernelTolerance = 1e-6

	squareColumns = 64 // most columns that are multiplied by S² together
)

// kernelLambdas are for kernels with a mean of 1 on the diagonal.
var (
	diffusionBetas = []float64{2, 8, 32}
	kernelLambdas  = []float64{0.001, 0.01, 0.1, 1}
)

func kernelLabels(p *problem.Problem, set *settings, folds int) int {
	label := kernelColumns * (sparse.EntriesOf(p.A) + kernelNode*int64(p.Nodes()))
	limit := int64(set.budget()) * max(kernelWork, remainingWork(p, folds))
	if set.Effort == engine.HighEffort {
		if count := min(mostHighKernelLabels, limit/label); count >= fewestHighLabels {
			return int(count)
		}
		return 0
	}
	count := min(mostKernelLabels, limit/label)
	if leastKernelLabels*label <= 2*limit {
		count = max(count, leastKernelLabels)
	}
	if 2*count < int64(len(p.Row)) {
		return 0
	}
	return int(count)
}

// readWork is the cost of reading an entry, in columns of a sweep.
const readWork = 800

// remainingWork returns the cost of reading a graph and of walks, in entries × columns. An optional stage may cost as much.
func remainingWork(p *problem.Problem, folds int) int64 {
	return sparse.EntriesOf(p.A) * int64(readWork+walkSteps*folds*len(p.Names))
}

func diffusionKernels() (*kernel.Family, []param.Values) {
	var grid []param.Values
	for _, beta := range diffusionBetas {
		grid = append(grid, param.Values{"laplacian": param.Of("normalized"),
			"beta": param.Of(beta)})
	}
	return kernel.Families().Named("diffusion"), grid
}

// nodeKernel is a ridge on a kernel K between nodes.
type nodeKernel struct {
	in           *input
	labels       *ridgeLabels
	ridge        int                                                                                 // position in features.ridges
	apply        func(ctx context.Context, x *sparse.Block[float64]) (*sparse.Block[float64], error) // K·X; may overwrite X
	coefficients *mat.Dense
}

// addKernels adds the scores of ridges on the diffusion kernel and on S².
func (f *features) addKernels(ctx context.Context) error {
	labels := sampleLabels(f.in, kernelLabels(f.in.p, f.in.set, f.in.folds))
	for i, path := range []func(*nodeKernel, context.Context, *mat.Dense) (*classify.RidgePath, error){(*nodeKernel).diffusionPath, (*nodeKernel).squarePath} {
		q := &nodeKernel{in: f.in, labels: labels, ridge: len(f.ridges)}
		block := &ridgeBlock{lambdas: kernelLambdas, scores: q.scores, path: func(ctx context.Context, targets *mat.Dense) (*classify.RidgePath, error) {
			return path(q, ctx, targets)
		}}
		if err := addRidge(ctx, f, labels, block, []ridgeKind{ofDiffusion, ofSquares}[i]); err != nil {
			return err
		}
		if f.in.set.Columns {
			if err := q.extend(ctx, f.ridges[q.ridge]); err != nil {
				return err
			}
		}
		f.kernels = append(f.kernels, q)
	}
	return nil
}

// diffusionPath returns the ridge path of the diffusion kernel with the β whose leave-one-out scores have the largest cosine
// with the classes. It sets q.apply to products with this kernel.
func (q *nodeKernel) diffusionPath(ctx context.Context,
	targets *mat.Dense) (best *classify.RidgePath, err error) {
	in, p := q.in, q.in.p
	g, err := graph.New(ctx, p.A,
		&graph.Settings{Components: p.Components, Symmetric: p.Symmetric, Workers: in.set.Workers})
	if err != nil {
		return nil, err
	}
	g.Memory = in.memory
	family, grid := diffusionKernels()
	list, err := family.NewAll(ctx, g, grid)
	if err != nil {
		return nil, err
	}
	settings := &kernel.Settings{Memory: in.memory, Tolerance: kernelTolerance}
	grams, sweeps, err := kernel.Grams(ctx, list, q.labels.p.Row, nil, settings)
	if err != nil {
		return nil, err
	}
	in.work.Sweeps += sweeps
	everyLabel := [][]bool{slices.Repeat([]bool{true}, len(q.labels.p.Row))}
	highest := math.Inf(-1)
	for i, gram := range grams {
		path, err := kernelPath(ctx, gram, targets, in.set.Workers)
		if err != nil {
			return nil, err
		}
		if _, cosines := path.Choose(kernelLambdas, everyLabel); cosines[0] > highest {
			best = path
			highest = cosines[0]
			q.apply = func(ctx context.Context, x *sparse.Block[float64]) (*sparse.Block[float64], error) {
				dst := sparse.NewBlock[float64](x.Rows, x.Cols)
				report, err := list[i].ApplyTo(ctx, dst, x, settings)
				if err != nil {
					return nil, err
				}
				in.work.Sweeps += report.Sweeps
				return dst, nil
			}
		}
	}
	return best, nil
}

// kernelPath returns the ridge path of targets for gram, the kernel between labels. It does not centre targets: the mean of
// a few labels would reveal to each label its own class.
func kernelPath(ctx context.Context, gram *sparse.Block[float64],
	targets *mat.Dense, workers int) (*classify.RidgePath, error) {
	values := mat.NewSymDense(gram.Rows, nil)
	for i := range gram.Rows {
		for j, v := range gram.Row(i)[i:] {
			values.SetSym(i, i+j, v)
		}
	}
	return classify.NewPlainGramRidgePath(ctx, values, targets, workers)
}

// squarePath returns the ridge path of the kernel S², and sets q.apply to products with S². Cost: two products with a column
// for each label.
func (q *nodeKernel) squarePath(ctx context.Context,
	targets *mat.Dense) (*classify.RidgePath, error) {
	rows := q.labels.p.Row
	gram := sparse.NewBlock[float64](len(rows), len(rows))
	q.apply = q.in.timesSquare
	for lo := 0; lo < len(rows); lo += squareColumns {
		columns := rows[lo:min(lo+squareColumns, len(rows))]
		x, err := q.apply(ctx,
			explain.UnitColumns(len(q.in.p.Degrees), columns, nil))
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			copy(gram.Row(i)[lo:], x.Row(row)[:len(columns)])
		}
	}
	return kernelPath(ctx, gram, targets, q.in.set.Workers)
}

func (q *nodeKernel) scores(ctx context.Context, path *classify.RidgePath,
	lambda float64) (nodeScores, error) {
	p := q.in.p
	q.coefficients, _ = path.Weights(lambda)
	y, err := q.apply(ctx, q.labelled())
	if err != nil {
		return nil, err
	}
	scores := newBlock(len(p.Degrees), len(p.Names))
	for v := range scores.Rows {
		simd.ConvertTo(scores.Row(v), y.Row(v))
	}
	return scoresIn(scores), nil
}

// labelled returns the coefficients at the rows of their labels.
func (q *nodeKernel) labelled() *sparse.Block[float64] {
	x := sparse.NewBlock[float64](len(q.in.p.Degrees), len(q.in.p.Names))
	for i, row := range q.labels.p.Row {
		copy(x.Row(row), q.coefficients.RawRowView(i))
	}
	return x
}

// addShares adds to terms[j] what each label contributes to the score of nodes[j] through the kernel. weights[j] has the
// derivative of the score by each ridge. What all labels have in common, see [explain.SubtractCommon], stays in the rest.
func (q *nodeKernel) addShares(ctx context.Context, nodes []int, weights []*inputs,
	terms []explain.Terms) error {
	y, err := q.apply(ctx,
		explain.UnitColumns(len(q.in.p.Degrees), nodes, q.labels.p.Row))
	if err != nil {
		return err
	}
	explain.SubtractCommon(y, q.labels.p.Row)
	k := len(q.in.p.Names)
	for j := range nodes {
		for i, row := range q.labels.p.Row {
			share := y.Row(row)[j] * floats.Dot(q.coefficients.RawRowView(i),
				weights[j].ridges[q.ridge*k:][:k])
			terms[j].Share[q.labels.positions[i]] += share
			terms[j].Rest -= share
		}
	}
	return nil
}

// halfSquare returns T·D^-½·X. It overwrites x. Rows of isolated nodes are 0.
func (in *input) halfSquare(ctx context.Context, x *sparse.Block[float64]) (*sparse.Block[float64], error) {
	for v, d := range in.p.Degrees {
		for c := range x.Row(v) {
			if d == 0 {
				x.Row(v)[c] = 0
			} else {
				x.Row(v)[c] /= math.Sqrt(d)
			}
		}
	}
	y := sparse.NewBlock[float64](x.Rows, x.Cols)
	return y, in.applyTransition(ctx, y, x)
}

func (in *input) applyTransition(ctx context.Context, dst, x *sparse.Block[float64]) error {
	op := sparse.NewOperator[float64](sparse.Transition, in.p.A, in.p.Degrees)
	op.Workers = in.set.Workers
	in.work.Sweeps++
	return op.ApplyTo(ctx, dst, x)
}

// timesSquare returns S²·X = D^½·T²·D^-½·X in x. Rows of isolated nodes are 0.
func (in *input) timesSquare(ctx context.Context,
	x *sparse.Block[float64]) (*sparse.Block[float64], error) {
	y, err := in.halfSquare(ctx, x)
	if err != nil {
		return nil, err
	}
	if err := in.applyTransition(ctx, x, y); err != nil {
		return nil, err
	}
	for v, d := range in.p.Degrees {
		for c := range x.Row(v) {
			x.Row(v)[c] *= math.Sqrt(d)
		}
	}
	return x, nil
}
