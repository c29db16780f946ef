package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unsafe"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/ingest/source"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
)

func newKernel(in *invocation) *cobra.Command {
	var f kernelFlags
	cmd := &cobra.Command{
		Use:   "kernel GRAPH --kernel NAME -o K.npy",
		Short: "A block of kernel values, streamed to a file",
		Args:  func(cmd *cobra.Command, args []string) error { return in.graphOrTable(f.vectors.file)(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.vectors.file != "" {
				in.checkVectorKernel(cmd, &f)
				if err := in.checked(); err != nil {
					return err
				}
				return in.runVectorKernel(&f)
			}
			in.checkNoVectors(cmd.Flags(), f.name, nodeParameters())
			in.checkDenseRun(cmd, args, &f.reading, f.out, f.slab, f.labels, f.rows, f.cols)
			in.checkKernel(cmd, &f)
			if err := in.checked(); err != nil {
				return err
			}
			single, double := runSpectral[float32], runSpectral[float64]
			if f.name == walkKernel {
				single, double = runKernel[float32], runKernel[float64]
			}
			if f.dtype == "float64" {
				return double(in, args[0], &f)
			}
			return single(in, args[0], &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "`FILE` of the block: .npy, .npz, .svm or .libsvm")
	in.kernelFlags(flags, &f)
	flags.StringVar(&f.rows, "rows", "", "`FILE` of the nodes of the rows, one id a line (default: all)")
	flags.StringVar(&f.cols, "cols", "", "`FILE` of the nodes of the columns (default: all)")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "precision of the values, and of walks")
	in.slabVar(flags, &f.slab, "the columns")
	in.vectorFlags(flags, &f.vectors)
	in.readingFlags(flags, &f.reading)
	return cmd
}

// runKernel writes the block of coinciding walks that f describes.
func runKernel[T sparse.Float](in *invocation, name string, f *kernelFlags) error {
	d, err := in.beginDense(name, f.out, &f.reading, denseInputs{labels: f.labels, seeds: true, rows: f.rows, cols: f.cols, block: true})
	if err != nil {
		return err
	}
	defer d.end()
	lo, hi, err := f.slab.bounds(len(d.cols), "column")
	if err != nil {
		return err
	}
	rows, cols := cwk.Plain(d.rows), cwk.Plain(d.cols[lo:hi])
	rowAxis, colAxis := nodesOf(d.g, d.rows), nodesOf(d.g, d.cols[lo:hi])
	if err := d.checkSpace(rowAxis, colAxis, f.dtype, bytesOf[T](), "name fewer columns (--cols), rows (--rows), or another disk"); err != nil {
		return err
	}
	var walk *cwk.Walk[T]
	plan, err := in.fit(d.g, func() (*needs, error) {
		if walk, err = walkOf[T](in, d.g, &f.walking, d.l); err != nil {
			return nil, err
		}
		return planGram(d, walk, f.minSteps(), rows, cols, rowAxis, colAxis)
	})
	if err != nil {
		return err
	}
	if err := in.begin(d.g, plan); err != nil {
		return err
	}
	walk.A, walk.Progress = d.g.matrix, in.progress.Showing("walking", "sweep")
	file, err := newDenseFile[T](d.out, rowAxis, colAxis, lines{kernel: true, label: d.labelOf()})
	if err != nil {
		return err
	}
	err = walk.Gram(in.ctx, f.minSteps(), rows, cols, func(_ int, panel *sparse.Block[T]) error {
		return writeRows(in.ctx, file, panel)
	})
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	parameters := walkParameters{Kernel: walkKernel, Alpha: f.alpha(), Steps: f.steps(), MinSteps: f.minSteps(), Prior: f.prior}
	p, err := d.partOf("kernel", f.slab, parameters, evaluate.Shape{
		Axis: evaluate.ByColumns, Lo: lo, Hi: hi, Whole: len(d.cols), Groups: 1, Dtype: f.dtype,
	})
	if err != nil {
		return err
	}
	return in.finishDense(d, p, &denseReport{
		Output: f.out, Rows: len(d.rows), Cols: hi - lo, Dtype: f.dtype, Parameters: parameters,
	})
}

// planGram returns what a block of the kernel of walks takes.
func planGram[T sparse.Float](d *denseRun, walk *cwk.Walk[T], from int, rows, cols []cwk.Pick, rowAxis, colAxis axis) (*needs, error) {
	n, err := d.needs(rowAxis, colAxis, bytesOf[T]())
	if err != nil {
		return n, err
	}
	if err := n.Reserve(16*int64(len(rows)+len(cols)), "picked rows"); err != nil {
		return n, err
	}
	if walk.Memory > 0 {
		walk.Memory, _ = n.Left()
	}
	return n, n.walk(walk.GramMemory(from, rows, cols))
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

// denseReport is the JSON document of commands that write a dense matrix.
type denseReport struct {
	Output     string         `json:"output"`
	Rows       int            `json:"rows"`
	Cols       int            `json:"cols"`
	Dtype      string         `json:"dtype"`
	Parameters walkParameters `json:"parameters"`
	Closing
}

// finishDense publishes a dense matrix and says so.
func (in *invocation) finishDense(d *denseRun, of *evaluate.Part, r *denseReport) error {
	if err := in.writePartRun(d.out.run, storeOf(d.g.Manifest()), r.Parameters, of); err != nil {
		return err
	}
	if err := d.files.commit(); err != nil {
		return err
	}
	return in.tell(r, func(w io.Writer) {
		p := r.Parameters
		fmt.Fprintf(w, "%s × %s %s · α = %v, steps %d to %d\n%s · %s\n", words.Count(int64(r.Rows)), words.Count(int64(r.Cols)), r.Dtype,
			p.Alpha, p.MinSteps, p.Steps, in.cost(), r.Output)
	}, r.Output)
}

// bytesOf returns the size of a number.
func bytesOf[T sparse.Float]() int { return int(unsafe.Sizeof(T(0))) }

// rowsOf reads a list of ids; without one, all rows in the order of the ids, but for
// those that stand for hyperedges.
func (in *invocation) rowsOf(path string, g *openGraph) ([]int, error) {
	if path == "" {
		rows := slices.Collect(g.Nodes().Rows())
		if g.hasHyperedges() {
			rows = slices.DeleteFunc(rows, func(row int) bool { return strings.HasPrefix(g.Nodes().ID(row), source.HyperedgePrefix) })
		}
		return rows, nil
	}
	rows, err := nodefile.ReadIDs(in.ctx, path, g.Nodes(), in.stdin)
	if err == nil && len(rows) == 0 {
		err = fault.Data(path, "no ids; give one a line")
	}
	return rows, err
}

// nodesOf returns the ids of the given rows.
func nodesOf(g *openGraph, rows []int) axis {
	return axis{N: len(rows), ID: func(i int) string { return g.Nodes().ID(rows[i]) }}
}

// walkOf returns the walk that the flags describe, in one variant.
func walkOf[T sparse.Float](in *invocation, g *openGraph, w *walking, l *nodefile.Labels) (*cwk.Walk[T], error) {
	prior, err := in.priorOf(w, g, l)
	if err != nil {
		return nil, err
	}
	return &cwk.Walk[T]{
		A: g.matrix, Degrees: g.Degrees(), Seeds: seedsOf(l), Prior: prior, Steps: w.steps(),
		Variants: []cwk.Variant{{Absorb: w.alpha()}}, Memory: g.memory(), Workers: in.threads,
	}, nil
}
