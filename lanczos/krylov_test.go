package lanczos

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestProjection(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	n := 20000
	c := &sparse.Components{Of: make([]uint32, n), Sizes: make([]int, 40)}
	weights := make([]float64, n)
	for i := range n {
		g := 0
		if rng.IntN(2) == 0 {
			g = rng.IntN(len(c.Sizes))
		}
		c.Of[i] = uint32(g)
		c.Sizes[g]++
		weights[i] = 1 + rng.Float64()
		if g == 3 {
			weights[i] = 0
		}
	}
	k := (&Known{Components: c, Weights: weights}).vectors(nil)
	if k.count() != len(c.Sizes)-1 {
		t.Fatalf("%d vectors", k.count())
	}
	x := sparse.NewBlock[float64](n, 3)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	before := slices.Clone(x.Data)
	k.remove(x, 2)
	v := sparse.NewBlock[float64](n, 1)
	want := before
	for g := range k.count() {
		k.vectorTo(v, 0, g)
		for j := range 3 {
			var dot, length float64
			for i := range n {
				dot += v.Row(i)[0] * before[i*x.Stride+j]
				length += v.Row(i)[0] * v.Row(i)[0]
			}
			if math.Abs(length-1) > 1e-12 {
				t.Fatalf("vector %d has length² %g", g, length)
			}
			for i := range n {
				want[i*x.Stride+j] -= dot * v.Row(i)[0]
			}
		}
	}
	for i := range n {
		for j := range 3 {
			if d := x.Row(i)[j] - want[i*x.Stride+j]; math.Abs(d) > 1e-12 {
				t.Fatalf("row %d, column %d: off by %g", i, j, d)
			}
		}
	}
}

// Columns depend on each other, on the basis or on nothing, and have very different lengths.
func TestOrthonormalize(t *testing.T) {
	n := 700
	rng := rand.New(rand.NewPCG(1, 1))
	e := newEngine(nil, n, 2)
	fill := func(w columns) {
		for i := range n {
			for j := range w.width() {
				column(w.panel(i/segment), j, w.width())[i%segment] = rng.NormFloat64()
			}
		}
	}
	set := func(v *basis, j int, of func(i int) float64) {
		for i := range n {
			column(v.panel(i/segment, j), 0, 1)[i%segment] = of(i)
		}
	}
	at := func(v *basis, i, j int) float64 { return column(v.panel(i/segment, j), 0, 1)[i%segment] }
	o := orthonormalizer{e: e, fill: fill}
	v := newBasis(n, 14)
	fill(v.slice(0, 10))
	c, r := make([]float64, 10*10), make([]float64, 10*10)
	if width, err := o.run(ctx, v.slice(0, 0), v.slice(0, 10), 0, c, r); err != nil || width != 10 {
		t.Fatal(width, err)
	}
	for name, of := range map[string]func(i, j int) float64{
		"random":     func(_, _ int) float64 { return rng.NormFloat64() },
		"equal":      func(i, _ int) float64 { return math.Sin(float64(i)) },
		"nearly":     func(i, j int) float64 { return math.Sin(float64(i)) + 1e-9*float64(j)*math.Cos(float64(i*j)) },
		"in V":       func(i, j int) float64 { return at(v, i, j) + at(v, i, 9) },
		"near V":     func(i, j int) float64 { return at(v, i, j) + 1e-10*rng.NormFloat64() },
		"lengths":    func(_, j int) float64 { return math.Pow(1e4, float64(-j)) * rng.NormFloat64() },
		"zero":       func(_, _ int) float64 { return 0 },
		"one is":     func(i, j int) float64 { return float64(j % 2 * i) },
		"very small": func(_, _ int) float64 { return 1e-100 * rng.NormFloat64() },
	} {
		before := newBasis(n, 4)
		for j := range 4 {
			set(before, j, func(i int) float64 { return of(i, j) })
		}
		for _, o.fill = range []func(columns){fill, nil} { // nil: dependent columns are dropped
			for j := range 4 {
				set(v, 10+j, func(i int) float64 { return at(before, i, j) })
			}
			o.longest = 0
			c, r := make([]float64, 10*4), make([]float64, 4*4)
			recent := rng.IntN(11) // an arbitrary hint
			if name == "near V" {
				recent = 6
			}
			width, err := o.run(ctx, v.slice(0, 10), v.slice(10, 14), recent, c, r)
			if err != nil || width > 4 || o.fill != nil && width != 4 || o.fill == nil && name == "one is" && width != 1 {
				t.Fatalf("%s: width %d, error %v", name, width, err)
			}
			for a := range 10 + width {
				for b := range a + 1 {
					var dot float64
					for i := range n {
						dot += at(v, i, a) * at(v, i, b)
					}
					if a == b {
						dot--
					}
					if math.Abs(dot) > 1e-14 {
						t.Errorf("%s: columns %d and %d: off by %g", name, a, b, dot)
					}
				}
			}
			for j := range 4 {
				var size, off float64
				for i := range n {
					sum := at(before, i, j)
					size = math.Hypot(size, sum)
					for k := range 10 {
						sum -= at(v, i, k) * c[k*4+j]
					}
					for k := range width {
						sum -= at(v, i, 10+k) * r[k*4+j]
					}
					off = math.Hypot(off, sum)
				}
				if off > 1e-12*size && off > 1e-13*o.longest {
					t.Errorf("%s: column %d of length %g is missed by %g", name, j, size, off)
				}
			}
		}
	}
}

