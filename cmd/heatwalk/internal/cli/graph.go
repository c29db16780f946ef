package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/input"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/sides"
)

// inputs holds the flags for reading tables of labels, ids and attributes, and reads them.
type inputs struct {
	text      input.Text           // settings of the text of tables
	labelling nodefile.LabelConfig // settings of label files
	unknown   ingest.UnknownIDs    // rule for ids that are not in the graph
	tempDir   string
}

// skipsUnknown reports whether rows of nodes that are not in the graph are skipped.
func (in *inputs) skipsUnknown() bool {
	return in.unknown == ingest.SkipUnknown
}

// graphInputs holds the flags for reading files as a graph, and opens graphs. The flags belong to
// ingest and are accepted wherever GRAPH is a file.
type graphInputs struct {
	tables        inputs
	names         []string // names of the flags
	config        ingest.Config
	sources       sources
	edges         sides.Options // weights of kinds and times
	largest       bool          // only the largest component is used
	streamed      bool          // the store is read from disk in every sweep
	coded         bool          // the graph stays in memory in the encoding of the store
	tabled        bool          // the output of the command includes the use of columns
	source        string        // the name of config.Stdin, for progress
	producerBytes int64         // memory of the producer of config.Stdin
}

// graphFlags declares the flags of r.
func graphFlags(r *graphInputs, flags *flagSet) {
	c := &r.config
	local := newFlagSet(flags.line)
	local.addText(&c.Nodes, "nodes", "`FILE` with all nodes, one id a line; they come first, in this order")
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
	variable(local, "fields", "COLUMNS", "", "columns of source, target and perhaps weight, numbers or titles (default: by their titles, or 1,2 or 1,2,3)", func(s string) error {
		return parseFields(&c.Fields, s, 2, 3, "1,2,4 or from,to,amount")
	})
	local.BoolVar(&c.Bipartite, "bipartite", false,
		"source and target are two kinds of nodes; ids get the titles of their columns in front, as in user_id:1")
	local.addText(&c.Weight, "weight", "`NAME` of the column, or of the edge attribute of GraphML, GEXF, JSON or GML, that is the weight")
	enumVar(local, &c.Signed, "weights", "positive", []string{"positive", "signed"},
		[]bool{false, true}, "whether weights may be negative: edges between opponents")
	local.addText(&c.Kind, "kind", "`COLUMN` with the kind of each edge, a number or title, or the edge attribute of GraphML, GEXF, JSON or GML, or any name for Pajek; kinds get weights by --kind-weights or from labels")
	local.addText(&c.Time, "time", "`COLUMN` with the time of each edge: dates, clock times, seconds, or numbers from 0 to 65535")
	headerFlag(local, &c.Header)
	local.BoolVar(&c.SkipBadLines, "skip-bad-lines", false,
		"count lines that cannot be read, and go on")
	sizeVar(local, &c.Window, "max-window",
		"memory for the window of a zstd input, which --long makes large (default 128MiB)")
	r.sources.declare(local)
	local.VisitAll(func(f *pflag.Flag) { r.names = append(r.names, f.Name) })
	edgeFlags(&r.edges, local)
	textFlags(&r.tables, local)
	tempFlag(&r.tables, local)
	missingFlag(&r.tables, flags)
	unknownIDsFlag(local, &r.tables,
		"ids that are not in the graph (or not in --nodes)")
	local.VisitAll(markInput)
	flags.AddFlagSet(local.FlagSet)
	flags.addCheck(func(line *commandLine, args []string) { checkGraph(line, r, args) })
}

// headerFlag declares the flag for the header of a table.
func headerFlag(flags *flagSet, p *nodefile.Header) {
	enumVar(flags, p, "header", "auto", []string{"auto", "yes", "no"},
		[]nodefile.Header{nodefile.AutoHeader, nodefile.HasHeader,
			nodefile.NoHeader}, "whether the first line is a header")
}

// kindWeight matches the first weight of a list. The name of a kind may have commas and equals signs.
var kindWeight = regexp.MustCompile(`^(.+?)=([-+.\deE]+)(?:,|$)`)

