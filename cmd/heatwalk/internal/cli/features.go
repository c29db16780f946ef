package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/validate"
)

// featureFlags are the flags of features.
type featureFlags struct {
	reading
	walking
	kind  string
	folds int
	asked bool // for so many folds
	rows  string
	dtype string
	out   string
	slab  slabFlag
}

func newFeatures(in *invocation) *cobra.Command {
	var f featureFlags
	cmd := &cobra.Command{
		Use:   "features GRAPH --labels L.tsv -o F.npy",
		Short: "The explicit features of the coinciding walk kernel",
		Args:  in.arguments("GRAPH", 1, 1),
	}
	cmd.RunE = in.runs(func(cmd *cobra.Command, args []string) {
		in.checkDenseRun(cmd, args, &f.reading, f.out, f.slab, f.labels, f.rows)
		f.asked = cmd.Flags().Changed("folds")
		in.checkWalk(cmd.Flags(), &f.walking)
	}, func(args []string) error {
		if f.dtype == "float64" {
			return runFeatures[float64](in, args[0], &f)
		}
		return runFeatures[float32](in, args[0], &f)
	})
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "`FILE` of the features: .npy, .npz, .svm or .libsvm")
	in.walkFlags(flags, &f.walking, "")
	walkParams(byDefault).flags(in, flags, "")
	in.choiceVar(flags, &f.kind, "features", "plain", []string{"plain", "honest"}, "from which walk labelled nodes have their rows")
	in.intVar(flags, &f.folds, "folds", 5, 2, 1000, "folds of honest features")
	flags.StringVar(&f.rows, "rows", "", "`FILE` of the nodes to write, one id a line (default: all)")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "precision of the walk and of the features")
	in.slabVar(flags, &f.slab, "the classes")
	in.readingFlags(flags, &f.reading)
	return cmd
}

// runFeatures writes the features that f describes.
func runFeatures[T sparse.Float](in *invocation, name string, f *featureFlags) error {
	d, err := in.beginDense(name, f.out, &f.reading, denseInputs{labels: f.labels, seeds: true, rows: f.rows})
	if err != nil {
		return err
	}
	defer d.end()
	if f.asked {
		if err := checkFolds(f.folds, d.l); err != nil {
			return err
		}
	}
	slab := cwk.Slab{}
	if slab.Lo, slab.Hi, err = f.slab.bounds(len(d.l.Names), "class"); err != nil {
		return err
	}
	rowAxis, colAxis := nodesOf(d.g, d.rows), featureAxis(d.l, &f.walking, slab)
	if err := d.checkSpace(rowAxis, colAxis, f.dtype, bytesOf[T](), "take fewer steps (--steps), rows (--rows), or another disk"); err != nil {
		return err
	}
	picks := cwk.Plain(d.rows)
	var walk *cwk.Walk[T]
	plan, err := in.fit(d.g, func() (*needs, error) {
		if walk, err = walkOf[T](in, d.g, &f.walking, d.l); err != nil {
			return nil, err
		}
		walk.Slab = slab
		if f.kind == "honest" {
			fold := validate.Folds(d.l.Class, min(f.folds, len(d.l.Class)), uint64(in.seed), 0)
			walk.Variants = cwk.FoldVariants(f.alpha(), fold)
			picks = cwk.Honest(walk.Seeds, fold, d.rows)
		}
		return planFeatures(d, walk, f.minSteps(), picks, rowAxis, colAxis)
	})
	if err != nil {
		return err
	}
	if err := in.begin(d.g, plan); err != nil {
		return err
	}
	walk.A, walk.Progress = d.g.matrix, in.progress.Showing("walking", "sweep")
	file, err := newDenseFile[T](d.out, rowAxis, colAxis, lines{label: d.labelOf()})
	if err != nil {
		return err
	}
	batch := featureBatch(walk, f.minSteps(), len(picks))
	for lo := 0; lo < len(picks); lo += batch {
		made, err := walk.Features(in.ctx, f.minSteps(), picks[lo:min(lo+batch, len(picks))])
		if err != nil {
			return err
		}
		if err := writeRows(in.ctx, file, made); err != nil {
			return err
		}
	}
	if err := file.Close(); err != nil {
		return err
	}
	parameters := walkParameters{Alpha: f.alpha(), Steps: f.steps(), MinSteps: f.minSteps(), Prior: f.prior, Features: f.kind}
	if f.kind == "honest" {
		parameters.Folds, parameters.Seed = f.folds, in.seed
	}
	p, err := d.partOf("features", f.slab, parameters, evaluate.Shape{
		Axis: evaluate.ByColumns, Lo: slab.Lo, Hi: slab.Hi, Whole: len(d.l.Names), Groups: f.steps() - f.minSteps() + 1, Dtype: f.dtype,
	})
	if err != nil {
		return err
	}
	return in.finishDense(d, p, &denseReport{
		Output: f.out, Rows: rowAxis.N, Cols: colAxis.N, Dtype: f.dtype, Parameters: parameters,
	})
}

// checkFolds refuses folds that the smallest class cannot fill.
func checkFolds(folds int, l *nodefile.Labels) error {
	size := l.Sizes()
	least := -1
	for c, n := range size {
		if n > 0 && (least < 0 || n < size[least]) {
			least = c
		}
	}
	switch {
	case least < 0 || size[least] >= folds:
		return nil
	case size[least] == 1:
		return fault.Usage("--folds", "class %q has one label, too few for folds; without --folds labels are dealt as far as they go", l.Names[least])
	}
	return fault.Usage("--folds", "class %q has %d labelled members; --folds is at most %[2]d, and without it labels are dealt as far as they go", l.Names[least], size[least])
}

// planFeatures returns what the features of the picked rows take.
func planFeatures[T sparse.Float](d *denseRun, walk *cwk.Walk[T], from int, picks []cwk.Pick, rows, cols axis) (*needs, error) {
	n, err := d.needs(rows, cols, bytesOf[T]())
	if err != nil {
		return n, err
	}
	if err := n.Reserve(16*int64(len(picks)), "picked rows"); err != nil {
		return n, err
	}
	if walk.Memory > 0 {
		walk.Memory, _ = n.Left()
	}
	batch := featureBatch(walk, from, len(picks))
	list, sweeps, err := walk.CollectMemory(from, picks[:batch])
	return n, n.walk(list, sweeps*((len(picks)+batch-1)/batch), err)
}

// featureAxis names the columns t:class of the features of a slab of classes.
func featureAxis(l *nodefile.Labels, w *walking, slab cwk.Slab) axis {
	wide := slab.Hi - slab.Lo
	return axis{
		N:  wide * (w.steps() - w.minSteps() + 1),
		ID: func(j int) string { return fmt.Sprintf("%d:%s", w.minSteps()+j/wide, l.Names[slab.Lo+j%wide]) },
	}
}

// featureBatch returns how many rows of features may be held at once: half of
// the memory is for them, the other half for the walk. The features of more
// rows take another walk.
func featureBatch[T sparse.Float](w *cwk.Walk[T], from, rows int) int {
	if w.Memory == 0 {
		return rows
	}
	row := w.WholeMemory(from, 1)[0].Bytes
	return int(min(int64(rows), max(1, w.Memory/2/row)))
}
