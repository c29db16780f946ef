package heatwalk

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/shift"
	"github.com/heatwalk/heatwalk/sparse"
)

// ClassifyOptions are the options of [Graph.Classify], [Graph.Explain], [Graph.Evaluate] and [Model.Predict]. Nil and the zero
// value mean the defaults of the command. A method refuses options that it does not use. The weights of kinds and times of
// edges are in [Options].
type ClassifyOptions struct {
	// Method is the name of a method with its parameters, for example "auto" (the default) or "diffusion:beta=2+rls".
	// Cross-validation chooses parameters that are not given. Evaluate takes several names, joined by commas.
	Method string

	// Grid names the candidate values of parameters: "small" (the default), "none", "paper" or a file.
	Grid string

	Seed uint64 // rng seed of folds, splits and samples; 0 means 1

	// Attributes is a file of attributes of nodes: a matrix .npz, .npy or LIBSVM, or a table with a column of ids. "" means
	// the attributes of the store, if it has any. Reading has the settings for the file; nil means defaults. Reading.Fields
	// must leave out columns that were made from the labels, see [Prediction.Leaks].
	Attributes string
	Reading    *tablefile.FeatureConfig

	// EdgeWeights is one of [engine.Weightings]. If it is "", held-out labels choose the function of the weights for auto,
	// and other methods use the given weights.
	EdgeWeights string

	// Effort is how much time the optional stages of auto may take: "low" (none: it learns from random walks and attributes
	// alone), "normal" (about ten seconds of one processor) or "high" (about 100 seconds). "" means "normal".
	Effort string

	// Shares are the known shares of all classes among all nodes, positive, with the sum 1; nil means the shares of the
	// labels. For Classify and Explain.
	Shares map[string]float64

	// Groups has the group of nodes by id: labels of a group are held out together, and splits divide no group. A node that is
	// not listed is a group of its own. Labels must have five groups or more.
	Groups map[string]string

	// Times has the time of each labelled node by id: held-out labels are newer than the labels that they are predicted from.
	// The accuracy of a prediction is that of the newest fifth. Not with Groups.
	Times map[string]float64

	// Targets are the ids of the nodes that can have a label; [Prediction.WriteTo] writes only these. Nil means all nodes. For
	// Classify and Model.Predict.
	Targets []string

	// Sets is the coverage of the prediction sets of [Prediction.WriteTo]; 0 means none. For Classify and Model.Predict.
	Sets float64

	// Columns keeps what [Prediction.SaveColumns] writes. For Classify and Model.Predict.
	Columns bool

	Baselines bool // Classify: measure label propagation and the largest class too

	Train  []float64 // Evaluate: shares of labels to train with; nil: 0.1
	Splits int       // Evaluate: random splits for each of Train; 0: 20
}

// Methods that use an option of [ClassifyOptions], as bits.
const (
	byClassify = 1 << iota
	byExplain
	byEvaluate
	byModel
)

func (o *ClassifyOptions) refuseUnused(method int) error {
	for _, option := range []struct {
		name    string
		isGiven bool
		users   int
	}{
		{"method", o.Method != "", byClassify | byExplain | byEvaluate},
		{"grid", o.Grid != "", byClassify | byExplain | byEvaluate},
		{"seed", o.Seed != 0, byClassify | byExplain | byEvaluate},
		{"edge weights", o.EdgeWeights != "", byClassify | byExplain | byEvaluate},
		{"effort", o.Effort != "", byClassify | byExplain | byEvaluate},
		{"shares", o.Shares != nil, byClassify | byExplain},
		{"groups", o.Groups != nil, byClassify | byExplain | byEvaluate},
		{"times", o.Times != nil, byClassify | byExplain | byEvaluate},
		{"targets", o.Targets != nil, byClassify | byModel},
		{"sets", o.Sets != 0, byClassify | byModel},
		{"columns", o.Columns, byClassify | byModel},
		{"baselines", o.Baselines, byClassify},
		{"train", o.Train != nil, byEvaluate},
		{"splits", o.Splits != 0, byEvaluate},
	} {
		if option.isGiven && option.users&method == 0 {
			return refuse(option.name, "this method does not use it; leave it out")
		}
	}
	if o.Reading != nil && o.Attributes == "" {
		return refuse("reading", "there is no file of attributes; name it in Attributes, or leave this out")
	}
	if !(o.Sets >= 0 && o.Sets < 1) {
		return refuse("sets", "%v is out of range; give a coverage above 0 and below 1, or 0 for no sets", o.Sets)
	}
	return nil
}

