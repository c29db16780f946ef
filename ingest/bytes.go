package ingest

import (
	"cmp"
	"context"
	"errors"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/internal/ids"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/sched"
)

// Counts bounds a graph before it is read.
type Counts struct {
	Nodes, Lines int64
	Text         int64 // bytes of ids that are text; 0: ids are small integers
	Held         int64 // bytes that readers keep of their files
	Weighted     bool
	Dense        bool // the ids are the numbers of the rows, so that nothing is kept of them
	Declared     bool // one file declares its nodes and lines
}

// CountsOf bounds the counts of the edges of files by their sizes and by what their heads declare; their
// lines are not read. Lines are assumed to be different. Standard input gives an error that wraps
// [nodefile.ErrInput].
func CountsOf(ctx context.Context, inputs []string, c *Config) (*Counts, error) {
	settings := *cmp.Or(c, new(Config))
	inputs, err := settings.pair(inputs)
	if err == nil {
		err = settings.distinctInputs(inputs)
	}
	if err != nil {
		return nil, err
	}
	total := &Counts{Dense: true}
	for _, path := range inputs {
		n, err := settings.countsOf(ctx, path)
		if err != nil {
			return nil, err
		}
		total.Nodes += n.Nodes
		total.Lines += n.Lines
		total.Text += n.Text
		total.Held = max(total.Held, n.Held)
		total.Weighted = total.Weighted || n.Weighted
		total.Dense = total.Dense && n.Dense
		total.Declared = n.Declared && len(inputs) == 1 && settings.Nodes == ""
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
	_, size := in.Progress()
	text := int64(float64(size) * in.Growth())
	if format == graphfile.EdgeList {
		n, err = c.countsOfLines(in, text)
	} else {
		n, err = c.countsOfFormat(in, format, text)
	}
	n.Held = max(n.Held, unusualWindow(in))
	return n, err
}

// countsOfLines bounds the counts of an edge list or a Matrix Market file.
func (c *Config) countsOfLines(in *textio.Reader, text int64) (n Counts, err error) {
	const line = 6 // bytes of a line: of more than a thousand different edges
	lay, err := c.lineSettings(func(error) {}).LayoutOf(in, new(lines.Tally))
	if err != nil || lay == nil {
		return n, err
	}
	n = Counts{Lines: text/line + 1, Weighted: lay.HasValues()}
	n.Nodes = 2 * n.Lines
	if m := lay.Market; m != nil {
		n.Nodes = int64(m.Rows)
		n.Lines = int64(m.Entries)
		n.Declared = true
	} else if !lay.Numeric() {
		n.Text = text + 1
	}
	return n, nil
}

// errDeclared ends the reading of a file that has declared its counts.
var errDeclared = errors.New("ingest: counts are declared")

// countsOfFormat bounds the counts of a file of another format: those that it declares, or else
// those of the shortest edges that fit into it.
func (c *Config) countsOfFormat(in *textio.Reader, format *graphfile.Format,
	text int64) (n Counts, err error) {
	const (
		edge = 20      // bytes of an edge of GML or GraphML, at the least
		held = 17 + 60 // bytes that the readers of these keep of an edge, with its share of the nodes
		page = 16 << 20
	)
	edges := text/edge + 1
	n = Counts{Nodes: edges, Lines: edges, Text: text, Held: held * edges, Weighted: true}
	file := c.graphInput(in, new(lines.Codes))
	file.Declared = func(d *graphfile.Summary) error {
		n = Counts{Nodes: int64(d.Nodes), Lines: int64(d.Edges), Weighted: d.Weighted, Dense: d.Numbered}
		n.Declared = d.Numbered
		if !d.Numbered { // a table, whose ids may be text
			n.Nodes = 2 * n.Lines
			n.Text = 1 + 16*n.Lines
			n.Held = page
		}
		return errDeclared
	}
	_, err = graphfile.Read(format, file, func(*graphfile.Batch) error { return errDeclared })
	if errors.Is(err, errDeclared) {
		err = nil
	}
	return n, err
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
		ordering = 4*e.nodes*int64(min(e.workers, countWorkers)) +
			sampleBytes(int(e.nodes))
	default:
		ordering = e.graph() + entries*sort.EntryBytes(int(e.nodes), false)
	}
	return max(e.readingBytes(), e.held+e.numberedBytes()+max(ordering, sorting))
}

// Fits returns the [*LimitError] with which [Run] refuses the limit of c for the rows that a file declares.
func (n *Counts) Fits(c *Config) error {
	e := n.extent(c)
	e.held = 0 // lines go to disk, and declared rows need no bitmap
	e.bits = 0
	need := e.numberedBytes()
	if !n.Declared || c.Memory == 0 || need <= c.Memory {
		return nil
	}
	isOrdered := e.order != DefaultOrder
	e.order = DefaultOrder
	return &LimitError{Need: need, Limit: c.Memory,
		Unordered: isOrdered && e.numberedBytes()+sort.LeastBytes <= c.Memory}
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
		e.bits = max(ids.DenseBits, ids.IDBits*e.nodes/2)
		if n.Dense {
			e.bits = e.nodes
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
