package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/validate"
)

// splitting holds the flags that say on what training sets evaluate and graphs evaluate
// measure, and what becomes of it.
type splitting struct {
	noun     string // what is labelled: "node" or "graph"
	train    []float64
	perClass []int
	folds    int
	inverse  bool
	draw     string
	splits   int
	split    string
	report   string
	resume   bool
}

// splitFlags declares the flags of s, whose fractions and folds are the defaults.
func (in *invocation) splitFlags(flags *pflag.FlagSet, s *splitting) {
	var fractions, folds string
	if s.train != nil {
		fractions = strings.Trim(strings.ReplaceAll(fmt.Sprint(s.train), " ", ","), "[]")
	} else {
		folds = fmt.Sprintf(" (default: %d, where no other size is given)", graphFolds)
	}
	in.variable(flags, "train", "X[,X...]", fractions, "fractions of the labelled "+s.noun+"s to train on", func(text string) error {
		return parseList(&s.train, text, shareOfLabels.parse)
	})
	in.variable(flags, "per-class", "N[,N...]", "", "train on so many "+s.noun+"s of every class, instead of a fraction", func(text string) error {
		return parseList(&s.perClass, text, parseCount)
	})
	in.intVar(flags, &s.folds, "folds", 0, 2, 100_000, "cross-validation by so many folds: train on all but one, test on that"+folds)
	flags.BoolVar(&s.inverse, "inverse", false, "with --folds: train on one fold, test on all others")
	drawn := "random fractions, stratified folds"
	if s.noun == "graph" {
		drawn = "stratified"
	}
	in.choiceVar(flags, &s.draw, "draw", "", []string{"random", "stratified"}, "whether fractions and folds have each class's share of it (default: "+drawn+")")
	in.intVar(flags, &s.splits, "splits", s.splits, 1, 100_000, "random splits for each training size; with --folds, partitions into folds, of which 1 is the default")
	flags.StringVar(&s.split, "split", "", "`FILE` of "+s.noun+"<TAB>train|test lines, instead of random splits")
	flags.StringVar(&s.report, "report", "", "`FILE` for the whole report: .html, .json or .txt")
	flags.BoolVar(&s.resume, "resume", false, "go on from where a run with the same --report was killed, if one was")
}

// shareOfLabels is what part of the labelled nodes may be trained on.
var shareOfLabels = bounds{lo: 0, hi: 1, loOpen: true, hiOpen: true, symbol: "fraction"}

// graphFolds is the default of --folds for graphs.
const graphFolds = 10

