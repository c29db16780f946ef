package ingest

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/ingest/internal/ids"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// Counts bounds a graph before it is read.
type Counts struct {
	Nodes, Lines int64
	Text         int64 // bytes of ids that are text; 0: ids are small integers
	Held         int64 // bytes that readers keep of their files
	Weighted     bool
	Dense        bool // the ids are the numbers of the rows, so that nothing is kept of them
	Declared     bool // the only input declares its nodes and lines, so they are no mere bounds
}

// add adds the counts of another input.
func (n *Counts) add(m Counts) {
	n.Nodes += m.Nodes
	n.Lines += m.Lines
	n.Text += m.Text
	n.Held = max(n.Held, m.Held)
	n.Weighted = n.Weighted || m.Weighted
	n.Dense = n.Dense && m.Dense
}

// CountsOf bounds the counts of inputs by their sizes and by what their heads declare; their lines
// are not read. Lines are assumed to be different, so a list of n edges needs about log₁₀ n digits
// for each. Standard input gives an error that wraps [nodefile.ErrInput].
func CountsOf(ctx context.Context, inputs []string, c *Config) (*Counts, error) {
	if c == nil {
		c = new(Config)
	}
	settings := *c
	c = &settings
	inputs, err := c.pair(inputs)
	if err != nil {
		return nil, err
	}
	if err := c.distinctInputs(inputs); err != nil {
		return nil, err
	}
	total := &Counts{Dense: true}
	for _, path := range inputs {
		n, err := c.countsOf(ctx, path)
		if err != nil {
			return nil, err
		}
		total.add(n)
		total.Declared = n.Declared && len(inputs) == 1 && c.Nodes == "" &&
			len(c.Sources) == 0
	}
	for _, s := range c.Sources {
		if s.Most == nil {
			return nil, refuse(s.Name, "read it",
				"its size is not known before it is read")
		}
		m, err := s.Most(ctx)
		if err != nil {
			return nil, err
		}
		total.add(Counts{Nodes: m.Nodes, Lines: m.Lines, Text: max(1, m.Text),
			Held: m.Held, Weighted: m.Weighted})
	}
	return total, nil
}

// countsOf bounds the counts of one input.
func (c *Config) countsOf(ctx context.Context, path string) (n Counts, err error) {
	if path == "-" {
		return n, refuse("-", "name a file", "standard input can be read only once")
	}
	in, err := textio.Open(ctx, path, c.openOptions(nil))
	if err != nil {
		return n, err
	}
	defer in.Close()
	format, err := c.recognize(ctx, in)
	if err != nil {
		return n, err
	}
	if format == graphfile.EdgeList {
		n, err = c.countsOfLines(in)
	} else {
		n, err = c.countsOfFormat(in, format)
	}
	n.Held = max(n.Held, unusualWindow(in))
	return n, err
}

// countsOfLines bounds the counts of an edge list or a Matrix Market file.
func (c *Config) countsOfLines(in *textio.Reader) (n Counts, err error) {
	lay, err := c.lineSettings(func(error) {}).LayoutOf(in, new(lines.Tally))
	if err != nil || lay == nil {
		return n, err
	}
	if m := lay.Market; m != nil {
		return Counts{Nodes: int64(m.Rows), Lines: int64(m.Entries),
			Weighted: lay.HasValues(), Declared: true}, nil
	}
	_, size := in.Progress()
	text := float64(size) * in.Growth()
	lineBytes := 3. // bytes of a line without the digits that distinguish it from others: two separators and a digit
	if lay.HasValues() {
		lineBytes += 2
	}
	edges := text / 4
	for range 8 { // to the solution of edges·(least + log₁₀ edges) = text
		edges = text / (lineBytes + math.Log10(max(1, edges)))
	}
	n = Counts{Lines: int64(edges) + 1, Weighted: lay.HasValues()}
	n.Nodes = 2 * n.Lines
	if !lay.Numeric() {
		n.Text = int64(text) + 1
	}
	return n, nil
}

// errDeclared ends the reading of a file that has declared its counts.
var errDeclared = errors.New("ingest: counts are declared")

