package graphs

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// drawn includes graphs without an edge or a label.
func drawn(t *rapid.T, directed, edgeLabels bool) *graphfile.Collection {
	c := &graphfile.Collection{Labels: []string{"a", "b", "c"}, Directed: directed}
	if edgeLabels {
		c.EdgeLabels = []string{"1", "2"}
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "graphs") {
		n := rapid.IntRange(1, 7).Draw(t, "vertices")
		label := rapid.SliceOfN(rapid.Int32Range(0, 2), n, n).Draw(t, "labels")
		end := rapid.Int32Range(0, int32(n-1))
		arcs := map[[2]int32]int32{}
		for range rapid.IntRange(0, 2*n).Draw(t, "edges") {
			u, v, l := end.Draw(t, "u"), end.Draw(t, "v"), rapid.Int32Range(0, 1).Draw(t, "label")
			arcs[[2]int32{u, v}] = l
			if !directed {
				arcs[[2]int32{v, u}] = l
			}
		}
		m := graphfile.Member{Ptr: []int32{0}, Label: label}
		for u := range int32(n) {
			for v := range int32(n) {
				if l, ok := arcs[[2]int32{u, v}]; ok {
					m.To = append(m.To, v)
					if edgeLabels {
						m.EdgeLabel = append(m.EdgeLabel, l)
					}
				}
			}
			m.Ptr = append(m.Ptr, int32(len(m.To)))
		}
		c.Graphs, c.IDs = append(c.Graphs, m), append(c.IDs, string(rune('A'+i)))
	}
	return c
}

