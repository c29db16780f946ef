package beliefs

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Sources of the ratios R.
const (
	Walks     = "walks"     // pairs of labels at the ends of walks of one to three steps
	Homophily = "homophily" // both ends of an edge have the same class with probability 0.98
	Iterated  = "iterated"  // pairs of beliefs at the ends of edges, twice
)

// Candidate has the settings of a run of rounds.
type Candidate struct {
	Ratios string
	T      float64 // weight of the evidence of an edge
	Rounds int     // at least 1
}

// candidates were chosen greedily on 19 graphs.
var candidates = []Candidate{
	{Walks, 1, rounds}, {Walks, 1, 4}, {Homophily, 1, rounds}, {Homophily, 1,
		4}, {Iterated, 1, rounds}, {Walks, 0.3, rounds}, {Walks, 0.3, 2},
}

// Candidates returns the settings that [Fit] chooses from. The first is the best on block models.
func Candidates() []Candidate { return slices.Clone(candidates) }

const (
	strong       = 0.98
	usual        = 0.9
	sweepColumns = 64 // most columns of a sweep; wider rows are not cheaper
	mostEstimate = 24 // most classes with estimated R; at most sweepColumns
)

// Settings are the settings of [Fit]; nil means defaults.
type Settings struct {
	Candidates []Candidate

	// Explain asks for [Model.Form], and Extend for [Model.Messages].
	Explain, Extend bool

	// Memory limits the bytes of blocks; 0: no limit. It never changes a result.
	Memory int64

	// Progress, if not nil, is called with finished and all candidates.
	Progress func(stage string, done, total int64)
}

// Workspace declares the memory of [Fit] and [Model.Predict]. The returned probabilities are not counted.
func Workspace(rows, classes int) budget.Workspace {
	return budget.Slabs[float32](1, rows, min(classes, sweepColumns)).And(
		budget.Held(budget.Block[float32](rows, classes), 8*int64(rows)))
}

// Model is a fitted candidate.
type Model struct {
	Candidate
	Sharpen float64 // power of the beliefs: an inverse temperature
	Blend   float64 // weight of the class shares in the probabilities

	Accuracy float64 // share of held-out labels predicted rightly
	Certain  float64 // mean largest belief at held-out labels, before Sharpen and Blend
	Majority float64 // share of the most frequent held-out class

	HeldOut       []int       // positions of held-out labels in the seeds
	Probabilities [][]float32 // probabilities of each held-out label
	Shares        [][]float32 // probabilities of each held-out label, by the candidate that other folds choose
	Predicted     []int       // class of each held-out label, by the candidate that other folds choose

	Sweeps int // number of sweeps over the graph so far

	Form *explain.Form // form of Predict with Settings.Explain; else nil

	Messages *Messages // messages of Predict with Settings.Extend; else nil

	network *network
	only    *run // run of a Fit with a single run; Predict continues it

	explains, extends bool
}

// KnowsItself reports whether a block model explains the graph, so that other methods are hardly better. There must be at
// least 100 labels. The mean largest belief must be within 0.05 of the accuracy, and the accuracy at least 0.3 of the way
// from the share of the most frequent class to 1.
func (m *Model) KnowsItself() bool {
	return len(m.network.seeds.Row) >= 100 &&
		math.Abs(m.Certain-m.Accuracy) <= 0.05 &&
		m.Accuracy-m.Majority >= 0.3*(1-m.Majority)
}

// Votes returns for each held-out label the class with the largest weight among its labelled neighbours. If no neighbour is
// labelled, the vote is −1. Votes must be called before Predict, after a Fit of one candidate on one fold. Cost: a sweep.
func (m *Model) Votes(ctx context.Context) ([]int, error) {
	q := m.only
	err := q.sweep(ctx, func(_ context.Context, lo, hi int) error {
		for i := range q.logs.Rows {
			clear(q.logs.Row(i))
		}
		for _, row := range q.seeds.Row {
			if c := q.known(row, q.hidden); lo <= c && c < hi {
				q.logs.Row(row)[c-lo] = 1
			}
		}
		return nil
	}, nil)
	if err != nil {
		return nil, err
	}
	votes := make([]int, len(m.HeldOut))
	for i, label := range m.HeldOut {
		row := q.evidence.Row(q.seeds.Row[label])
		votes[i] = slices.Index(row, slices.Max(row))
		if row[votes[i]] == 0 {
			votes[i] = -1
		}
	}
	return votes, nil
}

