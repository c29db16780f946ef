package auto

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// ridgeForm is the equation of the scores y of a ridge at a new node x, for its attributes a, weights W, degree d, and the means z of
// columns of its neighbours.
type ridgeForm string

const (
	ofOwn        ridgeForm = "own"        // y = aW
	ofMeans      ridgeForm = "means"      // y = z
	ofNormalized ridgeForm = "normalized" // y = aW + g·√d·z
	ofLazyWalk   ridgeForm = "lazy"       // y = (1 − α)·aW + α·(d·z + σ·y/√(d+σ))/√(d+σ), see [lens]
	ofEmbedding  ridgeForm = "embedding"  // y = eW for the row e = d·z/√(d+τ) of eigenvectors, scaled as rows of the graph
)

// ridgeExtension has what the scores of a ridge at new nodes need.
type ridgeExtension struct {
	RidgeKind  ridgeKind     `json:"kind"`
	RidgeScale float64       `json:"scale"`
	Form       ridgeForm     `json:"form"`
	Width      int           `json:"width"`             // number of columns
	Weights    *featureBlock `json:"weights,omitempty"` // W of attributes, means or eigenvectors; nil: none
	Constant   []float64     `json:"constant,omitempty"`
	Gain       float64       `json:"gain,omitempty"`   // g
	Loop       float64       `json:"loop,omitempty"`   // σ or τ
	Lambda     []float64     `json:"lambda,omitempty"` // eigenvalues
	Short      float64       `json:"short,omitempty"`  // see scaleRow

	source nodeScores             // columns of nodes
	unit   func(node int) float64 // factor of the columns; nil: 1
}

// columns stores the columns of a node.
func (e *ridgeExtension) columns(dst []float32, node int) {
	if e.Width == 0 {
		return
	}
	e.source(rowOf(dst), node)
	if e.unit != nil {
		unit := e.unit(node)
		for j, x := range dst {
			dst[j] = float32(unit * float64(x))
		}
	}
}

// step stores the scores of a new node in dst, and its columns in columns. products computes aW.
func (e *ridgeExtension) step(dst []float32, columns, mean []float64, degree float64, products nodeScores) {
	clear(dst)
	copy(columns, mean)
	root := math.Sqrt(degree + e.Loop)
	if e.Form == ofEmbedding {
		row := make([]float32, len(mean))
		square := 0.0
		for j, z := range mean {
			x := degree * z / cmp.Or(root, 1)
			row[j] = float32(x)
			square += float64(x * x)
			columns[j] = x / cmp.Or(e.Lambda[j]*root, 1)
		}
		e.scaleRow(row, square)
		addProduct(dst, e.Weights, countTo(len(row)), row)
	} else if products != nil {
		products(rowOf(dst), 0)
	}
	switch {
	case e.Form == ofOwn || e.Form == ofEmbedding:
	case e.Form == ofMeans:
		for c, z := range mean {
			dst[c] += float32(z)
		}
	case e.Form == ofNormalized:
		for c, z := range mean {
			own := float64(dst[c])
			dst[c] += float32(e.Gain * root * z)
			switch {
			case e.Weights != nil: // columns are aW
				columns[c] = own
			case e.RidgeKind == ofDiffusion && root > 0:
				columns[c] = float64(dst[c]) / root
			}
		}
	default:
		for c, z := range mean {
			y := (1-rankDamping)*float64(dst[c]) + rankDamping*degree*z/root
			y /= 1 - rankDamping*e.Loop/(root*root)
			columns[c] = y / root
			dst[c] = float32(y)
		}
	}
	for c, y := range e.Constant {
		dst[c] += float32(y)
	}
}

func rowOf(data []float32) *featureBlock { return sparse.BlockOf(1, len(data), data) }

// scaleRow scales a row x of an embedding, with the given square, to x/√(‖x‖² + short).
func (e *ridgeExtension) scaleRow(x []float32, square float64) {
	scale := float32(1 / math.Sqrt(square+e.Short))
	for j := range x {
		x[j] *= scale
	}
}

