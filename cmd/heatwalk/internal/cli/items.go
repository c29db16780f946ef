package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/papers/ongram"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// itemFlags are the flags of kernels between items, which are records or graphs, of learners on them, and of classes.
type itemFlags struct {
	tables                    inputs
	kernelNames, learnerNames string // lists, with parameters
	kernels                   specs
	learners                  []*classify.Learner // none for the values of a kernel
	userValues                param.Values

	labels, out, dtype string
	splitting          splitFlags
}

// declare declares the flags of the kernel and, if a command learns, of the learner. Their check parses both.
func (f *itemFlags) declare(flags *flagSet, kernels specs, initial, example string,
	learns bool) {
	usage := func(noun, example string) string {
		if f.splitting.noun != "" {
			return "`LIST` of " + noun + "s joined by commas, with parameters as in " + example + "; see heatwalk methods"
		}
		return "`SPEC` of the " + noun + ", as in " + example + "; see heatwalk methods"
	}
	flags.StringVar(&f.kernelNames, "kernel", initial, usage("kernel", example))
	if learns {
		flags.StringVar(&f.learnerNames, "learner", learners()[0].Name,
			usage("learner", "svm:cost=10"))
	}
	flags.addCheck(func(line *commandLine, _ []string) {
		f.userValues = param.Values{}
		f.kernels = namedList(line, "--kernel", f.kernelNames, kernels, f.userValues)
		if f.learnerNames != "" {
			for _, s := range namedList(line, "--learner", f.learnerNames,
				learners(), f.userValues) {
				f.learners = append(f.learners, classify.Learners().Named(s.Name))
			}
		}
		if f.splitting.noun == "" && (len(f.kernels) > 1 || len(f.learners) > 1) {
			line.problem("--kernel",
				"this command takes one kernel and one learner; evaluate compares them")
		}
	})
}

// namedList parses a list of names with parameters and adds the values to given. A parameter has the
// same value for all names.
func namedList(line *commandLine, flag, list string, choices specs,
	values param.Values) (result specs) {
	for text := range strings.SplitSeq(list, ",") {
		s, n := parseNamed(line, flag, text, choices)
		if s == nil {
			continue
		}
		terms, _ := parseGiven(line, flag, n.Given, s)
		for name, v := range terms {
			if previous, isGiven := values[name]; isGiven && previous != v {
				line.problem(flag,
					"%s: %s has another value before; give all the same, or compare them in two runs", s.Name, name)
			}
			values[name] = v
		}
		result = append(result, s)
	}
	return result
}

// itemRun is a run that learns classes of items.
type itemRun struct {
	out      *outputs
	f        *itemFlags
	name     string   // of the input
	noun     string   // record or graph
	ids      []string // of the items
	l        *nodefile.Labels
	sources  []*ongram.Source // of each kernel with each learner
	explain  func(err error) error
	document itemsDocument
}

// itemsDocument is the JSON document of records classify and graphs classify.
type itemsDocument struct {
	labelsDocument
	Nodes      int          `json:"nodes,omitempty"` // records
	Graphs     int          `json:"graphs,omitempty"`
	Attributes int          `json:"attributes,omitempty"`
	Method     string       `json:"method"`
	Parameters param.Values `json:"parameters"`
	Settings   int          `json:"settings"`
	Support    int          `json:"support,omitempty"`
	Closing
}

// problem returns the items with their classes.
func (r *itemRun) problem() *method.Problem {
	return problem.OfItems(len(r.ids), r.l.Row, r.l.Class, r.l.Names)
}