// Fit returns the model of the candidate that predicts the held-out labels best. fold[i] ≥ 0 is the fold of seed i; −1 means
// that the seed is never held out. If no label is held out, Fit chooses the first candidate. The graph must be undirected.
// Cost: for each fold about 4 sweeps of C columns, and at most 15 for each candidate.
func Fit(ctx context.Context, g *graph.Graph, seeds cwk.Seeds, fold []int,
	s *Settings) (*Model, error) {
	if s == nil {
		s = &Settings{}
	}
	if err := budget.Check(s.Memory, Workspace(len(g.Degrees), seeds.Classes).Required(s.Memory),
		"beliefs"); err != nil {
		return nil, err
	}
	f := &fitting{network: newNetwork(g, seeds, fold), settings: s,
		candidates: s.Candidates}
	f.memory = s.Memory
	if f.candidates == nil {
		f.candidates = candidates
	}
	if seeds.Classes > mostEstimate {
		f.candidates = slices.Clone(f.candidates)
		for i := range f.candidates {
			f.candidates[i].Ratios = Homophily
		}
		f.candidates = slices.Compact(f.candidates)
	}
	for i, k := range fold {
		if k >= 0 {
			f.held = append(f.held, i)
			f.folds = append(f.folds, k)
		}
	}
	slices.Sort(f.folds)
	f.folds = slices.Compact(f.folds)
	if err := f.read(ctx); err != nil {
		return nil, err
	}
	return f.model(), nil
}

// manyLabels are labels from which one fold chooses as well as five.
const manyLabels = 500

// Folds returns the fold of each label of p for [Fit]. With at least 500 labels only the first fold is held out, and the
// labels of the other folds have −1.
func Folds(p *problem.Problem, seed uint64) []int {
	if choose.TooFew(p.Class) {
		return slices.Repeat([]int{noFold}, len(p.Row))
	}
	fold := choose.FitTaskOf(p, seed).Fold
	if len(p.Row) >= manyLabels {
		OneFold(fold)
	}
	return fold
}

// OneFold sets fold[i] to −1, not held out, for all labels outside the first fold.
func OneFold(fold []int) {
	for i, k := range fold {
		if k > 0 {
			fold[i] = noFold
		}
	}
}

type fitting struct {
	*network
	settings   *Settings
	candidates []Candidate
	folds      []int
	held       []int
	beliefs    [][][]float32
	only       *run // only run, after its last round; nil: several runs
}

// read runs each candidate without each fold, and stores its beliefs at the held-out labels.
func (f *fitting) read(ctx context.Context) error {
	for k, c := range f.candidates {
		f.beliefs = append(f.beliefs, make([][]float32, len(f.held)))
		for _, fold := range f.folds {
			q, err := newCandidate(ctx, f.network, c, fold, fold)
			if err == nil {
				err = q.advance(ctx, c.Rounds)
			}
			if err != nil {
				return err
			}
			for i, seed := range f.held {
				if f.fold[seed] == fold {
					f.beliefs[k][i] = slices.Clone(q.beliefs.Row(f.seeds.Row[seed]))
				}
			}
			if len(f.folds)*len(f.candidates) == 1 {
				f.only = q
			}
		}
		if f.settings.Progress != nil {
			f.settings.Progress("beliefs", int64(k+1), int64(len(f.candidates)))
		}
	}
	return nil
}

// newCandidate returns a run of candidate c. The run does not know the labels of fold number hidden. R is estimated from
// the labels of all folds but fold number fold.
func newCandidate(ctx context.Context, n *network, c Candidate,
	fold, hidden int) (*run, error) {
	ratios, err := ratiosOf(ctx, n, c.Ratios, fold)
	if err != nil {
		return nil, err
	}
	return newRun(n, ratios, strong, c.T, hidden), nil
}

type ratiosKey struct {
	source string
	fold   int
}

