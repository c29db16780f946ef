package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/generate"
	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/spec"
)

// generated is the JSON document of generate.
type generated struct {
	Output     string         `json:"output"`
	Files      []string       `json:"files,omitempty"` // of a collection
	Labels     string         `json:"labels,omitempty"`
	Truth      string         `json:"truth,omitempty"`
	Model      string         `json:"model"`
	Parameters map[string]any `json:"parameters"`      // the flags, by name
	Store      any            `json:"store,omitempty"` // if the output is one
	Closing

	values   spec.Values
	fraction float64 // of the nodes that Labels has
}

func newGenerate(in *invocation) *cobra.Command {
	cmd := in.newGroup("generate", "Synthetic graphs, and labels for them")
	for _, m := range generate.Models() {
		cmd.AddCommand(in.newModel(m))
	}
	return cmd
}

// newModel returns the command of a model.
func (in *invocation) newModel(m *generate.Model) *cobra.Command {
	r := &generated{Model: m.Name, fraction: 1}
	run, check, output, usage := in.runGenerate, in.checkGenerated, "FILE", "`FILE` of edges, - is stdout; DIR/ makes a store"
	if m.Works&spec.Graphs != 0 {
		run, check, output, usage = in.generateCollection, in.checkCollectionName, "DIR/DS", "`PREFIX` of the files, such as DIR/DS"
	}
	cmd := in.newCommand(m.Name+" -o "+output, in.arguments("", 0, 0), m.Title, func(cmd *cobra.Command, _ []string) {
		check(cmd, r)
		r.values = in.modelValues(cmd.Flags(), &m.Spec)
	}, func([]string) error {
		r.Parameters = map[string]any{"seed": in.seed}
		if m.HasClasses {
			r.Parameters["fraction"] = r.fraction
		}
		for name, v := range r.values {
			r.Parameters[strings.ReplaceAll(name, "-", "_")] = v
		}
		return run(r)
	})
	flags := cmd.Flags()
	flags.StringVarP(&r.Output, "output", "o", map[string]string{"FILE": "-"}[output], usage)
	if m.Works&spec.Graphs == 0 {
		flags.BoolVar(&in.force, "force", false, "replace the store in DIR/")
		in.tempFlag(flags)
	}
	in.modelFlags(flags, &m.Spec)
	if m.HasClasses {
		flags.StringVar(&r.Labels, "labels", "", "`FILE` for labels of some nodes")
		numberVar(in, flags, &r.fraction, "fraction", 0.05, spec.Range{Most: 1, AboveLeast: true}, "fraction", "of the nodes that --labels has")
		flags.StringVar(&r.Truth, "truth", "", "`FILE` for the labels of all nodes")
	}
	flags.SortFlags = false
	return cmd
}

// modelFlags declares a flag for each parameter of a model.
func (in *invocation) modelFlags(flags *pflag.FlagSet, s *spec.Spec) {
	for i := range s.Params {
		p := &s.Params[i]
		info := declarationOf(s, "", "").Parameters[i]
		usage := p.Meaning
		if info.Range != "" {
			usage += ", " + info.Range
		}
		if p.Kind != spec.Switch {
			usage += " (default " + info.Default + ")"
		}
		later := func(string) error { return nil } // its declaration checks the text
		switch p.Kind {
		case spec.Switch:
			flags.Bool(p.Name, false, usage)
		case spec.Choice:
			in.variable(flags, p.Name, strings.Join(p.Words, "|"), "", usage, later)
		case spec.Whole:
			in.variable(flags, p.Name, "N", "", usage, later)
		default:
			in.variable(flags, p.Name, "X", "", usage, later)
		}
	}
}

// modelValues returns the values of all parameters of a model.
func (in *invocation) modelValues(flags *pflag.FlagSet, s *spec.Spec) spec.Values {
	text := map[string]string{}
	for _, p := range s.Params {
		if f := flags.Lookup(p.Name); f.Changed && !in.noted("--"+p.Name) {
			text[p.Name] = f.Value.String()
		}
	}
	_, values := in.given("", text, s)
	return values
}

// checkGenerated notes what is wrong with the outputs of a graph.
func (in *invocation) checkGenerated(cmd *cobra.Command, r *generated) {
	if !isStoreName(r.Output) {
		in.checkOutput("-o", r.Output, nil)
		if f := formatOfFile(r.Output, ""); f != nil && f.graph != graphfile.EdgeList {
			in.problem("-o", "generate writes lines of edges, not %s files; make a store with -o DIR/, then: heatwalk convert DIR -o %s", f.name, r.Output)
		}
		in.refuse(cmd.Flags(), rule{true, "force temp-dir", "only a store has use for it; to make one write -o DIR/"})
	}
	named := []string{r.Output}
	for _, side := range []struct{ flag, path string }{{"--labels", r.Labels}, {"--truth", r.Truth}} {
		switch same := func(other string) bool { return filepath.Clean(other) == filepath.Clean(side.path) }; {
		case side.path == "-":
			in.problem(side.flag, "stdout is for the edges; name a file")
		case side.path == "":
		case slices.ContainsFunc(named, same):
			in.problem(side.flag, "%s is another output of this command; name another file", side.path)
		default:
			in.checkOutput(side.flag, side.path, nil)
			named = append(named, side.path)
		}
	}
}

