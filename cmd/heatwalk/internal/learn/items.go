package learn

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

type itemOptions struct {
	kind                      *items.Kind
	command                   items.Command
	input                     items.Input
	tables                    shell.Inputs
	kernelNames, learnerNames string   // lists, with parameters
	flags                     []string // names of the flags that only the kind has
	isCompared                bool     // by default trees are compared with a kernel

	labels, truth string
	block         shell.DenseFlags
	scores        shell.ScoreFlags
	coverage      float64 // coverage of prediction sets; 0: none
	splitting     shell.SplitFlags
}

// NewKind returns the commands of a kind of items, for example graphs kernel, graphs classify and graphs
// evaluate.
func NewKind(run *shell.Session, kind *items.Kind) *cobra.Command {
	group := shell.NewGroup(kind.Name, kind.Title)
	for _, command := range kind.Commands {
		cmd, o, flags := shell.NewCommand(run, command.Use, command.Title, checkItems, runItems)
		o.kind = kind
		o.command = command
		o.input.Command = cmd.Name()
		o.splitting = shell.SplitFlags{Noun: kind.Noun, Splits: 10}
		for _, f := range command.Flags {
			o.declare(flags, f)
		}
		o.tables.DeclareText(flags)
		flags.SortFlags = false
		group.AddCommand(cmd)
	}
	return group
}

func (o *itemOptions) declare(flags *shell.FlagSet, f items.Flag) {
	in := &o.tables
	switch f.Name {
	case "block":
		o.block.Declare(flags)
	case "output":
		if f.Usage == "" {
			f = items.Flag{Initial: "-", Usage: shell.PredictionUsage, Words: shell.ScoreFormats}
		}
		flags.AddOutput(&o.block.Out, "output", f.Initial, f.Usage, f.Words)
	case "dtype":
		flags.AddDtype(&o.block.Dtype, "float32", f.Usage)
	case "kernel":
		flags.StringVar(&o.kernelNames, f.Name, f.Initial, o.usageOf("kernel", o.kind.Example))
		flags.AddCheck(o.parse)
	case "learner":
		flags.StringVar(&o.learnerNames, f.Name, f.Initial, o.usageOf("learner", "svm:cost=10"))
		if o.kind.Kernels == nil {
			flags.AddCheck(o.parse)
		}
	case "labels":
		flags.AddInput(&o.labels, f.Name, f.Usage)
	case "label-fields":
		in.DeclareFields(flags, "label")
		if missing := flags.Lookup("missing"); o.kind.MinusOne {
			missing.Usage = strings.Replace(missing.Usage, " -1,", "", 1)
		}
	case "missing":
		in.DeclareMissing(flags)
	case "unknown-ids":
		flags.AddUnknownIDs(in, "lines whose id is unknown")
	case "scores":
		o.scores.Declare(flags, !o.kind.Calibrated)
	case "sets":
		flags.AddCoverage(&o.coverage, f.Name, "prediction sets with coverage X")
	case "truth":
		flags.AddInput(&o.truth, f.Name, "of true classes to score the predictions with")
	case "splits":
		o.splitting.Declare(flags)
	case "temp-dir":
		in.DeclareTemp(flags)
	default:
		o.flags = append(o.flags, f.Name)
		switch {
		case f.Switch:
			flags.Bool(f.Name, false, f.Usage)
		case f.Columns != "":
			flags.AddValue(f.Name, "COLUMNS", "", f.Usage, func(s string) error {
				return shell.ParseFields(new([]string), s, 1, 1<<17, f.Columns)
			})
		case f.File:
			flags.AddInput(new(string), f.Name, f.Usage)
		case f.Words != nil:
			flags.AddChoice(new(string), f.Name, f.Initial, f.Words, f.Usage)
		default:
			flags.String(f.Name, f.Initial, f.Usage)
		}
	}
}

