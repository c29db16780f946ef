package auto

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// rounds are predictions of stacked learning: a ridge learns from the attributes around a node and from the
// probabilities of its neighbours, its predictions are the probabilities of the next round. Walks see
// each neighbourhood once; in rounds the classes of the other neighbours of u explain the attributes of u,
// so that these say less of the class of v. The column that explains away is
//
//	r = d·(g − TP)
//
// for probabilities P and the least squares fit g of TP to the attributes and degrees of the node itself: the
// classes that its attributes say are around it and that its neighbours do not have yet.
//
// Each part of the labels has probabilities of its own, of ridges without the part, in which the labels of
// all other parts are known. Columns of a label are those of its own part. Source: Kou and Cohen, Stacked
// graphical models for efficient inference in Markov random fields, SDM 2007.
type rounds struct {
	in         *input
	lens       *lens
	fold       []int                  // of each learned label
	fixed      *sparse.Block[float32] // of nodes: attributes and their hops, degrees, and extremes of neighbours
	projection *mat.Dense             // projection that gives g: (ZᵀZ)⁻¹Zᵀ for Z = [X, degrees, 1]
	z          *mat.Dense

	weights, bias []float32 // of random units
	indices       []uint32

	p    []*sparse.Block[float32] // probabilities without each part, and then with all labels
	rows [][]float64              // held-out probabilities of each label
	loss float64                  // mean −log probability of the labels
}

const (
	// fewestRoundLabels is the number of labels from which rounds are made, mostRoundClasses that of the
	// classes up to which they are.
	fewestRoundLabels = 500
	mostRoundClasses  = 8

	roundParts   = 5
	roundUnits   = 256
	roundLimit   = 5  // of columns, in standard deviations
	roundColumns = 11 // for each class
	explainRidge = 1e-3
)

// predictInRounds makes two rounds, of which the second one predicts if its held-out loss is lower. Held-out
// probabilities are those of the first round. Those of later rounds are too good: each pair of labels takes part
// in the ridge without the one and in that without the other, through their neighbours. With labels at random
// 63 % of 4,900 seemed right after the second round, 50 % after the first. On boards with mines, the loss of the
// second round at nodes without a label is 8 % lower than that of the first, that of later ones no lower.
func predictInRounds(ctx context.Context, in *input, fold []int) (*rounds, error) {
	table := newAttributeTable(sparse.TeamOf(in.p.A), in.learned.Attributes)
	r := &rounds{in: in, lens: newLens(in.p, table, in.set.Workers, in.work)}
	for _, f := range fold {
		r.fold = append(r.fold, f%roundParts)
	}
	if err := r.look(ctx); err != nil {
		return nil, err
	}
	r.begin()
	if err := r.round(ctx); err != nil {
		return nil, err
	}
	first := *r
	if err := r.round(ctx); err != nil {
		return nil, err
	}
	if r.loss >= first.loss {
		return &first, nil
	}
	r.rows, r.loss = first.rows, first.loss
	return r, nil
}