// countsOfFormat bounds the counts of a file of another format: those that it declares, or else
// those of the shortest edges and nodes that fit into it.
func (c *Config) countsOfFormat(in *textio.Reader,
	format *graphfile.Format) (n Counts, err error) {
	const (
		edge = 20      // bytes of an edge of GML or GraphML, at the least
		held = 17 + 60 // bytes that the readers of these keep of an edge, with its share of the nodes
		page = 16 << 20
	)
	file := c.graphInput(in, new(lines.Codes))
	declared := false
	file.Declared = func(d *graphfile.Summary) error {
		n = Counts{Nodes: int64(d.Nodes), Lines: int64(d.Edges),
			Weighted: d.Weighted, Dense: d.Numbered, Declared: d.Numbered}
		if !d.Numbered { // a table, whose ids may be text
			n.Nodes = 2 * n.Lines
			n.Text = 1 + 16*n.Lines
			n.Held = page
		}
		declared = true
		return errDeclared
	}
	_, err = graphfile.Read(format, file,
		func(*graphfile.Batch) error { return errDeclared })
	if err != nil && !errors.Is(err, errDeclared) {
		return n, err
	}
	if !declared {
		_, size := in.Progress()
		n.Lines = int64(float64(size)*in.Growth())/edge + 1
		n.Nodes = n.Lines
		n.Text = size
		n.Held = held * n.Lines
		n.Weighted = true
	}
	return n, nil
}

// Bytes returns the memory of [Run] for a graph with these counts and without a limit, at the most:
// lines, ids and their numbering, the order of the rows, and the entries that are sorted.
func (n *Counts) Bytes(c *Config) int64 {
	e := n.extent(c)
	entries := e.entries()
	hub := min(entries, 2*e.nodes) // entries of the longest row, which is sorted with as much again
	sorting := (entries + hub) * sort.EntryBytes(int(e.nodes), e.values)
	ordering := int64(0)
	switch e.order {
	case DefaultOrder:
	case DegreeOrder:
		ordering = 4*max(e.nodes, e.codes)*int64(min(e.workers, countWorkers)) +
			sampleBytes(int(e.nodes))
	default:
		ordering = e.graph() + entries*sort.EntryBytes(int(e.nodes), false)
	}
	return max(e.readingBytes(), e.held+e.numberedBytes()+max(ordering, sorting))
}

// Fits returns the [*LimitError] with which [Run] refuses the limit of c after it has read the input.
// Counts that are not declared are bounds, by which a limit that is enough could be refused; for them
// it returns nil.
func (n *Counts) Fits(c *Config) error {
	c = cmp.Or(c, new(Config))
	if !n.Declared || c.Memory == 0 {
		return nil
	}
	e := n.extent(c)
	// lines go to disk, and rows that are declared need no bitmap
	e.held = 0
	e.bits = 0
	need := e.numberedBytes()
	if e.order != DefaultOrder && e.order != DegreeOrder {
		need += e.graph() + leastPattern
	}
	if need <= c.Memory {
		return nil
	}
	ordered := e.order != DefaultOrder
	e.order = DefaultOrder
	return &LimitError{Need: need, Limit: c.Memory, Unordered: ordered &&
		e.numberedBytes()+sort.LeastBytes <= c.Memory}
}

// extent returns that of a graph with these counts, with all lines in memory.
func (n *Counts) extent(c *Config) *extent {
	c = cmp.Or(c, new(Config))
	e := &extent{c: c, nodes: n.Nodes, lines: n.Lines, readers: n.Held,
		values: n.Weighted || c.Duplicates == SumDuplicates}
	e.workers = min(sched.Workers(c.Workers),
		int(1+max(n.Lines*8/textio.ChunkBytes, n.Nodes/sort.MaxBucketRows)))
	line := int64(8)
	if n.Weighted {
		line += 8
	}
	e.held = e.lines * line
	switch {
	case n.Text > 0:
		e.text = n.Text
		e.dict, e.rowIDs = ids.DictBytes(e.nodes, e.text),
			ids.KnownBytes(e.nodes, e.text)
	default:
		e.bits = ids.BitmapLimit(max(ids.DenseBits, ids.IDBits*e.nodes/2))
		if n.Dense {
			e.bits = ids.BitmapLimit(e.nodes)
		} else {
			e.rowIDs = 4 * e.nodes
		}
	}
	e.order = c.Order.possible(int(e.nodes), int(e.lines))
	return e
}

// DiskBytes bounds the bytes of the store of a graph with these counts, and of the temporary file
// of a run within the limit of c.
func (n *Counts) DiskBytes(c *Config) (store, temporary int64) {
	c = cmp.Or(c, new(Config))
	e := n.extent(c)
	entries := e.entries()
	store = int64(storeBytes(float64(e.nodes), float64(entries), n.Weighted,
		c.Directed, e.order != DefaultOrder)) + n.Text
	if n.Text > 0 {
		store += 6 * e.nodes
	}
	if c.Memory > 0 && n.Bytes(c) > c.Memory {
		temporary = e.held + entries*sort.EntryBytes(int(e.nodes), e.values)
	}
	return store, temporary
}