func (o *itemOptions) usageOf(noun, example string) string {
	what := "`SPEC` of the " + noun
	if o.input.Command == "evaluate" {
		what = "`LIST` of " + noun + "s joined by commas, with parameters"
	} else {
		what += ","
	}
	usage := what + " as in " + example + "; see heatwalk methods"
	if noun == "learner" && o.kind.HasColumns {
		usage += "; or trees, boosted trees on the columns. Without --kernel and --learner, trees are compared with the default"
	}
	return usage
}

func (o *itemOptions) parse(line *shell.CommandLine, _ []string) {
	in := &o.input
	in.Values = param.Values{}
	list := []string{o.learnerNames}
	if o.kind.Kernels != nil {
		list = strings.Split(o.learnerNames, ",")
		in.Kernels = namedList(line, "--kernel", strings.Split(o.kernelNames, ","),
			o.kind.Kernels(), in.Values)
	}
	choices := shell.Learners()
	if o.kind.HasColumns {
		choices = append(slices.Clip(choices), &items.Trees)
	}
	if o.learnerNames != "" {
		for _, s := range namedList(line, "--learner", list, choices, in.Values) {
			if s == &items.Trees {
				in.Trees = true
			} else {
				in.Learners = append(in.Learners, classify.Learners().Named(s.Name))
			}
		}
	}
	o.isCompared = o.kind.HasColumns && !line.Command.Flags().Changed("learner") && !line.Command.Flags().Changed("kernel")
	in.Trees = in.Trees || o.isCompared
	place := "--kernel"
	if len(in.Kernels) < 2 {
		place = "--learner"
	}
	hasSeveral := len(in.Kernels) > 1 || len(in.Learners) > 1 || in.Trees && len(in.Learners) > 0 && !o.isCompared
	if in.Command != "evaluate" && hasSeveral {
		line.Problem(place,
			"this command takes one kernel and one learner; evaluate compares them")
	}
}

// namedList parses list, names with parameters, and adds the parameters to values. A parameter must have the
// same value for all names.
func namedList(line *shell.CommandLine, flag string, list []string, choices shell.Specs,
	values param.Values) (result shell.Specs) {
	for _, text := range list {
		s, n := line.ParseNamed(flag, text, choices)
		if s == nil {
			continue
		}
		terms, _ := line.ParseGiven(flag, n.Texts, s)
		for name, v := range terms {
			if previous, isGiven := values[name]; isGiven && previous != v {
				line.Problem(flag,
					"%s: %s has another value before; give all the same, or compare them in two runs", s.Name, name)
			}
			values[name] = v
		}
		if slices.Contains(result, s) {
			line.Problem(flag, "%s is named twice; compare its parameters in two runs", s.Name)
		}
		result = append(result, s)
	}
	return result
}

// checkItems stores the arguments and the flags of the kind in the input, and records problems of the flags.
func checkItems(line *shell.CommandLine, o *itemOptions, args []string) {
	o.input.Paths = args
	o.input.Flags = map[string]string{}
	for _, name := range o.flags {
		o.input.Flags[name] = line.Command.Flag(name).Value.String()
	}
	for _, f := range o.command.Flags {
		if f.Required {
			line.Require(f.Name)
		}
	}
	if o.kind.Check != nil {
		o.kind.Check(&o.input,
			func(place, problem string) { line.Problem(place, "%s", problem) })
	}
}

type itemRun struct {
	out  *shell.Outputs
	o    *itemOptions
	name string
	c    *items.Collection
	l    *nodefile.Labels
}

// runItems begins the output, reads the items, and runs the command.
func runItems(run *shell.Session, o *itemOptions, _ string) error {
	path := o.block.Out
	var formats []string
	if f := run.Line.Command.Flag("output"); f != nil {
		formats = f.Annotations[shell.OutputFile]
	} else {
		path = o.splitting.Report
	}
	out, err := run.BeginOutputs(path, formats)
	if err != nil {
		return err
	}
	r := &itemRun{out: out, o: o, name: strings.Join(o.input.Paths, ", ")}
	o.serve(out)
	if r.c, err = o.kind.Open(run.Context, &o.input); err != nil {
		return learnError(err, r.name)
	}
	if o.input.Command == "kernel" {
		err = r.writeKernel()
	} else if r.l, err = r.readClasses(); err == nil {
		if o.input.Command == "evaluate" {
			err = r.evaluate()
		} else {
			err = r.classify()
		}
	}
	return learnError(err, r.c.File)
}

