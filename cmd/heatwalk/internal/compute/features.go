package compute

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

type featuresOptions struct {
	graph shell.GraphInputs
	walk  shell.WalkFlags
	name  string
	kind  string
	folds int
	asked bool // --folds was given
	rows  string
	dtype string
	out   string
}

func NewFeatures(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "features GRAPH --labels L.tsv -o F.npy",
		"The explicit features of the coinciding walk kernel", checkFeatures,
		runFeatures)
	flags.AddOutput(&c.out, "output", "", "of the features: .npy, .npz, .svm, .libsvm, .csv or .mtx", tablefile.MatrixEndings)
	flags.StringVar(&c.name, "kernel", cwk.Spec.Name, "`SPEC` of the kernel, as in cwk:alpha=0.5:steps=10")
	c.walk.Declare(&c.graph.Tables, flags, "")
	flags.AddChoice(&c.kind, "features", "plain", []string{"plain", "honest"},
		"from which walk labelled nodes have their rows")
	shell.NumberVar(flags, &c.folds, "folds", 5, param.Range{Least: 2, Most: 1000}, "N",
		"folds of honest features")
	flags.AddInput(&c.rows, "rows", "of the nodes to write, one id a line (default: all)")
	flags.AddDtype(&c.dtype, "float32",
		"precision of the walk and of the features")
	c.graph.Declare(flags)
	return cmd
}

func checkFeatures(line *shell.CommandLine, c *featuresOptions, _ []string) {
	c.asked = line.Command.Flags().Changed("folds")
	if spec, n := line.ParseNamed("--kernel", c.name, shell.Specs{&cwk.Spec}); spec != nil {
		c.walk.Check(line, n)
	}
}

func runFeatures(run *shell.Session, c *featuresOptions, name string) error {
	return shell.InPrecision(c.dtype, writeFeatures[float32],
		writeFeatures[float64])(run, c, name)
}

// writeFeatures writes the features of the coinciding walk kernel.
func writeFeatures[T sparse.Float](run *shell.Session, f *featuresOptions,
	name string) error {
	d, err := beginDense(run, &f.graph, name, f.out,
		denseInputs{labels: f.walk.Labels, seeds: true, rows: f.rows})
	if err != nil {
		return err
	}
	if f.asked {
		if err := checkFolds(f.folds, d.Labels); err != nil {
			return err
		}
	}
	w, err := newWalk[T](run, d, &f.graph.Tables, &f.walk)
	if err != nil {
		return err
	}
	parameters := f.walk.Parameters
	var fold []int // fold of each label; nil: no labels are hidden
	parameters.Features = f.kind
	if f.kind == "honest" {
		parameters.Folds = f.folds
		parameters.Seed = run.Seed
		fold = choose.TaskIn(&problem.Problem{Row: d.Labels.Row, Class: d.Labels.Class}, f.folds, uint64(run.Seed), 0).Fold
		w.Variants = cwk.FoldVariants(parameters.Alpha, fold)
	}
	picks := cwk.Picks(d.Rows, w.Seeds, fold)
	minSteps := parameters.MinSteps
	groups := parameters.Steps - minSteps + 1
	names := d.Labels.Names
	column := func(j int) string { return fmt.Sprintf("%d:%s", minSteps+j/len(names), names[j%len(names)]) }
	return writeWalk(d, w, &walkMatrix[T]{
		Matrix: tablefile.Matrix{Rows: d.Graph.SelectNodes(d.Rows),
			Cols: shell.Axis{N: len(names) * groups, ID: column}, Label: labelOf(d)},
		memory: func() (int64, int, error) { return w.FeaturesBytes(minSteps, picks) },
		panels: func(sink func(int, *sparse.Block[T]) error) error {
			_, err := w.Features(run.Context, minSteps, picks, sink)
			return err
		},
		picks:      [][]cwk.Pick{picks},
		advice:     "take fewer steps, rows (--rows), or another disk",
		parameters: parameters,
		dtype:      f.dtype,
	})
}

