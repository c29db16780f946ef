// Package suggest tells which nodes to label next: those whose labels would teach most
// beside the labels there are and each other, see [Nodes].
package suggest

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// Suggestion is a node whose label would teach much.
type Suggestion struct {
	Row           int
	Teaches       float64 // share of what all labels together could teach that this one does, beside those before it
	Class, Second int     // the likeliest classes
	Doubt         float64 // one less the probability of Class
	Reached       bool    // by a walk from a label
}

// WriteTo writes a line for each suggestion, the most telling first, given the names of
// nodes and of the classes.
func WriteTo(w io.Writer, list []Suggestion, id func(row int) string, classes []string) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "node\tteaches\tlabel\tprobability\treason")
	for i := range list {
		s := &list[i]
		fmt.Fprintf(out, "%s\t%.4g\t%s\t%.3f\t%s\n", id(s.Row), s.Teaches, classes[s.Class], 1-s.Doubt, s.reason(classes))
	}
	return out.Flush()
}

// reason says in words why a label of the node would teach, given the names of the
// classes.
func (s *Suggestion) reason(classes []string) string {
	switch {
	case !s.Reached:
		return "no label reaches it"
	case s.Doubt < 0.25:
		return "near many that are undecided"
	}
	return fmt.Sprintf("undecided between %s and %s, and near others that are", classes[s.Class], classes[s.Second])
}

// The candidates are so many nodes and so many for each suggestion, and labels of which
// it is known what they have taught are a sample.
const (
	candidates = 600
	each       = 4
	labels     = 3000
)

// noise is the variance of a label beside that of the process, whose mean over
// nodes is less than 1.
const noise = 0.05

// reach is γ·d̄ of the covariance (I + γL)⁻¹, d̄ the mean degree.
const reach = 10

// Nodes returns so many unlabelled nodes, the first ones teaching most, for a
// prediction made from the labels of p. What classes have at nodes is seen as a Gaussian
// process f with the covariance K = (I + γL)⁻¹, of which labels are noisy values, and
// node i counts with w_i, one less the probability of its class. Each suggestion is the v
// with the largest decrease of the variance of Σ_i w_i·f_i,
//
//	(Σ_i w_i·cov(f_i, f_v))² / (var f_v + noise)
//
// given the labels and the suggestions before it, so that a batch does not say the same
// thing twice. It is Σ-optimality (Ma, Garnett and Schneider 2013, equation 6) with the
// nodes weighted by doubt, and as all such choices worse than chance where neighbours are of
// different classes, see bench/results. Looked at are the nodes for which the numerator is largest.
//
// Cost: the kernel between labels and candidates.
func Nodes(ctx context.Context, p *problem.Problem, out *method.Prediction, count int, s *method.Settings) ([]Suggestion, error) {
	set := s.WithDefaults()
	if p.Directed {
		return nil, &problem.Error{Method: "a choice of nodes to label next", Err: problem.ErrDirected}
	}
	on, err := graph.New(ctx, p.A, &graph.Settings{Components: p.Parts, Workers: set.Workers})
	if err != nil {
		return nil, err
	}
	name, par := covariance(p)
	k, err := kernel.New(ctx, on, name, par)
	if err != nil {
		return nil, err
	}
	n := len(p.Degrees)
	doubt, cov := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
	labelled := make([]bool, n)
	for _, row := range p.Row {
		labelled[row] = true
	}
	total := 0.0
	for i := range n {
		if !labelled[i] {
			_, _, doubt.Row(i)[0] = likeliest(out.Scores.Row(i))
		}
	}
	settings := &kernel.Settings{Memory: set.Memory, Tolerance: 1e-6, Lenient: true}
	if _, err := k.ApplyTo(ctx, cov, doubt, settings); err != nil {
		return nil, err
	}
	for i := range n {
		total += doubt.Row(i)[0] * cov.Row(i)[0]
	}
	var free []int
	for i := range n {
		if !labelled[i] {
			free = append(free, i)
		}
	}
	slices.SortStableFunc(free, func(a, b int) int { return cmp.Compare(cov.Row(b)[0], cov.Row(a)[0]) })
	free = free[:min(len(free), candidates+each*count)]
	var nodes []int
	for _, at := range validate.Sample(p.Class, labels, set.RNGSeed, 0) {
		nodes = append(nodes, p.Row[at])
	}
	known := len(nodes)
	nodes = append(nodes, free...)
	gram, _, err := kernel.Matrix(ctx, k, nodes, nodes, settings)
	if err != nil {
		return nil, err
	}
	with := make([]float64, len(nodes)) // the covariance of each with Σ_i w_i·f_i
	for a, i := range nodes {
		with[a] = cov.Row(i)[0]
	}
	for a := range known {
		total -= condition(gram, with, a)
	}
	var list []Suggestion
	taken := make([]bool, len(nodes))
	for range min(count, len(free)) {
		best, most := -1, -1.0
		for a := known; a < len(nodes); a++ {
			if gain := with[a] * with[a] / (gram.Row(a)[a] + noise); !taken[a] && gain > most {
				best, most = a, gain
			}
		}
		taken[best] = true
		condition(gram, with, best)
		one := Suggestion{Row: nodes[best], Reached: out.Reached.Contains(uint32(nodes[best]))}
		if total > 0 {
			one.Teaches = most / total
		}
		one.Class, one.Second, one.Doubt = likeliest(out.Scores.Row(one.Row))
		list = append(list, one)
	}
	return list, nil
}

// Memory lists what [Nodes] takes beside the prediction, within a limit, 0 for
// none. The error is one of memory.
func Memory(p *problem.Problem, count int, limit int64) ([]spec.Bytes, error) {
	n := len(p.Degrees)
	nodes := min(n, min(len(p.Row), labels)+min(n, candidates+each*count))
	rows := make([]int, nodes)
	for i := range rows {
		rows[i] = i
	}
	name, par := covariance(p)
	f := kernel.Families().Named(name)
	v, err := f.Resolve(par, kernel.OnDegrees(p.Degrees))
	if err != nil {
		return nil, err
	}
	return append([]spec.Bytes{
		{What: "covariances of suggestions", Bytes: 8 * int64(nodes) * int64(nodes)},
		// Eight vectors are a graph with its components and its system.
		{What: "doubts and order of nodes", Bytes: (8 + 6) * 8 * int64(n)},
	}, f.Memory(v, p.Degrees, p.A.NNZ(), rows, rows, limit)...), nil
}

// covariance returns the kernel that is it, and its parameters.
func covariance(p *problem.Problem) (string, spec.Values) {
	return "regularized-laplacian", spec.Values{
		"laplacian": spec.Of("combinatorial"), "alpha": spec.Of(reach / kernel.OnDegrees(p.Degrees).MeanDegree()),
	}
}

// condition takes from covariances what a label of node a tells, and returns by how much
// the variance decreases.
func condition(gram *sparse.Block[float64], with []float64, a int) float64 {
	row := slices.Clone(gram.Row(a))
	scale := 1 / (row[a] + noise)
	told := with[a]
	for b := range gram.Rows {
		share := row[b] * scale
		if share == 0 {
			continue
		}
		with[b] -= share * told
		to := gram.Row(b)
		for c, x := range row {
			to[c] -= share * x
		}
	}
	return told * told * scale
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