// isStoreName reports whether an output of generate is to be a store.
func isStoreName(path string) bool {
	return path != "" && os.IsPathSeparator(path[len(path)-1]) || isDir(path)
}

// checkCollectionName notes what is wrong with the output of a collection.
func (in *invocation) checkCollectionName(_ *cobra.Command, r *generated) {
	if r.Output == "" || r.Output == "-" || isStoreName(r.Output) {
		in.problem("-o", "name what the files begin with, as in -o DIR/DS for DIR/DS_A.txt")
	}
}

// writeText writes the file path, compressed if its name ends so, unless it is "".
func (o *product) writeText(path string, write func(w io.Writer) error) error {
	if path == "" {
		return nil
	}
	w, err := o.begin(path)
	if err == nil {
		stage := o.in.progress.Begin("writing "+path, 0, progress.Bytes)
		_, err = o.in.compressed(w, path, func(w io.Writer) error { return write(io.MultiWriter(w, stage)) })
		o.in.progress.End()
	}
	return err
}

func (in *invocation) runGenerate(r *generated) error {
	o := in.newProduct(r.Output)
	g, err := generate.New(r.Model, r.values, uint64(in.seed), in.threads)
	if err == nil {
		err = in.planGenerate(r.Output, g.Size())
	}
	isStore := isStoreName(r.Output)
	if err == nil && !isStore {
		err = o.writeText(r.Output, func(w io.Writer) error { return g.EdgesTo(in.ctx, w) })
	}
	if err == nil {
		err = o.writeText(r.Labels, func(w io.Writer) error { return g.LabelsTo(in.ctx, w, r.fraction) })
	}
	if err == nil {
		err = o.writeText(r.Truth, func(w io.Writer) error { return g.LabelsTo(in.ctx, w, 1) })
	}
	if err == nil {
		o.run, err = o.beside(withoutSeparator(r.Output), "", ".run.json")
	}
	if err != nil {
		return err
	}
	made := ""
	if isStore {
		made, err = in.generateStore(r, g, o)
	} else {
		err = o.publish(nil, r.Parameters, nil)
	}
	if err != nil {
		return err
	}
	return in.tell(r, func(w io.Writer) {
		files := ""
		for _, path := range []string{r.Output, r.Labels, r.Truth} {
			if path != "" && path != "-" {
				files += " · " + path
			}
		}
		fmt.Fprintln(w, made+in.cost()+files)
	}, r.Output)
}

// planGenerate plans a run, and keeps it to the plan.
func (in *invocation) planGenerate(output string, size generate.Size) error {
	return in.take(nil, func() (*requirements, error) {
		n := in.needs()
		if err := n.Reserve(size.Bytes, "making of edges"); err != nil {
			return n, err
		}
		if !isStoreName(output) {
			n.Disk = size.Text + runFileBytes
			return n, n.Reserve(min(textio.CompressBytes(output), n.Disk), "compression")
		}
		left, _ := n.Left()
		counts := &ingest.Counts{Nodes: size.Nodes, Lines: size.Lines, Dense: size.Whole}
		c := &ingest.Config{Memory: left, Workers: in.threads, Order: ingest.AutoOrder}
		store, temporary := counts.DiskBytes(c)
		n.Disk, n.Sweeps = store+temporary+runFileBytes, 1
		bytes := counts.Bytes(c)
		if left > 0 {
			bytes = min(bytes, left) // the rest goes to disk
		}
		return n, n.Reserve(bytes, "ingest")
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

// generateStore ingests the edges while they are made, puts the store in place with o, and
// returns what it holds.
func (in *invocation) generateStore(r *generated, g generate.Graph, o *product) (string, error) {
	in.keeps(r.Output)
	edges, stop := generate.Stream(in.ctx, g)
	options := map[string]string{"model": r.Model}
	for name, value := range r.Parameters {
		options[name] = fmt.Sprint(value)
	}
	around := func(m *shard.Manifest, put func() error) error {
		r.Store = storeOf(m)
		return o.publish(r.Store, r.Parameters, put)
	}
	report, err := in.ingest(r.Output, []string{"-"}, &reading{
		config: ingest.Config{Stdin: edges, Order: ingest.AutoOrder, Store: &shard.WriteOptions{Options: options, Around: around}},
		source: "generating", taken: g.Size().Bytes,
	}, in.force)
	stop()
	if err != nil {
		return "", err
	}
	in.doing = ""
	return madeStore(report) + "\n", nil
}

// generateCollection makes and writes a collection.
func (in *invocation) generateCollection(r *generated) error {
	c, err := generate.NewCollection(in.ctx, r.values, uint64(in.seed), func(bytes int64) error {
		return in.take(nil, func() (*requirements, error) {
			n := in.needs()
			return n, n.Reserve(bytes, "graphs")
		})
	})
	if err != nil {
		return err
	}
	o := in.newProduct(r.Output)
	err = graphfile.WriteTU(c, func(ending string, write func(w io.Writer) error) error {
		r.Files = append(r.Files, r.Output+ending)
		return o.writeText(r.Output+ending, write)
	})
	if err == nil {
		o.run, err = o.beside(r.Output, "", ".run.json")
	}
	if err == nil {
		err = o.publish(nil, r.Parameters, nil)
	}
	if err != nil {
		return err
	}
	return in.tell(r, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s\n%s\n", r.Output, words.Counted(len(c.Graphs), "graph"), in.cost())
	})
}