// classify writes the classes of all items, and compares them with the true ones of a source, unless they are nil.
func (r *itemRun) classify(scores scoreFlags, truth *nodefile.Labels,
	origin string) error {
	run := r.out.run
	s := r.sources[0]
	d := &r.document
	c, err := s.Classify(run.ctx, r.problem(),
		&method.Settings{Given: r.f.userValues, RNGSeed: uint64(run.seed),
			Progress: run.progress.Phases()})
	if err != nil {
		return r.explain(err)
	}
	if c.Unfinished != nil {
		run.console.warn("%s: the iteration limit came before the tolerance%s", s.Name(),
			unfinishedAdvice(s))
	}
	ids := tablefile.AxisOf(r.ids)
	if err := writeClassified(r.out, c, ids, r.l, scores, scores.kind != "probability"); err != nil {
		return err
	}
	d.labelsDocument, d.Method, d.Parameters, d.Settings, d.Support = learnedFrom(r.out, r.l), s.Name(), c.Values, c.Settings, c.Support
	d.estimate(c.Accuracy, c.Stderr, c.Tested)
	reached := roaring.New()
	reached.AddRange(0, uint64(ids.N))
	d.Truth = compareTruth(run.console, c.Class, reached, r.l, truth, r.noun)
	text := words.Counted(ids.N-d.Labelled, r.noun) + " classified by " + d.Method
	if estimated := d.describeAccuracy(); estimated != "" {
		text += " · " + estimated
	}
	if d.Support > 0 {
		text += " · " + words.Count(d.Support) + " support vectors"
	}
	values := s.Text(c.Values)
	if c.Settings > 1 {
		values += ", chosen from " + words.Counted(c.Settings, "setting")
	}
	skipped := d.Skipped.String()
	if r.f.labels == "" { // unlabelled items are no lines of a file
		skipped = ""
	}
	return r.out.finish(d, c.Values, text, values, skipped,
		d.describeTruth(origin, r.noun))
}

// writeClassified writes the classes and the scores of items, or a matrix of scores alone: raw ones, or probabilities.
func writeClassified(o *outputs, c *ongram.Classified, ids axis, l *nodefile.Labels,
	scores scoreFlags, raw bool) error {
	isKnown := markLabelled(l, ids.N)
	return writePredictions(o, &predictionRows{
		ids: ids, rawNames: c.ScoreNames,
		raw: func(i int, row []float64) { copy(row, c.Scores.Row(i)) },
		line: func(i int, p *tablefile.Prediction) {
			p.Label = l.Names[c.Class[i]]
			p.Reached = true
			p.Known = isKnown[i]
			c.SharesTo(p.Scores, i)
		},
	}, tablefile.Columns{Classes: l.Names, Top: scores.top}, raw, scores.dtype)
}

// evaluate compares the kernels and the learners on splits.
func (r *itemRun) evaluate() error {
	run := r.out.run
	plan := &evaluate.Plan{
		Stratified: r.f.splitting.draw == "stratified",
		Settings: &method.Settings{Given: r.f.userValues, RNGSeed: uint64(run.seed),
			Workers: run.threads},
		Progress: run.progress.StageCallback("evaluating", "split"),
	}
	for _, s := range r.sources {
		plan.Methods = append(plan.Methods, method.Entry{Method: s})
	}
	nodes, err := shard.StringNodes(slices.Values(r.ids))
	if err != nil {
		return err
	}
	s := &r.f.splitting
	if err := s.drawSplits(r.out, &r.f.tables, plan, nodes, r.l); err != nil {
		return r.explain(err)
	}
	report, err := evaluate.Run(run.ctx, r.problem(), plan)
	if err != nil {
		return r.explain(s.explain(err, nodes, r.l))
	}
	warnUnfinished(run.console, plan, report)
	return publishClasses(r.out,
		&evaluateDocument{report,
			comparedDocument{Graph: r.name, Skipped: skippedOf(r.l)}})
}

// keepData checks a run without a graph against the limits of disk and memory.
func keepData(costs *runCosts, disk, bytes int64) error {
	costs.disk = disk
	return beginWith(costs, budget.LearnerBytes+bytes, "data and learner")
}

// parameterText returns the values of parameters for a summary, after a comma, or "".
func parameterText(s *param.Spec, v param.Values) string {
	if text := s.Text(v); text != "" {
		return ", " + text
	}
	return ""
}

// learnError adds the learner and the place of its data to an error of it.
func learnError(err error, place string) error {
	wrong := new(problem.Error)
	if !errors.As(err, &wrong) {
		return err
	}
	if errors.Is(err, classify.ErrIterationLimit) {
		return fault.Machine(err, place,
			"%s: the iteration limit came before the tolerance; give parameters that regularise more", wrong.Method)
	}
	return fault.Machine(err, place, "%s: %v; take another learner or kernel",
		wrong.Method, wrong.Err)
}