func (o *ClassifyOptions) classShares(classes []string) ([]float64, error) {
	if o.Shares == nil {
		return nil, nil
	}
	sum := 0.0
	shares := make([]float64, len(classes))
	for c, name := range classes {
		shares[c] = o.Shares[name]
		if !(shares[c] > 0) {
			return nil, refuse("shares", "%v of class %q is not positive; give a positive share for each class", shares[c], name)
		}
		sum += shares[c]
	}
	if len(o.Shares) != len(classes) || math.Abs(sum-1) > 1e-6 {
		return nil, refuse("shares", "%d of %d classes have the sum %v; give a share for each class that has a label, with the sum 1", len(o.Shares), len(classes), sum)
	}
	return shares, nil
}

// holdOut stores the groups or the times of the labels in p.
func (o *ClassifyOptions) holdOut(g *Graph, p *engine.Problem) error {
	number := map[string]int{}
	for _, row := range p.Row {
		id := g.Nodes.ID(row)
		if o.Groups != nil {
			key := "node " + id
			if name, hasGroup := o.Groups[id]; hasGroup {
				key = "group " + name
			}
			if _, isNumbered := number[key]; !isNumbered {
				number[key] = len(number)
			}
			p.Group = append(p.Group, number[key])
		}
		if o.Times != nil {
			time, hasTime := o.Times[id]
			if !hasTime || math.IsNaN(time) {
				return refuse("times", "node %q has a label and no time; give its time, or leave out its label", id)
			}
			p.Time = append(p.Time, time)
		}
	}
	return nil
}

// Problem returns a problem with labels by id, in the order of [nodefile.Labels.Sort]. A node with the label "" has no label.
// The error is an [*IDError] for an id that is not in the graph.
func (g *Graph) Problem(labels map[string]string) (*engine.Problem, error) {
	if err := g.checkOpen(); err != nil {
		return nil, err
	}
	var l nodefile.Labels
	number := map[string]int{}
	for _, id := range slices.Sorted(maps.Keys(labels)) {
		if labels[id] == "" {
			continue
		}
		row, ok := g.Nodes.Lookup(id)
		if !ok {
			return nil, &IDError{id}
		}
		class, isNumbered := number[labels[id]]
		if !isNumbered {
			class = len(l.Names)
			number[labels[id]] = class
			l.Names = append(l.Names, labels[id])
		}
		l.Row = append(l.Row, row)
		l.Class = append(l.Class, class)
	}
	l.Sort(g.Nodes)
	return NewProblem(g, l.Row, l.Class, l.Names), nil
}

// NewProblem returns a problem with labels by row: the node rows[i] has the class names[classes[i]]. rows and classes must
// have the same length. Columns of scores follow the order of names; folds and samples follow the ids of the nodes.
func NewProblem(g *Graph, rows, classes []int, names []string) *engine.Problem {
	if g.Graph == nil { // methods report that the graph was never opened
		return &engine.Problem{Graph: new(graph.Graph), Row: rows, Class: classes, Names: names}
	}
	id := func(row int) string {
		if row < 0 || row >= len(g.Degrees) { // methods report that the row has no node
			return ""
		}
		return g.Nodes.ID(row)
	}
	order := sched.Order(len(rows), func(a, b int) int { return nodefile.CompareIDs(id(rows[a]), id(rows[b])) })
	return &engine.Problem{
		Graph: g.graph(), Directed: g.Directed, Weighted: g.Weighted,
		Row: problem.Pick(rows, order), Class: problem.Pick(classes, order), Names: names,
		Edges: g.edges, Origin: g.Origin(),
		Key: func(row int) uint64 {
			h := fnv.New64a() // its writes do not fail
			h.Write([]byte(id(row)))
			return h.Sum64()
		},
	}
}

// NewValues returns a problem with values by row. rows and values must have the same length.
func NewValues(g *Graph, rows []int, values []float64) *engine.Problem {
	p := NewProblem(g, nil, nil, nil)
	p.Row = rows
	p.Value = values
	return p
}

