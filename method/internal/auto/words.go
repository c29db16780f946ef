package auto

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// wordModel is a multinomial logistic regression on the attributes X of nodes and of their neighbours. It minimizes
//
//	1/m·Σ_i (log Σ_c exp z_ic − z_i,y_i) + ½λ·‖W‖²,  Z = (I + ηN)·XW + 1bᵀ,  N = D^-½A,
//
// over m labels. It replaces ridges if labels and attributes are too many for a ridge: on coauthor-cs the accuracy is 96.1 %
// in place of 95.2 %.
type wordModel struct {
	l               *lens
	view, transpose *sparse.Operator[float32] // I + ηN and its transpose
	classes         int
	items           []int         // positions of the labels
	x, z, r         *featureBlock // XW; logits; derivatives of the loss by logits
	weights         *featureBlock
	derivatives     *featureBlock // derivatives by weights, a row for each class
	last            []float64     // W and b for which z and r were computed
	loss            float64       // objective at last
	err             error
}

const (
	wordRidge      = 1e-5 // λ
	wordNeighbours = 0.3  // η
	wordSteps      = 40
	wordMemory     = 10
	wordFolds      = 3

	// mostWordProducts is the largest number of values × classes. A step takes four multiplications for each.
	mostWordProducts = 1 << 26
)

func newWordModel(l *lens) *wordModel {
	n := len(l.p.Degrees)
	k := len(l.p.Names)
	root := make([]float64, n)
	for v, d := range l.p.Degrees {
		if d > 0 {
			root[v] = 1 / math.Sqrt(d)
		}
	}
	one := slices.Repeat([]float64{1}, n)
	return &wordModel{
		l: l, classes: k, x: sparse.NewBlock[float32](n, k),
		z: sparse.NewBlock[float32](n, k), r: sparse.NewBlock[float32](n, k),
		view: &sparse.Operator[float32]{A: l.p.A, Scale: wordNeighbours,
			Left: root, Diag: one, Workers: l.workers},
		transpose: &sparse.Operator[float32]{A: l.p.A, Scale: wordNeighbours,
			Right: root, Diag: one, Workers: l.workers},
		weights:     newBlock(l.a.Cols, k),
		derivatives: newBlock(k, l.a.Cols),
	}
}

// addWords appends the logits of a [wordModel] to f.ridges as scores. The logits of a learned label come from a model
// without its fold.
func addWords(ctx context.Context, f *features, l *lens) error {
	in, m, k := f.in, newWordModel(l), len(f.in.p.Names)
	r := &ridgeScores{leftOut: make([][]float64, len(f.fold)),
		cosines: []float64{0}}
	f.ridges = append(f.ridges, r)
	for third := range wordFolds + 1 { // the last model is fitted to all labels
		m.items = m.items[:0]
		for label := range in.p.Row {
			if i, isLearned := slices.BinarySearch(in.places, label); !isLearned ||
				f.fold[i]%wordFolds != third {
				m.items = append(m.items, label)
			}
		}
		if err := m.fit(ctx); err != nil {
			return err
		}
		for i, row := range in.learned.Row {
			if f.fold[i]%wordFolds == third {
				r.leftOut[i] = toFloat64(m.z.Row(row))
			}
		}
		in.reportProgress(stageFeatures, third+1, wordFolds+1)
	}
	store, err := in.files.newStore(k)
	if err == nil {
		err = store.putSlab(0, k, m.z)
	}
	if err != nil {
		return err
	}
	r.extension = &ridgeExtension{Form: ofNormalized, Gain: wordNeighbours, Width: k, Weights: m.weights, Constant: m.last[len(m.last)-k:],
		source: l.productOf(m.weights)}
	f.scales = l.a.scales()
	r.nodes, f.attributes = store.readRowsTo,
		&attributeForm{rows: m.rowsOf,
			weights: [2]*featureBlock{m.weights, m.weights}}
	err = r.measure(ctx, in)
	for _, scores := range r.leftOut {
		r.columnsOf(scores)
	}
	return err
}

