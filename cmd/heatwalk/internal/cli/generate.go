package cli

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/generate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/spec"
)

// generated is the JSON document of generate.
type generated struct {
	Output     string         `json:"output"`
	Labels     string         `json:"labels,omitempty"`
	Truth      string         `json:"truth,omitempty"`
	Model      string         `json:"model"`
	Parameters map[string]any `json:"parameters"`      // the flags, by name
	Store      any            `json:"store,omitempty"` // if the output is one
	Closing

	model generate.Graph
	bytes int64 // of memory that it takes
}

// flagValues returns the values of a model's flags by name, numbers as numbers.
func flagValues(flags *pflag.FlagSet) map[string]any {
	values := map[string]any{}
	flags.VisitAll(func(f *pflag.Flag) {
		switch f.Name {
		case "output", "labels", "truth", "force", "temp-dir", "help":
			return
		}
		var v any = f.Value.String()
		if x, err := strconv.ParseFloat(f.Value.String(), 64); err == nil {
			v = x
		} else if f.Value.Type() == "bool" {
			v = f.Value.String() == "true"
		}
		values[strings.ReplaceAll(f.Name, "-", "_")] = v
	})
	return values
}

func newGenerate(in *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Synthetic graphs, and labels for them",
		Args:  in.noSuchCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSBM(in), newRMAT(in), newErdosRenyi(in), newGrid(in), newMolecules(in))
	return cmd
}

// labelFiles are the labels that a block model also gives.
type labelFiles struct {
	labels, truth string
	fraction      float64
}

func newSBM(in *invocation) *cobra.Command {
	var (
		g     generate.SBM
		files labelFiles
	)
	cmd := in.generator("sbm", "A block model: classes, and edges that depend on them", func() (generate.Graph, *labelFiles) {
		g.RNGSeed = uint64(in.seed)
		return g, &files
	})
	flags := cmd.Flags()
	in.intVar(flags, &g.Nodes, "nodes", 100_000, 2, math.MaxUint32, "nodes")
	in.intVar(flags, &g.Edges, "edges", 0, 1, math.MaxInt, "edges (default 3.7448 for each node)")
	in.intVar(flags, &g.Classes, "classes", 5, 1, 1<<20, "classes; the first holds half of the nodes, the next a quarter and so on")
	in.floatVar(flags, &g.Homophily, "homophily", 0, bounds{lo: 0, hi: 1, symbol: "homophily"},
		"1 links a class to itself, 0 to the next one")
	g.Noise = 0.2
	in.variable(flags, "noise", "X", "0.2", "share of edges that do not depend on the classes", func(s string) (err error) {
		if g.Noise, err = (bounds{lo: 0, hi: 1, symbol: "noise"}).parse(s); err == nil && g.Noise == 0 {
			g.Noise = -1 // what the model calls none
		}
		return err
	})
	in.floatVar(flags, &g.Exponent, "exponent", 2.5, bounds{lo: 2, hi: math.Inf(1), loOpen: true, symbol: "exponent"}, "of the power law of degrees")
	flags.StringVar(&files.labels, "labels", "", "`FILE` for labels of some nodes")
	files.fraction = 0.05
	in.floatVar(flags, &files.fraction, "fraction", 0.05, bounds{lo: 0, hi: 1, loOpen: true, symbol: "fraction"}, "of the nodes that --labels has")
	flags.StringVar(&files.truth, "truth", "", "`FILE` for the labels of all nodes")
	return cmd
}

func newRMAT(in *invocation) *cobra.Command {
	var g generate.RMAT
	cmd := in.generator("rmat", "The recursive matrix model of the Graph500 benchmark", func() (generate.Graph, *labelFiles) {
		g.RNGSeed, g.Workers = uint64(in.seed), in.threads
		return g, nil
	})
	flags := cmd.Flags()
	in.intVar(flags, &g.Scale, "scale", 16, 1, 32, "2^scale nodes")
	in.intVar(flags, &g.EdgeFactor, "edge-factor", 16, 1, 1<<20, "lines for each node; some repeat")
	in.floatVar(flags, &g.A, "a", 0.57, bounds{lo: 0, hi: 1, symbol: "a"}, "share of the first quarter of the matrix")
	in.floatVar(flags, &g.B, "b", 0.19, bounds{lo: 0, hi: 1, symbol: "b"}, "share of the second quarter")
	in.floatVar(flags, &g.C, "c", 0.19, bounds{lo: 0, hi: 1, symbol: "c"}, "share of the third quarter")
	flags.BoolVar(&g.Ordered, "ordered", false, "leave large degrees at small numbers")
	return cmd
}