// parseList stores what one makes of the parts of s between commas, each of which may stand
// there once.
func parseList[T comparable](list *[]T, s string, one func(part string) (T, error)) error {
	var all []T
	for _, part := range strings.Split(s, ",") {
		v, err := one(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		if slices.Contains(all, v) {
			return fmt.Errorf("%v is named twice; leave one out", v)
		}
		all = append(all, v)
	}
	*list = all
	return nil
}

func parseCount(part string) (int, error) {
	n, err := strconv.Atoi(part)
	if err != nil || n < 1 || n > 1<<30 {
		return 0, fmt.Errorf("%s is no number of nodes; give 1 or more", quoted(part))
	}
	return n, nil
}

// reportFormats are the endings of a report.
var reportFormats = []string{".txt", ".json", ".html"}

// checkSplits notes what is wrong with the flags of s, beside which there are other inputs,
// and completes them.
func (in *invocation) checkSplits(flags *pflag.FlagSet, s *splitting, inputs ...string) {
	if s.report != "" {
		in.checkFormat("--report", s.report, reportFormats)
		in.checkOutput("--report", s.report, append(inputs, s.split)...)
	}
	if s.resume && (s.report == "" || s.report == "-") {
		in.problem("--resume", "a run can go on from the journal beside its report alone; give --report FILE")
	}
	instead := func(by, why string, names ...string) {
		for _, name := range names {
			if flags.Lookup(name) != nil && flags.Changed(name) {
				in.problem("--"+name, "%s --%s; leave out one of the two", why, by)
			}
		}
	}
	size := "how many " + s.noun + "s to train on"
	switch {
	case s.split != "":
		instead("split", "the split is given by", "train", "per-class", "folds", "inverse", "draw", "splits", "tuning-splits", "tune-at")
	case s.folds > 0:
		instead("folds", size+" is given by", "train", "per-class")
	case len(s.perClass) > 0:
		if flags.Changed("train") {
			in.problem("--per-class", "it says %s, and so does --train; leave out one of the two", size)
		}
		instead("per-class", "every class has the same number by", "draw")
	}
	if s.train == nil && s.perClass == nil && s.split == "" && s.folds == 0 {
		s.folds = graphFolds
	}
	if s.inverse && s.folds == 0 {
		in.problem("--inverse", "it trains on one fold; give --folds K")
	}
	if s.folds > 0 && !flags.Changed("splits") {
		s.splits = 1
	}
	if s.draw == "" && (s.folds > 0 || s.noun == "graph") {
		s.draw = "stratified"
	}
}

// journal returns that of the run, nil if there is none: it stands beside a report in a
// file.
func (s *splitting) journal() *evaluate.Journal {
	if info, err := os.Stat(s.report); s.report == "" || s.report == "-" || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	b := thisBuild()
	return &evaluate.Journal{Path: s.report + ".journal", Version: b.Version + " " + b.Commit, Resume: s.resume}
}

// planTo stores the training sets in a plan for labels on the given rows.
func (in *invocation) planTo(plan *evaluate.Plan, s *splitting, nodes labelled, l *nodefile.Labels) error {
	plan.Fractions, plan.PerClass, plan.Folds, plan.Inverse = s.train, s.perClass, s.folds, s.inverse
	plan.Stratified, plan.Splits, plan.Journal = s.draw == "stratified", s.splits, s.journal()
	if s.split == "" {
		return nil
	}
	train, test, err := nodefile.ReadSplit(in.ctx, s.split, nodes, in.stdin)
	if err != nil {
		return err
	}
	split, err := validate.GivenSplit(l.Row, l.Class, l.Names, train, test)
	if err != nil {
		return s.explain(err, nodes, l)
	}
	for c, tests := range split.Unseen(l.Class) {
		if tests > 0 {
			in.warn("%s: class %s (%s) has no training label and counts as wrong", s.split, quoted(l.Names[c]), words.Counted(int64(tests), "test "+s.noun))
		}
	}
	plan.Given = &split
	return nil
}

// labelled are nodes or graphs by their ids.
type labelled interface {
	nodefile.Lookup
	ID(row int) string
}

// runPlan runs a plan and tells how to go on where it is cut short.
func (in *invocation) runPlan(p *method.Problem, plan *evaluate.Plan) (*evaluate.Report, error) {
	report, err := evaluate.Run(in.ctx, p, plan)
	if err != nil {
		if plan.Journal != nil && !plan.Journal.Empty() {
			in.doing += "; the same command with --resume goes on from here"
		}
		return nil, err
	}
	in.warnUnfinished(plan, report)
	return report, nil
}

// explain names nodes or graphs, classes, files and flags in errors about a journal or
// splits.
func (s *splitting) explain(err error, nodes labelled, l *nodefile.Labels) error {
	var (
		journal *evaluate.FileError
		drawn   *validate.DrawError
		split   *validate.SplitError
	)
	noun := "labelled " + s.noun
	switch {
	case errors.As(err, &journal) && journal.Damaged:
		return fault.Data(journal.Path, "%s", journal.What+"; leave out --resume to begin again")
	case errors.As(err, &journal):
		return fault.Usage("--resume", "%s %s; give what it had, or leave out --resume to begin again", journal.Path, journal.What)
	case errors.As(err, &drawn) && drawn.Folds > 0 && drawn.Items >= drawn.Folds:
		return fault.Usage("--folds", "of %d folds one has none of the %s of class %q; give fewer, or --draw stratified", drawn.Folds, words.Counted(int64(drawn.Items), noun), l.Names[drawn.Class])
	case errors.As(err, &drawn) && drawn.Folds > 0:
		advice := ""
		if drawn.Items > 1 {
			advice = fmt.Sprintf("give at most %d, or ", drawn.Items)
		}
		return fault.Usage("--folds", "%d folds are more than the %s of class %q; %sleave out the class", drawn.Folds, words.Counted(int64(drawn.Items), noun), l.Names[drawn.Class], advice)
	case errors.As(err, &drawn) && drawn.Class >= 0 && drawn.Smallest > 0:
		return fault.Usage("--train", "%v of %s leaves class %q without a training %s; the smallest fraction that works is %v",
			drawn.Fraction, words.Counted(int64(drawn.Items), noun), l.Names[drawn.Class], s.noun, drawn.Smallest)
	case errors.As(err, &drawn):
		return fault.Usage("--train", "%s", strings.ReplaceAll(drawn.Error(), "node", s.noun))
	case errors.As(err, &split) && split.Row >= 0:
		return fault.Data(s.split, "%q %s; keep one line for each %s", nodes.ID(split.Row), split.What, noun)
	case errors.As(err, &split):
		return fault.Data(s.split, "%s", "the split "+split.What+"; give it more lines")
	case errors.Is(err, validate.ErrUsage) && len(s.perClass) > 0:
		return fault.Usage("--per-class", "%s", strings.ReplaceAll(withoutUsage(err), "node", s.noun))
	}
	return err
}
