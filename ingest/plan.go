package ingest

import (
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/ingest/internal/ids"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/spec"
)

// extent returns what samples tell of the graph, with all lines in memory.
func (g *guess) extent() *extent {
	n := float64(g.matrix)
	if g.matrix == 0 {
		n = g.distinct(g.lines)
	}
	n, text := n+float64(g.made.Nodes), int64(n*g.idBytes())+g.made.Text
	lines := g.lines + float64(g.made.Lines)
	e := &extent{c: &g.c, nodes: int64(n), lines: int64(lines), readers: g.readers + g.made.Held}
	e.workers = min(sched.Workers(g.c.Workers), int(max(math.Ceil(g.chunks), n/sort.MaxBucketRows, 1)))
	line := int64(8)
	if g.weighted {
		line += 8
	}
	e.held, e.values = e.lines*line, g.weighted || g.c.Duplicates == SumDuplicates
	switch {
	case g.hasDict():
		e.text = text
		e.dict, e.known = ids.DictBytes(e.nodes, e.text), ids.KnownBytes(e.nodes, e.text)
	default:
		e.bits = ids.BitmapLimit(int64(g.top) + 1)
		if !g.areRows() {
			e.known = 4 * e.nodes
		}
	}
	e.order = g.c.Order.possible(int(e.nodes), int(e.lines))
	if late := int(g.top) + 1; e.order == DegreeOrder && g.numeric && !g.areRows() && late <= lateIDs(int(e.nodes), g.c.Memory) {
		e.codes = int64(late)
	}
	return e
}

// ordered returns the graph once it has its order.
func (e *extent) ordered() *extent {
	o := *e
	o.placed = o.order != DefaultOrder
	return &o
}

// sorter returns the sorter of the graph's entries, or of those that an order looks at,
// within a limit; 0 is none.
func (g *guess) sorter(e *extent, pattern bool, limit int64) *sort.Sorter {
	s := &sort.Sorter{Workers: e.workers, Rows: int(max(1, e.nodes)), Values: e.values && !pattern, Limit: limit}
	if g.c.Directed && !pattern {
		s.View = sort.Outgoing
	}
	hubs := g.hubs(2*e.workers, g.lines)
	for i := range hubs {
		hubs[i] += int(g.made.Nodes)
	}
	s.Suppose(int(e.lines), int(g.chunks)+1, hubs)
	return s
}

// plan bounds what a run takes within the limit.
func (g *guess) plan() (*Size, error) {
	e := g.extent()
	p := &Size{Lines: e.lines, Nodes: e.nodes, Entries: 2 * e.lines, Passes: 1}
	if g.c.Directed {
		p.Entries = e.lines // of each direction
	}
	ordered, sorter := e.ordered(), g.sorter(e, false, 0)
	p.Reading = e.reading()
	p.Memory = spec.Larger(p.Reading, ordered.sorting(sorter))
	p.Memory = spec.Larger(p.Memory, e.ordering(g.sorter(e, true, 0)))
	p.Disk = int64(storeBytes(float64(e.nodes), float64(p.Entries), g.weighted, g.c.Directed, e.order != DefaultOrder))
	if !g.numeric {
		p.Disk += int64(float64(e.nodes) * (g.idBytes() + 6))
	}
	if g.c.Memory == 0 {
		return p, nil
	}
	spilled, err := g.spilled(e)
	if err != nil {
		return nil, g.least(err)
	}
	if spilled > 0 {
		p.Temp, p.Passes = spilled, 2
	}
	cut := spec.Bytes{What: "lines, ids and entries, others on disk", Bytes: g.c.Memory}
	if spec.Sum(p.Memory) > g.c.Memory {
		p.Memory = []spec.Bytes{cut}
	}
	if spec.Sum(p.Reading) > g.c.Memory {
		p.Reading = []spec.Bytes{cut}
	}
	if spilled > 0 || !e.fits() || spec.Sum(p.Memory) >= g.c.Memory {
		p.Temp += int64(g.temporary(float64(e.nodes)))
	}
	return p, nil
}

// spilled bounds the bytes of entries that go to the temporary file with no line in
// memory. A limit that is too low is a [*LimitError].
func (g *guess) spilled(e *extent) (bytes int64, err error) {
	bare := *e
	bare.held = 0
	if need := spec.Sum(bare.reading()); need > g.c.Memory {
		return 0, &LimitError{Need: need, Limit: g.c.Memory}
	}
	if need, over := bare.looking(); over {
		return 0, &LimitError{Need: need, Limit: g.c.Memory}
	}
	if bare.order != DefaultOrder {
		pattern := bare.order != DegreeOrder
		if bytes, err = g.within(&bare, pattern, spec.Sum(bare.beside())+bare.graph()); err != nil {
			return 0, err
		}
	}
	ordered := bare.ordered()
	more, err := g.within(ordered, false, spec.Sum(ordered.beside()))
	return max(bytes, more), err
}

// within bounds the bytes of entries that go to the temporary file where so many bytes
// of the limit are taken.
func (g *guess) within(e *extent, pattern bool, taken int64) (int64, error) {
	s := g.sorter(e, pattern, max(1, g.c.Memory-taken))
	spilled, err := s.Spilled()
	if over := new(*sort.MemoryError); errors.As(err, over) {
		return 0, &LimitError{Need: max(taken, g.c.Memory) + (*over).Need - (*over).Limit, Limit: g.c.Memory}
	}
	if spilled > 0 {
		const span = 32 // one part of so many of the entries may go to disk beside them
		spilled += s.Memory()[0].Bytes / span
	}
	return spilled, err
}

// least makes the need of a limit that was found too low one that is enough.
func (g *guess) least(err error) error {
	e := new(*LimitError)
	limit := g.c.Memory
	for errors.As(err, e) {
		g.c.Memory = (*e).Need
		_, err = g.spilled(g.extent())
	}
	if err != nil {
		return err
	}
	(*e).Need, (*e).Limit = g.c.Memory, limit
	if g.c.Order != DefaultOrder {
		g.c.Order, g.c.Memory = DefaultOrder, limit
		_, err := g.spilled(g.extent())
		(*e).Unordered = err == nil
	}
	return *e
}

// temporary guesses the bytes of the temporary file with all lines in it.
func (g *guess) temporary(n float64) float64 {
	bits := float64(2 * sort.CodeWidth(uint32(min(n, math.MaxUint32))))
	switch {
	case !g.numeric:
		bits = 64
	case g.hasDict(): // which the numbers go to once all are known
		bits = 64 + float64(2*sort.CodeWidth(g.top))
	case g.matrix == 0:
		bits = float64(2 * sort.CodeWidth(g.top))
	}
	if g.weighted {
		bits += 64
	}
	return (g.lines + float64(g.made.Lines)) * (bits + 1) / 8
}

// areRows reports whether the ids are known to be the numbers of their rows.
func (g *guess) areRows() bool { return g.dense || g.c.Nodes == "" && g.gapless() }

// hasDict reports whether the ids go through a dictionary: some are text, or numbers
// too far apart for a bitmap.
func (g *guess) hasDict() bool {
	return !g.numeric || !g.dense && g.matrix == 0 && float64(g.top) >= max(ids.DenseBits, ids.IDBits*2*g.lines)
}
