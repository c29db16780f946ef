package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/parts"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// featuresOptions are the options of features.
type featuresOptions struct {
	graph graphInputs
	walk  walkFlags
	name  string // name of the kernel with its parameters
	kind  string
	folds int
	asked bool // --folds was given
	rows  string
	dtype string
	out   string
	share shareFlag
}

func newFeatures(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run, "features GRAPH --labels L.tsv -o F.npy",
		"The explicit features of the coinciding walk kernel", checkFeatures,
		runFeatures)
	outputFlag(flags, &c.out, "output", "", "`FILE` of the features: .npy, .npz, .svm or .libsvm", tablefile.MatrixEndings)
	flags.StringVar(&c.name, "kernel", cwk.Spec.Name, "`SPEC` of the kernel, as in cwk:alpha=0.5:steps=10")
	c.walk.declare(&c.graph.tables, flags, "")
	choiceVar(flags, &c.kind, "features", "plain", []string{"plain", "honest"},
		"from which walk labelled nodes have their rows")
	numberVar(flags, &c.folds, "folds", 5, param.Range{Least: 2, Most: 1000}, "N",
		"folds of honest features")
	flags.addText(&c.rows, "rows", "`FILE` of the nodes to write, one id a line (default: all)")
	dtypeFlag(flags, &c.dtype, "float32",
		"precision of the walk and of the features")
	c.share.declare(flags, "the classes")
	graphFlags(&c.graph, flags)
	return cmd
}

func checkFeatures(line *commandLine, c *featuresOptions, _ []string) {
	c.asked = line.command.Flags().Changed("folds")
	if spec, n := parseNamed(line, "--kernel", c.name, specs{&cwk.Spec}); spec != nil {
		c.walk.check(line, n)
	}
}

func runFeatures(run *session, c *featuresOptions, name string) error {
	return inPrecision(c.dtype, writeFeatures[float32],
		writeFeatures[float64])(run, c, name)
}

// writeFeatures writes the features of the coinciding walk kernel.
func writeFeatures[T sparse.Float](run *session, f *featuresOptions,
	name string) error {
	d, err := beginDense(run, &f.graph, name, f.out,
		denseInputs{labels: f.walk.labels, seeds: true, rows: f.rows})
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
	w, err := newWalk[T](run, d, &f.graph.tables, &f.walk)
	if err != nil {
		return err
	}
	w.Lo = first
	w.Hi = end
	parameters := f.walk.parameters
	var fold []int // fold of each label; nil: no labels are hidden
	parameters.Features = f.kind
	if f.kind == "honest" {
		parameters.Folds = f.folds
		parameters.Seed = run.seed
		fold = split.Folds(d.l.Class, min(f.folds, len(d.l.Class)),
			uint64(run.seed), 0)
		w.Variants = cwk.FoldVariants(parameters.Alpha, fold)
	}
	picks := cwk.Picks(d.rows, w.Seeds, fold)
	minSteps := parameters.MinSteps
	groups := parameters.Steps - minSteps + 1
	wide := end - first
	class := func(j int) string { return fmt.Sprintf("%d:%s", minSteps+j/wide, d.l.Names[first+j%wide]) }
	return writeWalk(d, w, &walkMatrix[T]{
		Matrix: tablefile.Matrix{Rows: nodesOf(d.g, d.rows),
			Cols: axis{N: wide * groups, ID: class}, Label: d.labelOf()},
		memory: func() (int64, int, error) { return w.FeaturesBytes(minSteps, picks, true) },
		panels: func(sink func(int, *sparse.Block[T]) error) error {
			_, err := w.Features(run.ctx, minSteps, picks, sink)
			return err
		},
		picks:  [][]cwk.Pick{picks},
		advice: "take fewer steps, rows (--rows), or another disk",

		parameters: parameters, command: "features", share: f.share,
		shape: parts.Shape{Axis: parts.ByColumns, Lo: first, Hi: end,
			Whole: len(d.l.Names), Groups: groups, Dtype: f.dtype},
	})
}

// checkFolds refuses folds that the smallest class cannot fill.
func checkFolds(folds int, l *nodefile.Labels) error {
	size := sizesOf(l) // of each class at least 1
	smallest := slices.Index(size, slices.Min(size))
	switch {
	case size[smallest] >= folds:
		return nil
	case size[smallest] == 1:
		return fault.Usage("--folds",
			"class %q has one label, too few for folds; without --folds labels are dealt as far as they go", l.Names[smallest])
	}
	return fault.Usage("--folds",
		"class %q has %d labelled members; --folds is at most %[2]d, and without it labels are dealt as far as they go", l.Names[smallest], size[smallest])
}

// walkFlags holds the flags of a walk.
type walkFlags struct {
	labels, prior string
	parameters    walkParameters
}

// declare declares the flags of w and those for reading labels.
func (w *walkFlags) declare(in *inputs, flags *flagSet, labels string) {
	labelFlags(in, flags, &w.labels, "`FILE` of node and label, one pair a line"+labels)
	w.priorFlag(flags)
}

func (w *walkFlags) priorFlag(flags *flagSet) {
	p := &cwk.PriorParam
	flags.StringVar(&w.prior, p.Name, p.Default.String(), p.Meaning+": "+strings.Join(p.Words, ", ")+", or a `FILE` of distributions")
}