// ratiosOf returns R by a source, estimated from the labels outside fold. It computes each R once. For homophily it returns
// nil.
func ratiosOf(ctx context.Context, n *network, source string,
	fold int) (r *mat.Dense, err error) {
	key := ratiosKey{source, fold}
	r = n.computed[key]
	if r != nil || source == Homophily {
		return r, nil
	}
	if source == Iterated {
		r, err = iterate(ctx, n, fold)
	} else {
		var pairs []*mat.Dense
		if pairs, err = walkPairs(ctx, n, fold); err == nil {
			r = fromWalks(pairs, labels(n, fold), n.sharesOf(fold))
		}
	}
	n.computed[key] = r
	return r, err
}

// iterate returns the second estimate of R. The first estimate comes from the beliefs of a homophilous run, the second from
// the beliefs of a run with the first estimate.
func iterate(ctx context.Context, n *network, fold int) (r *mat.Dense, err error) {
	for range 2 {
		q := newRun(n, r, usual, 0.5, fold)
		if err := q.advance(ctx, emRounds); err != nil {
			return nil, err
		}
		pairs, err := q.pairs(ctx)
		if err != nil {
			return nil, err
		}
		j := prior(q.shares)
		j.Scale(2*float64(n.seeds.Classes), j)
		j.Add(j, pairs)
		r = ratios(j)
	}
	return r, nil
}

