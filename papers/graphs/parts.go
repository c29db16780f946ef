package graphs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

var partsParam = param.Param{
	Name: "parts", Meaning: "labels of vertices, of edges with their ends, or cyclic and tree patterns", Kind: param.Choice,
	Words: []string{"vertices", "edges", "patterns"}, Default: param.Of("vertices"),
}

var multisetParam = param.Param{Name: "multiset",
	Meaning: "a part counts as often as it is there", Kind: param.Switch,
	Default: param.Of(false)}

// intersection is μ(X ∩ Y). For multisets it is Σ_x μ(x)Γ_X(x)Γ_Y(x), where Γ_X(x) counts x in X (Gärtner, Le and Smola 2006,
// equations 1.3 and 1.6).
var intersection = setKernel("intersection", "μ(X ∩ Y) of sets of parts", ", equation 1.3", true, func(x, y *partSet, s *Settings) float64 {
	return x.parts.dot(&y.parts, s.Measure)
})

// union is 1/μ(X ∪ Y) (equation 1.4). Sets must not be empty.
var union = setKernel("union", "1/μ(X ∪ Y) of sets of parts", ", equation 1.4", false, func(x, y *partSet, s *Settings) float64 {
	return 1 / (x.measure + y.measure - x.parts.dot(&y.parts, s.Measure))
})

// tanimoto is μ(X ∩ Y)/μ(X ∪ Y), the Tanimoto or Jaccard coefficient (equation 1.5). Sets must not
// be empty.
var tanimoto = setKernel("tanimoto", "μ(X ∩ Y)/μ(X ∪ Y) of sets of parts", ", equation 1.5", false, func(x, y *partSet, s *Settings) float64 {
	common := x.parts.dot(&y.parts, s.Measure)
	return common / (x.measure + y.measure - common)
})

// cross is Σ_x Σ_y μ(x)k(x, y)μ(y), where k is [Settings].Base, or 1 for equal parts and else 0.
var cross = setKernel("cross", "Σ_x Σ_y μ(x)k(x, y)μ(y) of sets of parts, with a kernel k between these", "", true, func(x, y *partSet, s *Settings) float64 {
	if s.Base != nil {
		return crossOf(&x.parts, &y.parts, s.Measure, s.Base)
	}
	if s.Measure == nil {
		return x.parts.dot(&y.parts, nil)
	}
	squares := make([]float64, len(s.Measure))
	for i, m := range s.Measure {
		squares[i] = m * m
	}
	return x.parts.dot(&y.parts, squares)
})

type partSet struct {
	parts   entries // count of each part
	measure float64 // μ(X) of a set
}

// setKernel declares a kernel between sets of parts, whose values value computes. If multi is set, the kernel also accepts
// multisets and empty sets.
func setKernel(name, title, equation string, multi bool,
	value func(x, y *partSet, s *Settings) float64) Kernel {
	params := []param.Param{partsParam}
	if multi {
		params = append(params, multisetParam)
	}
	return Kernel{
		Spec: param.Spec{
			Name: name, Title: title, Works: param.Graphs, Params: params,
			Source: "Gärtner, Le and Smola, A short tour of kernel methods for graphs, 2006, section 1.2.2" + equation,
		},
		New: func(ctx context.Context, c *graphfile.Collection, v param.Values, s *Settings) (Rows, error) {
			list, names, err := multisets(ctx, c, v.Word("parts"))
			if err != nil {
				return nil, err
			}
			if err := s.fits(name, len(names)); err != nil {
				return nil, err
			}
			sets := make([]partSet, len(list))
			for i, e := range list {
				if !multi || !v.On("multiset") {
					ones(e.value)
				}
				sets[i] = partSet{e, e.dot(&e, s.Measure)}
				switch {
				case multi:
				case len(e.index) == 0:
					return nil, &GraphError{c.IDs[i],
						fmt.Sprintf("has no %s, and %s is not defined for empty sets; leave the graph out", v.Word("parts"), name)}
				case !(sets[i].measure > 0):
					return nil, &GraphError{c.IDs[i],
						fmt.Sprintf("its %s have measure 0, for which %s is not defined; leave the graph out", v.Word("parts"), name)}
				}
			}
			return Pairs(func(_, i, j int) (float64, error) { return finite(value(&sets[i], &sets[j], s)) }), nil
		},
		Memory: func(s *graphfile.Shape, v param.Values, _ int) int64 { return partBytes(s, v.Word("parts")) },
	}
}

