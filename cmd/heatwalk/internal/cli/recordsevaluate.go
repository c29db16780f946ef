package cli

import (
	"runtime"

	"github.com/spf13/cobra"

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
func checkRecordsEvaluate(run *session, c *recordsEvaluateOptions, cmd *cobra.Command, _ []string) {
	c.splitting.check(run, cmd.Flags())
	c.userValues = param.Values{}
	for _, s := range namedList(run, "--kernel", c.kernelNames, tableKernels(), c.userValues) {
		c.kernels = append(c.kernels, closed.Kernels().Named(s.Name))
	}
	for _, s := range namedList(run, "--learner", c.learnerNames, learners(), c.userValues) {
		c.learners = append(c.learners, classify.Learners().Named(s.Name))
	}
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
	nodes := recordIDs{table}
	if err := c.splitting.planTo(run, &c.records.tables, plan, nodes, l); err != nil {
		return err
	}
	run.disk = runFileBytes
	if err := beginWith(run, ongram.TableBytes(table, l, c.learners, runtime.GOMAXPROCS(0)), "table and learners"); err != nil {
		return err
	}
	report, err := runPlan(o, plan, func() (*evaluate.Report, error) {
		return evaluate.Run(run.ctx, problem, plan)
	})
	if err != nil {
		return learnError(c.splitting.explain(err, nodes, l), table.File)
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
