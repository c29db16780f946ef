package cli

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/gridfile"
	"github.com/heatwalk/heatwalk/spec"
)

// evaluateFlags are the flags of evaluate.
type evaluateFlags struct {
	learning
	splitting
	tuningSplits int
	tuneAt       []float64
	gridName     string
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
	f.splitting = splitting{noun: "node", train: []float64{0.05, 0.1}, splits: 20}
	in.splitFlags(flags, &f.splitting)
	in.intVar(flags, &f.tuningSplits, "tuning-splits", 10, 0, 100_000, "further splits to choose parameters on (0: inside each training set)")
	in.variable(flags, "tune-at", "X[,X...]", "", "fractions of the tuning splits; each training size takes the parameters of the nearest (default: of its own)", func(s string) error {
		return parseList(&f.tuneAt, s, shareOfLabels.parse)
	})
	flags.StringVar(&f.gridName, "grid", "small", "parameters to choose from: paper (those of the methods' papers), small, none (defaults), or a `FILE` of values by method, see docs/formats.md")
	in.learningFlags(flags, &f.learning)
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

func (d *evaluated) closeWith(c Closing) {
	d.Seconds, d.PeakMemoryBytes, d.Warnings = c.Seconds, c.PeakMemoryBytes, c.Warnings
}

func (in *invocation) runEvaluate(name string, f *evaluateFlags) error {
	d, err := in.beginLearn(name, f.report, &f.learning)
	if err != nil {
		return err
	}
	defer d.end()
	g, l := d.g, d.l
	splits, phase := in.progress.Parts("evaluating", "split")
	settings, err := d.settings(&f.base, &f.learning, phase)
	if err != nil {
		return err
	}
	plan := &evaluate.Plan{TuningSplits: f.tuningSplits, TuneAt: f.tuneAt, Progress: splits, Settings: settings}
	if err := in.planTo(plan, &f.splitting, g.Nodes(), l); err != nil {
		return err
	}
	err = d.take(settings, evaluate.SplitBytes, runFileBytes, func() ([][]spec.Bytes, int, error) {
		plan.Methods = nil
		for i, e := range f.entries {
			own, tried := *settings, f.tried[i]
			own.Grid, own.Given, own.Lists = tried.Grid, tried.Given, tried.Lists
			plan.Methods = append(plan.Methods, evaluate.Entry{Name: e.Name, Method: e.Method, Settings: &own})
		}
		list, err := evaluate.Memory(d.problem(), plan)
		return [][]spec.Bytes{list}, unknownSweeps, err
	})
	if err != nil {
		return err
	}
	report, err := in.runPlan(d.problem(), plan)
	if err != nil {
		return in.methodError(f.explain(err, g.Nodes(), l), name)
	}
	doc := &evaluated{Report: report, Graph: name, Skipped: skippedOf(l), Attributes: attributesOf(g)}
	return d.publishPlanned(doc, storeOf(g.Manifest()), plan)
}

// reporter is a report as text.
type reporter interface{ WriteText(w io.Writer) error }

// publishReport writes a report, the document as JSON or the report as a page or as text,
// makes it appear, and prints the document with --json, else the report and lines. A run on a
// store that has chosen parameters leaves both in its run file.
func (o *product) publishReport(doc document, r reporter, store, chosen any, lines ...string) error {
	in := o.in
	doc.closeWith(in.closing())
	page, ok := r.(interface{ WriteHTML(w io.Writer) error })
	var err error
	switch format := formatOf(o.path, reportFormats); {
	case o.path == "":
	case format == ".json":
		err = encode(o.text, doc)
	case format == ".html" && ok:
		err = page.WriteHTML(o.text)
	default:
		err = r.WriteText(o.text)
	}
	if err == nil {
		err = o.publish(store, chosen)
	}
	if err == nil && in.json {
		return in.document(doc)
	}
	in.progress.Close()
	if err == nil && o.path != "-" {
		err = r.WriteText(in.stdout)
	}
	if err != nil {
		return err
	}
	o.print(in.summary(o.path), lines)
	return in.stdout.err
}

// publishPlanned publishes the report on a plan, whose journal is not needed then.
func (o *product) publishPlanned(doc *evaluated, store any, plan *evaluate.Plan) error {
	lines := []string{doc.Skipped.String()}
	if doc.Attributes != nil {
		lines = append(lines, doc.Attributes.String())
	}
	err := o.publishReport(doc, doc.Report, store, doc.Report.Chosen(), lines...)
	if err == nil && plan.Journal != nil {
		err = plan.Journal.Remove()
	}
	return err
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