// M·V = V·H + Q·R holds through restarts and changes of the filter. One eigenvalue of the filtered map is ten thousand times
// as large as the others.
func TestDecomposition(t *testing.T) {
	a := randomGraph(700)
	p := &Problem{A: sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, degreesOf(t, a))}
	w, err := p.prepare(3, &Settings{Basis: 80})
	if err != nil {
		t.Fatal(err)
	}
	search := newSearch(w, newKrylov(w, 80), 3)
	k := search.k
	x, y := sparse.NewBlock[float64](w.n, width), sparse.NewBlock[float64](w.n, width)
	calls, relations := 0, 0
	w.s.Progress = func(string, int64, int64) {
		if calls++; calls%5 > 0 {
			return
		}
		if err := k.decompose(ctx); err != nil {
			t.Fatal(err)
		}
		entry := func(i, c int) float64 { return column(k.v.panel(i/segment, c), 0, 1)[i%segment] }
		for at := 0; at < k.size; at += width {
			k.m.e.setBlock(x, k.v.slice(at, at+width))
			image, err := k.f.apply(ctx, k.m.a, x, y, nil)
			if err != nil {
				t.Fatal(err)
			}
			var off float64
			for j := range width {
				for i := range w.n {
					left := image.At(i, j)
					for c := range k.size {
						left -= entry(i, c) * k.h[c*k.stride+at+j]
					}
					if at+width == k.size {
						for c := range k.block {
							left -= entry(i, k.size+c) * k.r[c*width+j]
						}
					} else if k.last == 0 {
						continue
					}
					off = math.Hypot(off, left)
				}
			}
			if off > 1e-14*k.theta[0] {
				t.Errorf("degree %d, columns from %d on: off by %g, the map has norm %g", k.f.degree, at, off, k.theta[0])
			}
		}
		relations++
	}
	_, _, err = search.complete(ctx)
	if err != nil || relations < 3 || k.f.degree < 3 {
		t.Errorf("%d decompositions, degree %d, error %v", relations, k.f.degree, err)
	}
}

func TestBalancedMap(t *testing.T) {
	a := testgraph.Random(3, 500, 500, true)
	degrees := degreesOf(t, a)
	c, err := sparse.FindComponents(ctx, a, 0)
	if err != nil {
		t.Fatal(err)
	}
	roots := make([]float64, len(degrees))
	p := Problem{A: sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, degrees),
		Known: &Known{Components: c, Weights: roots, Value: 1}}
	for i, d := range degrees {
		if roots[i] = math.Sqrt(d); d == 0 {
			p.Excluded = append(p.Excluded, uint32(i))
		}
	}
	r, err := p.prepare(p.Known.Count(nil)+3, nil)
	if err != nil || len(p.Excluded) == 0 || r.m.balanced == nil {
		t.Fatal(err, len(p.Excluded), r.m.balanced)
	}
	k := newKrylov(r, 80)
	k.f = filter{sign: 1, centre: -0.2, half: 0.8, degree: 9, clean: 2}
	images := [2]*sparse.Block[float64]{}
	for turn := range images {
		k.streams = 0
		k.fillRandom(k.v.slice(0, width))
		image, err := k.image(ctx)
		if err != nil {
			t.Fatal(err)
		}
		images[turn] = sparse.NewBlock[float64](image.Rows, image.Cols)
		copy(images[turn].Data, image.Data)
		r.m.balanced = nil
	}
	testgraph.Close(t, images[0], images[1], 1e-10, 1e-10)
}

// The filter is compared with cosines on eigenvectors of a path, and its inverse and slope with the polynomial.
func TestFilter(t *testing.T) {
	n := 40
	op := sparse.NewOperator[float64](sparse.Laplacian, testgraph.Path(n), degreesOf(t, testgraph.Path(n)))
	chebyshev := func(d int, t float64) float64 {
		before, now := 1.0, t
		for range d - 1 {
			before, now = now, 2*t*now-before
		}
		return now
	}
	for _, sign := range []float64{1, -1} {
		for _, degree := range []int{1, 3, 5, 9} {
			f := filter{sign: sign, centre: sign * 1.7, half: 1.2, degree: degree}
			x, y := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
			for k := range n {
				lambda := sign * (2 - 2*math.Cos(math.Pi*float64(k)/float64(n)))
				want := lambda
				if degree > 1 {
					want = chebyshev(degree, (lambda-f.centre)/f.half)
				}
				v := func(i int) float64 { return math.Cos(math.Pi * float64(k) * (float64(i) + 0.5) / float64(n)) }
				for i := range n {
					x.Row(i)[0] = v(i)
				}
				image, err := f.apply(ctx, op, x, y, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					if d := image.At(i, 0) - want*v(i); math.Abs(d) > 1e-9 { // the polynomial reaches 1e5 elsewhere
						t.Fatalf("sign %g, degree %d, eigenvector %d: off by %g", sign, degree, k, d)
					}
				}
				if lambda < f.centre+f.half {
					continue
				}
				if d := f.lambda(want) - lambda; math.Abs(d) > 1e-12 || math.Abs(f.value(lambda)-want) > 1e-12*math.Abs(want) {
					t.Errorf("degree %d: eigenvalue %g from %g: off by %g", degree, lambda, want, d)
				}
				for mu := f.centre - f.half; mu < f.centre+f.half; mu += 0.01 {
					value := mu
					if degree > 1 {
						value = chebyshev(degree, (mu-f.centre)/f.half)
					}
					if slope := (want - value) / (lambda - mu); slope < f.slope(want)*(1-1e-12) {
						t.Fatalf("degree %d: slope %g from %g to %g, bound %g", degree, slope, mu, lambda, f.slope(want))
					}
				}
			}
		}
	}
}