// Classify predicts the label of every node from the labels of some nodes, by id.
func (g *Graph) Classify(ctx context.Context, labels map[string]string,
	o *ClassifyOptions) (*Prediction, error) {
	o = cmp.Or(o, new(ClassifyOptions))
	return g.classify(ctx, labels, o, byClassify, &PredictOptions{Baselines: o.Baselines})
}

// classify is [Graph.Classify] with further options. method is the bit of the calling method, and options that this method
// does not use are errors.
func (g *Graph) classify(ctx context.Context, labels map[string]string,
	o *ClassifyOptions, method int, options *PredictOptions) (*Prediction, error) {
	if err := o.refuseUnused(method); err != nil {
		return nil, err
	}
	p, err := g.Problem(labels)
	if err != nil {
		return nil, err
	}
	if p.Shares, err = o.classShares(p.Names); err != nil {
		return nil, err
	}
	if err := o.holdOut(g, p); err != nil {
		return nil, err
	}
	entries, _, err := o.methods(ctx, g.options.Progress)
	if err != nil {
		return nil, err
	}
	if len(entries) > 1 {
		return nil, refuse("method", "%s are several; this takes one, Evaluate compares them", o.Method)
	}
	m := entries[0].Method
	var attributes *tablefile.Features
	if slices.Contains(m.Takes, attributesSetting) {
		if attributes, g, err = o.attach(ctx, g, p, o.reading(p)); err != nil {
			return nil, err
		}
	}
	return o.predict(ctx, g, p, attributes, m, entries[0].Settings, options)
}

func (o *ClassifyOptions) predict(ctx context.Context, g *Graph, p *engine.Problem, attributes *tablefile.Features,
	m *engine.Engine, s *engine.Settings, options *PredictOptions) (out *Prediction, err error) {
	if o.Targets != nil {
		if options.Targets, err = g.rowsOf("targets", o.Targets); err != nil {
			return nil, err
		}
	}
	options.Sets = o.Sets > 0
	options.Columns = o.Columns
	if out, err = Predict(ctx, g, p, m, s, options); err != nil {
		return nil, err
	}
	out.coverage = o.Sets
	out.attributes = attributes
	if attributes != nil && p.Value == nil && out.LabelSets == nil {
		out.Leaks = attributes.FindLeaks(&nodefile.Labels{Row: p.Row, Class: p.Class, Names: p.Names})
	}
	return out, nil
}

// Explain predicts labels as [Graph.Classify] does, and returns the reasons for the predictions of the nodes with the given
// ids. The error is an [*IDError] for an id that is not in the graph, and wraps [explain.ErrNoForm] if scores are not sums
// over labelled nodes.
func (g *Graph) Explain(ctx context.Context, labels map[string]string,
	nodes []string, o *ClassifyOptions) ([]Reasons, error) {
	rows, err := g.rowsOf("nodes", append([]string{}, nodes...))
	if err != nil {
		return nil, err
	}
	out, err := g.classify(ctx, labels, cmp.Or(o, new(ClassifyOptions)), byExplain, &PredictOptions{Explain: rows})
	if err != nil {
		return nil, err
	}
	NameAttributes(out.attributes, out.Reasons)
	return out.Reasons, nil
}

