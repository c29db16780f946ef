package compute

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

type applyOptions struct {
	graph                       shell.GraphInputs
	out, block, blockIDs, dtype string
	function                    string
	spec                        *param.Spec
	named                       kernel.NamedFunction
	tolerance                   float64 // 0: not given
}

func NewApply(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "apply GRAPH --function SPEC --block B.npy -o Y.npy",
		"A matrix of the graph, or a function of one, times a block of your own",
		checkApply, runApply)
	flags.AddOutput(&c.out, "output", "", "of the result: .npy, .csv or .mtx", applyFormats)
	flags.AddText(&c.function, "function", "`SPEC` of the function, as in exp:t=-2:matrix=laplacian")
	flags.AddInput(&c.block, "block", "of the block: a table with an id and numbers in each row, in any order, or .npy or .mtx with a row for each node, in the order of the ids; rows of other nodes are 0")
	flags.AddInput(&c.blockIDs, "block-ids", "of the ids of the rows of both files, one a line (default: all)")
	flags.AddDtype(&c.dtype, "float64", "precision of the result")
	shell.NumberVar(flags, &c.tolerance, "tolerance", 0, shell.OpenUnit, "tolerance",
		"largest error of a column, relative to its norm (default: 1e-6 with float32, 1e-8 with float64)")
	c.graph.Declare(flags)
	return cmd
}

// applyFormats are the endings of results. The first is NumPy's, which takes columns in any order.
var applyFormats = slices.Concat(tablefile.NPY.Endings, tablefile.CSV.Endings, tablefile.Market.Endings)

func runApply(run *shell.Session, c *applyOptions, name string) error {
	return shell.InPrecision(c.dtype, applyTo[float32], applyTo[float64])(run, c, name)
}

func checkApply(line *shell.CommandLine, c *applyOptions, _ []string) {
	line.Require("function", "block")
	if c.function != "" {
		var n param.Term
		c.spec, n = line.ParseNamed("--function", c.function, kernel.FunctionSpecs())
		if c.spec != nil {
			c.named.Name = n.Name
			if f := kernel.Families().Named(n.Name); f != nil && f.Distance != "" {
				line.Problem("--function", "%s is a distance and no matrix; give %s",
					n.Name, f.Distance)
			}
			if list := strings.Split(n.Texts["t"], ","); n.Name == kernel.ExpFunction && len(list) > 1 {
				delete(n.Texts, "t")
				for _, text := range list {
					if one, _ := line.ParseGiven("--function",
						map[string]string{"t": text}, c.spec); one.Has("t") {
						c.named.Times = append(c.named.Times, one.Number("t"))
					}
				}
			}
			c.named.Given, _ = line.ParseGiven("--function", n.Texts, c.spec)
			line.Refuse(kernel.IsProduct(n.Name), "tolerance",
				n.Name+" is a product, without an iteration; leave it out")
		}
	}
	for flag, path := range map[string]string{"-o": c.out, "--block": c.block} {
		if path == "-" {
			line.Problem(flag,
				"is read or written at several places, which stdin and stdout do not allow; give a file")
		}
	}
	checkTolerance(line, c.tolerance, c.dtype)
}

type applyReport struct {
	shell.Shape
	Parameters applyParameters `json:"parameters"`

	Method string `json:"method"`
	Sweeps int    `json:"sweeps"`

	// ErrorBound is an upper bound of the norm of the error of every column. Relative is an upper bound of
	// this norm divided by the norm of the column, for columns that are not zero. For columns of zeros, ZeroError
	// bounds the norm of the error. If no bound is known, ErrorEstimate replaces it.
	ErrorBound    *float64 `json:"error_bound"`
	ErrorEstimate *float64 `json:"error_estimate,omitempty"`
	Relative      float64  `json:"relative_error"`
	ZeroError     float64  `json:"zero_error,omitempty"`
	LargestValue  float64  `json:"largest_value"`
	Condition     string   `json:"condition,omitempty"`
	Missing       int      `json:"missing_rows,omitempty"` // nodes without a row in the block, which is 0 there
	shell.Closing
}

type applyParameters struct{ *kernel.Function }

