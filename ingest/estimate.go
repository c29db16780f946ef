package ingest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/bits"

	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// Plan is what a call of [Run] will take, guessed from samples of its inputs.
// The bytes are upper bounds if the samples are like the rest.
type Plan struct {
	Memory int64 // bytes resident at once, beside the program itself
	Temp   int64 // bytes of temporary files
	Disk   int64 // bytes of the store
	Passes int   // over the lines, to sort them

	Lines, Nodes, Entries int64
}

// Estimate tells what [Run] would take for these inputs and settings, without
// reading more than samples of them. With too little memory for its parts that
// do not shrink, the error is a [*MemoryError]; standard input, which can be
// read only once, gives an [*InputError].
func Estimate(ctx context.Context, inputs []string, c *Config) (*Plan, error) {
	g := guess{known: map[string]int{}, numeric: true}
	if c != nil {
		g.c = *c
	}
	if err := g.c.Validate(); err != nil {
		return nil, err
	}
	if err := distinctInputs(inputs); err != nil {
		return nil, err
	}
	for _, path := range inputs {
		if err := g.file(ctx, path); err != nil {
			return nil, err
		}
	}
	return g.plan()
}

// guess is what is known of inputs from samples.
type guess struct {
	c        Config
	lines    float64
	weighted bool

	// Of the sampled ids.
	known   map[string]int // how often each occurs
	sampled float64        // lines
	tokens  float64
	bytes   float64 // of distinct ones
	numeric bool    // small numbers only
	top     uint32  // the largest of them

	matrix uint64 // rows that an input declares
}

// Samples of a file: one at its start, others spread over it.
const (
	samples     = 64
	sampleBytes = 32 << 10
)

// file samples one input.
func (g *guess) file(ctx context.Context, path string) error {
	if path == "-" {
		return &InputError{Place: "-", Msg: "standard input can be read only once", Fix: "name a file"}
	}
	in, err := textio.Open(ctx, path, &textio.Options{Any: true})
	if err != nil {
		return translate(path, err)
	}
	defer in.Close()
	_, size := in.Progress()
	if format := recognize(in); format != graphfile.EdgeList {
		const edge = 8 // bytes, in most files
		g.lines += float64(size) / edge
		return nil
	}
	head, err := in.Head()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return translate(path, err)
	}
	var lay *layout
	if isMarket(in.Name(), head) {
		var m *market
		if lay, m, err = planMarket(in.Name(), in, &tally{}); err != nil {
			return translate(path, err)
		}
		g.lines += float64(m.entries)
		g.weighted = g.weighted || !m.pattern
		g.matrix = max(g.matrix, m.rows)
		return nil
	}
	if lay, err = g.c.plan(in.Name(), head, nil); err != nil || lay == nil {
		return err
	}
	g.weighted = g.weighted || lay.weight >= 0
	lines, text := g.sample(lay, head.Data, head.First)
	all := float64(size)
	if file, _ := in.File(); file != nil && size > samples*sampleBytes {
		buf := make([]byte, sampleBytes)
		for i := 1; i < samples; i++ {
			n, err := file.ReadAt(buf, size/samples*int64(i))
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			from, to := bytes.IndexByte(buf[:n], '\n')+1, bytes.LastIndexByte(buf[:n], '\n')+1
			if from >= to {
				continue
			}
			l, t := g.sample(lay, buf[from:to], lay.first)
			lines, text = lines+l, text+t
		}
	} else if packed, _ := in.Progress(); file == nil && packed > 0 {
		all *= max(1, float64(len(head.Data))/float64(packed))
	}
	g.lines += lines / max(1, text) * all
	return nil
}

// sample takes note of the lines of a piece of text, the first of which has
// this number, and returns how many edges it holds in how many bytes.
func (g *guess) sample(lay *layout, text []byte, number int64) (lines, read float64) {
	var f fields
	read = float64(len(text))
	for ; len(text) > 0; number++ {
		end := bytes.IndexByte(text, '\n')
		line := text[:end]
		text = text[end+1:]
		if number < lay.first || isComment(line) || f.split(line, lay.sep) != nil || len(f.text) <= max(lay.source, lay.target) {
			continue
		}
		lines++
		for _, i := range [...]int{lay.source, lay.target} {
			id := f.text[i]
			g.tokens++
			if g.known[string(id)]++; g.known[string(id)] == 1 {
				g.bytes += float64(len(id))
			}
			v, ok := smallNumber(id)
			g.numeric = g.numeric && ok
			g.top = max(g.top, v)
		}
	}
	g.sampled += lines
	return lines, read
}

