package kernel

import (
	"math"
	"math/big"
	"slices"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// oracleKernels are the kernels that an oracle knows; the others have golden files.
var oracleKernels = []string{"diffusion", "exponential", "von-neumann", "regularized-laplacian", "pseudo-inverse", "commute-time",
	"regularized-commute-time", "p-step", "matern", "modularity", "pagerank", "heat-pagerank"}

// oracle computes kernels from exact eigenpairs of the matrices of a small graph.
type oracle struct {
	a      [][]*big.Float
	degree []*big.Float
	of     []uint32 // component of each node
	found  map[string]*eigen
}

type eigen struct {
	values  []*big.Float
	vectors [][]*big.Float // one per row
}

func newOracle(a *sparse.CSR, of []uint32) *oracle {
	n, _ := a.Dims()
	o := &oracle{of: of, found: map[string]*eigen{}, degree: make([]*big.Float, n)}
	o.a = exactMatrix(n, func(i, j int) *big.Float { return exact(a.At(i, j)) })
	for i, row := range o.a {
		o.degree[i] = exact(0)
		for _, w := range row {
			o.degree[i].Add(o.degree[i], w)
		}
	}
	return o
}

func (o *oracle) components() int { return int(slices.Max(o.of)) + 1 }

func (o *oracle) roots() []*big.Float {
	root := make([]*big.Float, len(o.degree))
	for i, d := range o.degree {
		root[i] = exact(1)
		if d.Sign() > 0 {
			root[i].Sqrt(d)
		}
	}
	return root
}

func (o *oracle) eigenOf(name string, resolution float64) *eigen {
	if e := o.found[name]; e != nil && name != "M" {
		return e
	}
	root, vol := o.roots(), exact(0)
	for _, d := range o.degree {
		vol.Add(vol, d)
	}
	e := eigenpairs(exactMatrix(len(o.a), func(i, j int) *big.Float {
		v := exact(0).Set(o.a[i][j])
		scaled := name == "L̃" || name == "S"
		switch name {
		case "L", "L̃":
			v.Neg(v)
			if i == j {
				v.Add(v, o.degree[i])
			}
		case "M":
			if vol.Sign() > 0 {
				d := exact(resolution)
				v.Sub(v, d.Mul(d, o.degree[i]).Mul(d, o.degree[j]).Quo(d, vol))
			}
		}
		if scaled {
			v.Quo(v, root[i]).Quo(v, root[j])
		}
		return v
	}))
	o.found[name] = e
	return e
}

// eigenpairs uses Jacobi's rotations and overwrites a.
func eigenpairs(a [][]*big.Float) *eigen {
	n := len(a)
	v := exactMatrix(n, func(i, j int) *big.Float {
		if i == j {
			return exact(1)
		}
		return exact(0)
	})
	zero := func() *big.Float { return exact(0) }
	theta, t, c, s, p, q := zero(), zero(), zero(), zero(), zero(), zero()
	rotate := func(x, y *big.Float) { // (x, y) ← (cx − sy, sx + cy)
		p.Mul(s, y)
		q.Mul(s, x)
		x.Mul(c, x).Sub(x, p)
		y.Mul(c, y).Add(y, q)
	}
	largest := 0
	for i := range n {
		for j := range n {
			if a[i][j].Sign() != 0 {
				largest = max(largest, a[i][j].MantExp(nil))
			}
		}
	}
	for range 60 {
		done := true
		for i := range n {
			for j := i + 1; j < n; j++ {
				off := a[i][j]
				if off.Sign() == 0 || off.MantExp(nil) < largest-exactBits+8 {
					continue
				}
				done = false
				// tan of the angle: t = sign(θ)/(|θ| + √(θ²+1)), θ = (a_jj − a_ii)/2a_ij.
				theta.Sub(a[j][j], a[i][i])
				theta.Quo(theta, p.Add(off, off))
				t.Mul(theta, theta)
				t.Add(t, exact(1)).Sqrt(t)
				p.Abs(theta)
				t.Quo(exact(1), t.Add(t, p))
				if theta.Sign() < 0 {
					t.Neg(t)
				}
				c.Mul(t, t)
				c.Add(c, exact(1)).Sqrt(c)
				c.Quo(exact(1), c)
				s.Mul(t, c)
				for r := range n {
					rotate(a[r][i], a[r][j])
				}
				for r := range n {
					rotate(a[i][r], a[j][r])
					rotate(v[i][r], v[j][r])
				}
			}
		}
		if done {
			break
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return a[i][i].Cmp(a[j][j]) })
	e := &eigen{}
	for _, i := range order {
		e.values, e.vectors = append(e.values, a[i][i]), append(e.vectors, v[i])
	}
	return e
}

func (e *eigen) apply(f func(i int, x *big.Float) *big.Float) [][]*big.Float {
	n := len(e.values)
	k := exactMatrix(n, func(int, int) *big.Float { return exact(0) })
	p := exact(0)
	for q, x := range e.values {
		y := f(q, x)
		for i := range n {
			scaled := exact(0).Mul(y, e.vectors[q][i])
			for j := range n {
				k[i][j].Add(k[i][j], p.Mul(scaled, e.vectors[q][j]))
			}
		}
	}
	return k
}

// exactExp uses Taylor's series of x/2^k.
func exactExp(x *big.Float) *big.Float {
	if v, _ := x.Float64(); v < -1e5 {
		return exact(0)
	}
	halvings := max(0, x.MantExp(nil)+12)
	small := exact(0).SetMantExp(x, -halvings)
	sum, term := exact(1), exact(1)
	for i := 1; term.Sign() != 0 && term.MantExp(nil) > -exactBits-40; i++ {
		term.Mul(term, small).Quo(term, exact(float64(i)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// exactLog uses Halley's iteration.
func exactLog(x *big.Float) *big.Float {
	m := exact(0)
	exponent := x.MantExp(m)
	f, _ := m.Float64()
	y := exact(math.Log(f) + float64(exponent)*math.Ln2)
	for range 7 {
		e := exactExp(y)
		d := exact(0).Sub(x, e)
		d.Quo(d, e.Add(e, x))
		y.Add(y, d.Add(d, d))
	}
	return y
}

func exactPower(x *big.Float, p float64) *big.Float {
	if p == math.Trunc(p) && math.Abs(p) < 1000 {
		y := exact(1)
		for range int(math.Abs(p)) {
			y.Mul(y, x)
		}
		if p < 0 {
			y.Quo(exact(1), y)
		}
		return y
	}
	y := exactLog(x)
	return exactExp(y.Mul(y, exact(p)))
}

// kernel has nil in place of +Inf.
func (o *oracle) kernel(name string, p param.Values) [][]*big.Float {
	zero := func() *big.Float { return exact(0) }
	one := func(x *big.Float) *big.Float { return x.Quo(exact(1), x) }
	p, err := Families().Named(name).Resolve(p, nil)
	if err != nil {
		panic(err)
	}
	matrix := "L"
	if p.Has("laplacian") && p.Word("laplacian") != combinatorial {
		matrix = "L̃"
	}
	if p["matrix"] == param.Of(normalizedAdjacency) {
		matrix = "S"
	} else if p["matrix"] == param.Of(adjacency) {
		matrix = "A"
	}
	walk := p["laplacian"] == param.Of(randomWalk)
	nonnegative := func(q int, x *big.Float) *big.Float {
		if q < o.components() {
			return zero()
		}
		return x
	}
	var f func(q int, x *big.Float) *big.Float
	switch name {
	case "diffusion", "heat-pagerank":
		if name == "heat-pagerank" {
			matrix, walk = "L̃", !p.On("symmetric")
		}
		f = func(q int, x *big.Float) *big.Float {
			y := zero().Mul(nonnegative(q, x), exact(p.Number("beta")))
			return exactExp(y.Neg(y))
		}
	case "exponential":
		f = func(_ int, x *big.Float) *big.Float { return exactExp(zero().Mul(x, exact(p.Number("beta")))) }
	case "von-neumann":
		f = func(_ int, x *big.Float) *big.Float {
			y := zero().Mul(x, exact(p.Number("alpha")))
			return one(y.Sub(exact(1), y))
		}
	case "pagerank":
		matrix, walk = "L̃", !p.On("symmetric")
		rest := zero().Sub(exact(1), exact(p.Number("alpha")))
		f = func(q int, x *big.Float) *big.Float { // (1−α)/(1 − α + αx)
			y := zero().Mul(nonnegative(q, x), exact(p.Number("alpha")))
			y.Add(y, rest)
			return y.Quo(rest, y)
		}
	case "regularized-laplacian":
		f = func(q int, x *big.Float) *big.Float {
			y := zero().Mul(nonnegative(q, x), exact(p.Number("alpha")))
			return one(y.Add(y, exact(1)))
		}
	case "pseudo-inverse", "commute-time":
		f = func(q int, x *big.Float) *big.Float {
			if q < o.components() {
				return zero()
			}
			return one(zero().Set(x))
		}
	case "regularized-commute-time":
		return o.regularizedCommuteTime(p.Number("alpha"))
	case "p-step":
		matrix = "L̃"
		f = func(q int, x *big.Float) *big.Float {
			return exactPower(zero().Sub(exact(p.Number("shift")), nonnegative(q, x)), float64(p.Int("steps")))
		}
	case "matern":
		shift := exact(2 * p.Number("nu"))
		shift.Quo(shift, exact(p.Number("kappa"))).Quo(shift, exact(p.Number("kappa")))
		f = func(q int, x *big.Float) *big.Float {
			return exactPower(zero().Add(shift, nonnegative(q, x)), -p.Number("nu"))
		}
	case "modularity":
		matrix = "M"
		n := len(o.a)
		rank, _ := rankOn(p, n)
		f = func(q int, x *big.Float) *big.Float {
			if x.Sign() < 0 || q < n-rank {
				return zero()
			}
			return x
		}
	default:
		panic("the oracle has no kernel " + name + "; give it the function of its eigenvalues")
	}
	resolution := 0.0
	if matrix == "M" {
		resolution = p.Number("resolution")
	}
	k := o.eigenOf(matrix, resolution).apply(f)
	if walk {
		root := o.roots()
		for i := range k {
			for j, v := range k[i] {
				v.Mul(v, root[j]).Quo(v, root[i])
			}
		}
	}
	if name == "commute-time" {
		return o.commuteTimes(k)
	}
	return k
}

func (o *oracle) commuteTimes(inverse [][]*big.Float) [][]*big.Float {
	volume := make([]*big.Float, o.components())
	for c := range volume {
		volume[c] = exact(0)
	}
	for i, d := range o.degree {
		volume[o.of[i]].Add(volume[o.of[i]], d)
	}
	return exactMatrix(len(o.a), func(i, j int) *big.Float {
		if o.of[i] != o.of[j] {
			return nil
		}
		v := exact(0).Add(inverse[i][i], inverse[j][j])
		v.Sub(v, inverse[i][j]).Sub(v, inverse[j][i])
		return v.Mul(v, volume[o.of[i]])
	})
}

func (o *oracle) regularizedCommuteTime(alpha float64) [][]*big.Float {
	k := exactInverse(exactMatrix(len(o.a), func(i, j int) *big.Float {
		v := exact(0).Mul(exact(alpha), o.a[i][j])
		v.Neg(v)
		if i == j {
			v.Add(v, o.degree[i])
			if o.degree[i].Sign() == 0 {
				v.SetInt64(1)
			}
		}
		return v
	}))
	for i, d := range o.degree {
		if d.Sign() == 0 {
			k[i][i].SetInt64(0)
		}
	}
	return k
}