// MarshalJSON writes an object with the values and the name of the function.
func (p applyParameters) MarshalJSON() ([]byte, error) {
	values := map[string]any{"function": p.Name}
	for name, v := range p.Values {
		values[name] = v
	}
	if p.Times != nil {
		values["t"] = p.Times
	}
	return json.Marshal(values)
}

func (p applyParameters) text(spec *param.Spec) string {
	v := maps.Clone(p.Values)
	if last := len(p.Times) - 1; last > 0 {
		v["t"] = param.Of(fmt.Sprintf("%v, …, %v (%d)", p.Times[0],
			p.Times[last], last+1))
	}
	return shell.ParameterText(spec, v)
}

// inputBlock is the block of the user.
type inputBlock struct {
	*tablefile.File
	node    []int // rows of the graph for the rows of the file; −1: a node that is skipped
	columns tablefile.Axis
	missing int   // nodes of the result without a row
	bytes   int64 // memory of the rows
}

// openBlock opens the file of the block and finds the nodes of its rows: by their ids, if the file is a table or a
// Matrix Market file with ids, and otherwise by their order, which must be the order of rows.
func (c *applyOptions) openBlock(run *shell.Session, g *shell.OpenGraph, rows []int) (*inputBlock, error) {
	file, err := tablefile.Inspect(run.Context, c.block,
		&tablefile.Options{Memory: 4 << 20, Shared: true, Text: c.graph.Tables.Text})
	if err != nil {
		return nil, err
	}
	b := &inputBlock{File: file, node: rows}
	if b.columns, err = file.Axis(run.Context, "cols"); err != nil && !errors.Is(err, tablefile.ErrNoIDs) {
		return nil, err
	}
	if b.columns.ID == nil {
		b.columns.ID = func(j int) string { return strconv.Itoa(j + 1) }
	}
	switch {
	case file.Format == tablefile.CSV && c.blockIDs != "":
		return nil, shell.UsageError("--block-ids", "%s names the node of each row; leave it out", c.block)
	case file.Format.IsShared && c.blockIDs == "":
		ids, err := file.Axis(run.Context, "rows")
		if err == nil {
			return b, b.match(g, ids, len(rows), c.graph.Tables.SkipsUnknown())
		}
		if !errors.Is(err, tablefile.ErrNoIDs) {
			return nil, err
		}
	}
	if file.Rows == len(rows) {
		return b, nil
	}
	return nil, textio.Fault(file.Name, 0, "give a row for each node, or name the nodes of the rows with --block-ids",
		"%s, and there are %s", words.Counted(file.Rows, "row"), words.Counted(len(rows), "node"))
}

// match finds the nodes of the rows by their ids.
func (b *inputBlock) match(g *shell.OpenGraph, ids tablefile.Axis, nodes int, skip bool) error {
	const perRow = 48 // bytes of an id and its place
	b.bytes = perRow * int64(ids.N)
	b.node = make([]int, 0, ids.N)
	unknown := &nodefile.Unknown{Nodes: g.Nodes}
	rowOf := make(map[int]int, ids.N)
	for i := range ids.N {
		id := ids.ID(i)
		node, isNode := unknown.Find(g.Nodes.Lookup, 0, []byte(id))
		if !isNode {
			b.node = append(b.node, -1)
			continue
		}
		if first, isRepeated := rowOf[node]; isRepeated {
			return textio.Fault(b.Name, 0, "give each node one row", "%s has the rows %d and %d",
				words.Quoted(id), first+1, i+1)
		}
		rowOf[node] = i
		b.node = append(b.node, node)
	}
	b.missing = nodes - len(rowOf)
	return unknown.Err(b.Name, skip, "leave out the rows of other nodes, or pass --unknown-ids=skip")
}

