package sides

import (
	"context"
	"math"
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
