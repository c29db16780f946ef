package heatwalk

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/shift"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// PredictOptions ask [Predict] for results beyond predictions. Nil means none.
type PredictOptions struct {
	Baselines bool // cross-validated accuracy of label propagation and of the largest class
	Suggest   int  // number of nodes to label next

	// Strategy selects the nodes to label next, one of [method.Strategies]; "" means auto.
	Strategy string

	// Explain are the rows of nodes whose predictions are explained. Reasons is the number of labelled nodes, attributes and
	// links to list for each; 0 means 10. Several processes cannot explain.
	Explain []int
	Reasons int

	// Deferred leaves suggestions and reasons to [Prediction.AddSuggestions] and [Prediction.AddReasons], so that the
	// predictions can be written first. Memory for reasons is reserved unless Explain is nil.
	Deferred bool

	// Sets reserves memory for [Prediction.Sets].
	Sets bool

	// Columns keeps what [Prediction.WriteColumns] writes. Otherwise there is an error that wraps [engine.ErrNoColumns].
	Columns bool

	// Targets are the rows of the nodes that can have a label. Labelled nodes are compared with the targets, and suggestions
	// are targets. Nil means all nodes. Several processes compare with all nodes.
	Targets []int

	// Compared is the number of true labels that the caller holds for comparison, for the plan of the memory.
	Compared int

	// Predicting, if not nil, is called when the graph is in memory and the prediction begins.
	Predicting func()
}

// compares reports whether baselines are measured. Baselines are measured if they or suggestions are asked for, or if m is a
// baseline and no explanations are asked for.
func (o *PredictOptions) compares(m *engine.Engine) bool {
	return o.Baselines || o.Suggest > 0 || m.IsBaseline() && o.Explain == nil
}

// Prediction is the result of [Graph.Classify], [Graph.Regress] and [Predict].
type Prediction struct {
	// Prediction has the classes and scores by row, the chosen parameters and the
	// cross-validated Accuracy of the method, with its standard error.
	*engine.Prediction

	Method string // name of the method that predicted

	// Classes are the names of the classes, in the order of the columns of [engine.Prediction].Scores: the order of the
	// problem. WriteTo writes numbers by value, then other names by bytes, see [nodefile.OrderClasses].
	Classes []string

	Baselines   *engine.Baselines   // nil unless these or suggestions were asked for, or the method is a baseline
	Shift       *shift.Report       // how labelled nodes differ from others; nil without a cross-validated accuracy
	Suggestions []method.Suggestion // suggestions, most useful first

	// HeldOutScores are the scores of held-out labels for [Prediction.Sets]. If Sorted is nil, the first call of Sets sets it.
	HeldOutScores *choose.Scores

	Reasons []Reasons // reasons for the predictions of PredictOptions.Explain, in their order

	UnreachedComponents int // components of the nodes that are not reached

	// Leaks are the columns of ClassifyOptions.Attributes that determine the labels. If a column was made from the labels,
	// the accuracy is too high: leave the column out by ClassifyOptions.Reading.
	Leaks []string

	g        *Graph
	engine   *engine.Engine  // engine that has predicted
	job      *Job            // has ended
	given    *engine.Problem // the labels of all processes
	problem  *engine.Problem // problem of this process, with the weights that the method has learned from
	settings *engine.Settings
	options  *PredictOptions

	attributes *tablefile.Features // attributes that Classify has read; nil: none
	coverage   float64             // coverage of the sets in WriteTo; 0: none
}

// Label returns the given label of a node, or else the predicted label. It returns "" if numbers are predicted, if the id is
// not in the graph, or if no label reaches the node and [engine.Prediction].IsForAll is false. LabelOf tells these cases
// apart.
func (p *Prediction) Label(id string) string {
	label, _, _ := p.LabelOf(id)
	return label
}

// LabelOf returns the label of a node as Label does, and reports whether a label reaches the node. The error is an [*IDError]
// if the id is not in the graph.
func (p *Prediction) LabelOf(id string) (label string, isReached bool, err error) {
	row, ok := p.g.Nodes.Lookup(id)
	if !ok {
		return "", false, &IDError{id}
	}
	return p.label(row), p.Reached.Contains(uint32(row)), nil
}

