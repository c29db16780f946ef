package lanczos

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// orthonormalizer makes the columns of a block orthonormal, and orthogonal to earlier columns.
type orthonormalizer struct {
	e *engine

	// fill, if not nil, stores a random column in place of a dependent column. If fill is nil, dependent columns are
	// dropped. A column is dependent if little of its reference length remains: the length of the longest column so far, or
	// the length of the column itself if fill is nil.
	fill    func(w columns)
	longest float64

	// project, if not nil, removes from w the parts in known vectors. Rounding reintroduces these parts; they can be large
	// in a column of which little is left.
	project func(w columns)

	replaced bool // a column was dependent, and was replaced or dropped

	origins                  []origin
	lengths                  []float64 // reference lengths of the columns of W
	c, d, gram, coefficients []float64
	r, inverse, first        []float64
}

type origin struct {
	length float64 // reference length
	left   float64
	random bool // fill has replaced the column
	pure   bool // the column was projected after it became short
}

const (
	// deficient is the remaining length, relative to the reference length, below which a column is rounding error.
	deficient = 1e-13

	// weakPivot is the smallest remaining length, relative to the column, that a Gram matrix resolves: √ε. Another round
	// resolves smaller lengths.
	weakPivot = 1e-7

	// thinned is the remaining length, relative to the reference length, below which a column may have large parts in excluded
	// vectors.
	thinned = 1e-4

	// common is the distance from the span of the previous columns, relative to the length of a column, for which one round is
	// enough.
	common = 0.03

	maxRounds = 12
)

// run splits W into its part in V and the rest,
//
//	W = V·C + Q·R,  Q orthonormal and VᵀQ = 0,
//
// with V orthonormal. It replaces W by Q and stores C (len V × len W) and R (len W × len W; its rows beyond the width of Q are
// zero). It returns the width of Q, which is less than the width of W if columns were dropped, or if V and Q span the whole
// space.
//
// Each round does classical Gram–Schmidt twice, the first time against the columns of V from number recent on, and Cholesky-QR
// twice. Another round follows only if W had a part above rounding in the other columns, or if columns were nearly dependent.
func (o *orthonormalizer) run(ctx context.Context, v, w columns, recent int,
	c, r []float64) (int, error) {
	nv := v.width()
	nw := w.width()
	width := nw
	clear(c[:nv*nw])
	clear(r[:nw*nw])
	for j := range nw {
		r[j*nw+j] = 1
	}
	o.origins, o.lengths = blocks.Grow(o.origins, nw), blocks.Grow(o.lengths, nw)
	for round := 0; width > 0; round++ {
		if round > 0 {
			recent = 0
		}
		clean, err := o.round(ctx, v, w.slice(w.lo, w.lo+width), recent, nw, c, r,
			round == 0)
		if err != nil {
			return 0, err
		}
		dead := false
		for j := width - 1; j >= 0; j-- {
			state := &o.origins[j]
			if state.left > deficient*state.length || o.isNeeded(r[j*nw:(j+1)*nw]) {
				continue
			}
			dead = true
			o.replaced = true
			if o.fill != nil && !state.random {
				*state = origin{length: math.Sqrt(float64(o.e.team.TotalOf(o.e.rows))), left: 1, random: true}
				clear(r[j*nw : (j+1)*nw])
				o.fill(w.slice(w.lo+j, w.lo+j+1))
			} else {
				// The last column replaces the dropped column.
				width--
				*state = o.origins[width]
				copy(r[j*nw:(j+1)*nw], r[width*nw:])
				clear(r[width*nw : (width+1)*nw])
				o.e.copyTo(w.slice(w.lo+j, w.lo+j+1), w.slice(w.lo+width, w.lo+width+1))
			}
		}
		if dead {
			continue
		}
		if o.project != nil && o.thin(width) {
			o.project(w.slice(w.lo, w.lo+width))
			continue
		}
		if clean || round >= maxRounds {
			break
		}
	}
	return width, nil
}

// isNeeded reports whether a column of W has more than rounding errors along a column of Q. row is the row of R of this
// column of Q.
func (o *orthonormalizer) isNeeded(row []float64) bool {
	for j, v := range row {
		if math.Abs(v) > deficient*o.lengths[j] {
			return true
		}
	}
	return false
}

// thin reports whether any of the first width columns became short and has not been projected since. It marks these columns
// as projected, which the caller must do.
func (o *orthonormalizer) thin(width int) bool {
	thin := false
	for j := range width {
		if state := &o.origins[j]; !state.pure && state.left < thinned*state.length {
			state.pure = true
			thin = true
		}
	}
	return thin
}

