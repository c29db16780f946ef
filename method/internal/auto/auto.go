package auto

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// fewestLabels is the number of labels up to which nothing is learned from them.
const fewestLabels = 15

// Settings of a prediction. Results are the same for any number of workers and any limit.
type Settings struct {
	LowEffort bool   // only columns of walks and attributes are made
	RNGSeed   uint64 // of folds and samples
	Memory    int64  // limits what is allocated, in bytes; 0: no limit
	Workers   int    // goroutines, 0: one for each processor

	// Propagated is what label propagation says of labels without their fold, see
	// OutOfFold of package propagation; nil: it is asked.
	Propagated [][]float32

	// Progress, if not nil, is called with the share that is done of a phase.
	Progress func(phase string, done float64)

	directed bool // the graph was, before its directions were left out
}

// Prediction is a class and probabilities for every node.
type Prediction struct {
	Class   []int
	Scores  *sparse.Block[float32]
	Reached *roaring.Bitmap // the nodes of which something may be known

	problem.Estimate

	Unfinished string // what ended at its limit; "": nothing

	Work    problem.Work
	Seconds problem.PhaseSeconds
}

// Predict returns the probabilities and the class of every node of a valid problem.
func Predict(ctx context.Context, p *problem.Problem, set *Settings) (*Prediction, error) {
	r, err := newWeigher(ctx, p, set)
	if err != nil {
		return nil, err
	}
	t := &r.out.Seconds
	return r.out, piece.Phases(ctx, []piece.Phase{
		{Do: r.walk, Seconds: &t.Walk}, {Do: r.choose, Seconds: &t.Choose}, {Do: r.learn, Seconds: &t.Classify}, {Do: r.score, Seconds: &t.Classify},
	})
}

// newWeigher begins a prediction.
func newWeigher(ctx context.Context, p *problem.Problem, set *Settings) (*weigher, error) {
	r := &weigher{p: p, set: set, out: &Prediction{}}
	if p.Directed {
		return r, r.leaveDirections(ctx)
	}
	return r, nil
}

// weigher makes one prediction.
type weigher struct {
	p    *problem.Problem
	arcs *arcs // nil: edges have no direction
	set  *Settings
	out  *Prediction

	sources    *sources
	tally      *tally
	far        bool // most nodes are farther from all labels than walks come
	columns    *columns
	related    *diffused   // nil: none
	attributed *attributed // nil: none

	several []bool     // of labels: whether there is another of their class
	alone   []bool     // of labels: whether all that are not hidden from them are out of reach
	whole   *labelRows // of labels, without what is hidden from each

	trials     []trialOf // of every candidate and λ
	poissons   answers   // of Poisson learning
	shares     []share   // who answers
	calibrated calibration
}

// walk makes the columns of all nodes and the honest ones of labels.
func (r *weigher) walk(ctx context.Context) (err error) {
	if err := tall.CheckScale[float32](r.p.Degrees); err != nil {
		return err
	}
	if r.out.Reached, err = r.p.Reached(ctx, r.p.Row, r.set.Workers, &r.out.Work); err != nil {
		return err
	}
	r.sources = newSources(r.p, r.set.RNGSeed)
	r.sources.arcs = r.arcs
	if r.alone, err = choose.Alone(ctx, r.p, r.sources.hidden, r.set.Workers, &r.out.Work); err != nil {
		return err
	}
	for {
		before := r.out.Work.EntryColumns
		r.tally = nil // shorter walks take their memory with them
		r.tally, err = r.sources.walk(ctx, r.set.Workers, beside(r.p, r.set), &r.out.Work, func(done float64) { r.tell("walk", done) })
		if err != nil {
			return err
		}
		missed := r.missedShare()
		r.far = missed > mostFar
		if missed <= problem.MostMissed || r.out.Work.EntryColumns-before > problem.MissedWork || 2*r.sources.steps > mostWalkSteps {
			break
		}
		r.sources.steps *= 2
	}
	var graph *sparse.Block[float32]
	if !r.few() {
		spectrum, err := r.spread(ctx)
		if err != nil {
			return err
		}
		if graph, err = structure(ctx, r.p, r.set.Workers, &r.out.Work); err != nil {
			return err
		}
		if r.arcs != nil {
			graph = sideBySide(graph, r.arcs.structure())
		}
		if spectrum != nil {
			graph = sideBySide(graph, spectrum)
		}
	}
	var scores *sparse.Block[float32]
	if relates(r.p, r.set) {
		if r.related, err = r.relateAll(ctx); err != nil {
			return err
		}
		scores = r.related.full
	}
	if r.columns, err = newColumns(ctx, r.p, r.tally, graph, scores, r.set.Workers); err != nil {
		return err
	}
	count := choose.CountsOf(r.p)
	for _, c := range r.p.Class {
		r.several = append(r.several, count[c] > 1)
	}
	if r.p.Attributes != nil {
		if err := r.attribute(ctx); err != nil {
			return err
		}
	}
	r.whole = r.rows(-1)
	return nil
}

