package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel/graphs"
	"github.com/heatwalk/heatwalk/method/ongraphs"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// graphsKernelFlags are the flags of graphs kernel.
type graphsKernelFlags struct {
	collectionFlags
	out, name, dtype string
	kernel           *graphs.Kernel
	given            spec.Values
}

// graphsKernelDocument is the JSON document of graphs kernel.
type graphsKernelDocument struct {
	matrixDocument
	Graphs int    `json:"graphs"`
	Nodes  int    `json:"nodes"`
	Values string `json:"values"`
}

func newGraphsKernel(in *invocation) *cobra.Command {
	var f graphsKernelFlags
	cmd := &cobra.Command{
		Use:   "kernel INPUT --kernel NAME -o K.npy",
		Short: "Kernel values between all graphs of a collection",
		Args:  in.arguments("INPUT", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.checkDense(f.out, append(args, f.measure, f.base)...)
			if kernels := in.graphKernels(f.name); len(kernels) == 1 {
				f.kernel = kernels[0]
				f.given = in.checkCollection(cmd.Flags(), &f.collectionFlags, []*spec.Spec{&f.kernel.Spec})
			} else if len(kernels) > 1 {
				in.problem("--kernel", "%s are several; graphs kernel takes one", f.name)
			}
			return in.then(func() error { return in.runGraphsKernel(args[0], &f) })
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "`FILE` of the values: .npy, .npz, .svm or .libsvm")
	flags.StringVar(&f.name, "kernel", "", "`NAME` of the kernel")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "precision of the file; values are computed in float64")
	in.collectionFlags(flags, &f.collectionFlags, "raw")
	in.tempFlag(flags)
	flags.SortFlags = false
	return cmd
}

// runGraphsKernel writes the kernel that f describes, in groups of rows that fit.
func (in *invocation) runGraphsKernel(name string, f *graphsKernelFlags) error {
	o, err := in.beginProduct(f.out, true)
	if err != nil {
		return err
	}
	defer o.abort()
	r, err := in.readCollection(name, &f.collectionFlags, f.out, f.listed)
	if err != nil {
		return err
	}
	if err := r.set.ReadElements(in.ctx, r.c, f.kernel, f.given, f.measure, f.base); err != nil {
		return r.explain(err)
	}
	n, ids := len(r.c.Graphs), r.axis()
	files, err := o.checkMatrix(ids, ids, f.dtype, "take another disk")
	if err != nil {
		return err
	}
	group, err := f.plan(r, files)
	if err != nil {
		return err
	}
	gram, err := f.kernel.Prepare(in.ctx, r.c, f.given, r.set)
	if err != nil {
		return r.explain(err)
	}
	stage := in.progress.Begin("comparing", int64(n), "graph")
	r.set.Progress = func(rows int) { stage.Set(int64(rows), int64(n)) }
	var rows *sparse.Block[float64] // of the group that is written
	err = o.fill(f.dtype, ids, ids, lines{label: classNumbers(ongraphs.Labels(r.c, name), n), kernel: true}, func(i int, row []float64) error {
		if i%group == 0 {
			rows = sparse.NewBlock[float64](min(group, n-i), n)
			if err := gram.RowsTo(in.ctx, rows, i); err != nil {
				return r.explain(err)
			}
		}
		copy(row, rows.Row(i%group))
		return nil
	})
	if err != nil {
		return err
	}
	d := &graphsKernelDocument{
		matrixDocument: matrixDocument{Output: f.out, Rows: n, Cols: n, Dtype: f.dtype, Kernel: f.kernel.Name, Parameters: gram.Values},
		Graphs:         n, Values: f.values,
	}
	for i := range r.c.Graphs {
		d.Nodes += r.c.Graphs[i].Len()
	}
	return o.finish(d, nil, gram.Values, fmt.Sprintf("%s between %s of %s%s\n%s", d.Kernel, words.Counted(int64(n), "graph"),
		words.Counted(int64(d.Nodes), "node"), taken(&f.kernel.Spec, gram.Values), shapeOf(ids, ids, f.dtype)))
}

// plan keeps a run that writes files of so many bytes to what it takes, and returns how many
// rows are computed at a time.
func (f *graphsKernelFlags) plan(r *collectionRun, files int64) (group int, err error) {
	n := len(r.c.Graphs)
	takes, err := r.fit(f.listed, func(need *needs) error {
		need.disk, group = files, n
		if left, limited := need.Left(); limited {
			group = int(min(int64(n), max(1, left/rowBytes(n))))
		}
		return need.Reserve(int64(group)*rowBytes(n), "rows of values")
	})
	if err != nil {
		return 0, err
	}
	return group, r.in.keepTo(takes)
}

// rowBytes is what a row of values between n graphs takes, and what is written of it.
func rowBytes(n int) int64 { return sparse.BlockBytes[float64](1, n) + 4*int64(n) }

// listed lists what the kernel takes on a collection. Before that has been read, a row of
// values is among it.
func (f *graphsKernelFlags) listed(r *collectionRun) ([]spec.Bytes, error) {
	v, err := f.kernel.Resolve(f.given, nil)
	if err != nil {
		return nil, err
	}
	list, err := f.kernel.Memory(r.in.ctx, r.shape, r.c, v, r.in.threads)
	if r.c == nil {
		list = append(list, spec.Bytes{What: "rows of values", Bytes: rowBytes(r.shape.Graphs)})
	}
	return list, err
}