// checkFolds checks that the smallest class has a label for each fold.
func checkFolds(folds int, l *nodefile.Labels) error {
	size := l.Sizes() // each at least 1
	smallest := slices.Index(size, slices.Min(size))
	switch {
	case size[smallest] >= folds:
		return nil
	case size[smallest] == 1:
		return shell.UsageError("--folds",
			"class %q has one label, too few for folds; without --folds labels are dealt as far as they go", l.Names[smallest])
	}
	return shell.UsageError("--folds",
		"class %q has %d labelled members; --folds is at most %[2]d, and without it labels are dealt as far as they go", l.Names[smallest], size[smallest])
}

// newWalk returns a walk whose matrix and memory the caller must set.
func newWalk[T sparse.Float](run *shell.Session, d *shell.GraphRun, in *shell.Inputs,
	f *shell.WalkFlags) (*cwk.Walk[T], error) {
	prior, err := f.ReadPrior(run, in, d.Graph, d.Labels)
	return &cwk.Walk[T]{
		Degrees: d.Graph.Degrees,
		Seeds: cwk.Seeds{Row: d.Labels.Row, Class: d.Labels.Class,
			Classes: len(d.Labels.Names)},
		Prior:    prior,
		Steps:    f.Parameters.Steps,
		Variants: []cwk.Variant{{Absorb: f.Parameters.Alpha}}, Workers: run.Threads,
		Progress: run.Progress.StageCallback("walking", "sweep"),
	}, err
}

// walkMatrix is a matrix computed from a walk, in panels of rows.
type walkMatrix[T sparse.Float] struct {
	tablefile.Matrix
	memory func() (bytes int64, sweeps int, err error)
	panels func(sink func(lo int, panel *sparse.Block[T]) error) error
	picks  [][]cwk.Pick // nodes that memory and panels select
	advice string       // remedy if the matrix is too large for the disk

	parameters shell.WalkParameters
	dtype      string
}

func writeWalk[T sparse.Float](d *shell.GraphRun, w *cwk.Walk[T],
	m *walkMatrix[T]) error {
	run := d.Out.Run
	files, err := d.Out.CheckMatrix(m.Rows, m.Cols, m.dtype, m.advice)
	if err != nil {
		return err
	}
	run.Costs.Disk += files
	named := [][]int{w.Seeds.Row}
	for _, list := range m.picks {
		rows := make([]int, len(list))
		for i, p := range list {
			rows[i] = p.Row
		}
		named = append(named, rows)
	}
	isLocal := false
	job, err := d.Graph.Begin(run.Context, &heatwalk.Needs{
		Named: named, Part: "columns of a walk",
		Workspace: func(j *heatwalk.Job, p *budget.Plan) (budget.Workspace, error) {
			if !isLocal {
				walkLocally(j, w, m.picks, named)
				isLocal = true
			}
			w.Memory = j.Memory
			bytes, sweeps, err := m.memory()
			p.Sweeps = sweeps
			p.RowBytes = int(budget.Row[T](w.Seeds.Classes * len(w.Variants)))
			return budget.Held(bytes), err
		},
	})
	if err != nil {
		return err
	}
	defer job.End()
	w.A = job.A
	w.Memory = job.Memory
	m.Pieces = takesPieces(d.Out)
	file, err := newWriter[T](d.Out, &m.Matrix)
	if err != nil {
		return err
	}
	err = m.panels(func(lo int, panel *sparse.Block[T]) error { return file.PutRows(run.Context, lo, panel) })
	if err == nil {
		err = file.Close(run.Context)
	}
	if err != nil {
		return err
	}
	p := &m.parameters
	r := &shell.MatrixDocument{Shape: shell.ShapeOf(d.Out.Path, m.Rows.N, m.Cols.N, m.dtype), Parameters: p}
	return d.Out.Finish(shell.JoinDocuments(r), p,
		fmt.Sprintf("%s · alpha = %v, steps = %d, min-steps = %d", r.Shape,
			p.Alpha, p.Steps, p.MinSteps))
}

// walkLocally sets the matrix, degrees, seeds, prior and picks of a walk to the rows that this process
// holds. The job must have the nodes in named: the labelled nodes, then the nodes of each list of picks.
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