// look computes the columns that stay the same in all rounds.
func (r *rounds) look(ctx context.Context) error {
	l := r.lens
	n, d := l.a.Rows, l.a.Cols
	u := &units{l: l, inputs: chunks.Block[float32](n, unitInputs(d))}
	if err := u.look(ctx); err != nil {
		return err
	}
	x := u.inputs.Columns(0, d)
	extremes, err := r.extremes(ctx, x)
	if err != nil {
		return err
	}
	inputs := u.inputs.Cols
	r.fixed = chunks.Block[float32](n, inputs+extremes.Cols)
	for v := range n {
		copy(r.fixed.Row(v), u.inputs.Row(v))
		copy(r.fixed.Row(v)[inputs:], extremes.Row(v))
	}
	if err := r.standardize(ctx, r.fixed.Columns(inputs, r.fixed.Cols)); err != nil {
		return err
	}
	columns := d + structureColumns + 1
	r.z = mat.NewDense(n, columns, nil)
	for v := range n {
		row := r.z.RawRowView(v)
		for j := range d {
			row[j] = float64(x.Row(v)[j])
		}
		for j := range structureColumns {
			row[d+j] = float64(u.inputs.Row(v)[inputs-structureColumns+j])
		}
		row[columns-1] = 1
	}
	squares := mat.NewSymDense(columns, nil)
	team := sparse.TeamOf(r.in.p.A)
	for lo, hi := range team.Counted(0, n) {
		var product mat.SymDense
		product.SymOuterK(1, r.z.Slice(lo, hi, 0, columns).T())
		squares.AddSym(squares, &product)
	}
	team.Sum(squares.RawSymmetric().Data)
	for j := range columns {
		squares.SetSym(j, j, squares.At(j, j)+explainRidge*float64(r.in.p.Nodes()))
	}
	var factor mat.Cholesky
	factor.Factorize(squares) // positive definite because of the ridge
	r.projection = new(mat.Dense)
	if err := factor.SolveTo(r.projection, r.z.T()); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 0))
	inputs = r.fixed.Cols + roundColumns*len(r.in.p.Names)
	r.weights, r.bias = make([]float32, inputs*roundUnits), make([]float32, roundUnits)
	for i := range r.weights {
		r.weights[i] = float32(rng.NormFloat64() / math.Sqrt(float64(inputs)))
	}
	for i := range r.bias {
		r.bias[i] = float32(rng.NormFloat64() / 2)
	}
	for j := range inputs {
		r.indices = append(r.indices, uint32(j))
	}
	return nil
}

// begin sets the probabilities to the shares of the labels, and those of labels that are known.
func (r *rounds) begin() {
	n, k := len(r.in.p.Degrees), len(r.in.p.Names)
	shares := make([]float32, k)
	for _, c := range r.in.p.Class {
		shares[c] += 1 / float32(len(r.in.p.Class))
	}
	for fold := range roundParts + 1 {
		p := chunks.Block[float32](n, k)
		for v := range n {
			copy(p.Row(v), shares)
		}
		r.know(p, fold)
		r.p = append(r.p, p)
	}
}

// know fixes the probabilities of the labels outside a part.
func (r *rounds) know(p *sparse.Block[float32], fold int) {
	for i, v := range r.in.learned.Row {
		if r.fold[i] != fold {
			clear(p.Row(v))
			p.Row(v)[r.in.learned.Class[i]] = 1
		}
	}
}

// extremes returns the maxima and the minima of columns over the neighbours of each node, 0 without any.
func (r *rounds) extremes(ctx context.Context, x *sparse.Block[float32]) (*sparse.Block[float32], error) {
	n, k := x.Rows, x.Cols
	out := chunks.Block[float32](n, 2*k)
	ranges := r.in.p.A.Ranges()
	pieces := make([][]float32, len(ranges)) // of long rows
	err := sparse.SweepWith(ctx, r.in.p.A, out, x, r.in.set.Workers, func(_ int, p sparse.Panel, x *sparse.Block[float32]) error {
		for i := p.Lo; i < p.Hi; i++ {
			row := out.Row(i)
			if p.Pieces > 1 {
				row = make([]float32, 2*k)
				pieces[p.Index] = row
			}
			cols, _ := p.Row(i - p.Lo)
			for position, u := range cols {
				for j, y := range x.Row(int(u)) {
					if position == 0 {
						row[j], row[k+j] = y, y
					}
					row[j], row[k+j] = max(row[j], y), min(row[k+j], y)
				}
			}
		}
		return nil
	})
	r.in.work.Add(problem.Work{Sweeps: 1, EntryColumns: sparse.EntriesOf(r.in.p.A) * int64(k)})
	for position, piece := range ranges {
		if piece.Pieces <= 1 || piece.Entries == 0 || pieces[position] == nil {
			continue
		}
		row := out.Row(piece.Lo)
		for j, y := range pieces[position][:k] {
			if piece.Piece == 0 {
				row[j], row[k+j] = y, pieces[position][k+j]
			}
			row[j], row[k+j] = max(row[j], y), min(row[k+j], pieces[position][k+j])
		}
	}
	return out, err
}