// applyTo computes the columns of the result in slabs and writes them.
func applyTo[T sparse.Float](run *shell.Session, c *applyOptions, name string) error {
	d, err := run.BeginRun(&c.graph, name, c.out, nil, func(d *shell.GraphRun) (err error) {
		d.Out.Format = shell.MatrixFormatOf(c.out, applyFormats)
		if d.Out.Format == tablefile.Market { // an array has the rows of the block
			err = d.Out.BeginIDs()
		}
		if err != nil {
			return err
		}
		d.Rows, err = run.ReadRows(&c.graph.Tables, c.blockIDs, d.Graph)
		return err
	})
	if err != nil {
		return err
	}
	if d.Graph.Directed && c.spec.Works&param.Directed == 0 {
		remedy := "--function=transition"
		if c.spec.Name == "von-neumann" { // the function gives the index of Katz
			remedy = "--function=personalized-pagerank, whose walks follow arcs as those of the index of Katz do"
		}
		return shell.RefuseDirected(name, c.spec.Name, remedy)
	}
	n := d.Graph.Nodes.Len()
	rows := len(d.Rows)
	block, err := c.openBlock(run, d.Graph, d.Rows)
	if err != nil {
		return err
	}
	if block.bytes == 0 && c.blockIDs == "" && rows < n { // rows of hyperedges must be named
		return shell.UsageError("--block-ids",
			"it is missing; the graph has nodes for hyperedges too")
	}
	cols := block.Cols
	results := c.named.Results()
	width := results * cols
	format := d.Out.Format
	matrix := &tablefile.Matrix{Rows: d.Graph.SelectNodes(d.Rows), Cols: c.columns(block),
		Hold: run.Costs.DryRun || !format.AnyOrder}
	size := format.Size(rows, width, c.dtype)
	shape := shell.ShapeOf(c.out, rows, width, c.dtype)
	if err := shell.CheckSpace(c.out, size, shape.String(),
		"give fewer columns, or another disk"); err != nil {
		return err
	}
	// The results of a slab take at most 256 MiB. Results must not depend on the memory limit.
	const slabBytes, slabColumns = 256 << 20, 64
	slab := min(cols, slabColumns, max(1, slabBytes/8/max(1, n*results)))
	settings := &kernel.Settings{Tolerance: c.tolerance,
		Progress: run.Progress.Stages("product")}
	if c.dtype == "float32" {
		settings.Tolerance = max(0, settings.Tolerance-rounding32)
		if c.tolerance == 0 {
			settings.Tolerance = 2 * rounding32
			settings.Lenient = true
			settings.Limit = 1e-6 - rounding32
		}
	}
	run.Costs.Disk += size + shell.RunFileBytes
	if d.Out.RowIDs != nil {
		run.Costs.Disk += shell.IDBytes(matrix.Rows) + shell.IDBytes(matrix.Cols)
	}
	matrix.Pieces = format.AnyOrder || slab < cols
	held := block.bytes
	if matrix.Pieces && !format.AnyOrder {
		held += tablefile.NPY.Size(rows, width, c.dtype)
	}
	f, err := heatwalk.OpenFunction(run.Context, d.Graph.Leave(held, "rows of the block and of the result"), &c.named, slab, settings)
	if err != nil {
		return run.Costs.GraphError(err, name, shell.LoosenTolerance)
	}
	defer f.Job.End()
	file, err := newWriter[T](d.Out, matrix)
	if err != nil {
		return err
	}
	r := &applyReport{Shape: shape, Parameters: applyParameters{f.Function}, Missing: block.missing}
	a := &application[T]{c: c, d: d, f: f, settings: settings,
		block: block, file: file, report: r, inPieces: matrix.Pieces}
	for lo := 0; lo < cols; lo += slab {
		if err := a.slab(run.Context, lo, min(lo+slab, cols), cols); err != nil {
			return run.Costs.ToleranceError(err, name, c.tolerance)
		}
	}
	if run.IsFollower() {
		return heatwalk.ErrFollower
	}
	if err := file.Close(run.Context); err != nil {
		return err
	}
	kind := "error ≤"
	if r.ErrorEstimate != nil {
		kind = "error about"
	}
	if block.missing > 0 {
		run.Console.Warn("%s: %s of the graph without a row, taken as 0", block.Name, words.Counted(block.missing, "node"))
	}
	off := fmt.Sprintf("%s %.2g of the norm of a column", kind, r.Relative)
	if r.ZeroError > 0 {
		off += fmt.Sprintf(", %.2g in a column of zeros", r.ZeroError)
	}
	if kernel.IsProduct(c.named.Name) {
		off = fmt.Sprintf("%s %.2g in the norm of a column", kind, *r.ErrorBound)
	}
	return d.Out.Finish(r, r.Parameters,
		fmt.Sprintf("%s · %s%s", shape, c.spec.Name,
			r.Parameters.text(c.spec)),
		fmt.Sprintf("%s, %s · %s, largest value %.4g", r.Method,
			words.Counted(r.Sweeps, "sweep"), off, r.LargestValue))
}