// nodes guesses how many distinct ids there are: what the sample has and, by
// Chao's estimator from those that it has once and twice, what it lacks;
// a sample cannot tell more than that.
func (g *guess) nodes() float64 {
	if g.matrix > 0 {
		return float64(g.matrix)
	}
	var once, twice float64
	for _, n := range g.known {
		switch n {
		case 1:
			once++
		case 2:
			twice++
		}
	}
	n := float64(len(g.known))
	if g.tokens < 2*g.lines {
		n += once * (once - 1) / (2 * (twice + 1))
	}
	n = min(n*1.3, max(float64(len(g.known)), 2*g.lines))
	if g.numeric {
		n = min(n, float64(g.top)*1.1+1)
	}
	return n
}

// plan adds up what the guessed graph takes; see run.beside and sorter.
func (g *guess) plan() (*Plan, error) {
	n, lines := g.nodes(), g.lines
	entries := 2 * lines
	if g.c.Directed {
		entries = lines // of each direction
	}
	workers := float64(sched.Workers(g.c.Workers))
	column := uint(bits.Len64(uint64(max(n-1, 1))))
	each, line := 8.0, 8.0
	if column < 31 && n <= float64(narrowBuckets)*float64(uint64(1)<<(31-column)) {
		each = 4
	}
	values := 0.0
	if g.weighted || g.c.Duplicates == SumDuplicates {
		values = 8
	}
	if g.weighted {
		line += 8
	}
	parts := lines * line
	keys := min(entries*(each+values), max(lines*(8+values), roundEntries*(each+values)))
	rows := 16 * n
	ids := n * 8
	if g.numeric {
		rows += float64(g.top) * 3 / 16
	} else if len(g.known) > 0 {
		text := g.bytes / float64(len(g.known))
		ids = n * (24 + 16 + 1.25*text + 20 + text) // slots, entries and text, and what numbers them
	}
	if g.c.Order != DefaultOrder {
		rows += 40 * n
	}
	graph := 0.0
	switch g.c.Order {
	case BreadthFirstOrder, CuthillMcKeeOrder:
		graph = 8 * lines
	case LocalityOrder:
		graph = 24 * lines
	}
	fixed := workers*workerBytes + pageBytes + rows + ids
	p := &Plan{Lines: int64(lines), Nodes: int64(n), Entries: int64(entries), Passes: 1}
	need := parts + max(keys, graph+roundEntries*each) + fixed
	if limit := float64(g.c.Memory); limit > 0 && need > limit {
		if fixed+graph+roundsBytes > limit {
			return nil, &MemoryError{Need: int64(fixed + graph + roundsBytes), Limit: g.c.Memory}
		}
		if parts+fixed > spillAbove*limit || parts+fixed+entries*(each+values) > limit {
			p.Temp = int64(g.temporary(n))
		}
		p.Passes = int(entries*(each+values)/(limit-fixed)) + 1
		need = limit
	}
	p.Memory = int64(need)
	disk := storeBytes(n, entries, g.weighted, g.c.Directed, g.c.Order != DefaultOrder)
	if !g.numeric && len(g.known) > 0 {
		disk += n * (g.bytes/float64(len(g.known)) + 6)
	}
	p.Disk = int64(disk)
	return p, nil
}

// temporary guesses the bytes of the temporary file with all lines in it.
func (g *guess) temporary(n float64) float64 {
	bits := float64(2 * codeWidth(uint32(min(n, math.MaxUint32))))
	switch {
	case g.numeric && g.matrix == 0:
		bits = float64(2 * codeWidth(g.top))
	case !g.numeric:
		bits = 64
	}
	if g.weighted {
		bits += 64
	}
	return g.lines * (bits + 1) / 8
}

// storeBytes guesses the bytes of a store without the text of its ids: the gaps
// between the columns of a row have the size of n over its length, and the code
// adds a few bits. Entries are those of one direction.
func storeBytes(n, entries float64, weighted, directed, ordered bool) float64 {
	const more = 3.5 // bits
	gap := math.Log2(max(2, n*n/max(1, entries))) + more
	size := entries*gap/8 + 2*n
	if weighted {
		size += 8 * entries
	}
	if directed {
		size *= 2
	}
	if weighted {
		size += 8 * n
	}
	if ordered {
		size += 4 * n
	}
	return size
}