// standardize subtracts means over nodes and divides by deviations.
func (r *rounds) standardize(ctx context.Context, x *sparse.Block[float32]) error {
	team := sparse.TeamOf(r.in.p.A)
	total, err := chunks.Sums(ctx, team, r.in.set.Workers, x.Rows, 2*x.Cols, func(sums []float64, lo, hi int) {
		for v := lo; v < hi; v++ {
			for j, y := range x.Row(v) {
				sums[j] += float64(y)
				sums[x.Cols+j] += float64(y) * float64(y)
			}
		}
	})
	if err != nil {
		return err
	}
	n := float64(team.TotalOf(x.Rows))
	return chunks.Run(ctx, r.in.set.Workers, x.Rows, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			row := x.Row(v)
			for j, y := range row {
				mean := total[j] / n
				deviation := math.Sqrt(max(0, total[x.Cols+j]/n-float64(mean*mean)))
				row[j] = float32(clip((float64(y)-mean)/(deviation+1e-6), roundLimit))
			}
		}
	})
}

// columns returns the columns of probabilities P: TP, T²P, T³P, the extremes of P over neighbours, log(1 + d·TP),
// log P, r, Tr, and the extremes of r.
func (r *rounds) columns(ctx context.Context, p *sparse.Block[float32]) (*sparse.Block[float32], error) {
	n, k := p.Rows, p.Cols
	l, out := r.lens, chunks.Block[float32](n, roundColumns*k)
	columnsOf := func(i int) *sparse.Block[float32] { return out.Columns(i*k, (i+1)*k) }
	x := sparse.NewBlock[float32](n, k)
	y := sparse.NewBlock[float32](n, k)
	for v := range n {
		copy(x.Row(v), p.Row(v))
	}
	var means *sparse.Block[float32] // TP
	for step := range 3 {
		if err := l.sweep(ctx, l.step, y, x, sparse.Step[float32]{Alpha: 1}); err != nil {
			return nil, err
		}
		for v := range n {
			copy(columnsOf(step).Row(v), y.Row(v))
		}
		x, y = y, x
	}
	means = columnsOf(0)
	extremes, err := r.extremes(ctx, p)
	if err != nil {
		return nil, err
	}
	var explained mat.Dense
	first := mat.NewDense(n, k, nil)
	for v := range n {
		simd.ConvertTo(first.RawRowView(v), means.Row(v))
	}
	team, columns := sparse.TeamOf(r.in.p.A), r.z.RawMatrix().Cols
	fit := mat.NewDense(columns, k, nil)
	for lo, hi := range team.Counted(0, n) {
		var product mat.Dense
		product.Mul(r.projection.Slice(0, columns, lo, hi), first.Slice(lo, hi, 0, k))
		fit.Add(fit, &product)
	}
	team.Sum(fit.RawMatrix().Data)
	explained.Mul(r.z, fit)
	unit := blocks.WeightUnit(r.in.p.A, r.in.p.Degrees)
	residuals := sparse.NewBlock[float32](n, k)
	for v, d := range r.in.p.Degrees {
		d /= unit
		copy(columnsOf(3).Row(v), extremes.Row(v)[:k])
		copy(columnsOf(4).Row(v), extremes.Row(v)[k:])
		for c, q := range means.Row(v) {
			columnsOf(5).Row(v)[c] = float32(math.Log1p(d * float64(q)))
			columnsOf(6).Row(v)[c] = float32(math.Log(float64(p.Row(v)[c]) + 1e-3))
			residuals.Row(v)[c] = float32(d * (explained.At(v, c) - float64(q)))
		}
		copy(columnsOf(7).Row(v), residuals.Row(v))
	}
	if err := l.sweep(ctx, l.step, y, residuals, sparse.Step[float32]{Alpha: 1}); err != nil {
		return nil, err
	}
	if extremes, err = r.extremes(ctx, residuals); err != nil {
		return nil, err
	}
	for v := range n {
		copy(columnsOf(8).Row(v), y.Row(v))
		copy(columnsOf(9).Row(v), extremes.Row(v)[:k])
		copy(columnsOf(10).Row(v), extremes.Row(v)[k:])
	}
	return out, r.standardize(ctx, out)
}

