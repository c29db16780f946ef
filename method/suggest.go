package method

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Suggestion is a node to label next.
type Suggestion struct {
	Row         int
	Class       int
	Probability float64
	Drawn       bool

	// Covers is the share of all unlabelled nodes, weighted by √degree, that the node covers in addition to labels and earlier
	// suggestions, see [Suggest]. Near is the number of nodes near the node but not near a label or an earlier suggestion,
	// estimated above 16,384 nodes. For a node drawn at random both are 0.
	Covers float64
	Near   int
}

// Strategies of suggestions.
const (
	AutoStrategy   = "auto" // cover if [engine.Baselines.ShowLikeness], otherwise random
	CoverStrategy  = "cover"
	RandomStrategy = "random"
)

// Strategies are the names of the strategies.
var Strategies = []string{AutoStrategy, CoverStrategy, RandomStrategy}

// SuggestionTitles are the columns of a table of suggestions.
var SuggestionTitles = []string{"node", "covers", "label", "probability", "reason"}

// AreSuggested reports whether titles are the titles of a table of suggestions.
func AreSuggested(titles []string) bool {
	return slices.Contains(titles, "covers") && slices.Contains(titles, "reason")
}

// Cells returns the cells of s in a table with the columns [SuggestionTitles], without the first cell. classes are the names
// of the classes.
func (s *Suggestion) Cells(classes []string) []string {
	covers := fmt.Sprintf("%.4g", s.Covers)
	reason := fmt.Sprintf("near %s that no label is near", words.Counted(s.Near, "node"))
	switch {
	case s.Drawn:
		covers = ""
		reason = "drawn at random"
	case s.Near == 0:
		reason = "near nodes that a label is near"
	}
	return []string{covers, classes[s.Class], fmt.Sprintf("%.3f", s.Probability), reason}
}

const (
	heatTime  = 2 // β
	heatTerms = 6
	nearHeat  = 0.1 // nodes at least as similar are near

	coverCandidates = 300
	sampledNodes    = 1 << 14 // largest number of nodes to cover; of more nodes a sample is covered
	suggestColumns  = 32
)

// Suggest returns at most count unlabelled nodes of q to label next as one batch, given a prediction p from the labels of q.
// If targets is not nil, it returns only rows in targets. It ignores the directions of edges.
//
// If covers is set, up to 300 of the nodes cover the graph, the most useful first. All other nodes are drawn at random. A
// node u covers v by the similarity
//
//	s(v, u) = K(v, u) / max_i K(i, u),  K = exp(−2(I − T)),  T = D⁻¹A
//
// where six terms of the series of K are computed. All labels together cover v by Σ_u K(v, u), divided by its maximum.
// Candidates are drawn with probabilities in proportion to √d_u. Each suggestion is the candidate u that increases Σ_v
// √d_v·max s(v, ·) most, with the maximum over labels and suggestions: the greedy solution of facility location. A cover
// helps only if linked nodes mostly share labels. Cost: five sweeps for each 32 candidates.
func Suggest(ctx context.Context, p *engine.Prediction, q *engine.Problem, count int, targets []int, covers bool, s *engine.Settings) ([]Suggestion, error) {
	set := s.WithDefaults()
	free := problem.ListUnlabelled(q, targets)
	if q.Key != nil {
		slices.SortStableFunc(free, func(a, b int) int { return cmp.Compare(q.Key(a), q.Key(b)) })
	}
	rng := rand.New(rand.NewPCG(set.RNGSeed, 0))
	var list []Suggestion
	if covers {
		set.Memory = budget.Subtract(set.Memory, budget.AllOf(q.ArcsBytes(), 21*int64(q.Rows()), budget.Block[float32](q.Rows(), len(q.Names))))
		if q.Directed {
			var err error
			if q, _, err = q.WithoutDirections(ctx, set.Workers, new(graph.Work)); err != nil {
				return nil, err
			}
		}
		var err error
		if list, err = coverNodes(ctx, q, free, count, rng, &set); err != nil {
			return nil, err
		}
	}
	isTaken := map[int]bool{}
	for _, suggestion := range list {
		isTaken[suggestion.Row] = true
	}
	weight := func(row int) float64 {
		if isTaken[row] {
			return 0
		}
		return 1
	}
	for _, row := range drawNodes(free, count-len(list), weight, rng) {
		list = append(list, Suggestion{Row: row, Drawn: true})
	}
	for i := range list {
		scores := p.Scores.Row(list[i].Row)
		probability := slices.Max(scores)
		list[i].Class = slices.Index(scores, probability)
		list[i].Probability = float64(probability)
	}
	return list, nil
}

