package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/gridfile"
	"github.com/heatwalk/heatwalk/nodefile"
)

// evaluateFlags are the flags of evaluate.
type evaluateFlags struct {
	reading
	learning
	attributes attributeFlags
	splitting
	tuningSplits int
	tuneAt       []float64
	gridName     string
	several      bool // labels a node
}

func newEvaluate(in *invocation) *cobra.Command {
	var f evaluateFlags
	cmd := &cobra.Command{
		Use:   "evaluate GRAPH --labels L.tsv",
		Short: "Methods side by side on splits of the labelled nodes",
		Args:  in.arguments("GRAPH", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.several {
				in.checkSeveralEvaluate(cmd, args, &f)
				return in.then(func() error { return in.runSeveralEvaluate(args[0], &f) })
			}
			in.checkGraph(cmd, args, &f.reading)
			in.checkStdin(append(args, f.labels, f.split)...)
			in.checkAttributes(&f.attributes)
			in.checkEvaluate(cmd.Flags(), &f, args)
			return in.then(func() error { return in.runEvaluate(args[0], &f) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listed, "method", "cwk,lp", "`LIST` of methods joined by commas, each with parameters of its own behind it if need be, as in diffusion:laplacian=combinatorial: "+method.MethodList())
	in.walkFlags(flags, &f.walking, "")
	f.splitting = splitting{noun: "node", train: []float64{0.05, 0.1}, splits: 20}
	in.splitFlags(flags, &f.splitting)
	in.intVar(flags, &f.tuningSplits, "tuning-splits", 10, 0, 100_000, "further splits to choose parameters on (0: inside each training set)")
	in.variable(flags, "tune-at", "X[,X...]", "", "fractions of the tuning splits; each training size takes the parameters of the nearest (default: of its own)", func(s string) error {
		return parseList(&f.tuneAt, s, shareOfLabels.parse)
	})
	flags.StringVar(&f.gridName, "grid", "small", "parameters to choose from: paper (those of the methods' papers), small, none (defaults), or a `FILE` of values by method, see docs/formats.md")
	in.choiceVar(flags, &f.features, "features", "auto", []string{"auto", "honest", "plain"}, "rows of training nodes; auto chooses")
	ofMethods().flags(in, flags, "")
	in.attributeFlags(flags, &f.attributes)
	in.effortFlag(flags, &f.effort)
	in.severalFlag(flags, &f.several)
	in.readingFlags(flags, &f.reading)
	return cmd
}

// checkEvaluate notes what is wrong with the flags of f together.
func (in *invocation) checkEvaluate(flags *pflag.FlagSet, f *evaluateFlags, args []string) {
	in.checkLearning(flags, &f.learning, "--method")
	in.checkEffect(flags, f.methods())
	in.checkSplits(flags, &f.splitting, append(args, f.labels, f.attributes.file, f.attributes.ids)...)
	if len(f.tuneAt) > 0 && f.tuningSplits == 0 {
		in.problem("--tune-at", "there are no tuning splits with --tuning-splits 0; leave out one of the two")
	}
	var file gridfile.File
	switch f.gridName {
	case "small", "none":
	case "paper": // which is for many methods
		file = gridfile.Paper()
	default:
		file = in.readGrid(f.gridName)
		in.checkGridFile(f.gridName, file.Check(f.methods()))
	}
	in.try(flags, &f.learning, f.gridName, file)
}

// readGrid reads a grid file, and notes what is wrong with it.
func (in *invocation) readGrid(path string) gridfile.File {
	file, err := os.Open(path)
	if err != nil {
		in.problem("--grid", "%s is neither paper, small or none nor a file (%s); give one of them", quoted(path), cause(err))
		return nil
	}
	defer file.Close()
	g, err := gridfile.Read(file)
	if in.checkGridFile(path, err); err != nil && !errors.As(err, new(*gridfile.Error)) {
		in.problem("--grid", "%s cannot be read (%s); give another file", path, cause(err))
	}
	return g
}

// evaluated is the JSON document of evaluate.
type evaluated struct {
	*evaluate.Report
	Graph           string              `json:"graph"`
	Skipped         skippedLines        `json:"skipped_label_lines"`
	Attributes      *attributesDocument `json:"node_features,omitempty"`
	Seconds         float64             `json:"seconds"` // covers that of the report
	PeakMemoryBytes int64               `json:"peak_memory_bytes"`
	Warnings        []string            `json:"warnings,omitempty"`
}

func (in *invocation) runEvaluate(name string, f *evaluateFlags) error {
	d, err := in.beginLearn(name, f.report, f.labels, &f.reading, &f.attributes)
	if err != nil {
		return err
	}
	defer d.end()
	g, l := d.g, d.l
	var plan *evaluate.Plan
	err = in.take(g, func() (*needs, error) {
		if plan, err = in.plan(f, g, l); err != nil {
			return nil, err
		}
		return in.planEvaluate(g, l, plan)
	})
	if err != nil {
		return err
	}
	report, err := in.runPlan(problemOf(g, l), plan)
	if err != nil {
		return in.methodError(f.explain(err, g.Nodes(), l), name)
	}
	return in.publishReport(d.product, &evaluated{Report: report, Graph: name, Skipped: skippedOf(l), Attributes: attributesOf(g)}, storeOf(g.Manifest()), plan)
}

// writeReport writes a report to o, unless it has no path: the document as JSON, or the
// report as a page or as text.
func writeReport(o *product, document any, report interface{ WriteText(io.Writer) error }) error {
	page, ok := report.(interface{ WriteHTML(io.Writer) error })
	switch format := formatOf(o.path, reportFormats); {
	case o.path == "":
		return nil
	case format == ".json":
		return encode(o.text, document)
	case format == ".html" && ok:
		return page.WriteHTML(o.text)
	}
	return report.WriteText(o.text)
}

// publishReport writes a report, makes it appear, and prints what there is to print.
func (in *invocation) publishReport(o *product, doc *evaluated, store any, plan *evaluate.Plan) error {
	c := in.closing()
	doc.Seconds, doc.PeakMemoryBytes, doc.Warnings = c.Seconds, c.PeakMemoryBytes, c.Warnings
	err := writeReport(o, doc, doc.Report)
	if err == nil {
		err = o.publish(store, doc.Report.Chosen())
	}
	if err == nil && plan.Journal != nil {
		err = plan.Journal.Remove()
	}
	if err != nil {
		return err
	}
	if in.json {
		return in.document(doc)
	}
	in.progress.Close()
	if o.path == "-" {
		fmt.Fprintln(in.summary("-"), in.cost())
		return in.stdout.err
	}
	if err := doc.Report.WriteText(in.stdout); err != nil {
		return err
	}
	w := in.summary()
	if text := doc.Skipped.String(); text != "" {
		fmt.Fprintln(w, text)
	}
	if doc.Attributes != nil {
		fmt.Fprintln(w, doc.Attributes)
	}
	in.printCost(w, cmp.Or(o.path, "-"))
	return in.stdout.err
}

// warnUnfinished tells of iterations that ended at their limits.
func (in *invocation) warnUnfinished(plan *evaluate.Plan, report *evaluate.Report) {
	for _, r := range report.Results {
		if r.Unfinished == "" {
			continue
		}
		advice := ""
		for _, m := range plan.Methods {
			if m.Name == r.Method {
				advice = unfinishedAdvice(m.Method)
			}
		}
		in.warn("%s on %s of %d at %s: %s%s", r.Method, words.Counted(int64(r.UnfinishedSplits), "split"), report.Splits, report.TrainedOn(r.TrainFraction), r.Unfinished, advice)
	}
}

// splitBytes is what a label takes in a split: its row and class in the labels and in
// the training or test set, its place in the permutation, what is predicted of it, and
// its score and place in a ranking.
const splitBytes = 112

// planEvaluate returns what a plan takes, and sets the memory of its settings.
func (in *invocation) planEvaluate(g *openGraph, l *nodefile.Labels, plan *evaluate.Plan) (*needs, error) {
	n := g.needs()
	n.disk += runFileBytes
	if err := n.Reserve(learnerBytes+splitBytes*int64(len(l.Row)), "labels, splits and learner"); err != nil {
		return n, err
	}
	if left, limited := n.Left(); limited {
		plan.Settings.Memory = max(1, left)
		for _, m := range plan.Methods {
			m.Settings.Memory = plan.Settings.Memory
		}
	}
	list, err := evaluate.Memory(problemOf(g, l), plan)
	if err != nil {
		return n, err
	}
	n.sweeps = unknownSweeps
	return n, n.reserveList(list)
}

// plan returns what to measure.
func (in *invocation) plan(f *evaluateFlags, g *openGraph, l *nodefile.Labels) (plan *evaluate.Plan, err error) {
	splits, phase := in.progress.Parts("evaluating", "split")
	plan = &evaluate.Plan{TuningSplits: f.tuningSplits, TuneAt: f.tuneAt, Progress: splits}
	if plan.Settings, err = in.settings(&f.base, &f.learning, g, l, phase); err != nil {
		return nil, err
	}
	for i, e := range f.entries {
		own, tried := *plan.Settings, f.tried[i]
		own.Grid, own.Given, own.Lists = tried.Grid, tried.Given, tried.Lists
		plan.Methods = append(plan.Methods, evaluate.Entry{Name: e.Name, Method: e.Method, Settings: &own})
	}
	return plan, in.planTo(plan, &f.splitting, g.Nodes(), l)
}
