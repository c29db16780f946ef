package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/parts"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
	"github.com/heatwalk/heatwalk/validate"
)

// featureFlags are the flags of features.
type featureFlags struct {
	reading
	walking
	name  string // of the kernel, with its parameters
	kind  string
	folds int
	asked bool // for so many folds
	rows  string
	dtype string
	out   string
	share shareFlag
}

func newFeatures(in *invocation) *cobra.Command {
	var f featureFlags
	cmd := in.newCommand("features GRAPH --labels L.tsv -o F.npy", in.arguments("GRAPH", 1, 1),
		"The explicit features of the coinciding walk kernel",
		func(cmd *cobra.Command, args []string) {
			in.checkDenseRun(cmd, args, &f.reading, f.out, f.share, f.labels, f.rows)
			f.asked = cmd.Flags().Changed("folds")
			if of, n := in.parseNamed("--kernel", f.name, specs{&cwk.Spec}); of != nil {
				in.checkWalk(cmd.Flags(), &f.walking, n)
			}
		}, func(args []string) error {
			if f.dtype == "float64" {
				return runFeatures[float64](in, args[0], &f)
			}
			return runFeatures[float32](in, args[0], &f)
		})
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "`FILE` of the features: .npy, .npz, .svm or .libsvm")
	flags.StringVar(&f.name, "kernel", cwk.Spec.Name, "`SPEC` of the kernel, as in cwk:alpha=0.5:steps=10")
	in.walkFlags(flags, &f.walking, "")
	in.choiceVar(flags, &f.kind, "features", "plain", []string{"plain", "honest"}, "from which walk labelled nodes have their rows")
	numberVar(in, flags, &f.folds, "folds", 5, spec.Range{Least: 2, Most: 1000}, "N", "folds of honest features")
	flags.StringVar(&f.rows, "rows", "", "`FILE` of the nodes to write, one id a line (default: all)")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "precision of the walk and of the features")
	in.shareVar(flags, &f.share, "the classes")
	flags.BoolVar(&in.resume, "resume", false, resumeUsage)
	in.readingFlags(flags, &f.reading)
	return cmd
}

// runFeatures writes the features that f describes.
func runFeatures[T sparse.Float](in *invocation, name string, f *featureFlags) error {
	d, err := in.beginDense(name, f.out, &f.reading, denseInputs{labels: f.labels, seeds: true, rows: f.rows})
	if err != nil {
		return err
	}
	if f.asked {
		if err := checkFolds(f.folds, d.l); err != nil {
			return err
		}
	}
	first, end, err := f.share.bounds(len(d.l.Names), "class")
	if err != nil {
		return err
	}
	w, err := newWalk[T](d, &f.walking)
	if err != nil {
		return err
	}
	w.Lo, w.Hi = first, end
	parameters := f.parameters()
	var fold []int // of each label, nil: none is hidden
	if parameters.Features = f.kind; f.kind == "honest" {
		parameters.Folds, parameters.Seed = f.folds, in.seed
		fold = validate.Folds(d.l.Class, min(f.folds, len(d.l.Class)), uint64(in.seed), 0)
		w.Variants = cwk.FoldVariants(f.alpha(), fold)
	}
	picks := d.pick(d.rows, w.Seeds, fold)
	from, groups, wide := f.minSteps(), f.steps()-f.minSteps()+1, end-first
	class := func(j int) string { return fmt.Sprintf("%d:%s", from+j/wide, d.l.Names[first+j%wide]) }
	return writeWalk(d, w, &walkMatrix[T]{
		Matrix: tablefile.Matrix{Rows: nodesOf(d.g, d.rows), Cols: axis{N: wide * groups, ID: class}, Label: d.labelOf()},
		memory: func() (int64, int, error) { return w.FeaturesBytes(from, picks, true) },
		panels: func(first int, sink func(int, *sparse.Block[T]) error) error {
			_, err := w.Features(in.ctx, from, picks[first:], sink)
			return err
		},
		advice: "take fewer steps, rows (--rows), or another disk",

		parameters: parameters, command: "features", share: f.share,
		shape: parts.Shape{Axis: parts.ByColumns, Lo: first, Hi: end, Whole: len(d.l.Names), Groups: groups, Dtype: f.dtype},
	})
}

// checkFolds refuses folds that the smallest class cannot fill.
func checkFolds(folds int, l *nodefile.Labels) error {
	size := sizesOf(l) // of each class at least 1
	least := slices.Index(size, slices.Min(size))
	switch {
	case size[least] >= folds:
		return nil
	case size[least] == 1:
		return fault.Usage("--folds", "class %q has one label, too few for folds; without --folds labels are dealt as far as they go", l.Names[least])
	}
	return fault.Usage("--folds", "class %q has %d labelled members; --folds is at most %[2]d, and without it labels are dealt as far as they go", l.Names[least], size[least])
}

// walking holds what a walk is made of.
type walking struct {
	labels, prior string
	values        spec.Values // complete values of the parameters of cwk.Spec
}

func (w *walking) alpha() float64 { return w.values.Number("alpha") }
func (w *walking) steps() int     { return w.values.Int("steps") }
func (w *walking) minSteps() int  { return w.values.Int("min-steps") }

// walkFlags declares the flags of w.
func (in *invocation) walkFlags(flags *pflag.FlagSet, w *walking, labels string) {
	in.labelFlags(flags, &w.labels, "`FILE` of node and label, one pair a line"+labels)
	in.priorFlag(flags, w)
}

// priorFlag declares the flag of the prior.
func (in *invocation) priorFlag(flags *pflag.FlagSet, w *walking) {
	p := &cwk.PriorParam
	flags.StringVar(&w.prior, p.Name, p.Default.String(), p.Meaning+": "+strings.Join(p.Words, ", ")+", or a `FILE` of distributions")
}