// drawNodes draws up to count of nodes without replacement, in proportion to their weights: the first arrivals of
// exponential clocks.
func drawNodes(nodes []int, count int, weight func(node int) float64, rng *rand.Rand) (drawn []int) {
	type arrival struct {
		time float64
		node int
	}
	var first []arrival
	for _, node := range nodes {
		if w := weight(node); w > 0 {
			first = sched.KeepFirst(first, arrival{rng.ExpFloat64() / w, node}, count,
				func(a, b arrival) int { return cmp.Compare(a.time, b.time) })
		}
	}
	for _, a := range first {
		drawn = append(drawn, a.node)
	}
	return drawn
}

func coverNodes(ctx context.Context, p *engine.Problem, free []int, count int, rng *rand.Rand, s *engine.Settings) ([]Suggestion, error) {
	weight := func(node int) float64 { return math.Sqrt(max(0, p.Degrees[node])) }
	candidates := drawNodes(free, coverCandidates, weight, rng)
	rows := free
	if len(free) > sampledNodes {
		rows = drawNodes(free, sampledNodes, func(int) float64 { return 1 }, rng)
	}
	sources := [][]int{p.Row}
	for _, node := range candidates {
		sources = append(sources, []int{node})
	}
	similarity, err := heatSimilarity(ctx, p, sources, rows, s)
	if err != nil {
		return nil, err
	}
	covered, similarity := similarity[0], similarity[1:]
	weights := make([]float64, len(rows))
	for i, row := range rows {
		weights[i] = weight(row)
	}
	total := floats.Sum(weights)
	gain := func(column []float32) (sum float64) {
		for i, x := range column {
			if x > covered[i] {
				sum += weights[i] * float64(x-covered[i])
			}
		}
		return sum
	}
	bound := slices.Repeat([]float64{math.Inf(1)}, len(candidates)) // bounds of the gains, which decrease
	var list []Suggestion
	for len(list) < min(count, len(candidates)) {
		isExact := make([]bool, len(candidates))
		best := floats.MaxIdx(bound)
		for !isExact[best] {
			bound[best] = gain(similarity[best])
			isExact[best] = true
			best = floats.MaxIdx(bound)
		}
		near := 0
		for i, x := range similarity[best] {
			if x >= nearHeat && covered[i] < nearHeat {
				near++
			}
			covered[i] = max(covered[i], x)
		}
		list = append(list, Suggestion{Row: candidates[best], Covers: bound[best] / total,
			Near: near * len(free) / len(rows)})
		bound[best] = -1
	}
	return list, nil
}

// heatSimilarity returns for each set of source nodes, sources[i], the sum of their columns of the heat kernel at the given
// rows. It divides each sum by its maximum over all nodes.
func heatSimilarity(ctx context.Context, p *engine.Problem, sources [][]int, rows []int, s *engine.Settings) (list [][]float32, err error) {
	n := len(p.Degrees)
	op := sparse.NewOperator[float32](sparse.Transition, p.A, p.Degrees)
	op.Workers = s.Workers
	width := min(SuggestWorkspace(p).Width(s.Memory), len(sources))
	term := sparse.NewBlock[float32](n, width)
	next := sparse.NewBlock[float32](n, width)
	sum := sparse.NewBlock[float32](n, width)
	for batch := range slices.Chunk(sources, width) {
		clear(term.Data)
		clear(sum.Data)
		for j, nodes := range batch {
			for _, v := range nodes {
				term.Row(v)[j] = 1
				sum.Row(v)[j] = 1
			}
		}
		for k := 1; k < heatTerms; k++ {
			err := op.StepTo(ctx, next, term, sparse.Step[float32]{Alpha: heatTime / float64(k), Visit: func(r sparse.Rows) {
				for v := r.Lo; v < r.Hi; v++ {
					dst := sum.Row(v)
					for j, x := range next.Row(v) {
						dst[j] += x
					}
				}
			}})
			if err != nil {
				return nil, err
			}
			term, next = next, term
		}
		largest := slices.Repeat([]float32{math.SmallestNonzeroFloat32}, width)
		for v := range n {
			for j, x := range sum.Row(v) {
				largest[j] = max(largest[j], x)
			}
		}
		for j, scale := range largest[:len(batch)] {
			column := make([]float32, len(rows))
			for i, row := range rows {
				column[i] = sum.Row(row)[j] / scale
			}
			list = append(list, column)
		}
		s.Progress("suggest", int64(len(list)), int64(len(sources)))
	}
	return list, nil
}

// SuggestWorkspace declares the memory of [Suggest]. The prediction is not counted.
func SuggestWorkspace(p *engine.Problem) budget.Workspace {
	n := len(p.Degrees)
	return budget.Slabs[float32](3, n, suggestColumns).And(
		budget.Held(p.ArcsBytes(), 4*(coverCandidates+1)*int64(min(n, sampledNodes)), 5*8*int64(n)))
}
