package beliefs

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/sparse"
)

// source is the way in which the ratios of a candidate are found.
type source int

const (
	walks source = iota
	homophilous
	iterated
)

func (s source) String() string { return [...]string{"walks", "homophily", "iterated"}[s] }

// candidate is one setting of the rounds. Reading the beliefs after several rounds costs nothing.
type candidate struct {
	source source
	t      float32
	field  bool
	read   []int // rounds, in increasing order
}

// candidates are those that a greedy choice on 19 graphs ends with, each graph left out in turn.
var candidates = []candidate{
	{walks, 1, true, []int{4, rounds}},
	{homophilous, 1, true, []int{4, rounds}},
	{iterated, 1, true, []int{rounds}},
	{walks, 0.3, true, []int{2, rounds}},
	{homophilous, 1, false, []int{rounds}},
}

const (
	strong       = 0.98 // homophily of candidates
	usual        = 0.9  // homophily of the runs whose beliefs give ratios
	mostEstimate = 64   // classes up to which ratios are estimated: their number is its square
)

// Settings are the settings of [Fit]. Nil means defaults.
type Settings struct {
	// First restricts the candidates to the first one, which costs a fifth.
	First bool

	// Memory is the largest number of bytes of blocks; 0 means no limit. It never changes a result.
	Memory int64

	// Progress, if not nil, is called with the runs that are done.
	Progress func(stage string, done, total int64)
}

// Bytes bounds the memory of [Fit] and of [Model.ProbabilitiesTo] beside the graph, for labels of classes
// on rows nodes.
func Bytes(rows, classes int) int64 {
	return groupBytes(rows, classes) + 12*int64(rows)
}

// Model is a fitted candidate.
type Model struct {
	Source  string  // of the ratios: walks, homophily or iterated
	T       float64 // weight of the evidence of an edge
	Field   bool
	Rounds  int
	Sharpen float64 // power of the beliefs, an inverse temperature
	Blend   float64 // share of the class shares in the probabilities

	Accuracy float64 // share of the held-out labels that are predicted rightly
	LogLoss  float64 // mean −log probability of the held-out labels
	Certain  float64 // mean largest belief of held-out labels, before Sharpen and Blend
	Majority float64 // share of the commonest class of the held-out labels

	HeldOut       []int       // positions in the seeds of the labels that were held out
	Probabilities [][]float32 // of the classes of each of them

	network   *network
	candidate candidate
}

// KnowsItself reports whether a block model explains the graph: with at least 100 labels, the mean largest
// belief is within 0.05 of the accuracy, and the accuracy is at least 0.3 of the way from that of the
// commonest class to 1. Then no other method is likely to be better.
func (m *Model) KnowsItself() bool {
	return len(m.network.seeds.Row) >= 100 && math.Abs(m.Certain-m.Accuracy) <= 0.05 &&
		m.Accuracy-m.Majority >= 0.3*(1-m.Majority)
}

// Fit chooses among the candidates by the labels of the folds: fold[i] ≥ 0 is the fold of seed i, or −1 if
// it is never held out. The graph is undirected. Cost: for each fold about 4 sweeps of C columns, 18 for
// iterated ratios, and 15 for each of five candidates at the most, as many columns at a time as the memory
// allows.
func Fit(ctx context.Context, g *graph.Graph, seeds cwk.Seeds, fold []int, s *Settings) (*Model, error) {
	if s == nil {
		s = &Settings{}
	}
	if need := Bytes(len(g.Degrees), seeds.Classes); s.Memory > 0 && need > s.Memory {
		return nil, fmt.Errorf("%w: beliefs need %s, the limit is %s", budget.ErrMemory, budget.Size(need), budget.Size(s.Memory))
	}
	f := &fitting{network: newNetwork(g, seeds, fold), settings: s, candidates: candidates}
	if s.First {
		f.candidates = candidates[:1]
	}
	if seeds.Classes > mostEstimate {
		f.candidates = slices.DeleteFunc(slices.Clone(candidates), func(c candidate) bool { return c.source != homophilous })
	}
	f.folds = slices.Compact(slices.Sorted(slices.Values(fold)))
	f.folds = slices.DeleteFunc(f.folds, func(k int) bool { return k < 0 })
	for i, k := range fold {
		if k >= 0 {
			f.held = append(f.held, i)
		}
	}
	if err := f.read(ctx); err != nil {
		return nil, err
	}
	return f.best(), nil
}