// Predict predicts every node of a problem on the graph, with an engine for the target: a class, a number if the problem has
// values (for example by [method.Best]), or several labels by an engine of [engine.LabelSets]. It fills in the Graph of the
// problem, and the Memory and the Workers of the settings. The RNGSeed 0 means 1, as in all functions of this package. The
// error is the error of the method if there are no labels, or only one class, or too little memory.
func Predict(ctx context.Context, g *Graph, p *engine.Problem, m *engine.Engine,
	s *engine.Settings, o *PredictOptions) (*Prediction, error) {
	if o == nil {
		o = new(PredictOptions)
	}
	set := *cmp.Or(s, new(engine.Settings))
	options := *o
	if o.Strategy != "" && !slices.Contains(method.Strategies, o.Strategy) {
		return nil, refuse("strategy", "unknown strategy %q; one of %s", o.Strategy, strings.Join(method.Strategies, ", "))
	}
	if err := choose.CheckGroups(p); err != nil {
		return nil, err
	}
	if p.Value != nil && g.Directed {
		return nil, &problem.Error{Method: m.Name, Err: problem.ErrDirected}
	}
	set.Suggests = o.Suggest > 0 && cmp.Or(o.Strategy, method.AutoStrategy) == method.AutoStrategy
	set.Explain = o.Explain != nil
	set.Columns = o.Columns
	if set.Columns && (m.Extension == nil || p.Value != nil || g.options.Network != nil) {
		return nil, fmt.Errorf("%s: %w", m.Name, engine.ErrNoColumns)
	}
	if set.Explain {
		set.Raw = true
	}
	if g.options.Network != nil {
		if set.Explain {
			return nil, &problem.Error{Method: m.Name, Err: sparse.ErrDivided}
		}
		options.Targets = nil
		set.Top = 0
	}
	for _, row := range options.Targets {
		set.Targets = append(set.Targets, uint32(row))
	}
	job, local, learned, err := g.beginLearning(ctx, p, &set, &Needs{
		Structure: p.Value != nil, Transpose: m.NeedsTranspose(), Reweighs: m.Reweighs(p, &set), Labels: o.Compared,
	}, func(local *engine.Problem, s *engine.Settings, plan *Plan) (budget.Workspace, error) {
		plan.Disk = m.Disk(local, s)
		return predictionSpace(local, m, s, &options)
	})
	if err != nil {
		return nil, err
	}
	defer job.End()
	out := &Prediction{Method: m.Name, Classes: p.Names, g: g, engine: m, job: job, given: p, settings: learned, options: o}
	out.problem, err = out.compute(ctx, local, m, learned, &options)
	if err != nil {
		return nil, err
	}
	if err := job.gatherPrediction(out.Prediction); err != nil {
		return nil, err
	}
	if p.Value != nil {
		return out, nil
	}
	out.HeldOutScores = &choose.Scores{Seed: learned.RNGSeed, IsShifted: out.Shift != nil && out.Shift.Exceeds()}
	if out.LabelSets != nil {
		out.HeldOutScores.Sorted = out.LabelSets.HeldOut
		out.HeldOutScores.Several = true
	}
	if out.Held != nil && out.Held.HasScores() && p.Shares == nil {
		out.holdOut(p, out.Held.Places(p))
	}
	if job.division != nil || o.Deferred {
		return out, nil
	}
	if err = out.addSuggestions(ctx); err == nil && learned.Explain {
		err = out.addReasons(ctx, o.Explain)
	}
	return out, err
}

// compute predicts with the engine m and stores the results in p. It returns the problem with the edge weights from which m
// has learned.
func (p *Prediction) compute(ctx context.Context, problem *engine.Problem,
	m *engine.Engine, set *engine.Settings,
	o *PredictOptions) (*engine.Problem, error) {
	if o.Predicting != nil {
		o.Predicting()
	}
	var err error
	if o.compares(m) {
		p.Prediction, p.Baselines, err = m.PredictCompared(ctx, problem, set)
	} else {
		p.Prediction, err = m.Predict(ctx, problem, nil, set)
	}
	if err != nil {
		return nil, err
	}
	problem = cmp.Or(p.Prediction.Problem, problem)
	if err := m.AdaptToShares(ctx, problem, p.Prediction, set); err != nil {
		return nil, err
	}
	if o.Explain != nil && !o.Deferred {
		return problem, nil
	}
	if p.UnreachedComponents, err = problem.MissedComponents(ctx, p.Reached,
		set.Workers, &p.Work); err != nil {
		return nil, err
	}
	start := time.Now()
	if p.Tested > 0 {
		if set.Progress != nil {
			set.Progress("compare", 0, 1)
		}
		p.Shift, err = shift.Check(ctx, problem, o.Targets, set.Workers, &p.Work)
	}
	p.Seconds.Choose += time.Since(start).Seconds()
	return problem, err
}

const learningPart = "learning and predictions"

// predictionSpace declares the memory of a prediction with its baselines, suggestions or reasons.
func predictionSpace(p *engine.Problem, m *engine.Engine, s *engine.Settings, o *PredictOptions) (budget.Workspace, error) {
	n := len(p.Degrees)
	after := budget.Held(40 * int64(n)) // memory of [shift.Check]
	if o.Suggest > 0 {
		after = after.And(method.SuggestWorkspace(p))
	}
	if s.Explain {
		nodes := len(o.Explain)
		if o.Deferred { // the caller selects nodes afterwards
			nodes = n
		}
		after = after.And(explain.Workspace(n, len(p.Names), nodes))
	}
	if o.compares(m) && m.ComparesPropagation(p, s) {
		after = after.Or(engine.BaselineWorkspace(p, s))
	}
	w, err := m.Declare(p, s, after)
	if o.Sets || p.Time != nil { // predictions without some labels follow
		w = w.AndHeld(budget.Block[float32](n, len(p.Names)), 21*int64(n))
	}
	return w, err
}