func labels(n *network, fold int) float64 {
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

// The temperature if no label is held out.
const (
	plainSharpen = 1
	plainBlend   = 0.1
)

type scores struct {
	right int
	loss  []float64 // losses by sharpen and blend; blend varies faster
}

type choice struct {
	candidate      int
	sharpen, blend float64
	right          int
}

// model returns the model of the candidate with the largest accuracy − 0.2 · log loss on held-out labels. Its Sharpen and
// Blend give the smallest log loss.
func (f *fitting) model() *Model {
	shares := f.sharesOf(noFold)
	if len(f.held) == 0 {
		return &Model{Candidate: f.candidates[0], Sharpen: plainSharpen,
			Blend: plainBlend, network: f.network, Sweeps: f.sweeps, explains: f.settings.Explain, extends: f.settings.Extend}
	}
	sums := make([][]scores, len(f.candidates))
	for k := range f.candidates {
		sums[k] = f.scores(k, shares)
	}
	best := chooseCandidate(sums, noFold)
	count := float64(len(f.held))
	m := &Model{
		Candidate: f.candidates[best.candidate], Sharpen: best.sharpen,
		Blend:    best.blend,
		Accuracy: float64(best.right) / count,
		HeldOut:  f.held, network: f.network, only: f.only, Sweeps: f.sweeps, explains: f.settings.Explain, extends: f.settings.Extend,
	}
	counts := make([]int, len(shares))
	choices := slices.Repeat([]choice{best}, len(f.folds))
	for k := range choices {
		if len(choices) > 1 {
			choices[k] = chooseCandidate(sums, k)
		}
	}
	for i, seed := range f.held {
		counts[f.seeds.Class[seed]]++
		m.Certain += float64(slices.Max(f.beliefs[best.candidate][i])) / count
		p := make([]float32, len(shares))
		chosen := choices[slices.Index(f.folds, f.fold[seed])]
		temper(p, f.beliefs[chosen.candidate][i], chosen.sharpen,
			chosen.blend, shares)
		m.Predicted = append(m.Predicted, slices.Index(p, slices.Max(p)))
		m.Shares = append(m.Shares, slices.Clone(p))
		temper(p, f.beliefs[best.candidate][i], best.sharpen, best.blend, shares)
		m.Probabilities = append(m.Probabilities, p)
	}
	m.Majority = float64(slices.Max(counts)) / count
	return m
}

// scores returns for each fold the number of right predictions of a candidate and the sums of its losses.
func (f *fitting) scores(candidate int, shares []float64) []scores {
	byFold := make([]scores, len(f.folds))
	for k := range byFold {
		byFold[k].loss = make([]float64, len(sharpens)*len(blends))
	}
	logs := make([]float64, len(shares))
	for i, b := range f.beliefs[candidate] {
		seed := f.held[i]
		class := f.seeds.Class[seed]
		s := &byFold[slices.Index(f.folds, f.fold[seed])]
		highest := slices.Max(b)
		if slices.Index(b, highest) == class {
			s.right++
		}
		for c, v := range b {
			logs[c] = math.Log(float64(max(v, leastBelief) / highest))
		}
		for a, sharpen := range sharpens {
			sum := 0.0
			for _, l := range logs {
				sum += math.Exp(sharpen * l)
			}
			p := math.Exp(sharpen*logs[class]) / sum
			for j, blend := range blends {
				s.loss[a*len(blends)+j] -= math.Log((1-blend)*p +
					blend*shares[class])
			}
		}
	}
	return byFold
}

// chooseCandidate returns the best candidate and temperature on the labels outside fold hidden, −1 for none, by
// sums[candidate][fold].
func chooseCandidate(sums [][]scores, hidden int) choice {
	best := choice{}
	highest := math.Inf(-1)
	for k, folds := range sums {
		right := 0
		loss := make([]float64, len(sharpens)*len(blends))
		for fold, s := range folds {
			if fold == hidden {
				continue
			}
			right += s.right
			for i, v := range s.loss {
				loss[i] += v
			}
		}
		lowest := slices.Min(loss)
		if merit := float64(right) - 0.2*lowest; merit > highest {
			index := slices.Index(loss, lowest)
			best = choice{k, sharpens[index/len(blends)],
				blends[index%len(blends)], right}
			highest = merit
		}
	}
	return best
}

// leastBelief keeps logarithms of beliefs finite.
const leastBelief = 1e-6

// temper stores (1−blend)·softmax(sharpen·log f) + blend·shares in dst, which may be f.
func temper(dst, f []float32, sharpen, blend float64, shares []float64) {
	highest := slices.Max(f)
	var sum float64
	for c, v := range f {
		v := max(v, leastBelief) / highest
		if sharpen != 1 {
			v = float32(math.Exp(sharpen * math.Log(float64(v))))
		}
		dst[c] = v
		sum += float64(v)
	}
	for c, p := range shares {
		dst[c] = float32((1-blend)*float64(dst[c])/sum + blend*p)
	}
}

// Predict returns the class probabilities of each node, from a run that knows all labels. Nodes that no label reaches have
// the class shares. With at least 500 labels R is still estimated without the held-out fold, because an R from more labels
// would be sharper than the temperature allows for. Predict may be called once. Cost: with few labels an estimate of R, and
// a sweep for each round.
func (m *Model) Predict(ctx context.Context) (*sparse.Block[float32], error) {
	n := m.network
	q := m.only
	if q != nil {
		q.hidden = noFold
		q.shares = q.sharesOf(noFold)
		q.prior = logsOf(q.shares)
		q.active = true
		q.continued = true
		q.rounds = 0
	} else {
		fold := noFold
		if len(n.seeds.Row) >= manyLabels && len(m.HeldOut) > 0 {
			fold = n.fold[m.HeldOut[0]]
		}
		var err error
		if q, err = newCandidate(ctx, n, m.Candidate, fold, noFold); err != nil {
			return nil, err
		}
	}
	if err := q.advance(ctx, m.Rounds); err != nil {
		return nil, err
	}
	m.Sweeps = n.sweeps
	reached := make([]bool, len(n.g.Components.Sizes))
	for _, row := range n.seeds.Row {
		reached[n.g.Components.Of[row]] = true
	}
	shares := q.shares
	out := q.beliefs
	if m.explains {
		var err error
		if m.Form, err = newForm(ctx, q); err != nil {
			return nil, err
		}
	}
	if m.extends {
		var err error
		if m.Messages, err = m.messages(ctx, q); err != nil {
			return nil, err
		}
	}
	err := blocks.EachNodeChunk(ctx, n.g.Workers, out.Rows, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := out.Row(i)
			if reached[n.g.Components.Of[i]] {
				temper(row, row, m.Sharpen, m.Blend, shares)
				continue
			}
			for c, p := range shares {
				row[c] = float32(p)
			}
		}
	})
	return out, err
}