// serve sets the fields of the input that come from the run: settings of labels, memory, workers and
// callbacks.
func (o *itemOptions) serve(out *shell.Outputs) {
	run := out.Run
	in := &o.input
	in.Calibrate = o.scores.Kind == "probability" || o.kind.Calibrated && out.Format == nil
	in.LabelFile = o.labels
	o.tables.Labelling.Set = strings.Join(in.Paths, ", ")
	in.Labelling = run.Console.LabelConfig(&o.tables, "remove such lines")
	if run.Line.Command.Flag("unknown-ids") != nil {
		in.Labelling.Fix += ", or skip unknown ids with {unknown-ids=skip}"
	}
	in.Labelling.MinusOne = o.kind.MinusOne
	in.Memory = run.Costs.DataLimit()
	in.Workers = run.Threads
	in.RNGSeed = uint64(run.Seed)
	in.Progress = run.Progress.Stages(shell.Unit(o.kind.Noun))
	in.Note = run.Console.Note
	in.Classes = func(l *nodefile.Labels) { run.Console.NoteClasses(l.File, l) }
	in.Count = words.Counted[int]
	in.Temp = func() (string, error) { return run.MakeTempContent(&o.tables, out.Path) }
}

// begin plans the run and limits its memory to the plan. The output has n rows of the given columns, in disk
// bytes. begin returns the number of rows of a kernel to compute at a time.
func (r *itemRun) begin(disk int64, n, columns int) (group int, err error) {
	costs := r.out.Run.Costs
	costs.Disk = disk
	parts, err := r.c.Memory(r.out.Run.Context, &r.o.input, r.l, columns)
	if err != nil {
		return 0, err
	}
	p := costs.NewPlan()
	for _, item := range parts {
		err = p.Reserve(item.Bytes, item.What)
	}
	group = 1
	if err == nil && n > 0 && r.c.Rows != nil {
		row := budget.Row[float64](columns) + 4*int64(columns) // values of a row and their copy for the output
		group = budget.Widest(n, p.Room(), func(rows int) budget.Size { return budget.Times(rows, row) })
		err = p.Reserve(int64(group)*row, "rows of values")
	}
	if err == nil {
		err = costs.Begin(p)
	}
	return group, err
}

func (r *itemRun) writeKernel() error {
	run := r.out.Run
	o := r.o
	n := r.c.IDs.N
	rows, err := r.readRows(o.block.Rows)
	if err != nil {
		return err
	}
	cols, err := r.readRows(o.block.Cols)
	if err != nil {
		return err
	}
	rowAxis := r.c.IDs.Select(rows)
	colAxis := r.c.IDs.Select(cols)
	advice := "take another disk"
	if run.Line.Command.Flag("rows") != nil {
		advice = shell.FewerNodes
	}
	disk, err := r.out.CheckMatrix(rowAxis, colAxis, o.block.Dtype, advice)
	if err != nil {
		return err
	}
	group, err := r.begin(disk, len(rows), len(cols))
	if err != nil {
		return err
	}
	kernel := o.input.Kernels[0]
	rowsTo, parameters, err := r.c.RowsOf(run.Context, kernel, o.input.Values)
	if err != nil {
		return err
	}
	room := sparse.NewBlock[float64](group, len(cols))
	values := *room // values of a group of rows
	number := shell.ClassNumbers(r.c.Labels, n)
	err = r.out.FillMatrix(o.block.Dtype, &tablefile.Matrix{Rows: rowAxis, Cols: colAxis, Kernel: true, Label: func(i int) string { return number(rows[i]) }}, func(i int, row []float64) error {
		if i%group == 0 {
			values.Rows = min(group, len(rows)-i)
			values.Data = room.Data[:values.Rows*values.Stride]
			if err := rowsTo(run.Context, &values, rows[i:i+values.Rows], cols); err != nil {
				return err
			}
		}
		if r.c.Rows == nil {
			o.input.Progress("comparing", int64(i), int64(len(rows)))
		}
		copy(row, values.Row(i%group))
		return nil
	})
	if err != nil {
		return err
	}
	shape := shell.ShapeOf(o.block.Out, len(rows), len(cols), o.block.Dtype)
	text := kernel.Name + " " + cmp.Or(r.c.Summary, "between "+words.Counted(n, o.kind.Noun)) +
		shell.ParameterText(kernel, parameters) + "\n" + shape.String()
	if r.c.Attributes > 0 {
		text = shape.String() + " · " + kernel.Name + " of " +
			words.Counted(r.c.Attributes, "attribute") + shell.ParameterText(kernel, parameters)
	}
	d := &shell.MatrixDocument{Shape: shape, Kernel: kernel.Name, Attributes: r.c.Attributes,
		Parameters: parameters}
	return r.out.Finish(shell.JoinDocuments(d, r.c.Facts), parameters, text)
}

