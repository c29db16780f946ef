package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/ingest/internal/ids"
	"github.com/heatwalk/heatwalk/ingest/internal/sketch"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
)

// Plan bounds what a call of [Run] will take, by samples of its inputs: no
// number is too low if the samples are like the rest.
type Plan struct {
	Memory []spec.Bytes // at once, beside the program itself
	Temp   int64        // bytes of temporary files
	Disk   int64        // bytes of the store
	Passes int          // over the entries: 2 if they do not fit the memory together

	Lines, Nodes, Entries int64
}

// Estimate tells what [Run] would take for these inputs and settings, without
// reading more than samples of them. With too little memory for its parts that
// do not shrink, the error is a [*MemoryError]; standard input, which can be
// read only once, gives an [*nodefile.InputError].
func Estimate(ctx context.Context, inputs []string, c *Config) (*Plan, error) {
	g := guess{known: sketch.NewDistinct(), odd: sketch.NewDistinct(), numeric: true, whole: true}
	if c != nil {
		g.c = *c
	}
	if err := g.c.validate(); err != nil {
		return nil, err
	}
	if err := g.c.distinctInputs(inputs); err != nil {
		return nil, err
	}
	g.share = max(sampleBlock, sampleText/int64(max(len(inputs), 1)))
	for _, path := range inputs {
		if err := g.file(ctx, path); err != nil {
			return nil, err
		}
	}
	return g.plan()
}

// Counts is what is known of a stream of lines between nodes with the numbers
// from 0.
type Counts struct {
	Nodes, Lines int64 // at the most
	Whole        bool  // every node has a line
}

// EstimateCounts is Estimate for a stream of so many lines.
func EstimateCounts(n Counts, c *Config) (*Plan, error) {
	const text = 8 // bytes of a line, at the least
	g := guess{
		numeric: true, top: uint32(max(n.Nodes-1, 0)), matrix: uint64(n.Nodes), dense: n.Whole,
		lines: float64(n.Lines), chunks: float64(n.Lines) * text / textio.ChunkBytes,
	}
	if c != nil {
		g.c = *c
	}
	if err := g.c.validate(); err != nil {
		return nil, err
	}
	return g.plan()
}

// guess is what is known of inputs from samples.
type guess struct {
	c        Config
	share    int64 // bytes of text to look at in each input
	lines    float64
	chunks   float64 // of text
	weighted bool
	whole    bool    // no input has more than its share
	matrix   uint64  // rows that an input declares
	dense    bool    // their ids are their numbers, which takes no dictionary
	reader   int64   // bytes that the reader of a format takes, at the most
	window   float64 // bytes that decompressing takes while lines are read, if they are many

	// Of the sampled ids.
	tokens, oddTokens float64          // all, and those of every other block
	often             []uint32         // how many have each of so many remainders of their hash
	known, odd        *sketch.Distinct // the same
	bytes             float64          // of all
	numeric           bool             // small numbers only
	top               uint32           // the largest of them

	code   []uint32
	weight []float64
}

// Samples: so much text of all inputs together, of a large file in blocks that
// are spread over it.
const (
	sampleText  = 64 << 20
	sampleBlock = 256 << 10
)

// file samples one input.
func (g *guess) file(ctx context.Context, path string) error {
	if path == "-" {
		return &nodefile.InputError{Place: "-", Msg: "standard input can be read only once", Fix: "name a file"}
	}
	in, err := textio.Open(ctx, path, &textio.Options{Any: true, Window: cmp.Or(g.c.Window, textio.DefaultWindow), WindowFlag: textio.WindowFlag})
	if err != nil {
		return nodefile.Translate(path, err)
	}
	defer in.Close()
	g.window = max(g.window, float64(unusualWindow(in)))
	_, size := in.Progress()
	format, err := g.c.recognize(in)
	if err != nil {
		return err
	}
	if format != graphfile.EdgeList {
		return g.foreign(ctx, in, format, float64(size))
	}
	head, err := in.Head()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return nodefile.Translate(path, err)
	}
	if isMarket(in.Name(), head) {
		_, m, err := planMarket(in.Name(), in, &tally{})
		if err != nil {
			return nodefile.Translate(path, err)
		}
		g.lines += float64(m.entries)
		g.chunks += float64(size) / textio.ChunkBytes
		g.weighted = g.weighted || !m.pattern
		g.matrix = max(g.matrix, m.rows)
		return nil
	}
	lay, err := g.c.plan(in.Name(), head, nil)
	if err != nil || lay == nil {
		return err
	}
	g.weighted = g.weighted || lay.weight >= 0
	var lines, text float64
	all := float64(size)
	if file, _ := in.File(); file != nil && size > g.share {
		lines, text, err = g.blocks(lay, file, size)
		g.whole = false
	} else {
		var end bool
		lines, text, end, err = g.beginning(lay, in)
		g.whole = g.whole && end
		if packed, _ := in.Progress(); !end && packed > 0 {
			all *= max(1, text/float64(packed))
		} else {
			all = text
		}
	}
	if err != nil {
		return nodefile.Translate(path, err)
	}
	g.lines += lines / max(1, text) * all
	g.chunks += all / textio.ChunkBytes
	return nil
}

