package cli

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// fileFormat is a kind of file that convert writes.
type fileFormat struct {
	name      string // for --to
	endings   []string
	text      bool             // may be compressed
	holds     bool             // a graph, in the format graph
	graph     graphfile.Format // if it holds one
	matrix    tablefile.Format // of a matrix of features; Other if it holds none
	kernel    bool             // the matrix is written as a precomputed kernel
	edgesOnly bool             // nodes without an edge are not in it
}

var fileFormats = []fileFormat{
	{name: "tsv", endings: []string{".tsv", ".edges", ".txt", ".el"}, holds: true, graph: graphfile.EdgeList, text: true, edgesOnly: true},
	{name: "csv", endings: []string{".csv"}, holds: true, graph: graphfile.CSV, text: true, edgesOnly: true},
	{name: "mtx", endings: []string{".mtx"}, holds: true, graph: graphfile.MatrixMarket, text: true},
	{name: "npz", endings: []string{".npz"}, holds: true, graph: graphfile.SciPy, matrix: tablefile.NPZ},
	{name: "metis", endings: []string{".graph", ".metis"}, holds: true, graph: graphfile.METIS, text: true},
	{name: "parquet", endings: []string{".parquet", ".pq"}, holds: true, graph: graphfile.Parquet, edgesOnly: true},
	{name: "npy", endings: []string{".npy"}, matrix: tablefile.NPY},
	{name: "svm", endings: []string{".svm", ".libsvm"}, matrix: tablefile.LIBSVM, text: true},
	{name: "svm-kernel", matrix: tablefile.LIBSVM, kernel: true, text: true},
}

// converted is the JSON document of convert.
type converted struct {
	Output   string `json:"output"`
	IDs      string `json:"ids,omitempty"` // the file beside it; absent for stdout
	Format   string `json:"format"`
	Nodes    int64  `json:"nodes"`
	Edges    int64  `json:"edges"`
	Entries  int64  `json:"entries"`
	Directed bool   `json:"directed"`
	Weighted bool   `json:"weighted"`
	Without  *int   `json:"nodes_without_edge,omitempty"` // that are in the file of ids only
	Bytes    int64  `json:"bytes"`
	Closing
}

func newConvert(in *invocation) *cobra.Command {
	var (
		r   reading
		m   matrixFlags
		out string
		to  string
	)
	names := make([]string, len(fileFormats))
	for i, f := range fileFormats {
		names[i] = f.name
	}
	cmd := &cobra.Command{
		Use:   "convert INPUT -o FILE",
		Short: "Write a graph, or features, in the format of another tool",
		Args:  in.arguments("INPUT", 1, 1),
	}
	var (
		matrix bool
		format *fileFormat
	)
	cmd.RunE = in.runs(func(cmd *cobra.Command, args []string) {
		matrix = len(args) == 1 && in.isMatrix(args[0], out, to)
		format = in.fileFormat(out, to, args, matrix)
		if matrix {
			in.checkMatrix(cmd, args[0], format, &m, &r)
		} else {
			in.checkGraph(cmd, args, &r)
			in.checkNoMatrix(cmd)
		}
		inputs := append(args, m.labels, r.config.Nodes)
		in.checkStdin(inputs...)
		if out != "" {
			in.checkOutput("-o", out, inputs...)
		}
	}, func(args []string) error {
		if matrix {
			return in.runConvertMatrix(args[0], out, format, &m, &r)
		}
		return in.runConvert(args[0], out, format, &r)
	})
	flags := cmd.Flags()
	flags.StringVarP(&out, "output", "o", "", "`FILE` to write; - is stdout")
	in.choiceVar(flags, &to, "to", "", names, "format (default: as the name of the output ends)")
	in.matrixFlags(flags, &m)
	in.readingFlags(flags, &r)
	return cmd
}

// formatOfFile returns the format that an output is to have, nil if that is not
// clear.
func formatOfFile(path, to string) *fileFormat {
	ending := table.Extension(path)
	for i := range fileFormats {
		if f := &fileFormats[i]; f.name == to || to == "" && slices.Contains(f.endings, ending) {
			return f
		}
	}
	return nil
}

// fileFormat returns the format of an output, and notes what is wrong with it.
func (in *invocation) fileFormat(path, to string, inputs []string, matrix bool) *fileFormat {
	if path == "" {
		in.problem("-o", "the output is missing; write -o FILE")
		return nil
	}
	holds := func(f *fileFormat) bool {
		if matrix {
			return f.matrix != tablefile.Other
		}
		return f.holds
	}
	var all []string
	for i := range fileFormats {
		if holds(&fileFormats[i]) {
			all = append(all, fileFormats[i].endings...)
		}
	}
	found := formatOfFile(path, to)
	if found == nil && to == "" && path == "-" {
		if found = formatOfFile(".tsv", ""); matrix {
			found = formatOfFile(".npy", "")
		}
	}
	switch {
	case found == nil && to == "":
		in.problem("-o", "%s has no ending that names a format; give one of %s, or --to", path, strings.Join(all, " "))
	case found != nil && !holds(found) && matrix:
		in.problem("-o", "%s files hold graphs, and %s is a matrix of features; give one of %s", found.name, inputs[0], strings.Join(all, " "))
	case found != nil && !holds(found) && len(inputs) > 0:
		in.problem("-o", "%s files hold features, and %s is a graph; give one of %s", found.name, inputs[0], strings.Join(all, " "))
	case found != nil && !found.text && strings.ToLower(filepath.Ext(path)) != table.Extension(path):
		in.problem("-o", "%s files are written without %s; leave it out", found.name, filepath.Ext(path))
	}
	return found
}

