package shell

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

// ComparedDocument holds the JSON keys of an evaluation about inputs and cost; the measurements have their
// own keys.
type ComparedDocument struct {
	Graph      string              `json:"graph"`
	Skipped    SkippedLines        `json:"skipped_label_lines"`
	Attributes *AttributesDocument `json:"node_features,omitempty"`
	Closing
}

type EvaluateDocument struct {
	*evaluate.Report
	ComparedDocument
}

// PublishReport writes a report on a graph as JSON, HTML or text, and publishes the file. With --json it also
// prints the document, otherwise the text.
func (o *Outputs) PublishReport(doc *EvaluateDocument) error {
	run := o.Run
	doc.closeWith(run.Console.CloseRun())
	var err error
	switch format := FormatOf(o.Path, reportFormats); {
	case o.Path == "":
	case format == ".json":
		err = encodeDocument(o.Writer, doc)
	case format == ".html":
		err = run.WritePage(o.Writer, doc.Page(), doc, doc.Graph)
	default:
		err = doc.WriteText(o.Writer)
	}
	if err == nil {
		err = o.Publish(nil, nil)
	}
	if err == nil && run.Console.JSON {
		return run.Console.PrintDocument(doc)
	}
	run.Progress.Close()
	if err == nil && o.Path != "-" {
		err = doc.WriteText(Escaped(run.Console.Stdout))
	}
	if err != nil {
		return err
	}
	noun := "label"
	if doc.Results[0].NumberMeasures != nil {
		noun = "value"
	}
	o.Print(run.Console.summary(o.Path), []string{doc.Skipped.Describe(noun), doc.Attributes.String()})
	return run.Console.Stdout.Err
}

// WarnUnfinished warns about iterations that did not converge.
func (console *Console) WarnUnfinished(plan *evaluate.Plan, report *evaluate.Report) {
	for _, r := range report.Results {
		if r.ClassMeasures == nil || r.Unfinished == "" {
			continue
		}
		advice := ""
		if i := slices.IndexFunc(plan.Methods,
			func(m engine.Entry) bool { return m.Name == r.Method }); i >= 0 {
			advice = UnfinishedAdvice(plan.Methods[i].Method.Specs)
		}
		console.Warn("%s on %s of %d at %s: %s%s", r.Method,
			words.Counted(r.UnfinishedSplits, "split"), report.Splits, r.TrainedOn,
			r.Unfinished, advice)
	}
}

// SplitFlags holds the flags for training sets and reports.
type SplitFlags struct {
	Noun     string // a labelled item: "node", or the noun of a kind of items
	Train    []float64
	perClass []int
	folds    int
	Draw     string
	Splits   int
	split    string
	save     string
	Report   string
}

// Declare declares the flags of s. The fractions and folds in s are their default values.
func (s *SplitFlags) Declare(flags *FlagSet) {
	var fractions, folds string
	if s.Train != nil {
		fractions = strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Train), " ",
			","), "[]")
	} else {
		folds = fmt.Sprintf(" (default: %d, where no other size is given)",
			itemFolds)
	}
	flags.AddValue("train", "X[,X...]", fractions, "fractions of the labelled "+s.Noun+"s to train on", func(text string) error {
		return ParseList(&s.Train, text, parseTraining)
	})
	flags.AddValue("per-class", "N[,N...]", "", "numbers of "+s.Noun+"s of each class to train on, instead of fractions", func(text string) error {
		return ParseList(&s.perClass, text, func(s string) (int, error) {
			return ParseNumber[int](s, param.Range{Least: 1, Most: 1 << 30}, "N")
		})
	})
	NumberVar(flags, &s.folds, "folds", 0, param.Range{Least: 2, Most: 100_000},
		"N", "number of folds of a cross-validation: train on all folds but one, test on this fold"+folds)
	drawn := "random fractions, stratified folds"
	if s.Noun != "node" {
		drawn = "stratified"
	}
	flags.AddChoice(&s.Draw, "draw", "", []string{"random", "stratified"},
		"stratified: the same share of each class in every fraction or fold (default: "+drawn+")")
	NumberVar(flags, &s.Splits, "splits", s.Splits,
		param.Range{Least: 1, Most: 100_000}, "N",
		"random splits for each training size; with --folds, partitions into folds, of which 1 is the default")
	flags.AddInput(&s.split, "split", "of "+s.Noun+"<TAB>train|test lines, or of such words for several splits, in place of random splits")
	flags.AddSideOutput(&s.save, "save-splits", "for the splits, .tsv or .csv, which --split reads", tablefile.LineEndings)
	flags.AddOutput(&s.Report, "report", "", "for the whole report: .html, .json or .txt", reportFormats)
	flags.AddCheck(s.check)
}