// edgeFlags declares the flags for weights of the kinds and times of edges.
func edgeFlags(o *sides.Options, flags *flagSet) {
	variable(flags, "kind-weights", "KIND=W[,...]", "", "weights of kinds of edges, 1 for the others, as in pays=1,calls=0.1 (default: held-out labels choose them; 1 where there are no labels)", func(s string) error {
		o.Kinds = map[string]float64{}
		for {
			m := kindWeight.FindStringSubmatch(s)
			if m == nil {
				return errors.New(quote(s) +
					" is no weight of a kind; give KIND=WEIGHT, as in pays=1,calls=0.1")
			}
			s = s[len(m[0]):]
			w, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				return errors.New(quote(m[2]) +
					" is no weight of a kind; give a number")
			}
			o.Kinds[m[1]] = w
			if s == "" {
				return nil
			}
		}
	})
	flags.addText(&o.Since, "since", "use no edges before this `TIME`, a date such as 2024-01-31 or a step")
	flags.addText(&o.Until, "until", "use no edges after this `TIME`")
	flags.addText(&o.HalfLife, "half-life", "halve the weight of an edge with every `TIME` of its age: 30d, 4w, 1y or a number; choose: by held-out labels (default: no decay)")
}

// largestFlag declares the flag for a part of the graph.
func largestFlag(r *graphInputs, flags *flagSet) {
	flags.BoolVar(&r.largest, "largest-component", false,
		"leave out all nodes outside the largest component")
}

// textFlags declares the flags for the text of tables of edges, labels, ids and attributes.
func textFlags(in *inputs, flags *flagSet) {
	t := &in.text
	variable(flags, "delimiter", "CHAR", "", "character between fields, such as '|' (default: tab, comma, semicolon or blanks, as the first line has)", func(s string) error {
		if _, fault := (input.Text{Delimiter: s}).Check(); fault != "" {
			return errors.New(quote(s) + " " + fault)
		}
		t.Delimiter = s
		return nil
	})
	enumVar(flags, &t.Decimal, "decimal", ".", []string{".", ","},
		[]string{".", ","}, "character in front of a number's fraction")
	variable(flags, "thousands", "CHAR", "", "character between the thousands of a number, such as '.' in 1.002,27 (default: none)", func(s string) error {
		if _, fault := (input.Text{Thousands: s}).Check(); fault != "" {
			return errors.New(quote(s) + " " + fault)
		}
		t.Thousands = s
		return nil
	})
	choiceVar(flags, &t.Encoding, "encoding", "", input.Encodings,
		"encoding of text (default: UTF-8, or UTF-16 with a byte-order mark)")
}

// inputGroup marks the flags for reading graph files, which have a page of their own.
const inputGroup = "heatwalk input"

// markInput lists a flag with those that say how files are read.
func markInput(f *pflag.Flag) {
	f.Annotations = map[string][]string{inputGroup: nil}
}

func isInput(f *pflag.Flag) bool {
	_, isMarked := f.Annotations[inputGroup]
	return isMarked
}

func tempFlag(in *inputs, flags *flagSet) {
	flags.addText(&in.tempDir, "temp-dir", "`DIR` for temporary files (default: folder of the output)")
}

// parseFields parses a list of least to most columns, as numbers or titles; example is shown in the
// error.
func parseFields(fields *[]string, s string, minimum, maximum int,
	example string) error {
	var list []string
	for _, field := range strings.Split(s, ",") {
		field = strings.TrimSpace(field)
		if field == "" {
			return errors.New(quote(s) +
				" is not a list of columns; give numbers or titles, as in " + example)
		}
		if slices.Contains(list, field) {
			return errors.New(quote(s) +
				" names a column twice; give numbers or titles, as in " + example)
		}
		list = append(list, field)
	}
	if len(list) < minimum || len(list) > maximum {
		want := "two"
		if maximum > minimum {
			want = "two or three"
		}
		return errors.New(quote(s) + " are not " + want +
			" columns; give numbers or titles, as in " + example)
	}
	*fields = list
	return nil
}

