package classify

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// dual solves the problem of one binary classifier with a bias,
//
//	maximise  Σ y_i·β_i − ½ Σ β_i·β_j·K_ij
//	subject to  Σ β_i = 0,  0 ≤ y_i·β_i ≤ C_i,
//
// by sequential minimal optimisation. With β_i = y_i·α_i and the error f_i = Σ_j β_j·K_ij − y_i no signs are needed. An item
// may go up if β_i can grow, and down if β_i can shrink. At the optimum no item that may go up has a smaller error than an
// item that may go down; the solver moves the β of such a pair towards each other until the largest violation is below the
// tolerance.
//
// The pair has the largest violation and the largest gain of the objective to second order: Fan, Chen, Lin, Working set
// selection using second order information for training support vector machines, JMLR 6 (2005), WSS 2.
//
// Items at a bound that are unlikely to leave the bound are shrunk: they are moved behind position active, and their errors
// are recomputed when the other items have converged.
//
// Kernel values between different items count as rounded to T.
type dual[T sparse.Float] struct {
	rows rowCache[T]
	item []int     // item at each position
	y    []float64 // ±1
	rate []float64 // C_i for a cost of 1
	beta []float64
	lo   []float64 // bounds of β: 0 and C_i, or −C_i and 0
	hi   []float64
	diag []float64 // K_ii
	up   []float64 // f_i if the item may go up, else +Inf
	down []float64 // f_i if the item may go down, else −Inf

	rounding     float64 // bound of rounding errors of curvatures
	isIndefinite bool    // a curvature is below −rounding

	active   int
	unshrunk bool
	sums     []float64 // errors that are recomputed
}

// curvature replaces the curvature K_ii + K_jj − 2K_ij of a pair if this is not positive: by rounding, for equal items, or
// if the kernel is indefinite.
const curvature = 1e-12

// start sets up a classifier with β = 0 and the positive class items[:positive]. diag[i] is K(i, i) of item i. d.rate must
// hold C_i for a cost of 1; the caller then sets the bounds.
func (d *dual[T]) start(gram Gram, items []int, positive int, diag []float64,
	cacheBytes int64) {
	n := len(items)
	d.item = append(d.item[:0], items...)
	for _, s := range []*[]float64{&d.y, &d.beta, &d.lo, &d.hi, &d.diag,
		&d.up, &d.down} {
		*s = resize(*s, n)
	}
	for k, item := range d.item {
		d.y[k] = 1
		if k >= positive {
			d.y[k] = -1
		}
		d.beta[k] = 0
		d.diag[k] = diag[item]
		d.down[k] = -d.y[k]
	}
	d.rounding = 0
	for _, x := range d.diag {
		d.rounding = max(d.rounding, 1e-5*math.Abs(x))
	}
	d.isIndefinite = false
	d.active = n
	d.rows.reset(gram, d.item, cacheBytes)
}

func (d *dual[T]) bound(cost float64) {
	for k, y := range d.y {
		if y > 0 {
			d.lo[k], d.hi[k] = 0, cost*d.rate[k]
		} else {
			d.lo[k] = -cost * d.rate[k]
			d.hi[k] = 0
		}
		d.mark(k)
	}
}

func (d *dual[T]) errorAt(k int) float64 {
	if d.down[k] > math.Inf(-1) {
		return d.down[k]
	}
	return d.up[k]
}

func (d *dual[T]) mark(k int) { d.setError(k, d.errorAt(k)) }

// setError stores the error f of position k in up if β can grow within its bounds, and in down if β can shrink.
func (d *dual[T]) setError(k int, f float64) {
	d.up[k], d.down[k] = math.Inf(1), math.Inf(-1)
	if d.beta[k] < d.hi[k] {
		d.up[k] = f
	}
	if d.beta[k] > d.lo[k] {
		d.down[k] = f
	}
}

// raise raises the cost from start to end. If multiplying all β by end/start increases the objective, raise multiplies
// them. It does if many items are at their bound.
func (d *dual[T]) raise(start, end float64) {
	ratio := end / start
	var linear, quadratic float64
	for k, b := range d.beta {
		linear += d.y[k] * b
		quadratic += b * (d.errorAt(k) + d.y[k])
	}
	if gain := func(s float64) float64 { return s*linear - s*s*quadratic/2 }; gain(ratio) > gain(1) {
		for k, y := range d.y {
			f := ratio*(d.errorAt(k)+y) - y
			d.down[k] = f
			if alpha := y * d.beta[k]; alpha == start*d.rate[k] {
				d.beta[k] = y * (end * d.rate[k])
			} else {
				d.beta[k] = y * min(alpha*ratio, end*d.rate[k])
			}
		}
	}
	d.bound(end)
}

// shrinkPeriod is the number of iterations between attempts to shrink and checks of the context.
const shrinkPeriod = 1000

