package graphs

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// permuted makes vertex place[v] of m vertex v.
func permuted(m *graphfile.Member, place []int) graphfile.Member {
	at := make([]int32, len(place))
	for v, p := range place {
		at[p] = int32(v)
	}
	out := graphfile.Member{Ptr: []int32{0}}
	for _, p := range place {
		out.Label = append(out.Label, m.Label[p])
		for to := range int32(len(place)) {
			for a := m.Ptr[p]; a < m.Ptr[p+1]; a++ {
				if at[m.To[a]] != to {
					continue
				}
				out.To = append(out.To, to)
				if m.EdgeLabel != nil {
					out.EdgeLabel = append(out.EdgeLabel, m.EdgeLabel[a])
				}
			}
		}
		out.Ptr = append(out.Ptr, int32(len(out.To)))
	}
	return out
}

func TestVerticesHaveNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawn(t, rapid.Bool().Draw(t, "directed"), rapid.Bool().Draw(t, "edge labels"))
		n := len(c.Graphs)
		for i := range n {
			place := make([]int, c.Graphs[i].Len())
			for v := range place {
				place[v] = v
			}
			c.Graphs = append(c.Graphs, permuted(&c.Graphs[i], rapid.Permutation(place).Draw(t, "order")))
			c.IDs = append(c.IDs, c.IDs[i]+"'")
		}
		for name, v := range map[string]param.Values{
			"label-sequence": {"decay": param.Of(0.01)},
			"label-pair":     {"decay": param.Of(0.01)},
			"intersection":   {"parts": param.Of("edges"), "multiset": param.Of(true)},
		} {
			gram, err := Kernels().Named(name).Prepare(t.Context(), c, v, nil)
			if err != nil {
				t.Fatal(err)
			}
			k := sparse.NewBlock[float64](2*n, 2*n)
			if err := gram.RowsTo(t.Context(), k, 0); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for j := range 2 * n {
					if got, want := k.Row(n + i)[j], k.Row(i)[j]; math.Abs(got-want) > 1e-9*want {
						t.Errorf("%s: graphs %s and %s have %v, with other numbers %v", name, c.IDs[i], c.IDs[j], want, got)
					}
				}
			}
		}
	})
}
