package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/sparse"
)

// featureFlags are the flags of features.
type featureFlags struct {
	reading
	walking
	kind  string
	folds int
	rows  string
	dtype string
	out   string
}

func newFeatures(in *invocation) *cobra.Command {
	var f featureFlags
	cmd := &cobra.Command{
		Use:   "features GRAPH --labels L.tsv -o F.npy",
		Short: "The explicit features of the coinciding walk kernel",
		Long: `Writes F with K = FFᵀ: a row for each node and a column t:class for each step
and class, F = Pₜ/√(T−t₀+1). Beside F.npy stand F.rows.ids and F.cols.ids. With
the ending .svm or .libsvm the features are LIBSVM text.

--features honest takes the row of every labelled node from a walk in which its
own fold is unlabelled, so that labelled and other nodes are alike.`,
		Args: in.arguments("GRAPH", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.checkGraph(cmd, args, &f.reading)
			in.checkDense(f.out, append(args, f.labels, f.rows)...)
			in.checkStdin(append(args, f.labels, f.rows)...)
			f.fixed()
			in.checkWalk(&f.walking, true)
			if err := in.checked(); err != nil {
				return err
			}
			if f.dtype == "float64" {
				return runFeatures[float64](in, args[0], &f)
			}
			return runFeatures[float32](in, args[0], &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "`FILE` of the features: .npy, .npz, .svm or .libsvm")
	in.fixedWalkFlags(flags, &f.walking)
	in.choiceVar(flags, &f.kind, "features", "plain", []string{"plain", "honest"}, "from which walk labelled nodes have their rows")
	in.intVar(flags, &f.folds, "folds", 5, 2, 1000, "folds of honest features")
	flags.StringVar(&f.rows, "rows", "", "`FILE` of the nodes to write, one id a line (default: all)")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "precision of the walk and of the features")
	in.readingFlags(flags, &f.reading)
	return cmd
}

// runFeatures writes the features that f describes.
func runFeatures[T sparse.Float](in *invocation, name string, f *featureFlags) error {
	in.doing = f.out + " is unchanged"
	files := &outputs{in: in}
	defer files.abort()
	out, err := files.beginDense(f.out)
	if err != nil {
		return err
	}
	g, err := in.openSwept(name, &f.reading, f.out)
	if err != nil {
		return err
	}
	defer g.close()
	l, err := in.readSeeds(f.labels, g, &f.reading)
	if err != nil {
		return err
	}
	rows, err := in.rowsOf(f.rows, g)
	if err != nil {
		return err
	}
	walk, err := walkOf[T](in, g, &f.walking, l)
	if err != nil {
		return err
	}
	walk.Progress = in.walkProgress()
	picks := cwk.Plain(rows)
	if f.kind == "honest" {
		fold := evaluate.Folds(l.Class, min(f.folds, len(l.Class)), uint64(in.seed))
		walk.Variants = cwk.FoldVariants(f.alpha, fold)
		picks = cwk.Honest(walk.Seeds, fold, rows)
	}
	rowAxis, colAxis := nodesOf(g, rows), featureAxis(l, &f.walking)
	shape := fmt.Sprintf("%s × %s %s", formatCount(int64(rowAxis.n)), formatCount(int64(colAxis.n)), f.dtype)
	size := out.bytes(rowAxis, colAxis, bytesOf[T]())
	if err := checkSpace(f.out, size, shape, "take fewer steps (--steps), rows (--rows), or another disk"); err != nil {
		return err
	}
	class := classOfRow(l, len(walk.Degrees))
	file, err := newDenseFile[T](out, rowAxis, colAxis, lines{
		label: func(i int) int { return int(class[rows[i]]) + 1 },
	})
	if err != nil {
		return err
	}
	batch := featureBatch(walk, f.minSteps, len(picks))
	for lo := 0; lo < len(picks); lo += batch {
		part, err := walk.Features(in.ctx, f.minSteps, picks[lo:min(lo+batch, len(picks))])
		if err != nil {
			return err
		}
		for i := range part.Rows {
			if in.ctx.Err() != nil {
				return context.Cause(in.ctx)
			}
			if err := file.row(lo+i, part.Row(i)); err != nil {
				return err
			}
		}
	}
	if err := file.close(); err != nil {
		return err
	}
	return in.finishDense(files, out.run, g, &denseReport{
		Output: f.out, Rows: rowAxis.n, Cols: colAxis.n, Dtype: f.dtype,
		Parameters: walkParameters{Alpha: f.alpha, Steps: f.steps, MinSteps: f.minSteps, Prior: f.prior, Features: f.kind},
	})
}

// featureAxis names the columns of features t:class.
func featureAxis(l *ingest.Labels, w *walking) axis {
	classes := len(l.Names)
	return axis{
		n:  classes * (w.steps - w.minSteps + 1),
		id: func(j int) string { return fmt.Sprintf("%d:%s", w.minSteps+j/classes, l.Names[j%classes]) },
	}
}

// featureBatch returns how many rows of features may be held at once: half of
// the memory is for them, the other half for the walk. The features of more
// rows take another walk.
func featureBatch[T sparse.Float](w *cwk.Walk[T], from, rows int) int {
	if w.Memory == 0 {
		return rows
	}
	row := w.CollectBytes(from, 1) - w.CollectBytes(from, 0)
	return int(min(int64(rows), max(1, w.Memory/2/row)))
}