// solve iterates until the largest violation is below tolerance, at most limit times, and returns the number of iterations.
// All positions are active before and after.
func (d *dual[T]) solve(ctx context.Context, tolerance float64,
	limit int) (int, error) {
	n := len(d.item)
	period := min(n, shrinkPeriod)
	countdown := period + 1
	d.unshrunk = false
	i, lowest, highest := d.extremes()
	for iteration := range limit {
		if countdown--; countdown == 0 {
			countdown = period
			if err := sched.Cause(ctx); err != nil {
				return iteration, err
			}
			d.shrink(lowest, highest, tolerance)
			i, lowest, highest = d.extremes()
		}
		if !(highest-lowest >= tolerance) {
			if d.active == n {
				return iteration, nil
			}
			d.unshrink()
			i, lowest, highest = d.extremes()
			if !(highest-lowest >= tolerance) {
				return iteration, nil
			}
			countdown = 1
		}
		a := d.active
		ri := d.rows.row(i, a)
		j := simd.LargestGain(d.down[:a], d.diag[:a], ri, lowest,
			d.diag[i], curvature)
		if j < 0 {
			d.unshrink()
			return iteration, nil
		}
		rj := d.rows.row(j, a)
		eta := d.diag[i] + d.diag[j] - 2*float64(ri[j])
		if !(eta > 0) {
			d.isIndefinite = d.isIndefinite || eta < -d.rounding
			eta = curvature
		}
		step := d.move(i, j, (d.down[j]-lowest)/eta)
		i, lowest, highest = simd.Advance(d.up[:a], d.down[:a], ri, rj, step)
	}
	d.unshrink()
	_, lowest, highest = d.extremes()
	if highest-lowest >= tolerance {
		return limit, ErrIterationLimit
	}
	return limit, nil
}

// move transfers as much of step from β_j to β_i as the bounds allow, and returns the amount.
func (d *dual[T]) move(i, j int, step float64) float64 {
	roomI := d.hi[i] - d.beta[i]
	roomJ := d.beta[j] - d.lo[j]
	step = min(step, roomI, roomJ)
	d.beta[i] += step
	d.beta[j] -= step
	if step == roomI {
		d.beta[i] = d.hi[i]
	}
	if step == roomJ {
		d.beta[j] = d.lo[j]
	}
	d.mark(i)
	d.mark(j)
	return step
}

// extremes returns, among active positions, the position i with the lowest error that may go up, this error, and the
// highest error that may go down.
func (d *dual[T]) extremes() (i int, lowest, highest float64) {
	lowest = math.MaxFloat64
	highest = math.Inf(-1)
	for k, u := range d.up[:d.active] {
		if u <= lowest {
			i = k
			lowest = u
		}
		highest = max(highest, d.down[k])
	}
	return i, lowest, highest
}

// shrink moves items at a bound behind active if their error lies outside [lowest, highest]. When the violation is first
// within ten tolerances, shrink makes all items active before, because earlier decisions were made far from the solution.
func (d *dual[T]) shrink(lowest, highest, tolerance float64) {
	if !d.unshrunk && highest-lowest <= 10*tolerance {
		d.unshrunk = true
		d.unshrink()
	}
	idle := func(k int) bool {
		return d.up[k] == math.Inf(1) && d.down[k] < lowest ||
			d.down[k] == math.Inf(-1) && d.up[k] > highest
	}
	for k := 0; k < d.active; k++ {
		if !idle(k) {
			continue
		}
		d.active--
		for d.active > k && idle(d.active) {
			d.active--
		}
		if k < d.active {
			d.rows.swap(k, d.active)
			d.item[k], d.item[d.active] = d.item[d.active], d.item[k]
			for _, s := range [...][]float64{d.y, d.rate, d.beta, d.lo, d.hi, d.diag,
				d.up, d.down} {
				s[k], s[d.active] = s[d.active], s[k]
			}
		}
	}
}

func (d *dual[T]) unshrink() {
	d.recompute(d.active)
	d.active = len(d.item)
}

// recompute computes the errors at all positions ≥ first.
func (d *dual[T]) recompute(first int) {
	if first == len(d.item) {
		return
	}
	d.sums = resize(d.sums, len(d.item)-first)
	for k, y := range d.y[first:] {
		d.sums[k] = -y
	}
	for k, b := range d.beta {
		if b != 0 {
			simd.AddScaled(d.sums, b, d.rows.after(k, first))
		}
	}
	for k, f := range d.sums {
		d.setError(first+k, f)
	}
}

// result returns the threshold ρ of the decision Σ β_i·K(x, i) − ρ, and the objective. ρ is the mean error of the items
// between their bounds, or if there are none, the middle of the interval that the other items allow.
func (d *dual[T]) result() (rho, objective float64) {
	lowest := math.Inf(1)
	highest := math.Inf(-1)
	var sum float64
	free := 0
	for k, b := range d.beta {
		f := d.errorAt(k)
		objective += b * (d.y[k] - f)
		switch {
		case b > d.lo[k] && b < d.hi[k]:
			sum += f
			free++
		case b < d.hi[k]:
			lowest = min(lowest, f)
		default:
			highest = max(highest, f)
		}
	}
	if free > 0 {
		return sum / float64(free), objective / 2
	}
	return (lowest + highest) / 2, objective / 2
}

