package graphs

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/param"
)

type convertOptions struct {
	graph       shell.GraphInputs
	out, target string
	format      *shell.FileFormat
	matrix      bool // the input is a matrix of features, to which the flags below apply

	attributes string // table of attributes of nodes, for a graph

	labels    string
	columns   int // 0: the largest index
	zeroBased bool
	dtype     string // "": the type of the input
}

func NewConvert(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "convert INPUT -o FILE",
		"Write a graph, or features, in the format of another tool", checkConvert,
		runConvert)
	var names []string
	for _, format := range shell.FileFormats() {
		names = append(names, format.Name)
	}
	flags.AddOutput(&c.out, "output", "", "to write; - is stdout", nil)
	flags.AddChoice(&c.target, "to", "", names,
		"format (default: as the name of the output ends)")
	flags.AddInput(&c.attributes, "attributes", "with a node in each row, for example predictions, whose columns become attributes of the nodes in .graphml")
	flags.AddInput(&c.labels, "labels", "of labels for LIBSVM text, a node and its label a line, or a .npy vector; names of classes are numbered by name, from 1")
	flags.AddDtype(&c.dtype, "",
		"precision of features (default: as in the input, float64 for text)")
	shell.NumberVar(flags, &c.columns, "columns", 0, param.Range{Most: math.MaxInt32},
		"N", "columns of LIBSVM features (default: up to the largest index)")
	flags.BoolVar(&c.zeroBased, "zero-based", false,
		"indices of LIBSVM text count from 0, as scikit-learn writes them")
	c.graph.DeclareLargest(flags)
	c.graph.Declare(flags)
	return cmd
}

func runConvert(run *shell.Session, c *convertOptions, name string) error {
	if c.matrix {
		return convertMatrix(run, c, name)
	}
	return convertGraph(run, c, name)
}

func checkConvert(line *shell.CommandLine, c *convertOptions, args []string) {
	if len(args) != 1 {
		return
	}
	c.matrix = isMatrix(line, c, args[0])
	checkFormat(line, c, args[0])
	if !c.matrix {
		line.Refuse(true, "labels dtype columns zero-based",
			"is for matrices of features ("+strings.Join(tablefile.ArrayEndings, " ")+"); leave it out")
		if c.attributes != "" && c.format != nil && c.format.Graph != nil &&
			!c.format.Graph.NodeAttributes {
			line.Problem("--attributes",
				"%s files hold no attributes of nodes; write .graphml, or leave it out", c.format.Name)
		}
	} else {
		if c.labels != "" && c.format != nil && !c.format.Matrix.HasLabels {
			line.Problem("--labels",
				"%s files hold no labels; write LIBSVM text (.svm), or leave it out", c.format.Name)
		}
		ofGraphs := slices.DeleteFunc(slices.Clone(c.graph.Names), func(name string) bool { return name == "nodes" }) // --nodes also lists the ids of the rows of a matrix
		line.Refuse(true,
			strings.Join(append(ofGraphs, "attributes", "largest-component"),
				" "), "is for graphs, and "+args[0]+
				" is a matrix of features; leave it out")
	}
}

// isMatrix reports whether input is a matrix of features, by its content. If input is a stream, or has a format of
// graphs and matrices, the format of the output decides. If input cannot be read, its name decides.
func isMatrix(line *shell.CommandLine, c *convertOptions, input string) bool {
	output := shell.FormatOfFile(c.out, c.target)
	source := shell.FormatOfFile(input, "")
	isShared := source != nil && source.Graph != nil && source.Matrix != nil && source.Matrix.IsShared
	if textio.IsStream(input) || isShared {
		return output != nil && output.Graph == nil
	}
	if !shell.IsThere(input) || textio.CheckFinished(input) != nil {
		return tablefile.Recognize(input, nil) != nil
	}
	return tablefile.Detect(line.Context, input) != nil
}

func checkFormat(line *shell.CommandLine, c *convertOptions, input string) {
	if c.out == "" {
		return
	}
	holds := func(f *shell.FileFormat) bool { return f.Graph != nil }
	otherKind := "features"
	kind := "a graph"
	usual := ".tsv"
	if c.matrix {
		holds = func(f *shell.FileFormat) bool { return f.Matrix != nil }
		otherKind = "graphs"
		kind = "a matrix of features"
		usual = ".npy"
	}
	var endings []string
	for _, f := range shell.FileFormats() {
		if holds(f) {
			endings = append(endings, f.Endings...)
		}
	}
	c.format = shell.FormatOfFile(c.out, c.target)
	if c.format == nil && c.target == "" && textio.IsStream(c.out) {
		c.format = shell.FormatOfFile(usual, "")
	}
	ending := table.Extension(c.out)
	switch {
	case c.format == nil && c.target == "" && !c.matrix && (ending == ".json" || graphfile.IsUnread(ending)):
		line.Problem("-o", "%s files are not written; write .mtx, or .graphml, which Gephi, igraph and NetworkX read", ending)
	case c.format == nil && c.target == "":
		line.Problem("-o", "%s has no ending that names a format; give one of %s, or --to",
			c.out, strings.Join(endings, " "))
	case c.format != nil && !holds(c.format):
		line.Problem("-o", "%s files hold %s, and %s is %s; give one of %s",
			c.format.Name, otherKind, input, kind, strings.Join(endings, " "))
	case c.format != nil && !c.format.Text &&
		strings.ToLower(filepath.Ext(c.out)) != ending:
		line.Problem("-o", "%s files are written without %s; leave it out",
			c.format.Name, filepath.Ext(c.out))
	}
}