// dense returns the adjacency matrix of the direct product.
func dense(g, h *graphfile.Member) *mat.Dense {
	type vertex struct{ u, v int }
	var list []vertex
	for u := range g.Len() {
		for v := range h.Len() {
			if g.Label[u] == h.Label[v] {
				list = append(list, vertex{u, v})
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	arc := func(m *graphfile.Member, u, v int) (label int32, ok bool) {
		at, ok := slices.BinarySearch(arcsOf(m, u), int32(v))
		if ok && m.EdgeLabel != nil {
			label = m.EdgeLabel[int(m.Ptr[u])+at]
		}
		return label, ok
	}
	a := mat.NewDense(len(list), len(list), nil)
	for i, x := range list {
		for j, y := range list {
			l, one := arc(g, x.u, y.u)
			k, other := arc(h, x.v, y.v)
			if one && other && l == k {
				a.Set(i, j, 1)
			}
		}
	}
	return a
}

// inverse returns (I − B)⁻¹ for B ≥ 0 of a radius below 1 as (I + B)(I + B²)(I + B⁴)…, in which
// nothing cancels.
func inverse(b *mat.Dense) *mat.Dense {
	n, _ := b.Dims()
	plusOne := func(a *mat.Dense) *mat.Dense {
		sum := mat.DenseCopyOf(a)
		for v := range n {
			sum.Set(v, v, 1+sum.At(v, v))
		}
		return sum
	}
	power, sum := mat.DenseCopyOf(b), plusOne(b)
	for mat.Max(power) > 1e-30 {
		var square, next mat.Dense
		square.Mul(power, power)
		next.Mul(sum, plusOne(&square))
		power, sum = &square, &next
	}
	return sum
}

func spectralRadius(a *mat.Dense) (most float64) {
	var e mat.Eigen
	if !e.Factorize(a, mat.EigenNone) {
		panic("no eigenvalues")
	}
	for _, v := range e.Values(nil) {
		most = max(most, math.Hypot(real(v), imag(v)))
	}
	return most
}

func TestSequenceIsThatOfTheProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawn(t, rapid.Bool().Draw(t, "directed"), rapid.Bool().Draw(t, "edge labels"))
		radius := 0.0
		for i := range c.Graphs {
			radius = max(radius, spectralRadius(dense(&c.Graphs[i], &c.Graphs[i])))
		}
		decay := rapid.SampledFrom([]float64{0.2, 0.9, 0.995}).Draw(t, "share")
		if radius > 0.1 { // smaller eigenvalues may be rounding errors of 0
			decay /= radius
		}
		n := len(c.Graphs)
		for _, weights := range []string{"geometric", "exponential"} {
			g, err := labelSequence.Prepare(t.Context(), c, param.Values{"weights": param.Of(weights), "decay": param.Of(decay)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, want := sparse.NewBlock[float64](n, n), sparse.NewBlock[float64](n, n)
			if err := g.RowsTo(t.Context(), got, 0); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for j := range n {
					a := dense(&c.Graphs[i], &c.Graphs[j])
					if a == nil {
						continue
					}
					var f mat.Dense
					a.Scale(decay, a)
					if weights == "exponential" {
						f.Exp(a)
					} else {
						f = *inverse(a)
					}
					want.Row(i)[j] = mat.Sum(&f)
				}
			}
			for i := range n {
				for j, w := range want.Row(i) {
					if x := got.Row(i)[j]; math.Abs(x-w) > 1e-9*w {
						t.Fatalf("%s K(%d, %d) = %v, want %v", weights, i, j, x, w)
					}
				}
			}
		}
		if radius > 0.1 {
			beyond := 1.001 / radius
			_, err := labelSequence.Prepare(t.Context(), c, param.Values{"decay": param.Of(beyond)}, nil)
			wrong, limit, near := new(param.ParameterError), 0.0, 0.99
			if c.Directed { // bounds converge slowly
				near = 0.9
			}
			if errors.As(err, &wrong) { // its last word is the limit
				limit, _ = strconv.ParseFloat(wrong.What[strings.LastIndexByte(wrong.What, ' ')+1:], 64)
			}
			if limit > 1/radius*(1+1e-5) || limit < near/radius {
				t.Fatalf("decay %v at radius %v: %v", beyond, radius, err)
			}
		}
	})
}

func TestPairIsThatOfTheMatrix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawn(t, rapid.Bool().Draw(t, "directed"), false)
		plain := &graphfile.Member{Ptr: []int32{0, 1}, To: []int32{0}, Label: []int32{0}}
		radius, matrix := 0.0, make([]*mat.Dense, len(c.Graphs))
		for i := range c.Graphs {
			m := c.Graphs[i]
			m.Label = make([]int32, m.Len())
			matrix[i] = dense(&m, plain) // A
			radius = max(radius, spectralRadius(matrix[i]))
		}
		decay := rapid.SampledFrom([]float64{0.2, 0.9, 0.995}).Draw(t, "share")
		if radius > 0.1 {
			decay /= radius
		}
		for _, weights := range []string{"geometric", "exponential"} {
			features := make([]*mat.Dense, len(matrix))
			for i := range matrix {
				var f, a mat.Dense
				a.Scale(decay, matrix[i])
				if weights == "exponential" {
					f.Exp(&a)
				} else {
					f = *inverse(&a)
				}
				features[i] = mat.NewDense(3, 3, nil)
				for v, a := range c.Graphs[i].Label {
					for w, b := range c.Graphs[i].Label {
						features[i].Set(int(a), int(b), features[i].At(int(a), int(b))+f.At(v, w))
					}
				}
			}
			g, err := labelPair.Prepare(t.Context(), c, param.Values{"weights": param.Of(weights), "decay": param.Of(decay)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := sparse.NewBlock[float64](g.n, g.n)
			if err := g.RowsTo(t.Context(), got, 0); err != nil {
				t.Fatal(err)
			}
			for i := range features {
				for j := range features {
					var both mat.Dense
					both.MulElem(features[i], features[j])
					if w, x := mat.Sum(&both), got.Row(i)[j]; math.Abs(x-w) > 1e-9*w+1e-14*mat.Sum(features[i])*mat.Sum(features[j]) {
						t.Fatalf("%s K(%d, %d) = %v, want %v", weights, i, j, x, w)
					}
				}
			}
		}
	})
}

