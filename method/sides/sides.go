package sides

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Edges are the edges of a store with kinds or times, whose factors labels choose where [Options] leave them open.
type Edges struct {
	Store    *shard.Store
	Options  *Options         // valid
	Weighted bool             // lines of the store have weights
	Division *sparse.Division // of the rows among several processes; nil: this process has all of them
	Streamed bool             // sweeps read the store from disk, and its entries are not copied into memory

	mu      sync.Mutex
	choices map[[sha256.Size]byte]*Choice // by labels
}

// Labels are classes or numbers of some nodes, from which factors are chosen.
type Labels struct {
	Row     []int // of the store
	Class   []int
	Classes int       // number of classes
	Value   []float64 // numbers in place of classes; nil: there are classes
	Fold    []int     // of each label, below [Folds]
}

// Choice has the factors of edges.
type Choice struct {
	Kinds    []float64       // weight of each kind; nil without kinds. The largest is 1 if they were chosen
	HalfLife float64         // in units of times; +Inf: no decay
	Book     *shard.Codebook // of these weights and the given ones
	IsGiven  bool            // all of them were given

	names []string // of the kinds
}

const (
	alpha     = 0.9
	steps     = 5
	uncertain = 0.05 // share of the class shares in predicted probabilities

	// work bounds entries × columns × steps of a walk; it decides how many folds are predicted.
	work = 300_000_000

	// mostKinds is the number of kinds, the most frequent ones, whose weights are chosen. Others have the weight 1.
	mostKinds = 16
	factor    = 8
	// leastWeight is above 0 so that labels reach nodes whose edges are of one kind.
	leastWeight = 1. / 64
	mostWeight  = 64

	// leastGain is the least relative decrease of the mean negative logarithm by other weights of kinds. Methods such as
	// auto compensate for smaller differences by themselves, and can be worse with weights that suit these walks.
	leastGain = 0.05

	// halfLives is the number of half-lives of the grid: the range of times divided by powers of 2.
	halfLives = 8
)

// Folds is the number of folds of labels.
const Folds = 5

// IsOpen reports whether some factors are to be chosen.
func (e *Edges) IsOpen() bool {
	return e.Options.Kinds == nil && len(e.Store.Manifest.Kinds) > 1 ||
		e.Options.HalfLife == ChosenHalfLife
}

// Given returns the given factors, and 1 for those that are to be chosen.
func (e *Edges) Given() *Choice {
	m := e.Store.Manifest
	c := &Choice{HalfLife: math.Inf(1), Book: e.Options.Book(m), IsGiven: true}
	if c.Book == nil {
		c.Book = new(shard.Codebook)
	}
	c.Kinds = c.Book.Kinds
	for _, kind := range m.Kinds {
		c.names = append(c.names, kind.Name)
	}
	if m.Times != nil {
		c.HalfLife, _ = e.Options.halfLife(m.Times) // options are valid
	}
	return c
}

// Choose chooses the factors that are open. The memory of its walks is at most a quarter of the given one if that is not 0. It
// chooses once for the same labels. The error is that of a sweep or of memory.
// Cost: steps sweeps over a block with a column for each class and fold, for some dozen vectors of weights.
func (e *Edges) Choose(ctx context.Context, l *Labels, memory int64,
	workers int) (*Choice, error) {
	key := l.digest()
	e.mu.Lock()
	cached := e.choices[key]
	e.mu.Unlock()
	if cached != nil {
		return cached, nil
	}
	c := &chooser{Edges: e, Labels: l, memory: memory / 4, workers: workers,
		folds: e.foldsOf(l)}
	for _, v := range l.Value {
		c.mean += v / float64(len(l.Value))
	}
	out := e.Given()
	c.fixed = *out.Book
	out.IsGiven = false
	if out.Kinds == nil && len(e.Store.Manifest.Kinds) > 1 {
		if err := c.chooseKinds(ctx, out); err != nil {
			return nil, err
		}
	}
	if e.Options.HalfLife == ChosenHalfLife {
		if err := c.chooseHalfLife(ctx, out); err != nil {
			return nil, err
		}
	}
	out.Book = c.book(out.Kinds, out.HalfLife)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.choices == nil {
		e.choices = map[[sha256.Size]byte]*Choice{}
	}
	e.choices[key] = out
	return out, nil
}

// digest returns a number of the labels.
func (l *Labels) digest() (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, list := range [][]int{l.Row, l.Class, l.Fold} {
		for _, x := range list {
			_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(x))) // never fails
		}
	}
	for _, x := range l.Value {
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
	}
	h.Sum(sum[:0])
	return sum
}