func (r *itemRun) readRows(path string) ([]int, error) {
	if path != "" {
		return r.out.Run.ReadIDs(&r.o.tables, path, r.c.Lookup)
	}
	return sched.UpTo(r.c.IDs.N), nil
}

// readClasses returns the classes in the file of --labels, or the classes in the input without the flag.
func (r *itemRun) readClasses() (l *nodefile.Labels, err error) {
	l = r.c.Labels
	switch {
	case r.c.Lookup != nil && r.o.labels != "":
		l, err = r.readFile(r.o.labels, nil)
	case l == nil:
		err = shell.UsageError("--labels", "%s",
			cmp.Or(r.c.Unlabelled, r.c.File+" has no classes; give --labels FILE"))
	}
	if err != nil {
		return nil, err
	}
	return l, l.Trainable()
}

// readFile reads a file of classes. If the file has the columns from which like was read, readFile reads
// these columns.
func (r *itemRun) readFile(path string, like *nodefile.Labels) (*nodefile.Labels, error) {
	config := *r.o.input.Labelling
	config.Like = like
	l, err := nodefile.ReadLabels(r.out.Run.Context, path, r.c.Lookup, &config)
	if err == nil {
		r.o.input.Classes(l)
	}
	return l, err
}

func (r *itemRun) problem() *engine.Problem {
	return problem.OfItems(r.c.IDs.N, r.l.Row, r.l.Class, r.l.Names)
}

type methodDocument struct {
	Attributes int          `json:"attributes,omitempty"`
	Method     string       `json:"method"`
	Parameters param.Values `json:"parameters"`
	Settings   int          `json:"settings"`
	Support    int          `json:"support,omitempty"`
}

