package lanczos

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/sparse"
)

// ActionSettings are the settings of [ActionTo]. Nil means all defaults.
type ActionSettings struct {
	// Tolerance is the error of a column relative to its own norm; 0 means
	// 1e-8; it must be less than 1.
	Tolerance float64

	// MaxSteps limits the steps of Lanczos; 0 means 1000. The numbers that are
	// kept, and the small eigenproblems, grow with the steps, the blocks do not.
	MaxSteps int

	// Bounds enclose the spectrum, on the complement of the known vectors; nil
	// means those of [Interval].
	Bounds *Bounds

	// Known, if not nil, are eigenvectors whose part is computed exactly.
	Known *Known

	RNGSeed uint64 // of Interval
	Workers int    // goroutines, 0: one for each processor; never changes a result

	// Progress, if not nil, is called after each sweep, with their number.
	Progress func(sweeps int)
}

// Validate reports every setting that is out of range.
func (s *ActionSettings) Validate() error {
	if s == nil {
		return nil
	}
	var all []error
	if !(s.Tolerance >= 0 && s.Tolerance < 1) {
		all = append(all, fmt.Errorf("lanczos: tolerance %g; it must be in (0, 1), or 0 for %g", s.Tolerance, defaultTolerance))
	}
	if s.MaxSteps < 0 {
		all = append(all, fmt.Errorf("lanczos: step limit %d; it must be positive, or 0 for %d", s.MaxSteps, defaultMaxSteps))
	}
	if s.Bounds != nil && !(s.Bounds.Lo <= s.Bounds.Hi) {
		all = append(all, fmt.Errorf("lanczos: bounds %g to %g of the spectrum; the lower one must not be the larger", s.Bounds.Lo, s.Bounds.Hi))
	}
	return errors.Join(all...)
}

const defaultMaxSteps = 1000

// Action is what [ActionTo] found out, also when it failed.
type Action struct {
	Steps  int
	Sweeps int // of both passes, and for the bounds of the spectrum

	// Error holds, for each function and column, a bound of ‖dst − f(A)b‖ where
	// the function's kind and the bounds of the spectrum make it one, and an
	// estimate for a [General] function. Norm holds the norms of the results.
	Error, Norm [][]float64

	Bounds Bounds // of the spectrum, as used
}

