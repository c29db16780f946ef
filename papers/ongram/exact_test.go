package ongram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func exponential(a *sparse.CSR, beta float64) *mat.Dense {
	n, _ := a.Dims()
	h := mat.NewDense(n, n, nil)
	a.DoNonZero(func(i, j int, v float64) {
		h.Set(i, j, h.At(i, j)+beta*v)
		h.Set(i, i, h.At(i, i)-beta*v)
	})
	h.Exp(h)
	return h
}

func near(t *testing.T, what string, want *mat.Dense, got function, tolerance float64) {
	t.Helper()
	n, m := want.Dims()
	for i := range n {
		for j := range m {
			if w := want.At(i, j); !(math.Abs(got(i, j)-w) <= tolerance) {
				t.Fatalf("%s(%d, %d) is %v, want %v", what, i, j, got(i, j), w)
			}
		}
	}
}

func TestExplicitGraphs(t *testing.T) {
	for _, beta := range []float64{0, 0.3, 2.5} {
		near(t, "complete", exponential(testgraph.Complete(5), beta), vertices(beta, 5), 1e-13)
		near(t, "ring", exponential(testgraph.Cycle(6), beta), func(i, j int) float64 { return ClosedChain(6, i-j, beta) }, 1e-13)
		near(t, "path", exponential(testgraph.Path(5), beta), func(i, j int) float64 { return OpenChain(5, i, j, beta) }, 1e-13)

		// A complete graph of 3 times one of 4, as the Kronecker sum of generators.
		var kronecker, left, right mat.Dense
		left.CloneFrom(exponential(testgraph.Complete(3), beta))
		right.CloneFrom(exponential(testgraph.Complete(4), beta))
		kronecker.Kronecker(&left, &right)
		near(t, "product", &kronecker, vertices(beta, 3, 4), 1e-13)
	}
}

func TestChainsAtInfinity(t *testing.T) {
	for _, n := range []int{3, 6} {
		if ring, path := ClosedChain(n, 1, math.Inf(1)), OpenChain(n, 0, 1, math.Inf(1)); ring != 1/float64(n) || path != ring {
			t.Errorf("n = %d: %g on a ring and %g on a path, want 1/n", n, ring, path)
		}
	}
}

// Walks shorter than the depth of a tree do not reach its leaves, so that the exponential series
// equals the series on the infinite tree.
func TestExplicitTrees(t *testing.T) {
	const beta = 0.2
	for k := 2; k <= 4; k++ {
		for _, rooted := range []bool{false, true} {
			depth := []int{0, 0, 30, 13, 9}[k]
			type vertex struct{ parent, depth int }
			tree := []vertex{{-1, 0}}
			for v := 0; v < len(tree) && tree[v].depth < depth; v++ {
				children := k - 1
				if v == 0 && !rooted {
					children = k
				}
				for range children {
					tree = append(tree, vertex{v, tree[v].depth + 1})
				}
			}
			source := 1 // a child of the root
			term, sum := make([]float64, len(tree)), make([]float64, len(tree))
			term[source] = 1
			copy(sum, term)
			for step := 1; step <= depth+4; step++ {
				next := make([]float64, len(tree))
				for v, x := range term {
					degree := float64(k)
					if v == 0 && rooted {
						degree--
					}
					next[v] -= degree * x
					if p := tree[v].parent; p >= 0 {
						next[v] += term[p]
						next[p] += x
					}
				}
				for v := range next {
					term[v] = next[v] * beta / float64(step)
					sum[v] += term[v]
				}
			}
			under := func(v int) bool { // reports whether v is source or below it
				for ; v > source; v = tree[v].parent {
				}
				return v == source
			}
			for v := range min(40, len(tree)) {
				d := tree[v].depth + 1
				if under(v) {
					d = tree[v].depth - 1
				}
				got := RegularTree(k, d, beta)
				if rooted {
					got = RootedTree(k, d, tree[v].depth, 1, beta)
				}
				if math.Abs(got-sum[v]) > 1e-9 {
					t.Errorf("k = %d, rooted %v: K(%d) is %g, want %g", k, rooted, v, got, sum[v])
				}
			}
		}
	}
}

