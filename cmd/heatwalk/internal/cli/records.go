package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/papers/closed"
	"github.com/heatwalk/heatwalk/papers/ongram"
)

// recordsOptions are the options of the commands on the records of a table.
type recordsOptions struct {
	items  itemFlags
	config nodefile.AttributeConfig
	block  denseFlags
	scores scoreFlags
	truth  string
}

func newRecords(run *session) *cobra.Command {
	return newGroup(run, "records",
		"Kernels between the records of a table, and their classes",
		newRecordsKernel(run), newRecordsClassify(run), newRecordsEvaluate(run))
}

func newRecordsKernel(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run, "kernel TABLE --kernel SPEC -o K.npy",
		"Kernel values between records", nil, runRecordsKernel)
	c.block.declare(flags)
	recordsFlags(c, flags, false)
	return cmd
}

func newRecordsClassify(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run, "classify TABLE -o OUT.tsv",
		"Predict the class of every record from those of some", nil,
		runRecordsClassify)
	outputFlag(flags, &c.items.out, "output", "-", predictionUsage, scoreFormats)
	recordsFlags(c, flags, true)
	c.scores.declare(flags, true)
	flags.addText(&c.truth, "truth", "`FILE` of true classes to score the predictions with")
	return cmd
}

func newRecordsEvaluate(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run, "evaluate TABLE [--learner A,B …]",
		"Kernels and learners compared on splits of the records with a class", nil,
		runRecordsEvaluate)
	c.items.splitting = splitFlags{noun: "record", splits: 10}
	recordsFlags(c, flags, true)
	c.items.splitting.declare(flags)
	flags.SortFlags = false
	return cmd
}

// recordsFlags declares the flags of the table, the kernel and, if a command learns, of learners and classes.
func recordsFlags(c *recordsOptions, flags *flagSet, learns bool) {
	f := &c.items
	f.declare(flags, tableKernels(), tableKernels()[0].Name,
		"hypercube:beta=0.5", learns)
	variable(flags, "attributes", "COLUMNS", "", "columns of the attributes, numbers or titles (default: all but id and class)", func(s string) (err error) {
		return parseFields(&c.config.Columns, s, 1, 1<<17, "2,3,4 or colour,shape")
	})
	flags.addText(&c.config.ID, "id", "`COLUMN` of the ids (default: by its title, or the records are numbered from 1)")
	flags.addText(&c.config.Class, "class", "`COLUMN` of the classes, which is no attribute (default: by its title)")
	headerFlag(flags, &c.config.Header)
	if missingFlag(&f.tables, flags); learns {
		labelFlags(&f.tables, flags, &f.labels, "`FILE` of record and class, one pair a line (default: a column of TABLE)")
		unknownIDsFlag(flags, &f.tables, labelLines)
	}
}

// readTable reads the table. It warns about attributes with too many values to be categories.
func readTable(run *session, c *recordsOptions,
	path string) (*nodefile.Attributes, error) {
	config := c.config
	config.Text = c.items.tables.text
	config.Missing, config.Stdin, config.Memory, config.Warn = c.items.tables.labelling.Missing, run.console.stdin, run.costs.dataLimit(), run.console.warnOf
	a, err := nodefile.ReadAttributes(run.ctx, path, &config)
	if err != nil {
		return nil, err
	}
	noteColumns(run.console, path, a.Use)
	for _, column := range a.Columns {
		if n := len(column.Values); !hasTexts(c) && n > 20 && n > len(a.IDs)/2 {
			run.console.warn("%s: %s has %s in %s; if it is a number or a name, leave it out with --attributes", a.File, column.Name,
				words.Counted(n, "value"), words.Counted(len(a.IDs), "record"))
		}
	}
	return a, nil
}

// hasTexts reports whether the first kernel takes texts in place of categories.
func hasTexts(c *recordsOptions) bool {
	return closed.Kernels().Named(c.items.kernels[0].Name).Texts
}

// beginRecords begins a run that learns: it reads the table and the classes of its records.
func beginRecords(run *session, c *recordsOptions, name, out string,
	formats []string) (*itemRun, *nodefile.Attributes, error) {
	o, err := beginOutputs(run, out, formats)
	if err != nil {
		return nil, nil, err
	}
	a, err := readTable(run, c, name)
	if err != nil {
		return nil, nil, err
	}
	l, err := readClasses(run, c, a, c.items.labels, nil)
	if err == nil {
		err = l.Trainable()
	}
	r := &itemRun{
		out: o, f: &c.items, name: name, noun: "record", ids: a.IDs, l: l,
		explain:  func(err error) error { return learnError(err, a.File) },
		document: itemsDocument{Nodes: len(a.IDs), Attributes: len(a.Columns)},
	}
	for _, k := range c.items.kernels {
		for _, learner := range c.items.learners {
			r.sources = append(r.sources,
				ongram.TableSource(a, closed.Kernels().Named(k.Name), learner))
		}
	}
	return r, a, err
}