// columns returns the number of columns of a fold: one for each class, or the number of values and their sum.
func (l *Labels) columns() int {
	if l.Value != nil {
		return 2
	}
	return l.Classes
}

// foldsOf returns the number of folds that are predicted.
func (e *Edges) foldsOf(l *Labels) int {
	entries := steps * e.Store.NNZ() * int64(l.columns())
	if e.Store.Manifest.Directed {
		entries *= 2
	}
	return int(min(Folds, max(1, work/max(1, entries))))
}

// Kept are the factors of a kept model, by the name of the kind.
type Kept struct {
	Kinds    map[string]float64 `json:"kinds,omitempty"`
	HalfLife float64            `json:"half_life,omitempty"` // 0: no decay
}

// Keep returns the factors of a choice.
func (c *Choice) Keep() *Kept {
	k := new(Kept)
	if c.Kinds != nil {
		k.Kinds = c.ByName()
	}
	if !math.IsInf(c.HalfLife, 1) {
		k.HalfLife = c.HalfLife
	}
	return k
}

// ByName returns the weights of kinds.
func (c *Choice) ByName() map[string]float64 {
	weights := map[string]float64{}
	for kind, w := range c.Kinds {
		weights[c.names[kind]] = w
	}
	return weights
}

// Restore returns the given factors, and in place of those that are open the ones of a kept model, nil if it has none. Other
// kinds have the weight 1.
func (e *Edges) Restore(k *Kept) *Choice {
	c := e.Given()
	if k == nil {
		return c
	}
	m := e.Store.Manifest
	if k.Kinds != nil && c.Kinds == nil {
		c.IsGiven = false
		for _, kind := range m.Kinds {
			w, isKept := k.Kinds[kind.Name]
			if !isKept {
				w = 1
			}
			c.Kinds = append(c.Kinds, w)
		}
	}
	book := &shard.Codebook{Kinds: c.Kinds, Times: c.Book.Times}
	if k.HalfLife > 0 && m.Times != nil &&
		(e.Options.HalfLife == "" || e.Options.HalfLife == ChosenHalfLife) {
		c.IsGiven = false
		c.HalfLife = k.HalfLife
		book.Times = e.Options.factors(m.Times, k.HalfLife)
	}
	c.Book = book
	return c
}

// chooser is a run of [Edges.Choose].
type chooser struct {
	*Edges
	*Labels
	memory  int64
	workers int
	folds   int            // that are predicted
	mean    float64        // of the values
	fixed   shard.Codebook // of the options
}

// book returns the codebook of weights of kinds and a half-life, +Inf for the given one.
func (c *chooser) book(kinds []float64, halfLife float64) *shard.Codebook {
	b := &shard.Codebook{Kinds: kinds, Times: c.fixed.Times}
	if !math.IsInf(halfLife, 1) {
		b.Times = c.Options.factors(c.Store.Manifest.Times, halfLife)
	}
	return b
}

// chooseKinds chooses the weights of kinds by coordinate steps, the most frequent kind first.
func (c *chooser) chooseKinds(ctx context.Context, out *Choice) error {
	kinds := c.Store.Manifest.Kinds
	weights := make([]float64, len(kinds))
	order := make([]int, len(kinds))
	for k := range kinds {
		weights[k] = 1
		order[k] = k
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return cmp.Compare(kinds[b].Entries, kinds[a].Entries) })
	order = order[:min(len(order), mostKinds)]
	equal, err := c.qualityOf(ctx, c.book(weights, math.Inf(1)))
	if err != nil {
		return err
	}
	best := equal
	try := func(k int, weight float64) (bool, error) {
		changed := slices.Clone(weights)
		changed[k] = weight
		q, err := c.qualityOf(ctx, c.book(changed, math.Inf(1)))
		if err != nil || !q.isBetter(best, 1) {
			return false, err
		}
		weights = changed
		best = q
		return true, nil
	}
	for _, k := range order {
		for _, step := range []float64{1. / factor, factor} { // a weight that is better lower is not raised
			isBetter := false
			for w := step; leastWeight <= w && w <= mostWeight; w *= step {
				ok, err := try(k, w)
				if err != nil {
					return err
				}
				if !ok {
					break
				}
				isBetter = true
			}
			if isBetter {
				break
			}
		}
	}
	if !best.isUseful(equal) {
		for k := range weights {
			weights[k] = 1
		}
	}
	largest := slices.Max(weights)
	for k := range weights {
		weights[k] /= largest
	}
	out.Kinds = weights
	return nil
}