// The reference are the integrals (15) and (16) with the corrected prefactor; the trapezoidal rule is exact to rounding for
// them.
func TestRegularTreeIntegral(t *testing.T) {
	for _, k := range []int{3, 5, 20} {
		for _, beta := range []float64{1e-12, 1e-3, 0.7, 5, 60} {
			total, sphere := 0.0, 1.0
			for d := range 40 {
				const n = 2000
				q, sum := float64(k-1), 0.0
				for i := 1; i < n; i++ {
					x := math.Pi * float64(i) / n
					c := math.Cos(x)
					sum += math.Exp(-beta*(float64(k)-2*math.Sqrt(q)*c)) / (float64(k*k) - 4*q*c*c) *
						math.Sin(x) * (q*math.Sin(float64(d+1)*x) - math.Sin(float64(d-1)*x))
				}
				want := 2 / math.Pow(q, float64(d)/2-1) * sum / n
				got := RegularTree(k, d, beta)
				if math.Abs(got-want) > 1e-15+1e-11*want {
					t.Errorf("k = %d, β = %g: K(%d) is %g, want %g", k, beta, d, got, want)
				}
				total += sphere * got
				if sphere *= q; d == 0 {
					sphere = float64(k)
				}
			}
			if beta*float64(k) < 4 && math.Abs(total-1) > 1e-12 { // diffusion preserves the sum
				t.Errorf("k = %d, β = %g: the values sum to %g", k, beta, total)
			}
		}
	}
	if RegularTree(3, 0, 0) != 1 || RegularTree(3, 2, 0) != 0 {
		t.Error("without time a kernel is not the identity")
	}
}

func random(rng *rand.Rand, n int, missing bool, sizes ...int) []nodefile.Column {
	list := make([]nodefile.Column, len(sizes))
	for a, size := range sizes {
		list[a].Values = make([]string, size)
		for range n {
			code := int32(rng.IntN(size))
			if missing && rng.IntN(10) == 0 {
				code = -1
			}
			list[a].Code = append(list[a].Code, code)
		}
	}
	return list
}

// Alphabets have one, more than 256 and more than 65,536 values.
func TestRecordKernels(t *testing.T) {
	const n, beta = 40, 0.02
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := []int{2, 300, 2, 1, 7, 3, 70000, 2, 256, 257, 4, 2, 5}
	for _, missing := range []string{"none", "value", "average"} {
		list := random(rng, n, missing != "none", sizes...)
		for a := range list { // some records twice
			copy(list[a].Code[n/2:n/2+5], list[a].Code)
		}
		policy := "value"
		if missing != "none" {
			policy = missing
		}
		given := param.Values{"beta": param.Of(beta), "scale": param.Of("raw"), "missing-values": param.Of(policy)}
		raw := gramOf(t, "categorical", list, given)
		given["scale"] = param.Of("unit")
		unit := gramOf(t, "categorical", list, given)
		matches := gramOf(t, "hamming", list, param.Values{"missing-values": param.Of(policy)})
		scale := 1.0
		for a, size := range sizes {
			if missing == "value" && slices.Contains(list[a].Code, -1) {
				size++
			}
			self, _ := complete(size, beta)
			scale *= self
		}
		for i := range n {
			for j := range n {
				value, equal := 1.0, 0.0
				for a, size := range sizes {
					x, y := list[a].Code[i], list[a].Code[j]
					if missing == "value" && slices.Contains(list[a].Code, -1) {
						size++
					}
					self, other := complete(size, beta)
					switch {
					case missing == "average" && (x < 0 || y < 0):
						value /= float64(size)
						equal += 1 / float64(size)
					case x == y:
						value *= self
						equal++
					default:
						value *= other
					}
				}
				if got := valueOf(raw)(i, j); math.Abs(got-value) > 1e-12*value {
					t.Fatalf("missing %s: K(%d, %d) is %g, want %g", missing, i, j, got, value)
				}
				if got := valueOf(unit)(i, j); math.Abs(got-value/scale) > 1e-12*value/scale {
					t.Fatalf("missing %s: K(%d, %d) is %g of K(x, x), want %g", missing, i, j, got, value/scale)
				}
				if got := valueOf(matches)(i, j); math.Abs(got-equal) > 1e-12 {
					t.Fatalf("missing %s: %g attributes of %d and %d agree, want %g", missing, got, i, j, equal)
				}
			}
		}
		positive(t, raw)
		positive(t, matches)
		parts(t, raw)
	}
}

