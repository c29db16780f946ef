package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// evaluateFlags are the flags of evaluate.
type evaluateFlags struct {
	reading
	walking
	attributes attributeFlags
	effort     string
	machine
	names        string // of the methods
	entries      []method.Entry
	methods      []method.Method // of the entries
	stated       spec.Values     // parameters of declared methods that were given
	train        []float64
	perClass     []int
	folds        int
	inverse      bool
	draw         string
	splits       int
	tuningSplits int
	tuneAt       []float64
	gridName     string
	grid         *method.Grid
	gridFile     method.GridFile        // nil: none
	given        func(name string) bool // whether a flag fixes a parameter
	features     string
	split        string
	report       string
	resume       bool
	several      bool // labels a node
}

func newEvaluate(in *invocation) *cobra.Command {
	var f evaluateFlags
	cmd := &cobra.Command{
		Use:   "evaluate GRAPH --labels L.tsv",
		Short: "Methods side by side on splits of the labelled nodes",
		Long: `Draws training sets from the labelled nodes and scores methods on all other
labelled nodes, every method on the same splits: of fractions (--train), of so many
nodes a class (--per-class), or of folds (--folds). Beside the best method, all are
marked that a paired t-test does not find worse.

With --tuning-splits N the parameters of every method are chosen once for each
training size, on N further splits, which have labels of the whole graph, as papers
do; with 0, by cross-validation inside each training set, as classify does. The report
says which. auto chooses inside each training set in both.

With --multi-label a node may stand on several lines of L.tsv. Of each test node as many
labels are predicted as it has, by classify --multi-label and by their frequency, and
the report has micro- and macro-F1.

Beside the file of --report stands FILE.journal while the run goes on. If the run is
killed, the same command with --resume goes on from there to the same report.`,
		Example: "  heatwalk evaluate graph --labels labels.tsv --method auto,lp,diffusion+rls --report report.html",
		Args:    in.arguments("GRAPH", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.several {
				in.checkSeveralEvaluate(cmd, args, &f)
				if err := in.checked(); err != nil {
					return err
				}
				return in.runSeveralEvaluate(args[0], &f)
			}
			in.checkGraph(cmd, args, &f.reading)
			in.checkStdin(append(args, f.labels, f.split)...)
			in.checkAttributes(&f.attributes)
			in.checkEvaluate(cmd.Flags(), &f, args)
			if err := in.checked(); err != nil {
				return err
			}
			return in.runEvaluate(args[0], &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.names, "method", "cwk,lp", "`LIST` of methods joined by commas, each with parameters of its own behind it if need be, as in diffusion:laplacian=combinatorial: "+method.MethodList())
	in.walkFlags(flags, &f.walking, "")
	in.machineFlags(flags, &f.machine, "default: chosen")
	f.train = []float64{0.05, 0.1}
	in.variable(flags, "train", "X[,X...]", "0.05,0.1", "fractions of the labelled nodes to train on", func(s string) error {
		return parseFractions(&f.train, s)
	})
	in.variable(flags, "per-class", "N[,N...]", "", "train on so many nodes of every class, instead of a fraction", func(s string) error {
		return parseCounts(&f.perClass, s)
	})
	in.intVar(flags, &f.folds, "folds", 0, 2, 100_000, "cross-validation by so many folds: train on all but one, test on that")
	flags.BoolVar(&f.inverse, "inverse", false, "with --folds: train on one fold, test on all others")
	in.choiceVar(flags, &f.draw, "draw", "", []string{"random", "stratified"}, "whether fractions and folds have each class's share of it (default: random fractions, stratified folds)")
	in.intVar(flags, &f.splits, "splits", 20, 1, 100_000, "random splits for each training size; with --folds, partitions into folds, of which 1 is the default")
	in.intVar(flags, &f.tuningSplits, "tuning-splits", 10, 0, 100_000, "further splits to choose parameters on (0: inside each training set)")
	in.variable(flags, "tune-at", "X[,X...]", "", "fractions of the tuning splits; each training size takes the parameters of the nearest (default: of its own)", func(s string) error {
		return parseFractions(&f.tuneAt, s)
	})
	flags.StringVar(&f.gridName, "grid", "small", "parameters to choose from: paper (those of the methods' papers), small, none (defaults), or a `FILE` of values by method, see docs/formats.md")
	in.choiceVar(flags, &f.features, "features", "auto", []string{"auto", "honest", "plain"}, "rows of training nodes; auto chooses")
	ofMethods().flags(in, flags, "")
	in.attributeFlags(flags, &f.attributes)
	in.effortFlag(flags, &f.effort)
	flags.StringVar(&f.split, "split", "", "`FILE` of node<TAB>train|test lines, instead of random splits")
	flags.StringVar(&f.report, "report", "", "`FILE` for the whole report: .html, .json or .txt")
	in.severalFlag(flags, &f.several)
	flags.BoolVar(&f.resume, "resume", false, "go on from where a run with the same --report was killed, if one was")
	in.readingFlags(flags, &f.reading)
	return cmd
}

func parseFractions(fractions *[]float64, s string) error {
	var list []float64
	for _, part := range strings.Split(s, ",") {
		x, err := bounds{lo: 0, hi: 1, loOpen: true, hiOpen: true, symbol: "fraction"}.parse(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		if slices.Contains(list, x) {
			return fmt.Errorf("%v is named twice; leave one out", x)
		}
		list = append(list, x)
	}
	*fractions = list
	return nil
}

func parseCounts(counts *[]int, s string) error {
	var list []int
	for _, part := range strings.Split(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > 1<<30 {
			return fmt.Errorf("%s is no number of nodes; give 1 or more", quoted(part))
		}
		if slices.Contains(list, n) {
			return fmt.Errorf("%d is named twice; leave one out", n)
		}
		list = append(list, n)
	}
	*counts = list
	return nil
}

// reportFormats are the endings of a report.
var reportFormats = []string{".txt", ".json", ".html"}

// checkEvaluate notes what is wrong with the flags of f together.
func (in *invocation) checkEvaluate(flags *pflag.FlagSet, f *evaluateFlags, args []string) {
	f.entries = in.entries("--method", f.names)
	for _, e := range f.entries {
		f.methods = append(f.methods, e.Method)
	}
	f.stated = in.stated(flags, f.methods)
	in.checkForm(f.entries, f.stated)
	in.checkSteps(f.stated)
	in.checkLabels(&f.walking)
	in.checkEffect(flags, f.methods)
	if f.report != "" {
		in.checkFormat("--report", f.report, reportFormats)
		in.checkOutput("--report", f.report, append(args, f.labels, f.split, f.attributes.file, f.attributes.ids)...)
	}
	in.checkDraw(flags, f)
	if f.resume && (f.report == "" || f.report == "-") {
		in.problem("--resume", "a run can go on from the journal beside its report alone; give --report FILE")
	}
	f.grid = in.gridOf(flags, f)
}

// checkDraw notes flags of splits that contradict each other, and completes them.
func (in *invocation) checkDraw(flags *pflag.FlagSet, f *evaluateFlags) {
	instead := func(by, why string, names ...string) {
		for _, name := range names {
			if flags.Changed(name) {
				in.problem("--"+name, "%s --%s; leave out one of the two", why, by)
			}
		}
	}
	switch {
	case f.split != "":
		instead("split", "the split is given by", "train", "per-class", "folds", "inverse", "draw", "splits", "tuning-splits", "tune-at")
	case f.folds > 0:
		instead("folds", "how many nodes to train on is given by", "train", "per-class")
	case len(f.perClass) > 0:
		if flags.Changed("train") {
			in.problem("--per-class", "it says how many nodes to train on, and so does --train; leave out one of the two")
		}
		instead("per-class", "every class has the same number by", "draw")
	}
	if f.inverse && f.folds == 0 {
		in.problem("--inverse", "it trains on one fold; give --folds K")
	}
	if len(f.tuneAt) > 0 && f.tuningSplits == 0 {
		in.problem("--tune-at", "there are no tuning splits with --tuning-splits 0; leave out one of the two")
	}
	if f.folds > 0 && !flags.Changed("splits") {
		f.splits = 1
	}
	if f.draw == "" && f.folds > 0 {
		f.draw = "stratified"
	}
}

// journal returns that of the run, nil if there is none: it stands beside a report in a
// file.
func (in *invocation) journal(f *evaluateFlags) *evaluate.Journal {
	if info, err := os.Stat(f.report); f.report == "" || f.report == "-" || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	b := thisBuild()
	return &evaluate.Journal{Path: f.report + ".journal", Version: b.Version + " " + b.Commit, Resume: f.resume}
}

// gridOf returns the grid of walks that --grid names, with the values that flags fix, and
// stores the file that it names.
func (in *invocation) gridOf(flags *pflag.FlagSet, f *evaluateFlags) *method.Grid {
	f.given = func(name string) bool { return flags.Changed(strings.ReplaceAll(name, "_", "-")) }
	kinds := []method.Features{method.Plain, method.Honest}
	if f.features != "auto" {
		kinds = []method.Features{method.Features(f.features)}
	}
	g := method.SmallGrid(kinds...)
	switch f.gridName {
	case "small":
	case "paper":
		f.gridFile = method.PaperFile()
	case "none":
		g = method.NoGrid()
		if f.features != "auto" {
			g.Features = kinds
		}
	default:
		f.gridFile = in.readGrid(f.gridName)
	}
	if anyWalks(f.methods) {
		g.Fix(f.stated)
	}
	f.fix(g)
	var err error
	if f.gridName != "paper" { // which is for many methods
		err = f.gridFile.Check(f.methods)
	}
	for _, e := range f.entries {
		if err == nil {
			_, err = f.gridFile.Own(e.Method, f.given)
		}
	}
	if wrong := new(method.GridFileError); errors.As(err, &wrong) {
		in.problem(fmt.Sprintf("%s:%d", f.gridName, wrong.Line), "%s; correct the file", wrong.What)
	}
	return g
}

// readGrid reads a grid file, and notes what is wrong with it.
func (in *invocation) readGrid(path string) method.GridFile {
	file, err := os.Open(path)
	if err != nil {
		in.problem("--grid", "%s is neither paper, small or none nor a file (%s); give one of them", quoted(path), cause(err))
		return nil
	}
	defer file.Close()
	g, err := method.ReadGridFile(file)
	if wrong := new(method.GridFileError); errors.As(err, &wrong) {
		in.problem(fmt.Sprintf("%s:%d", path, wrong.Line), "%s; correct the file", wrong.What)
	} else if err != nil {
		in.problem("--grid", "%s cannot be read (%s); give another file", path, cause(err))
	}
	return g
}

// planned returns the methods with the settings that each has: of the grid, and of its
// own in the list.
func (f *evaluateFlags) planned(set *method.Settings) (list []evaluate.Entry, err error) {
	for _, e := range f.entries {
		own, err := f.gridFile.Own(e.Method, f.given)
		if err != nil {
			return nil, err
		}
		with, err := set.With(e.Method, own)
		if err == nil {
			with, err = with.With(e.Method, e.Own)
		}
		if err != nil {
			return nil, usageOf("--method", "%s", withoutUsage(err))
		}
		list = append(list, evaluate.Entry{Name: e.Name, Method: e.Method, Settings: with})
	}
	return list, nil
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
	takes, err := in.fit(g, func() (*needs, error) {
		if plan, err = in.plan(f, g, l); err != nil {
			return nil, err
		}
		return in.planEvaluate(g, l, plan)
	})
	if err != nil {
		return err
	}
	if err := in.begin(g, takes); err != nil {
		return err
	}
	report, err := evaluate.Run(in.ctx, problemOf(g, l), plan)
	if err != nil {
		if plan.Journal != nil && plan.Journal.Length() > 0 {
			in.doing += "; the same command with --resume goes on from here"
		}
		return in.methodError(explainRun(err, f, g, l), name)
	}
	in.warnUnfinished(plan, report)
	c := in.closing()
	doc := evaluated{report, name, skippedOf(l), attributesOf(g), c.Seconds, c.PeakMemoryBytes, c.Warnings}
	return in.publish(&doc, f.report, d.out, func() error {
		err := in.writeRun(d.run, storeOf(g.Manifest()), f.grid)
		if err == nil {
			err = d.files.commit()
		}
		if err == nil && plan.Journal != nil {
			err = plan.Journal.Remove()
		}
		return err
	})
}

// publish writes a report to out, unless path is "", makes it appear by commit, and prints
// what there is to print.
func (in *invocation) publish(doc *evaluated, path string, out io.Writer, commit func() error) (err error) {
	if path != "" {
		switch formatOf(path, reportFormats) {
		case ".html":
			err = doc.Report.WriteHTML(out)
		case ".json":
			err = encode(out, doc)
		default:
			err = doc.Report.WriteText(out)
		}
		if err == nil {
			err = commit()
		}
		if err != nil {
			return err
		}
	}
	if in.json {
		return in.document(doc)
	}
	in.progress.close()
	if path == "-" {
		fmt.Fprintln(in.summary("-"), in.cost())
		return in.stdout.err
	}
	if err := doc.Report.WriteText(in.stdout); err != nil {
		return err
	}
	if text := doc.Skipped.String(); text != "" {
		fmt.Fprintln(in.summary(), text)
	}
	if doc.Attributes != nil {
		fmt.Fprintln(in.summary(), doc.Attributes)
	}
	closing := in.cost()
	if path != "" {
		closing += " · " + path
	}
	fmt.Fprintln(in.summary(), closing)
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
		in.warn("%s on %s of %d at %s: %s%s", r.Method, counted(int64(r.UnfinishedSplits), "split"), report.Splits, report.TrainedOn(r.TrainFraction), r.Unfinished, advice)
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
	takes, err := evaluate.RunNeeds(problemOf(g, l), plan)
	if err != nil {
		return n, err
	}
	return n, n.learningNeeds(takes)
}

// evaluating returns callbacks that show how many splits are done, and what is done of
// the next one: a phase and the share of it.
func (in *invocation) evaluating() (splits func(done, total int), phase func(name string, done float64)) {
	var shown *stage
	begin := func() {
		if shown == nil {
			shown = in.progress.begin("evaluating", 0, "split")
		}
	}
	splits = func(done, total int) {
		begin()
		shown.within("")
		shown.set(int64(done), int64(total))
	}
	phase = func(name string, done float64) {
		begin()
		part := ""
		if done < 1 { // what follows, such as training machines, is no part of it
			part = fmt.Sprintf("%s %.0f %%", name, 100*done)
		}
		shown.within(part)
	}
	return splits, phase
}

// plan returns what to measure.
func (in *invocation) plan(f *evaluateFlags, g *openGraph, l *nodefile.Labels) (*evaluate.Plan, error) {
	prior, err := in.priorOf(&f.walking, g, l)
	if err != nil {
		return nil, err
	}
	splits, phase := in.evaluating()
	plan := &evaluate.Plan{
		Fractions: f.train, PerClass: f.perClass, Folds: f.folds, Inverse: f.inverse,
		Stratified: f.draw == "stratified", Splits: f.splits, TuningSplits: f.tuningSplits, TuneAt: f.tuneAt,
		Settings: &method.Settings{
			Grid: f.grid, Given: f.stated, Prior: prior, RNGSeed: uint64(in.seed),
			Tolerance: f.machine.given(), Effort: method.Effort(f.effort), Memory: g.memory(), Workers: in.threads, Progress: phase,
		},
		Journal:  in.journal(f),
		Progress: splits,
	}
	plan.Settings.Fixed = f.gridName == "none"
	if plan.Methods, err = f.planned(plan.Settings); err != nil {
		return nil, err
	}
	if f.split == "" {
		return plan, nil
	}
	train, test, err := nodefile.ReadSplit(in.ctx, f.split, g.Nodes(), in.stdin)
	if err != nil {
		return nil, err
	}
	split, err := validate.GivenSplit(l.Row, l.Class, l.Names, train, test)
	if err != nil {
		return nil, explainSplit(err, f, g, l)
	}
	for c, tests := range split.Unseen(l.Class) {
		if tests > 0 {
			in.warn("%s: class %s (%s) has no training label and counts as wrong", f.split, quoted(l.Names[c]), counted(int64(tests), "test node"))
		}
	}
	plan.Given = &split
	return plan, nil
}

// explainRun names files and flags in errors about a journal, and see [explainSplit].
func explainRun(err error, f *evaluateFlags, g *openGraph, l *nodefile.Labels) error {
	var journal *evaluate.JournalError
	switch {
	case errors.As(err, &journal) && journal.Damaged:
		return &dataError{journal.Path, journal.What + "; leave out --resume to begin again"}
	case errors.As(err, &journal):
		return usageOf("--resume", "%v; give what it had, or leave out --resume to begin again", journal)
	}
	return explainSplit(err, f, g, l)
}

// explainSplit names nodes, classes and flags in errors about splits.
func explainSplit(err error, f *evaluateFlags, g *openGraph, l *nodefile.Labels) error {
	var (
		fraction *validate.FractionError
		split    *validate.SplitError
		folds    *validate.FoldError
	)
	switch {
	case errors.As(err, &folds):
		advice := ""
		if folds.Items > 1 {
			advice = fmt.Sprintf("give at most %d, or ", folds.Items)
		}
		return usageOf("--folds", "%d folds are more than the %s of class %q; %sleave out the class", folds.Folds, counted(int64(folds.Items), "labelled node"), l.Names[folds.Class], advice)
	case errors.As(err, &fraction) && fraction.Class >= 0 && fraction.Smallest > 0:
		return usageOf("--train", "%v of %s leaves class %q without a training node; the smallest fraction that works is %v",
			fraction.Fraction, counted(int64(fraction.Nodes), "labelled node"), l.Names[fraction.Class], fraction.Smallest)
	case errors.As(err, &fraction):
		return usageOf("--train", "%v", fraction)
	case errors.As(err, &split) && split.Row >= 0:
		return &dataError{f.split, fmt.Sprintf("%q %s; keep one line for each labelled node", g.Nodes().ID(split.Row), split.What)}
	case errors.As(err, &split):
		return &dataError{f.split, "the split " + split.What + "; give it more lines"}
	case errors.Is(err, validate.ErrUsage) && len(f.perClass) > 0:
		return usageOf("--per-class", "%s", withoutUsage(err))
	}
	return err
}