// rowCache holds rows of a Gram between the items of one classifier, rounded to T. Active items have the first positions, so
// that often only the first columns are computed. A full cache drops the row that was not used for the longest time.
type rowCache[T sparse.Float] struct {
	gram  Gram
	item  []int // item at each position
	limit int

	slot  []int // slot of the row of each position, or −1
	owner []int // position of the row in each slot
	have  []int // known columns of each slot
	stamp []int // last use of each slot
	clock int

	swaps [][2]int32 // swaps of positions so far
	done  []int      // number of swaps that the row of each slot has followed

	rows   [][]T // row in each slot
	length int   // length of rows, at least the number of positions

	exact []float64
	spare []T // row that is not cached
}

func (c *rowCache[T]) reset(gram Gram, item []int, bytes int64) {
	n := len(item)
	c.gram = gram
	c.item = item
	c.slot = resize(c.slot, n)
	for i := range c.slot {
		c.slot[i] = -1
	}
	c.owner = c.owner[:0]
	c.have = c.have[:0]
	c.stamp = c.stamp[:0]
	c.done = c.done[:0]
	c.clock = 0
	c.swaps = c.swaps[:0]
	if c.length < n {
		c.length = n
		c.rows = nil
	}
	c.limit = int(max(2, min(int64(n), bytes/budget.Vector[T](c.length))))
}

func (c *rowCache[T]) values(slot int) []T {
	return c.rows[slot][:len(c.item)]
}

func (c *rowCache[T]) row(position, columns int) []T {
	s := c.slot[position]
	if s < 0 {
		s = c.free()
		c.slot[position] = s
		c.owner[s] = position
		c.have[s] = 0
	}
	c.follow(s)
	c.clock++
	c.stamp[s] = c.clock
	values := c.values(s)
	if have := c.have[s]; have < columns {
		c.read(values[have:columns], position, c.item[have:columns])
		c.have[s] = columns
	}
	return values[:columns]
}

func (c *rowCache[T]) read(dst []T, position int, items []int) {
	i := c.item[position]
	switch dst := any(dst).(type) {
	case []float64:
		c.gram.PartTo(dst, i, items)
	case []float32:
		if g, ok := c.gram.(roundedGram); ok {
			g.roundedTo(dst, i, items)
			return
		}
		c.exact = resize(c.exact, len(items))
		c.gram.PartTo(c.exact, i, items)
		simd.ScaleTo(dst, 1, c.exact)
	}
}

// after returns the row at a position, from column first to the last, valid until the next call. If the cache is full,
// after does not add the row to the cache.
func (c *rowCache[T]) after(position, first int) []T {
	if c.slot[position] >= 0 || len(c.owner) < c.limit {
		return c.row(position, len(c.item))[first:]
	}
	c.spare = resize(c.spare, len(c.item)-first)
	c.read(c.spare, position, c.item[first:])
	return c.spare
}

// free returns a slot for another row. If the cache is full, it drops a row.
func (c *rowCache[T]) free() int {
	s := len(c.owner)
	if s < c.limit {
		if s == len(c.rows) {
			c.rows = append(c.rows, make([]T, c.length))
		}
		c.owner = append(c.owner, 0)
		c.have = append(c.have, 0)
		c.stamp = append(c.stamp, 0)
		c.done = append(c.done, 0)
		return s
	}
	oldest := math.MaxInt
	for i, t := range c.stamp {
		if t < oldest {
			s = i
			oldest = t
		}
	}
	c.slot[c.owner[s]] = -1
	return s
}

// swap records the exchange of the positions a < b. A cached row is permuted when it is next used, because most shrunk rows
// are never used again.
func (c *rowCache[T]) swap(a, b int) {
	c.swaps = append(c.swaps, [2]int32{int32(a), int32(b)})
	c.slot[a], c.slot[b] = c.slot[b], c.slot[a]
	if s := c.slot[a]; s >= 0 {
		c.owner[s] = a
	}
	if s := c.slot[b]; s >= 0 {
		c.owner[s] = b
	}
}

// follow applies to a cached row the swaps of positions made since its last use.
func (c *rowCache[T]) follow(slot int) {
	values := c.values(slot)
	have := c.have[slot]
	for _, s := range c.swaps[c.done[slot]:] {
		switch a, b := int(s[0]), int(s[1]); {
		case have > b:
			values[a], values[b] = values[b], values[a]
		case have > a:
			have = a
		}
	}
	c.have[slot] = have
	c.done[slot] = len(c.swaps)
}
