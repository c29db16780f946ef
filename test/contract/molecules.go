package contract

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/heatwalk/heatwalk/file/graphfile"
)

const hetero = 3

// Molecules returns a collection of small labelled graphs that resemble molecules: a chain of rings and bridges of
// carbon, with short branches whose labels depend on the class of the graph. For a share noise of the branches the
// class is random. vertices is the mean number of vertices of a graph and must be at least 12. classes must be at most
// 9.
func Molecules(graphs, vertices, classes int, noise float64, rngSeed uint64) *graphfile.Collection {
	c := &graphfile.Collection{Labels: []string{"C", "N", "O", "S"}, EdgeLabels: []string{"1", "2"}}
	r := rand.New(rand.NewPCG(rngSeed, 1))
	for i := range graphs {
		class := r.IntN(classes)
		branchClass := func() int {
			if r.Float64() < noise {
				return r.IntN(classes)
			}
			return class
		}
		c.Graphs = append(c.Graphs, molecule(r, vertices*3/4+r.IntN(vertices/2+1), branchClass))
		c.IDs = append(c.IDs, strconv.Itoa(i+1))
		c.Class = append(c.Class, strconv.Itoa(class))
	}
	return c
}

// molecule draws a graph of at least size vertices.
func molecule(r *rand.Rand, size int, branchClass func() int) graphfile.Member {
	var labels []int32
	var edges [][3]int32
	vertex := func(label int) int32 {
		labels = append(labels, int32(label))
		return int32(len(labels) - 1)
	}
	edge := func(u, v, label int32) { edges = append(edges, [3]int32{u, v, label}) }
	end := vertex(0)
	for len(labels) < size {
		switch r.IntN(3) {
		case 0: // a ring of five or six
			first := end
			for range 4 + r.IntN(2) {
				next := vertex(0)
				edge(end, next, int32(len(labels)&1))
				end = next
			}
			edge(end, first, 0)
		case 1: // a step of the chain
			next := vertex(0)
			edge(end, next, 0)
			end = next
		default: // a branch
			class := branchClass()
			a := vertex(1 + class/hetero)
			b := vertex(1 + class%hetero)
			edge(end, a, 0)
			edge(a, b, 1)
			next := vertex(0)
			edge(end, next, 0)
			end = next
		}
	}
	return graphfile.NewMember(labels, edges)
}

// WriteTU writes the files of a collection in the TU layout, whose names begin with prefix.
func WriteTU(prefix string, c *graphfile.Collection) error {
	var edges, indicator, classes, labels, edgeLabels bytes.Buffer
	for _, class := range c.Class {
		fmt.Fprintln(&classes, class)
	}
	first := 1
	for g := range c.Graphs {
		m := &c.Graphs[g]
		for v, label := range m.Label {
			fmt.Fprintln(&indicator, g+1)
			fmt.Fprintln(&labels, c.Labels[label])
			for i := m.Ptr[v]; i < m.Ptr[v+1]; i++ {
				fmt.Fprintf(&edges, "%d, %d\n", first+v, first+int(m.To[i]))
				if m.EdgeLabel != nil {
					fmt.Fprintln(&edgeLabels, c.EdgeLabels[m.EdgeLabel[i]])
				}
			}
		}
		first += m.Len()
	}
	var failure error
	for ending, text := range map[string]*bytes.Buffer{
		"A": &edges, "graph_indicator": &indicator, "graph_labels": &classes, "node_labels": &labels, "edge_labels": &edgeLabels,
	} {
		if text.Len() > 0 || ending == "A" {
			failure = errors.Join(failure, os.WriteFile(prefix+"_"+ending+".txt", text.Bytes(), 0o666))
		}
	}
	return failure
}
