package shell

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/ingest/source"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/sides"
)

// Inputs holds the flags for reading tables of labels, ids and attributes.
type Inputs struct {
	Text      input.Text // settings of the text of tables
	Labelling nodefile.LabelConfig
	unknown   ingest.UnknownIDs // rule for ids that are not in the graph
	tempDir   string
}

func (in *Inputs) SkipsUnknown() bool {
	return in.unknown == ingest.SkipUnknown
}

// GraphInputs holds the flags for reading files as a graph. The flags belong to ingest and are accepted
// wherever GRAPH is a file.
type GraphInputs struct {
	Tables        Inputs
	Names         []string
	Config        ingest.Config
	Sources       sources
	edges         sides.Options // weights of kinds and times
	largest       bool          // only the largest component is used
	Streamed      bool          // the store is read from disk in every sweep
	Coded         bool          // the graph stays in memory in the encoding of the store
	Tabled        bool          // the output of the command includes the use of columns
	Source        string        // the name of Config.Stdin, for progress
	ProducerBytes int64         // memory of the producer of Config.Stdin
}

func (r *GraphInputs) Declare(flags *FlagSet) {
	c := &r.Config
	local := NewFlagSet(flags.Line)
	local.AddInput(&c.Nodes, "nodes", "with all nodes, one id a line; they come first, in this order")
	local.BoolVar(&c.Directed, "directed", false,
		"edges have a direction (default: if the file says so)")
	local.BoolVar(&c.Undirected, "undirected", false,
		"edges have none, whatever the file says")
	enumVar(local, &c.KeepLoops, "self-loops", "drop", []string{"drop", "keep"},
		[]bool{false, true}, "edges from a node to itself")
	enumVar(local, &c.Duplicates, "duplicates", "", []string{"sum", "max", "min", "first", "error"},
		[]ingest.Duplicates{ingest.SumDuplicates, ingest.MaxDuplicates,
			ingest.MinDuplicates, ingest.FirstDuplicates, ingest.ErrorDuplicates},
		"an edge that occurs again (default: weights are added, without weights it counts once)")
	c.Order = ingest.AutoOrder
	enumVar(local, &c.Order, "order", "auto", []string{"auto", noOrder, "degree", "locality"},
		[]ingest.Order{ingest.AutoOrder, ingest.DefaultOrder, ingest.DegreeOrder,
			ingest.LocalityOrder},
		"how rows are numbered in the store, for less space and faster sweeps; every output keeps the order of the ids")
	local.AddValue("fields", "COLUMNS", "", "columns of source, target and perhaps weight, time and kind, numbers or titles, as in from,to,,date without weight (default: by their titles, or 1,2 or 1,2,3)", func(s string) error {
		list := strings.Split(s, ",")
		isGiven := func(i int) bool { // a weight and a time may be left empty
			return i < len(list) && (i < 2 || i+1 == len(list) || strings.TrimSpace(list[i]) != "")
		}
		var given []string
		for i := range list {
			if isGiven(i) {
				given = append(given, list[i])
			}
		}
		var columns []string
		if err := ParseFields(&columns, strings.Join(given, ","), 2, 5, "1,2,4 or from,to,amount"); err != nil {
			return err
		}
		c.Fields = columns[:2]
		if isGiven(2) {
			c.Fields = columns[:3]
		}
		if isGiven(3) {
			c.Time = strings.TrimSpace(list[3])
		}
		if isGiven(4) {
			c.Kind = strings.TrimSpace(list[4])
		}
		return nil
	})
	local.BoolVar(&c.Bipartite, "bipartite", false,
		"source and target are two kinds of nodes; ids get the titles of their columns in front, as in user_id:1")
	local.AddText(&c.Weight, "weight", "`NAME` of the column, or of the edge attribute of GraphML or JSON, that is the weight; 1/NAME takes the reciprocal, for distances")
	enumVar(local, &c.Signed, "weights", "positive", []string{"positive", "signed"},
		[]bool{false, true}, "whether weights may be negative: edges between opponents")
	local.AddText(&c.Kind, "kind", "`COLUMN` with the kind of each edge, a number or title, or the edge attribute of GraphML or JSON; kinds get weights by --kind-weights or from labels")
	local.AddText(&c.Time, "time", "`COLUMN` with the time of each edge: dates such as 2024-01-31, clock times, or whole numbers from 0 to 65535")
	timeFormat := ""
	local.AddValue("time-format", "COLUMN:FORMAT", "", "column with times in another format: "+strings.Join(table.TimeFormats, ", "), func(s string) error {
		if column, _ := table.SplitTimeSetting(s); column == s {
			return errors.New(words.Quoted(s) + " has no format; give COLUMN:FORMAT, as in date:dmy or sent:unix")
		}
		timeFormat = s
		return nil
	})
	local.headerFlag(&c.Header)
	local.BoolVar(&c.SkipBadLines, "skip-bad-lines", false,
		"count lines that cannot be read, and go on")
	local.addSize(&c.Window, "max-window",
		"memory for the window of a zstd input, which --long makes large (default 128MiB)")
	r.Sources.declare(local)
	local.VisitAll(func(f *pflag.Flag) { r.Names = append(r.Names, f.Name) })
	edgeFlags(&r.edges, local)
	r.Tables.DeclareText(local)
	r.Tables.DeclareTemp(local)
	r.Tables.DeclareMissing(flags)
	local.AddUnknownIDs(&r.Tables,
		"ids that are not in the graph (or not in --nodes)")
	local.VisitAll(func(f *pflag.Flag) { mark(f, readingGroup, graphReading) })
	flags.AddFlagSet(local.FlagSet)
	flags.AddCheck(func(line *CommandLine, args []string) {
		c.Time = cmp.Or(timeFormat, c.Time)
		line.checkGraph(r, args)
	})
}