func TestMissingIsConjugate(t *testing.T) {
	const size, beta = 4, 0.6
	list := []nodefile.Column{{Values: make([]string, size), Code: []int32{0, 1, 2, 3, -1}}}
	got := gramOf(t, "categorical", list, param.Values{"beta": param.Of(beta), "scale": param.Of("raw"), "missing-values": param.Of("average")})
	whole := exponential(testgraph.Complete(size), beta)
	for i := range size {
		if v := valueOf(got)(i, size); math.Abs(v-1./size) > 1e-14 || math.Abs(v-mat.Sum(whole.RowView(i))/size) > 1e-14 {
			t.Errorf("K(%d, missing) is %g", i, v)
		}
	}
	if v := valueOf(got)(size, size); math.Abs(v-mat.Sum(whole)/(size*size)) > 1e-14 {
		t.Errorf("K(missing, missing) is %g", v)
	}
}

func TestHypercubeRecords(t *testing.T) {
	const m, beta = 11, 0.4
	list := random(rand.New(rand.NewPCG(3, 4)), 30, true, slices.Repeat([]int{2}, m)...)
	g := gramOf(t, "hypercube", list, param.Values{"beta": param.Of(beta), "scale": param.Of("raw")})
	for i := range 30 {
		for j := range 30 {
			want := 1.0
			for _, a := range list {
				switch away := math.Exp(-2 * beta); {
				case a.Code[i] < 0 || a.Code[j] < 0:
					want *= 0.5
				case a.Code[i] == a.Code[j]:
					want *= (1 + away) / 2
				default:
					want *= (1 - away) / 2
				}
			}
			if math.Abs(valueOf(g)(i, j)-want) > 1e-12*want {
				t.Fatalf("K(%d, %d) is %g, want %g", i, j, valueOf(g)(i, j), want)
			}
		}
	}
}

func positive(t *testing.T, g classify.Gram) {
	t.Helper()
	n := g.Len()
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			k.SetSym(i, j, valueOf(g)(i, j))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(k, false) {
		t.Fatal("no eigenvalues")
	}
	if v := e.Values(nil); v[0] < -1e-12*v[n-1] {
		t.Errorf("the smallest eigenvalue is %g, the largest %g", v[0], v[n-1])
	}
}

// parts checks that K(i, j) and K(j, i) have the same bits by all methods.
func parts(t *testing.T, g classify.Gram) {
	t.Helper()
	n := g.Len()
	row, some, items := make([]float64, n), make([]float64, 3), []int{n - 1, 0, 2}
	if len(g.(*values).first) == n {
		t.Error("no records are alike")
	}
	for i := range n {
		g.RowTo(row, i)
		g.PartTo(some, i, items)
		for j := range n {
			if row[j] != valueOf(g)(i, j) || row[j] != valueOf(g)(j, i) {
				t.Fatalf("K(%d, %d) depends on how one asks", i, j)
			}
		}
		for a, j := range items {
			if some[a] != row[j] {
				t.Fatalf("a part of row %d is another", i)
			}
		}
	}
}

