package sparse_test

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/sparse"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // blocks are short-lived
	goleak.VerifyTestMain(m)
}

func epsilon[T sparse.Float]() float64 {
	var t T
	if _, single := any(t).(float32); single {
		return 0x1p-23
	}
	return 0x1p-52
}

func fill[T sparse.Float](rng *rand.Rand, b *sparse.Block[T]) *sparse.Block[T] {
	for i := range b.Rows {
		for j := range b.Row(i) {
			b.Row(i)[j] = T(rng.NormFloat64())
		}
	}
	return b
}

func clone[T sparse.Float](b *sparse.Block[T]) *sparse.Block[T] {
	c := *b
	c.Data = slices.Clone(b.Data)
	return &c
}

func vector(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// reference also bounds the rounding errors: each term is rounded a few times, and takes part in at most as many
// additions as there are terms.
func reference[T sparse.Float](o *sparse.Operator[T], x *sparse.Block[T], s sparse.Step[T]) (y, bound [][]float64) {
	rows, _ := o.A.Dims()
	a := o.A.(*sparse.CSR)
	factor := func(v []float64, i int) float64 {
		if v == nil {
			return 1
		}
		return v[i]
	}
	scale := o.Scale
	if scale == 0 {
		scale = 1
	}
	for i := range rows {
		sum, size := make([]float64, x.Cols), make([]float64, x.Cols)
		terms := 0
		add := func(j int, term float64) {
			sum[j] += term
			size[j] += math.Abs(term)
		}
		col, val := a.Row(i)
		for k, c := range col {
			v := 1.0
			if val != nil {
				v = val[k]
			}
			terms++
			for j, e := range x.Row(int(c)) {
				add(j, s.Alpha*scale*factor(o.Left, i)*v*factor(o.Right, int(c))*float64(e))
			}
		}
		if o.Diag != nil || s.Beta != 0 {
			d := s.Beta
			if o.Diag != nil {
				d += s.Alpha * o.Diag[i]
			}
			for j, e := range x.Row(i) {
				add(j, d*float64(e))
			}
		}
		if s.Delta != 0 {
			for j, e := range s.Prev.Row(i) {
				add(j, s.Delta*float64(e))
			}
		}
		if o.U != nil {
			terms += x.Rows
			for c := range x.Rows {
				for j, e := range x.Row(c) {
					add(j, s.Alpha*o.Gamma*o.U[i]*o.V[c]*float64(e))
				}
			}
		}
		for j := range size {
			size[j] *= float64(terms+8) * epsilon[T]()
		}
		y, bound = append(y, sum), append(bound, size)
	}
	return y, bound
}

func compare[T sparse.Float](t testing.TB, got *sparse.Block[T], want, bound [][]float64) {
	t.Helper()
	for i := range want {
		for j, v := range got.Row(i) {
			if d := math.Abs(float64(v) - want[i][j]); !(d <= bound[i][j]) {
				t.Fatalf("element (%d, %d) is %v, want %v ± %.2g", i, j, v, want[i][j], bound[i][j])
			}
		}
	}
}

func both(t *testing.T, single, double func(*testing.T)) {
	t.Run("float32", single)
	t.Run("float64", double)
}

type terms struct {
	scale, left, right, diag, rankOne, beta, delta bool
}

var cases = map[string]terms{
	"plain":   {},
	"scale":   {scale: true},
	"left":    {left: true},
	"right":   {right: true},
	"diag":    {diag: true},
	"rankOne": {rankOne: true},
	"beta":    {beta: true},
	"delta":   {delta: true},
	"walk":    {left: true, diag: true},
	"all":     {scale: true, left: true, right: true, diag: true, rankOne: true, beta: true, delta: true},
}

func build[T sparse.Float](rng *rand.Rand, a *sparse.CSR, k int, c terms) (*sparse.Operator[T], *sparse.Block[T], sparse.Step[T]) {
	rows, cols := a.Dims()
	o, s := &sparse.Operator[T]{A: a}, sparse.Step[T]{Alpha: 1}
	if c.scale {
		o.Scale, s.Alpha = -1.5, 0.75
	}
	if c.left {
		o.Left = vector(rng, rows)
	}
	if c.right {
		o.Right = vector(rng, cols)
	}
	if c.diag {
		o.Diag = vector(rng, rows)
	}
	if c.rankOne {
		o.Gamma, o.U, o.V = 0.1, vector(rng, rows), vector(rng, rows)
	}
	if c.beta {
		s.Beta = 0.3
	}
	if c.delta {
		s.Delta = -1
		s.Prev = fill(rng, sparse.NewBlock[T](rows, k))
	}
	return o, fill(rng, sparse.NewBlock[T](cols, k)), s
}

func TestStep(t *testing.T) { both(t, testStep[float32], testStep[float64]) }

func testStep[T sparse.Float](t *testing.T) {
	rng := newRand(t, 2)
	for name, p := range map[string]pattern{
		"square":      {rows: 90, cols: 90, mean: 4},
		"weighted":    {rows: 90, cols: 90, mean: 4, weighted: true},
		"many ranges": {rows: 17000, cols: 17000, mean: 2, hubs: []int{0, 16999}, weighted: true},
	} {
		a := random(t, rng, p)
		for term, c := range cases {
			for _, k := range []int{1, 2, 3, 5, 8, 13, 16, 70} {
				if p.rows > 1000 && (k > 3 || c.rankOne || testing.Short() && k != 2) {
					continue
				}
				o, x, s := build[T](rng, a, k, c)
				dst := fill(rng, sparse.NewBlock[T](p.rows, k))
				if err := o.StepTo(t.Context(), dst, x, s); err != nil {
					t.Fatal(err)
				}
				want, bound := reference(o, x, s)
				t.Run(name+"/"+term, func(t *testing.T) { compare(t, dst, want, bound) })
			}
		}
	}
}

func TestRectangularStep(t *testing.T) {
	both(t, testRectangularStep[float32], testRectangularStep[float64])
}

func testRectangularStep[T sparse.Float](t *testing.T) {
	rng := newRand(t, 3)
	a := random(t, rng, pattern{rows: 30, cols: 40000, mean: 9, hubs: []int{0, 4, 5, 29}})
	o, x, s := build[T](rng, a, 5, terms{left: true, right: true, delta: true})
	dst := sparse.NewBlock[T](30, 5)
	if err := o.StepTo(t.Context(), dst, x, s); err != nil {
		t.Fatal(err)
	}
	want, bound := reference(o, x, s)
	compare(t, dst, want, bound)
}

func TestStepOnAnyLayout(t *testing.T) {
	both(t, testStepOnAnyLayout[float32], testStepOnAnyLayout[float64])
}

func testStepOnAnyLayout[T sparse.Float](t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "rng seed"), 0))
		n, k := rapid.IntRange(1, 40).Draw(rt, "rows"), rapid.IntRange(1, 45).Draw(rt, "columns")
		a := random(t, rng, pattern{rows: n, cols: n, mean: 3, weighted: rapid.Bool().Draw(rt, "weighted")})
		c := terms{left: rapid.Bool().Draw(rt, "left"), right: rapid.Bool().Draw(rt, "right"),
			diag: rapid.Bool().Draw(rt, "diag"), rankOne: rapid.Bool().Draw(rt, "rank one"), delta: rapid.Bool().Draw(rt, "delta")}
		o, x, s := build[T](rng, a, k, c)
		want := sparse.NewBlock[T](n, k)
		if err := o.StepTo(t.Context(), want, x, s); err != nil {
			rt.Fatal(err)
		}
		layout := func(name string) (block, whole *sparse.Block[T], at int) {
			switch rapid.SampledFrom([]string{"padded", "unpadded", "view"}).Draw(rt, name) {
			case "padded":
				whole = sparse.NewBlock[T](n, k)
			case "unpadded":
				whole = sparse.BlockOf(n, k, make([]T, n*k))
			default:
				at = rapid.IntRange(0, 9).Draw(rt, "columns before")
				whole = fill(rng, sparse.NewBlock[T](n, at+k+rapid.IntRange(0, 9).Draw(rt, "columns behind")))
			}
			if whole.Cols == k {
				return whole, whole, 0
			}
			return whole.Columns(at, at+k), whole, at
		}
		assign := func(dst, src *sparse.Block[T]) {
			for i := range n {
				copy(dst.Row(i), src.Row(i))
			}
		}
		x2, _, _ := layout("x")
		assign(x2, x)
		dst, whole, at := layout("dst")
		if c.delta && rapid.Bool().Draw(rt, "dst is Prev") {
			assign(dst, s.Prev)
			s.Prev = dst
		}
		if c.delta && s.Prev != dst {
			prev, _, _ := layout("prev")
			assign(prev, s.Prev)
			s.Prev = prev
		}
		before := clone(whole)
		if err := o.StepTo(t.Context(), dst, x2, s); err != nil {
			rt.Fatal(err)
		}
		for i := range n {
			if !slices.Equal(dst.Row(i), want.Row(i)) {
				rt.Fatalf("row %d is %v, want %v", i, dst.Row(i), want.Row(i))
			}
			for j := range whole.Stride {
				inside := at <= j && j < at+k
				if p := i*whole.Stride + j; !inside && whole.Data[p] != before.Data[p] {
					rt.Fatalf("row %d: column %d, outside the block, was written", i, j-at)
				}
			}
		}
	})
}