const (
	// mostWalkSteps bounds the steps of walks that come to few nodes.
	mostWalkSteps = 64 * walkSteps

	// mostFar is the share of the nodes that walks miss above which label propagation answers
	// in place of Poisson learning.
	mostFar = 0.5
)

// missedShare returns the share of the reached nodes that no walk has come to, or that of the
// labels to which none has come from another one, whichever is larger: on a path one of so many
// steps comes no farther, and labels at equal distances are twice as far from each other as
// any node is from one of them.
func (r *weigher) missedShare() float64 {
	missed := 0
	for v := range roaring.Values(r.out.Reached) {
		if r.p.Degrees[v] > 0 && !r.comes(r.tally.full.Row(int(v))) {
			missed++
		}
	}
	share := float64(missed) / float64(max(1, r.out.Reached.GetCardinality()))
	if validate.TooFew(r.p.Class) {
		return share
	}
	labels, missed := 0, 0
	honest := make([]float32, r.tally.full.Cols)
	for i, v := range r.p.Row {
		if r.alone[i] || r.p.Degrees[v] == 0 {
			continue
		}
		labels++
		if r.sources.honestTo(honest, r.tally, i, -1); !r.comes(honest) {
			missed++
		}
	}
	return max(share, float64(missed)/float64(max(1, labels)))
}

// comes reports whether walks come to a node with these columns.
func (r *weigher) comes(row []float32) bool {
	k := len(r.p.Names)
	mass := float32(0)
	for _, q := range row[int(source)*k:][:k] {
		mass += q
	}
	return mass > leastMass
}

// tell reports what share of a phase is done.
func (r *weigher) tell(phase string, done float64) {
	if r.set.Progress != nil {
		r.set.Progress(phase, done)
	}
}

// few reports whether there are too few labels to learn from. Attributes tell more of
// nodes with few labels than walks from these do.
func (r *weigher) few() bool { return len(r.p.Row) <= fewestLabels && r.p.Attributes == nil }

// labelRows are the columns of labels, as a node in their place would have them that
// has no label.
type labelRows struct {
	shared     *sparse.Block[float64]
	free       *sparse.Block[float32]
	known      []bool      // whether anything is known of a label: walks from others come to it, or there are attributes
	attributes [][]float64 // nil of each: none
	best       int         // the block of attributes towards which weights are pulled
}

// mostFree bounds the number of free columns.
func mostFree(p *problem.Problem, set *Settings) int {
	count := len(freeOf(set.directed))*len(p.Names) + structureCount(set.directed)
	if maySpread(p, set) {
		count += spectralColumns
	}
	return count
}

// rowMemory lists what the columns of labels take, once.
func rowMemory(p *problem.Problem, set *Settings) []spec.Bytes {
	m, shared := len(p.Row), sharedCount(relates(p, set))*len(p.Names)
	return []spec.Bytes{
		{What: "shared columns of labels", Bytes: piece.Bytes[float64](m, shared)},
		{What: "free columns of labels", Bytes: piece.Bytes[float32](m, mostFree(p, set))},
	}
}