func TestSameBits(t *testing.T) {
	c := molecules(23, 14)
	for _, k := range Kernels() {
		want := gramOf(t, k.Name, c, nil, &Settings{Workers: 1})
		for _, workers := range []int{2, 7} {
			g, err := k.Prepare(t.Context(), c, nil, &Settings{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			for lo := 0; lo < 23; lo += 5 {
				rows := sparse.NewBlock[float64](min(5, 23-lo), 23)
				if err := g.RowsTo(t.Context(), rows, lo); err != nil {
					t.Fatal(err)
				}
				for i := range rows.Rows {
					if got, want := rows.Row(i), want.Row(lo+i); !slices.Equal(got, want) {
						t.Fatalf("%s: row %d by %d workers: %v, want %v", k.Name, lo+i, workers, got, want)
					}
				}
			}
		}
	}
}

func TestNumbersOfVerticesDoNotMatter(t *testing.T) {
	c := molecules(12, 16)
	rng := rand.New(rand.NewPCG(1, 2))
	both := *c
	for i := range c.Graphs {
		both.IDs = append(both.IDs, c.IDs[i]+"'")
		both.Graphs = append(both.Graphs, renumbered(&c.Graphs[i], rng.Perm(c.Graphs[i].Len())))
	}
	for _, k := range Kernels() {
		got := gramOf(t, k.Name, &both, nil, nil)
		sym := mat.NewSymDense(24, nil)
		for i := range 24 {
			for j, x := range got.Row(i) {
				if y := got.Row(i % 12)[j%12]; math.Abs(x-y) > 1e-11*math.Abs(y) {
					t.Fatalf("%s: K(%d, %d) = %v, of the same graphs %v", k.Name, i, j, x, y)
				}
				sym.SetSym(min(i, j), max(i, j), x)
			}
		}
		var e mat.EigenSym
		if !e.Factorize(sym, false) {
			t.Fatal("no eigenvalues")
		}
		if values := e.Values(nil); values[0] < -1e-11*values[23] {
			t.Errorf("%s has the eigenvalue %v, the largest is %v", k.Name, values[0], values[23])
		}
	}
}

func renumbered(m *graphfile.Member, to []int) graphfile.Member {
	label := make([]int32, m.Len())
	var edges [][3]int32
	for v := range m.Len() {
		label[to[v]] = m.Label[v]
		for a := m.Ptr[v]; a < m.Ptr[v+1]; a++ {
			edges = append(edges, [3]int32{int32(to[v]), int32(to[m.To[a]]), m.EdgeLabel[a]})
		}
	}
	return graphfile.NewMember(label, edges)
}

// A complete graph has Σ over k of (n choose k)·(k−1)!/2 simple cycles, the grid of three by three
// squares 213.
func TestPatternsOfDenseGraphs(t *testing.T) {
	complete := func(n int) (m graphfile.Member) {
		var edges [][3]int32
		for u := range int32(n) {
			for v := range u {
				edges = append(edges, [3]int32{u, v})
			}
		}
		return graphfile.NewMember(make([]int32, n), edges)
	}
	grid := func(n int32) graphfile.Member {
		var edges [][3]int32
		for v := range n * n {
			if v%n > 0 {
				edges = append(edges, [3]int32{v - 1, v})
			}
			if v >= n {
				edges = append(edges, [3]int32{v - n, v})
			}
		}
		return graphfile.NewMember(make([]int32, n*n), edges)
	}
	c := &graphfile.Collection{
		IDs: []string{"K3", "K6", "K7", "grid"}, Labels: []string{"a"}, EdgeLabels: []string{"1"},
		Graphs: []graphfile.Member{complete(3), complete(6), complete(7), grid(4)},
	}
	for i, want := range []int{1, 197, 1172, 213} {
		got, err := patterns(t.Context(), c, i, 5000)
		if err != nil || len(got) != want {
			t.Errorf("%s: %d cycles, %v, want %d", c.IDs[i], len(got), err, want)
		}
	}
	if got, err := patterns(t.Context(), c, 2, 1172); err != nil || len(got) != 1172 {
		t.Errorf("1172 of 1172 cycles: %d, %v", len(got), err)
	}
	broken := new(GraphError)
	if _, err := patterns(t.Context(), c, 2, 1171); !errors.As(err, &broken) || broken.ID != "K7" {
		t.Errorf("1171 of 1172 cycles: %v", err)
	}
}

func TestCosine(t *testing.T) {
	row := []float64{4, 2, 0}
	if divide(row, []float64{4, 9, 0}, 0); row[0] != 1 || math.Abs(row[1]-1.0/3) > 1e-15 || row[2] != 0 {
		t.Errorf("%v, want 1, ⅓ and 0", row)
	}
	c := molecules(7, 12)
	k := gramOf(t, "label-pair", c, nil, nil)
	g, err := labelPair.Prepare(t.Context(), c, nil, &Settings{Cosine: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range [][2]int{{0, 7}, {0, 3}, {3, 7}} { // values are shared within rows
		piece := sparse.NewBlock[float64](rows[1]-rows[0], 7)
		if err := g.RowsTo(t.Context(), piece, rows[0]); err != nil {
			t.Fatal(err)
		}
		for i := range piece.Rows {
			for j, v := range piece.Row(i) {
				at := rows[0] + i
				if want := k.Row(at)[j] / math.Sqrt(k.Row(at)[at]*k.Row(j)[j]); math.Abs(v-want) > 1e-14 {
					t.Errorf("rows %v: K(%d, %d) is %v, want %v", rows, at, j, v, want)
				}
			}
		}
	}
}