func panics(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	f()
}

const (
	mismatch = "sparse: dimension mismatch"
	overlap  = "sparse: dst overlaps x"
	overPrev = "sparse: dst overlaps Prev"
	outside  = "sparse: index out of range"
)

func TestStepRefusals(t *testing.T) {
	rng := newRand(t, 4)
	a := random(t, rng, pattern{rows: 5, cols: 5, mean: 2})
	wide := random(t, rng, pattern{rows: 5, cols: 6, mean: 2})
	block := sparse.NewBlock[float64]
	step := func(o *sparse.Operator[float64], dst, x *sparse.Block[float64], s sparse.Step[float64]) func() {
		return func() { _ = o.StepTo(t.Context(), dst, x, s) }
	}
	plain, rectangular := &sparse.Operator[float64]{A: a}, &sparse.Operator[float64]{A: wide}
	panics(t, mismatch, step(plain, block(4, 2), block(5, 2), sparse.Step[float64]{}))
	panics(t, mismatch, step(plain, block(5, 2), block(4, 2), sparse.Step[float64]{}))
	panics(t, mismatch, step(plain, block(5, 3), block(5, 2), sparse.Step[float64]{}))
	panics(t, mismatch, step(plain, block(5, 2), block(5, 2), sparse.Step[float64]{Delta: 1}))
	panics(t, mismatch, step(plain, block(5, 2), block(5, 2), sparse.Step[float64]{Delta: 1, Prev: block(5, 1)}))
	panics(t, mismatch, step(plain, block(5, 2), block(5, 2), sparse.Step[float64]{Delta: 1, Prev: block(4, 2)}))
	panics(t, mismatch, step(rectangular, block(5, 2), block(6, 2), sparse.Step[float64]{Beta: 1}))
	for _, o := range []*sparse.Operator[float64]{
		{A: wide, Diag: make([]float64, 5)},
		{A: wide, U: make([]float64, 5), V: make([]float64, 6)},
		{A: a, Left: make([]float64, 4)},
		{A: a, Right: make([]float64, 6)},
		{A: a, Diag: make([]float64, 4)},
		{A: a, U: make([]float64, 5), V: make([]float64, 4)},
		{A: a, U: make([]float64, 6), V: make([]float64, 5)},
	} {
		_, cols := o.A.Dims()
		panics(t, mismatch, step(o, block(5, 2), block(cols, 2), sparse.Step[float64]{Alpha: 1}))
	}
	for _, kind := range []sparse.Kind{sparse.Transition, sparse.NormalizedAdjacency, sparse.Laplacian, sparse.NormalizedLaplacian} {
		panics(t, mismatch, func() {
			_ = sparse.NewOperator[float64](kind, a, nil).ApplyTo(t.Context(), block(5, 2), block(5, 2))
		})
	}
	b := block(5, 8)
	panics(t, overlap, step(plain, b, b, sparse.Step[float64]{}))
	memory := make([]float64, 11)
	panics(t, overlap, step(plain, sparse.BlockOf(5, 1, memory[:5]), sparse.BlockOf(5, 1, memory[4:9]), sparse.Step[float64]{}))
	if err := plain.StepTo(t.Context(), sparse.BlockOf(5, 1, memory[:5]), sparse.BlockOf(5, 1, memory[5:10]), sparse.Step[float64]{}); err != nil {
		t.Error(err)
	}
	wholeBlock := block(5, 8)
	panics(t, overlap, step(plain, wholeBlock.Columns(0, 3), wholeBlock.Columns(2, 5), sparse.Step[float64]{}))
	panics(t, overlap, step(plain, wholeBlock.Columns(4, 7), wholeBlock.Columns(2, 5), sparse.Step[float64]{}))
	panics(t, overPrev, step(plain, wholeBlock.Columns(4, 7), block(5, 3), sparse.Step[float64]{Delta: 1, Prev: wholeBlock.Columns(2, 5)}))
	narrow := &sparse.Block[float64]{Rows: 5, Cols: 3, Stride: 4, Data: wholeBlock.Data} // begins where Prev does
	panics(t, overPrev, step(plain, narrow, block(5, 3), sparse.Step[float64]{Delta: 1, Prev: wholeBlock.Columns(0, 3)}))
}