// ActionTo stores f(A)·B in dst[i] for each function f = fs[i]: Lanczos for each
// column (Druskin and Knizhnerman 1989) in two passes, of which the first finds the
// numbers α and β, and the second makes the vectors again and adds them up, for all
// functions at once. Memory: three blocks like B beside the results, however many
// steps there are. Cost: two sweeps for each step.
//
// No dst may overlap b or another dst. On [ErrIterationLimit] the results are
// those of the last step, with their errors.
func ActionTo(ctx context.Context, dst []*sparse.Block[float64], a sparse.Applier[float64], b *sparse.Block[float64], fs []Function, s *ActionSettings) (*Action, error) {
	n, cols := a.Dims()
	if n != cols || b.Rows != n || len(dst) != len(fs) || s != nil && s.Known != nil && len(s.Known.unit) != n {
		panic(badShape)
	}
	for _, d := range dst {
		if d.Rows != n || d.Cols != b.Cols {
			panic(badShape)
		}
		if n > 0 && &d.Data[0] == &b.Data[0] {
			panic(badOverlap)
		}
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	w := &action{fs: fs, dst: dst, b: b}
	if s != nil {
		w.s = *s
	}
	if w.s.Tolerance == 0 {
		w.s.Tolerance = defaultTolerance
	}
	if w.s.MaxSteps == 0 {
		w.s.MaxSteps = defaultMaxSteps
	}
	w.r = newRecurrence(a, b.Cols, w.s.Workers)
	w.known = projection{Known: w.s.Known, workers: w.r.e.workers}
	w.out = &Action{Error: table(len(fs), b.Cols), Norm: table(len(fs), b.Cols)}
	if n == 0 {
		return w.out, nil
	}
	return w.run(ctx)
}

func table(rows, cols int) [][]float64 {
	t := make([][]float64, rows)
	for i := range t {
		t[i] = make([]float64, cols)
	}
	return t
}

// action is one call under way.
type action struct {
	s     ActionSettings
	fs    []Function
	dst   []*sparse.Block[float64]
	b     *sparse.Block[float64]
	r     *recurrence
	known projection
	fixed []float64 // the norm of what each column of B has of the known vectors
	out   *Action
}

func (w *action) run(ctx context.Context) (*Action, error) {
	if err := w.bounds(ctx); err != nil {
		return nil, err
	}
	if err := w.start(ctx); err != nil {
		return nil, err
	}
	fine := false
	for check := firstCheck; !fine; {
		if err := w.r.step(ctx); err != nil {
			return nil, err
		}
		if w.s.Progress != nil {
			w.s.Progress(w.r.sweeps)
		}
		last := w.r.ended() || w.r.steps >= w.s.MaxSteps
		if w.r.steps >= check || last {
			fine = w.check()
			check = w.r.steps + max(checkEvery, w.r.steps/10)
		}
		if last {
			break
		}
	}
	w.out.Steps = w.r.steps
	if err := w.second(ctx); err != nil {
		return nil, err
	}
	w.out.Sweeps = w.r.sweeps + w.out.Bounds.Sweeps
	if !fine {
		return w.out, fmt.Errorf("%w: the error after %d steps is %.3g of the result", ErrIterationLimit, w.out.Steps, w.worst())
	}
	return w.out, nil
}

const (
	firstCheck = 4
	checkEvery = 3
)

// bounds finds those of the spectrum.
func (w *action) bounds(ctx context.Context) error {
	if w.s.Bounds != nil {
		w.out.Bounds = *w.s.Bounds
		w.out.Bounds.Sweeps = 0
		return nil
	}
	found, err := Interval(ctx, w.r.a, &IntervalSettings{RNGSeed: w.s.RNGSeed, Workers: w.s.Workers})
	if err != nil {
		return err
	}
	w.out.Bounds = *found
	return nil
}

// start makes B without its part in the known vectors the start of the
// recurrence, and f of that part the first term of the results.
func (w *action) start(ctx context.Context) error {
	if err := w.load(ctx); err != nil {
		return err
	}
	cols := w.b.Cols
	squares := make([]float64, cols)
	err := w.r.rows(ctx, cols, func(i int, sums []float64) {
		b, u := w.b.Row(i), w.r.u.Row(i)
		for j := range b {
			d := b[j] - u[j]
			sums[j] += float64(d * d)
		}
		for f := range w.fs {
			row := w.dst[f].Row(i)
			for j := range row {
				row[j] = 0
				if w.s.Known != nil {
					row[j] = b[j] - u[j]
				}
			}
		}
	})
	if err != nil {
		return err
	}
	w.r.e.totalTo(squares, cols, 0)
	w.fixed = make([]float64, cols)
	for j, square := range squares {
		w.fixed[j] = math.Sqrt(square)
	}
	return w.r.begin(ctx)
}

// load stores B without its part in the known vectors in the recurrence.
func (w *action) load(ctx context.Context) error {
	err := w.r.rows(ctx, 0, func(i int, _ []float64) { copy(w.r.u.Row(i), w.b.Row(i)) })
	if err != nil {
		return err
	}
	return w.known.remove(ctx, w.r.u)
}

// check computes errors and norms, and reports whether all are fine.
func (w *action) check() bool {
	fine := true
	for j := range w.r.columns {
		c := &w.r.columns[j]
		if len(c.Diag) == 0 {
			continue
		}
		values, vectors := c.EigenRows(0, len(c.Diag)-1)
		for i, f := range w.fs {
			var square, most float64
			for k, theta := range values {
				v := f.Value(theta)
				square += float64(vectors[2*k] * v * vectors[2*k] * v)
				most = max(most, math.Abs(v))
			}
			rounding := 8 * epsilon * math.Sqrt(float64(len(values))) * most * c.norm
			w.out.Error[i][j] = c.norm*c.errorFactor(f, w.out.Bounds, values, vectors) + rounding
			norm := c.norm * math.Sqrt(square)
			if w.s.Known != nil {
				norm = math.Hypot(norm, f.Value(w.s.Known.value)*w.fixed[j])
			}
			w.out.Norm[i][j] = norm
			fine = fine && w.out.Error[i][j] <= w.s.Tolerance*max(norm-w.out.Error[i][j], rounding/w.s.Tolerance)
		}
	}
	return fine
}

// worst returns the largest error relative to its column.
func (w *action) worst() (most float64) {
	for i, errs := range w.out.Error {
		for j, e := range errs {
			if e > 0 {
				most = max(most, e/w.out.Norm[i][j])
			}
		}
	}
	return most
}

// second makes the vectors again and adds them up.
func (w *action) second(ctx context.Context) error {
	steps, cols := w.r.steps, w.b.Cols
	coefficients := w.coefficients(steps)
	if err := w.load(ctx); err != nil {
		return err
	}
	w.r.reset()
	fixed := make([]float64, len(w.fs))
	for f := range w.fs {
		if w.s.Known != nil {
			fixed[f] = w.fs[f].Value(w.s.Known.value)
		}
	}
	for step := range steps {
		err := w.r.rows(ctx, 0, func(i int, _ []float64) {
			u := w.r.u.Row(i)
			for f, d := range w.dst {
				row, c := d.Row(i), coefficients[(f*steps+step)*cols:][:cols]
				for j := range row {
					if step == 0 {
						row[j] *= fixed[f]
					}
					row[j] += float64(c[j] * float64(w.r.scale[j]*u[j]))
				}
			}
		})
		if err == nil && step+1 < steps {
			err = w.r.repeat(ctx)
		}
		if err != nil {
			return err
		}
		if w.s.Progress != nil {
			w.s.Progress(w.r.sweeps)
		}
	}
	return nil
}

// coefficients returns ‖b‖·f(T)e₁ of each function and column: element
// (f·steps + step)·cols + column.
func (w *action) coefficients(steps int) []float64 {
	cols := w.b.Cols
	out := make([]float64, len(w.fs)*steps*cols)
	for j := range w.r.columns {
		c := &w.r.columns[j]
		m := len(c.Diag)
		rows := make([]int, m)
		for i := range rows {
			rows[i] = i
		}
		values, vectors := c.EigenRows(rows...)
		for f := range w.fs {
			for k, theta := range values {
				v := c.norm * w.fs[f].Value(theta) * vectors[k*m]
				for i := range m {
					out[(f*steps+i)*cols+j] += float64(v * vectors[k*m+i])
				}
			}
		}
	}
	return out
}
