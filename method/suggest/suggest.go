// Package suggest selects the nodes to label next: those whose labels are expected to add most
// information to the existing labels and to each other, see [Nodes].
package suggest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Suggestion is a node whose label would teach much.
type Suggestion struct {
	Row           int
	Teaches       float64 // expected information gain of the label given those before it, as a share of that of all labels
	Class, Second int     // the likeliest classes
	Doubt         float64 // one less the probability of Class
	Reached       bool    // by a walk from a label
	Drawn         bool    // at random, in place of the most informative of some nodes
}

// GainColumn is the title of the expected information gain. A table of labels with this column has labels that
// were chosen by it.
const GainColumn = "information_gain"

// Titles are those of the columns of a table of suggestions.
var Titles = []string{"node", GainColumn, "label", "probability", "reason"}

// Cells returns the cells of a suggestion behind the node, given the names of the classes.
func (s *Suggestion) Cells(classes []string) []string {
	return []string{fmt.Sprintf("%.4g", s.Teaches), classes[s.Class],
		fmt.Sprintf("%.3f", 1-s.Doubt), s.reason(classes)}
}

// reason says in words why a label of the node would teach, given the names of the
// classes.
func (s *Suggestion) reason(classes []string) string {
	switch {
	case !s.Reached:
		return "no label reaches it"
	case s.Drawn:
		return "drawn at random"
	case s.Doubt < 0.25:
		return "near many that are undecided"
	}
	return fmt.Sprintf("undecided between %s and %s, as are others near it",
		classes[s.Class], classes[s.Second])
}

// draws is the number of nodes of which a suggestion is the most informative one.
const draws = 4

// noise is the variance of a label in addition to that of the process, whose mean over nodes is
// less than 1.
const noise = 0.05

// reach is γ·d̄ of the covariance (I + γL)⁻¹, d̄ the mean degree.
const reach = 10

// Nodes returns count unlabelled nodes, in falling order of expected information, for a
// prediction made from the labels of p. Classes are modelled by a Gaussian process f with the
// covariance K = (I + γL)⁻¹, of which labels are noisy values. Node i has the weight w_i, one
// less the probability of its class. Each suggestion is the v with the largest decrease of the
// variance of Σ_i w_i·f_i,
//
//	(Σ_i w_i·cov(f_i, f_v))² / (var f_v + noise)
//
// given the labels and the suggestions before it, so that a batch has no redundant nodes. It is
// Σ-optimality (Ma, Garnett and Schneider 2013, equation 6) with the nodes weighted by doubt.
//
// Among all nodes such a criterion selects hubs of a few regions and classes, whose labels mislead a model. So each suggestion
// is the best of a few nodes that are drawn for it alone. Where neighbours have different classes, labels of hubs mislead even so:
// unless areAlike, which says that neighbours mostly have the same class, suggestions are drawn at random. If all nodes are
// labelled, the result is empty.
//
// With targets, which are rows, other nodes have no weight and are no candidates. Edges have no direction
// here. Cost: a solve with a column for each candidate.
func Nodes(ctx context.Context, p *problem.Problem, out *method.Prediction,
	count int, targets []int, areAlike bool, s *method.Settings) ([]Suggestion, error) {
	set := s.WithDefaults()
	if p.Directed {
		_, set.Memory = p.ArcsBytes(set.Memory)
		var err error
		if p, _, err = p.WithoutDirections(ctx, set.Workers, new(graph.Work)); err != nil {
			return nil, err
		}
	}
	c, err := given(ctx, p, set.Workers)
	if err != nil {
		return nil, err
	}
	var width int
	width, c.Memory = widthOf(p, count, set.Memory)
	n := len(p.Degrees)
	doubt := sparse.NewBlock[float64](n, 1)
	cov := sparse.NewBlock[float64](n, 1)
	free := problem.ListUnlabelled(p, targets)
	if len(free) == 0 {
		return nil, nil
	}
	for _, i := range free {
		_, _, doubt.Row(i)[0] = likeliest(out.Scores.Row(i))
	}
	if err := timesTo(ctx, c, cov, doubt); err != nil {
		return nil, err
	}
	total := 0.0
	for i := range n {
		total += doubt.Row(i)[0] * cov.Row(i)[0]
	}
	candidates := 1
	if areAlike {
		candidates = draws
	}
	nodes, suggestion := drawCandidates(free, count, candidates, set.RNGSeed)
	gram, err := between(ctx, c, nodes, width)
	if err != nil {
		return nil, err
	}
	cross := make([]float64, len(nodes)) // the covariance of each with Σ_i w_i·f_i
	for a, i := range nodes {
		cross[a] = cov.Row(i)[0]
	}
	var list []Suggestion
	chosen, gains := chooseJointly(gram, cross, suggestion)
	for k, a := range chosen {
		one := Suggestion{Row: nodes[a], Reached: out.Reached.Contains(uint32(nodes[a])), Drawn: !areAlike}
		if total > 0 {
			one.Teaches = gains[k] / total
		}
		one.Class, one.Second, one.Doubt = likeliest(out.Scores.Row(one.Row))
		list = append(list, one)
	}
	return list, nil
}

