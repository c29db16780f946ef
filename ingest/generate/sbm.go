package generate

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
)

// blockModel is a degree-corrected stochastic block model. Its defaults are the benchmark of this project:
// 100,000 nodes and 374,480 edges in 5 classes, the largest with half of the nodes, and almost no edge within
// a class.
//
// An edge starts at a random node, drawn by weight. With probability noise its other end is any node.
// Otherwise it is, with probability homophily, a node of the same class, and else a node of the next class
// (the first class follows the last). The weights of nodes follow a power law. If there are enough edges,
// every node has an edge. (Karrer and Newman, Stochastic blockmodels and community structure in networks,
// 2011.)
var blockModel = &Model{
	Spec: param.Spec{Name: "sbm", Title: "A block model: classes, and edges that depend on them", Works: param.Undirected, Params: []param.Param{
		wholeNumber("nodes", "nodes", fewNodes, 100_000),
		withCheck(wholeNumber("classes",
			"classes; the first holds half of the nodes, the next a quarter and so on, the last two as many", between(1, mostClasses), 5), checkClasses),
		{Name: "homophily", Symbol: "homophily",
			Meaning: "1 links a class to itself, 0 to the next one",
			Range:   between(0, 1)},
		share("noise", "share of edges that do not depend on the classes", 0.2),
		{Name: "exponent", Symbol: "exponent",
			Meaning: "of the power law of degrees", Range: param.Above(2),
			Default: param.Of(2.5)},
		{Name: "edges", Symbol: "edges", Meaning: "distinct edges, none from a node to itself; auto: 3.7448 for each node", Kind: param.Whole,
			Words: []string{"auto"}, Range: param.From(1), Default: param.Of("auto"),
			Check: func(v param.Values) error {
				if v["edges"] == param.Of("auto") {
					return nil
				}
				return checkEdges(v.Number("edges"), newBlockModel(v, draws{}).mostEdges())
			}},
	}},
	HasClasses: true,
	graph:      func(v param.Values, d draws) Graph { return newBlockModel(v, d) },
}

func newBlockModel(v param.Values, d draws) sbm {
	g := sbm{
		nodes: v.Int("nodes"), first: halve(v.Int("nodes"), v.Int("classes")), draws: d,
		homophily: v.Number("homophily"), noise: v.Number("noise"),
		exponent: v.Number("exponent"),
	}
	if v["edges"] == param.Of("auto") {
		g.edges = min(int(math.Round(3.7448*float64(g.nodes))), g.mostEdges())
	} else {
		g.edges = v.Int("edges")
	}
	return g
}

// mostClasses is a limit for which the share of the smallest class, 2^-1023, is above zero.
const mostClasses = 1 << 10

func checkClasses(v param.Values) error {
	if v.Int("classes") > v.Int("nodes") {
		return fmt.Errorf("%d for %d nodes; give as many at the most",
			v.Int("classes"), v.Int("nodes"))
	}
	return nil
}

type sbm struct {
	nodes, edges               int
	first                      []int // the first place of each class; finally the number of nodes
	homophily, noise, exponent float64
	isUniform                  bool // nodes have no labels, and may have no edge
	draws
}

func (g sbm) Size() Size {
	// Places, nodes and counts; or places and the order and choice of labels.
	return sizeOf(int64(g.nodes), int64(g.edges), 12*int64(g.nodes)+8*blockLines*longestEdge*int64(g.workers))
}

func (g sbm) classes() int { return len(g.first) - 1 }

func (g sbm) size(class int) int { return g.first[class+1] - g.first[class] }

func (g sbm) classAt(place int) int {
	class, isFirst := slices.BinarySearch(g.first, place)
	if !isFirst {
		class--
	}
	return class
}

// halve returns the first place of each class, and then the number of nodes. Each class has half as many
// nodes as the class before, and at least one.
func halve(nodes, classes int) []int {
	first := []int{0}
	share := 1.0
	sum := 0.0
	for c := range classes {
		if c < classes-1 {
			share /= 2
		}
		sum += share
		end := max(int(math.Round(sum*float64(nodes))), first[c]+1)
		first = append(first, min(end, nodes-(classes-1-c)))
	}
	return first
}

// neighbours returns the classes that have edges with a class in either direction if there is no noise.
func (g sbm) neighbours(class int) []int {
	var list []int
	for _, d := range []int{class, (class + 1) % g.classes(), (class + g.classes() - 1) % g.classes()} {
		if g.affinity(class, d) > 0 && !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

// affinity returns W_d·[m(c,d)/W_d + m(d,c)/W_c] if there is no noise, see [blocks].
func (g sbm) affinity(c, d int) float64 {
	other := (1 - g.noise) * (1 - g.homophily)
	sum := 0.0
	if d == c {
		sum = 2 * (1 - g.noise) * g.homophily
	}
	if d == (c+1)%g.classes() {
		sum += other
	}
	if c == (d+1)%g.classes() {
		sum += other * float64(g.size(d)) / float64(g.size(c))
	}
	return sum
}

// mostEdges returns the number of pairs of nodes that can be edges.
func (g sbm) mostEdges() int {
	if g.noise > 0 {
		return pairsOf(g.nodes)
	}
	pairs := 0
	for c := range g.classes() {
		for _, d := range g.neighbours(c) {
			switch {
			case d == c:
				pairs += pairsOf(g.size(c))
			case d < c:
				pairs += g.size(c) * g.size(d)
			}
		}
	}
	return pairs
}

func pairsOf(n int) int {
	return n / 2 * (n - 1 + n%2)
}

// places returns the place of each node. Places are in the order of the classes.
func (g sbm) places(ctx context.Context) ([]uint32, error) {
	return permutation(ctx, source(g.rngSeed, classStream), g.nodes)
}

// permutation returns the numbers below n in random order. The error is the error of the context.
func permutation(ctx context.Context, r *rand.Rand, n int) ([]uint32, error) {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	for i := n - 1; i > 0; i-- {
		if err := checkContext(ctx, i); err != nil {
			return nil, err
		}
		j := r.Uint64N(uint64(i + 1))
		list[i], list[j] = list[j], list[i]
	}
	return list, nil
}

// checkContext returns the error of the context if i is a multiple of 2^14, and nil otherwise.
func checkContext(ctx context.Context, i int) error {
	if i%(1<<14) != 0 {
		return nil
	}
	return sched.Cause(ctx)
}

const badShare = "generate: share of the labels not above 0, at most 1"

func (g sbm) LabelsTo(ctx context.Context, w io.Writer, share float64) error {
	if !(share > 0 && share <= 1) {
		panic(badShare)
	}
	if g.isUniform {
		return nil
	}
	place, err := g.places(ctx)
	if err != nil {
		return err
	}
	order, err := permutation(ctx, source(g.rngSeed, labelStream), g.nodes)
	if err != nil {
		return err
	}
	chosen := make([]bool, g.nodes)
	hasLabel := make([]bool, g.classes())
	count := int(math.Ceil(share * float64(g.nodes)))
	for i, node := range order {
		if class := g.classAt(int(place[node])); i < count || !hasLabel[class] {
			chosen[node] = true
			hasLabel[class] = true
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
			line = strconv.AppendInt(append(line, "\tc"...), int64(g.classAt(int(place[node]))), 10)
			_, _ = out.Write(append(line, '\n')) // Flush returns the error
		}
	}
	return out.Flush()
}