// fit computes the weights, and the logits of all nodes.
func (m *wordModel) fit(ctx context.Context) error {
	parameters := make([]float64, (m.l.a.Cols+1)*m.classes)
	m.last = nil
	p := optimize.Problem{
		Func: func(theta []float64) float64 { return m.evaluate(ctx, theta) },
		Grad: func(gradient, theta []float64) {
			m.evaluate(ctx, theta)
			m.differentiate(ctx, gradient)
		},
		Status: func() (optimize.Status, error) {
			if m.err == nil {
				m.err = sched.Cause(ctx)
			}
			return optimize.NotTerminated, m.err
		},
	}
	out, err := optimize.Minimize(p, parameters,
		&optimize.Settings{MajorIterations: wordSteps},
		&optimize.LBFGS{Store: wordMemory})
	if m.err != nil {
		return m.err
	}
	if out == nil {
		return err
	}
	m.evaluate(ctx, out.X) // rounding may end a search
	return m.err
}

// evaluate returns the objective at theta, W by rows and then b. It stores the logits in z and the derivatives in r.
func (m *wordModel) evaluate(ctx context.Context, theta []float64) float64 {
	if m.err != nil || slices.Equal(theta, m.last) {
		return m.loss
	}
	m.last = append(m.last[:0], theta...)
	d := m.l.a.Cols
	k := m.classes
	p := m.l.p
	for j := range d {
		simd.ConvertTo(m.weights.Row(j), theta[j*k:][:k])
	}
	m.loss = wordRidge / 2 * floats.Dot(theta[:d*k], theta[:d*k])
	products := m.l.productOf(m.weights)
	m.keep(blocks.EachNodeChunk(ctx, m.l.workers, m.x.Rows,
		func(_, lo, hi int) { products(blocks.Range(m.x, lo, hi), lo) }))
	m.keep(m.view.ApplyTo(ctx, m.z, m.x))
	for v := range m.z.Rows {
		for c, y := range theta[d*k:] {
			m.z.Row(v)[c] += float32(y)
		}
	}
	clear(m.r.Data)
	sums := make([]float64, 1)
	share := make([]float64, k)
	for _, i := range m.items {
		v := p.Row[i]
		if !m.l.a.team.Counts(v) {
			continue
		}
		classify.Softmax(share, toFloat64(m.z.Row(v)))
		sums[0] -= math.Log(share[p.Class[i]] + leastTruth)
		share[p.Class[i]]--
		for c, q := range share {
			m.r.Row(v)[c] = float32(q / float64(len(m.items)))
		}
	}
	m.l.a.team.Sum(sums)
	m.loss += sums[0] / float64(len(m.items))
	m.l.work.Sweeps++
	return m.loss
}

// differentiate stores in gradient the gradient at the parameters of the last call of evaluate.
func (m *wordModel) differentiate(ctx context.Context, gradient []float64) {
	d := m.l.a.Cols
	k := m.classes
	m.keep(m.transpose.ApplyTo(ctx, m.x, m.r))
	m.keep(m.l.productTo(ctx, m.derivatives, m.x, 0))
	for c := range k {
		for j, g := range m.derivatives.Row(c) {
			gradient[j*k+c] = float64(g) + float64(wordRidge*m.last[j*k+c])
		}
	}
	bias := gradient[d*k:]
	clear(bias)
	for v := range m.r.Rows {
		for c, g := range m.r.Row(v) {
			bias[c] += float64(g)
		}
	}
	m.l.a.team.Sum(bias)
	m.l.work.Sweeps++
}

// rowsOf returns the rows of X and of ηNX for the given nodes.
func (m *wordModel) rowsOf(ctx context.Context,
	nodes []int) (plain, means *featureBlock, err error) {
	d := m.l.a.Cols
	rows := readerOf(m.l.a)
	plain = newBlock(len(nodes), d)
	means = newBlock(len(nodes), d)
	x, y := sparse.NewBlock[float32](m.x.Rows, 1),
		sparse.NewBlock[float32](m.x.Rows, 1)
	for i, v := range nodes {
		rows.rowTo(plain.Row(i), v, 0, d)
		x.Row(v)[0] = 1
		err := m.transpose.ApplyTo(ctx, y, x)
		y.Row(v)[0]-- // removes X from (I + ηN)X
		if err == nil {
			err = m.l.productTo(ctx, means, y, i)
		}
		if err != nil {
			return nil, nil, err
		}
		x.Row(v)[0] = 0
	}
	return plain, means, nil
}

func (m *wordModel) keep(err error) {
	if m.err == nil {
		m.err = err
	}
}