func (p *Prediction) label(row int) string {
	if p.Value != nil || !p.IsForAll && !p.Reached.Contains(uint32(row)) {
		return ""
	}
	return p.Classes[p.Class[row]]
}

// WriteTo writes a line for each node, or for each of the targets of [ClassifyOptions], in a format of
// [tablefile.PredictionEndings], for example ".csv": the label, the scores of all classes and, with Sets, the prediction set.
// The columns are the columns of heatwalk classify.
func (p *Prediction) WriteTo(ctx context.Context, w io.Writer, ending string) error {
	if !slices.Contains(tablefile.PredictionEndings, ending) {
		return refuse("ending", "%q is none of %s; give one of them", ending, strings.Join(tablefile.PredictionEndings, ", "))
	}
	if p.LabelSets != nil || p.Value != nil {
		return refuse("prediction", "nodes have numbers or several labels; read Value, or run heatwalk classify --multi-label")
	}
	var sets *Sets
	if p.coverage > 0 {
		var err error
		if sets, err = p.Sets(ctx, p.coverage); err != nil {
			return err
		}
	}
	rows := p.options.Targets
	if rows == nil {
		rows = slices.Collect(p.g.Nodes.Rows())
	}
	isKnown := make(map[int]bool, len(p.given.Row))
	for _, row := range p.given.Row {
		isKnown[row] = true
	}
	return tablefile.WritePredictions(ctx, w, ending, tablefile.Columns{Classes: p.Classes, Sets: sets != nil}, len(rows),
		func(i int, line *tablefile.Prediction) {
			line.Node = p.g.Nodes.ID(rows[i])
			line.Label = p.label(rows[i])
			line.Known = isKnown[rows[i]]
			p.LineTo(line, rows[i], sets)
		})
}

// LineTo adds the scores and the prediction set of a row to a line, whose Label and Known must be set. If sets is nil, the
// line gets no set.
func (p *Prediction) LineTo(line *tablefile.Prediction, row int, sets *Sets) {
	line.Reached = p.Reached.Contains(uint32(row))
	switch {
	case line.Known:
		line.Set = []string{line.Label}
	case sets != nil:
		line.Set = sets.Row(row)
	}
	if p.Highest != nil {
		p.Highest.RowTo(line.Scores, row)
	} else {
		simd.ConvertTo(line.Scores, p.Prediction.Scores.Row(row))
	}
}

// Scores returns the score of every class for a node, or nil if the id is not in the graph.
func (p *Prediction) Scores(id string) map[string]float64 {
	row, ok := p.g.Nodes.Lookup(id)
	if !ok {
		return nil
	}
	scores := make(map[string]float64, len(p.Classes))
	for c, name := range p.Classes {
		scores[name] = p.Prediction.Scores.At(row, c)
	}
	return scores
}

// LeastCertain returns at most number rows: the unlabelled nodes whose predicted classes have the smallest probabilities, in
// increasing order. It lists only nodes that labels reach, and only Targets of [PredictOptions].
func (p *Prediction) LeastCertain(number int) []int {
	certainty := func(row int) float64 { return p.Prediction.Scores.At(row, p.Class[row]) }
	var rows []int
	for _, row := range problem.ListUnlabelled(p.problem, p.options.Targets) {
		if p.Reached.Contains(uint32(row)) {
			rows = sched.KeepFirst(rows, row, number,
				func(a, b int) int { return cmp.Compare(certainty(a), certainty(b)) })
		}
	}
	return rows
}

// again reserves the memory of the prediction's job again, because the job has ended, and calls do.
func (p *Prediction) again(ctx context.Context, do func() error) error {
	if err := p.g.checkOpen(); err != nil {
		return err
	}
	job := &Job{g: p.g, data: p.job.data, bytes: p.job.bytes}
	if err := job.enter(ctx); err != nil {
		return err
	}
	defer job.End()
	return do()
}

// AddSuggestions computes the suggestions that [PredictOptions] ask for. It waits for memory as [Graph.Begin] does.
func (p *Prediction) AddSuggestions(ctx context.Context) error {
	return p.again(ctx, func() error { return p.addSuggestions(ctx) })
}