// rounding32 is the relative error of a value that is rounded to float32.
const rounding32 = 0x1p-24

type application[T sparse.Float] struct {
	c        *applyOptions
	d        *shell.GraphRun
	f        *heatwalk.OpenedFunction
	settings *kernel.Settings
	block    *inputBlock
	file     *tablefile.Writer[T]
	report   *applyReport
	inPieces bool // columns are written in slabs
}

// slab computes the columns lo ≤ j < hi of cols.
func (a *application[T]) slab(ctx context.Context, lo, hi, cols int) error {
	local := a.f.Job
	n := len(local.Degrees)
	results := a.f.Results()
	b := sparse.NewBlock[float64](n, hi-lo)
	y := sparse.NewBlock[float64](n, results*(hi-lo))
	i := 0
	err := tablefile.Read(ctx, a.block.File, func(_ []byte, values []float64) error {
		if node := a.block.node[i]; node >= 0 {
			if row, ok := local.Row(node); ok {
				copy(b.Row(row), values[lo:hi])
			}
		}
		i++
		return nil
	})
	if err != nil {
		return err
	}
	r, err := a.f.ApplyTo(ctx, y, b, a.settings)
	if err != nil {
		return err
	}
	y = local.Gather(y)
	if y == nil { // process 0 has the columns
		return nil
	}
	a.note(r, y)
	if hi-lo == cols {
		return a.writeColumns(ctx, y, 0)
	}
	for i := range results {
		if err := a.writeColumns(ctx, y.Columns(i*(hi-lo), (i+1)*(hi-lo)),
			i*cols+lo); err != nil {
			return err
		}
	}
	return nil
}

func (a *application[T]) note(r *kernel.Report, y *sparse.Block[float64]) {
	total := a.report
	rounding := 0.0
	if a.c.dtype == "float32" {
		rounding = rounding32
	}
	bound := 0.0
	for j, norm := range blocks.Norms(nil, y) {
		limit := r.ColumnBound[j] + rounding*norm
		bound = max(bound, limit)
		if norm > 0 {
			total.Relative = max(total.Relative, limit/norm)
		} else {
			total.ZeroError = max(total.ZeroError, limit)
		}
	}
	held := &total.ErrorBound
	if r.IsEstimate() {
		held = &total.ErrorEstimate
	}
	if *held == nil || **held < bound {
		*held = &bound
	}
	if total.ErrorEstimate != nil {
		total.ErrorBound = nil
	}
	total.Method = r.Method
	total.Condition = r.Condition
	total.Sweeps += r.Sweeps
	total.LargestValue = max(total.LargestValue, r.Largest)
}

func (a *application[T]) writeColumns(ctx context.Context, y *sparse.Block[float64],
	lo int) error {
	if !a.inPieces {
		narrow := make([]T, y.Cols)
		for _, row := range a.d.Rows {
			if err := cmp.Or(ctx.Err(), tablefile.Narrow(narrow, y.Row(row)), a.file.Row(narrow)); err != nil {
				return err
			}
		}
		return nil
	}
	for i, row := range a.d.Rows {
		if err := a.file.Put(ctx, i, lo, sparse.BlockOf(1, y.Cols, y.Row(row))); err != nil {
			return err
		}
	}
	return nil
}

// columns returns the ids of the columns of the result: the titles of the columns of the block, behind the time if there
// are several times.
func (c *applyOptions) columns(block *inputBlock) tablefile.Axis {
	results := c.named.Results()
	return tablefile.Axis{N: results * block.Cols, ID: func(j int) string {
		id := block.columns.ID(j % block.Cols)
		if results > 1 {
			id = fmt.Sprintf("t=%v:%s", c.named.Times[j/block.Cols], id)
		}
		return id
	}}
}
