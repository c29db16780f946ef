package ingest

import (
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/ingest/internal/ids"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
)

// Size bounds what a call of [Run] will take, by samples of its inputs: no
// number is too low if the samples are like the rest.
type Size struct {
	Memory  []spec.Bytes // at once, beside the program itself
	Reading []spec.Bytes // at once until the last line is read, of which Memory is the larger
	Temp    int64        // bytes of temporary files
	Disk    int64        // bytes of the store
	Passes  int          // over the entries: 2 if they do not fit the memory together

	Lines, Nodes, Entries int64
}

// Counts is what is known of a stream of lines between nodes with the numbers
// from 0.
type Counts struct {
	Nodes, Lines int64 // at the most
	Whole        bool  // every node has a line
}

// Estimate tells what [Run] would take for these inputs and settings, from samples of
// edge lists where the memory is enough by these; else it reads all. With too little
// memory for its parts that do not shrink, the error is a [*LimitError]; standard input,
// which can be read only once, gives one that wraps [nodefile.ErrInput] unless
// Config.Counts says what it holds.
func Estimate(ctx context.Context, inputs []string, c *Config) (*Size, error) {
	if c == nil {
		c = new(Config)
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	if err := c.distinctInputs(inputs); err != nil {
		return nil, err
	}
	g := &guess{c: *c, sampled: newSampled(), share: max(sampleBlock, sampleText/int64(max(len(inputs), 1)))}
	p, err := g.estimate(ctx, inputs)
	if over := new(*LimitError); errors.As(err, over) {
		g = &guess{c: *c, sampled: newSampled(), share: math.MaxInt64}
		g.seen = new(ids.Set)
		return g.estimate(ctx, inputs)
	}
	return p, err
}

// estimate reads a share of the inputs and plans by it.
func (g *guess) estimate(ctx context.Context, inputs []string) (*Size, error) {
	for _, path := range inputs {
		if err := g.file(ctx, path); err != nil {
			return nil, err
		}
	}
	for _, s := range g.c.Sources {
		if err := g.source(ctx, s); err != nil {
			return nil, err
		}
	}
	return g.plan()
}

// guess is what is known of inputs.
type guess struct {
	c        Config
	share    int64 // bytes of text to look at in each input
	lines    float64
	chunks   float64 // of text
	weighted bool
	matrix   uint64 // rows that an input declares
	dense    bool   // ids are numbers of rows, which take no dictionary
	readers  int64  // bytes that reading takes beside the room of workers, at the most
	made     Most   // what sources send
	sampled         // ids
}

// Samples: so much text of all inputs together, of a large file in blocks that
// are spread over it.
const (
	sampleText  = 64 << 20
	sampleBlock = 256 << 10
)

// file takes note of one input.
func (g *guess) file(ctx context.Context, path string) error {
	if n := g.c.Counts; path == "-" && n != nil {
		const text = 8 // bytes of a line, at the least
		g.top, g.matrix, g.dense = uint32(max(n.Nodes-1, 0)), uint64(n.Nodes), n.Whole
		g.lines, g.chunks = float64(n.Lines), float64(n.Lines)*text/textio.ChunkBytes
		return nil
	}
	if path == "-" {
		return &nodefile.ParseError{File: "-", Msg: "standard input can be read only once", Fix: "name a file", Err: nodefile.ErrInput}
	}
	in, err := textio.Open(ctx, path, g.c.openOptions(nil))
	if err != nil {
		return err
	}
	defer in.Close()
	format, err := g.c.recognize(ctx, in)
	if err != nil {
		return err
	}
	if format == graphfile.EdgeList {
		err = g.text(in)
	} else {
		err = g.foreign(ctx, in, format)
	}
	g.readers = max(g.readers, unusualWindow(in))
	return err
}

// source takes note of a source.
func (g *guess) source(ctx context.Context, s *Source) error {
	if s.Most == nil {
		return &nodefile.ParseError{File: s.Name, Msg: "its size is not known before it is read", Fix: "read it", Err: nodefile.ErrInput}
	}
	m, err := s.Most(ctx)
	if err != nil {
		return err
	}
	g.made.Nodes, g.made.Lines, g.made.Text = g.made.Nodes+m.Nodes, g.made.Lines+m.Lines, g.made.Text+m.Text
	g.made.Held = max(g.made.Held, m.Held)
	g.weighted = g.weighted || m.Weighted
	g.chunks += math.Ceil(float64(m.Lines) * 8 / textio.ChunkBytes)
	g.numeric = false // they get a dictionary
	return nil
}

// text samples an edge list, with the parser of [Run].
func (g *guess) text(in *textio.Reader) error {
	lay, err := g.c.lineSettings(func(error) {}).LayoutOf(in, new(lines.Tally))
	if err != nil || lay == nil {
		return err
	}
	_, stored := in.Progress()
	g.weighted = g.weighted || lay.Weighted()
	if m := lay.Market; m != nil {
		g.lines += float64(m.Entries)
		g.chunks += float64(stored) / textio.ChunkBytes
		g.matrix = max(g.matrix, m.Rows)
		return nil
	}
	var edges, text float64
	p := &lines.Parser{Name: in.Name(), Layout: lay, Slabs: new(lines.Slabs), Dict: ids.NewDict()}
	whole, err := in.Sample(g.share, sampleBlock, func(chunk *textio.Chunk) error {
		text += float64(len(chunk.Data))
		n, err := g.piece(p, chunk)
		edges += float64(n)
		return err
	})
	if err != nil {
		return err
	}
	all := text
	if !whole {
		g.whole = false
		all = float64(stored) * max(1, in.Growth())
	}
	g.lines += edges / max(1, text) * all
	g.chunks += all / textio.ChunkBytes
	return nil
}

// piece takes note of the ids of a piece of an edge list, and returns how many edges it
// holds. The run tells what is wrong with its lines.
func (g *guess) piece(p *lines.Parser, chunk *textio.Chunk) (edges int, err error) {
	g.next()
	read, err := p.Read(chunk, false)
	if errors.Is(err, lines.ErrText) {
		if read, err = p.Read(chunk, true); err == nil {
			read.IDs.Each(chunk.Data, g.id)
		}
	} else if err == nil {
		for _, c := range read.Code {
			g.number(uint64(c))
		}
	}
	if err != nil {
		return 0, err
	}
	return len(read.Code) / 2, nil
}

// errSampled ends the reading of a sample.
var errSampled = errors.New("ingest: enough is known")

// parquetBytes is about what pages of a Parquet file take, packed and not.
const parquetBytes = 16 << 20

// foreign reads a file that is neither an edge list nor Matrix Market: what it declares,
// the beginning of one that declares its edges, else all of it.
func (g *guess) foreign(ctx context.Context, in *textio.Reader, format *graphfile.Format) error {
	input := &graphfile.Input{Name: in.Name(), Text: in.Content()}
	input.File, input.Size = in.File()
	input.Directed, input.Undirected, input.Fields = g.c.Directed, g.c.Undirected, g.c.Fields
	input.Hold = func(bytes int64) error {
		if g.c.Memory > 0 && bytes > g.c.Memory {
			return &LimitError{Need: bytes, Limit: g.c.Memory}
		}
		return nil
	}
	var edges, text float64
	declared := false
	input.Declared = func(d *graphfile.Summary) error {
		declared, edges, g.weighted = true, float64(d.Edges), g.weighted || d.Weighted
		if d.Numbered {
			g.matrix, g.dense = max(g.matrix, d.Nodes), true
			return errSampled
		}
		return nil
	}
	_, err := graphfile.Read(format, input, func(b *graphfile.Batch) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		g.next()
		for _, n := range b.Number {
			g.number(n)
		}
		start := 0
		for _, end := range b.End {
			g.id(b.Text[start:end])
			start = end
		}
		g.numeric = g.numeric && len(b.End) == 0 // they get a dictionary
		g.weighted = g.weighted || len(b.Weight) > 0
		if text += float64(8*len(b.Number) + len(b.Text)); declared && text > float64(g.share) {
			g.whole = false
			return errSampled
		}
		if b.Edges && !declared {
			edges += float64((len(b.Number) + len(b.End)) / 2)
		}
		return nil
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, errSampled) {
		return nil // the run will tell
	}
	if format.Table {
		_, size := in.Progress()
		g.readers = max(g.readers, min(parquetBytes, size))
	}
	g.lines += edges
	g.chunks += math.Ceil(edges * 8 / textio.ChunkBytes)
	return nil
}
