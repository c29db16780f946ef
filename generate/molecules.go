package generate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/heatwalk/heatwalk/graphfile"
)

// Molecules is a collection of small labelled graphs like those of molecules: a chain of
// rings and bridges of carbon, from which short branches hang whose labels tell the
// class. Of a share Noise of the branches the class is drawn anew.
type Molecules struct {
	Graphs   int
	Vertices int // mean number of each graph, at least 12
	Classes  int // at most 9
	Noise    float64
	RNGSeed  uint64
}

// moleculeLabels are the labels of vertices, of which the first is that of the chain.
var moleculeLabels = []string{"C", "N", "O", "S"}

// Validate reports what is wrong with the settings.
func (g Molecules) Validate() error {
	hetero := len(moleculeLabels) - 1
	switch {
	case g.Graphs < 1:
		return fmt.Errorf("generate: %d graphs, want 1 or more", g.Graphs)
	case g.Vertices < 12 || g.Vertices > 1e6:
		return fmt.Errorf("generate: %d vertices, want 12 to 1000000", g.Vertices)
	case g.Classes < 1 || g.Classes > hetero*hetero:
		return fmt.Errorf("generate: %d classes, want 1 to %d", g.Classes, hetero*hetero)
	case !(g.Noise >= 0 && g.Noise <= 1):
		return fmt.Errorf("generate: noise %v, want 0 to 1", g.Noise)
	}
	return nil
}

// Collection makes the graphs.
func (g Molecules) Collection(ctx context.Context) (*graphfile.Collection, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	c := &graphfile.Collection{Labels: moleculeLabels, EdgeLabels: []string{"1", "2"}}
	r := source(g.RNGSeed, edgeStream)
	for i := range g.Graphs {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		class := r.IntN(g.Classes)
		c.Graphs = append(c.Graphs, g.molecule(r, class))
		c.IDs, c.Class = append(c.IDs, strconv.Itoa(i+1)), append(c.Class, strconv.Itoa(class))
	}
	return c, nil
}

// molecule draws a graph of a class.
func (g Molecules) molecule(r *rand.Rand, class int) graphfile.Member {
	var m moleculeMaker
	size := g.Vertices*3/4 + r.IntN(g.Vertices/2+1)
	end := m.vertex(0)
	for len(m.label) < size {
		switch r.IntN(3) {
		case 0: // a ring of five or six
			first, last, length := end, end, 5+r.IntN(2)
			for range length - 1 {
				next := m.vertex(0)
				m.edge(last, next, int32(len(m.label)&1))
				last = next
			}
			m.edge(last, first, 0)
			end = last
		case 1: // a step of the chain
			next := m.vertex(0)
			m.edge(end, next, 0)
			end = next
		default: // a branch
			own := class
			if r.Float64() < g.Noise {
				own = r.IntN(g.Classes)
			}
			hetero := int32(len(moleculeLabels) - 1)
			a := m.vertex(1 + int32(own)/hetero)
			b := m.vertex(1 + int32(own)%hetero)
			m.edge(end, a, 0)
			m.edge(a, b, 1)
			next := m.vertex(0)
			m.edge(end, next, 0)
			end = next
		}
	}
	return graphfile.NewMember(m.label, m.edges)
}

// moleculeMaker collects a graph.
type moleculeMaker struct {
	label []int32
	edges []graphfile.LabelledEdge
}

func (m *moleculeMaker) vertex(label int32) int32 {
	m.label = append(m.label, label)
	return int32(len(m.label) - 1)
}

func (m *moleculeMaker) edge(u, v, label int32) {
	m.edges = append(m.edges, graphfile.LabelledEdge{From: u, To: v, Label: label})
}