// errSampled ends the reading of a sample.
var errSampled = errors.New("ingest: enough is known")

// parquetBytes is about what pages of a Parquet file take, packed and not.
const parquetBytes = 16 << 20

// foreign samples the beginning of a file that is neither an edge list nor Matrix
// Market, but for what it declares.
func (g *guess) foreign(ctx context.Context, in *textio.Reader, format graphfile.Format, size float64) error {
	input := &graphfile.Input{Name: in.Name(), Text: in.Content()}
	input.File, input.Size = in.File()
	var (
		declared    *graphfile.Declared
		edges, text float64
		first       = -1.0 // where edges begin
		odd         bool
	)
	o := &graphfile.Options{Directed: g.c.Directed, Undirected: g.c.Undirected, Fields: g.c.Fields}
	o.Hold = func(bytes int64) error {
		if g.c.Memory > 0 && bytes > g.c.Memory {
			return &MemoryError{Need: bytes, Limit: g.c.Memory}
		}
		return nil
	}
	o.Declared = func(d graphfile.Declared) error {
		declared = &d
		g.weighted = g.weighted || d.Weighted
		if d.Numbered {
			g.matrix, g.dense = max(g.matrix, d.Nodes), true
			return errSampled
		}
		return nil
	}
	done := func() float64 { at, _ := in.Progress(); return float64(at) }
	_, err := graphfile.Read(format, input, o, func(b *graphfile.Batch) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		before := g.tokens
		for _, n := range b.Number {
			if n <= math.MaxUint32 {
				g.top = max(g.top, uint32(n))
			} else {
				g.numeric = false
			}
			g.add(sketch.Mix(n), odd)
			text += 8
		}
		for i := range b.End {
			g.id(b.ID(i), odd)
			text += float64(len(b.ID(i)))
		}
		g.numeric = g.numeric && len(b.End) == 0 // they get a dictionary
		if odd {
			g.oddTokens += g.tokens - before
		}
		odd = !odd
		g.weighted = g.weighted || len(b.Weight) > 0
		if b.Edges {
			if first < 0 {
				first = done()
			}
			edges += float64(b.Len() / 2)
		}
		if text > float64(g.share) {
			return errSampled
		}
		return nil
	})
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !errors.Is(err, errSampled) {
			return nil // the run will tell
		}
		g.whole = false
		switch {
		case declared != nil:
			edges = float64(declared.Edges)
		case edges == 0 || done() <= first:
			const edge = 8 // bytes, in most files
			edges = size / edge
		default:
			edges += (size - done()) * edges / (done() - first)
		}
	}
	if format == graphfile.Parquet {
		g.reader = max(g.reader, int64(min(parquetBytes, size)))
	}
	g.lines += edges
	g.chunks += edges * 8 / textio.ChunkBytes
	return nil
}

// blocks samples blocks of a file from its start to its end.
func (g *guess) blocks(lay *layout, file io.ReaderAt, size int64) (lines, text float64, err error) {
	n := max(2, g.share/sampleBlock)
	buf := make([]byte, sampleBlock+textio.Slack)
	for i := range n {
		k, err := file.ReadAt(buf[:sampleBlock], (size-sampleBlock)/(n-1)*i)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, err
		}
		first := lay.first
		from, to := 0, bytes.LastIndexByte(buf[:k], '\n')+1
		if i == 0 {
			first = 1
		} else {
			from = bytes.IndexByte(buf[:k], '\n') + 1
		}
		if from >= to {
			continue
		}
		clear(buf[to:])
		lines += g.sample(lay, buf[from:to:len(buf)], first, i%2 == 1)
		text += float64(to - from)
	}
	return lines, text, nil
}