// rows makes the columns of labels without a part, −1 for none.
func (r *weigher) rows(without int) *labelRows {
	m, shared, free := len(r.p.Row), r.columns.sharedCount()*r.columns.classes, r.columns.freeCount()
	l := &labelRows{
		shared: sparse.BlockOf(m, shared, make([]float64, m*shared)),
		free:   sparse.BlockOf(m, free, make([]float32, m*free)),
		known:  make([]bool, m), attributes: make([][]float64, m),
	}
	if r.attributed != nil {
		l.best = r.attributed.bestOf(without)
	}
	x, filtered := make([]float64, free), make([]float32, r.tally.full.Cols)
	for i, row := range r.p.Row {
		r.sources.honestTo(filtered, r.tally, i, without)
		l.known[i] = r.known(filtered)
		if r.attributed != nil {
			l.attributes[i] = r.attributed.rowOf(i, without)
		}
		r.columns.sharedTo(l.shared.Row(i), filtered, r.relatedTo(i, without))
		r.columns.freeTo(x, filtered, row)
		simd.ConvertTo(l.free.Row(i), x)
	}
	return l
}

// relatedTo returns the scores of kernels for a label without its own and a part, nil
// if there are none.
func (r *weigher) relatedTo(label, without int) []float64 {
	switch {
	case r.related == nil:
		return nil
	case without < 0 || r.sources.part[label] == without || r.related.part[without][label] == nil:
		return r.related.whole[label]
	}
	return r.related.part[without][label]
}

// known reports whether anything is known of a node with these filters.
func (r *weigher) known(row []float32) bool { return r.attributed != nil || r.columns.visited(row) }

// missedPrior is how many labels the prior counts for beside those that no walk from
// another label comes to.
const missedPrior = 10

// missed returns the probabilities of a node that no walk comes to: the shares of the
// labels outside a part, −1 for none, that none comes to either, beside those of all
// labels. Small components may have other classes than large ones. What may be the luck of
// the labels is taken off.
func (r *weigher) missed(without int) []float64 {
	shares, of := make([]float64, len(r.p.Names)), float64(missedPrior)
	for c, q := range r.columns.prior {
		shares[c] = missedPrior * q
	}
	for i, c := range r.p.Class {
		if !r.few() && !r.whole.known[i] && r.sources.part[i] != without {
			shares[c]++
			of++
		}
	}
	for c := range shares {
		shares[c] /= of
	}
	choose.Shrink(shares, float64(len(r.p.Row)))
	return shares
}

// teaching returns the classes of the labels whose rows teach, outside a part, and −1
// for others. A label that is the only one of its class has no row that could speak for
// it, and would teach that its class does not occur.
func (r *weigher) teaching(l *labelRows, without int) []int {
	y := make([]int, len(r.p.Class))
	for i, c := range r.p.Class {
		y[i] = -1
		if l.known[i] && r.several[i] && r.sources.part[i] != without {
			y[i] = c
		}
	}
	return y
}

// learn fits the models that answer to all labels.
func (r *weigher) learn(ctx context.Context) error {
	y := r.teaching(r.whole, -1)
	for i := range r.shares {
		s := &r.shares[i]
		if s.trial < 0 || r.harmonic(*s) || r.trials[s.trial].candidate.constant {
			continue
		}
		of := r.trials[s.trial].setting
		models, err := r.fit(ctx, of.candidate, r.whole, y, []float64{of.lambda}, nil)
		if err != nil {
			return err
		}
		if models != nil {
			s.model = models[0]
		}
	}
	return nil
}

