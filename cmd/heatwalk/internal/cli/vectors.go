package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel/closed"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// vectorFlags are the flags of a table of attributes in place of a graph.
type vectorFlags struct {
	file   string
	config nodefile.AttributeConfig
	kernel *closed.Kernel
	stated spec.Values // its parameters that were given
	values spec.Values // all of them
}

// columnFlags are those that only have a meaning with a table.
var columnFlags = []string{"attributes", "id", "class", "unknown-values"}

// graphOrTable returns a check that a command has a GRAPH unless there is a table or
// another file in its place.
func (in *invocation) graphOrTable(file string) cobra.PositionalArgs {
	n := 1
	if file != "" {
		n = 0
	}
	return in.arguments("GRAPH", n, n)
}

// vectorFlags declares the flags of f, and of the parameters of its kernels those that
// there are not yet.
func (in *invocation) vectorFlags(flags *pflag.FlagSet, f *vectorFlags) {
	flags.StringVar(&f.file, "vectors", "", "`TABLE` of attributes in place of a graph: a record on each line")
	in.variable(flags, "attributes", "COLUMNS", "", "with --vectors: columns of the attributes, numbers or titles (default: all but id and class)", func(s string) (err error) {
		return parseFields(&f.config.Columns, s, 1, 1<<17, "2,3,4 or colour,shape")
	})
	flags.StringVar(&f.config.ID, "id", "", "with --vectors: `COLUMN` of the ids (default: by its title, or the records are numbered from 1)")
	flags.StringVar(&f.config.Class, "class", "", "with --vectors: `COLUMN` of the classes, which is no attribute (default: by its title)")
	tableKernels().params(byDefault).flags(in, flags, "with --vectors, ")
}

// checkNoVectors notes flags that only have a meaning with --vectors, and a kernel of
// tables.
func (in *invocation) checkNoVectors(flags *pflag.FlagSet, name string, others []string) {
	if closed.Kernels().Named(name) != nil {
		in.problem("--kernel", "%s compares the records of a table; give --vectors TABLE in place of a graph", name)
	}
	for _, flag := range append(columnFlags, tableKernels().params(byDefault).names()...) {
		in.refuse(flags, rule{!slices.Contains(others, flag), flag, "makes a difference with --vectors TABLE only; leave it out"})
	}
}

// checkVectors finds the kernel and its parameters, and notes what is wrong with the
// flags of f: of all that were given, those not in takes and no parameters.
func (in *invocation) checkVectors(cmd *cobra.Command, f *vectorFlags, name string, takes []string) {
	if !cmd.Flags().Changed("kernel") {
		name = tableKernels()[0].Name
	}
	if f.kernel = closed.Kernels().Named(name); f.kernel == nil {
		if !in.noted("--kernel") {
			in.problem("--kernel", "%s compares the nodes of a graph; with --vectors give one of %s", name, strings.Join(tableKernels().names(), ", "))
		}
		return
	}
	f.stated, f.values = in.given(cmd.Flags(), &f.kernel.Spec)
	takes = slices.Concat(takes, columnFlags, []string{"vectors", "header", "missing", "kernel", "output", "dtype"})
	in.notTaken(cmd, append(takes, f.kernel.Takes()...), func(flag string) string {
		if slices.Contains(tableKernels().params(byDefault).names(), flag) {
			return name + " has no such parameter; " + itTakes(f.kernel.Takes(), "it takes none")
		}
		return "makes no difference with --vectors; leave it out"
	})
}

// readVectors reads the table.
func (in *invocation) readVectors(f *vectorFlags, header nodefile.Header) (*nodefile.Attributes, error) {
	c := f.config
	c.Text = in.text
	c.Header, c.Missing, c.Stdin, c.Memory, c.Warn = header, in.labelling.Missing, in.stdin, in.dataLimit(), in.warnOf
	a, err := nodefile.ReadAttributes(in.ctx, f.file, &c)
	if err == nil {
		in.noteColumns(f.file, a.Use)
	}
	return a, err
}

// warnNumbers warns of attributes with so many values that they are no categories.
func (in *invocation) warnNumbers(f *vectorFlags, a *nodefile.Attributes) {
	for _, c := range a.Columns {
		if n := len(c.Values); !f.kernel.Texts && n > 20 && n > len(a.IDs)/2 {
			in.warn("%s: %s has %s in %s; if it is a number or a name, leave it out with --attributes", a.File, c.Name,
				words.Counted(n, "value"), words.Counted(len(a.IDs), "record"))
		}
	}
}

