package cli

import (
	"fmt"
	"maps"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/kernel/closed"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// recordFlags are the flags of a table of attributes whose records are compared.
type recordFlags struct {
	config nodefile.AttributeConfig
	listed string // the kernel with its parameters
	kernel *closed.Kernel
	given  spec.Values // its parameters that were given
	values spec.Values // all of them
}

func newRecords(in *invocation) *cobra.Command {
	return in.newGroup("records", "Kernels between the records of a table, and their classes", newRecordsKernel(in), newRecordsClassify(in))
}

// recordFlags declares the flags of f.
func (in *invocation) recordFlags(flags *pflag.FlagSet, f *recordFlags) {
	flags.StringVar(&f.listed, "kernel", tableKernels()[0].Name, "`SPEC` of the kernel, as in hypercube:beta=0.5; see heatwalk methods")
	in.variable(flags, "attributes", "COLUMNS", "", "columns of the attributes, numbers or titles (default: all but id and class)", func(s string) (err error) {
		return parseFields(&f.config.Columns, s, 1, 1<<17, "2,3,4 or colour,shape")
	})
	flags.StringVar(&f.config.ID, "id", "", "`COLUMN` of the ids (default: by its title, or the records are numbered from 1)")
	flags.StringVar(&f.config.Class, "class", "", "`COLUMN` of the classes, which is no attribute (default: by its title)")
	enumVar(in, flags, &f.config.Header, "header", "auto", []string{"auto", "yes", "no"},
		[]nodefile.Header{nodefile.AutoHeader, nodefile.HasHeader, nodefile.NoHeader}, "whether the first line is a header")
}

// checkRecords finds the kernel and its parameters.
func (in *invocation) checkRecords(f *recordFlags) {
	if of, n := in.parseNamed("--kernel", f.listed, tableKernels()); of != nil {
		f.kernel = closed.Kernels().Named(n.Name)
		f.given, f.values = in.given("--kernel", n.Given, of)
	}
}

// recordsKernelFlags are the flags of records kernel.
type recordsKernelFlags struct {
	recordFlags
	denseFlags
}

func newRecordsKernel(in *invocation) *cobra.Command {
	var f recordsKernelFlags
	cmd := in.newCommand("kernel TABLE --kernel SPEC -o K.npy", in.arguments("TABLE", 1, 1), "Kernel values between records",
		func(_ *cobra.Command, args []string) {
			in.checkOutput("-o", f.out, denseFormats, append(args, f.rows, f.cols)...)
			in.checkStdin(append(args, f.rows, f.cols)...)
			in.checkRecords(&f.recordFlags)
		}, func(args []string) error { return in.runRecordsKernel(args[0], &f) })
	flags := cmd.Flags()
	in.denseFlags(flags, &f.denseFlags)
	in.recordFlags(flags, &f.recordFlags)
	in.missingFlag(flags)
	return cmd
}

// recordsClassifyFlags are the flags of records classify.
type recordsClassifyFlags struct {
	recordFlags
	learnerFlags
	out           string
	labels, truth string
	scores        scoreFlags
	unknown       ingest.UnknownIDs
	unknownValues string // error or missing
}

func newRecordsClassify(in *invocation) *cobra.Command {
	var f recordsClassifyFlags
	cmd := in.newCommand("classify TABLE -o OUT.tsv", in.arguments("TABLE", 1, 1), "Predict the class of every record from those of some",
		func(cmd *cobra.Command, args []string) {
			in.checkOutput("-o", f.out, scoreFormats, append(args, f.labels, f.truth)...)
			in.checkStdin(append(args, f.labels, f.truth)...)
			in.checkScores(cmd.Flags(), f.out, &f.scores, true)
			in.checkRecords(&f.recordFlags)
			in.checkLearner(&f.learnerFlags)
		}, func(args []string) error { return in.runRecordsClassify(args[0], &f) })
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "-", "`FILE` of predictions: .tsv, .csv, .jsonl or .parquet, .npy or .npz for scores alone; - is stdout")
	in.recordFlags(flags, &f.recordFlags)
	in.learnerFlag(flags, &f.learnerFlags, learners()[0].Name)
	in.labelFlags(flags, &f.labels, "`FILE` of record and class, one pair a line (default: a column of TABLE)")
	in.scoreFlags(flags, &f.scores)
	in.choiceVar(flags, &f.unknownValues, "unknown-values", "error", []string{"error", "missing"}, "values that no record with a class has")
	in.unknownIDsFlag(flags, &f.unknown)
	flags.StringVar(&f.truth, "truth", "", "`FILE` of true classes to score the predictions with")
	return cmd
}

