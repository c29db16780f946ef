package generate

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/spec"
)

// Model is a kind of random graph: its declaration and its generator.
type Model struct {
	spec.Spec
	HasClasses bool // the nodes of its graphs have classes

	// graph returns the graph of complete values; of a model of collections it is nil.
	graph func(v spec.Values, d draws) Graph
}

// draws has the seed of all random numbers, and the number of goroutines.
type draws struct {
	rngSeed uint64
	workers int // at least 1; the graph does not depend on it
}

// Models returns all models. Those that work on [spec.Graphs] are made by
// [NewCollection], the others by [New].
func Models() []*Model { return []*Model{blockModel, recursiveMatrix, uniform, lattice, molecules} }

// Graph is a graph whose nodes are the numbers from 0.
type Graph interface {
	Size() Size

	// EdgesTo writes a line u<TAB>v for each edge.
	EdgesTo(ctx context.Context, w io.Writer) error

	// LabelsTo writes a line node<TAB>class for a share of the nodes above 0, drawn at
	// random: 1 for all. Classes are called c0, c1 and so on, and every class that has
	// nodes has one of them there. Nodes are in increasing order. Of a model without
	// classes nothing is written.
	LabelsTo(ctx context.Context, w io.Writer, share float64) error
}

// unlabelled is a graph without classes.
type unlabelled struct{}

// LabelsTo implements [Graph].
func (unlabelled) LabelsTo(context.Context, io.Writer, float64) error { return nil }

// Size bounds the size of a graph and the memory of making it.
type Size struct {
	Nodes int64
	Lines int64 // of edges
	Whole bool  // every node has a line
	Bytes int64 // of memory
	Text  int64 // bytes of the text of the edges
}

// sizeOf returns the size of a graph with the given numbers of nodes and lines.
func sizeOf(nodes, lines, bytes int64, whole bool) Size {
	digits := len(strconv.FormatInt(max(nodes-1, 1), 10))
	return Size{Nodes: nodes, Lines: lines, Whole: whole, Bytes: bytes, Text: lines * 2 * int64(digits+1)}
}

// New returns the graph of a model with the given values and defaults for the rest. The
// values and the rng seed decide every byte; workers, of which there is one for each
// processor if it is 0, do not. The error is a [*spec.ParameterError].
func New(model string, given spec.Values, rngSeed uint64, workers int) (Graph, error) {
	var names []string
	for _, m := range Models() {
		if m.Name != model || m.graph == nil {
			names = append(names, m.Name)
			continue
		}
		v, err := m.Resolve(given, nil)
		if err != nil {
			return nil, err
		}
		if workers <= 0 {
			workers = runtime.GOMAXPROCS(0)
		}
		return m.graph(v, draws{rngSeed, workers}), nil
	}
	return nil, &spec.ParameterError{Of: model, Parameter: "model", What: "there is none; give one of " + strings.Join(names, ", ")}
}

// maxNodes is how many nodes a pair of them has room for.
const maxNodes = 1<<32 - 1

// fewNodes is the range of numbers of nodes.
var fewNodes = spec.Range{Least: 2, Most: maxNodes}

// checkPairs returns an error if there are fewer pairs of nodes than edges.
func checkPairs(edges, nodes float64) error {
	if pairs := nodes * (nodes - 1) / 2; edges > pairs {
		return fmt.Errorf("%.0f are more than the %.0f pairs of %.0f nodes; give 1 to %.0f", edges, pairs, nodes, pairs)
	}
	return nil
}