// writeFile calls write with w, the writer of the file path, and shows the progress. It returns the
// number of bytes before compression.
func writeFile(run *shell.Session, w io.Writer, path string,
	write func(w io.Writer) error) (bytes int64, err error) {
	stage := run.Progress.Begin("writing "+path, 0, shell.Bytes)
	err = write(io.MultiWriter(w, stage))
	return stage.Done(), err
}

// publish publishes the output and returns the size of the file. If the output is no regular file, it
// returns bytes.
func publish(o *shell.Outputs, bytes int64) (int64, error) {
	err := o.Publish(nil, nil)
	if info, unknown := os.Stat(o.Path); unknown == nil && info.Mode().IsRegular() {
		bytes = info.Size()
	}
	return bytes, err
}

type convertDocument struct {
	Output     string   `json:"output"`
	IDs        string   `json:"ids,omitempty"` // absent for stdout
	Format     string   `json:"format"`
	Attributes []string `json:"attributes,omitempty"` // attributes of nodes
	shell.GraphCounts
	Without *int  `json:"nodes_without_edge,omitempty"` // nodes that only the file of ids lists
	Bytes   int64 `json:"bytes"`
	shell.Closing
}

func convertGraph(run *shell.Session, c *convertOptions, name string) error {
	o, err := run.BeginOutputs(c.out, nil)
	if err != nil {
		return err
	}
	ids, err := o.Companion(c.out, "", ".ids")
	if err != nil {
		return err
	}
	c.graph.Streamed = true
	g, err := run.ReadGraph(&c.graph, name, c.out)
	if err != nil {
		return err
	}
	m := g.Store.Manifest
	o.Describe(m)
	options := new(graphfile.WriteOptions)
	if m.HasCodes() && len(g.Edges.Kinds) == 0 && g.Edges.Since == "" {
		return shell.UsageError(name,
			"convert writes no kinds and times of edges; give --kind-weights or --since for edges with a single weight")
	}
	var file, attributes int64
	if c.attributes != "" {
		run.Progress.Begin("reading "+c.attributes, 0, shell.Bytes)
		options.Attributes, attributes, err = tablefile.NodeAttributes(run.Context, c.attributes, g.Nodes, &tablefile.FeatureConfig{
			Text: c.graph.Tables.Text, Missing: c.graph.Tables.Labelling.Missing, SkipUnknown: c.graph.Tables.SkipsUnknown(),
			SkipBad: c.graph.Config.SkipBadLines,
			Memory:  g.Plan().Room(), Stdin: run.Console.Stdin, Warn: run.Console.WarnOfError,
		})
		if err != nil {
			return err
		}
	}
	held := g.Leave(attributes, "attributes of nodes")
	job, err := held.Begin(run.Context, &heatwalk.Needs{
		Part: "buffers of rows",
		Workspace: func(j *heatwalk.Job, p *budget.Plan) (budget.Workspace, error) {
			p.Sweeps = c.format.Graph.Sweeps
			limited := *options
			limited.Memory = j.Memory
			var bytes int64
			bytes, file = graphfile.Bytes(c.format.Graph, g.Store.Store, &limited)
			run.Costs.Disk = file + shell.RunFileBytes + shell.IDBytes(g.NodeAxis())
			return budget.Held(bytes), nil
		},
	})
	if err != nil {
		return err
	}
	defer job.End()
	options.Memory = job.Memory
	if c.format.Graph.Exact {
		if err := shell.CheckSpace(c.out, file, words.Counted(m.Entries, "entry"),
			"take another disk"); err != nil {
			return err
		}
	}
	doc := &convertDocument{Output: c.out, Format: c.format.Name,
		GraphCounts: shell.CountsOf(m)}
	for _, a := range options.Attributes {
		doc.Attributes = append(doc.Attributes, a.Title)
	}
	isolated := 0
	doc.Bytes, err = writeFile(run, o.Writer, c.out, func(w io.Writer) (err error) {
		writing := run.Progress.Phases()
		options.Progress = func(_ string, done, total int64) { writing("writing "+c.out, done, total) }
		isolated, err = graphfile.Write(run.Context, c.format.Graph, w,
			g.Store.Store, options)
		return err
	})
	if errors.Is(err, graphfile.ErrFormat) {
		return shell.UsageError("-o", "%s", shell.ErrorText(err))
	}
	where := "write to a file to get a file of their ids"
	if err == nil && c.out != "-" {
		doc.IDs = c.out + ".ids"
		where = "they are in " + doc.IDs + "; read it with --nodes"
		err = tablefile.WriteIDs(ids, g.NodeAxis())
	}
	if err == nil {
		doc.Bytes, err = publish(o, doc.Bytes)
	}
	if err != nil {
		return err
	}
	if c.format.Graph.EdgesOnly {
		doc.Without = &isolated
	}
	if isolated > 0 {
		run.Console.Warn("%s: not in a file of edges; %s",
			words.Counted(isolated, "node")+" without an edge", where)
	}
	return run.Console.PrintResult(doc, func(w io.Writer) {
		fmt.Fprintf(w, "%s, %s\n%s · %s\n", words.Counted(doc.Nodes, "node"),
			words.Counted(doc.Edges, "edge"), run.Console.Cost(), c.out)
	}, c.out)
}