// fitting is the state of Fit.
type fitting struct {
	*network
	settings   *Settings
	candidates []candidate
	folds      []int
	held       []int           // seeds that some fold holds out
	beliefs    [][][][]float32 // of each candidate, reading and held-out seed
}

// read makes the runs of all candidates without each fold, and keeps the beliefs of the held-out labels.
func (f *fitting) read(ctx context.Context) error {
	var runs []run
	var of []int // the candidate of each run
	for k, c := range f.candidates {
		f.beliefs = append(f.beliefs, make([][][]float32, len(c.read)))
		for r := range c.read {
			f.beliefs[k][r] = make([][]float32, len(f.held))
		}
		made, err := f.runs(ctx, c, f.folds, f.settings.Memory)
		if err != nil {
			return err
		}
		for _, r := range made {
			runs, of = append(runs, r), append(of, k)
		}
	}
	width := f.width(f.settings.Memory)
	for lo := 0; lo < len(runs); lo += width {
		hi := min(lo+width, len(runs))
		q := f.newGroup(runs[lo:hi])
		err := q.run(ctx, rounds, func(round int) {
			for v := lo; v < hi; v++ {
				if r := slices.Index(f.candidates[of[v]].read, round); r >= 0 {
					f.keep(f.beliefs[of[v]][r], q, v-lo)
				}
			}
		})
		if err != nil {
			return err
		}
		if f.settings.Progress != nil {
			f.settings.Progress("beliefs", int64(hi), int64(len(runs)))
		}
	}
	return nil
}

// keep copies the beliefs of a run at the labels that it does not know.
func (f *fitting) keep(to [][]float32, q *group, run int) {
	for i, seed := range f.held {
		if f.fold[seed] == q.runs[run].fold {
			to[i] = slices.Clone(q.rowOf(q.beliefs, f.seeds.Row[seed], run))
		}
	}
}

// width returns the number of runs that travel together: at most 64 columns, because wider rows do not
// make sweeps cheaper, and as many as the memory allows.
func (n *network) width(memory int64) int {
	width := max(1, 64/n.seeds.Classes)
	if memory > 0 {
		width = min(width, int(memory/groupBytes(len(n.g.Degrees), n.seeds.Classes)))
	}
	return max(1, width)
}

// runs returns the runs of a candidate without each of the folds.
func (n *network) runs(ctx context.Context, c candidate, folds []int, memory int64) ([]run, error) {
	list := make([]run, len(folds))
	for i, k := range folds {
		list[i] = run{strength: strong, t: c.t, field: c.field, fold: k, shares: n.shares(k)}
	}
	width := n.width(memory)
	for lo := 0; lo < len(list); lo += width {
		hi := min(lo+width, len(list))
		ratios, err := n.ratiosOf(ctx, c.source, list[lo:hi])
		if err != nil {
			return nil, err
		}
		for i, r := range ratios {
			list[lo+i].ratios = r
		}
	}
	return list, nil
}

// ratiosOf returns the ratios of runs by a source, nil for homophily.
func (n *network) ratiosOf(ctx context.Context, s source, list []run) ([]*mat.Dense, error) {
	switch s {
	case walks:
		folds := make([]int, len(list))
		for i, r := range list {
			folds[i] = r.fold
		}
		pairs, err := n.walkPairs(ctx, folds)
		if err != nil {
			return nil, err
		}
		ratios := make([]*mat.Dense, len(list))
		for i, p := range pairs {
			ratios[i] = fromWalks(p, n.labels(list[i].fold), list[i].shares)
		}
		return ratios, nil
	case iterated:
		first := slices.Clone(list)
		for i := range first {
			first[i].ratios, first[i].strength, first[i].t, first[i].field = nil, usual, 0.5, true
		}
		for range 2 {
			q := n.newGroup(first)
			if err := q.run(ctx, emRounds, func(int) {}); err != nil {
				return nil, err
			}
			pairs, err := q.pairs(ctx)
			if err != nil {
				return nil, err
			}
			for i, p := range pairs {
				j := prior(first[i].shares)
				j.Scale(2*float64(n.seeds.Classes), j)
				j.Add(j, p)
				first[i].ratios = ratios(j, first[i].shares)
			}
		}
		made := make([]*mat.Dense, len(first))
		for i, r := range first {
			made[i] = r.ratios
		}
		return made, nil
	}
	return make([]*mat.Dense, len(list)), nil
}