// chooseHalfLife chooses the half-life from a grid, from the longest on.
func (c *chooser) chooseHalfLife(ctx context.Context, out *Choice) error {
	undecayed, err := c.qualityOf(ctx, c.book(out.Kinds, out.HalfLife))
	if err != nil {
		return err
	}
	best := undecayed
	h := float64(c.Store.Manifest.Times.Last-c.Store.Manifest.Times.First) + 1
	for range halfLives {
		q, err := c.qualityOf(ctx, c.book(out.Kinds, h))
		if err != nil {
			return err
		}
		if q.isUseful(undecayed) && q.isBetter(best, 1) {
			best = q
			out.HalfLife = h
		}
		h /= 2
	}
	return nil
}

// quality holds the logarithm of the predicted probability of the right class for each label of the predicted folds.
type quality []float64

// isBetter reports whether the mean of q exceeds that of reference by a number of standard errors of the difference.
func (q quality) isBetter(reference quality, errors float64) bool {
	n := float64(len(q))
	sum := 0.0
	squares := 0.0
	for i := range q {
		d := q[i] - reference[i]
		sum += d
		squares += float64(d * d)
	}
	variance := squares - sum*sum/n
	return n > 1 && sum > errors*math.Sqrt(max(0, variance))
}

// isUseful reports whether q is better than simple by two standard errors and by leastGain, so that other methods
// gain by it, too.
func (q quality) isUseful(simple quality) bool {
	return q.isBetter(simple, 2) && q.sum() > (1-leastGain)*simple.sum()
}

func (q quality) sum() (sum float64) {
	for _, v := range q {
		sum += v
	}
	return sum
}

// qualityOf returns the quality of weights for the labels of the predicted folds.
func (c *chooser) qualityOf(ctx context.Context,
	book *shard.Codebook) (quality, error) {
	a, back := shard.ApplyCodebook(c.Store, book)
	if c.Store.Manifest.Negative > 0 { // entries of a pair may cancel
		var err error
		if a, back, err = c.Matrices(ctx, book, c.workers); err != nil {
			return nil, err
		}
	}
	degrees, err := sparse.Degrees(ctx, a, c.workers)
	if err != nil {
		return nil, err
	}
	w := &walk{chooser: c}
	if c.Store.Manifest.Directed {
		in, err := sparse.Degrees(ctx, back, c.workers)
		if err != nil {
			return nil, err
		}
		for i, d := range in {
			degrees[i] += d
		}
		w.back = sparse.NewOperator[float32](sparse.NormalizedAdjacency,
			back, degrees)
		w.back.Workers = c.workers
	}
	w.ahead = sparse.NewOperator[float32](sparse.NormalizedAdjacency, a, degrees)
	w.ahead.Workers = c.workers
	scores := make([]float64, len(c.Row)*c.columns()) // of each label by column
	columns := c.folds * c.columns()
	width := c.width(columns, c.memory)
	for lo := 0; lo < columns; lo += width {
		if err := w.scoresTo(ctx, scores, lo, min(columns, lo+width)); err != nil {
			return nil, err
		}
	}
	if c.Value != nil {
		return c.squares(scores), nil
	}
	return c.logarithms(scores), nil
}

// walkBytes is the memory of the blocks of a walk.
func (e *Edges) walkBytes(width int) int64 {
	const walkBlocks = 3
	n, _ := e.Store.Dims()
	return walkBlocks * blocks.BlockBytes[float32](n, width)
}

// width returns the number of columns that are computed together.
func (e *Edges) width(columns int, memory int64) int {
	return budget.Widest(columns, memory, e.walkBytes)
}

// Bytes returns the memory of [Edges.Choose].
func (e *Edges) Bytes(l *Labels, memory int64) int64 {
	n, _ := e.Store.Dims()
	return e.walkBytes(e.width(e.foldsOf(l)*l.columns(), memory/4)) + 2*8*int64(n)
}

// Matrices returns the adjacency matrix with the factors of a codebook, in which each pair of nodes has one entry, and its
// transpose. Cost: a sweep for each of them.
func (e *Edges) Matrices(ctx context.Context, book *shard.Codebook,
	workers int) (a, transpose sparse.Matrix, err error) {
	along, against := shard.ApplyCodebook(e.Store, book)
	joined := &sparse.Joined{Matrix: along}
	if err := joined.Plan(ctx, workers); err != nil || !e.Store.Manifest.Directed {
		return joined, joined, err
	}
	back := &sparse.Joined{Matrix: against}
	return joined, back, back.Plan(ctx, workers)
}

