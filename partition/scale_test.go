package partition_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
)

// model is the graph of docs/run.md in an MPI job.
type model struct {
	nodes, entries float64
	rowBytes       float64 // bytes of a row of a block
}

// scattered returns the ghost rows of each of p processes if the neighbours of a node may be in any range. Each of the
// other n(1 − 1/p) nodes has d neighbours, of which one is in the range of the process with probability 1 − (1 − 1/p)ᵈ.
func (m model) scattered(p float64) float64 {
	return m.nodes * (1 - 1/p) * (1 - math.Pow(1-1/p, m.entries/m.nodes))
}

// cut returns the ghost rows if a given share of the edges, spread evenly, leads to other ranges.
func (m model) cut(p, share float64) float64 {
	return m.nodes / p * (p - 1) * (1 - math.Pow(1-1/(p-1), share*m.entries/m.nodes))
}

// grid returns the rows that a process receives and sends on in a step, if the processes are a √p × √p grid of blocks.
func (m model) grid(p float64) float64 { return 2 * m.nodes / math.Sqrt(p) * (1 - 1/math.Sqrt(p)) }

func (m model) table() string {
	const (
		memory  = 100e9     // bytes per second that a machine reads from memory
		network = 100e9 / 8 // bytes per second, of 100 Gb/s
		column  = 4         // bytes of a column id
		blocks  = 5         // three of a recurrence, a copy that products gather from, and one that is sent
	)
	text := ""
	for _, p := range []float64{16, 64, 256, 1024} {
		text += fmt.Sprintf("| %.0f | %.0f s | %.0f + %.0f GB |", p, m.entries/p*(m.rowBytes+column)/memory, m.entries/p*column/1e9, blocks*m.nodes/p*m.rowBytes/1e9)
		for _, rows := range []float64{m.scattered(p), m.cut(p, .1), m.cut(p, .01), m.grid(p)} {
			bytes := rows * m.rowBytes
			text += fmt.Sprintf(" %.3g GB, %.2g s |", bytes/1e9, bytes/network)
		}
		text += "\n"
	}
	return text
}

func TestScalePage(t *testing.T) {
	page, err := os.ReadFile("../docs/run.md")
	if err != nil {
		t.Fatal(err)
	}
	want := model{nodes: 1e10, entries: 2e12, rowBytes: 16 * 4}.table()
	if !strings.Contains(string(page), want) {
		t.Errorf("docs/run.md lacks the table\n%s", want)
	}
}

// The numbers of nodes are independent of the communities.
func plantedCommunities(t *testing.T, n, degree, communities int, inside float64) *sparse.CSR {
	r := rand.New(rand.NewPCG(5, 6))
	size := n / communities
	edges := make([][2]int, 0, n*degree/2)
	for len(edges) < cap(edges) {
		u, v := r.IntN(n), r.IntN(n)
		if r.Float64() < inside {
			v = u/size*size + r.IntN(size)
		}
		if u != v {
			edges = append(edges, [2]int{u, v})
		}
	}
	return shuffled(t, n, edges)
}

func reordered(t *testing.T, a *sparse.CSR, order []uint32) *sparse.CSR {
	place := inverse(order)
	var edges [][2]int
	for i := range order {
		for _, j := range neighbours(a, i) {
			if int(j) > i {
				edges = append(edges, [2]int{place[i], place[j]})
			}
		}
	}
	return graph(t, len(order), edges)
}

func ghostsIn(a *sparse.CSR, ranges int) (sum float64) {
	for _, n := range countGhosts(a, partition.Divide(a, ranges), ranges) {
		sum += float64(n)
	}
	return sum
}

func TestGhostsOfModel(t *testing.T) {
	const n, degree, communities, inside = 1 << 13, 28, 128, 0.8
	a := plantedCommunities(t, n, degree, communities, inside)
	order, err := partition.Locality(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := model{nodes: n, entries: float64(a.NNZ())}
	local := reordered(t, a, order)
	for _, p := range []float64{4, 16, 64} {
		got, want := ghostsIn(a, int(p)), p*m.scattered(p)
		if math.Abs(got/want-1) > 0.02 {
			t.Errorf("%v ranges: %v ghost rows, the model has %v", p, got, want)
		}
		// Up to 40 % more, because ranges cut communities, and some nodes are in a wrong one.
		got, want = ghostsIn(local, int(p)), p*m.cut(p, (1-inside)*(1-1/p))
		if got > 1.4*want {
			t.Errorf("%v ranges in the order of communities: %v ghost rows, the model has %v", p, got, want)
		}
	}
}