// runRecordsClassify learns from the records with a class and labels the others.
func runRecordsClassify(run *session, c *recordsOptions, name string) error {
	r, a, err := beginRecords(run, c, name, c.items.out, scoreFormats)
	if err != nil {
		return err
	}
	var truth *nodefile.Labels
	if c.truth != "" {
		if truth, err = readClasses(run, c, a, c.truth, r.l); err != nil {
			return err
		}
	}
	files := predictionBytes(r.out,
		tablefile.Columns{Classes: r.l.Names, Top: c.scores.top},
		tablefile.AxisOf(a.IDs))
	if err := keepData(run.costs, files, ongram.TableBytes(a, r.l, c.items.learners,
		1)); err != nil {
		return err
	}
	if _, unknown := ongram.Restrict(a.Columns, r.l.Row); unknown > 0 && !hasTexts(c) {
		run.console.warn("%s: %s that no record with a class has count as missing", a.File,
			words.Counted(unknown, "value"))
	}
	r.sources[0].Calibrate = c.scores.kind == "probability"
	return r.classify(c.scores, truth, c.truth)
}

// runRecordsEvaluate compares every kernel with every learner.
func runRecordsEvaluate(run *session, c *recordsOptions, name string) error {
	r, a, err := beginRecords(run, c, name, c.items.splitting.report, nil)
	if err == nil {
		err = keepData(run.costs, runFileBytes,
			ongram.TableBytes(a, r.l, c.items.learners, runtime.GOMAXPROCS(0)))
	}
	if err != nil {
		return err
	}
	return r.evaluate()
}

// runRecordsKernel writes a block of kernel values between the records of a table.
func runRecordsKernel(run *session, c *recordsOptions, path string) error {
	o, err := beginOutputs(run, c.block.out, denseFormats)
	if err != nil {
		return err
	}
	a, err := readTable(run, c, path)
	if err != nil {
		return err
	}
	rows, err := recordsOf(run, &c.items.tables, c.block.rows, a)
	if err != nil {
		return err
	}
	cols, err := recordsOf(run, &c.items.tables, c.block.cols, a)
	if err != nil {
		return err
	}
	rowAxis := axis{N: len(rows), ID: func(i int) string { return a.IDs[rows[i]] }}
	colAxis := axis{N: len(cols), ID: func(i int) string { return a.IDs[cols[i]] }}
	files, err := checkMatrix(o, rowAxis, colAxis, c.block.dtype, fewerNodes)
	if err == nil {
		err = keepData(run.costs, files, a.Bytes+16*int64(len(cols)))
	}
	if err != nil {
		return err
	}
	kernel := closed.Kernels().Named(c.items.kernels[0].Name)
	values, err := kernel.Resolve(c.items.userValues, nil)
	if err != nil {
		return err
	}
	g, err := ongram.TableGram(a, kernel, values)
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
		Output: c.block.out, Rows: len(rows), Cols: len(cols), Dtype: c.block.dtype,
		Kernel: kernel.Name, Attributes: len(a.Columns), Parameters: values,
	}}
	return o.finish(d, values,
		shapeOf(d.Rows, d.Cols, c.block.dtype)+" · "+kernel.Name+" of "+
			words.Counted(d.Attributes, "attribute")+
			parameterText(&kernel.Spec, values))
}

// recordsOf reads a list of ids of records; without one, all records.
func recordsOf(run *session, in *inputs, path string,
	a *nodefile.Attributes) ([]int, error) {
	if path != "" {
		return readIDs(run, in, path, a.Records)
	}
	return sched.UpTo(len(a.IDs)), nil
}

// readClasses reads the classes of records from a file, in the columns of other classes if it has these, or takes those of
// the table if path is "".
func readClasses(run *session, c *recordsOptions, a *nodefile.Attributes,
	path string, like *nodefile.Labels) (*nodefile.Labels, error) {
	l := a.Classes
	if path != "" {
		config := labelConfig(run.console, &c.items.tables,
			"remove such lines, or skip unknown ids with --unknown-ids=skip")
		config.Like = like
		var err error
		if l, err = nodefile.ReadLabels(run.ctx, path, a.Records, config); err != nil {
			return nil, err
		}
	}
	if l == nil {
		return nil, fault.Usage("--labels",
			"no column of %s is titled as one of classes; name it with --class, or give --labels FILE", a.File)
	}
	noteClasses(run.console, l.File, l)
	return l, nil
}