// Evaluate compares methods on the same random splits of the labels.
func (g *Graph) Evaluate(ctx context.Context, labels map[string]string,
	o *ClassifyOptions) (*evaluate.Report, error) {
	o = cmp.Or(o, new(ClassifyOptions))
	if err := o.refuseUnused(byEvaluate); err != nil {
		return nil, err
	}
	if o.Train != nil && len(o.Train) == 0 {
		return nil, refuse("train", "it is empty; give shares of the labels above 0 and below 1, or nil for 0.1")
	}
	for _, share := range o.Train {
		if !(share > 0 && share < 1) {
			return nil, refuse("train", "%v is out of range; give shares of the labels above 0 and below 1", share)
		}
	}
	if o.Splits < 0 {
		return nil, refuse("splits", "%d is out of range; give 1 or more, or 0 for 20", o.Splits)
	}
	p, err := g.Problem(labels)
	if err != nil {
		return nil, err
	}
	if err := o.holdOut(g, p); err != nil {
		return nil, err
	}
	entries, set, err := o.methods(ctx, g.options.Progress)
	if err != nil {
		return nil, err
	}
	plan := &evaluate.Plan{Methods: entries, Fractions: []float64{0.1}, Splits: o.Splits,
		Settings: set, Progress: g.options.Progress}
	if o.Train != nil {
		plan.Fractions = o.Train
	}
	if slices.ContainsFunc(entries, func(e engine.Entry) bool { return slices.Contains(e.Method.Takes, attributesSetting) }) {
		if _, g, err = o.attach(ctx, g, p, o.reading(p)); err != nil {
			return nil, err
		}
	}
	return Compare(ctx, g, p, plan)
}

// Compare compares the methods of a plan on splits of the labels or values of a problem, see [evaluate.Run]. It fills in the
// Memory and the Workers of the settings.
func Compare(ctx context.Context, g *Graph, p *engine.Problem,
	plan *evaluate.Plan) (*evaluate.Report, error) {
	if err := choose.CheckGroups(p); err != nil {
		return nil, err
	}
	if p.Value != nil && g.Directed {
		return nil, &problem.Error{Method: "regress", Err: problem.ErrDirected}
	}
	needs := &Needs{
		Structure: p.Value != nil,
		Transpose: slices.ContainsFunc(plan.Methods,
			func(e engine.Entry) bool { return e.Method.NeedsTranspose() }),
		Reweighs: slices.ContainsFunc(plan.Methods,
			func(e engine.Entry) bool { return e.Method.Reweighs(p, plan.Settings) }),
	}
	complete := func(s *engine.Settings) *evaluate.Plan {
		out := *plan
		out.Settings = s
		out.Methods = mergeSettings(plan.Methods, s)
		return &out
	}
	job, local, settings, err := g.beginLearning(ctx, p, plan.Settings, needs,
		func(local *engine.Problem, s *engine.Settings, _ *Plan) (budget.Workspace, error) {
			return complete(s).Workspace(local)
		})
	if err != nil {
		return nil, err
	}
	defer job.End()
	report, err := evaluate.Run(ctx, local, complete(settings))
	if err == nil {
		err = job.result()
	}
	return report, err
}

func mergeSettings(methods []engine.Entry, settings *engine.Settings) []engine.Entry {
	methods = slices.Clone(methods)
	for i := range methods {
		if specific := methods[i].Settings; specific != nil {
			merged := *settings
			merged.Given = specific.Given
			merged.Lists = specific.Lists
			merged.Fixed = specific.Fixed
			methods[i].Settings = &merged
		}
	}
	return methods
}