// beginning samples the text of an input up to its share; end says that this is
// all.
func (g *guess) beginning(lay *layout, in *textio.Reader) (lines, text float64, end bool, err error) {
	for i := 0; text < float64(g.share); i++ {
		chunk, err := in.Head()
		if errors.Is(err, io.EOF) {
			return lines, text, true, nil
		}
		if err != nil {
			return 0, 0, false, err
		}
		lines += g.sample(lay, chunk.Data, chunk.First, i%2 == 1)
		text += float64(len(chunk.Data))
		in.Drop()
	}
	return lines, text, false, nil
}

// sample takes note of the lines of a piece of text, the first of which has
// this number, and returns how many edges it holds. Behind the text follow
// textio.Slack bytes.
func (g *guess) sample(lay *layout, text []byte, number int64, odd bool) (lines float64) {
	var f table.Fields
	if odd {
		before := g.tokens
		defer func() { g.oddTokens += g.tokens - before }()
	}
	for at := 0; at < len(text); number++ {
		if number >= lay.first && lay.simple {
			from := at
			at, g.code, g.weight = lay.template.Scan(text, at, g.code[:0], g.weight[:0])
			for _, c := range g.code {
				id := c + uint32(lay.template.Base)
				g.add(sketch.Mix(uint64(id)), odd)
				g.top = max(g.top, id)
			}
			lines += float64(len(g.code) / 2)
			g.bytes += float64(at - from - len(g.code))
			if at == len(text) {
				break
			}
		}
		end := at + bytes.IndexByte(text[at:], '\n')
		line := text[at:end]
		at = end + 1
		if number < lay.first || table.IsComment(line) {
			continue
		}
		source, target, _, ok := lay.cut(line)
		switch {
		case ok:
			g.id(line[:source], odd)
			g.id(line[source+1:target], odd)
		case lay.split(&f, line) != nil || len(f.Text) <= max(lay.source, lay.target):
			continue
		default:
			g.id(f.Text[lay.source], odd)
			g.id(f.Text[lay.target], odd)
		}
		lines++
	}
	return lines
}

// id takes note of an id.
func (g *guess) id(id []byte, odd bool) {
	if v, ok := smallNumber(id); ok {
		g.top = max(g.top, v)
		g.add(sketch.Mix(uint64(v)), odd)
	} else {
		g.numeric = false
		g.add(sketch.HashOf(id), odd)
	}
	g.bytes += float64(len(id))
}

func (g *guess) add(hash uint64, odd bool) {
	if g.often == nil {
		g.often = make([]uint32, oftenCounts)
	}
	g.often[hash%oftenCounts]++
	g.tokens++
	g.known.Add(hash)
	if odd {
		g.odd.Add(hash)
	}
}

// oftenCounts is how many counts tell of the most frequent id.
const oftenCounts = 1 << 16

// hubs bounds how many entries the longest rows have before lines of one edge are
// merged: of so many rows.
func (g *guess) hubs(rows int) []int {
	hubs := make([]int, rows)
	if g.tokens == 0 {
		return hubs
	}
	often := slices.Sorted(slices.Values(g.often))
	for i := range min(rows, len(often)) {
		n := float64(often[len(often)-1-i])
		hubs[i] = int((n + 3*math.Sqrt(n)) * max(1, 2*g.lines/g.tokens))
	}
	return hubs
}

// hasDict reports whether the ids go through a dictionary: some are text, or numbers
// too far apart for a bitmap.
func (g *guess) hasDict() bool {
	return !g.numeric || !g.dense && g.matrix == 0 && float64(g.top) >= max(ids.DenseBits, ids.IDBits*2*g.lines)
}

// idBytes returns the mean length of the sampled ids. Frequent ones count as
// often as they occur, which matters little.
func (g *guess) idBytes() float64 { return g.bytes / max(1, g.tokens) }

// nodes bounds how many distinct ids there are. They grow with the lines, more
// and more slowly: the power with which they grow from every other block of
// the sample to all of it bounds what comes behind. No graph has more than two
// for each line, nor more small numbers than the largest one says.
func (g *guess) nodes() float64 {
	if g.matrix > 0 {
		return float64(g.matrix)
	}
	n := g.known.Count()
	if !g.whole {
		n *= 1.02 // how far the counting may be off
		power := 1.0
		if odd := g.odd.Count(); odd > 0 && g.oddTokens < g.tokens {
			power = min(1, max(0, math.Log(g.known.Count()/odd)/math.Log(g.tokens/g.oddTokens)))
		}
		n *= math.Pow(max(1, 2*g.lines/max(1, g.tokens)), power)
	} else {
		n *= 1.005
	}
	n = min(n, max(g.tokens, 2*g.lines))
	if g.numeric {
		n = min(n, float64(g.top)*1.01+1)
	}
	return n
}