// openGraph is an open graph with the attributes of its nodes.
type openGraph struct {
	*heatwalk.Graph
	run   *session
	name  string        // as the user gave it
	edges sides.Options // given weights of kinds and times

	attributes *tablefile.Features // nil if none were read
	unread     error               // attributes exceed the memory limit; attributes has their sizes
}

// checkGraph validates a GRAPH argument and the flags for reading it, and records problems.
func checkGraph(line *commandLine, r *graphInputs, args []string) {
	checkSources(line, r)
	cmd := line.command
	learns := slices.Contains([]string{"classify", "suggest", "explain", "evaluate",
		"regress"}, cmd.Name())
	line.refuse(rule{cmd.Name() == "ingest", "kind-weights since until half-life",
		"a store keeps all edges; give this flag to the command that opens it"},
		rule{r.edges.HalfLife == sides.ChosenHalfLife && !learns, "half-life",
			"labels choose it in classify, suggest, explain, evaluate and regress; give a time such as 30d"})
	if last := len(args) - 1; cmd.Name() != "ingest" && last >= 0 && ingest.IsStore(args[last]) {
		line.refuse(rule{true, strings.Join(r.names, " "),
			args[last] + " is a store already; give this flag to heatwalk ingest"})
	}
}

// checkStdin records a problem if stdin is given for two inputs, because the second reader would find nothing.
func checkStdin(line *commandLine, inputs ...string) {
	if first := slices.Index(inputs, "-"); first >= 0 && slices.Contains(inputs[first+1:], "-") {
		line.problem("-",
			"stdin is named more than once and can be read once; give files for the others")
	}
}

// readGraph opens the store name, or reads the file name. The folder of the path output, unless it is empty,
// may be used for a temporary store.
func readGraph(run *session, r *graphInputs,
	name, output string) (*openGraph, error) {
	for _, input := range run.line.inputFiles { // before the graph, which may take minutes
		if _, err := os.Stat(input); input != "" && input != "-" && errors.Is(err, fs.ErrNotExist) {
			return nil, &fs.PathError{Op: "open", Path: input, Err: syscall.ENOENT}
		}
	}
	g := &openGraph{Graph: new(heatwalk.Graph), run: run, name: name,
		edges: r.edges}
	run.atEnd(func() { closeGraph(g) })
	o := &heatwalk.Options{
		Memory: run.costs.dataLimit(), Workers: run.threads, Stream: r.streamed ||
			run.costs.ranks > 0, Coded: r.coded, TempDir: tempParent(&r.tables,
			output), LargestComponent: r.largest, Edges: r.edges, Network: run.network,
		Planned: func(p *budget.Plan) error {
			if g.unread != nil {
				return g.unread
			}
			if run.costs.ranks > 0 {
				var err error
				if run.costs.cut, err = costOfRanks(run.ctx, g, p, run.costs.ranks); err != nil {
					return err
				}
			}
			return run.costs.begin(p)
		},
	}
	isStore := ingest.IsStore(name)
	var temporary int64
	if !isStore {
		o.Reading = ingestConfig(run, r)
		limitHeap(o.Reading.Memory + r.producerBytes)
		if r.sources.any() {
			var err error
			if temporary, err = makeSources(run, r, output, []string{name}, o.Reading); err != nil {
				return nil, err
			}
		}
	}
	opened, err := heatwalk.Open(run.ctx, name, o)
	if wrong := new(heatwalk.TempDirError); errors.As(err, &wrong) {
		return nil, fault.Machine(err, "create a temporary directory in "+wrong.Dir,
			"%s; choose another with --temp-dir", cause(wrong.Err))
	}
	if err != nil {
		return nil, err
	}
	g.Graph = opened
	if !isStore {
		run.progress.End()
		run.costs.disk = g.Report.SpilledBytes + temporary + g.Store.Manifest.BytesTotal()
		run.costs.reading = budget.Item{What: "ingest", Bytes: measuredBytes(run.costs)}
		if !o.Reading.KeepLoops {
			run.droppedLoops = g.Report.SelfLoops
		}
	}
	if g.OmittedNodes > 0 {
		run.console.note("the largest component of " + name + " has " + words.Counted(len(g.Degrees), "node") + "; left out: " +
			words.Counted(g.OmittedNodes, "node") + " in " +
			words.Counted(g.OmittedComponents, "other component"))
	}
	if !isStore && !r.tabled {
		for _, line := range columnLines(g.Report.Files) {
			run.console.note(line)
		}
		note := func(n int64, before, noun, after string) {
			if n > 0 {
				run.console.note(name + ": " + before + words.Counted(n, noun) + after)
			}
		}
		note(g.Report.Added, "the weights of both directions are added for ", "edge",
			"; --directed keeps them apart")
		note(g.Report.BadLines, "", "line", " that cannot be read left out")
		note(run.droppedLoops, "", "self loop", " dropped; --self-loops=keep keeps them")
	}
	if zeros := zerosOf(g); zeros != "" && r.config.Unweighted {
		run.console.warn("%s: a store%s; give its files in place of it, "+
			"or ingest them with --fields SOURCE,TARGET", name, zeros)
	}
	return g, nil
}