// labels returns the number of labels outside a fold.
func (n *network) labels(fold int) float64 {
	count := 0
	for _, k := range n.fold {
		if fold == noFold || k != fold {
			count++
		}
	}
	return float64(count)
}

var (
	sharpens = []float64{.05, .1, .2, .35, .5, .75, 1, 1.5, 2}
	blends   = []float64{.02, .1, .3, .6, 1}
)

// best returns the candidate with the greatest accuracy − 0.2 · log loss on the held-out labels, the first
// of equals, with the temperature and the share of the class shares of the least log loss.
func (f *fitting) best() *Model {
	shares := f.network.shares(noFold)
	var best *Model
	for k, c := range f.candidates {
		for r, beliefs := range f.beliefs[k] {
			m := &Model{
				Source: c.source.String(), T: float64(c.t), Field: c.field, Rounds: c.read[r],
				LogLoss: math.Inf(1), HeldOut: f.held, network: f.network, candidate: c,
			}
			counts := make([]int, len(shares))
			for i, b := range beliefs {
				class := f.seeds.Class[f.held[i]]
				counts[class]++
				most := slices.Max(b)
				m.Certain += float64(most) / float64(len(beliefs))
				if slices.Index(b, most) == class {
					m.Accuracy += 1 / float64(len(beliefs))
				}
			}
			m.Majority = float64(slices.Max(counts)) / float64(max(1, len(beliefs)))
			p := make([]float32, len(shares))
			for _, sharpen := range sharpens {
				for _, blend := range blends {
					loss := 0.0
					for i, b := range beliefs {
						temper(p, b, sharpen, blend, shares)
						loss -= math.Log(float64(p[f.seeds.Class[f.held[i]]])) / float64(len(beliefs))
					}
					if loss < m.LogLoss {
						m.LogLoss, m.Sharpen, m.Blend = loss, sharpen, blend
					}
				}
			}
			if best == nil || m.Accuracy-0.2*m.LogLoss > best.Accuracy-0.2*best.LogLoss {
				best = m
				for _, b := range beliefs {
					p := make([]float32, len(shares))
					temper(p, b, m.Sharpen, m.Blend, shares)
					m.Probabilities = append(m.Probabilities, p)
				}
			}
		}
	}
	return best
}

// temper stores (1−blend)·softmax(sharpen·log f) + blend·shares in dst.
func temper(dst, f []float32, sharpen, blend float64, shares []float64) {
	most := slices.Max(f)
	var sum float64
	for c, v := range f {
		v := math.Pow(float64(max(v, 1e-6)/most), sharpen)
		dst[c] = float32(v)
		sum += v
	}
	for c, p := range shares {
		dst[c] = float32((1-blend)*float64(dst[c])/sum + blend*p)
	}
}

// ProbabilitiesTo stores the probabilities of the classes of each node in dst, from a run with all labels.
// Nodes that no label reaches have the class shares. Cost: the ratios, and a sweep for each round.
func (m *Model) ProbabilitiesTo(ctx context.Context, dst *sparse.Block[float32], memory int64) error {
	n := m.network
	if dst.Rows != len(n.g.Degrees) || dst.Cols != n.seeds.Classes {
		panic(badShape)
	}
	runs, err := n.runs(ctx, m.candidate, []int{noFold}, memory)
	if err != nil {
		return err
	}
	q := n.newGroup(runs)
	if err := q.run(ctx, m.Rounds, func(int) {}); err != nil {
		return err
	}
	reached := make([]bool, len(n.g.Components.Sizes))
	for _, row := range n.seeds.Row {
		reached[n.g.Components.Of[row]] = true
	}
	shares := runs[0].shares
	for i := range dst.Rows {
		to := dst.Row(i)
		if reached[n.g.Components.Of[i]] {
			temper(to, q.beliefs.Row(i), m.Sharpen, m.Blend, shares)
			continue
		}
		for c, p := range shares {
			to[c] = float32(p)
		}
	}
	return nil
}

const badShape = "beliefs: dimension mismatch"