// featureCount returns the number of features of the ridge.
func (r *rounds) featureCount() int { return len(r.indices) + roundUnits + 1 }

// featuresTo stores the features of a node: columns, random units, and the constant.
func (r *rounds) featuresTo(dst []float32, columns *sparse.Block[float32], v int) {
	inputs := len(r.indices)
	copy(dst, r.fixed.Row(v))
	copy(dst[r.fixed.Cols:], columns.Row(v))
	h := dst[inputs : inputs+roundUnits]
	timesTo(h, dst[:inputs], r.weights, roundUnits, 0, r.indices)
	addRectified(h, nil, r.bias)
	dst[len(dst)-1] = attributeConstant
}

// round makes one round.
func (r *rounds) round(ctx context.Context) error {
	columns := make([]*sparse.Block[float32], len(r.p))
	for fold, p := range r.p {
		var err error
		if columns[fold], err = r.columns(ctx, p); err != nil {
			return err
		}
	}
	weights, sharpening, err := r.ridge(columns).fit()
	if err != nil {
		return err
	}
	k := len(r.in.p.Names)
	next := make([]*sparse.Block[float32], len(r.p))
	for fold := range r.p {
		p := chunks.Block[float32](len(r.in.p.Degrees), k)
		err := chunks.Run(ctx, r.in.set.Workers, p.Rows, func(_, lo, hi int) {
			x, scores := make([]float32, r.featureCount()), make([]float64, k)
			for v := lo; v < hi; v++ {
				r.featuresTo(x, columns[fold], v)
				scoresOfRound(scores, weights[fold], x, sharpening)
				simd.ConvertTo(p.Row(v), classify.Softmax(scores, scores))
			}
		})
		if err != nil {
			return err
		}
		next[fold] = p
	}
	r.rows, r.loss = nil, 0
	for i, v := range r.in.learned.Row {
		row := doubled(next[r.fold[i]].Row(v))
		r.rows = append(r.rows, row)
		r.loss -= math.Log(row[r.in.learned.Class[i]]+leastTruth) / float64(len(r.fold))
	}
	for fold, p := range next {
		r.know(p, fold)
	}
	r.p = next
	return nil
}

// setting returns the held-out probabilities of rounds.
func (r *rounds) setting(h *heldOut, f *features) heldOutSetting {
	t := heldOutSetting{setting{candidate: candidate{Rounds: true}}, len(candidatesOf(&f.in.design, f.in.p)) + 2, newProbabilities(len(h.class))}
	for i, row := range r.rows {
		t.set(i, row, h.class[i])
	}
	return t
}

// all returns the probabilities by all labels.
func (r *rounds) all() *sparse.Block[float32] { return r.p[len(r.p)-1] }

// roundBytes returns the size of the probabilities that are kept, and of the blocks of a round.
func roundBytes(p *problem.Problem) (retained, stage int64) {
	n, d, k := len(p.Degrees), p.Attributes.Cols, len(p.Names)
	fixed := unitInputs(d) + 2*d
	features := int64(fixed + roundColumns*k + roundUnits + 1)
	retained = int64(roundParts+1)*chunks.Bytes[float32](n, k) + int64(len(p.Row))*int64(24+8*k)
	stage = attributeTableBytes(n, d) + lensBytes(n, d) + lensSlabBytes(n, max(d, k)) + 2*chunks.Bytes[float32](n, fixed) +
		2*chunks.Bytes[float64](n, d+structureColumns+1) + int64(roundParts+1)*chunks.Bytes[float32](n, (roundColumns+1)*k) +
		3*chunks.Bytes[float64](n, k) + 8*int64(len(p.Row))*features + 8*features*features*(roundParts+4)
	return retained, stage
}