func (p *Prediction) addSuggestions(ctx context.Context) (err error) {
	if p.options.Suggest > 0 {
		p.Suggestions, err = method.Suggest(ctx, p.Prediction, p.problem, p.options.Suggest, p.options.Targets, p.Strategy() == method.CoverStrategy, p.settings)
	}
	return err
}

// Strategy returns the strategy of the suggestions; for auto, the strategy that held-out labels chose.
func (p *Prediction) Strategy() string {
	switch {
	case p.options.Strategy != "" && p.options.Strategy != method.AutoStrategy:
		return p.options.Strategy
	case p.Baselines.ShowLikeness(len(p.problem.Row)):
		return method.CoverStrategy
	}
	return method.RandomStrategy
}

// Reasons are the reasons for the predicted label of a node.
type Reasons = explain.Explanation

// AddReasons adds the reasons for the predictions of rows. The prediction must have [PredictOptions].Explain. The error wraps
// [explain.ErrNoForm] if scores are not sums over labelled nodes. AddReasons waits for memory as [Graph.Begin] does.
func (p *Prediction) AddReasons(ctx context.Context, rows []int) error {
	return p.again(ctx, func() error { return p.addReasons(ctx, rows) })
}

func (p *Prediction) addReasons(ctx context.Context, rows []int) error {
	s := p.settings
	list, err := p.Explain(ctx, p.problem, rows,
		&explain.Settings{Number: p.options.Reasons, Workers: s.Workers,
			Progress: s.Progress, ID: p.g.Nodes.ID})
	if err != nil {
		return err
	}
	for i := range list {
		e := &list[i]
		e.Label = p.Label(e.Node)
		e.Probability = p.Prediction.Scores.At(e.Row, e.Class)
	}
	p.Reasons = append(p.Reasons, list...)
	return p.addKinds(ctx, list)
}

// LearnedMatrix returns the adjacency matrix with the weights of kinds and times that the method has learned from. Cost: a
// sweep for each direction if the weights were chosen.
func (p *Prediction) LearnedMatrix(ctx context.Context) (sparse.Matrix, error) {
	if p.Factors == nil || p.Factors.IsGiven {
		return p.g.A, nil
	}
	a, _, err := p.g.edges.Matrices(ctx, p.Factors.Book, p.g.options.Workers)
	return a, err
}

// edgesOfLink has the edges between two nodes.
type edgesOfLink struct {
	codes           []uint32
	weights, values []float64 // without and with factors of kinds and times
}