type convertMatrixDocument struct {
	Output  string   `json:"output"`
	Labels  string   `json:"labels,omitempty"`
	Format  string   `json:"format"`
	Rows    int      `json:"rows"`
	Cols    int      `json:"cols"`
	Dtype   string   `json:"dtype"`
	Kernel  bool     `json:"kernel"`
	Classes []string `json:"classes,omitempty"` // names of the classes 1, 2 …
	Bytes   int64    `json:"bytes"`
	shell.Closing
}

func convertMatrix(run *shell.Session, c *convertOptions, input string) error {
	o, err := run.BeginOutputs(c.out, c.format.Matrix.Endings)
	if err != nil {
		return err
	}
	plan := run.Costs.NewPlan()
	options := &tablefile.Options{
		ZeroBased: c.zeroBased, Columns: c.columns, Memory: plan.Limit / 4,
		Shared: true, Text: c.graph.Tables.Text,
		Stdin:    run.Console.Stdin,
		Progress: run.Progress.Stages(shell.Bytes),
		Copy: func() (string, error) { // for input that can be read only once
			dir, err := run.MakeTempContent(&c.graph.Tables, c.out)
			return filepath.Join(dir, "content"), err
		},
	}
	x, err := tablefile.Inspect(run.Context, input, options)
	if err != nil {
		return err
	}
	if x.Format != tablefile.LIBSVM && (c.columns > 0 || c.zeroBased) {
		return shell.UsageError("--columns",
			"it and --zero-based are for LIBSVM text, and %s is %s; leave them out", input, x.Format.Title)
	}
	conversion := &tablefile.Conversion{
		File: x, Kernel: x.Kernel || c.format.Kernel, IDs: c.graph.Config.Nodes,
		Stdin: run.Console.Stdin, RowIDs: o.RowIDs, ColIDs: o.ColIDs,
		LabelFile: c.labels, Labelling: run.Console.LabelConfig(&c.graph.Tables, ""),
		Reserve: plan.Reserve,
	}
	conversion.Labelling.MinusOne = true
	doc := &convertMatrixDocument{Output: c.out, Format: c.format.Name,
		Rows: x.Rows, Cols: x.Cols, Kernel: conversion.Kernel, Dtype: "float64"}
	labels := io.Discard
	if x.Labelled && !c.format.Matrix.HasLabels && c.out != "-" {
		doc.Labels = strings.TrimSuffix(c.out, filepath.Ext(c.out)) + ".labels.tsv"
		if labels, err = o.Companion(c.out, filepath.Ext(c.out), ".labels.tsv"); err != nil {
			return err
		}
	}
	if err := conversion.Prepare(run.Context); err != nil {
		return err
	}
	doc.Classes = conversion.Classes
	if x.Kernel && !x.InOrder && x.Format == tablefile.LIBSVM {
		run.Console.Warn("%s: its serial numbers are not 1, 2, 3 …; rows are in the order of its lines", x.Name)
	}
	convert := tablefile.Convert[float64]
	if c.dtype == "float32" || c.dtype == "" && x.Single {
		convert = tablefile.Convert[float32]
		doc.Dtype = "float32"
	}
	if err := plan.Reserve(x.Held+tablefile.NPY.Size(1, x.Cols, doc.Dtype), "rows"); err != nil {
		return err
	}
	if !c.format.Text {
		if _, err := o.CheckMatrix(conversion.Rows, conversion.Cols, doc.Dtype,
			"take another disk"); err != nil {
			return err
		}
	}
	if err := run.Costs.Begin(plan); err != nil {
		return err
	}
	doc.Bytes, err = writeFile(run, o.Writer, c.out, func(w io.Writer) error {
		return convert(run.Context, conversion, c.format.Matrix, w, labels)
	})
	if err == nil {
		doc.Bytes, err = publish(o, doc.Bytes)
	}
	if err != nil {
		return err
	}
	return run.Console.PrintResult(doc, func(w io.Writer) {
		what := "features"
		if doc.Kernel {
			what = "kernel"
		}
		if doc.Labels != "" {
			what += ", labels in " + doc.Labels
		}
		fmt.Fprintf(w, "%s %s\n%s · %s\n", shell.ShapeOf(doc.Output, doc.Rows, doc.Cols, doc.Dtype),
			what, run.Console.Cost(), doc.Output)
	}, c.out)
}
