package test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

type dense struct {
	n       int
	a       *mat.SymDense
	degrees []float64
}

func newDense(c *Graph) *dense {
	full := c.Dense()
	n, _ := full.Dims()
	d := &dense{n: n, a: mat.NewSymDense(n, nil), degrees: make([]float64, n)}
	for i := range n {
		for j := range n {
			d.degrees[i] += math.Abs(full.At(i, j))
			d.a.SetSym(i, j, full.At(i, j))
		}
	}
	return d
}

func (d *dense) matrix(name string) *mat.SymDense {
	m := mat.NewSymDense(d.n, nil)
	for i := range d.n {
		for j := range i + 1 {
			w := d.a.At(i, j)
			if name == "normalized-adjacency" || name == "normalized-laplacian" {
				w = 0
				if d.a.At(i, j) != 0 {
					w = d.a.At(i, j) / math.Sqrt(d.degrees[i]*d.degrees[j])
				}
			}
			switch {
			case name == "laplacian" && i == j:
				w = d.degrees[i] - w
			case name == "normalized-laplacian" && i == j && d.degrees[i] > 0:
				w = 1 - w
			case name == "laplacian" || name == "normalized-laplacian":
				w = -w
			}
			m.SetSym(i, j, w)
		}
	}
	return m
}

// apply returns f(M)·B for the block of the function apply, and the norm of f(M).
func (d *dense) apply(m *mat.SymDense, f func(x float64) float64) (fb *mat.Dense, norm float64) {
	var e mat.EigenSym
	if !e.Factorize(m, true) {
		panic("no eigenvalues")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	b := mat.NewDense(d.n, columns, nil)
	for i := range d.n {
		for j := range columns {
			b.Set(i, j, column(i, j, d.n))
		}
	}
	var y, out mat.Dense
	y.Mul(v.T(), b)
	for i, x := range e.Values(nil) {
		norm = max(norm, math.Abs(f(x)))
		for j := range columns {
			y.Set(i, j, y.At(i, j)*f(x))
		}
	}
	out.Mul(&v, &y)
	return &out, norm
}

func (d *dense) reached(c *Graph) []bool {
	out := make([]bool, d.n)
	var visit func(v int)
	visit = func(v int) {
		if out[v] {
			return
		}
		out[v] = true
		for u := range d.n {
			if d.a.At(v, u) != 0 {
				visit(u)
			}
		}
	}
	for v := range c.Labels {
		visit(v)
	}
	return out
}

// harmonic returns the harmonic function of the labels of a class: L·f = 0 at nodes without a label.
func (d *dense) harmonic(c *Graph, class string) []float64 {
	l := d.matrix("laplacian")
	reached := d.reached(c)
	m, b := mat.NewDense(d.n, d.n, nil), mat.NewVecDense(d.n, nil)
	for i := range d.n {
		label, known := c.Labels[i]
		switch {
		case !reached[i]:
			m.Set(i, i, 1)
		case known:
			m.Set(i, i, 1)
			if label == class {
				b.SetVec(i, 1)
			}
		default:
			for j := range d.n {
				m.Set(i, j, l.At(i, j))
			}
		}
	}
	x := mat.NewVecDense(d.n, nil)
	if err := x.SolveVec(m, b); err != nil {
		return nil
	}
	return x.RawVector().Data
}

// The graphs have exact solves, or enough further nodes for iterative solves.
func TestDense(t *testing.T) {
	turn := 0
	for i, shape := range Shapes {
		if shape.Directed || shape.Signed || shape.Nodes > 400 || shape.Decades > 3 {
			continue
		}
		for _, padding := range []int{0, 1100} {
			c := Draw(shape, 4000+uint64(i))
			d := newDense(c)
			var g *heatwalk.Graph
			t.Run(fmt.Sprintf("%s and %d nodes", shape.Name, padding), func(t *testing.T) {
				check := func(name string, got func(ctx context.Context) ([]float64, error), want func() *answer) {
					if turn++; !selected("dense/"+name) || !testgraph.Hunt && turn%29 != 0 {
						return
					}
					if g == nil {
						g = open(t, c.Padded(padding), &heatwalk.Options{Edges: unit(c)}, nil)
					}
					values, err := got(t.Context())
					a, b := new(answer), want()
					a.add("values", values...)
					if !(slices.MaxFunc(b.numbers[0], cmp.Compare) < 1e200 && b.size < 1e190) { // the program refuses with words
						return
					}
					if err != nil {
						a.problem = err.Error()
					}
					compare(t, name, a, b, nil, 1e-6)
				}
				function := func(name, matrix string, f func(x float64) float64) {
					for j := range columns {
						check(fmt.Sprintf("%s, column %d", name, j), func(ctx context.Context) ([]float64, error) {
							a, _, err := apply(ctx, g, c, name)
							if err != nil {
								return nil, err
							}
							return a.numbers[j], nil
						}, func() *answer {
							y, norm := d.apply(d.matrix(matrix), f)
							want := &answer{size: 0.01 * norm} // the tolerance of a small column is relative to ‖f(M)‖·‖b‖
							want.add("values", mat.Col(nil, j, y)...)
							return want
						})
					}
				}
				for _, m := range []string{"adjacency", "normalized-adjacency", "laplacian", "normalized-laplacian"} {
					function(m, m, func(x float64) float64 { return x })
					function("exp:t=0.03:matrix="+m, m, func(x float64) float64 { return math.Exp(0.03 * x) })
					function("exp:t=-0.7:matrix="+m, m, func(x float64) float64 { return math.Exp(-0.7 * x) })
				}
				for _, m := range []string{"laplacian", "normalized-laplacian"} {
					function("solve:shift=0.5:matrix="+m, m, func(x float64) float64 { return 1 / (x + 0.5) })
					function("solve:shift=0:matrix="+m, m, func(x float64) float64 {
						if math.Abs(x) < 1e-11*(1+d.largest()) {
							return 0
						}
						return 1 / x
					})
				}
				function("von-neumann:alpha=0.9", "normalized-adjacency", func(x float64) float64 { return 1 / (1 - 0.9*x) })
				function("p-step:steps=3", "normalized-laplacian", func(x float64) float64 { return math.Pow(2-x, 3) })
				function("matern:nu=2:kappa=1", "normalized-laplacian", func(x float64) float64 { return math.Pow(4+x, -2) })
				for k, class := range classes {
					check("lp of "+class, func(ctx context.Context) ([]float64, error) {
						j := classifyBy("lp:center=false", "none", "given")
						a := j.answer(ctx, g, c)
						if a.problem != "" {
							return nil, fmt.Errorf("%s", a.problem)
						}
						raw := a.numbers[1]
						count := len(raw) / len(c.IDs)
						if k >= count {
							return make([]float64, len(c.IDs)), nil
						}
						var out []float64
						for v, has := range d.reached(c) {
							out = append(out, raw[v*count+k])
							if !has {
								out[v] = 0
							}
						}
						return out, nil
					}, func() *answer {
						values := d.harmonic(c, class)
						if k >= countClasses(c) {
							clear(values)
						}
						want := new(answer)
						want.add("values", values...)
						return want
					})
				}
			})
		}
	}
}

func (d *dense) largest() (x float64) {
	for _, degree := range d.degrees {
		x = max(x, degree)
	}
	return x
}

func countClasses(c *Graph) int {
	seen := map[string]bool{}
	for _, label := range c.Labels {
		seen[label] = true
	}
	return len(seen)
}