// addKinds sets the weight of each link in the reasons of list, and its parts by kind of edge. Cost: one sweep.
func (p *Prediction) addKinds(ctx context.Context, list []Reasons) error {
	s := p.g.Store
	if s == nil || !p.g.Weighted && !s.Manifest.HasCodes() {
		return nil
	}
	links := map[[2]int]*edgesOfLink{}
	rows := map[int]bool{}
	for i := range list {
		for _, l := range list[i].Links {
			links[l.Rows] = new(edgesOfLink)
			rows[l.Rows[0]] = true
			rows[l.Rows[1]] = rows[l.Rows[1]] || p.g.Directed
		}
	}
	stored := sparse.Matrix(s.Store)
	weigh := func(weight float64, _ uint32) float64 { return weight }
	if s.Manifest.HasCodes() {
		stored, _ = shard.ApplyCodebook(s.Store, &shard.Codebook{})
		weigh = p.Factors.Book.Weigher(s.Manifest)
	}
	err := shard.EachCodedRow(ctx, stored, func(row int, col []uint32, val []float64, codes []uint32) error {
		for entry := 0; rows[row] && entry < len(col); entry++ {
			c := int(col[entry])
			ends := []*edgesOfLink{links[[2]int{row, c}]}
			if p.g.Directed && row != c {
				ends = append(ends, links[[2]int{c, row}])
			}
			code := uint32(0)
			if codes != nil {
				code = codes[entry]
			}
			for _, link := range ends {
				if link != nil {
					link.codes = append(link.codes, code)
					link.weights = append(link.weights, val[entry])
					link.values = append(link.values, weigh(val[entry], code))
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range list {
		for k := range list[i].Links {
			l := &list[i].Links[k]
			l.Kinds = links[l.Rows].kinds(s.Manifest)
		}
	}
	return nil
}

func (l *edgesOfLink) kinds(m *shard.Manifest) (list []explain.LinkKind) {
	position := map[int]int{} // position of each kind in list
	total := 0.0
	for _, i := range sched.Ascending(l.codes) { // codes by time
		if l.values[i] == 0 {
			continue
		}
		kind := shard.KindOf(l.codes[i])
		k, isListed := position[kind]
		if !isListed {
			k = len(list)
			position[kind] = k
			list = append(list, explain.LinkKind{})
		}
		e := &list[k]
		if m.Kinds != nil {
			e.Kind = m.Kinds[kind].Name
		}
		if m.Times != nil {
			e.Last = m.Times.Text(shard.TimeOf(l.codes[i]))
			e.First = cmp.Or(e.First, e.Last)
		}
		e.Weight += l.weights[i]
		e.Share += l.values[i]
		total += l.values[i]
	}
	for k := range list {
		list[k].Share /= cmp.Or(total, 1)
	}
	slices.SortStableFunc(list,
		func(a, b explain.LinkKind) int { return cmp.Compare(b.Share, a.Share) })
	return list
}

// ErrNoScores is returned by [Prediction.Sets] if held-out labels do not have probabilities of all classes.
var ErrNoScores = errors.New("there are no probabilities for held-out labels: the shares of their classes are given, several processes share the graph, or scores of a few classes are kept")

// Sets has a prediction set for each unlabelled node that a label reaches. If labels are a random sample of the nodes, the set
// contains the class of the node with probability Coverage. See package method/choose.
type Sets struct {
	*choose.Sets
	p *Prediction
}

// Sets returns prediction sets with the given coverage. The error wraps [ErrNoScores], [choose.ErrFew] or [choose.ErrRange].
// The first call may predict labels by models without their fold, see [engine.Engine.HoldOut], and waits for memory as
// [Graph.Begin] does. Sets must not be called concurrently.
func (p *Prediction) Sets(ctx context.Context, coverage float64) (*Sets, error) {
	if p.problem.Shares != nil || p.Prediction.Scores == nil {
		return nil, ErrNoScores
	}
	if p.HeldOutScores.Sorted == nil && p.LabelSets == nil {
		if p.job.division != nil {
			return nil, ErrNoScores
		}
		err := p.again(ctx, func() error {
			held, err := p.engine.HoldOut(ctx, p.problem, p.Prediction, p.settings)
			if err == nil {
				p.holdOut(p.problem, held.Places(p.problem))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	s, err := p.HeldOutScores.Sets(coverage, p.Classes, func(yield func(string, []float64) bool) {
		for _, row := range problem.ListUnlabelled(p.problem, nil) {
			if q := p.probabilities(row); q != nil && !yield(p.g.Nodes.ID(row), q) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return &Sets{s, p}, nil
}

func (p *Prediction) probabilities(row int) []float64 {
	if !p.Reached.Contains(uint32(row)) {
		return nil
	}
	q := make([]float64, len(p.Classes))
	simd.ConvertTo(q, p.Prediction.Scores.Row(row))
	return q
}

// Row returns the prediction set of an unlabelled node, given its row, by decreasing probability; nil if no label reaches the
// node.
func (s *Sets) Row(row int) []string {
	q := s.p.probabilities(row)
	if q == nil {
		return nil
	}
	return s.Names(s.p.g.Nodes.ID(row), q)
}

// Classes returns the prediction set of an unlabelled node, see [Sets.Row]; nil if the id is not in the graph.
func (s *Sets) Classes(id string) []string {
	row, ok := s.p.g.Nodes.Lookup(id)
	if !ok {
		return nil
	}
	return s.Row(row)
}

func (p *Prediction) holdOut(q *engine.Problem, places []choose.Place) {
	s := p.HeldOutScores
	s.Other = choose.UnseenShare(q)
	s.Add(places, func(label int) string { return p.g.Nodes.ID(q.Row[label]) })
}
