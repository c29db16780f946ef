package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/param"
)

// Model is a model of random graphs.
type Model struct {
	param.Spec
	HasClasses bool // the nodes of its graphs have classes

	graph func(v param.Values, d draws) Graph
}

type draws struct {
	rngSeed uint64
	workers int // at least 1; the graph does not depend on it
}

// Models returns all models.
func Models() []*Model {
	return []*Model{blockModel, recursiveMatrix, uniform, lattice}
}

// Graph is a graph whose nodes are the numbers from 0.
type Graph interface {
	Size() Size

	// EdgesTo writes a line u<TAB>v for each edge.
	EdgesTo(ctx context.Context, w io.Writer) error

	// LabelsTo writes a line node<TAB>class for a random share of the nodes, 0 < share ≤ 1, in increasing
	// order. It includes at least one node of every class, so that all classes can be learned. Classes are
	// named c0, c1 and so on. For a model without classes it writes nothing.
	LabelsTo(ctx context.Context, w io.Writer, share float64) error
}

type noClasses struct{}

func (noClasses) LabelsTo(context.Context, io.Writer, float64) error {
	return nil
}

// Size holds upper bounds of the size of a graph and of the memory of its generator.
type Size struct {
	Nodes int64
	Lines int64 // number of lines, one for each edge
	Bytes int64 // memory of the generator
	Text  int64 // bytes of the text of the edges
}

func sizeOf(nodes, lines, bytes int64) Size {
	digits := len(strconv.FormatInt(max(nodes-1, 1), 10))
	return Size{Nodes: nodes, Lines: lines, Bytes: bytes,
		Text: lines * 2 * int64(digits+1)}
}

// New returns the graph of a model with the given values. Missing values are defaults. workers is the number
// of goroutines (0: one for each processor). The error is a [*param.ParameterError].
func New(model string, parameters param.Values, rngSeed uint64,
	workers int) (Graph, error) {
	var names []string
	for _, m := range Models() {
		if m.Name != model {
			names = append(names, m.Name)
			continue
		}
		v, err := m.Resolve(parameters, nil)
		if err != nil {
			return nil, err
		}
		if workers <= 0 {
			workers = runtime.GOMAXPROCS(0)
		}
		return m.graph(v, draws{rngSeed, workers}), nil
	}
	return nil, param.Refuse(model, "model", "missing; choose one of %s", strings.Join(names, ", "))
}

// maxNodes is the largest number of nodes in 32 bits.
const maxNodes = 1<<32 - 1

var fewNodes = between(2, maxNodes)

func between(lo, hi float64) param.Range {
	return param.Range{Least: lo, Most: hi}
}

func wholeNumber(name, meaning string, numbers param.Range, usual int) param.Param {
	return param.Param{Name: name, Symbol: name, Meaning: meaning,
		Kind: param.Whole, Range: numbers, Default: param.Of(usual)}
}

func share(name, meaning string, usual float64) param.Param {
	return param.Param{Name: name, Symbol: name, Meaning: meaning,
		Range: between(0, 1), Default: param.Of(usual)}
}

func onOff(name, meaning string) param.Param {
	return param.Param{Name: name, Meaning: meaning, Kind: param.Switch,
		Default: param.Of(false)}
}

func withCheck(p param.Param, check func(v param.Values) error) param.Param {
	p.Check = check
	return p
}

// checkEdges checks that edges is at most most, the number of pairs that can be edges.
func checkEdges(edges float64, most int) error {
	switch {
	case most == 0:
		return errors.New("no two nodes may have an edge; give more nodes or more noise")
	case edges > float64(most):
		return fmt.Errorf("%.0f are more than the %d pairs of nodes that may have an edge; give 1 to %d", edges, most, most)
	}
	return nil
}