// zerosOf reports the lines with weight 0 that were left out of a graph, "" if there are none.
func zerosOf(g *openGraph) string {
	n := g.Store.Manifest.Options[ingest.ZeroWeightsOption]
	if n == "" {
		return ""
	}
	return " without lines of weight 0 or none (" + n + ")"
}

// nodeAxis returns the nodes in the order of the ids.
func nodeAxis(g *openGraph) axis {
	nodes := g.Nodes
	return axis{N: nodes.Len(),
		ID: func(i int) string { return nodes.ID(nodes.RowAt(i)) }}
}

// closeGraph closes the graph and removes its temporary files, as the end of the command does.
func closeGraph(g *openGraph) {
	if err := g.Close(); err != nil {
		g.run.console.warn("temporary files of %s could not be removed: %s", g.name,
			cause(err))
	}
}

// finish publishes the output of a run and prints its result: d with --json, else lines and time and
// memory of the run.
func (o *outputs) finish(d document, parameters any, lines ...string) error {
	if err := o.publish(parameters, nil); err != nil {
		return err
	}
	return o.run.console.printResult(d, func(w io.Writer) { o.print(w, lines) }, o.path)
}

// print writes the lines that are not empty, and time and memory of the run.
func (o *outputs) print(w io.Writer, lines []string) {
	for _, line := range lines {
		if line != "" {
			fmt.Fprintln(w, line)
		}
	}
	cost := o.run.console.cost()
	if o.path != "" && o.path != "-" {
		cost += " · " + o.path
	}
	fmt.Fprintln(w, cost)
}

// graphRun is a run on a graph with an output: its inputs and its open output.
type graphRun struct {
	out        *outputs
	g          *openGraph
	l          *nodefile.Labels // may be nil
	rows, cols []int            // rows and columns of a matrix that are nodes
	shares     []float64        // known shares of the classes among all nodes; nil: unknown
}

// beginRun begins the output called out, opens the graph, and reads the other inputs with read.
func beginRun(run *session, r *graphInputs, name, out string, formats []string,
	read func(d *graphRun) error) (d *graphRun, err error) {
	d = new(graphRun)
	if d.out, err = beginOutputs(run, out, formats); err == nil {
		d.g, err = readGraph(run, r, name, out)
	}
	if err != nil {
		return nil, err
	}
	d.out.store = storeOf(d.g.Store.Manifest)
	return d, read(d)
}

// beginLearning begins a run that learns from labels, and from attributes if they are given.
func beginLearning(run *session, f *learningFlags,
	name, path string) (*graphRun, error) {
	return beginRun(run, &f.graph, name, path, scoreFormats, func(d *graphRun) (err error) {
		run.progress.Wait("reading " + f.walk.labels)
		if d.l, err = readSeeds(run, &f.graph, f.walk.labels, d.g); err != nil {
			return err
		}
		if err = readAttributes(run, &f.graph, &f.attributes, d.g, d.l); err == nil {
			warnLeaks(run.console, &f.graph, &f.attributes, d.g, d.l)
		}
		return err
	})
}

