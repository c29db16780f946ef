package lanczos

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
)

// Weights span 12 orders of magnitude. HEATWALK_HUNT is the number of graphs.
func TestRandomGraphs(t *testing.T) {
	graphs := 8
	if n, err := strconv.Atoi(os.Getenv("HEATWALK_HUNT")); err == nil {
		graphs = n
	} else if testing.Short() {
		graphs = 7
	}
	for seed := range uint64(graphs) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { checkEnds(t, seed, drawGraph(t, seed)) })
	}
}

func checkEnds(t *testing.T, seed uint64, a *sparse.CSR) {
	rng := rand.New(rand.NewPCG(seed, 1))
	n, _ := a.Dims()
	k := min(n, 1+rng.IntN(50))
	var serial []*GraphPairs
	for _, workers := range []int{1, 2, 7} {
		g, err := graph.New(t.Context(), a, &graph.Settings{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for _, matrix := range sparse.Kinds {
			for _, which := range []Which{Largest, Smallest} {
				pairs, err := (&GraphProblem{Matrix: matrix, Which: which}).Solve(t.Context(), g, k, &Settings{Workers: workers})
				switch {
				case err != nil:
					t.Errorf("%d of %s, %v: %v", k, matrix, which, err)
				case workers == 1:
					checkValues(t, matrix, which, g, pairs)
				case !slices.Equal(pairs.Values, serial[at].Values) || !slices.Equal(pairs.Residuals, serial[at].Residuals) || !slices.Equal(pairs.Vectors.Data, serial[at].Vectors.Data):
					t.Errorf("%s, %v: other bits with %d goroutines", matrix, which, workers)
				}
				if workers == 1 {
					serial = append(serial, pairs)
				}
				at++
			}
		}
	}
}

func checkValues(t *testing.T, matrix sparse.Kind, which Which, g *graph.Graph, pairs *GraphPairs) {
	h, scale := denseMatrix(matrix, g)
	var e mat.EigenSym
	if !e.Factorize(h, false) {
		t.Fatal("no eigenvalues")
	}
	want := e.Values(nil)
	norm := max(math.Abs(want[0]), math.Abs(want[len(want)-1]))
	if which == Largest {
		slices.Reverse(want)
	}
	n := len(want)
	image := mat.NewVecDense(n, nil)
	for j, v := range pairs.Values {
		if math.Abs(v-want[j]) > 1e-8*norm {
			t.Errorf("%d of %s, %v: value %d is %.15g, want %.15g", len(pairs.Values), matrix, which, j, v, want[j])
			return
		}
		x := mat.NewVecDense(n, nil)
		for i := range n {
			x.SetVec(i, pairs.Vectors.At(i, j)*scale[i])
		}
		image.MulVec(h, x)
		image.AddScaledVec(image, -v, x)
		residual, length := mat.Norm(image, 2), mat.Norm(x, 2)
		rounding := float64(n) * 0x1p-52 * norm // rounding of the dense matrix and of its product
		if residual > pairs.ErrorBounds[j]+rounding || residual > 1e-8*norm || math.Abs(length-1) > 1e-12 {
			t.Errorf("%d of %s, %v: pair %d has residual %g, printed %g with bound %g; length %.15g", len(pairs.Values), matrix, which, j, residual, pairs.Residuals[j], pairs.ErrorBounds[j], length)
			return
		}
	}
}

// denseMatrix returns a symmetric matrix and the factors from its vectors to vectors of the given matrix. For T it is
// D^½·T·D^-½, with the diagonal 1 in isolated nodes.
func denseMatrix(matrix sparse.Kind, g *graph.Graph) (h *mat.SymDense, scale []float64) {
	n := len(g.Degrees)
	a := g.A.(*sparse.CSR)
	h, scale = mat.NewSymDense(n, nil), slices.Repeat([]float64{1}, n)
	var vol float64
	for _, d := range g.Degrees {
		vol += d
	}
	for i, d := range g.Degrees {
		for j := i; j < n; j++ {
			v := a.At(i, j)
			switch matrix {
			case sparse.Laplacian:
				v = -v
			case sparse.NormalizedAdjacency, sparse.Transition, sparse.NormalizedLaplacian:
				if v != 0 {
					v /= math.Sqrt(d) * math.Sqrt(g.Degrees[j])
				}
				if matrix == sparse.NormalizedLaplacian {
					v = -v
				}
			case sparse.Modularity:
				v -= d * g.Degrees[j] / vol
			}
			h.SetSym(i, j, v)
		}
		switch {
		case matrix == sparse.Laplacian:
			h.SetSym(i, i, h.At(i, i)+d)
		case matrix == sparse.NormalizedLaplacian && d > 0:
			h.SetSym(i, i, h.At(i, i)+1)
		case matrix == sparse.Transition && d == 0:
			h.SetSym(i, i, 1)
		case matrix == sparse.Transition:
			scale[i] = math.Sqrt(d)
		}
	}
	return h, scale
}

// Odd seeds have weights.
func drawGraph(t *testing.T, seed uint64) *sparse.CSR {
	rng := rand.New(rand.NewPCG(seed, 0))
	n := 50 + rng.IntN(351)
	weights := map[[2]int]float64{}
	edge := func(i, j int) {
		if i > j {
			i, j = j, i
		}
		weight := 1.0
		if seed%2 == 1 {
			weight = math.Pow(10, 12*rng.Float64()-6)
		}
		weights[[2]int{i, j}] = weight
	}
	random := func(nodes, edges int) (pairs [][2]int) {
		for range edges {
			if i, j := rng.IntN(nodes), rng.IntN(nodes); i != j {
				pairs = append(pairs, [2]int{i, j})
			}
		}
		return pairs
	}
	switch seed / 2 % 7 {
	case 0: // sparse, with isolated nodes and small components
		for _, p := range random(n, n*(1+rng.IntN(6))/2) {
			edge(p[0], p[1])
		}
	case 1: // equal components, with multiple eigenvalues, and isolated nodes
		size := 3 + rng.IntN(30)
		for _, p := range random(size, 2*size) {
			edge(p[0], p[1])
			w := weights[[2]int{min(p[0], p[1]), max(p[0], p[1])}]
			for first := size; first+size <= n*9/10; first += size {
				weights[[2]int{first + min(p[0], p[1]), first + max(p[0], p[1])}] = w
			}
		}
	case 2: // stars, complete graphs and complete bipartite graphs
		for first := 0; first < n-n/20; {
			size := min(2+rng.IntN(60), n-n/20-first)
			kind := rng.IntN(3)
			for i := range size {
				for j := range i {
					if kind == 0 && j == 0 || kind == 1 || kind == 2 && i >= size/2 && j < size/2 {
						edge(first+i, first+j)
					}
				}
			}
			first += size
		}
	case 3: // bipartite
		half := n / 2
		for range n * (1 + rng.IntN(4)) {
			edge(rng.IntN(half), half+rng.IntN(n-half))
		}
	case 4: // a ring with a hub
		for i := 1; i < n-5; i++ {
			edge(i, max(1, (i+1)%(n-5)))
			if rng.IntN(2) == 0 {
				edge(0, i)
			}
		}
	case 5: // a grid with self loops
		side := int(math.Sqrt(float64(n)))
		for i := range side * side {
			if i%side+1 < side {
				edge(i, i+1)
			}
			if i+side < side*side {
				edge(i, i+side)
			}
			if rng.IntN(5) == 0 {
				edge(i, i)
			}
		}
	case 6: // a tree and dense blocks
		for i := 1; i < n; i++ {
			edge(i, rng.IntN(i))
		}
		for i := range n / 3 {
			for j := range i {
				if i/10 == j/10 {
					edge(i, j)
				}
			}
		}
	}
	return symmetricCSR(t, n, weights)
}

func symmetricCSR(t *testing.T, n int, weights map[[2]int]float64) *sparse.CSR {
	rows := make([]map[uint32]float64, n)
	for i := range rows {
		rows[i] = map[uint32]float64{}
	}
	for p, w := range weights {
		rows[p[0]][uint32(p[1])], rows[p[1]][uint32(p[0])] = w, w
	}
	ptr := []int64{0}
	var col []uint32
	var val []float64
	for _, row := range rows {
		first := len(col)
		for j := range row {
			col = append(col, j)
		}
		slices.Sort(col[first:])
		for _, j := range col[first:] {
			val = append(val, row[j])
		}
		ptr = append(ptr, int64(len(col)))
	}
	a, err := sparse.NewCSR(n, n, ptr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
