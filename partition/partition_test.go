package partition_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

var orders = map[string]func(context.Context, *sparse.CSR, func(int)) ([]uint32, error){
	"Locality": partition.Locality,
}

func graph(t interface{ Fatal(...any) }, n int, edges [][2]int) *sparse.CSR {
	var entries []sparse.Triplet
	seen := map[[2]int]bool{}
	for _, e := range edges {
		for _, e := range [][2]int{e, {e[1], e[0]}} {
			if !seen[e] {
				seen[e] = true
				entries = append(entries, sparse.Triplet{Row: uint32(e[0]), Col: uint32(e[1]), Val: 1})
			}
		}
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func drawGraph(rt *rapid.T) *sparse.CSR {
	n := rapid.IntRange(0, 40).Draw(rt, "n")
	node := rapid.IntRange(0, max(0, n-1))
	var edges [][2]int
	for range rapid.IntRange(0, min(n, 1)*80).Draw(rt, "m") {
		edges = append(edges, [2]int{node.Draw(rt, "u"), node.Draw(rt, "v")})
	}
	return graph(rt, n, edges)
}

func neighbours(a *sparse.CSR, node int) (list []uint32) {
	col, _ := a.Row(node)
	for _, v := range col {
		if int(v) != node {
			list = append(list, v)
		}
	}
	return list
}

func shuffled(t *testing.T, n int, edges [][2]int) *sparse.CSR {
	to := rand.New(rand.NewPCG(1, 2)).Perm(n)
	for i, e := range edges {
		edges[i] = [2]int{to[e[0]], to[e[1]]}
	}
	return graph(t, n, edges)
}

func inverse(order []uint32) []int {
	place := make([]int, len(order))
	for i, node := range order {
		place[node] = i
	}
	return place
}

// cost returns the mean of log₂ of the gaps in rows, about the number of bits of a gap.
func cost(a *sparse.CSR, order []uint32) float64 {
	place := inverse(order)
	var bits float64
	for _, node := range order {
		var row []int
		for _, v := range neighbours(a, int(node)) {
			row = append(row, place[v])
		}
		slices.Sort(row)
		for e, p := range row {
			last := place[node]
			if e > 0 {
				last = row[e-1]
			}
			bits += math.Log2(1 + math.Abs(float64(p-last)))
		}
	}
	return bits / float64(a.NNZ())
}

func grid(w, h int) (n int, edges [][2]int) {
	for i := range w * h {
		if i%w < w-1 {
			edges = append(edges, [2]int{i, i + 1})
		}
		if i+w < w*h {
			edges = append(edges, [2]int{i, i + w})
		}
	}
	return w * h, edges
}

func TestOrders(t *testing.T) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				a := drawGraph(rt)
				n, _ := a.Dims()
				got, err := order(t.Context(), a, nil)
				if err != nil {
					rt.Fatal(err)
				}
				if again, _ := order(t.Context(), a, nil); !slices.Equal(got, again) {
					rt.Fatalf("%v, and again %v", got, again)
				}
				sorted := slices.Sorted(slices.Values(got))
				var isolated []uint32
				for i := range n {
					if len(neighbours(a, i)) == 0 {
						isolated = append(isolated, uint32(i))
					}
				}
				for i, node := range sorted {
					if int(node) != i {
						rt.Fatalf("%v is no permutation", got)
					}
				}
				if len(got) != n || !slices.Equal(got[n-len(isolated):], isolated) {
					rt.Fatalf("%v does not end with %v", got, isolated)
				}
			})
		})
	}
}

func TestCliques(t *testing.T) {
	const cliques, size = 20, 8
	var edges [][2]int
	for c := range cliques {
		for i := range size {
			for j := range i {
				edges = append(edges, [2]int{c*size + i, c*size + j})
			}
		}
		edges = append(edges, [2]int{c * size, (c*size + size + 1) % (cliques * size)})
	}
	clique := make([]int, cliques*size)
	to := rand.New(rand.NewPCG(1, 2)).Perm(len(clique)) // the permutation of shuffled
	for i, v := range to {
		clique[v] = i / size
	}
	a := shuffled(t, len(clique), edges)
	order, err := partition.Locality(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	breaks := 0
	for i := range len(order) - 1 {
		if clique[order[i]] != clique[order[i+1]] {
			breaks++
		}
	}
	if breaks != cliques-1 {
		t.Errorf("%d times a node of another clique follows, want %d: %v", breaks, cliques-1, order)
	}
}

// The ends of a path of four nodes join their neighbours. The two pairs stay separate, because 1/m − 3·3/(2m²) < 0.
func TestGain(t *testing.T) {
	order, err := partition.Locality(t.Context(), testgraph.Path(4), nil)
	if want := []uint32{1, 0, 2, 3}; err != nil || !slices.Equal(order, want) {
		t.Errorf("%v, want %v, error %v", order, want, err)
	}
}

func TestCost(t *testing.T) {
	n, edges := grid(60, 60)
	a := shuffled(t, n, edges)
	chance := make([]uint32, n)
	for i := range chance {
		chance[i] = uint32(i)
	}
	before := cost(a, chance)
	for name, f := range orders {
		order, err := f(t.Context(), a, nil)
		if err != nil {
			t.Fatal(err)
		}
		after := cost(a, order)
		t.Logf("%s: %.2f bits, by chance %.2f", name, after, before)
		if after > 0.6*before {
			t.Errorf("%s: %.2f bits, by chance %.2f", name, after, before)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n, edges := grid(3, 3)
	for name, f := range orders {
		if _, err := f(ctx, graph(t, n, edges), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNotSquare(t *testing.T) {
	a, err := sparse.NewCSR(2, 3, []int64{0, 0, 0}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range orders {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			_, _ = f(t.Context(), a, nil)
		}()
	}
}