// round does one round on the columns q, and updates C and R. R has cols columns. begin says that this is the first round.
// clean reports whether q is orthonormal, so that no further round is needed.
func (o *orthonormalizer) round(ctx context.Context, v, q columns, recent, cols int,
	c, r []float64, begin bool) (clean bool, err error) {
	nv := v.width()
	nq := q.width()
	o.c, o.d = blocks.Grow(o.c, nv*nq), blocks.Grow(o.d, nv*nq)
	o.gram, o.coefficients = blocks.Grow(o.gram, nq*nq),
		blocks.Grow(o.coefficients, max(nv, nq)*nq)
	o.r, o.inverse, o.first = blocks.Grow(o.r, nq*nq),
		blocks.Grow(o.inverse, nq*nq), blocks.Grow(o.first, nq*nq)
	for i := range o.e.Pieces.Workers {
		o.e.scratch[i] = blocks.Grow(o.e.scratch[i], nq*segment)
	}
	local := v.slice(v.lo+recent, v.hi)
	if err := o.measure(ctx, local, q, recent); err != nil {
		return false, err
	}
	if begin {
		for j := range nq {
			length := math.Sqrt(o.gram[j*nq+j])
			o.longest = max(o.longest, length)
			o.origins[j] = origin{length: length, left: 1}
		}
		for j := range nq {
			if o.fill != nil {
				o.origins[j].length = o.longest
			}
			o.lengths[j] = o.origins[j].length
		}
	}
	if err := o.remove(ctx, v, local, q, recent); err != nil {
		return false, err
	}
	if err := o.normalize(ctx, v, q); err != nil {
		return false, err
	}

	// C += (C₁ + D)·R, with the old R.
	for i := range o.c {
		o.c[i] += o.d[i]
	}
	addProduct(c, o.c, r, nv, nq, cols)
	copy(o.first, o.r)
	multiplyUpper(r, o.r, nq, cols)
	cholesky(o.r, o.gram, nq)
	invertUpper(o.inverse, o.r, nq)
	clean = true
	for j := range nq {
		// A large part in the other columns of V would have shortened the column, and near
		// dependence increases errors.
		clean = clean && o.r[j*nq+j] > 0.5 && o.r[j*nq+j] < 2
		clean = clean && o.first[j*nq+j] > common*columnNorm(o.first, j, nq)
	}
	err = o.e.Pieces.Each(ctx, 0, func(worker, chunk int, _ []float64) {
		o.transform(q.panel(chunk), nq, worker)
	})
	multiplyUpper(r, o.r, nq, cols)
	for j := range nq {
		o.origins[j].left *= o.first[j*nq+j] * o.r[j*nq+j]
	}
	return clean, err
}

// measure stores qᵀq in o.gram and localᵀq in o.c. local are the columns of V from number recent on.
func (o *orthonormalizer) measure(ctx context.Context, local, q columns,
	recent int) error {
	nl := local.width()
	nq := q.width()
	step := (nl + nq) * nq
	err := o.e.Pieces.Each(ctx, step, func(_, chunk int, sums []float64) {
		w := q.panel(chunk)
		addDots(sums, local.panel(chunk), nl, w, nq)
		addDots(sums[nl*nq:], w, nq, w, nq)
	})
	if err != nil {
		return err
	}
	clear(o.c)
	o.e.Pieces.TotalTo(o.c[recent*nq:], step, 0)
	o.e.Pieces.TotalTo(o.gram, step, nl*nq)
	if !finite(o.gram) {
		return ErrNotFinite
	}
	return nil
}

// remove subtracts from q the part in local, which measure has computed. It then stores Vᵀq in o.d and the Cholesky factor
// of qᵀq in o.r.
func (o *orthonormalizer) remove(ctx context.Context, v, local, q columns,
	recent int) error {
	nv := v.width()
	nl := local.width()
	nq := q.width()
	negative(o.coefficients, o.c[recent*nq:])
	size := (nv + nq) * nq
	err := o.e.Pieces.Each(ctx, size, func(_, chunk int, sums []float64) {
		w := q.panel(chunk)
		addColumns(w, nq, local.panel(chunk), nl, o.coefficients)
		addDots(sums, v.panel(chunk), nv, w, nq)
		addDots(sums[nv*nq:], w, nq, w, nq)
	})
	if err != nil {
		return err
	}
	o.e.Pieces.TotalTo(o.d, size, 0)
	o.e.Pieces.TotalTo(o.gram, size, nv*nq)
	cholesky(o.r, o.gram, nq)
	invertUpper(o.inverse, o.r, nq)
	return nil
}

// normalize subtracts from q the part in V, which remove has computed, and multiplies q by the inverse of the Cholesky
// factor. It stores the new qᵀq in o.gram, whose distance from I is the error.
func (o *orthonormalizer) normalize(ctx context.Context, v, q columns) error {
	nv := v.width()
	nq := q.width()
	negative(o.coefficients, o.d)
	err := o.e.Pieces.Each(ctx, nq*nq, func(worker, chunk int, sums []float64) {
		w := q.panel(chunk)
		addColumns(w, nq, v.panel(chunk), nv, o.coefficients)
		o.transform(w, nq, worker)
		addDots(sums, w, nq, w, nq)
	})
	if err != nil {
		return err
	}
	o.e.Pieces.TotalTo(o.gram, nq*nq, 0)
	return nil
}

func (o *orthonormalizer) transform(w []float64, nq, worker int) {
	out := o.e.scratch[worker][:nq*segment]
	clear(out)
	addColumns(out, nq, w, nq, o.inverse)
	copy(w, out)
}
