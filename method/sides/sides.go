package sides

import (
	"context"
	"math"
	"sync"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Edges are the edges of a store with kinds or times. A factor is open if Options leave its choice to labels.
type Edges struct {
	Store    *shard.Store
	Options  *Options
	Weighted bool             // lines of the store have weights
	Division *sparse.Division // division of the rows among processes; nil: one process
	Streamed bool             // sweeps read the store from disk

	choices sync.Map // cached choices, by checksum
}

// Choice has the factors of edges.
type Choice struct {
	Kinds    []float64       // weight of each kind, at most 1 if chosen; nil without kinds
	HalfLife float64         // in units of times; +Inf: no decay
	Book     *shard.Codebook // codebook of all factors
	IsGiven  bool            // all factors were given

	given *Options
	names []string
}

// IsOpen reports whether labels are to choose factors.
func (e *Edges) IsOpen() bool {
	return e.Options.Kinds == nil && len(e.Store.Manifest.Kinds) > 1 ||
		e.Options.HalfLife == ChosenHalfLife
}

// HasFactors reports whether a kind has a factor other than 1, edges have a half-life, or labels are to choose factors.
// Factors may be given or kept in k.
func (e *Edges) HasFactors(k *Kept) bool {
	o := e.complete(k)
	for _, w := range o.Kinds {
		if w != 1 {
			return true
		}
	}
	return e.IsOpen() || o.HalfLife != ""
}

// Given returns the given factors. Factors that labels are to choose are 1.
func (e *Edges) Given() *Choice {
	m := e.Store.Manifest
	c := &Choice{HalfLife: math.Inf(1), Book: e.Options.Book(m), IsGiven: true, given: e.Options}
	if c.Book == nil {
		c.Book = new(shard.Codebook)
	}
	c.Kinds = c.Book.Kinds
	for _, kind := range m.Kinds {
		c.names = append(c.names, kind.Name)
	}
	if m.Times != nil {
		c.HalfLife, _ = e.Options.halfLife(m.Times)
	}
	return c
}

// Of returns c with another function of the weights of entries.
func (c *Choice) Of(values shard.Values) *Choice {
	out := *c
	book := *c.Book
	book.Values = values
	out.Book = &book
	return &out
}

// entries returns the number of entries that a step of a walk reads: the arcs of a directed graph twice.
func (e *Edges) entries() int64 {
	if e.Store.Manifest.Directed {
		return 2 * e.Store.NNZ()
	}
	return e.Store.NNZ()
}

// ByName returns the weight of each kind by the name of the kind.
func (c *Choice) ByName() map[string]float64 {
	weights := map[string]float64{}
	for kind, w := range c.Kinds {
		weights[c.names[kind]] = w
	}
	return weights
}

// Workspace declares the memory of [Edges.Choose] for labels l.
func (e *Edges) Workspace(l *Labels) budget.Workspace {
	n, _ := e.Store.Dims()
	return NewEvidence(l, e.entries(), 0, 0).Workspace(n)
}

// Matrices returns the adjacency matrix with the factors of book, and its transpose. All entries of a pair of nodes are
// added up to one entry. Cost: a sweep for each matrix.
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