func (f *FlagSet) headerFlag(p *nodefile.Header) {
	enumVar(f, p, "header", "auto", []string{"auto", "yes", "no"},
		[]nodefile.Header{nodefile.AutoHeader, nodefile.HasHeader,
			nodefile.NoHeader}, "whether the first line is a header")
}

// kindWeight matches the first weight of a list. The name of a kind may have commas and equals signs.
var kindWeight = regexp.MustCompile(`^(.+?)=([-+.\deE]+)(?:,|$)`)

func edgeFlags(o *sides.Options, flags *FlagSet) {
	flags.AddValue("kind-weights", "KIND=W[,...]", "", "weights of kinds of edges, 1 for the others, as in pays=1,calls=0.1 (default: held-out labels choose them; 1 where there are no labels)", func(s string) error {
		o.Kinds = map[string]float64{}
		for {
			m := kindWeight.FindStringSubmatch(s)
			if m == nil {
				return errors.New(Quote(s) +
					" is no weight of a kind; give KIND=WEIGHT, as in pays=1,calls=0.1")
			}
			s = s[len(m[0]):]
			w, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				return errors.New(Quote(m[2]) +
					" is no weight of a kind; give a number")
			}
			o.Kinds[m[1]] = w
			if s == "" {
				return nil
			}
		}
	})
	flags.AddText(&o.Since, "since", "use no edges before this `TIME`, a date such as 2024-01-31 or a step")
	flags.AddText(&o.Until, "until", "use no edges after this `TIME`")
	flags.AddText(&o.HalfLife, "half-life", "halve the weight of an edge with every `TIME` of its age: 30d, 4w, 1y or a number; choose: by held-out labels (default: no decay)")
}

func (r *GraphInputs) DeclareLargest(flags *FlagSet) {
	flags.BoolVar(&r.largest, "largest-component", false,
		"leave out all nodes outside the largest component")
}