// extend sets the extension of a ridge on a kernel. The scores Σ_j c_j·S^j·a of exp(−βL̃) are g·S·f at unlabelled nodes only if
// they change slowly; least squares over these nodes fit g. For S²·a, a new node has S times the columns S·a.
func (q *nodeKernel) extend(ctx context.Context, r *ridgeScores) error {
	n := len(q.in.p.Degrees)
	k := len(q.in.p.Names)
	e := &ridgeExtension{Form: ofNormalized, Gain: 1, Width: k}
	r.extension = e
	if r.kind == ofSquares {
		y, err := q.in.halfSquare(ctx, q.labelled())
		if err != nil {
			return err
		}
		half := newBlock(n, k)
		for v := range n {
			simd.ConvertTo(half.Row(v), y.Row(v))
		}
		e.source = scoresIn(half)
		return nil
	}
	f := sparse.NewBlock[float32](n, k)
	next := sparse.NewBlock[float32](n, k)
	r.nodes(f, 0)
	op := sparse.NewOperator[float32](sparse.NormalizedAdjacency, q.in.p.A, q.in.p.Degrees)
	op.Workers = q.in.set.Workers
	if err := op.ApplyTo(ctx, next, f); err != nil {
		return err
	}
	q.in.work.Sweeps++
	isLabelled := make([]bool, n)
	for _, v := range q.in.p.Row {
		isLabelled[v] = true
	}
	product, square := 0.0, 0.0
	for v := range n {
		if !isLabelled[v] {
			y := toFloat64(next.Row(v))
			product += floats.Dot(y, toFloat64(f.Row(v)))
			square += floats.Dot(y, y)
		}
	}
	if square > 0 {
		e.Gain = product / square
	}
	e.source = r.nodes
	e.unit = q.in.inverseRoot
	return nil
}

// inverseRoot returns 1/√d of a node, or 0 without edges.
func (in *input) inverseRoot(v int) float64 {
	if in.p.Degrees[v] == 0 {
		return 0
	}
	return 1 / math.Sqrt(in.p.Degrees[v])
}

// attributeScales restore an [attributeTable].
type attributeScales struct {
	Real   []bool      `json:"real"`
	Sample [][]float32 `json:"sample"` // see attributeTable.sample
	Factor []float64   `json:"factor"`
	Shift  []float32   `json:"shift"`
}

func (a *attributeTable) scales() *attributeScales {
	return &attributeScales{a.real, a.sample, a.factor, a.shift}
}

// attributeRow is a table of the attributes of one node, which may change.
type attributeRow struct {
	*lens
	values []float32 // nil: the node has none
}

func newAttributeRow(s *attributeScales) *attributeRow {
	d := len(s.Real)
	r := new(attributeRow)
	a := &attributeTable{Table: &sparse.Table{Rows: 1, Cols: d, Source: r}, real: s.Real, sample: s.Sample, factor: s.Factor, shift: s.Shift,
		start: make([][]uint16, d), scale: make([]float64, d), zero: make([]float64, d), length: make([]float32, 1), columns: countTo(d)}
	for j, isReal := range s.Real {
		if isReal {
			if a.quantile == nil {
				a.setQuantiles(len(s.Sample[j]))
			}
			a.divide(j)
			a.zero[j] = a.normal(j, 0)
		}
	}
	r.lens = &lens{a: a}
	return r
}

func (r *attributeRow) set(values []float32) {
	r.values = values
	r.a.length[0] = r.a.wordLength(r.a.columns[:len(values)], values)
}

// Has implements [sparse.RowSource].
func (r *attributeRow) Has(int) bool { return r.values != nil }

// RowsTo implements [sparse.RowSource].
func (r *attributeRow) RowsTo(dst []float32, _ int) { copy(dst, r.values) }

// Err implements [sparse.RowSource].
func (r *attributeRow) Err() error { return nil }
