package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
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
	first, end, err := f.slab.bounds(len(d.l.Names), "class")
	if err != nil {
		return err
	}
	from, groups, wide := f.minSteps(), f.steps()-f.minSteps()+1, end-first
	picks := cwk.Plain(d.rows)
	m := &walkMatrix[T]{
		rows: nodesOf(d.g, d.rows), lines: lines{label: d.labelOf()},
		cols:   axis{N: wide * groups, ID: func(j int) string { return fmt.Sprintf("%d:%s", from+j/wide, d.l.Names[first+j%wide]) }},
		settle: func(w *cwk.Walk[T]) { w.Lo, w.Hi = first, end },
		memory: func(w *cwk.Walk[T]) ([]spec.Bytes, int, error) { return w.FeaturePanelsMemory(from, picks) },
		panels: func(w *cwk.Walk[T], sink func(int, *sparse.Block[T]) error) error {
			return w.FeaturePanels(in.ctx, from, picks, sink)
		},

		parameters: walkParameters{Alpha: f.alpha(), Steps: f.steps(), MinSteps: from, Prior: f.prior, Features: f.kind},
		command:    "features", slab: f.slab,
		shape: evaluate.Shape{Axis: evaluate.ByColumns, Lo: first, Hi: end, Whole: len(d.l.Names), Groups: groups, Dtype: f.dtype},
	}
	if f.kind == "honest" {
		m.parameters.Folds, m.parameters.Seed = f.folds, in.seed
		fold := validate.Folds(d.l.Class, min(f.folds, len(d.l.Class)), uint64(in.seed), 0)
		picks = cwk.Honest(seedsOf(d.l), fold, d.rows)
		m.settle = func(w *cwk.Walk[T]) { w.Lo, w.Hi, w.Variants = first, end, cwk.FoldVariants(f.alpha(), fold) }
	}
	return writeWalk(d, &f.walking, m, "take fewer steps (--steps), rows (--rows), or another disk")
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
