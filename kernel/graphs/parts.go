package graphs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/kernel/sets"
	"github.com/heatwalk/heatwalk/spec"
)

// partsParam says which parts of graphs are the elements of sets.
var partsParam = spec.Param{
	Name: "parts", Meaning: "labels of vertices, of edges with their ends, or cyclic and tree patterns", Kind: spec.Choice,
	Words: []string{"vertices", "edges", "patterns"}, Default: spec.Word("vertices"),
}

// multisetParam says whether parts count as often as they are there.
var multisetParam = spec.Param{Name: "multiset", Meaning: "a part counts as often as it is there", Kind: spec.Switch, Default: spec.On(false)}

// intersection is the measure of the common parts of two graphs,
//
//	μ(X ∩ Y), of multisets Σ_x μ(x)Γ_X(x)Γ_Y(x)
//
// (short tour, equations 1.3 and 1.6).
var intersection = setKernel("intersection", "μ(X ∩ Y) of sets of parts", true, func(x, y *sets.Multiset, s *Settings) float64 {
	return sets.Intersection(x, y, s.Measure)
})

// union is 1/μ(X ∪ Y) of the sets of parts of two graphs (equation 1.4). No set is empty.
var union = setKernel("union", "1/μ(X ∪ Y) of sets of parts", false, func(x, y *sets.Multiset, s *Settings) float64 {
	return sets.Union(x, y, s.Measure)
})

// tanimoto is the Tanimoto or Jaccard coefficient μ(X ∩ Y)/μ(X ∪ Y) of the sets of parts
// of two graphs (equation 1.5). No set is empty.
var tanimoto = setKernel("tanimoto", "μ(X ∩ Y)/μ(X ∪ Y) of sets of parts", false, func(x, y *sets.Multiset, s *Settings) float64 {
	return sets.Tanimoto(x, y, s.Measure)
})

// cross is the cross product kernel Σ_x Σ_y μ(x)k(x, y)μ(y) of the parts of two graphs,
// with a kernel k between parts: that of [Settings].Base, or 1 for two equal parts.
var cross = setKernel("cross", "Σ_x Σ_y μ(x)k(x, y)μ(y) of sets of parts, with a kernel k between these", true, func(x, y *sets.Multiset, s *Settings) float64 {
	if s.Base != nil {
		return sets.Cross(x, y, s.Measure, s.Base)
	}
	if s.Measure == nil {
		return sets.Intersection(x, y, nil)
	}
	squares := make([]float64, len(s.Measure))
	for i, m := range s.Measure {
		squares[i] = m * m
	}
	return sets.Intersection(x, y, squares)
})

// setKernel declares a kernel between the sets of parts of graphs, or multisets where
// these have a meaning; others are not defined for empty sets.
func setKernel(name, title string, multi bool, value func(x, y *sets.Multiset, s *Settings) float64) Kernel {
	params := []spec.Param{partsParam}
	if multi {
		params = append(params, multisetParam)
	}
	return Kernel{
		Spec: spec.Spec{Name: name, Title: title, Works: spec.Graphs, Params: params},
		prepare: func(ctx context.Context, c *graphfile.Collection, v spec.Values, s *Settings) (rows, error) {
			elements, names, err := Elements(ctx, c, v.Word("parts"))
			if err != nil {
				return nil, err
			}
			if err := s.fits(name, len(names)); err != nil {
				return nil, err
			}
			list := make([]*sets.Multiset, len(elements))
			for i, e := range elements {
				list[i] = sets.Of(e...)
				if !multi || !v.On("multiset") {
					list[i] = list[i].Support()
				}
				switch {
				case multi:
				case list[i].IsEmpty():
					return nil, &GraphError{c.IDs[i], fmt.Sprintf("has no %s, and %s is not defined for empty sets; leave the graph out", v.Word("parts"), name)}
				case s.Measure != nil && !(sets.Measure(list[i], s.Measure) > 0):
					return nil, &GraphError{c.IDs[i], fmt.Sprintf("its %s have measure 0, for which %s is not defined; leave the graph out", v.Word("parts"), name)}
				}
			}
			return pairs(func(_, i, j int) (float64, error) { return finite(value(list[i], list[j], s)) }), nil
		},
		memory: func(c *graphfile.Collection, _ spec.Values, _ int) []spec.Bytes {
			return []spec.Bytes{{What: "sets of parts", Bytes: partBytes(c)}}
		},
	}
}

// partBytes bounds what the sets of parts of a collection take.
func partBytes(c *graphfile.Collection) (bytes int64) {
	for i := range c.Graphs {
		bytes += 600 + 60*int64(c.Graphs[i].Len()+len(c.Graphs[i].To))
	}
	return bytes
}

// fits returns an error unless measure and base kernel are those of so many elements.
func (s *Settings) fits(name string, elements int) error {
	if s.Measure != nil && len(s.Measure) != elements || s.Base != nil && s.Base.Rows != elements {
		return &spec.ParameterError{Of: name, Parameter: "parts", What: "measure or base kernel are not those of its elements; see Elements"}
	}
	return nil
}

// Elements returns the elements that are the parts of each graph, as often as they are
// there, and the name of every element, in byte order: parts are "vertices", "edges" or
// "patterns".
func Elements(ctx context.Context, c *graphfile.Collection, parts string) (elements [][]uint32, names []string, err error) {
	texts := make([][]string, len(c.Graphs))
	all := map[string]uint32{}
	for i := range c.Graphs {
		switch m := &c.Graphs[i]; parts {
		case "vertices":
			texts[i] = vertexParts(c, m)
		case "edges":
			texts[i] = edgeParts(c, m)
		default:
			if texts[i], err = Patterns(ctx, c, i, defaultCycles); err != nil {
				return nil, nil, err
			}
		}
		for _, text := range texts[i] {
			all[text] = 0
		}
	}
	for text := range all {
		names = append(names, text)
	}
	slices.Sort(names)
	for i, text := range names {
		all[text] = uint32(i)
	}
	elements = make([][]uint32, len(texts))
	for i, list := range texts {
		for _, text := range list {
			elements[i] = append(elements[i], all[text])
		}
	}
	return elements, names, nil
}

// vertexParts returns the labels of the vertices of a graph.
func vertexParts(c *graphfile.Collection, m *graphfile.Member) (texts []string) {
	for v := range m.Len() {
		texts = append(texts, labelOf(c, m, v))
	}
	return texts
}

// edgeParts returns the edges of a graph by their labels and those of their ends.
func edgeParts(c *graphfile.Collection, m *graphfile.Member) (texts []string) {
	for v := range m.Len() {
		for a := m.Ptr[v]; a < m.Ptr[v+1]; a++ {
			w := int(m.To[a])
			if !c.Directed && w < v {
				continue
			}
			ends := []string{labelOf(c, m, v), labelOf(c, m, w)}
			if !c.Directed {
				slices.Sort(ends)
			}
			texts = append(texts, strings.Join(slices.Insert(ends, 1, edgeLabelOf(c, m, a)), "-"))
		}
	}
	return texts
}

// labelOf returns the label of a vertex, "" without one.
func labelOf(c *graphfile.Collection, m *graphfile.Member, v int) string {
	if m.Label == nil {
		return ""
	}
	return c.Labels[m.Label[v]]
}

// edgeLabelOf returns the label of an arc, "" without one.
func edgeLabelOf(c *graphfile.Collection, m *graphfile.Member, a int32) string {
	if m.EdgeLabel == nil {
		return ""
	}
	return c.EdgeLabels[m.EdgeLabel[a]]
}
