package sides

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"sync"

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

	choices sync.Map // by sums of labels
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

// IsOpen reports whether some factors are to be chosen.
func (e *Edges) IsOpen() bool {
	return e.Options.Kinds == nil && len(e.Store.Manifest.Kinds) > 1 ||
		e.Options.HalfLife == ChosenHalfLife
}

// HasFactors reports whether edges have factors of kinds or of a half-life, given or to be chosen.
func (e *Edges) HasFactors() bool {
	return e.IsOpen() || e.Options.Kinds != nil || e.Options.HalfLife != ""
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

// CountOnes returns the choice with entries of the weight 1 in place of their values.
func (c *Choice) CountOnes() *Choice {
	out := *c
	book := *c.Book
	book.Ones = true
	out.Book = &book
	return &out
}

// Choose chooses the factors that are open, of entries of the weight 1 if ones is set. The memory of its walks is at most a quarter of the given one if that is not 0. It
// chooses once for the same labels. The error is that of a sweep or of memory.
// Cost: steps sweeps over a block with a column for each class and fold, for some dozen vectors of weights.
func (e *Edges) Choose(ctx context.Context, l *Labels, ones bool, memory int64,
	workers int) (*Choice, error) {
	key := sha256.Sum256(fmt.Append(nil, *l, ones))
	if cached, isCached := e.choices.Load(key); isCached {
		return cached.(*Choice), nil
	}
	c := &chooser{Edges: e, Evidence: NewEvidence(l, e.entries(), memory, workers)}
	out := e.Given()
	c.fixed = *out.Book
	c.fixed.Ones = ones
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
	e.choices.Store(key, out)
	return out, nil
}

// entries returns the number of entries of a step of a walk.
func (e *Edges) entries() int64 {
	if e.Store.Manifest.Directed {
		return 2 * e.Store.NNZ()
	}
	return e.Store.NNZ()
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
		c.Kinds = factorsOf(m, k.Kinds)
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
	*Evidence
	fixed shard.Codebook // of the options
}

// book returns the codebook of weights of kinds and a half-life, +Inf for the given one.
func (c *chooser) book(kinds []float64, halfLife float64) *shard.Codebook {
	b := c.fixed
	b.Kinds = kinds
	if !math.IsInf(halfLife, 1) {
		b.Times = c.Options.factors(c.Store.Manifest.Times, halfLife)
	}
	return &b
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
		if err != nil || !q.IsBetter(best, 1) {
			return false, err
		}
		weights = changed
		best = q
		return true, nil
	}
	for _, k := range order {
		for _, step := range []float64{1. / factor, factor} {
			for w := step; leastWeight <= w && w <= mostWeight; w *= step {
				ok, err := try(k, w)
				if err != nil {
					return err
				}
				if !ok {
					break
				}
			}
			if weights[k] != 1 { // one that is better lower is not raised
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
		if q.isUseful(undecayed) && q.IsBetter(best, 1) {
			best = q
			out.HalfLife = h
		}
		h /= 2
	}
	return nil
}

// qualityOf returns the quality of weights for the labels of the predicted folds.
func (c *chooser) qualityOf(ctx context.Context,
	book *shard.Codebook) (Quality, error) {
	a, back := shard.ApplyCodebook(c.Store, book)
	if c.Store.Manifest.Negative > 0 { // entries of a pair may cancel
		var err error
		if a, back, err = c.Matrices(ctx, book, c.workers); err != nil {
			return nil, err
		}
	}
	if !c.Store.Manifest.Directed {
		back = nil
	}
	return c.QualityOf(ctx, sparse.NormalizedAdjacency, a, back)
}

// Bytes returns the memory of [Edges.Choose].
func (e *Edges) Bytes(l *Labels, memory int64) int64 {
	n, _ := e.Store.Dims()
	return NewEvidence(l, e.entries(), memory, 0).Bytes(n)
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
