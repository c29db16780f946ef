package kernel_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// TestBounds compares results with dense references of 300 bits. References err by less than 2⁻²⁵⁰ of their norms, so
// that only the rounding of the norm of the error, 1e-12 of it, is allowed for.
func TestBounds(t *testing.T) {
	graphs := 12
	switch {
	case testgraph.Hunt:
		graphs = 300
	case testing.Short():
		graphs = 4
	}
	counts := map[string]*[2]int{}
	for seed := range uint64(graphs) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := newBoundsCase(t, seed)
			c.counts = counts
			c.products()
			c.exponentials()
			c.solves()
			c.kernels()
			c.eigenpairs()
			c.harmonic()
		})
	}
	for name, count := range counts {
		t.Logf("%s: %d results, %d refused", name, count[0], count[1])
		if 4*count[1] > 3*count[0] {
			t.Errorf("%s: %d of %d results are refused", name, count[1], count[0])
		}
	}
}

type boundsCase struct {
	t      *testing.T
	seed   uint64
	rng    *rand.Rand
	n      int
	a      [][]float64 // exact sums of the entries of each pair
	g      *graph.Graph
	o      *kernel.Oracle
	b      *sparse.Block[float64]
	counts map[string]*[2]int
}

var factors = map[string]float64{"calls": 1, "pays": 0.25, "shares": 2, "none": 0}