// check completes the parameters of a walk by their defaults, and records problems of the flags.
func (w *walkFlags) check(line *commandLine, n param.Named) {
	p := &w.parameters
	if _, v := parseGiven(line, "--kernel", n.Given, &cwk.Spec); v != nil {
		*p = walkParameters{Alpha: v.Number("alpha"), Steps: v.Int("steps"),
			MinSteps: v.Int("min-steps"), Prior: w.prior}
	}
	if p.MinSteps > p.Steps {
		line.problem("--kernel",
			"cwk: min-steps: %v lies beyond the last step, %v; give at most that",
			p.MinSteps, p.Steps)
	}
	line.require("labels")
}

// readPrior returns the prior of --prior.
func (w *walkFlags) readPrior(run *session, in *inputs, g *openGraph,
	l *nodefile.Labels) (cwk.Prior, error) {
	switch w.prior {
	case "uniform":
		return cwk.Prior{}, nil
	case "empirical":
		return cwk.Prior{Empirical: true, Pseudo: 1}, nil
	}
	config := listConfig(run.console, in, w.prior)
	config.Skip = tablefile.PredictionTitles
	p, err := nodefile.ReadPrior(run.ctx, w.prior, g.Nodes, l.Names, config)
	if err != nil {
		return cwk.Prior{}, err
	}
	return cwk.Prior{Given: p}, nil
}

// newWalk returns the walk that f describes, without its matrix and memory.
func newWalk[T sparse.Float](run *session, d *graphRun, in *inputs,
	f *walkFlags) (*cwk.Walk[T], error) {
	prior, err := f.readPrior(run, in, d.g, d.l)
	return &cwk.Walk[T]{
		Degrees: d.g.Degrees,
		Seeds: cwk.Seeds{Row: d.l.Row, Class: d.l.Class,
			Classes: len(d.l.Names)},
		Prior:    prior,
		Steps:    f.parameters.Steps,
		Variants: []cwk.Variant{{Absorb: f.parameters.Alpha}}, Workers: run.threads,
		Progress: run.progress.StageCallback("walking", "sweep"),
	}, err
}

// walkMatrix is a matrix that is computed by a walk.
type walkMatrix[T sparse.Float] struct {
	tablefile.Matrix
	memory func() (bytes int64, sweeps int, err error)
	panels func(sink func(lo int, panel *sparse.Block[T]) error) error
	picks  [][]cwk.Pick // rows of the walk that memory and panels refer to
	advice string       // where it is too large for the disk

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

// fewerNodes is the remedy if a block of nodes is too large for the disk.
const fewerNodes = "name fewer columns (--cols), rows (--rows), or another disk"

// writeWalk writes a matrix of the walk w.
func writeWalk[T sparse.Float](d *graphRun, w *cwk.Walk[T],
	m *walkMatrix[T]) error {
	run := d.out.run
	files, err := checkMatrix(d.out, m.Rows, m.Cols, m.shape.Dtype, m.advice)
	if err != nil {
		return err
	}
	run.costs.disk += files
	named := [][]int{w.Seeds.Row}
	for _, list := range m.picks {
		rows := make([]int, len(list))
		for i, p := range list {
			rows[i] = p.Row
		}
		named = append(named, rows)
	}
	isLocal := false
	job, err := d.g.Begin(run.ctx, &heatwalk.Needs{
		Named: named, Part: "columns of a walk",
		Bytes: func(j *heatwalk.Job, p *budget.Plan) (int64, error) {
			if !isLocal {
				walkLocally(j, w, m.picks, named)
				isLocal = true
			}
			w.Memory = j.Memory
			bytes, sweeps, err := m.memory()
			p.Sweeps, p.RowBytes, p.Named = sweeps, rowBytes(w), 0 // there is no kernel between the picked nodes
			return bytes, err
		},
	})
	if err != nil {
		return err
	}
	w.A = job.A
	if err := d.describePart(m.command, m.share, m.shape, m.parameters); err != nil {
		return err
	}
	m.Pieces = takesPieces(d.out)
	file, err := newWriter[T](d.out, &m.Matrix)
	if err != nil {
		return err
	}
	err = m.panels(func(lo int, panel *sparse.Block[T]) error {
		if m.Pieces {
			return file.PutRows(run.ctx, lo, panel)
		}
		for i := range panel.Rows {
			if run.ctx.Err() != nil {
				return context.Cause(run.ctx)
			}
			if err := file.Row(panel.Row(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = file.Close(run.ctx)
	}
	if err != nil {
		return err
	}
	p := &m.parameters
	r := &matrixDocument{Output: d.out.path,
		Rows: m.Rows.N, Cols: m.Cols.N, Dtype: m.shape.Dtype, Parameters: p}
	return d.out.finish(joinDocuments(r), p,
		fmt.Sprintf("%s · α = %v, steps %d to %d", shapeOf(r.Rows, r.Cols, r.Dtype),
			p.Alpha, p.MinSteps, p.Steps))
}

// walkLocally makes the walk one over the rows of a job, which has named the labelled and the picked nodes.
func walkLocally[T sparse.Float](j *heatwalk.Job, w *cwk.Walk[T],
	picks [][]cwk.Pick, named [][]int) {
	w.A, w.Degrees, w.Seeds.Row, w.Prior.Given = j.A, j.Degrees,
		j.Rows(w.Seeds.Row), j.Part(w.Prior.Given)
	for i, list := range picks {
		for k, row := range j.Rows(named[1+i]) {
			list[k].Row = row
		}
	}
}

// walkParameters holds the parameters of a walk.
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
