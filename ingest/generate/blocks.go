package generate

import (
	"cmp"
	"context"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// blocks draws the edges of a block model without keeping them.
//
// Every node has a place. Places are sorted by class and then by decreasing weight. In a class of n nodes,
// the node at rank r, counted from 0, has the share G((r+1)/n) − G(r/n) of the weight of the class. The
// edge u–v is drawn at the rate
//
//	w_u w_v [m(c,d)/W_d + m(d,c)/W_c]
//
// where c and d are the classes of u and v, w is the weight of a node, W_c = n_c is the weight of class c,
// and m(c,d) is the probability that an edge of class c leads to class d. The end with the larger rank in its
// class owns the edge. If the ranks are equal, the end in the class with the larger number owns it. Each node
// first draws the number of edges that it owns, and then this number of different ends. Hence repeated edges
// are found with the memory of one node, and chunks of nodes are processed in parallel.
type blocks struct {
	g     sbm
	place []uint32 // place of each node
	node  []uint32 // node at each place
	count []uint32 // number of edges that each node owns
	near  [][]int
	chunk int // number of nodes that share a random stream

	offset, low, norm, power float64 // G(t) = ((t+offset)^power − low)/norm
}

// EdgesTo writes the edges in the order of the nodes that own them. It needs 12 bytes for each node, and
// draws little more than one end for each edge.
func (g sbm) EdgesTo(ctx context.Context, w io.Writer) error {
	b, err := g.newBlocks(ctx)
	if err != nil {
		return err
	}
	if err := b.drawCounts(ctx); err != nil {
		return err
	}
	work := make(chan *drawer, g.workers)
	for range g.workers {
		work <- &drawer{blocks: b}
	}
	return inOrder(ctx, w, g.workers, b.chunks(), func(text []byte, k int) []byte {
		d := <-work
		text = d.drawChunk(text, k)
		work <- d
		return text
	})
}

// newBlocks determines the places of the nodes and the distribution of weights.
func (g sbm) newBlocks(ctx context.Context) (*blocks, error) {
	// A chunk has about 2^15 edges.
	b := &blocks{g: g, chunk: max(1, min(1<<13, int(1<<15*float64(g.nodes)/float64(max(1, g.edges)))))}
	b.power = 1 - 1/(g.exponent-1)
	limit := 6 * math.Sqrt(float64(g.nodes)) // limit of weights: heavier nodes would mostly draw pairs that they have
	b.offset = math.Pow(limit, 1-g.exponent)
	b.low = math.Pow(b.offset, b.power)
	b.norm = math.Pow(1+b.offset, b.power) - b.low
	var err error
	if b.place, err = g.places(ctx); err != nil {
		return nil, err
	}
	b.node = make([]uint32, g.nodes)
	for u, p := range b.place {
		b.node[p] = uint32(u)
	}
	b.count = make([]uint32, g.nodes)
	for c := range g.classes() {
		b.near = append(b.near, g.neighbours(c))
	}
	return b, nil
}

func (b *blocks) chunks() int {
	return (b.g.nodes + b.chunk - 1) / b.chunk
}

// shareOf returns G(rank/n), the share of the weight of a class of n nodes that its first rank nodes have,
// see [blocks].
func (b *blocks) shareOf(rank, n int) float64 {
	if rank == n || b.power == 1 {
		return float64(rank) / float64(n)
	}
	return (math.Exp(b.power*math.Log(float64(rank)/float64(n)+b.offset)) - b.low) / b.norm
}

// rankAt returns the rank r ≤ n, rounded down, with shareOf(r, n) = x.
func (b *blocks) rankAt(x float64, n int) int {
	if b.power == 1 {
		return int(x * float64(n))
	}
	return int(float64(n) * (math.Exp(math.Log(x*b.norm+b.low)/b.power) - b.offset))
}

// option is a set of ends that a node may draw: the first nodes of a class, or, if all is set, all nodes of a
// class and of all later classes. ends is their number.
type option struct {
	class, ends int
	all         bool
	share       float64 // share of the weight of the class
	rate        float64
}

// options appends the options of the node at place p to list. It returns the sum of their rates and the
// number of ends. The classes with fewer nodes than the rank of the node are a single option, so that many
// small classes cost no time.
func (b *blocks) options(list []option, p int) (_ []option, total float64, ends int) {
	c := b.g.classAt(p)
	rank := p - b.g.first[c]
	n := b.g.size(c)
	weight := float64(n) * (b.shareOf(rank+1, n) - b.shareOf(rank, n))
	add := func(d int, rate float64) {
		o := option{class: d, ends: b.endsIn(d, c, rank)}
		if o.ends > 0 && rate > 0 {
			o.share = b.shareOf(o.ends, b.g.size(d))
			o.rate = weight * rate * o.share
			total += o.rate
			ends += o.ends
			list = append(list, o)
		}
	}
	for _, d := range b.near[c] {
		add(d, b.g.affinity(c, d))
	}
	if b.g.noise == 0 {
		return list, total, ends
	}
	ends = 0 // the list of all nodes includes these ends
	noise := 2 * b.g.noise / float64(b.g.nodes)
	d := 0
	for ; d < b.g.classes() && b.g.size(d) >= rank; d++ { // later classes have at most one node more
		add(d, noise*float64(b.g.size(d)))
	}
	if rest := b.g.nodes - b.g.first[d]; rest > 0 {
		rate := weight * noise * float64(rest)
		list = append(list, option{class: d, ends: rest, all: true, rate: rate})
		total += rate
		ends += rest
	}
	return list, total, ends
}

// endsIn returns the number of nodes of class d to which a node of class c with the given rank may own an
// edge.
func (b *blocks) endsIn(d, c, rank int) int {
	if d < c {
		rank++
	}
	return min(rank, b.g.size(d))
}

// drawCounts draws for each node a Poisson number of edges that the node owns. If there are enough edges for
// all nodes, it adds one to each number. It then adds or removes edges at random nodes until the total is
// right.
func (b *blocks) drawCounts(ctx context.Context) error {
	least := 0
	if b.g.edges >= b.g.nodes-1 && !b.g.isUniform {
		least = 1
	}
	scale := max(0, float64(b.g.edges)/float64(b.g.nodes)-float64(least)) // the rates of all pairs have the sum nodes
	sums := make([]int, b.chunks())
	err := sched.Run(ctx, b.g.workers, b.chunks(), func(_, k int) error {
		r := source(b.g.rngSeed, weightStream|uint64(k)<<8)
		var list []option
		for u := k * b.chunk; u < min((k+1)*b.chunk, b.g.nodes); u++ {
			var rate float64
			var ends int
			list, rate, ends = b.options(list[:0], int(b.place[u]))
			n := 0
			if rate > 0 {
				n = int(distuv.Poisson{Lambda: scale * rate, Src: r}.Rand())
			}
			n = min(n+least, ends)
			b.count[u] = uint32(n)
			sums[k] += n
		}
		return nil
	})
	missing := b.g.edges
	for _, n := range sums {
		missing -= n
	}
	r := source(b.g.rngSeed, weightStream|uint64(b.chunks())<<8)
	var list []option
	for step := 0; err == nil && missing != 0; step++ {
		err = checkContext(ctx, step)
		u := r.IntN(b.g.nodes)
		if missing < 0 {
			if int(b.count[u]) > least {
				b.count[u]--
				missing++
			}
			continue
		}
		var ends int
		if list, _, ends = b.options(list[:0], int(b.place[u])); int(b.count[u]) < ends {
			b.count[u]++
			missing--
		}
	}
	return err
}

type drawer struct {
	*blocks
	list []option
	ends []uint32 // places of the other ends of a node
}

func (d *drawer) drawChunk(text []byte, k int) []byte {
	r := source(d.g.rngSeed, edgeStream|uint64(k)<<8)
	for u := k * d.chunk; u < min((k+1)*d.chunk, d.g.nodes); u++ {
		d.drawEnds(r, int(d.place[u]), int(d.count[u]))
		for _, p := range d.ends {
			text = appendEdge(text, uint64(u), uint64(d.node[p]))
		}
	}
	return text
}

// drawEnds draws count different ends for the edges that the node at place p owns, and stores them in d.ends.
func (d *drawer) drawEnds(r *rand.Rand, p, count int) {
	d.ends = d.ends[:0]
	if count == 0 {
		return
	}
	var total float64
	var ends int
	d.list, total, ends = d.options(d.list[:0], p)
	for draws := 0; len(d.ends) < count; {
		if draws > count+ends {
			d.drawRest(r, p, count)
			return
		}
		draws += count - len(d.ends)
		for range count - len(d.ends) {
			d.ends = append(d.ends, d.drawEnd(r, r.Float64()*total))
		}
		slices.Sort(d.ends)
		d.ends = slices.Compact(d.ends)
	}
}

// drawEnd returns the place of a random end. x chooses the option; it must be a random number below the sum
// of the rates of the options.
func (d *drawer) drawEnd(r *rand.Rand, x float64) uint32 {
	i := 0
	for ; i < len(d.list)-1 && x >= d.list[i].rate; i++ {
		x -= d.list[i].rate
	}
	o := &d.list[i]
	class, ends, share := o.class, o.ends, o.share
	if o.all {
		class = d.g.classAt(d.g.first[class] + r.IntN(ends))
		ends, share = d.g.size(class), 1
	}
	rank := d.rankAt(r.Float64()*share, d.g.size(class))
	return uint32(d.g.first[class] + min(max(rank, 0), ends-1))
}

// drawRest draws the remaining ends from a list of all possible ends, which is faster if most draws would
// repeat an end. Ends in the order of independent exponential times have the distribution of ends drawn
// without repetition. (Efraimidis and Spirakis, Weighted random sampling with a reservoir, 2006.)
func (d *drawer) drawRest(r *rand.Rand, p, count int) {
	type arrival struct {
		time  float64
		place int
	}
	var list []arrival
	c := d.g.classAt(p)
	for class := range d.g.classes() {
		n := d.g.size(class)
		rate := 2*d.g.noise*float64(n)/float64(d.g.nodes) + d.g.affinity(c, class)
		for rank := range d.endsIn(class, c, p-d.g.first[c]) {
			place := d.g.first[class] + rank
			if _, isDrawn := slices.BinarySearch(d.ends, uint32(place)); !isDrawn && rate > 0 {
				list = append(list, arrival{r.ExpFloat64() / (rate * (d.shareOf(rank+1, n) - d.shareOf(rank, n))), place})
			}
		}
	}
	slices.SortFunc(list, func(a, b arrival) int { return cmp.Compare(a.time, b.time) })
	for _, a := range list[:count-len(d.ends)] {
		d.ends = append(d.ends, uint32(a.place))
	}
}
