package graphs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/param"
)

// partsParam says which parts of graphs are the elements of sets.
var partsParam = param.Param{
	Name: "parts", Meaning: "labels of vertices, of edges with their ends, or cyclic and tree patterns", Kind: param.Choice,
	Words: []string{"vertices", "edges", "patterns"}, Default: param.Of("vertices"),
}

// multisetParam says whether parts count as often as they are there.
var multisetParam = param.Param{Name: "multiset",
	Meaning: "a part counts as often as it is there", Kind: param.Switch,
	Default: param.Of(false)}

// intersection is the measure of the common parts of two graphs,
//
//	μ(X ∩ Y), of multisets Σ_x μ(x)Γ_X(x)Γ_Y(x)
//
// (short tour, equations 1.3 and 1.6).
var intersection = setKernel("intersection", "μ(X ∩ Y) of sets of parts", ", equation 1.3", true, func(x, y *multiset, s *Settings) float64 {
	return intersectionOf(x, y, s.Measure)
})

// union is 1/μ(X ∪ Y) of the sets of parts of two graphs (equation 1.4). No set is empty.
var union = setKernel("union", "1/μ(X ∪ Y) of sets of parts", ", equation 1.4", false, func(x, y *multiset, s *Settings) float64 {
	return 1 / unionOf(x, y, s.Measure)
})

// tanimoto is the Tanimoto or Jaccard coefficient μ(X ∩ Y)/μ(X ∪ Y) of the sets of parts
// of two graphs (equation 1.5). No set is empty.
var tanimoto = setKernel("tanimoto", "μ(X ∩ Y)/μ(X ∪ Y) of sets of parts", ", equation 1.5", false, func(x, y *multiset, s *Settings) float64 {
	return intersectionOf(x, y, s.Measure) / unionOf(x, y, s.Measure)
})

// cross is the cross product kernel Σ_x Σ_y μ(x)k(x, y)μ(y) of the parts of two graphs,
// with a kernel k between parts: that of [Settings].Base, or 1 for two equal parts.
var cross = setKernel("cross", "Σ_x Σ_y μ(x)k(x, y)μ(y) of sets of parts, with a kernel k between these", "", true, func(x, y *multiset, s *Settings) float64 {
	if s.Base != nil {
		return crossOf(x, y, s.Measure, s.Base)
	}
	if s.Measure == nil {
		return intersectionOf(x, y, nil)
	}
	squares := make([]float64, len(s.Measure))
	for i, m := range s.Measure {
		squares[i] = m * m
	}
	return intersectionOf(x, y, squares)
})

// setKernel declares a kernel between the sets of parts of graphs, or multisets where
// these have a meaning; others are not defined for empty sets.
func setKernel(name, title, equation string, multi bool,
	value func(x, y *multiset, s *Settings) float64) Kernel {
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
			for i := range list {
				if !multi || !v.On("multiset") {
					list[i] = list[i].support()
				}
				switch {
				case multi:
				case list[i].isEmpty():
					return nil, &GraphError{c.IDs[i],
						fmt.Sprintf("has no %s, and %s is not defined for empty sets; leave the graph out", v.Word("parts"), name)}
				case s.Measure != nil && !(measureOf(list[i], s.Measure) > 0):
					return nil, &GraphError{c.IDs[i],
						fmt.Sprintf("its %s have measure 0, for which %s is not defined; leave the graph out", v.Word("parts"), name)}
				}
			}
			return Pairs(func(_, i, j int) (float64, error) { return finite(value(list[i], list[j], s)) }), nil
		},
		Memory: func(s *graphfile.Shape, v param.Values, _ int) int64 { return partBytes(s, v.Word("parts")) },
		cycles: func(v param.Values) int {
			if v.Word("parts") == "patterns" {
				return defaultCycles
			}
			return 0
		},
	}
}

// partBytes bounds the memory of the parts of a collection, except patterns of cycles: each
// part once for every graph that has it, and the names.
func partBytes(s *graphfile.Shape, parts string) int64 {
	labels := int64(max(1, s.Labels))
	vertices := int64(s.Vertices)
	kinds := vertices
	switch parts {
	case "vertices":
		kinds = min(kinds, labels)
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

// graphBytes is the memory of a graph's parts in addition to that of each part.
const graphBytes = 600

// fits returns an error unless measure and base kernel have the given number of elements.
func (s *Settings) fits(name string, elements int) error {
	if s.Measure != nil && len(s.Measure) != elements ||
		s.Base != nil && s.Base.Rows != elements {
		return param.Refuse(name, "parts", "the measure or the base kernel have another number of elements")
	}
	return nil
}

// multisets returns the parts of each graph by their numbers among the names of all.
func multisets(ctx context.Context, c *graphfile.Collection,
	parts string) ([]*multiset, []string, error) {
	vectors, number, err := partsOf(ctx, c, parts, defaultCycles)
	if err != nil {
		return nil, nil, err
	}
	names := slices.Sorted(maps.Keys(number))
	rank := make([]uint32, len(names))
	for i, text := range names {
		rank[number[text]] = uint32(i)
	}
	list := make([]*multiset, len(vectors))
	for i, e := range vectors {
		count := make(map[uint32]int, len(e.index))
		for a, x := range e.index {
			count[rank[x]] = int(e.value[a])
		}
		list[i] = multisetOf(count)
		vectors[i] = entries{}
	}
	return list, names, nil
}

// partsOf returns how often each part is in each graph, and the number of each part. A
// graph may have most simple cycles.
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
			eachEdge(c, m, add)
		default:
			if err := eachPattern(ctx, c, i, limit, add); err != nil {
				return nil, nil, err
			}
		}
		vectors[i] = entriesOf(count)
	}
	return vectors, number, ctx.Err()
}

// eachEdge calls visit with the edges of a graph by their labels and those of their ends.
func eachEdge(c *graphfile.Collection, m *graphfile.Member,
	visit func(text string)) {
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
			visit(strings.Join(slices.Insert(ends, 1,
				nameOf(c.EdgeLabels, m.EdgeLabel, a)), "-"))
		}
	}
}

// nameOf returns the name of a vertex's or an arc's label, "" without one.
func nameOf(names []string, label []int32, vertex int32) string {
	if label == nil {
		return ""
	}
	return names[label[vertex]]
}

// numberOf returns a label, 0 where there are none.
func numberOf(label []int32, vertex int32) int32 {
	if label == nil {
		return 0
	}
	return label[vertex]
}