// problem returns the learning problem: graph, labels and attributes.
func (d *graphRun) problem() *method.Problem {
	p := problemOf(d.g, d.l)
	p.Shares = d.shares
	return p
}

// denseInputs holds the other input files of a run that writes a matrix; "" means that a file is not
// given. Without a list of rows or columns all nodes are used.
type denseInputs struct {
	labels     string
	seeds      bool // labels are the seeds of a walk
	rows, cols string
	block      bool // the columns are nodes
}

// beginDense begins the output and reads the inputs.
func beginDense(run *session, r *graphInputs, name, path string,
	inputs denseInputs) (*graphRun, error) {
	return beginRun(run, r, name, path, tablefile.MatrixEndings, func(d *graphRun) (err error) {
		d.g.Store.Forward = true // walks follow edges in their direction only
		switch {
		case inputs.labels == "":
		case inputs.seeds:
			d.l, err = readSeeds(run, r, inputs.labels, d.g)
		default:
			d.l, err = readLabels(run, r, inputs.labels, d.g, nil)
		}
		if err == nil {
			d.rows, err = rowsOf(run, &r.tables, inputs.rows, d.g)
		}
		if err == nil && inputs.block {
			d.cols, err = rowsOf(run, &r.tables, inputs.cols, d.g)
		}
		return err
	})
}

// runFileBytes is the approximate size of a run file.
const runFileBytes = 4 << 10

// labelOf returns the label of row i for LIBSVM text.
func (d *graphRun) labelOf() func(i int) string {
	number := classNumbers(d.l, len(d.g.Degrees))
	return func(i int) string { return number(d.rows[i]) }
}

// factorsDocument has the factors of edges that are not given.
type factorsDocument struct {
	KindWeights map[string]float64 `json:"kind_weights,omitempty"`
	HalfLife    float64            `json:"half_life,omitempty"` // in units of times; 0: no decay
}

// factorsOf returns the factors of edges that are not given.
func (g *openGraph) factorsOf(c *sides.Choice) (d factorsDocument) {
	if c == nil || c.IsGiven {
		return d
	}
	if len(g.Store.Manifest.Kinds) > 1 && g.edges.Kinds == nil {
		d.KindWeights = c.ByName()
	}
	if hasOpenHalfLife(g) && !math.IsInf(c.HalfLife, 1) {
		d.HalfLife = c.HalfLife
	}
	return d
}

// hasOpenHalfLife reports whether no half-life is given.
func hasOpenHalfLife(g *openGraph) bool {
	return g.edges.HalfLife == "" || g.edges.HalfLife == sides.ChosenHalfLife
}

// edgesText reports the factors of edges that are not given, and where they come from, for the summary.
func (g *openGraph) edgesText(d factorsDocument, source string) string {
	var parts []string
	if d.KindWeights != nil {
		kinds := slices.Clone(g.Store.Manifest.Kinds)
		slices.SortStableFunc(kinds,
			func(a, b shard.Kind) int { return cmp.Compare(d.KindWeights[b.Name], d.KindWeights[a.Name]) })
		for _, k := range kinds {
			weight := "no edges"
			if k.Entries > 0 {
				weight = fmt.Sprintf("%.3g", d.KindWeights[k.Name])
			}
			parts = append(parts, input.Escape(k.Name)+" "+weight)
		}
		parts = []string{"kinds: " + strings.Join(parts, " · ")}
	}
	switch {
	case d.HalfLife > 0:
		parts = append(parts,
			fmt.Sprintf("half-life: %.3g %ss", d.HalfLife,
				g.Store.Manifest.Times.Unit))
	case g.edges.HalfLife == sides.ChosenHalfLife:
		parts = append(parts, "half-life: none")
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, ", ") + " (" + source + ")"
}