// Weights of a pair are small whole numbers times powers of two within a factor of 2²⁰, so that their sums are exact.
func newBoundsCase(t *testing.T, seed uint64) *boundsCase {
	rng := rand.New(rand.NewPCG(seed, 76))
	c := &boundsCase{t: t, seed: seed, rng: rng, n: 2 + rng.IntN(8)}
	isSigned, hasLoops, spread := rng.IntN(2) == 0, rng.IntN(2) == 0, []float64{0, 6, 20, 40}[rng.IntN(4)]
	c.a = make([][]float64, c.n)
	var text bytes.Buffer
	fmt.Fprintln(&text, "u,v,kind,date,weight")
	for i := range c.n {
		c.a[i] = make([]float64, c.n)
		fmt.Fprintf(&text, "%d,%d,none,3,1\n", i, (i+1)%c.n)
	}
	kinds := []string{"calls", "pays", "shares"}
	for range 1 + rng.IntN(2*c.n) {
		i, j := rng.IntN(c.n), rng.IntN(c.n)
		if i == j && !hasLoops || c.a[i][j] != 0 {
			continue
		}
		unit := math.Ldexp(1, int(spread*(rng.Float64()-0.5)))
		if i == j && rng.IntN(2) == 0 {
			unit *= 1 << 20
		}
		first := rng.IntN(3)
		for k := range 1 + rng.IntN(3) {
			kind, w := kinds[(first+k)%3], unit*float64(1+rng.IntN(9))
			if isSigned && rng.IntN(3) == 0 {
				w = -w
			}
			days := 1 + rng.IntN(2)
			for day := range days {
				fmt.Fprintf(&text, "%d,%d,%s,%d,%v\n", min(i, j), max(i, j), kind, day+1, w)
			}
			c.a[i][j] += float64(days) * factors[kind] * w
		}
		c.a[j][i] = c.a[i][j]
	}
	dir := t.TempDir()
	file, store := filepath.Join(dir, "edges.csv"), filepath.Join(dir, "store")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.Run(t.Context(), store, []string{file}, &ingest.Config{Kind: "kind", Time: "date", Signed: true, KeepLoops: true}); err != nil {
		t.Fatal(err)
	}
	s, err := shard.OpenSweeper(t.Context(), store, &shard.Options{}, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	book := &shard.Codebook{}
	for _, k := range s.Manifest.Kinds {
		book.Kinds = append(book.Kinds, factors[k.Name])
	}
	if err := shard.Weigh(t.Context(), s, book); err != nil {
		t.Fatal(err)
	}
	if c.g, err = graph.New(t.Context(), s.A, &graph.Settings{Nodes: s.Nodes}); err != nil {
		t.Fatal(err)
	}
	if s.Nodes.Len() != c.n {
		t.Fatalf("%d nodes, want %d", s.Nodes.Len(), c.n)
	}
	c.o = kernel.NewOracle(c.n, func(i, j int) float64 { return c.a[i][j] })
	c.b = sparse.NewBlock[float64](c.n, 2)
	for i := range c.n {
		c.b.Row(i)[0] = rng.NormFloat64()
	}
	c.b.Row(rng.IntN(c.n))[1] = 1
	return c
}

func (c *boundsCase) count(name string, err error) (refused bool) {
	count := c.counts[name]
	if count == nil {
		count = new([2]int)
		c.counts[name] = count
	}
	count[0]++
	if err == nil {
		return false
	}
	count[1]++
	if !errors.Is(err, kernel.ErrTolerance) && !errors.As(err, new(*param.ParameterError)) && !errors.Is(err, iterative.ErrIterationLimit) {
		c.t.Errorf("%s: %v", name, err)
	}
	return true
}

func (c *boundsCase) errorOf(k [][]*big.Float, y *sparse.Block[float64], first, j int) float64 {
	sum := kernel.Exact(0)
	for i := range c.n {
		d := kernel.Exact(y.Row(i)[first+j])
		for l := range c.n {
			p := kernel.Exact(c.b.Row(l)[j])
			d.Sub(d, p.Mul(p, k[i][l]))
		}
		sum.Add(sum, d.Mul(d, d))
	}
	off, _ := sum.Sqrt(sum).Float64()
	return off * (1 - 1e-12)
}

func (c *boundsCase) largest(k [][]*big.Float, j int) float64 {
	squares, column := 0.0, 0.0
	for i := range c.n {
		column = math.Hypot(column, c.b.Row(i)[j])
		for _, v := range k[i] {
			entry, _ := v.Float64()
			squares = math.Hypot(squares, entry)
		}
	}
	return squares * column
}

func (c *boundsCase) apply(named *kernel.NamedFunction, references ...[][]*big.Float) {
	name := fmt.Sprintf("%s %v %v", named.Name, named.Given, named.Times)
	tolerance := []float64{0, 1e-3, 1e-10}[c.rng.IntN(3)]
	if kernel.IsProduct(named.Name) {
		tolerance = 0
	}
	f, err := kernel.NewFunction(c.t.Context(), c.g, named)
	if c.g.Signed && f == nil && errors.As(err, new(*param.ParameterError)) {
		return // the function needs walks
	}
	y := sparse.NewBlock[float64](c.n, named.Results()*c.b.Cols)
	var r *kernel.Report
	if err == nil {
		r, err = f.ApplyTo(c.t.Context(), y, c.b, &kernel.Settings{Tolerance: tolerance})
	}
	if c.count(named.Name, err) {
		return
	}
	if tolerance == 0 {
		tolerance = kernel.FunctionTolerance
	}
	for k, reference := range references {
		for j := range c.b.Cols {
			column := k*c.b.Cols + j
			norm := 0.0
			for i := range c.n {
				norm = math.Hypot(norm, y.Row(i)[column])
			}
			off, bound := c.errorOf(reference, y, k*c.b.Cols, j), r.ColumnBound[column]
			if !(off <= bound) {
				c.t.Errorf("%s, signed %v: error %.3g, bound %.3g, norm %.3g, %s", name, c.g.Signed, off, bound, norm, r.Method)
			}
			if norm == 0 { // float64 cannot tell the result from zero
				norm = c.largest(reference, j)
			}
			if bound > tolerance*norm*(1+1e-12) && !kernel.IsProduct(named.Name) {
				c.t.Errorf("%s: bound %.3g above the tolerance %.3g of the norm %.3g", name, bound, tolerance, norm)
			}
		}
	}
}

var matrices = map[string]string{"adjacency": "A", "normalized-adjacency": "S", "laplacian": "L", "normalized-laplacian": "L̃"}

func identity(x *big.Float) *big.Float { return x }

func (c *boundsCase) products() {
	for _, matrix := range slices.Sorted(maps.Keys(matrices)) {
		letter := matrices[matrix]
		c.apply(&kernel.NamedFunction{Name: matrix}, c.o.Apply(letter, identity))
	}
}

func (c *boundsCase) size(letter string) float64 {
	largest := 0.0
	for _, v := range c.o.Values(letter) {
		x, _ := v.Float64()
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 {
		return 1
	}
	return largest
}

func (c *boundsCase) exponentials() {
	for _, matrix := range slices.Sorted(maps.Keys(matrices)) {
		letter := matrices[matrix]
		times := make([]float64, 1+c.rng.IntN(2))
		var references [][][]*big.Float
		for i := range times {
			times[i] = math.Pow(10, 4*c.rng.Float64()-2) / c.size(letter)
			if c.rng.IntN(3) > 0 {
				times[i] = -times[i]
			}
			references = append(references, c.o.Apply(letter, func(x *big.Float) *big.Float { return kernel.ExactExp(x.Mul(x, kernel.Exact(times[i]))) }))
		}
		c.apply(&kernel.NamedFunction{Name: kernel.ExpFunction, Given: param.Values{"matrix": param.Of(matrix)}, Times: times}, references...)
	}
}

func (c *boundsCase) solves() {
	for _, matrix := range []string{"laplacian", "normalized-laplacian"} {
		for _, shift := range []float64{0, math.Pow(10, 6*c.rng.Float64()-5) * c.size(matrices[matrix])} {
			reference := c.o.Apply(matrices[matrix], func(x *big.Float) *big.Float {
				x.Add(x, kernel.Exact(shift))
				if x.Sign() == 0 {
					return x
				}
				return x.Quo(kernel.Exact(1), x)
			})
			c.apply(&kernel.NamedFunction{Name: kernel.SolveFunction, Given: param.Values{"matrix": param.Of(matrix), "shift": param.Of(shift)}}, reference)
			if shift > 0 {
				c.iterate(matrix, shift, reference)
			}
		}
	}
}

// iterate solves by conjugate gradients, as on larger graphs.
func (c *boundsCase) iterate(matrix string, shift float64, reference [][]*big.Float) {
	s, err := iterative.ShiftedLaplacian(c.g, matrix == "normalized-laplacian", 1, shift)
	if err != nil {
		c.t.Error(err)
		return
	}
	x := sparse.NewBlock[float64](c.n, c.b.Cols)
	r, err := s.SolveTo(c.t.Context(), x, c.b, &iterative.Settings{Tolerance: 1e-9})
	if r == nil {
		c.t.Error(err)
		return
	}
	for j := range c.b.Cols {
		if off := c.errorOf(reference, x, 0, j); !(off <= r.ErrorBound[j]) {
			c.t.Errorf("conjugate gradients, %s + %v, signed %v: error %.3g, bound %.3g", matrix, shift, c.g.Signed, off, r.ErrorBound[j])
		}
	}
}

func (c *boundsCase) kernels() {
	one := kernel.Exact(1)
	for _, matrix := range []string{"laplacian", "normalized-laplacian"} {
		letter, word := matrices[matrix], param.Of("combinatorial")
		if letter == "L̃" {
			word = param.Of("normalized")
		}
		x := math.Pow(10, 5*c.rng.Float64()-2) / c.size(letter)
		nu := []float64{0.5, 1.5, 2}[c.rng.IntN(3)]
		c.kernel("diffusion", param.Values{"laplacian": word, "beta": param.Of(x)}, letter, func(v *big.Float) *big.Float {
			v.Mul(v, kernel.Exact(-x))
			return kernel.ExactExp(v)
		})
		c.kernel("regularized-laplacian", param.Values{"laplacian": word, "alpha": param.Of(x)}, letter, func(v *big.Float) *big.Float {
			v.Mul(v, kernel.Exact(x))
			return v.Quo(one, v.Add(v, one))
		})
		c.kernel("pseudo-inverse", param.Values{"laplacian": word}, letter, func(v *big.Float) *big.Float {
			if v.Sign() == 0 {
				return v
			}
			return v.Quo(one, v)
		})
		kappa := math.Sqrt(x)
		sigma := kernel.Exact(2 * nu)
		sigma.Quo(sigma, kernel.Exact(kappa)).Quo(sigma, kernel.Exact(kappa))
		c.kernel("matern", param.Values{"laplacian": word, "nu": param.Of(nu), "kappa": param.Of(kappa)}, letter, func(v *big.Float) *big.Float {
			return kernel.ExactPower(v.Add(v, sigma), -nu)
		})
	}
	for _, matrix := range []string{"adjacency", "normalized-adjacency"} {
		beta := math.Pow(10, 3*c.rng.Float64()-1) / c.size(matrices[matrix])
		c.kernel("exponential", param.Values{"matrix": param.Of(matrix), "beta": param.Of(beta)}, matrices[matrix], func(v *big.Float) *big.Float {
			return kernel.ExactExp(v.Mul(v, kernel.Exact(beta)))
		})
		alpha := 0.9
		if matrix == "adjacency" { // the range ends at the radius of |A|
			largest := 0.0
			for _, d := range c.g.Degrees {
				largest = max(largest, d)
			}
			alpha /= max(largest, 1e-12)
		}
		c.kernel("von-neumann", param.Values{"matrix": param.Of(matrix), "alpha": param.Of(alpha)}, matrices[matrix], func(v *big.Float) *big.Float {
			v.Mul(v, kernel.Exact(alpha))
			return v.Quo(one, v.Sub(one, v))
		})
	}
	steps := 1 + c.rng.IntN(6)
	c.kernel("p-step", param.Values{"shift": param.Of(2.0), "steps": param.Of(steps)}, "L̃", func(v *big.Float) *big.Float {
		v.Sub(kernel.Exact(2), v)
		p := kernel.Exact(1)
		for range steps {
			p.Mul(p, v)
		}
		return p
	})
}

func (c *boundsCase) kernel(name string, values param.Values, letter string, f func(x *big.Float) *big.Float) {
	reference := c.o.Apply(letter, f)
	c.apply(&kernel.NamedFunction{Name: name, Given: values}, reference)
	nodes := make([]int, c.n)
	for i := range nodes {
		nodes[i] = i
	}
	k, err := kernel.New(c.t.Context(), c.g, name, values)
	var y *sparse.Block[float64]
	var r *kernel.Report
	if err == nil {
		y, r, err = kernel.Matrix(c.t.Context(), k, nodes, nodes, nil)
	}
	if c.count(name, err) {
		return
	}
	for i := range c.n {
		for j := range c.n {
			d := kernel.Exact(y.Row(i)[j])
			off, _ := d.Sub(d, reference[i][j]).Float64()
			if !(math.Abs(off) <= r.ErrorBound) {
				c.t.Fatalf("%s %v, signed %v: error %.3g at %d, %d, bound %.3g, largest %.3g, %s", name, values, c.g.Signed, off, i, j, r.ErrorBound, r.Largest, r.Method)
			}
		}
	}
	if r.ErrorBound > 1e-8*r.Largest {
		c.t.Errorf("%s %v: bound %.3g of values up to %.3g", name, values, r.ErrorBound, r.Largest)
	}
}

func (c *boundsCase) eigenpairs() {
	for _, matrix := range slices.Sorted(maps.Keys(matrices)) {
		exact := c.o.Values(matrices[matrix])
		for _, which := range []lanczos.Which{lanczos.Largest, lanczos.Smallest} {
			p := &lanczos.GraphProblem{Matrix: sparse.Kind(matrix), Which: which}
			pairs, err := p.Solve(c.t.Context(), c.g, 1+c.rng.IntN(c.n), nil)
			if err != nil {
				c.t.Errorf("%s, %v: %v", matrix, which, err)
				continue
			}
			for j, v := range pairs.Values {
				want := exact[j]
				if which == lanczos.Largest {
					want = exact[c.n-1-j]
				}
				d := kernel.Exact(v)
				off, _ := d.Sub(d, want).Float64()
				if !(math.Abs(off) <= pairs.ErrorBounds[j]) {
					w, _ := want.Float64()
					c.t.Errorf("%s, %v, signed %v: value %d is %v, not %v: error %.3g, bound %.3g", matrix, which, c.g.Signed, j, v, w, off, pairs.ErrorBounds[j])
				}
			}
		}
	}
}

// harmonic checks the residual of L_UU·x = A_UL·y.
func (c *boundsCase) harmonic() {
	clamped := c.rng.IntN(c.n)
	s, err := iterative.Harmonic(c.t.Context(), c.g, []int{clamped})
	if err != nil {
		c.t.Error(err)
		return
	}
	x := sparse.NewBlock[float64](c.n, 1)
	x.Row(clamped)[0] = 1
	r, err := s.SolveTo(c.t.Context(), x, nil, &iterative.Settings{Tolerance: 1e-10})
	if err != nil {
		c.t.Error(err)
		return
	}
	off, size := 0.0, blocks.WeightUnit(c.g.A, c.g.Degrees) // squared norms of the residual and of the right-hand side
	for i := range c.n {
		if i == clamped || c.g.Components.Of[i] != c.g.Components.Of[clamped] {
			continue
		}
		rest, degree := kernel.Exact(0), max(0, -c.a[i][i])
		for j, w := range c.a[i] {
			product := kernel.Exact(w)
			product.Mul(product, kernel.Exact(x.Row(j)[0]))
			rest.Sub(rest, product)
			product = kernel.Exact(math.Abs(w))
			product.Mul(product, kernel.Exact(x.Row(i)[0]))
			rest.Add(rest, product)
			if i != j {
				degree += math.Abs(w)
			}
		}
		v, _ := rest.Float64()
		off += v * v / degree
		size += c.a[i][clamped] * c.a[i][clamped] / degree
	}
	if math.Sqrt(off) > 1e-9*math.Sqrt(size) {
		c.t.Errorf("harmonic, signed %v: residual %.3g of %.3g, printed %.3g", c.g.Signed, math.Sqrt(off), math.Sqrt(size), r.Relative[0])
	}
}