// vectorClassified is the JSON document of classify --vectors.
type vectorClassified struct {
	learned
	Nodes            int         `json:"nodes"`
	Kernel           string      `json:"kernel"`
	Attributes       int         `json:"attributes"`
	KernelParameters spec.Values `json:"kernel_parameters"`
	Learner          string      `json:"learner"`
	Parameters       spec.Values `json:"parameters"`
	Settings         int         `json:"settings"`
	Support          int         `json:"support,omitempty"`
}

// checkVectorClassify notes what is wrong with the flags of f together, and finds the
// kernel, the learner and their parameters.
func (in *invocation) checkVectorClassify(cmd *cobra.Command, _ []string, f *classifyFlags) {
	in.checkOutput("-o", f.out, scoreFormats, f.vectors.file, f.labels, f.truth)
	in.checkStdin(f.vectors.file, f.labels, f.truth)
	in.checkScores(cmd.Flags(), f)
	if f.learner == "" {
		f.learner = learners()[0].Name
	}
	takes := []string{"learner", "labels", "label-fields", "unknown-ids", "unknown-values", "scores", "truth"}
	if l := classify.Learners().Named(f.learner); l != nil {
		f.gram.learner = l
		f.gram.stated, _ = in.given(cmd.Flags(), &l.Spec)
		takes = append(takes, l.Takes()...)
	}
	in.checkVectors(cmd, &f.vectors, f.kernel, takes)
}

// runVectorClassify learns from the records with a class and labels the others.
func (in *invocation) runVectorClassify(_ string, f *classifyFlags) error {
	o, err := in.beginProduct(f.out, matrixFormatOf(f.out, scoreFormats))
	if err != nil {
		return err
	}
	a, l, truth, err := in.readRecords(f)
	if err != nil {
		return err
	}
	kernel, learner, columns := f.vectors.kernel, f.gram.learner, f.columns(l)
	given := maps.Clone(f.vectors.stated)
	maps.Copy(given, f.gram.stated)
	all := &ongram.Records{
		Table: a, Labels: l, Kernel: kernel, Learner: learner, Given: given,
		MissingUnknown: f.unknownValues == "missing", Calibrate: f.kind == "probability", RNGSeed: uint64(in.seed), Progress: in.progress.Phases(),
	}
	if err := in.keepData(o.predictionBytes(columns, tablefile.AxisOf(a.IDs)), all.Bytes()); err != nil {
		return err
	}
	r, err := all.Classify(in.ctx)
	if err != nil {
		return learnError(err, a.File)
	}
	in.warnNumbers(&f.vectors, a)
	items := &found{
		ids: tablefile.AxisOf(a.IDs), rawNames: r.ScoreNames,
		raw: func(i int, row []float64) { copy(row, r.Scores.Row(i)) },
		line: func(i int, p *tablefile.Prediction) {
			p.Label, p.Reached = l.Names[r.Class[i]], true
			r.SharesTo(p.Scores, i)
		},
	}
	if err := o.write(items, columns, f.kind != "probability", f.gram.dtype); err != nil {
		return err
	}
	d := &vectorClassified{
		learned: o.learned(l), Nodes: len(a.IDs), Kernel: kernel.Name, Attributes: len(a.Columns), KernelParameters: r.Kernel,
		Learner: learner.Name, Parameters: r.Learner, Settings: r.Choice.Settings,
	}
	d.estimate(r.Choice.Accuracy, r.Choice.Stderr, r.Choice.Tested)
	learned := fmt.Sprintf("%s of %s%s", d.Learner, words.Counted(d.Labelled, "label"), taken(&learner.Spec, r.Learner))
	if d.Support = r.Support; d.Support > 0 {
		learned += " · " + words.Count(d.Support) + " support vectors"
	}
	reached := roaring.New()
	reached.AddRange(0, uint64(d.Nodes))
	d.Truth = in.compare(r.Class, reached, l, truth, "record")
	lines := []string{
		fmt.Sprintf("%s labelled · %s", words.Counted(d.Nodes-d.Labelled, "record"), kernelOf(kernel, r.Kernel, a)),
		learned, d.estimated(), d.Skipped.String(), d.compared(f.truth, "record"),
	}
	if lines[2] != "" {
		lines[2] += ", best of " + words.Counted(d.Settings, "setting")
	}
	if f.labels == "" {
		lines[3] = ""
	}
	return o.finish(d, nil, map[string]spec.Values{kernel.Name: r.Kernel, learner.Name: r.Learner}, lines...)
}