func (r *itemRun) classify() (err error) {
	run := r.out.Run
	truth := r.c.Truth
	if r.o.coverage > 0 && r.out.Format != nil {
		return shell.SetsError(r.out.Path)
	}
	if r.o.truth != "" {
		if truth, err = r.readFile(r.o.truth, r.l); err != nil {
			return err
		}
	}
	if _, err := r.begin(r.predictionBytes(), 0, 0); err != nil {
		return err
	}
	set := &engine.Settings{Given: r.o.input.Values, RNGSeed: uint64(run.Seed),
		Progress: run.Progress.Phases()}
	d := r.out.LearnedFrom(r.l)
	documents := []any{&d}
	var (
		c     *items.Classified
		lines []string
	)
	if r.c.Classify != nil {
		if c, err = r.c.Classify(run.Context, set); err != nil {
			return err
		}
		facts, text := r.c.Describe(c)
		documents = append(documents, facts)
		d.Estimate(c.Accuracy, c.Stderr, c.Tested)
		lines = []string{text, d.DescribeAccuracy()}
	} else {
		var s *items.Source
		if c, s, err = items.ClassifyBest(run.Context, r.sources(), r.problem(), set); err != nil {
			return err
		}
		if c.Unfinished != nil {
			run.Console.Warn("%s: the iteration limit came before the tolerance%s", s.Spec.Name,
				shell.UnfinishedAdvice([]*param.Spec{&s.Spec}))
		}
		d.Estimate(c.Accuracy, c.Stderr, c.Tested)
		lines = describeMethod(c, s, words.Counted(r.c.IDs.N-d.Labelled, r.o.kind.Noun), &d)
		documents = append(documents, r.c.Facts, &methodDocument{r.c.Attributes,
			s.Spec.Name, c.Values, c.Settings, c.Support})
	}
	r.warnLargest(c.Class)
	sets, notes, err := r.sets(c)
	if err != nil {
		return err
	}
	lines = append(lines, notes...)
	if sets != nil {
		documents = append(documents, &struct {
			Sets *choose.Sets `json:"sets"`
		}{sets})
	}
	if err := r.writeClassified(c, sets); err != nil {
		return err
	}
	reached := roaring.New()
	reached.AddRange(0, uint64(r.c.IDs.N))
	d.Truth = run.Console.CompareTruth(c.Class, reached, r.l, truth, r.o.kind.Noun)
	if r.o.labels != "" { // unlabelled items are not lines of a file
		lines = append(lines, strings.Replace(d.Skipped.Describe("label"), "the graph", r.c.File, 1))
	}
	lines = append(lines,
		d.DescribeTruth(cmp.Or(r.o.truth, r.c.TruthName), r.o.kind.Noun))
	return r.out.Finish(shell.JoinDocuments(documents...), c.Values, lines...)
}

// leastJudged is the least number of predictions that warnLargest judges. Fewer may rightly be all of one
// class.
const leastJudged = 10

// warnLargest warns if all predictions are of the largest class, because the learner has then learned
// nothing.
func (r *itemRun) warnLargest(class []int) {
	sizes := r.l.Sizes()
	largest := slices.Index(sizes, slices.Max(sizes))
	isKnown := sched.Mark(len(class), r.l.Row)
	count := 0
	for i, c := range class {
		if isKnown[i] {
			continue
		}
		if c != largest {
			return
		}
		count++
	}
	if count >= leastJudged {
		r.out.Run.Console.Warn("%s: all %s are predicted as %s, the largest class; give another kernel or a higher cost, for example --learner svm:cost=100",
			r.c.File, words.Counted(count, r.o.kind.Noun), shell.Quote(r.l.Names[largest]))
	}
}

// describeMethod returns the summary of a classification in lines. amount is the number of items with their
// noun, for example "30 graphs".
func describeMethod(c *items.Classified, s *items.Source, amount string,
	d *shell.LabelsDocument) []string {
	text := amount + " classified by " + s.Spec.Name
	if estimated := d.DescribeAccuracy(); estimated != "" {
		text += " · " + estimated
	}
	if c.Support > 0 {
		text += " · " + words.Count(c.Support) + " support vectors"
	}
	values := s.Text(c.Values)
	if c.Settings > 1 {
		values += ", chosen from " + words.Counted(c.Settings, "setting")
	}
	return []string{text, values}
}

func (r *itemRun) sources() (list []*items.Source) {
	for _, k := range r.o.input.Kernels {
		for _, l := range r.o.input.Learners {
			s := r.c.Source(k, l)
			s.Calibrate = r.o.input.Calibrate
			list = append(list, s)
		}
	}
	if r.o.input.Trees {
		list = append(list, r.c.Trees())
	}
	return list
}

func (r *itemRun) predictionBytes() int64 {
	classes := len(r.l.Names)
	if f := r.out.Format; f != nil {
		return f.Size(r.c.IDs.N, max(classes, classes*(classes-1)/2), "float64") +
			shell.RunFileBytes + shell.IDBytes(r.c.IDs)
	}
	return r.out.PredictionBytes(r.columns(), r.c.IDs)
}

func (r *itemRun) columns() tablefile.Columns {
	return tablefile.Columns{Classes: r.l.Names, Top: r.o.scores.Top, Sets: r.o.coverage > 0}
}