// DeclareText declares the flags that say how the text of tables is read.
func (in *Inputs) DeclareText(flags *FlagSet) {
	t := &in.Text
	flags.AddValue("delimiter", "CHAR", "", "character between fields of all tables of the command, such as '|' (default: tab, comma, semicolon or blanks, as the first line of each has)", func(s string) error {
		if _, fault := (input.Text{Delimiter: s}).Check(); fault != "" {
			return errors.New(Quote(s) + " " + fault)
		}
		t.Delimiter = s
		return nil
	})
	enumVar(flags, &t.Decimal, "decimal", ".", []string{".", ","},
		[]string{".", ","}, "character in front of a number's fraction")
	flags.AddValue("thousands", "CHAR", "", "character between the thousands of a number, such as '.' in 1.002,27 (default: none)", func(s string) error {
		if _, fault := (input.Text{Thousands: s}).Check(); fault != "" {
			return errors.New(Quote(s) + " " + fault)
		}
		t.Thousands = s
		return nil
	})
	flags.AddChoice(&t.Encoding, "encoding", "", input.Encodings,
		"encoding of text that is not UTF-8 (default: UTF-16 with a byte-order mark)")
	for _, name := range []string{"delimiter", "decimal", "thousands", "encoding"} {
		MarkReading(flags.Lookup(name))
	}
}

var graphReading = []string{"graph"}

func MarkReading(f *pflag.Flag) {
	mark(f, readingGroup, nil)
}

func IsReading(f *pflag.Flag) bool {
	_, isMarked := f.Annotations[readingGroup]
	return isMarked
}

func (in *Inputs) DeclareTemp(flags *FlagSet) {
	flags.AddText(&in.tempDir, "temp-dir", "`DIR` for temporary files (default: folder of the output)")
}

// ParseFields parses s, a list of columns by number or title, into fields. It returns an error, which shows
// the example, if the list has fewer than minimum or more than maximum columns, or a column twice.
func ParseFields(fields *[]string, s string, minimum, maximum int,
	example string) error {
	var list []string
	for _, field := range strings.Split(s, ",") {
		field = strings.TrimSpace(field)
		if field == "" {
			return errors.New(Quote(s) +
				" is not a list of columns; give numbers or titles, as in " + example)
		}
		if slices.Contains(list, field) {
			return errors.New(Quote(s) +
				" names a column twice; give numbers or titles, as in " + example)
		}
		list = append(list, field)
	}
	if len(list) < minimum || len(list) > maximum {
		want := "two"
		if maximum > minimum {
			want = "two or three"
		}
		return errors.New(Quote(s) + " are not " + want +
			" columns; give numbers or titles, as in " + example)
	}
	*fields = list
	return nil
}

type OpenGraph struct {
	*heatwalk.Graph
	run   *Session
	Name  string        // as the user gave it
	Edges sides.Options // given weights of kinds and times

	isKept bool // the graph stays open after the command

	Attributes *tablefile.Features
	Unread     error // attributes exceed the memory limit; Attributes has their sizes
}

func (line *CommandLine) checkGraph(r *GraphInputs, args []string) {
	s := &r.Sources
	c := &r.Config
	switch {
	case !s.Any():
	case s.hyperedges && s.cocitation:
		line.Problem("--hyperedges",
			"goes against --cocitation, which is of arcs; choose one")
	case s.hyperedges && c.Directed:
		line.Problem("--hyperedges", "have no direction; leave out --directed")
	case s.hyperedges && (c.Fields != nil || c.Weight != "" || c.Kind != "" ||
		c.Time != "" || c.Bipartite || c.Header != nodefile.AutoHeader ||
		c.SkipBadLines || r.Tables.unknown != ingest.DefaultUnknown):
		line.Problem("--hyperedges",
			"has ids on its lines and no columns; leave out --fields, --weight, --bipartite, --header, --skip-bad-lines and --unknown-ids")
	case s.Citations() && c.Undirected:
		line.Problem("--undirected",
			"goes against --cocitation and --coupling, which are of arcs; leave it out")
	}
	cmd := line.Command
	learns := slices.Contains([]string{"classify", "suggest", "explain", "evaluate",
		"regress"}, cmd.Name())
	line.Refuse(cmd.Name() == "ingest", "kind-weights since until half-life",
		"a store keeps all edges; give this flag to the command that opens it")
	line.Refuse(r.edges.HalfLife == sides.ChosenHalfLife && !learns, "half-life",
		"labels choose it in classify, suggest, explain, evaluate and regress; give a time such as 30d")
	if last := len(args) - 1; cmd.Name() != "ingest" && last >= 0 && ingest.IsStore(args[last]) {
		line.Refuse(true, strings.Join(r.Names, " "),
			args[last]+" is a store already; give this flag to heatwalk ingest")
	}
}

