package cli

import (
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/kernel/closed"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/param"
)

// recordsEvaluateCommand compares kernels and learners on splits of the records of a table.
type recordsEvaluateCommand struct {
	recordInputs
	splitFlags
	labels                    string
	kernelNames, learnerNames string // lists, with parameters
	kernels                   []*closed.Kernel
	learners                  []*classify.Learner
	userValues                param.Values
	unknown                   ingest.UnknownIDs
}

func newRecordsEvaluate(run *session) *cobra.Command {
	c := &recordsEvaluateCommand{recordInputs: newRecordInputs(run), splitFlags: splitFlags{noun: "record", splits: 10}}
	cmd := run.newCommand("evaluate TABLE [--learner A,B …]", arguments(run, "TABLE", 1, 1),
		"Kernels and learners compared on splits of the records with a class",
		func(cmd *cobra.Command, args []string) { c.check(cmd.Flags(), args) },
		func(args []string) error { return c.run(args[0]) })
	flags := cmd.Flags()
	flags.StringVar(&c.kernelNames, "kernel", tableKernels()[0].Name, "`LIST` of kernels joined by commas, with parameters as in hypercube:beta=0.5; see heatwalk methods")
	flags.StringVar(&c.learnerNames, "learner", learners()[0].Name, "`LIST` of learners joined by commas, with parameters as in svm:cost=10")
	c.labelFlags(flags, &c.labels, "`FILE` of record and class, one pair a line (default: a column of TABLE)")
	c.splitFlags.declare(run, flags)
	c.declareTable(flags)
	unknownIDsFlag(run, flags, &c.unknown)
	flags.SortFlags = false
	return cmd
}

// check finds the kernels and the learners, and notes mistakes in the flags.
func (c *recordsEvaluateCommand) check(flags *pflag.FlagSet, args []string) {
	inputs := append(args, c.labels, c.split)
	checkStdin(c.session, inputs...)
	c.splitFlags.check(c.session, flags, inputs...)
	c.userValues = param.Values{}
	for _, s := range namedList(c.session, "--kernel", c.kernelNames, tableKernels(), c.userValues) {
		c.kernels = append(c.kernels, closed.Kernels().Named(s.Name))
	}
	for _, s := range namedList(c.session, "--learner", c.learnerNames, learners(), c.userValues) {
		c.learners = append(c.learners, classify.Learners().Named(s.Name))
	}
}

// run compares every kernel with every learner.
func (c *recordsEvaluateCommand) run(path string) error {
	o, err := beginOutputs(c.session, c.report, nil)
	if err != nil {
		return err
	}
	table, err := c.read(path)
	if err != nil {
		return err
	}
	l, err := c.readClasses(table, c.labels, c.unknown)
	if err == nil {
		err = l.Trainable()
	}
	if err != nil {
		return err
	}
	problem, err := ongram.TableProblem(table, l.Row, l.Class, l.Names)
	if err != nil {
		return err
	}
	show := c.session.progress.Showing("evaluating", "split")
	plan := &evaluate.Plan{
		Settings: &method.Settings{Given: c.userValues, RNGSeed: uint64(c.session.seed), Workers: c.session.threads},
		Data:     ongram.TableSum(table), Progress: ofAllMethods(show),
	}
	for _, k := range c.kernels {
		c.warnNumbers(k, table)
		for _, learner := range c.learners {
			plan.Methods = append(plan.Methods, method.Entry{Method: ongram.TableMethod(table, k, learner)})
		}
	}
	nodes := recordIDs{table}
	if err := c.splitFlags.planTo(&c.inputs, plan, nodes, l); err != nil {
		return err
	}
	c.session.disk = runFileBytes
	if err := c.session.beginWith(ongram.TableBytes(table, l, c.learners, runtime.GOMAXPROCS(0)), "table and learners"); err != nil {
		return err
	}
	report, err := runPlan(o, plan, func() (*evaluate.Report, error) {
		return evaluate.Run(c.session.ctx, problem, plan)
	})
	if err != nil {
		return learnError(c.splitFlags.explain(err, nodes, l), table.File)
	}
	return publishPlanned(o, &evaluateDocument{Report: report, Graph: path, Skipped: skippedOf(l)}, nil)
}

// recordIDs are the ids of the records of a table.
type recordIDs struct{ *nodefile.Attributes }

// ID returns the id of a record.
func (r recordIDs) ID(row int) string { return r.IDs[row] }

// Lookup implements [nodefile.Lookup].
func (r recordIDs) Lookup(id string) (row int, ok bool) { return r.Records.Lookup(id) }

// Len implements [nodefile.Lookup].
func (r recordIDs) Len() int { return len(r.IDs) }

// readClasses reads the classes of records from a file, or takes those of the table if path is "".
func (f *recordInputs) readClasses(a *nodefile.Attributes, path string, unknown ingest.UnknownIDs) (*nodefile.Labels, error) {
	l := a.Classes
	if path != "" {
		var err error
		if l, err = nodefile.ReadLabels(f.session.ctx, path, a.Records, f.labelConfig(unknown, "remove such lines, or skip unknown ids with --unknown-ids=skip")); err != nil {
			return nil, err
		}
	}
	if l == nil {
		return nil, fault.Usage("--labels", "no column of %s is titled as one of classes; name it with --class, or give --labels FILE", a.File)
	}
	f.session.noteClasses(l.File, l)
	return l, nil
}