func newErdosRenyi(in *invocation) *cobra.Command {
	var g generate.ErdosRenyi
	cmd := in.generator("er", "A graph drawn uniformly (Erdős–Rényi)", func() (generate.Graph, *labelFiles) {
		g.RNGSeed = uint64(in.seed)
		return g, nil
	})
	in.intVar(cmd.Flags(), &g.Nodes, "nodes", 100_000, 2, math.MaxUint32, "nodes")
	in.intVar(cmd.Flags(), &g.Edges, "edges", 400_000, 1, math.MaxInt, "edges")
	return cmd
}

func newGrid(in *invocation) *cobra.Command {
	var g generate.Grid
	cmd := in.generator("grid", "A rectangular lattice", func() (generate.Graph, *labelFiles) { return g, nil })
	in.intVar(cmd.Flags(), &g.Rows, "rows", 100, 1, math.MaxUint32, "rows")
	in.intVar(cmd.Flags(), &g.Columns, "columns", 100, 1, math.MaxUint32, "columns")
	cmd.Flags().BoolVar(&g.Torus, "torus", false, "join the last row and column to the first")
	return cmd
}

// generator returns the command of a model; settings is called once the flags
// have been parsed.
func (in *invocation) generator(name, short string, settings func() (generate.Graph, *labelFiles)) *cobra.Command {
	cmd := &cobra.Command{Use: name + " -o FILE", Short: short, Args: in.arguments("", 0, 0)}
	r, labels := &generated{Model: name}, new(labelFiles)
	cmd.RunE = in.runs(func(cmd *cobra.Command, _ []string) {
		model, files := settings()
		if r.model = model; files != nil {
			labels = files
		}
		in.checkGenerated(cmd, r, labels)
	}, func([]string) error {
		r.Labels, r.Truth, r.Parameters = labels.labels, labels.truth, flagValues(cmd.LocalNonPersistentFlags())
		r.Parameters["seed"] = in.seed
		return in.runGenerate(r, labels)
	})
	cmd.Flags().StringVarP(&r.Output, "output", "o", "-", "`FILE` of edges, - is stdout; DIR/ makes a store")
	cmd.Flags().BoolVar(&in.force, "force", false, "replace the store in DIR/")
	in.tempFlag(cmd.Flags())
	cmd.Flags().SortFlags = false
	return cmd
}

// checkGenerated notes what is wrong with the outputs and the settings of a model.
func (in *invocation) checkGenerated(cmd *cobra.Command, r *generated, labels *labelFiles) {
	if !isStoreName(r.Output) {
		in.checkOutput("-o", r.Output)
		if f := formatOfFile(r.Output, ""); f != nil && !slices.Contains(f.endings, ".edges") {
			in.problem("-o", "generate writes lines of edges, not %s files; make a store with -o DIR/, then: heatwalk convert DIR -o %s", f.name, r.Output)
		}
		for _, name := range []string{"force", "temp-dir"} {
			if cmd.Flags().Changed(name) {
				in.problem("--"+name, "only a store has use for it; to make one write -o DIR/")
			}
		}
	}
	named := []string{r.Output}
	for _, side := range []struct{ flag, path string }{{"--labels", labels.labels}, {"--truth", labels.truth}} {
		switch same := func(other string) bool { return filepath.Clean(other) == filepath.Clean(side.path) }; {
		case side.path == "-":
			in.problem(side.flag, "stdout is for the edges; name a file")
		case side.path == "":
		case slices.ContainsFunc(named, same):
			in.problem(side.flag, "%s is another output of this command; name another file", side.path)
		default:
			in.checkOutput(side.flag, side.path)
			named = append(named, side.path)
		}
	}
	if len(in.problems) == 0 {
		if err := r.model.Validate(); err != nil {
			in.problem("generate "+r.Model, "%s", strings.ReplaceAll(err.Error(), "generate: ", ""))
		}
	}
}

// isStoreName reports whether an output of generate is to be a store.
func isStoreName(path string) bool {
	return path != "" && os.IsPathSeparator(path[len(path)-1]) || isDir(path)
}

// writeText writes the file path, compressed if its name ends so, and shows how much.
func (o *outputs) writeText(path string, write func(w io.Writer) error) error {
	w, err := o.begin(path)
	if err != nil {
		return err
	}
	w, finish, err := textio.Compress(o.in.progress.Begin("writing "+path, 0, progress.Bytes).Counting(w), path)
	if err != nil {
		return err
	}
	if err := write(w); err != nil {
		return err
	}
	return finish()
}