// drawCandidates draws from some nodes the candidates of each of count suggestions, width of them if there are enough nodes, and
// returns the number of the suggestion of each.
func drawCandidates(free []int, count, width int, seed uint64) (nodes, suggestion []int) {
	nodes = slices.Clone(free)
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	count = min(count, len(nodes))
	nodes = nodes[:min(count*width, len(nodes))]
	for i := range nodes {
		suggestion = append(suggestion, i*count/len(nodes))
	}
	return nodes, suggestion
}

// chooseJointly returns the position of a candidate of each suggestion and its gain, each given the labels of those before it,
// from the covariances of the nodes with each other and with Σ_i w_i·f_i, which it overwrites.
func chooseJointly(gram *mat.SymDense, cross []float64, suggestion []int) (chosen []int, gains []float64) {
	isMade := make([]bool, suggestion[len(suggestion)-1]+1)
	for range isMade {
		best := -1
		highest := -1.0
		for a := range cross {
			if gain := cross[a] * cross[a] / (gram.At(a, a) + noise); !isMade[suggestion[a]] && gain > highest {
				best = a
				highest = gain
			}
		}
		isMade[suggestion[best]] = true
		chosen = append(chosen, best)
		gains = append(gains, highest)
		// given the label
		row := mat.Row(nil, best, gram)
		scale := -1 / (gram.At(best, best) + noise)
		floats.AddScaled(cross, scale*cross[best], row)
		gram.SymRankOne(gram, scale, mat.NewVecDense(len(row), row))
	}
	return chosen, gains
}

// given returns the system whose inverse is the covariance given the labels of p, (K⁻¹ + E/noise)⁻¹ where E is 1 on the
// diagonal at labels: I + γL + E/noise.
func given(ctx context.Context, p *problem.Problem,
	workers int) (*iterative.System, error) {
	g, err := p.Whole(ctx, workers, new(graph.Work))
	if err != nil {
		return nil, err
	}
	s := &iterative.System{Graph: g,
		Edge:   reach / kernel.OnDegrees(p.Degrees).MeanDegree(),
		Ground: slices.Repeat([]float64{1}, len(p.Degrees)), Least: 1}
	for _, row := range p.Row {
		s.Ground[row] = 1 + 1/noise
	}
	return s, nil
}

// timesTo stores the product of the covariance and x in dst.
func timesTo(ctx context.Context, c *iterative.System,
	dst, x *sparse.Block[float64]) error {
	_, err := c.SolveTo(ctx, dst, x, &iterative.Settings{Tolerance: 1e-6})
	if errors.Is(err, iterative.ErrStagnation) {
		return nil // it is as near as rounding lets it come
	}
	return err
}

// between returns the covariances of some nodes, from width columns at a time.
func between(ctx context.Context, c *iterative.System, nodes []int,
	width int) (*mat.SymDense, error) {
	n := len(c.Ground)
	gram := mat.NewSymDense(len(nodes), nil)
	for lo := 0; lo < len(nodes); lo += width {
		columns := nodes[lo:min(len(nodes), lo+width)]
		x, y := sparse.NewBlock[float64](n, len(columns)),
			sparse.NewBlock[float64](n, len(columns))
		for j, row := range columns {
			x.Row(row)[j] = 1
		}
		if err := timesTo(ctx, c, y, x); err != nil {
			return nil, err
		}
		for j := range columns {
			for i := range lo + j + 1 {
				gram.SetSym(i, lo+j, y.Row(nodes[i])[j])
			}
		}
	}
	return gram, nil
}

// mostWidth bounds the columns that are solved together where memory does not.
const mostWidth = 32

// widthOf returns the number of columns that are solved together within a limit, 0 for none,
// and the memory that is left for a factor.
func widthOf(p *problem.Problem, count int, limit int64) (width int, left int64) {
	width = budget.Widest(mostWidth, limit,
		func(width int) int64 { return blockBytes(p, count, width) })
	return width, budget.Subtract(limit, blockBytes(p, count, width))
}

// blockBytes is the memory of [Nodes] without a factor, with the given number of columns
// together.
func blockBytes(p *problem.Problem, count, width int) int64 {
	const vectors = 8 + 6 // of the graph, its components and its system; doubts and order of nodes
	n := len(p.Degrees)
	nodes := int64(min(n, draws*count))
	return 8*nodes*nodes + vectors*8*int64(n) +
		2*budget.Block[float64](n, width) + iterative.HarmonicBytes(p.Graph, width)
}

// Bytes is the memory of [Nodes] without the prediction, within a limit, 0 for none.
func Bytes(p *problem.Problem, count int, limit int64) (bytes int64) {
	entries := p.A.NNZ()
	if p.Directed {
		list, left := p.ArcsBytes(limit)
		bytes = list
		limit = left
		entries *= 2
	}
	width, left := widthOf(p, count, limit)
	return bytes + blockBytes(p, count, width) +
		iterative.FactorBytes(len(p.Degrees), entries, width, left)
}

// likeliest returns the two classes with the highest scores, and one less the first of
// these.
func likeliest(scores []float32) (first, second int, doubt float64) {
	if len(scores) > 1 {
		second = 1
	}
	for c := 1; c < len(scores); c++ {
		switch {
		case scores[c] > scores[first]:
			first, second = c, first
		case scores[c] > scores[second] || second == first:
			second = c
		}
	}
	return first, second, 1 - float64(scores[first])
}