// checkWalk finds the values of a walk whose parameters are not chosen, and notes errors in
// the flags of w.
func (in *invocation) checkWalk(flags *pflag.FlagSet, w *walking, n spec.Named) {
	_, w.values = in.given("--kernel", n.Given, &cwk.Spec)
	if v := w.values; v.Has("steps") && v.Has("min-steps") && v.Number("min-steps") > v.Number("steps") {
		in.problem("--kernel", "cwk: min-steps: %v lies beyond the last step, %v; give at most that", v.Number("min-steps"), v.Number("steps"))
	}
	in.require(flags, "labels")
}

// priorOf returns the prior that --prior names.
func (in *invocation) priorOf(w *walking, g *openGraph, l *nodefile.Labels) (cwk.Prior, error) {
	switch w.prior {
	case "uniform":
		return cwk.Prior{}, nil
	case "empirical":
		return cwk.Prior{Empirical: true, Pseudo: 1}, nil
	}
	p, err := nodefile.ReadPrior(in.ctx, w.prior, g.Nodes, l.Names, in.listConfig(w.prior))
	if err != nil {
		return cwk.Prior{}, err
	}
	return cwk.Prior{Given: p}, nil
}

// newWalk returns the walk that f describes, but for its matrix and memory.
func newWalk[T sparse.Float](d *graphRun, f *walking) (*cwk.Walk[T], error) {
	prior, err := d.in.priorOf(f, d.g, d.l)
	return &cwk.Walk[T]{
		Degrees: d.g.Degrees, Seeds: cwk.Seeds{Row: d.l.Row, Class: d.l.Class, Classes: len(d.l.Names)}, Prior: prior,
		Steps: f.steps(), Variants: []cwk.Variant{{Absorb: f.alpha()}}, Workers: d.in.threads, Progress: d.in.progress.Showing("walking", "sweep"),
	}, err
}

// walkMatrix is a matrix that a walk makes.
type walkMatrix[T sparse.Float] struct {
	tablefile.Matrix
	memory func() (bytes int64, sweeps int, err error)
	panels func(first int, sink func(lo int, panel *sparse.Block[T]) error) error // of the rows from first on
	advice string                                                                 // where it is too large for the disk

	parameters walkParameters
	command    string
	share      shareFlag
	shape      parts.Shape // of a share
}

// rowBytes returns the bytes of a row of the block of a walk.
func rowBytes[T sparse.Float](w *cwk.Walk[T]) int {
	classes := w.Seeds.Classes
	if w.Hi > 0 {
		classes = w.Hi - w.Lo
	}
	return sparse.Stride[T](classes*len(w.Variants)) * int(unsafe.Sizeof(T(0)))
}

// fewerNodes is what to do where a block of nodes is too large for a disk.
const fewerNodes = "name fewer columns (--cols), rows (--rows), or another disk"

// writeWalk writes a matrix of the walk w.
func writeWalk[T sparse.Float](d *graphRun, w *cwk.Walk[T], m *walkMatrix[T]) error {
	in := d.in
	files, err := d.checkMatrix(m.Rows, m.Cols, m.shape.Dtype, m.advice)
	if err != nil {
		return err
	}
	err = in.take(d.g, func() (*requirements, error) {
		n := d.needs(files)
		w.A, w.Memory = d.g.A, n.Room()
		bytes, sweeps, err := m.memory()
		n.Sweeps += sweeps
		n.RowBytes = max(n.RowBytes, rowBytes(w))
		return n, n.compute(bytes, err, "columns of a walk")
	})
	if err != nil {
		return err
	}
	done, err := d.keep(m.command, m.share, m.shape, m.parameters, 0, w.Prior.Given)
	if err != nil {
		return err
	}
	w.A = d.g.A // of the graph, which is loaded now
	m.Pieces = d.takesPieces()
	file, err := newWriter[T](d.product, &m.Matrix)
	if err != nil {
		return err
	}
	first := done.Done
	err = m.panels(first, func(lo int, panel *sparse.Block[T]) error {
		if m.Pieces {
			if err := file.PutRows(in.ctx, first+lo, panel); err != nil {
				return err
			}
			if end := first + lo + panel.Rows; end < m.Rows.N {
				done.finished(count{Done: end})
			}
			return nil
		}
		for i := range panel.Rows {
			if in.ctx.Err() != nil {
				return context.Cause(in.ctx)
			}
			if err := file.Row(panel.Row(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = file.Close(in.ctx)
	}
	if err != nil {
		return err
	}
	p := &m.parameters
	r := &matrixDocument{Output: d.path, Rows: m.Rows.N, Cols: m.Cols.N, Dtype: m.shape.Dtype, Parameters: p}
	return d.finish(r, storeOf(d.g.Manifest), p, fmt.Sprintf("%s · α = %v, steps %d to %d", shapeOf(r.Rows, r.Cols, r.Dtype), p.Alpha, p.MinSteps, p.Steps))
}

// parameters returns what a walk is done with.
func (w *walking) parameters() walkParameters {
	return walkParameters{Alpha: w.alpha(), Steps: w.steps(), MinSteps: w.minSteps(), Prior: w.prior}
}

// walkParameters are what a walk was done with.
type walkParameters struct {
	Kernel   string  `json:"kernel,omitempty"`
	Alpha    float64 `json:"alpha"`
	Steps    int     `json:"steps"`
	MinSteps int     `json:"min_steps"`
	Prior    string  `json:"prior"`
	Features string  `json:"features,omitempty"`
	Folds    int     `json:"folds,omitempty"` // of honest features
	Seed     int64   `json:"seed,omitempty"`  // of their folds
}