// runConvert writes a graph.
func (in *invocation) runConvert(name, path string, format *fileFormat, r *reading) error {
	o, err := in.beginProduct(path, false)
	if err != nil {
		return err
	}
	defer o.abort()
	ids, err := o.beside(path, "", ".ids")
	if err != nil {
		return err
	}
	r.streamed = true
	g, err := in.openGraph(name, r, path)
	if err != nil {
		return err
	}
	defer g.close()
	m := g.Manifest
	nodes := g.Nodes
	doc := &converted{
		Output: path, Format: format.name, Nodes: m.Rows, Edges: m.Edges(), Entries: m.Entries, Directed: m.Directed, Weighted: m.Weighted,
	}
	source := &graphfile.Graph{
		A: g.Compared(), Order: nodes.Order(), ID: nodes.AppendID, Numeric: g.hasNumbers(), Directed: m.Directed, Weighted: m.Weighted,
		SelfLoops: m.SelfLoops,
	}
	plan, err := in.fit(g, func() (*budget.Needs, error) {
		source.Memory = g.memory()
		return planConvert(g, source, format, path)
	})
	if err != nil {
		return err
	}
	if err := in.begin(g, plan); err != nil {
		return err
	}
	writing := in.progress.Phases()
	source.Progress = func(done, total int) { writing("writing "+path, float64(done)/float64(total)) }
	if format.graph == graphfile.Parquet {
		in.warnBytes(path, format.endings[0], g, nil)
	}
	if err := in.writeGraph(o.text, path, format, source, doc); err != nil {
		return err
	}
	if path != "-" {
		doc.IDs = path + ".ids"
		if err := tablefile.WriteIDs(ids, g.ids()); err != nil {
			return err
		}
	}
	if err := o.publish(storeOf(m), nil); err != nil {
		return err
	}
	if doc.Without != nil && *doc.Without > 0 {
		where := "write to a file to get their ids beside it"
		if path != "-" {
			where = "they are in " + doc.IDs + "; read it with --nodes"
		}
		in.warn("%s: not in a file of edges; %s", words.Counted(int64(*doc.Without), "node")+" without an edge", where)
	}
	return in.tell(doc, func(w io.Writer) {
		fmt.Fprintf(w, "%s, %s\n%s · %s\n", words.Counted(doc.Nodes, "node"), words.Counted(doc.Edges, "edge"), in.cost(), path)
	}, path)
}

// planConvert returns what it takes to write a graph.
func planConvert(g *openGraph, source *graphfile.Graph, format *fileFormat, path string) (*budget.Needs, error) {
	n := g.needs()
	list, file := graphfile.Memory(format.graph, source)
	n.Sweeps, n.Disk = 1, file+runFileBytes
	if format.graph == graphfile.SciPy {
		n.Sweeps = 3
	}
	for id := range g.ids() {
		n.Disk += int64(len(id)) + 1
	}
	bytes := spec.Sum(list) + min(textio.CompressBytes(path), n.Disk)
	return n, n.Reserve(bytes, "rows on their way")
}

// writeGraph writes a graph in a format and notes in doc what was written.
func (in *invocation) writeGraph(out io.Writer, path string, format *fileFormat, g *graphfile.Graph, doc *converted) error {
	if format.graph == graphfile.SciPy { // whose size is known
		_, file := graphfile.Memory(format.graph, g)
		if err := checkSpace(path, file, words.Counted(doc.Entries, "entry"), "take another disk"); err != nil {
			return err
		}
	}
	sum := &written{w: out}
	w, finish, err := textio.Compress(sum, path)
	if err != nil {
		return err
	}
	without, err := graphfile.Write(in.ctx, format.graph, w, g)
	if errors.Is(err, graphfile.ErrFormat) {
		return fault.Usage("-o", "%v", err)
	}
	if err != nil {
		return err
	}
	if err := finish(); err != nil {
		return err
	}
	if doc.Bytes = sum.bytes; format.edgesOnly {
		doc.Without = &without
	}
	return nil
}

// written counts what passes.
type written struct {
	w     io.Writer
	bytes int64
}

// Write implements [io.Writer].
func (c *written) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.bytes += int64(n)
	return n, err
}

// ids goes through the ids of all nodes, in the order of the rows of files.
func (g *openGraph) ids() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var id []byte
		for row := range g.Nodes.Rows() {
			if id = g.Nodes.AppendID(id[:0], row); !yield(id) {
				return
			}
		}
	}
}

// hasNumbers reports whether all ids are numbers that an integer of 64 bits
// holds.
func (g *openGraph) hasNumbers() bool {
	switch m := g.Manifest; m.Nodes {
	case "implicit":
		return true
	case "numeric":
		last := 0 // the row of the largest number
		for last = range g.Nodes.Rows() {
		}
		n, err := strconv.ParseUint(g.Nodes.ID(last), 10, 64)
		return err == nil && n <= math.MaxInt64
	}
	return false
}