// sets returns the prediction sets of --sets with notes, or nil without --sets.
func (r *itemRun) sets(c *items.Classified) (sets *choose.Sets, notes []string, err error) {
	if r.o.coverage == 0 {
		return nil, nil, nil
	}
	ids := r.c.IDs
	s := &choose.Scores{Seed: r.o.input.RNGSeed, Other: choose.UnseenShare(r.problem())}
	if c.Held != nil {
		s.Add(c.Held.Places(r.problem()), func(label int) string { return ids.ID(r.l.Row[label]) })
	}
	isKnown := sched.Mark(ids.N, r.l.Row)
	sets, err = s.Sets(r.o.coverage, r.l.Names, func(yield func(string, []float64) bool) {
		for i := range ids.N {
			if !isKnown[i] && !yield(ids.ID(i), c.SharesTo(nil, i)) {
				return
			}
		}
	})
	notes, err = r.out.Run.Console.DescribeSets(sets, err, r.o.kind.Noun, r.l)
	return sets, notes, err
}

// writeClassified writes the classes and the scores of items, or only scores or probabilities if the output
// is a matrix.
func (r *itemRun) writeClassified(c *items.Classified, sets *choose.Sets) error {
	names := r.l.Names
	scores := &r.o.scores
	isKnown := sched.Mark(r.c.IDs.N, r.l.Row)
	return r.out.WritePredictions(&shell.PredictionRows{
		IDs: r.c.IDs, RawNames: c.ScoreNames,
		Raw: func(i int, row []float64) { copy(row, c.Scores.Row(i)) },
		Line: func(i int, p *tablefile.Prediction) {
			p.Label = names[c.Class[i]]
			p.Reached = true
			p.Known = isKnown[i]
			c.SharesTo(p.Scores, i)
			switch {
			case isKnown[i]:
				p.Set = []string{p.Label}
			case sets != nil:
				p.Set = sets.Names(r.c.IDs.ID(i), p.Scores)
			}
		},
	}, r.columns(), scores.Kind != "probability",
		scores.Dtype)
}

// evaluate compares the kernels and the learners on splits.
func (r *itemRun) evaluate() error {
	run := r.out.Run
	s := &r.o.splitting
	plan := &evaluate.Plan{
		Stratified: s.Draw == "stratified",
		Settings: &engine.Settings{Given: r.o.input.Values, RNGSeed: uint64(run.Seed),
			Workers: run.Threads},
		Progress: run.Progress.StageCallback("evaluating", "split"),
	}
	for _, s := range r.sources() {
		plan.Methods = append(plan.Methods, engine.Entry{Method: s.Engine()})
	}
	nodes, err := shard.StringNodes(r.c.IDs.All())
	if err != nil {
		return err
	}
	if err := s.DrawSplits(r.out, &r.o.tables, plan, nodes, r.l, r.problem()); err != nil {
		return err
	}
	if r.o.input.Trained, err = plan.Trained(r.problem()); err != nil {
		return s.Explain(err, nodes)
	}
	if _, err := r.begin(shell.RunFileBytes, 0, 0); err != nil {
		return err
	}
	result, err := evaluate.Run(run.Context, r.problem(), plan)
	if err != nil {
		return s.Explain(err, nodes)
	}
	run.Console.WarnUnfinished(plan, result)
	return r.out.PublishReport(&shell.EvaluateDocument{Report: result,
		ComparedDocument: shell.ComparedDocument{Graph: r.name, Skipped: shell.CountSkipped(r.l)}})
}

func learnError(err error, place string) error {
	wrong := new(problem.Error)
	if !errors.As(err, &wrong) {
		return err
	}
	if errors.Is(err, classify.ErrIterationLimit) {
		return shell.MachineError(err, place,
			"%s: the iteration limit came before the tolerance; give parameters that regularise more", wrong.Method)
	}
	return shell.MachineError(err, place, "%s: %v; take another learner or kernel",
		wrong.Method, wrong.Err)
}
