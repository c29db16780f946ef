package generate

import (
	"context"
	"math/rand/v2"
	"strconv"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/param"
)

// molecules generates collections of small labelled graphs that resemble molecules: a chain of
// rings and bridges of carbon, with short branches whose labels depend on the class of the
// graph. For a share noise of the branches the class is random.
var molecules = &Model{Spec: param.Spec{
	Name: "molecules", Title: "A collection of small labelled graphs of classes, for heatwalk graphs", Works: param.Graphs, Params: []param.Param{
		wholeNumber("graphs", "graphs", between(1, 1<<24), 200),
		wholeNumber("nodes", "mean number of vertices of a graph",
			between(12, 1_000_000), 20),
		wholeNumber("classes", "classes", between(1, hetero*hetero), 2),
		share("noise", "share of the branches that belong to any class", 0.4),
	},
}}

// moleculeLabels lists the labels of vertices; the chain has the first.
var moleculeLabels = []string{"C", "N", "O", "S"}

// hetero is the number of labels of branches.
const hetero = 3

// collectionBytes returns the memory of [NewCollection] with complete values.
func collectionBytes(v param.Values) int64 {
	const graph, vertex = 300, 80 // bytes of a graph, and of a vertex with its edges while they are sorted
	return int64(v.Int("graphs")) * (graph + vertex*int64(v.Int("nodes")))
}

// NewCollection generates the graphs of the model "molecules" with the given values, and
// defaults for the rest. It first calls room, if not nil, with the memory of the collection, and
// returns its error. Other errors are a [*param.ParameterError], or that of the context.
func NewCollection(ctx context.Context, parameters param.Values, rngSeed uint64,
	room func(bytes int64) error) (*graphfile.Collection, error) {
	v, err := molecules.Resolve(parameters, nil)
	if err != nil {
		return nil, err
	}
	if room != nil {
		if err := room(collectionBytes(v)); err != nil {
			return nil, err
		}
	}
	c := &graphfile.Collection{Labels: moleculeLabels,
		EdgeLabels: []string{"1", "2"}}
	r := source(rngSeed, edgeStream)
	for i := range v.Int("graphs") {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		class := r.IntN(v.Int("classes"))
		c.Graphs = append(c.Graphs, molecule(r, v, class))
		c.IDs, c.Class = append(c.IDs, strconv.Itoa(i+1)),
			append(c.Class, strconv.Itoa(class))
	}
	return c, nil
}

// molecule draws a graph of a class.
func molecule(r *rand.Rand, v param.Values, class int) graphfile.Member {
	var m moleculeMaker
	vertices := v.Int("nodes")
	classes := v.Int("classes")
	noise := v.Number("noise")
	size := vertices*3/4 + r.IntN(vertices/2+1)
	end := m.vertex(0)
	for len(m.label) < size {
		switch r.IntN(3) {
		case 0: // a ring of five or six
			first := end
			last := end
			length := 5 + r.IntN(2)
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
			branchClass := class
			if r.Float64() < noise {
				branchClass = r.IntN(classes)
			}
			a := m.vertex(1 + int32(branchClass/hetero))
			b := m.vertex(1 + int32(branchClass%hetero))
			m.edge(end, a, 0)
			m.edge(a, b, 1)
			next := m.vertex(0)
			m.edge(end, next, 0)
			end = next
		}
	}
	return graphfile.NewMember(m.label, m.edges)
}

// moleculeMaker collects the vertices and edges of a graph.
type moleculeMaker struct {
	label []int32
	edges [][3]int32
}

// vertex adds a vertex and returns its number.
func (m *moleculeMaker) vertex(label int32) int32 {
	m.label = append(m.label, label)
	return int32(len(m.label) - 1)
}

// edge adds an edge between two vertices.
func (m *moleculeMaker) edge(u, v, label int32) {
	m.edges = append(m.edges, [3]int32{u, v, label})
}
