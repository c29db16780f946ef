package generate

import (
	"context"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// blocks draws the edges of a block model without keeping them.
//
// Each node first gets a partner, so that it has an edge. All further edges of two nodes are
// drawn by the one with the smaller number: node u draws a Poisson number of other ends and
// keeps those behind it, each once. Because a pair has one owner, a repeated edge is noticed
// with the memory of one node's edges, and chunks of nodes can be processed in parallel.
type blocks struct {
	g       sbm
	class   []uint16
	weight  []float32 // weight of each node; expected degrees are proportional to it
	table   []entry   // alias tables of all classes, concatenated
	first   []int     // first entry of each class; finally the length of the table
	total   []float64 // total weight of the classes before each class; finally of all
	partner []uint32
	scale   float64 // expected draws of a node for a weight of 1
	chunk   int     // nodes that share a random stream
}

// entry is a column of an alias table: a draw below threshold gives node, other draws alias.
// (Walker, An efficient method for generating discrete random variables with general
// distributions, 1977.)
type entry struct{ threshold, node, alias uint32 }

// EdgesTo writes the edges, in the order of the nodes that own them. Cost: about two draws for
// each edge; 34 bytes of memory for each node.
func (g sbm) EdgesTo(ctx context.Context, w io.Writer) error {
	// A chunk makes about 2^16 draws.
	b := &blocks{g: g, chunk: max(1,
		min(1<<13, int(1<<15*float64(g.nodes)/float64(g.edges))))}
	for _, stage := range []func(context.Context) error{b.drawNodes, b.makeTables, b.drawPartners, b.setScale} {
		if err := stage(ctx); err != nil {
			return err
		}
	}
	if b.scale == 0 {
		return b.writePartners(ctx, w)
	}
	work := make(chan *drawer, g.workers) // one drawer for each worker
	for range g.workers {
		work <- &drawer{b: b}
	}
	return inOrder(ctx, w, g.workers, b.chunks(), func(text []byte, k int) []byte {
		d := <-work
		d.text = text
		d.drawChunk(k)
		work <- d
		return d.text
	})
}

// chunks returns the number of chunks of nodes, each with a random stream of its own.
func (b *blocks) chunks() int {
	return (b.g.nodes + b.chunk - 1) / b.chunk
}

// inChunks calls do for every chunk of nodes with a random stream for the chunk, so that the
// result does not depend on the number of workers.
func (b *blocks) inChunks(ctx context.Context, stream uint64,
	do func(k, lo, hi int, r *rand.Rand)) error {
	return sched.Run(ctx, b.g.workers, b.chunks(), func(_, k int) error {
		do(k, k*b.chunk, min((k+1)*b.chunk, b.g.nodes),
			source(b.g.rngSeed, stream|uint64(k)<<8))
		return nil
	})
}

// drawNodes draws the class and the weight of each node.
func (b *blocks) drawNodes(ctx context.Context) (err error) {
	if b.class, err = b.g.drawClasses(ctx); err != nil {
		return err
	}
	b.weight = make([]float32, b.g.nodes)
	limit := math.Sqrt(float64(b.g.nodes)) * 6 // because heavier nodes would mostly draw pairs that they have
	return b.inChunks(ctx, weightStream, func(_, lo, hi int, r *rand.Rand) {
		for u := lo; u < hi; u++ {
			b.weight[u] = float32(min(limit,
				math.Pow(1-r.Float64(), -1/(b.g.exponent-1))))
		}
	})
}

// makeTables computes the alias table of each class with Vose's method.
func (b *blocks) makeTables(ctx context.Context) error {
	b.table = make([]entry, b.g.nodes)
	b.first, b.total = make([]int, len(b.g.shares)+1),
		make([]float64, len(b.g.shares)+1)
	for u, c := range b.class {
		b.first[c+1]++
		b.total[c+1] += float64(b.weight[u])
	}
	for c := range b.g.shares {
		b.first[c+1] += b.first[c]
		b.total[c+1] += b.total[c]
	}
	next := slices.Clone(b.first)
	for u, c := range b.class {
		b.table[next[c]].node = uint32(u)
		next[c]++
	}
	scaled := make([]float64, 0, b.g.nodes)
	list := make([]uint32, 0, b.g.nodes)
	for c := range b.g.shares {
		if err := ctx.Err(); err != nil {
			return err
		}
		makeTable(b.table[b.first[c]:b.first[c+1]], b.weight,
			b.total[c+1]-b.total[c], scaled, list)
	}
	return nil
}

// makeTable computes one alias table; scaled and list are work space.
func makeTable(t []entry, weight []float32, total float64, scaled []float64,
	list []uint32) {
	scaled = scaled[:len(t)]
	list = list[:len(t)]
	// entries below the mean grow from the left of list, others from the right
	small := 0
	large := len(t)
	for i := range t {
		scaled[i] = float64(weight[t[i].node]) / total * float64(len(t))
		if scaled[i] < 1 {
			list[small] = uint32(i)
			small++
		} else {
			large--
			list[large] = uint32(i)
		}
	}
	for small > 0 && large < len(t) {
		small--
		i, j := list[small], list[large]
		t[i].threshold = uint32(scaled[i] * (1 << 32))
		t[i].alias = t[j].node
		scaled[j] -= 1 - scaled[i]
		if scaled[j] < 1 {
			large++
			list[small] = j
			small++
		}
	}
	for _, remainder := range [][]uint32{list[:small], list[large:]} { // their probability is 1 up to rounding
		for _, i := range remainder {
			t[i].threshold = math.MaxUint32
			t[i].alias = t[i].node
		}
	}
}

// pick is a draw from an alias table before its entry is read. Drawing many picks before reading
// the entries lets the processor read several entries at once.
type pick struct{ index, level uint32 }

// pick draws from the table of a class.
func (b *blocks) pick(r *rand.Rand, class int) pick {
	first := b.first[class]
	x := r.Uint64()
	return pick{uint32(first) +
		uint32(x>>32*uint64(b.first[class+1]-first)>>32), uint32(x)}
}

// node reads the entry of a pick and returns the node.
func (b *blocks) node(p pick) uint32 {
	e := &b.table[p.index]
	if p.level < e.threshold {
		return e.node
	}
	return e.alias
}

// anyClass draws the class of a node with probability proportional to its weight.
func (b *blocks) anyClass(r *rand.Rand) int {
	x := r.Float64() * b.total[len(b.g.shares)]
	c := 0
	if len(b.g.shares) > 16 {
		c = min(sort.SearchFloat64s(b.total[1:], x), len(b.g.shares)-1)
	}
	for c < len(b.g.shares)-1 && b.total[c+1] < x {
		c++
	}
	return c
}

// nextClass returns the class to which edges from a class lead without homophily.
func nextClass(class, classes int) int {
	return (class + 1) % classes
}

// previousClass returns the class from which edges lead to a class without homophily.
func previousClass(class, classes int) int {
	return (class + classes - 1) % classes
}

// weightOf returns the total weight of the nodes of a class.
func (b *blocks) weightOf(class int) float64 {
	return b.total[class+1] - b.total[class]
}

// drawPartners draws a partner for each node.
func (b *blocks) drawPartners(ctx context.Context) error {
	b.partner = make([]uint32, b.g.nodes)
	return b.inChunks(ctx, partnerStream, func(_, lo, hi int, r *rand.Rand) {
		for u := lo; u < hi; u++ {
			b.partner[u] = b.drawPartner(r, u)
		}
	})
}

// maxMisses is the number of times that a node may draw itself before the next node becomes its
// partner, so that a class of one heavy node does not loop forever.
const maxMisses = 1000

// drawPartner draws the other end of an edge that starts at u.
func (b *blocks) drawPartner(r *rand.Rand, u int) uint32 {
	for range maxMisses {
		c := int(b.class[u])
		switch x := r.Float64(); {
		case x < b.g.noise:
			c = b.anyClass(r)
		case x >= b.g.noise+(1-b.g.noise)*b.g.homophily:
			c = nextClass(c, len(b.g.shares))
		}
		if v := b.node(b.pick(r, c)); int(v) != u {
			return v
		}
	}
	return uint32((u + 1) % b.g.nodes)
}

// ownsPartner reports whether u writes the edge to its partner. If two nodes are the partners of
// each other, only the first writes the edge.
func (b *blocks) ownsPartner(u int) bool {
	v := b.partner[u]
	return int(b.partner[v]) != u || u < int(v)
}

// writePartners writes the first edges to partners of a graph with too few edges for others.
func (b *blocks) writePartners(ctx context.Context, w io.Writer) error {
	out := newLines(ctx, w)
	for u, left := 0, b.g.edges; u < b.g.nodes && left > 0; u++ {
		if b.ownsPartner(u) {
			if err := out.edge(u, int(b.partner[u])); err != nil {
				return err
			}
			left--
		}
	}
	return out.w.Flush()
}

// parts holds cumulative bounds of the kinds of other ends that a node draws, as shares of its
// weight. The rate of edges between u of class c and v of class d is
//
//	w_u w_v [m(c,d)/W_d + m(d,c)/W_c],
//
// where w is the weight of a node, W_c the total weight of class c, and m(c,d) the probability
// that an edge from class c leads to class d. The rate is symmetric, so that it does not matter
// which of the two nodes owns the pair.
type parts struct{ noise, ownClass, laterClasses, total float64 }

// parts returns the bounds for a node of a class, with which the expected degrees of both ends are right.
func (b *blocks) parts(class int) parts {
	otherRate := (1 - b.g.noise) * (1 - b.g.homophily)
	p := parts{noise: 2 * b.g.noise}
	p.ownClass = p.noise + float64(2*(1-b.g.noise)*b.g.homophily)
	p.laterClasses = p.ownClass + otherRate
	p.total = p.laterClasses +
		float64(otherRate*b.weightOf(previousClass(class,
			len(b.g.shares)))/b.weightOf(class))
	return p
}

// setScale sets the scale for which the expected number of edges is the requested number. It
// draws up to 256 chunks to estimate the share of repeated edges, which gives three digits.
func (b *blocks) setScale(ctx context.Context) error {
	partners := make([]int, b.chunks())
	rates := make([]float64, b.chunks())
	err := b.inChunks(ctx, partnerStream, func(k, lo, hi int, _ *rand.Rand) {
		for u := lo; u < hi; u++ {
			if b.ownsPartner(u) {
				partners[k]++
			}
			rates[k] += float64(b.weight[u]) * b.parts(int(b.class[u])).total
		}
	})
	if err != nil {
		return err
	}
	edges := b.g.edges
	sum := 0.0
	for k, n := range partners {
		edges -= n
		sum += rates[k]
	}
	if edges <= 0 {
		return nil
	}
	first := 2 * float64(edges) / sum // each edge is drawn at both ends and kept at one
	b.scale = first
	stride := (b.chunks() + 255) / 256
	for range corrections {
		sizes := make([]int, (b.chunks()+stride-1)/stride)
		err := sched.Run(ctx, b.g.workers, len(sizes), func(_, i int) error {
			d := drawer{b: b}
			d.drawChunk(i * stride)
			sizes[i] = d.edges
			return nil
		})
		if err != nil {
			return err
		}
		expected := 0.0
		drawn := 0.0
		for i, n := range sizes {
			k := i * stride
			middle := float64(k*b.chunk+min((k+1)*b.chunk, b.g.nodes)) / 2
			expected += first * rates[k] * (1 - middle/float64(b.g.nodes)) // the share of other ends with a larger number
			drawn += float64(n)
		}
		b.scale *= min(2, expected/max(1, drawn))
	}
	return nil
}

// corrections is the number of corrections of the scale. One suffices unless most pairs of some
// classes are edges.
const corrections = 2

// drawer draws the edges of chunks. It makes many draws before it reads their entries, because
// the processor then reads several entries of the tables at once.
type drawer struct {
	b     *blocks
	text  []byte // lines of the chunk; drawChunk appends to it
	edges int    // number of edges of the chunk except partner edges
	start []uint32
	picks []pick
	nodes []uint32
	seen  []uint64 // hash table of the kept ends of the current node; the high half of an entry is the node
}

// drawChunk draws the edges of chunk k.
func (d *drawer) drawChunk(k int) {
	lo, hi := k*d.b.chunk, min((k+1)*d.b.chunk, d.b.g.nodes)
	r := source(d.b.g.rngSeed, edgeStream|uint64(k)<<8)
	d.start = d.start[:0]
	d.picks = d.picks[:0]
	d.edges = 0
	longest := 0
	for u := lo; u < hi; u++ {
		d.start = append(d.start, uint32(len(d.picks)))
		parts := d.b.parts(int(d.b.class[u]))
		n := int(distuv.Poisson{Lambda: d.b.scale * float64(d.b.weight[u]) * parts.total, Src: r}.Rand())
		for range n {
			d.picks = append(d.picks,
				d.b.pick(r, d.otherClass(r, int(d.b.class[u]), &parts)))
		}
		longest = max(longest, n)
	}
	d.start = append(d.start, uint32(len(d.picks)))
	d.nodes = slices.Grow(d.nodes[:0], len(d.picks))[:len(d.picks)]
	for i, p := range d.picks {
		d.nodes[i] = d.b.node(p)
	}
	if slots := 1 << bits.Len(uint(2*longest)); slots > len(d.seen) {
		d.seen = make([]uint64, slots)
	}
	for u := lo; u < hi; u++ {
		if d.b.ownsPartner(u) {
			d.text = appendEdge(d.text, uint64(u), uint64(d.b.partner[u]))
		}
		for _, v := range d.nodes[d.start[u-lo]:d.start[u-lo+1]] {
			if int(v) > u && d.b.partner[u] != v && d.b.partner[v] != uint32(u) &&
				d.isNew(uint32(u), v) {
				d.edges++
				d.text = appendEdge(d.text, uint64(u), uint64(v))
			}
		}
	}
}

// otherClass draws the class of the other end of an edge.
func (d *drawer) otherClass(r *rand.Rand, class int, p *parts) int {
	switch x := r.Float64() * p.total; {
	case x < p.noise:
		return d.b.anyClass(r)
	case x < p.ownClass:
		return class
	case x < p.laterClasses:
		return nextClass(class, len(d.b.g.shares))
	}
	return previousClass(class, len(d.b.g.shares))
}

// isNew reports whether v was not drawn for u before. Entries of other nodes count as free, so
// that the table needs no clearing between nodes.
func (d *drawer) isNew(u, v uint32) bool {
	key := uint64(u+1)<<32 | uint64(v)
	mask := uint32(len(d.seen) - 1)
	for slot := v * 0x9e3779b1 & mask; ; slot = (slot + 1) & mask {
		switch {
		case d.seen[slot] == key:
			return false
		case d.seen[slot]>>32 != uint64(u+1):
			d.seen[slot] = key
			return true
		}
	}
}