// readRecords reads the table, the labels of its records and, if there are any, the true
// ones.
func (in *invocation) readRecords(f *classifyFlags) (a *nodefile.Attributes, l, truth *nodefile.Labels, err error) {
	if a, err = in.readVectors(&f.vectors, f.config.Header); err != nil {
		return nil, nil, nil, err
	}
	read := func(path string) (*nodefile.Labels, error) {
		return nodefile.ReadLabels(in.ctx, path, a.Records, in.labelConfig(&f.reading, "take such lines out, or pass --unknown-ids=skip to go on"))
	}
	if f.labels != "" {
		l, err = read(f.labels)
	} else if a.Classes == nil {
		err = fault.Usage("--labels", "no column of %s is titled as one of classes; name it with --class, or give --labels FILE", a.File)
	} else {
		l = a.Classes
	}
	if err == nil && f.truth != "" {
		truth, err = read(f.truth)
	}
	if err == nil {
		err = l.Trainable()
	}
	return a, l, truth, err
}

// runVectorKernel writes a block of kernel values between the records of a table.
func (in *invocation) runVectorKernel(f *kernelFlags) error {
	o, err := in.beginProduct(f.out, matrixFormatOf(f.out, denseFormats))
	if err != nil {
		return err
	}
	a, err := in.readVectors(&f.vectors, f.config.Header)
	if err != nil {
		return err
	}
	rows, err := in.recordsOf(f.rows, a)
	if err != nil {
		return err
	}
	cols, err := in.recordsOf(f.cols, a)
	if err != nil {
		return err
	}
	rowAxis, colAxis := axis{N: len(rows), ID: func(i int) string { return a.IDs[rows[i]] }}, axis{N: len(cols), ID: func(i int) string { return a.IDs[cols[i]] }}
	files, err := o.checkMatrix(rowAxis, colAxis, f.dtype, fewerNodes)
	if err != nil {
		return err
	}
	if err := in.keepData(files, a.Bytes+16*int64(len(cols))); err != nil {
		return err
	}
	in.warnNumbers(&f.vectors, a)
	g, err := (&ongram.Records{Table: a, Kernel: f.vectors.kernel}).Gram(f.vectors.values)
	if err != nil {
		return err
	}
	number := classNumbers(a.Classes, len(a.IDs))
	stage := in.progress.Begin("comparing", int64(len(rows)), "row")
	err = o.fill(f.dtype, &tablefile.Matrix{Rows: rowAxis, Cols: colAxis, Kernel: true, Label: func(i int) string { return number(rows[i]) }}, func(i int, row []float64) error {
		stage.Set(int64(i), int64(len(rows)))
		g.PartTo(row, rows[i], cols)
		return nil
	})
	if err != nil {
		return err
	}
	d := &matrixDocument{
		Output: f.out, Rows: len(rows), Cols: len(cols), Dtype: f.dtype, Kernel: f.vectors.kernel.Name,
		Attributes: len(a.Columns), Parameters: f.vectors.values,
	}
	return o.finish(d, nil, f.vectors.values, shapeOf(d.Rows, d.Cols, f.dtype)+" · "+kernelOf(f.vectors.kernel, f.vectors.values, a))
}

// kernelOf names a kernel, its parameters and the attributes.
func kernelOf(k *closed.Kernel, v spec.Values, a *nodefile.Attributes) string {
	return k.Name + " of " + words.Counted(len(a.Columns), "attribute") + taken(&k.Spec, v)
}

// recordsOf reads a list of ids of records; without one, all records.
func (in *invocation) recordsOf(path string, a *nodefile.Attributes) ([]int, error) {
	if path != "" {
		return in.readIDs(path, a.Records)
	}
	all := make([]int, len(a.IDs))
	for i := range all {
		all[i] = i
	}
	return all, nil
}