// score gives every node its probabilities.
func (r *weigher) score(ctx context.Context) error {
	n, k := len(r.p.Degrees), len(r.p.Names)
	r.out.Scores, r.out.Class = piece.Block[float32](n, k), make([]int, n)
	if err := r.propagate(ctx, r.out.Scores); err != nil {
		return err
	}
	err := piece.Run(ctx, r.set.Workers, n, func(_, lo, hi int) {
		w := r.newScorer()
		for v := lo; v < hi; v++ {
			to := r.out.Scores.Row(v)
			simd.ConvertTo(to, w.probabilities(v, to))
			r.out.Class[v] = classify.ArgMax(to)
		}
	})
	for i, row := range r.p.Row {
		r.out.Class[row] = r.p.Class[i]
	}
	return err
}

// scorer gives single nodes probabilities.
type scorer struct {
	r                 *weigher
	shared, free, row []float64
	attributes        []float64
	input             []float64 // what the model takes of shared and attributes
	scores            []float64 // of kernels
	missed            []float64 // of nodes that no walk comes to
	one               []float64 // probabilities of one that answers
	takesFree         bool      // free columns are asked for
	harmonic          bool      // label propagation answers
}

func (r *weigher) newScorer() *scorer {
	w := &scorer{
		r: r, shared: make([]float64, r.columns.sharedCount()*r.columns.classes),
		free: make([]float64, r.columns.freeCount()), row: make([]float64, r.columns.classes), scores: make([]float64, relatedKernels*r.columns.classes), missed: r.missed(-1),
		one: make([]float64, r.columns.classes),
	}
	for _, s := range r.shares {
		w.takesFree = w.takesFree || s.trial >= 0 && r.trials[s.trial].candidate.free
		w.harmonic = w.harmonic || r.harmonic(s)
	}
	if r.attributed != nil {
		w.attributes = make([]float64, r.attributed.blocks*r.columns.classes)
	}
	return w
}

// probabilities returns those of node v, to which label propagation gives its own. They stay
// valid until the next call.
func (w *scorer) probabilities(v int, propagated []float32) []float64 {
	r, full := w.r, w.r.tally.full.Row(v)
	known := r.known(full)
	if !known && !(w.harmonic && r.out.Reached.Contains(uint32(v))) {
		copy(w.row, w.missed)
		return w.row
	}
	if !r.few() {
		r.columns.sharedTo(w.shared, full, r.columns.relatedRow(w.scores, v))
		if w.takesFree {
			r.columns.freeTo(w.free, full, v)
		}
	}
	if r.attributed != nil {
		r.attributed.nodeTo(w.attributes, v)
	}
	clear(w.row)
	for i := range r.shares {
		s := &r.shares[i]
		switch {
		case r.harmonic(*s):
			r.loosen(w.one, propagated, r.trials[s.trial].lambda)
		case !known:
			copy(w.one, w.missed)
		default:
			w.answer(s, full)
		}
		for c, q := range w.one {
			w.row[c] += float64(r.shares[i].weight * q)
		}
	}
	r.calibrated.apply(w.row)
	return w.row
}

// answer stores the probabilities of one that answers.
func (w *scorer) answer(s *share, full []float32) {
	r := w.r
	switch {
	case s.trial < 0:
		r.poisson(w.one, full)
		return
	case s.model == nil:
		copy(w.one, r.columns.prior)
		return
	}
	c := r.trials[s.trial].candidate
	w.input = c.input(w.input[:0], w.shared, w.attributes, r.columns.classes)
	var free []float64
	if c.free {
		free = w.free
	}
	s.model.ScoresTo(w.one, free, w.input)
	classify.Softmax(w.one, w.one)
}

// sharpness of the scores of Poisson learning, in units of their root mean square, as
// logits.
const sharpness = 2

// poisson stores the softmax of the scores of Poisson learning for filters.
func (r *weigher) poisson(dst []float64, row []float32) {
	r.columns.poissonTo(dst, row)
	for c := range dst {
		dst[c] *= sharpness * r.columns.sharedScale[0]
	}
	classify.Softmax(dst, dst)
}