// Regress predicts a number for every node from the numbers of some nodes, by id. It uses the best method of a list such as
// "harmonic,diffusion+rls"; "" means [method.DefaultNumbers]. The result has the value of a node at its row. The error is an
// [*IDError] for an id that is not in the graph, or comes from [method.Best].
func (g *Graph) Regress(ctx context.Context, values map[string]float64,
	methods string) (*Prediction, error) {
	if err := g.checkOpen(); err != nil {
		return nil, err
	}
	entries, err := method.ParseList(cmp.Or(methods,
		method.DefaultNumbers(g.Nodes.Len(), g.Signed, 0)), engine.Numbers)
	if err != nil {
		return nil, err
	}
	ids := slices.SortedFunc(maps.Keys(values), nodefile.CompareIDs)
	for _, id := range ids {
		if err := checkValue(id, values[id]); err != nil {
			return nil, err
		}
	}
	rows, err := g.rowsOf("values", append([]string{}, ids...))
	if err != nil {
		return nil, err
	}
	list := make([]float64, len(rows))
	for i, row := range rows {
		list[i] = values[g.Nodes.ID(row)]
	}
	return Predict(ctx, g, NewValues(g, rows, list), method.Best(entries), &engine.Settings{Progress: g.options.Progress}, nil)
}

// largestValue is the largest absolute value in [Graph.Regress], so that squares are finite.
const largestValue = 1e100

func checkValue(id string, value float64) error {
	if math.Abs(value) <= largestValue {
		return nil
	}
	return refuse("values", "%v of %q is not a number up to ±%.2g; leave the node out", value, id, largestValue)
}

// beginLearning begins a job that learns from p. workspace must declare the memory of the job. beginLearning returns the job,
// the problem on the rows of the job, and the settings with the memory of the job.
func (g *Graph) beginLearning(ctx context.Context, p *engine.Problem,
	s *engine.Settings, n *Needs,
	workspace func(*engine.Problem, *engine.Settings, *Plan) (budget.Workspace, error),
) (*Job, *engine.Problem, *engine.Settings, error) {
	set := *cmp.Or(s, new(engine.Settings))
	set.RNGSeed = cmp.Or(set.RNGSeed, usualSeed)
	set.Workers = g.options.Workers
	n.Named = [][]int{p.Row}
	n.Labels += len(p.Row)
	n.Part = learningPart
	n.Workspace = func(j *Job, plan *Plan) (budget.Workspace, error) {
		limited := set
		limited.Memory = j.Memory
		return workspace(j.Problem(p), &limited, plan)
	}
	job, err := g.Begin(ctx, n)
	if err != nil {
		return nil, nil, nil, err
	}
	set.Memory = job.Memory
	set.Prior.Given = job.Part(set.Prior.Given)
	return job, job.Problem(p), &set, nil
}

const attributesSetting = "node_features"

// methods returns the methods with their own settings, and the common settings. An option that makes no difference to the
// methods is an error.
func (o *ClassifyOptions) methods(ctx context.Context,
	progress func(stage string, done, total int64)) ([]engine.Entry, *engine.Settings, error) {
	entries, err := method.Parse(cmp.Or(o.Method, "auto"))
	if err != nil {
		return nil, nil, err
	}
	settings, err := method.Settle(ctx, entries, cmp.Or(o.Grid, "small"))
	if err != nil {
		return nil, nil, err
	}
	var takes []string
	list := []*engine.Settings{settings}
	for _, e := range entries {
		takes = append(takes, e.Method.Takes...)
		list = append(list, e.Settings)
	}
	for _, s := range list {
		s.RNGSeed = o.Seed
		s.Progress = progress
		s.Weights = o.EdgeWeights
		s.Effort = o.Effort
	}
	const noEffect = "it makes no difference to %s; leave it out"
	switch {
	case o.Attributes != "" && !slices.Contains(takes, attributesSetting):
		err = refuse("attributes", noEffect, o.Method)
	case o.Effort != "" && !slices.Contains(engine.Efforts(), o.Effort):
		err = refuse("effort", "%q is none of %s; give one of them", o.Effort, strings.Join(engine.Efforts(), ", "))
	case o.Effort != "" && !slices.Contains(takes, "effort"):
		err = refuse("effort", noEffect, o.Method)
	case o.EdgeWeights != "" && !slices.Contains(engine.Weightings(), o.EdgeWeights):
		err = refuse("edge weights", "%q is none of %s; give one of them", o.EdgeWeights, strings.Join(engine.Weightings(), ", "))
	}
	return entries, settings, err
}