// partBytes returns the memory of the names and of the parts of a collection. parts is "vertices", "edges" or "patterns". It
// counts a part once for every graph that has it, and assumes a pattern for each arc.
func partBytes(s *graphfile.Shape, parts string) int64 {
	labels := int64(max(1, s.Labels))
	vertices := int64(s.Vertices)
	kinds := vertices
	switch parts {
	case "vertices":
		kinds = min(kinds, labels)
	case "patterns":
		vertices = s.Arcs
		kinds = vertices
	case "edges":
		vertices = s.Arcs
		kinds = vertices
		if labels < 1<<20 {
			kinds = min(kinds, labels*labels*int64(max(1, s.EdgeLabels)))
		}
	}
	vertices = min(vertices, int64(s.Graphs)*kinds)
	return graphBytes*int64(s.Graphs) + 80*vertices + 100*kinds
}

const graphBytes = 600

func (s *Settings) fits(name string, elements int) error {
	if s.Measure != nil && len(s.Measure) != elements ||
		s.Base != nil && s.Base.Rows != elements {
		return param.Refuse(name, "parts", "the measure or the base kernel have another number of elements")
	}
	return nil
}

// multisets returns how often each part occurs in each graph, and the names of the parts in byte order, which numbers them.
// parts is as in [partBytes].
func multisets(ctx context.Context, c *graphfile.Collection,
	parts string) ([]entries, []string, error) {
	vectors, number, err := partsOf(ctx, c, parts, defaultCycles)
	if err != nil {
		return nil, nil, err
	}
	names := slices.Sorted(maps.Keys(number))
	rank := make([]int32, len(names))
	for i, text := range names {
		rank[number[text]] = int32(i)
	}
	for i, e := range vectors {
		count := make(map[int32]float64, len(e.index))
		for a, x := range e.index {
			count[rank[x]] = e.value[a]
		}
		vectors[i] = entriesOf(count)
	}
	return vectors, names, nil
}

// crossOf returns Σ_x Σ_y μ(x)Γ_X(x)·k(x, y)·Γ_Y(y)μ(y).
func crossOf(x, y *entries, measure []float64, k *sparse.Block[float64]) (sum float64) {
	weight := func(e *entries, a int) float64 {
		if measure != nil {
			return e.value[a] * measure[e.index[a]]
		}
		return e.value[a]
	}
	for a, element := range x.index {
		row := k.Row(int(element))
		rowSum := 0.0
		for b, second := range y.index {
			rowSum += float64(row[second] * weight(y, b))
		}
		sum += float64(weight(x, a) * rowSum)
	}
	return sum
}

// partsOf returns how often each part occurs in each graph, and the number of each part. parts is as in [partBytes]. If a
// graph has more than limit simple cycles, patterns give an error.
func partsOf(ctx context.Context, c *graphfile.Collection, parts string,
	limit int) ([]entries, interner[string], error) {
	number := interner[string]{}
	vectors := make([]entries, len(c.Graphs))
	for i := range c.Graphs {
		count := map[int32]float64{}
		add := func(text string) { count[number.of(text)]++ }
		switch m := &c.Graphs[i]; parts {
		case "vertices":
			for v := range m.Len() {
				add(nameOf(c.Labels, m.Label, int32(v)))
			}
		case "edges":
			for v := range m.Len() {
				for a := m.Ptr[v]; a < m.Ptr[v+1]; a++ {
					w := int(m.To[a])
					if !c.Directed && w < v {
						continue
					}
					ends := []string{nameOf(c.Labels, m.Label, int32(v)),
						nameOf(c.Labels, m.Label, int32(w))}
					if !c.Directed {
						slices.Sort(ends)
					}
					add(strings.Join(slices.Insert(ends, 1,
						nameOf(c.EdgeLabels, m.EdgeLabel, a)), "-"))
				}
			}
		default:
			if err := eachPattern(ctx, c, i, limit, add); err != nil {
				return nil, nil, err
			}
		}
		vectors[i] = entriesOf(count)
	}
	return vectors, number, sched.Cause(ctx)
}

func nameOf(names []string, label []int32, vertex int32) string {
	if label == nil {
		return ""
	}
	return names[label[vertex]]
}

func numberOf(label []int32, vertex int32) int32 {
	if label == nil {
		return 0
	}
	return label[vertex]
}
