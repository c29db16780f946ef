package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/kernel/graphs"
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
	Output     string      `json:"output"`
	Graphs     int         `json:"graphs"`
	Nodes      int         `json:"nodes"`
	Kernel     string      `json:"kernel"`
	Values     string      `json:"values"`
	Dtype      string      `json:"dtype"`
	Parameters spec.Values `json:"parameters"`
	Closing
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
			if err := in.checked(); err != nil {
				return err
			}
			return in.runGraphsKernel(args[0], &f)
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
	group := 0
	plan := func(r *collectionRun) (*needs, error) {
		return r.planKernel(f, o.dense, elementOf(f.dtype), &group)
	}
	r, err := in.readCollection(name, &f.collectionFlags, f.out, plan)
	if err != nil {
		return err
	}
	if err := r.elements(f.kernel, f.given); err != nil {
		return err
	}
	takes, err := r.fit(plan)
	if err != nil {
		return err
	}
	n, ids := len(r.c.Graphs), r.axis()
	shape := fmt.Sprintf("%s × %[1]s %s", formatCount(int64(n)), f.dtype)
	if err := checkSpace(f.out, takes.disk, shape, "take another disk"); err != nil {
		return err
	}
	if err := in.keepTo(takes); err != nil {
		return err
	}
	gram, err := f.kernel.Prepare(in.ctx, r.c, f.given, r.set)
	if err != nil {
		return r.explain(err)
	}
	diagonal := make([]float64, n)
	if f.values == "cosine" {
		if err := gram.DiagonalTo(in.ctx, diagonal); err != nil {
			return r.explain(err)
		}
	}
	stage := in.progress.begin("comparing", int64(n), "graph")
	r.set.Progress = func(rows int) { stage.set(int64(rows), int64(n)) }
	var rows *sparse.Block[float64] // of the group that is written
	err = o.fill(f.dtype, ids, ids, lines{label: r.classNumber(), kernel: true}, func(i int, row []float64) error {
		if i%group == 0 {
			rows = sparse.NewBlock[float64](min(group, n-i), n)
			if err := gram.RowsTo(in.ctx, rows, i); err != nil {
				return r.explain(err)
			}
		}
		copy(row, rows.Row(i%group))
		if f.values == "cosine" {
			graphs.Cosine(row, diagonal, i)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := o.publish(nil, gram.Values); err != nil {
		return err
	}
	d := &graphsKernelDocument{Output: f.out, Graphs: n, Kernel: f.kernel.Name, Values: f.values, Dtype: f.dtype, Parameters: gram.Values}
	for i := range r.c.Graphs {
		d.Nodes += r.c.Graphs[i].Len()
	}
	return in.tell(d, func(w io.Writer) {
		taken := f.kernel.Text(gram.Values)
		if taken != "" {
			taken = ", " + taken
		}
		fmt.Fprintf(w, "%s between %s of %s%s\n", d.Kernel, counted(int64(n), "graph"), counted(int64(d.Nodes), "node"), taken)
		fmt.Fprintf(w, "%s: %s, %s\n", f.out, shape, in.cost())
	}, f.out)
}

// planKernel plans the values of a kernel in groups of rows, of elements of so many bytes
// in the file.
func (r *collectionRun) planKernel(f *graphsKernelFlags, out *denseOutput, element int, group *int) (*needs, error) {
	need, err := r.begin()
	v, wrong := f.kernel.Resolve(f.given, nil)
	if err != nil || wrong != nil {
		return need, errors.Join(err, wrong)
	}
	list, err := r.kernelBytes(f.kernel, v)
	for _, b := range list {
		if err == nil {
			err = need.Reserve(b.Bytes, b.What)
		}
	}
	if err != nil {
		return need, err
	}
	if r.c != nil {
		ids := r.axis()
		need.disk = out.bytes(ids, ids, element) + runFileBytes
		if r.in.estimating {
			need.disk += 2 * ids.Bytes()
		}
	}
	n := r.shape.Graphs
	row := sparse.BlockBytes[float64](1, n) + 4*int64(n) // and what is written of it
	*group = n
	if left, limited := need.Left(); limited {
		*group = int(min(int64(n), max(1, left/row)))
	}
	return need, need.Reserve(int64(*group)*row, "rows of values")
}

// classNumber returns the number of the class of each graph from 1, 0 for none.
func (r *collectionRun) classNumber() func(i int) string {
	names := slices.Compact(slices.Sorted(slices.Values(r.c.Class)))
	return func(i int) string {
		if r.c.Class == nil || r.c.Class[i] == "" {
			return "0"
		}
		at, _ := slices.BinarySearch(names, r.c.Class[i])
		return strconv.Itoa(at + 1)
	}
}