func TestStringPlacements(t *testing.T) {
	words := []string{"", "a", "ba", "abb", "bä"}
	a := nodefile.Column{Values: words, Code: []int32{0, 1, 2, 3, 4, 1}}
	const beta = 0.35
	b := factor(4, beta) // a, b, ä and the blank
	placements := func(x string, n int) (list [][]rune) {
		text := []rune(x)
		for set := range 1 << n {
			place := make([]rune, n)
			at := 0
			for i := range n {
				if set>>i&1 != 0 {
					if at < len(text) {
						place[i] = text[at]
					}
					at++
				}
			}
			if at == len(text) {
				list = append(list, place)
			}
		}
		return list
	}
	value := func(x, y string, n int) (sum float64) {
		for _, p := range placements(x, n) {
			for _, q := range placements(y, n) {
				k := 1.0
				for i := range p {
					if p[i] != q[i] {
						k *= b
					}
				}
				sum += k
			}
		}
		return sum
	}
	given := param.Values{"beta": param.Of(beta), "places": param.Of(5), "scale": param.Of("raw")}
	placed := gramOf(t, "strings", []nodefile.Column{a}, given)
	any := gramOf(t, "strings", []nodefile.Column{a}, param.Values{"beta": param.Of(beta), "scale": param.Of("raw")})
	for i, x := range words {
		for j, y := range words {
			if got, want := valueOf(placed)(i, j), value(x, y, 5); math.Abs(got-want) > 1e-12*want {
				t.Errorf("K_5(%s, %s) is %g, want %g", x, y, got, want)
			}
			var sum float64
			for n := range 200 {
				sum += math.Pow(2, -float64(n+1)) * (&texts{b: b, places: n}).placementKernel([]rune(x), []rune(y))
			}
			if got := valueOf(any)(i, j); math.Abs(got-sum) > 1e-12*sum {
				t.Errorf("K(%s, %s) is %g, want %g", x, y, got, sum)
			}
		}
	}
	positive(t, any)
	parts(t, any)
	for i := range words {
		for j := range i {
			if x, y := valueOf(placed)(i, j), valueOf(placed)(j, i); x != y {
				t.Errorf("K_5(%s, %s) is %v, and %v the other way", words[i], words[j], x, y)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	three := nodefile.Column{Name: "colour", Values: []string{"r", "g", "b"}, Code: []int32{0, 1, 2}}
	text := nodefile.Column{Name: "text", Values: []string{"ab", "c"}, Code: []int32{0, 1, -1}}
	long := nodefile.Column{Name: "text", Values: []string{string(make([]byte, 2000))}, Code: []int32{0}}
	for _, c := range []struct {
		kernel string
		list   []nodefile.Column
		given  param.Values
		want   string
		record int
	}{
		{"hypercube", []nodefile.Column{three}, nil, "ongram: attribute colour: has 3 values, and a hypercube's attributes have two; take the categorical kernel", -1},
		{"categorical", nil, nil, "ongram: no attributes; there is nothing to compare", -1},
		{"strings", []nodefile.Column{three, three}, nil, "ongram: strings are in one column, and there are 2; name the one", -1},
		{"strings", []nodefile.Column{text}, nil, "ongram: attribute text: the string is missing; leave its record out", 2},
		{"strings", []nodefile.Column{three}, param.Values{"alphabet": param.Of(2)}, "ongram: attribute colour: has 3 characters, more than the alphabet of 2; give a larger one", -1},
		{"strings", []nodefile.Column{long}, param.Values{"scale": param.Of("raw"), "beta": param.Of(9.0)}, "ongram: attribute text: K(x, x) of the string of 2000 characters is beyond float64; leave it out, or scale to K(x, x) = 1", 0},
		{"strings", []nodefile.Column{{Name: "text", Values: []string{"abc"}, Code: []int32{0}}}, param.Values{"places": param.Of(1)}, "ongram: attribute text: the string has 3 characters, more than the number of places, 1; give more", 0},
	} {
		k := RecordKernels().Named(c.kernel)
		v, err := k.Resolve(c.given, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = k.Of(c.list, v)
		e, ok := err.(*AttributeError)
		if !ok || err.Error() != c.want || e.Record != c.record {
			t.Errorf("%s: %v of record %+v, want %s", c.kernel, err, e, c.want)
		}
	}
	if RecordKernels().Named("none") != nil {
		t.Error("there is a kernel called none")
	}
}

func BenchmarkRow(b *testing.B) {
	list := random(rand.New(rand.NewPCG(5, 6)), 10000, false, 9, 16, 7, 15, 6, 5, 2, 42)
	g := gramOf(b, "categorical", list, nil)
	row := make([]float64, g.Len())
	for i := 0; b.Loop(); i++ {
		g.RowTo(row, i%len(row))
	}
}