// readTable reads the table.
func (in *invocation) readTable(path string, f *recordFlags) (*nodefile.Attributes, error) {
	c := f.config
	c.Text = in.text
	c.Missing, c.Stdin, c.Memory, c.Warn = in.labelling.Missing, in.stdin, in.dataLimit(), in.warnOf
	a, err := nodefile.ReadAttributes(in.ctx, path, &c)
	if err == nil {
		in.noteColumns(path, a.Use)
	}
	return a, err
}

// warnNumbers warns of attributes with so many values that they are no categories.
func (in *invocation) warnNumbers(f *recordFlags, a *nodefile.Attributes) {
	for _, c := range a.Columns {
		if n := len(c.Values); !f.kernel.Texts && n > 20 && n > len(a.IDs)/2 {
			in.warn("%s: %s has %s in %s; if it is a number or a name, leave it out with --attributes", a.File, c.Name,
				words.Counted(n, "value"), words.Counted(len(a.IDs), "record"))
		}
	}
}

// recordsClassified is the JSON document of records classify.
type recordsClassified struct {
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

// runRecordsClassify learns from the records with a class and labels the others.
func (in *invocation) runRecordsClassify(path string, f *recordsClassifyFlags) error {
	o, err := in.beginProduct(f.out, matrixFormatOf(f.out, scoreFormats))
	if err != nil {
		return err
	}
	a, l, truth, err := in.readRecords(path, f)
	if err != nil {
		return err
	}
	kernel, learner := f.kernel, f.learner
	columns := tablefile.Columns{Classes: l.Names, Top: f.scores.top}
	given := maps.Clone(f.recordFlags.given)
	maps.Copy(given, f.learnerFlags.given)
	all := &ongram.Records{
		Table: a, Labels: l, Kernel: kernel, Learner: learner, Given: given,
		MissingUnknown: f.unknownValues == "missing", Calibrate: f.scores.kind == "probability", RNGSeed: uint64(in.seed), Progress: in.progress.Phases(),
	}
	if err := in.keepData(o.predictionBytes(columns, tablefile.AxisOf(a.IDs)), all.Bytes()); err != nil {
		return err
	}
	r, err := all.Classify(in.ctx)
	if err != nil {
		return learnError(err, a.File)
	}
	in.warnNumbers(&f.recordFlags, a)
	items := &found{
		ids: tablefile.AxisOf(a.IDs), rawNames: r.ScoreNames,
		raw: func(i int, row []float64) { copy(row, r.Scores.Row(i)) },
		line: func(i int, p *tablefile.Prediction) {
			p.Label, p.Reached = l.Names[r.Class[i]], true
			r.SharesTo(p.Scores, i)
		},
	}
	if err := o.write(items, columns, f.scores.kind != "probability", f.scores.dtype); err != nil {
		return err
	}
	d := &recordsClassified{
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
func (in *invocation) readRecords(file string, f *recordsClassifyFlags) (a *nodefile.Attributes, l, truth *nodefile.Labels, err error) {
	if a, err = in.readTable(file, &f.recordFlags); err != nil {
		return nil, nil, nil, err
	}
	read := func(path string) (*nodefile.Labels, error) {
		return nodefile.ReadLabels(in.ctx, path, a.Records, in.labelConfig(f.unknown, "remove such lines, or skip unknown ids with --unknown-ids=skip"))
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

// runRecordsKernel writes a block of kernel values between the records of a table.
func (in *invocation) runRecordsKernel(path string, f *recordsKernelFlags) error {
	o, err := in.beginProduct(f.out, matrixFormatOf(f.out, denseFormats))
	if err != nil {
		return err
	}
	a, err := in.readTable(path, &f.recordFlags)
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
	in.warnNumbers(&f.recordFlags, a)
	g, err := (&ongram.Records{Table: a, Kernel: f.kernel}).Gram(f.values)
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
		Output: f.out, Rows: len(rows), Cols: len(cols), Dtype: f.dtype, Kernel: f.kernel.Name,
		Attributes: len(a.Columns), Parameters: f.values,
	}
	return o.finish(d, nil, f.values, shapeOf(d.Rows, d.Cols, f.dtype)+" · "+kernelOf(f.kernel, f.values, a))
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