func parseTraining(s string) (float64, error) {
	x, err := ParseNumber[float64](s, OpenUnit, "fraction")
	if n, notCount := strconv.Atoi(strings.TrimSuffix(s, "%")); err != nil &&
		notCount == nil && 0 < n && n < 100 {
		err = fmt.Errorf("%s is not a fraction; give %v for %d %%, or --per-class %[3]d for %[3]d of each class", s, float64(n)/100, n)
	}
	return x, err
}

const itemFolds = 10

var reportFormats = []string{".txt", ".json", ".html"}

// check validates the flags of s, and completes them.
func (s *SplitFlags) check(line *CommandLine, _ []string) {
	flags := line.Command.Flags()
	const leaveOut = "; leave out one of the two"
	size := "how many " + s.Noun + "s to train on"
	isGiven := s.split != ""
	folds := !isGiven && s.folds > 0
	classes := !isGiven && s.folds == 0 && len(s.perClass) > 0
	line.Refuse(isGiven, "train per-class folds draw splits tuning-splits",
		"the splits are given by --split"+leaveOut)
	line.Refuse(folds, "train per-class", size+" is given by --folds"+leaveOut)
	line.Refuse(classes && flags.Changed("train"), "per-class",
		"it says "+size+", and so does --train"+leaveOut)
	line.Refuse(classes, "draw",
		"every class has the same number by --per-class"+leaveOut)
	if s.Train == nil && s.perClass == nil && s.split == "" && s.folds == 0 {
		s.folds = itemFolds
	}
	if s.folds > 0 && !flags.Changed("splits") {
		s.Splits = 1
	}
	if s.Draw == "" && (s.folds > 0 || s.Noun != "node") {
		s.Draw = "stratified"
	}
}

func (s *SplitFlags) readSplits(run *Session, in *Inputs, plan *evaluate.Plan,
	nodes itemIDs, l *nodefile.Labels) error {
	if s.split == "" {
		return nil
	}
	list, err := nodefile.ReadSplits(run.Context, s.split, nodes,
		run.Console.ListConfig(in, s.split))
	if err != nil {
		return err
	}
	untrained := make([]int, len(l.Names)) // test items of classes without a training item
	for _, rows := range list {
		splits, unseen, err := choose.GivenSplit(l.Row, l.Class, l.Names,
			rows.Train, rows.Test)
		if err != nil {
			return s.Explain(err, nodes)
		}
		for c, tests := range unseen {
			untrained[c] += tests
		}
		plan.Given = append(plan.Given, splits)
	}
	run.Console.warnUntrained(s.split, l.Names, untrained, "test "+s.Noun)
	return nil
}

func (s *SplitFlags) writeSplits(o *Outputs, plan *evaluate.Plan, nodes itemIDs,
	l *nodefile.Labels, p *problem.Problem) error {
	if s.save == "" {
		return nil
	}
	list, err := plan.SplitsOf(p, uint64(o.Run.Seed))
	if err != nil {
		return s.Explain(err, nodes)
	}
	uses := make([][]string, len(l.Row))
	for i, one := range list {
		for _, position := range one.Train {
			uses[position] = append(uses[position], "train")
		}
		for _, position := range one.Test {
			uses[position] = append(uses[position], "test")
		}
		for position := range uses {
			if len(uses[position]) == i {
				uses[position] = append(uses[position], "none")
			}
		}
	}
	w, err := o.Begin(s.save)
	if err != nil {
		return err
	}
	return tablefile.WriteLines(o.Run.Context, w, Ending(s.save), []string{"node", "split"}, len(l.Row), func(i int, cells []string) {
		cells[0], cells[1] = nodes.ID(l.Row[i]), strings.Join(uses[i], " ")
	})
}