// walk is the walk of one vector of weights.
type walk struct {
	*chooser
	ahead, back *sparse.Operator[float32] // back is nil without directions
}

// mass returns the mass of a label at a column of its walks.
func (c *chooser) mass(label, column int) float32 {
	switch {
	case c.Value == nil && column != c.Class[label]:
		return 0
	case c.Value != nil && column == 1:
		return float32((1 - alpha) * (c.Value[label] - c.mean))
	}
	return 1 - alpha
}

// scoresTo stores the scores of the columns lo ≤ j < hi, which are pairs of a fold and one of its columns. Labels of a fold do
// not start walks of its columns.
func (w *walk) scoresTo(ctx context.Context, scores []float64, lo, hi int) error {
	n, _ := w.ahead.Dims()
	x := sparse.NewBlock[float32](n, hi-lo)
	y := sparse.NewBlock[float32](n, hi-lo)
	start := sparse.NewBlock[float32](n, hi-lo)
	each := w.Labels.columns()
	for i, row := range w.Row {
		for j := lo; j < hi; j++ {
			if j/each != w.Fold[i] {
				mass := w.mass(i, j%each)
				start.Row(row)[j-lo] += mass // of several labels of a node at most one has some
				x.Row(row)[j-lo] += mass
			}
		}
	}
	for range steps {
		if err := w.ahead.StepTo(ctx, y, x,
			sparse.Step[float32]{Alpha: alpha, Delta: 1, Prev: start}); err != nil {
			return err
		}
		if w.back != nil {
			if err := w.back.StepTo(ctx, y, x,
				sparse.Step[float32]{Alpha: alpha, Delta: 1, Prev: y}); err != nil {
				return err
			}
		}
		x, y = y, x
	}
	for i, row := range w.Row {
		for j := lo; j < hi; j++ {
			if j/each == w.Fold[i] {
				scores[i*each+j%each] = float64(x.Row(row)[j-lo])
			}
		}
	}
	return nil
}

// sharpnesses are the exponents among which logarithms chooses.
var sharpnesses = []float64{0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8}

// logarithms returns the logarithms of the probabilities of the right classes. The scores of a node, divided by their
// sum, are p_c. Its probabilities are proportional to s_c·(p_c/s_c)^q with the shares s_c of the classes among the
// labels and the exponent q that is best for all nodes, because p_c are too cautious where a node has many neighbours.
func (c *chooser) logarithms(scores []float64) (best quality) {
	shares := make([]float64, c.Classes)
	sharp := make([]float64, c.Classes)
	for _, class := range c.Class {
		shares[class] += 1 / float64(len(c.Class))
	}
	for _, exponent := range sharpnesses {
		var q quality
		for i, class := range c.Class {
			if c.Fold[i] >= c.folds {
				continue
			}
			row := scores[i*c.Classes : (i+1)*c.Classes]
			sum := 0.0
			total := 0.0
			for _, v := range row {
				sum += v
			}
			for k, v := range row {
				sharp[k] = 0
				if v > 0 {
					sharp[k] = shares[k] * math.Pow(v/(sum*shares[k]), exponent)
				}
				total += sharp[k]
			}
			p := shares[class]
			if total > 0 {
				p = (1-uncertain)*sharp[class]/total + uncertain*p
			}
			q = append(q, math.Log(p))
		}
		if best == nil || q.sum() > best.sum() {
			best = q
		}
	}
	return best
}

// squares returns the negative squares of the errors of predicted values. The prediction of a node is m + q·r with the mean
// m of all values, the weighted mean r of the differences of other values from m, by the walks that end at the node, and the
// factor q that is best for all nodes.
func (c *chooser) squares(scores []float64) (list quality) {
	farthest := 0.0
	for _, v := range c.Value {
		farthest = max(farthest, math.Abs(v-c.mean))
	}
	predicted := func(i int) float64 {
		weight, sum := scores[2*i], scores[2*i+1]
		if weight <= 0 {
			return 0
		}
		return max(-farthest, min(farthest, sum/weight))
	}
	product := 0.0
	square := 0.0
	for i, v := range c.Value {
		if c.Fold[i] < c.folds {
			r := predicted(i)
			product += float64(r * (v - c.mean))
			square += float64(r * r)
		}
	}
	factor := product / max(square, math.SmallestNonzeroFloat64)
	for i, v := range c.Value {
		if c.Fold[i] < c.folds {
			miss := v - c.mean - float64(factor*predicted(i))
			list = append(list, -float64(miss*miss))
		}
	}
	return list
}
