package generate

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/heatwalk/heatwalk/param"
)

// blockModel is a degree-corrected stochastic block model. Its defaults are the benchmark of
// this project: 100,000 nodes and 374,480 edges in 5 classes, the largest with half of the
// nodes, and almost no edge within a class.
//
// An edge starts at a random node, drawn by weight. With probability noise its other end is any
// node, else with probability homophily a node of the same class, and else a node of the next
// class (the first class follows the last). The weights of nodes follow a power law. Every node
// has an edge if there are enough edges. (Karrer and Newman, Stochastic blockmodels and
// community structure in networks, 2011.)
var blockModel = &Model{
	Spec: param.Spec{Name: "sbm", Title: "A block model: classes, and edges that depend on them", Works: param.Undirected, Params: []param.Param{
		wholeNumber("nodes", "nodes", fewNodes, 100_000),
		{Name: "edges", Symbol: "edges", Meaning: "expected number of distinct edges, none from a node to itself; auto: 3.7448 for each node", Kind: param.Whole,
			Words: []string{"auto"}, Range: param.From(1),
			Default: param.Of("auto"),
			Check: func(v param.Values) error {
				if v["edges"] == param.Of("auto") {
					return nil
				}
				return checkPairs(v.Number("edges"), v.Number("nodes"))
			}},
		withCheck(wholeNumber("classes",
			"classes; the first holds half of the nodes, the next a quarter and so on, the last two as many", between(1, mostClasses), 5), checkClasses),
		{Name: "homophily", Symbol: "homophily",
			Meaning: "1 links a class to itself, 0 to the next one",
			Range:   between(0, 1)},
		share("noise", "share of edges that do not depend on the classes", 0.2),
		{Name: "exponent", Symbol: "exponent",
			Meaning: "of the power law of degrees", Range: param.Above(2),
			Default: param.Of(2.5)},
	}},
	HasClasses: true,
	graph: func(v param.Values, d draws) Graph {
		g := sbm{
			nodes: v.Int("nodes"), shares: halves(v.Int("classes")), draws: d,
			homophily: v.Number("homophily"), noise: v.Number("noise"),
			exponent: v.Number("exponent"),
		}
		if n := float64(g.nodes); v["edges"] == param.Of("auto") {
			g.edges = int(min(math.Round(3.7448*n), n*(n-1)/2))
		} else {
			g.edges = v.Int("edges")
		}
		return g
	},
}

// mostClasses keeps the share of the smallest class, 2^-1023, above zero, so that no class is empty.
const mostClasses = 1 << 10

// checkClasses returns an error if there are more classes than nodes.
func checkClasses(v param.Values) error {
	if v.Int("classes") > v.Int("nodes") {
		return fmt.Errorf("%d for %d nodes; give as many at the most",
			v.Int("classes"), v.Int("nodes"))
	}
	return nil
}

type sbm struct {
	nodes, edges               int
	shares                     []float64 // share of the nodes in each class
	homophily, noise, exponent float64
	draws
}

// Size implements [Graph].
func (g sbm) Size() Size {
	return sizeOf(int64(g.nodes), mostEdges(g.edges, g.nodes),
		(2+4+12+4+12)*int64(g.nodes)+ // class, weight, entry and partner of each node, and the weights and lists of the largest class
			8*blockLines*longestEdge*int64(g.workers), false)
}

// halves returns shares of classes of which each has half of the nodes of the class before.
func halves(classes int) []float64 {
	list := make([]float64, classes)
	share := 1.0
	for c := range list {
		if c < classes-1 {
			share /= 2
		}
		list[c] = share
	}
	return list
}

// drawClasses returns the class of each node: exact shares in random order, with at least one
// node for each class. The error is that of the context.
func (g sbm) drawClasses(ctx context.Context) ([]uint16, error) {
	class := make([]uint16, 0, g.nodes)
	var sum float64 // cumulative share
	for c, share := range g.shares {
		sum += share
		end := max(int(math.Round(sum*float64(g.nodes))), len(class)+1)
		later := len(g.shares) - 1 - c // later classes need a node each
		for end = min(end, g.nodes-later); len(class) < end; {
			class = append(class, uint16(c))
		}
	}
	return class, shuffle(ctx, source(g.rngSeed, classStream), class)
}

// shuffle permutes a list at random. The error is that of the context.
func shuffle[T any](ctx context.Context, r *rand.Rand, list []T) error {
	for i := len(list) - 1; i > 0; i-- {
		if err := checkContext(ctx, i); err != nil {
			return err
		}
		j := r.Uint64N(uint64(i + 1))
		list[i], list[j] = list[j], list[i]
	}
	return nil
}

// checkContext returns the error of the context every few thousand steps; i counts the steps.
func checkContext(ctx context.Context, i int) error {
	if i%(1<<14) != 0 {
		return nil
	}
	return ctx.Err()
}

const badShare = "generate: share of the labels not above 0, at most 1"

// LabelsTo implements [Graph].
func (g sbm) LabelsTo(ctx context.Context, w io.Writer, share float64) error {
	class, err := g.drawClasses(ctx)
	if err != nil {
		return err
	}
	if !(share > 0 && share <= 1) {
		panic(badShare)
	}
	order := make([]uint32, len(class))
	for i := range order {
		order[i] = uint32(i)
	}
	if err := shuffle(ctx, source(g.rngSeed, labelStream), order); err != nil {
		return err
	}
	chosen := make([]bool, len(class))
	hasLabel := make([]bool, len(g.shares))
	count := int(math.Ceil(share * float64(len(class))))
	for i, node := range order {
		if i < count || !hasLabel[class[node]] {
			chosen[node] = true
			hasLabel[class[node]] = true
		}
	}
	out := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	for node, isChosen := range chosen {
		if err := checkContext(ctx, node); err != nil {
			return err
		}
		if isChosen {
			line = strconv.AppendInt(line[:0], int64(node), 10)
			line = strconv.AppendInt(append(line, "\tc"...), int64(class[node]), 10)
			_, _ = out.Write(append(line, '\n')) // Flush returns the error
		}
	}
	return out.Flush()
}