func (in *invocation) runGenerate(r *generated, labels *labelFiles) error {
	files := &outputs{in: in}
	defer files.abort()
	isStore := isStoreName(r.Output)
	if err := in.planGenerate(r, isStore); err != nil {
		return err
	}
	var written []string
	if !isStore {
		written = append(written, r.Output)
		if err := files.writeText(r.Output, func(w io.Writer) error { return r.model.EdgesTo(in.ctx, w) }); err != nil {
			return err
		}
	}
	if sbm, ok := r.model.(generate.SBM); ok {
		for _, side := range []struct {
			path     string
			fraction float64
		}{{labels.labels, labels.fraction}, {labels.truth, 1}} {
			if side.path == "" {
				continue
			}
			if err := files.writeText(side.path, func(w io.Writer) error { return sbm.LabelsTo(in.ctx, w, side.fraction) }); err != nil {
				return err
			}
		}
		written = append(written, labels.labels, labels.truth)
	}
	run, err := files.beside(withoutSeparator(r.Output), "", ".run.json")
	if err != nil {
		return err
	}
	publish := func(store func() error) error {
		if err := in.writeRun(run, r.Store, r.Parameters); err != nil {
			return err
		}
		return files.commitAround(store)
	}
	var made string
	if isStore {
		made, err = in.generateStore(r, publish)
	} else {
		err = publish(nil)
	}
	if err != nil {
		return err
	}
	return in.tell(r, func(w io.Writer) {
		closing := in.cost()
		if isStore {
			closing = made + "\n" + closing + " · " + r.Output
		}
		for _, path := range written {
			if path != "" && path != "-" {
				closing += " · " + path
			}
		}
		fmt.Fprintln(w, closing)
	}, r.Output)
}

// planGenerate plans a run, and keeps it to the plan.
func (in *invocation) planGenerate(r *generated, isStore bool) error {
	size := r.model.Size()
	r.bytes = size.Bytes
	return in.keepWithin(func() (*needs, error) {
		n := new(needs)
		n.Limit = in.dataLimit()
		if err := n.Reserve(size.Bytes, "making of edges"); err != nil {
			return n, err
		}
		if !isStore {
			digits := int64(len(strconv.FormatInt(max(size.Nodes-1, 1), 10)))
			n.disk = size.Lines*2*(digits+1) + runFileBytes
			return n, n.Reserve(min(textio.CompressBytes(r.Output), n.disk), "compression")
		}
		left, _ := n.Left()
		p, err := ingest.EstimateCounts(ingest.Counts{Nodes: size.Nodes, Lines: size.Lines, Whole: size.Whole}, &ingest.Config{Memory: left, Workers: in.threads, Order: ingest.AutoOrder})
		if err != nil {
			return n, err
		}
		n.disk, n.sweeps = p.Disk+p.Temp+runFileBytes, p.Passes
		const line, id, readers = 8, 8, 8 << 20
		if err := n.Reserve(min(spec.Sum(p.Memory), line*p.Lines+id*p.Nodes+readers), "lines and ids"); err != nil {
			return n, err
		}
		// What has made the edges is gone when the last line is read.
		n.Release("lines and ids")
		n.Release("making of edges")
		return n, n.reserveList(p.Memory)
	})
}

// withoutSeparator returns the path of a directory as the name beside which its
// run file stands.
func withoutSeparator(dir string) string {
	if base := filepath.Base(dir); base == "." || base == ".." {
		if whole, err := filepath.Abs(dir); err == nil {
			return whole
		}
	}
	return filepath.Clean(dir)
}

// generateStore ingests the edges while they are made, and returns what the
// store holds. It is put in place by what publish calls.
func (in *invocation) generateStore(r *generated, publish func(store func() error) error) (string, error) {
	in.keeps(r.Output)
	edges, stop := generate.Stream(in.ctx, r.model)
	options := map[string]string{"model": r.Model}
	for name, value := range r.Parameters {
		options[name] = fmt.Sprint(value)
	}
	around := func(m *shard.Manifest, store func() error) error {
		r.Store = storeOf(m)
		return publish(store)
	}
	report, err := in.ingest(r.Output, []string{"-"}, &reading{
		config: ingest.Config{Stdin: edges, Order: ingest.AutoOrder, Store: &shard.WriteOptions{Options: options, Around: around}},
		source: "generating", taken: r.bytes,
	}, in.force)
	stop()
	if err != nil {
		return "", err
	}
	in.doing = ""
	return madeStore(report), nil
}