// checkStdin records a problem if stdin is given for two inputs, because the second reader would find nothing.
func (line *CommandLine) checkStdin(inputs ...string) {
	if first := slices.Index(inputs, "-"); first >= 0 && slices.Contains(inputs[first+1:], "-") {
		line.Problem("-",
			"stdin is named more than once and can be read once; give files for the others")
	}
}

// ReadGraph opens the store or reads the file called name. It may put a temporary store in the directory of
// output if output is not "".
func (run *Session) ReadGraph(r *GraphInputs,
	name, output string) (*OpenGraph, error) {
	for _, input := range run.Line.inputFiles { // before the graph, which may take minutes
		isOpen := input == name && run.kept != nil
		if _, err := os.Stat(input); !isOpen && input != "" && input != "-" && errors.Is(err, fs.ErrNotExist) {
			return nil, &fs.PathError{Op: "open", Path: input, Err: syscall.ENOENT}
		}
	}
	g := &OpenGraph{Graph: new(heatwalk.Graph), run: run, Name: name,
		Edges: r.edges}
	o := &heatwalk.Options{
		Memory: run.Costs.DataLimit(), Workers: run.Threads, Stream: r.Streamed, Coded: r.Coded, TempDir: r.Tables.tempParent(output), LargestComponent: r.largest, Edges: r.edges, Network: run.Network,
		Planned: func(p *budget.Plan) error {
			if g.Unread != nil {
				return g.Unread
			}
			return run.Costs.Begin(p)
		},
	}
	isStore := ingest.IsStore(name)
	var temporary int64
	opened := run.openKept(name, o)
	g.isKept = opened != nil
	run.AtEnd(g.closeGraph)
	if !isStore && !g.isKept {
		o.Reading = run.IngestConfig(r)
		run.Costs.LimitHeap(o.Reading.Memory + r.ProducerBytes)
		if r.Sources.Any() {
			var err error
			if temporary, err = run.MakeSources(r, output, []string{name}, o.Reading); err != nil {
				return nil, err
			}
		}
	}
	var err error
	if !g.isKept {
		opened, err = heatwalk.Open(run.Context, name, o)
	}
	if wrong := new(heatwalk.TempDirError); errors.As(err, &wrong) {
		return nil, MachineError(err, "create a temporary directory in "+wrong.Dir,
			"%s; choose another with --temp-dir", Cause(wrong.Err))
	}
	if err != nil {
		return nil, err
	}
	g.Graph = opened
	run.Origin = opened.Origin()
	if !isStore {
		run.Progress.End()
		run.Costs.Disk = g.Report.SpilledBytes + temporary + g.Store.Manifest.BytesTotal()
		run.Costs.reading = budget.Item{What: "ingest", Bytes: run.Costs.measuredBytes()}
		if !r.Config.KeepLoops {
			run.droppedLoops = g.Report.SelfLoops
		}
	}
	if g.OmittedNodes > 0 {
		run.Console.Note("the largest component of " + name + " has " + words.Counted(len(g.Degrees), "node") + "; left out: " +
			words.Counted(g.OmittedNodes, "node") + " in " +
			words.Counted(g.OmittedComponents, "other component"))
	}
	if !isStore && !r.Tabled {
		for _, line := range ColumnLines(g.Report.Files) {
			run.Console.Note(line)
		}
		note := func(n int64, before, noun, after string) {
			if n > 0 {
				run.Console.Note(name + ": " + before + words.Counted(n, noun) + after)
			}
		}
		note(g.Report.Added, "the weights of both directions are added for ", "edge",
			"; --directed keeps them apart")
		note(g.Report.BadLines, "", "line", " that cannot be read left out")
		note(run.droppedLoops, "", "self loop", " dropped; --self-loops=keep keeps them")
	}
	if zeros := g.DescribeZeros(); zeros != "" && r.Config.Unweighted {
		run.Console.Warn("%s: a store%s; give its files in place of it, "+
			"or ingest them with --fields SOURCE,TARGET", name, zeros)
	}
	return g, nil
}

// DescribeZeros reports lines with weight 0 that were left out, or returns "".
func (g *OpenGraph) DescribeZeros() string {
	n := g.Store.Manifest.Options[ingest.ZeroWeightsOption]
	if n == "" {
		return ""
	}
	return " without lines of weight 0 or none (" + n + ")"
}

