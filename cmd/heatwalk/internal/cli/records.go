package cli

import (
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/kernel/closed"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// recordInputs are the flags of a table of attributes whose records are compared.
type recordInputs struct {
	tables     inputs
	config     nodefile.AttributeConfig
	listed     string // value of --kernel
	kernel     *closed.Kernel
	userValues param.Values // given values of the parameters
	values     param.Values // given values and defaults
}

func newRecords(run *session) *cobra.Command {
	return newGroup(run, "records", "Kernels between the records of a table, and their classes", newRecordsKernel(run), newRecordsClassify(run), newRecordsEvaluate(run))
}

// recordFlags declares the flags of the kernel and of the table.
func recordFlags(run *session, f *recordInputs, flags *pflag.FlagSet) {
	flags.StringVar(&f.listed, "kernel", tableKernels()[0].Name, "`SPEC` of the kernel, as in hypercube:beta=0.5; see heatwalk methods")
	tableFlags(run, f, flags)
	addCheck(run, flags, func(*cobra.Command, []string) {
		if spec, n := parseNamed(run, "--kernel", f.listed, tableKernels()); spec != nil {
			f.kernel = closed.Kernels().Named(n.Name)
			f.userValues, f.values = parseGiven(run, "--kernel", n.Given, spec)
		}
	})
}

// tableFlags declares the flags for reading the table.
func tableFlags(run *session, f *recordInputs, flags *pflag.FlagSet) {
	variable(run, flags, "attributes", "COLUMNS", "", "columns of the attributes, numbers or titles (default: all but id and class)", func(s string) (err error) {
		return parseFields(&f.config.Columns, s, 1, 1<<17, "2,3,4 or colour,shape")
	})
	flags.StringVar(&f.config.ID, "id", "", "`COLUMN` of the ids (default: by its title, or the records are numbered from 1)")
	flags.StringVar(&f.config.Class, "class", "", "`COLUMN` of the classes, which is no attribute (default: by its title)")
	enumVar(run, flags, &f.config.Header, "header", "auto", []string{"auto", "yes", "no"},
		[]nodefile.Header{nodefile.AutoHeader, nodefile.HasHeader, nodefile.NoHeader}, "whether the first line is a header")
}

// recordsKernelOptions are the options of records kernel.
type recordsKernelOptions struct {
	records recordInputs
	block   denseFlags
}

func newRecordsKernel(run *session) *cobra.Command {
	cmd, c := newCommand(run, "kernel TABLE --kernel SPEC -o K.npy", "Kernel values between records", nil, runRecordsKernel)
	c.block.declare(run, cmd.Flags())
	recordFlags(run, &c.records, cmd.Flags())
	missingFlag(run, &c.records.tables, cmd.Flags())
	return cmd
}

// recordsClassifyOptions are the options of records classify.
type recordsClassifyOptions struct {
	records       recordInputs
	learning      learnerFlags
	out           string
	labels, truth string
	scores        scoreFlags
	unknown       ingest.UnknownIDs
	unknownValues string // error or missing
}

func newRecordsClassify(run *session) *cobra.Command {
	cmd, c := newCommand(run, "classify TABLE -o OUT.tsv", "Predict the class of every record from those of some", nil, runRecordsClassify)
	flags := cmd.Flags()
	outputFlag(flags, &c.out, "output", "-", predictionUsage, scoreFormats)
	recordFlags(run, &c.records, flags)
	c.learning.declare(run, flags, learners()[0].Name)
	labelFlags(run, &c.records.tables, flags, &c.labels, "`FILE` of record and class, one pair a line (default: a column of TABLE)")
	c.scores.declare(run, flags, true)
	choiceVar(run, flags, &c.unknownValues, "unknown-values", "error", []string{"error", "missing"}, "values that no record with a class has")
	unknownIDsFlag(run, flags, &c.unknown)
	flags.StringVar(&c.truth, "truth", "", "`FILE` of true classes to score the predictions with")
	return cmd
}

// readTable reads the table.
func readTable(run *session, f *recordInputs, path string) (*nodefile.Attributes, error) {
	c := f.config
	c.Text = f.tables.text
	c.Missing, c.Stdin, c.Memory, c.Warn = f.tables.labelling.Missing, run.stdin, run.dataLimit(), run.warnOf
	a, err := nodefile.ReadAttributes(run.ctx, path, &c)
	if err == nil {
		noteColumns(run, path, a.Use)
	}
	return a, err
}

// warnNumbers warns about attributes with too many values to be categories.
func warnNumbers(run *session, f *recordInputs, k *closed.Kernel, a *nodefile.Attributes) {
	for _, c := range a.Columns {
		if n := len(c.Values); !k.Texts && n > 20 && n > len(a.IDs)/2 {
			run.warn("%s: %s has %s in %s; if it is a number or a name, leave it out with --attributes", a.File, c.Name,
				words.Counted(n, "value"), words.Counted(len(a.IDs), "record"))
		}
	}
}

// recordsClassifyDocument is the JSON document of records classify.
type recordsClassifyDocument struct {
	labelsDocument
	Nodes            int          `json:"nodes"`
	Kernel           string       `json:"kernel"`
	Attributes       int          `json:"attributes"`
	KernelParameters param.Values `json:"kernel_parameters"`
	Learner          string       `json:"learner"`
	Parameters       param.Values `json:"parameters"`
	Settings         int          `json:"settings"`
	Support          int          `json:"support,omitempty"`
	Closing
}

// runRecordsClassify learns from the records with a class and labels the others.
func runRecordsClassify(run *session, c *recordsClassifyOptions, path string) error {
	o, err := beginOutputs(run, c.out, matrixFormatOf(c.out, scoreFormats))
	if err != nil {
		return err
	}
	a, l, truth, err := readRecords(run, c, path)
	if err != nil {
		return err
	}
	kernel, learner := c.records.kernel, c.learning.learner
	columns := tablefile.Columns{Classes: l.Names, Top: c.scores.top}
	values := maps.Clone(c.records.userValues)
	maps.Copy(values, c.learning.userValues)
	job := &ongram.Records{
		Table: a, Labels: l, Kernel: kernel, Learner: learner, Given: values,
		MissingUnknown: c.unknownValues == "missing", Calibrate: c.scores.kind == "probability", RNGSeed: uint64(run.seed), Progress: run.progress.Phases(),
	}
	if err := keepData(run, predictionBytes(o, columns, tablefile.AxisOf(a.IDs)), job.Bytes()); err != nil {
		return err
	}
	r, err := job.Classify(run.ctx)
	if err != nil {
		return learnError(err, a.File)
	}
	warnNumbers(run, &c.records, c.records.kernel, a)
	isKnown := labelled(l, len(a.IDs))
	items := &predictionRows{
		ids: tablefile.AxisOf(a.IDs), rawNames: r.ScoreNames,
		raw: func(i int, row []float64) { copy(row, r.Scores.Row(i)) },
		line: func(i int, p *tablefile.Prediction) {
			p.Label, p.Reached, p.Known = l.Names[r.Class[i]], true, isKnown[i]
			r.SharesTo(p.Scores, i)
		},
	}
	if err := writePredictions(o, items, columns, c.scores.kind != "probability", c.scores.dtype); err != nil {
		return err
	}
	d := &recordsClassifyDocument{
		labelsDocument: learnedFrom(o, l), Nodes: len(a.IDs), Kernel: kernel.Name, Attributes: len(a.Columns), KernelParameters: r.Kernel,
		Learner: learner.Name, Parameters: r.Learner, Settings: r.Choice.Settings,
	}
	d.estimate(r.Choice.Accuracy, r.Choice.Stderr, r.Choice.Tested)
	learned := fmt.Sprintf("%s of %s%s", d.Learner, words.Counted(d.Labelled, "label"), parameterText(&learner.Spec, r.Learner))
	if d.Support = r.Support; d.Support > 0 {
		learned += " · " + words.Count(d.Support) + " support vectors"
	}
	reached := roaring.New()
	reached.AddRange(0, uint64(d.Nodes))
	d.Truth = compareTruth(run, r.Class, reached, l, truth, "record")
	lines := []string{
		fmt.Sprintf("%s labelled · %s", words.Counted(d.Nodes-d.Labelled, "record"), kernelOf(kernel, r.Kernel, a)),
		learned, d.estimated(), d.Skipped.String(), d.compared(c.truth, "record"),
	}
	if lines[2] != "" {
		lines[2] += ", best of " + words.Counted(d.Settings, "setting")
	}
	if c.labels == "" {
		lines[3] = ""
	}
	return o.finish(d, nil, map[string]param.Values{kernel.Name: r.Kernel, learner.Name: r.Learner}, lines...)
}

// readRecords reads the table, the labels of its records, and the true labels if they are given.
func readRecords(run *session, c *recordsClassifyOptions, file string) (a *nodefile.Attributes, l, truth *nodefile.Labels, err error) {
	if a, err = readTable(run, &c.records, file); err != nil {
		return nil, nil, nil, err
	}
	l, err = readClasses(run, &c.records, a, c.labels, c.unknown)
	if err == nil && c.truth != "" {
		truth, err = readClasses(run, &c.records, a, c.truth, c.unknown)
	}
	if err == nil {
		err = l.Trainable()
	}
	return a, l, truth, err
}

// runRecordsKernel writes a block of kernel values between the records of a table.
func runRecordsKernel(run *session, c *recordsKernelOptions, path string) error {
	o, err := beginOutputs(run, c.block.out, matrixFormatOf(c.block.out, denseFormats))
	if err != nil {
		return err
	}
	a, err := readTable(run, &c.records, path)
	if err != nil {
		return err
	}
	rows, err := recordsOf(run, &c.records.tables, c.block.rows, a)
	if err != nil {
		return err
	}
	cols, err := recordsOf(run, &c.records.tables, c.block.cols, a)
	if err != nil {
		return err
	}
	rowAxis, colAxis := axis{N: len(rows), ID: func(i int) string { return a.IDs[rows[i]] }}, axis{N: len(cols), ID: func(i int) string { return a.IDs[cols[i]] }}
	files, err := checkMatrix(o, rowAxis, colAxis, c.block.dtype, fewerNodes)
	if err != nil {
		return err
	}
	if err := keepData(run, files, a.Bytes+16*int64(len(cols))); err != nil {
		return err
	}
	warnNumbers(run, &c.records, c.records.kernel, a)
	g, err := (&ongram.Records{Table: a, Kernel: c.records.kernel}).Gram(c.records.values)
	if err != nil {
		return err
	}
	number := classNumbers(a.Classes, len(a.IDs))
	stage := run.progress.Begin("comparing", int64(len(rows)), "row")
	err = fillMatrix(o, c.block.dtype, &tablefile.Matrix{Rows: rowAxis, Cols: colAxis, Kernel: true, Label: func(i int) string { return number(rows[i]) }}, func(i int, row []float64) error {
		stage.Set(int64(i), int64(len(rows)))
		g.PartTo(row, rows[i], cols)
		return nil
	})
	if err != nil {
		return err
	}
	d := &closedMatrix{matrixDocument: matrixDocument{
		Output: c.block.out, Rows: len(rows), Cols: len(cols), Dtype: c.block.dtype, Kernel: c.records.kernel.Name,
		Attributes: len(a.Columns), Parameters: c.records.values,
	}}
	return o.finish(d, nil, c.records.values, shapeOf(d.Rows, d.Cols, c.block.dtype)+" · "+kernelOf(c.records.kernel, c.records.values, a))
}

// kernelOf returns the kernel, its parameters and the number of attributes as text.
func kernelOf(k *closed.Kernel, v param.Values, a *nodefile.Attributes) string {
	return k.Name + " of " + words.Counted(len(a.Columns), "attribute") + parameterText(&k.Spec, v)
}

// recordsOf reads a list of ids of records; without one, all records.
func recordsOf(run *session, in *inputs, path string, a *nodefile.Attributes) ([]int, error) {
	if path != "" {
		return readIDs(run, in, path, a.Records)
	}
	records := make([]int, len(a.IDs))
	for i := range records {
		records[i] = i
	}
	return records, nil
}

// recordsEvaluateOptions compares kernels and learners on splits of the records of a table.
type recordsEvaluateOptions struct {
	records                   recordInputs
	splitting                 splitFlags
	labels                    string
	kernelNames, learnerNames string // lists, with parameters
	kernels                   []*closed.Kernel
	learners                  []*classify.Learner
	userValues                param.Values
	unknown                   ingest.UnknownIDs
}

func newRecordsEvaluate(run *session) *cobra.Command {
	cmd, c := newCommand(run, "evaluate TABLE [--learner A,B …]", "Kernels and learners compared on splits of the records with a class", checkRecordsEvaluate, runRecordsEvaluate)
	c.splitting = splitFlags{noun: "record", splits: 10}
	flags := cmd.Flags()
	flags.StringVar(&c.kernelNames, "kernel", tableKernels()[0].Name, "`LIST` of kernels joined by commas, with parameters as in hypercube:beta=0.5; see heatwalk methods")
	flags.StringVar(&c.learnerNames, "learner", learners()[0].Name, "`LIST` of learners joined by commas, with parameters as in svm:cost=10")
	labelFlags(run, &c.records.tables, flags, &c.labels, "`FILE` of record and class, one pair a line (default: a column of TABLE)")
	c.splitting.declare(run, flags)
	tableFlags(run, &c.records, flags)
	unknownIDsFlag(run, flags, &c.unknown)
	flags.SortFlags = false
	return cmd
}

// checkRecordsEvaluate finds the kernels and the learners, and records problems of the flags.
func checkRecordsEvaluate(run *session, c *recordsEvaluateOptions, _ *cobra.Command, _ []string) {
	c.userValues = param.Values{}
	c.kernels = namedList(run, "--kernel", c.kernelNames, closed.Kernels(), c.userValues)
	c.learners = namedList(run, "--learner", c.learnerNames, classify.Learners(), c.userValues)
}

// runRecordsEvaluate compares every kernel with every learner.
func runRecordsEvaluate(run *session, c *recordsEvaluateOptions, path string) error {
	o, err := beginOutputs(run, c.splitting.report, nil)
	if err != nil {
		return err
	}
	table, err := readTable(run, &c.records, path)
	if err != nil {
		return err
	}
	l, err := readClasses(run, &c.records, table, c.labels, c.unknown)
	if err == nil {
		err = l.Trainable()
	}
	if err != nil {
		return err
	}
	problem := &method.Problem{Items: len(table.IDs), Row: l.Row, Class: l.Class, Names: l.Names}
	plan := &evaluate.Plan{
		Settings: &method.Settings{Given: c.userValues, RNGSeed: uint64(run.seed), Workers: run.threads},
		Data:     ongram.TableSum(table), Progress: run.progress.Showing("evaluating", "split"),
	}
	for _, k := range c.kernels {
		warnNumbers(run, &c.records, k, table)
		for _, learner := range c.learners {
			plan.Methods = append(plan.Methods, method.Entry{Method: ongram.TableMethod(table, k, learner)})
		}
	}
	nodes, err := shard.StringNodes(slices.Values(table.IDs))
	if err != nil {
		return err
	}
	run.disk = runFileBytes
	if err := beginWith(run, ongram.TableBytes(table, l, c.learners, runtime.GOMAXPROCS(0)), "table and learners"); err != nil {
		return err
	}
	report, err := runPlan(run, o, &c.splitting, &c.records.tables, plan, nodes, l, func() (*evaluate.Report, error) { return evaluate.Run(run.ctx, problem, plan) })
	if err != nil {
		return learnError(err, table.File)
	}
	return publishPlanned(o, &evaluateDocument{Report: report, Graph: path, Skipped: skippedOf(l)}, nil)
}

// readClasses reads the classes of records from a file, or takes those of the table if path is "".
func readClasses(run *session, f *recordInputs, a *nodefile.Attributes, path string, unknown ingest.UnknownIDs) (*nodefile.Labels, error) {
	l := a.Classes
	if path != "" {
		var err error
		if l, err = nodefile.ReadLabels(run.ctx, path, a.Records, labelConfig(run, &f.tables, unknown, "remove such lines, or skip unknown ids with --unknown-ids=skip")); err != nil {
			return nil, err
		}
	}
	if l == nil {
		return nil, fault.Usage("--labels", "no column of %s is titled as one of classes; name it with --class, or give --labels FILE", a.File)
	}
	noteClasses(run, l.File, l)
	return l, nil
}