type itemIDs interface {
	nodefile.Lookup
	ID(row int) string
}

// DrawSplits completes a plan with the fractions, folds and number of splits of s. With --split it reads the
// training sets of the labels l of p from the file. With --save-splits it writes all splits to the file.
func (s *SplitFlags) DrawSplits(o *Outputs, in *Inputs, plan *evaluate.Plan,
	nodes itemIDs, l *nodefile.Labels, p *problem.Problem) error {
	plan.Fractions = s.Train
	plan.PerClass = s.perClass
	plan.Folds = s.folds
	plan.Splits = s.Splits
	return cmp.Or(s.readSplits(o.Run, in, plan, nodes, l),
		s.writeSplits(o, plan, nodes, l, p))
}

// Explain adds the item, and the file or the flag to change, to an error about splits.
func (s *SplitFlags) Explain(err error, nodes itemIDs) error {
	var splitError *choose.SplitError
	switch {
	case errors.As(err, &splitError) && splitError.Row >= 0:
		return DataError(s.split, "%q %s; keep one line for each labelled %s",
			nodes.ID(splitError.Row), splitError.What, s.Noun)
	case errors.As(err, &splitError) && s.split != "":
		return DataError(s.split, "%v; give it more lines", splitError)
	case errors.As(err, &splitError) && splitError.Folds > 0:
		return UsageError("--folds", "%v", splitError)
	case errors.As(err, &splitError):
		return UsageError("--train", "%v", splitError)
	case errors.Is(err, choose.ErrUsage) && len(s.perClass) > 0:
		return UsageError("--per-class", "%s", WithoutUsage(err))
	}
	return err
}

type AttributesDocument struct {
	Nodes   int      `json:"nodes"` // nodes with attributes
	Columns int      `json:"columns"`
	Values  int64    `json:"values"`                // nonzero values
	Unknown int      `json:"unknown,omitempty"`     // rows of nodes that are not in the graph
	Passed  []string `json:"passed_over,omitempty"` // columns that are not used

	names []string // ignored columns that --attribute-fields can name
}

func (g *OpenGraph) DescribeAttributes() *AttributesDocument {
	if g.Attributes == nil {
		return nil
	}
	t := g.Attributes.Table
	var ignored, names []string
	for _, c := range g.Attributes.Columns {
		if c.Use == "" {
			ignored = append(ignored, c.Title)
		}
		if c.Note == tablefile.NamesNote {
			names = append(names, c.Title)
		}
	}
	return &AttributesDocument{t.Present, t.Cols, t.Entries,
		g.Attributes.Unknown, ignored, names}
}

func (d *AttributesDocument) String() string {
	if d == nil {
		return ""
	}
	text := fmt.Sprintf("%s of %s", words.Counted(d.Columns, "attribute"),
		words.Counted(d.Nodes, "node"))
	if d.Unknown > 0 {
		text += fmt.Sprintf(" · %s of nodes that are not in the graph passed over",
			words.Counted(d.Unknown, "row"))
	}
	const most = 5 // titles of columns
	if n := len(d.names); n > 0 {
		list := input.Escape(strings.Join(d.names[:min(n, most)], ", "))
		if n > most {
			list += " …"
		}
		pronoun := "them"
		if n == 1 {
			pronoun = "it"
		}
		text += fmt.Sprintf(" · %s ignored: %s; --attribute-fields takes %s", words.Count(n), list, pronoun)
	}
	return text
}

// UnfinishedAdvice returns the remedy for an iteration that ended at its limit.
func UnfinishedAdvice(specs []*param.Spec) string {
	advice := "; longer ones do not count"
	next := "; give a "
	for _, s := range specs {
		for _, p := range s.Params {
			if p.Sooner != "" {
				advice = next + p.Sooner + " " + p.Name
				next = advice + " or a "
			}
		}
	}
	return advice
}

// WithoutUsage returns the message of a [choose.UsageError] without the errors that wrap it.
func WithoutUsage(err error) string {
	if wrong := new(choose.UsageError); errors.As(err, &wrong) {
		return wrong.Error()
	}
	return err.Error()
}