func (g *OpenGraph) NodeAxis() Axis {
	nodes := g.Nodes
	return Axis{N: nodes.Len(),
		ID: func(i int) string { return nodes.ID(nodes.RowAt(i)) }}
}

func (g *OpenGraph) closeGraph() {
	if g.isKept {
		return
	}
	if err := g.Close(); err != nil {
		g.run.Console.Warn("temporary files of %s could not be removed: %s", g.Name,
			Cause(err))
	}
}

// Finish publishes the output of a run and prints the result: d with --json, otherwise the lines and the time
// and memory of the run.
func (o *Outputs) Finish(d document, parameters any, lines ...string) error {
	if err := o.Publish(parameters, nil); err != nil {
		return err
	}
	return o.Run.Console.PrintResult(d, func(w io.Writer) { o.Print(w, lines) }, o.Path)
}

// Print writes the lines that are not empty, and time and memory of the run.
func (o *Outputs) Print(w io.Writer, lines []string) {
	for _, line := range lines {
		if line != "" {
			fmt.Fprintln(w, line)
		}
	}
	cost := o.Run.Console.Cost()
	if o.Path != "" && o.Path != "-" {
		cost += " · " + o.Path
	}
	fmt.Fprintln(w, cost)
}

type GraphRun struct {
	Out        *Outputs
	Graph      *OpenGraph
	Labels     *nodefile.Labels // may be nil
	Rows, Cols []int            // rows and columns of a matrix that are nodes
	HeldOut    *HeldOut         // groups or times of the labels; nil: none
	Shares     []float64        // known shares of the classes among all nodes; nil: unknown
}

// SweepForward sets whether the run follows edges in their direction only, which needs less memory. It does
// nothing to a graph that a server keeps open, because other calls use its store.
func (g *OpenGraph) SweepForward(only bool) {
	if !g.isKept {
		g.Store.Forward = only
	}
}

// BeginRun begins the output called out, opens the graph, and calls read for the other inputs.
func (run *Session) BeginRun(r *GraphInputs, name, out string, formats []string,
	read func(d *GraphRun) error) (d *GraphRun, err error) {
	d = new(GraphRun)
	if d.Out, err = run.BeginOutputs(out, formats); err == nil {
		d.Graph, err = run.ReadGraph(r, name, out)
	}
	if err != nil {
		return nil, err
	}
	d.Out.Describe(d.Graph.Store.Manifest)
	return d, read(d)
}

// RunFileBytes is the approximate size of a run file.
const RunFileBytes = 4 << 10

func (f *FlagSet) AddUnknownIDs(in *Inputs, usage string) {
	enumVar(f, &in.unknown, "unknown-ids", "", []string{"error", "skip"},
		[]ingest.UnknownIDs{ingest.ErrorUnknown, ingest.SkipUnknown}, usage)
}

// ReadRows reads a list of ids. Without a list it returns all rows in the order of the ids, except rows of
// hyperedges.
func (run *Session) ReadRows(in *Inputs, path string, g *OpenGraph) ([]int, error) {
	if path == "" {
		rows := slices.AppendSeq(make([]int, 0, g.Nodes.Len()), g.Nodes.Rows())
		if g.Hyperedges {
			rows = slices.DeleteFunc(rows,
				func(row int) bool { return strings.HasPrefix(g.Nodes.ID(row), source.HyperedgePrefix) })
		}
		return rows, nil
	}
	return run.ReadIDs(in, path, g.Nodes)
}

// ReadIDs reads a list of ids and returns their rows. An empty list is an error.
func (run *Session) ReadIDs(in *Inputs, path string,
	nodes nodefile.Lookup) ([]int, error) {
	rows, err := nodefile.ReadIDs(run.Context, path, nodes, run.Console.ListConfig(in, path))
	if err == nil && len(rows) == 0 {
		err = DataError(path, "no ids; give one a line")
	}
	return rows, err
}

func (g *OpenGraph) SelectNodes(rows []int) Axis {
	return Axis{ID: g.Nodes.ID}.Select(rows)
}
