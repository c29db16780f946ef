package kernel

import (
	"math"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
)

// The symmetric forms of PageRank kernels are D^½·K·D^−½, symmetric to the bit.
func TestSymmetricForms(t *testing.T) {
	loaded := testgraph.Load(t, "wrand60")
	g := newGraph(t, loaded.A, 2)
	all := upTo(len(loaded.Degrees))
	for name, p := range map[string]Parameters{"pagerank": {Alpha: 0.9}, "heat-pagerank": {Beta: 3}} {
		plain, _ := mustMatrix(t, mustNew(t, g, name, p), all, all, nil)
		p.Symmetric = true
		got, r := mustMatrix(t, mustNew(t, g, name, p), all, all, nil)
		root := roots(loaded.Degrees)
		for i := range all {
			for j, v := range got.Row(i) {
				want := root[i] * plain.Row(i)[j] / root[j]
				if math.Abs(v-want) > 1e-9*r.Largest || v != got.Row(j)[i] {
					t.Fatalf("%s: (%d, %d) is %v, want %v; its mirror image %v", name, i, j, v, want, got.Row(j)[i])
				}
			}
		}
	}
}

// A parameter that is given takes the place of one that is not, if the kernel
// has it.
func TestWith(t *testing.T) {
	p := Parameters{Laplacian: Normalized, Beta: 2}
	got := p.With(Parameters{Beta: 3, Alpha: 1, Symmetric: true}, "diffusion")
	if want := (Parameters{Laplacian: Normalized, Beta: 3}); got != want {
		t.Errorf("%+v", got)
	}
	all := Parameters{Combinatorial, Adjacency, 1, 2, 3, 4, 5, 6, 7, 8, true}
	text := "combinatorial, adjacency, β = 1, α = 2, a = 3, p = 4, ν = 5, κ = 6, rank 7, γ = 8, symmetric"
	if all.String() != text {
		t.Error(all)
	}
	seen := make(map[string]bool)
	for _, f := range fields {
		seen[f.name] = true
		var one Parameters
		if f.copy(&one, &all); !f.given(&one) || !strings.Contains(text, one.String()) || one == (Parameters{}) {
			t.Errorf("%s: %+v", f.name, one)
		}
	}
	for _, name := range Names() {
		for _, taken := range Takes(name) {
			if !seen[taken] {
				t.Errorf("%s takes %s, which is no field", name, taken)
			}
		}
	}
}