func TestStepRefusesShiftedViews(t *testing.T) {
	o := &sparse.Operator[float64]{A: random(t, newRand(t, 15), pattern{rows: 5, cols: 5, mean: 2})}
	all := sparse.NewBlock[float64](6, 8)
	left := all.Columns(4, 7)
	left.Rows = 5
	below := func(column int) *sparse.Block[float64] {
		return &sparse.Block[float64]{Rows: 5, Cols: 3, Stride: 8, Data: all.Data[8+column : 8+4*8+column+3]}
	}
	for column, shared := range []bool{false, false, true, true, true, true} {
		x := below(column)
		step := func() { _ = o.ApplyTo(t.Context(), left, x) }
		if shared {
			panics(t, overlap, step)
		} else {
			step()
		}
	}
}

// Without entries only the rank-one term γ·u·(vᵀx) remains.
func TestRankOneOverManyRows(t *testing.T) {
	both(t, testRankOneOverManyRows[float32], testRankOneOverManyRows[float64])
}

func testRankOneOverManyRows[T sparse.Float](t *testing.T) {
	const n, k = 9001, 3
	a, err := sparse.FromTriplets(n, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, x, s := build[T](newRand(t, 16), a, k, terms{rankOne: true})
	dst := sparse.NewBlock[T](n, k)
	if err := o.StepTo(t.Context(), dst, x, s); err != nil {
		t.Fatal(err)
	}
	var sum, size [k]float64
	for i, v := range o.V {
		for j, e := range x.Row(i) {
			sum[j] += v * float64(e)
			size[j] += math.Abs(v * float64(e))
		}
	}
	for i, u := range o.U {
		for j, got := range dst.Row(i) {
			want := o.Gamma * u * sum[j]
			bound := (4*epsilon[T]() + n*epsilon[float64]()) * math.Abs(o.Gamma*u) * size[j]
			if !(math.Abs(float64(got)-want) <= bound) {
				t.Fatalf("element (%d, %d) is %v, want %v ± %.2g", i, j, got, want, bound)
			}
		}
	}
}

func TestStepsInOneBlock(t *testing.T) {
	both(t, testStepsInOneBlock[float32], testStepsInOneBlock[float64])
}

func testStepsInOneBlock[T sparse.Float](t *testing.T) {
	rng := newRand(t, 14)
	a := random(t, rng, pattern{rows: 70, cols: 70, mean: 4})
	for _, k := range []int{1, 3, 8, 11} {
		o, x, s := build[T](rng, a, k, terms{left: true, diag: true})
		all := sparse.NewBlock[T](70, 5*k)
		for i := range 70 {
			copy(all.Columns(0, k).Row(i), x.Row(i))
		}
		for step := range 4 {
			if err := o.StepTo(t.Context(), all.Columns((step+1)*k, (step+2)*k), all.Columns(step*k, (step+1)*k), s); err != nil {
				t.Fatal(err)
			}
			next := sparse.NewBlock[T](70, k)
			if err := o.StepTo(t.Context(), next, x, s); err != nil {
				t.Fatal(err)
			}
			x = next
			for i := range 70 {
				if !slices.Equal(all.Columns((step+1)*k, (step+2)*k).Row(i), x.Row(i)) {
					t.Fatalf("%d columns: row %d of step %d differs", k, i, step+1)
				}
			}
		}
	}
}

func TestStepMayOverwritePrev(t *testing.T) {
	rng := newRand(t, 5)
	a := random(t, rng, pattern{rows: 17000, cols: 17000, mean: 2, hubs: []int{3}})
	c := cases["all"]
	c.rankOne = false
	o, x, s := build[float64](rng, a, 3, c)
	want, bound := reference(o, x, s)
	if err := o.StepTo(t.Context(), s.Prev, x, s); err != nil {
		t.Fatal(err)
	}
	compare(t, s.Prev, want, bound)
}
