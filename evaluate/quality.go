package evaluate

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"
	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Quality holds measures of scores. A measure that does not apply is nil.
type Quality struct {
	// AveragePrecision and AUC measure the ranking of the items by the score of a class. They are means over the
	// classes that some but not all items have.
	AveragePrecision *float64 `json:"average_precision"` // Σ (Rₙ − Rₙ₋₁)·Pₙ, Pₙ and Rₙ precision and recall above the n-th score
	AUC              *float64 `json:"auc"`               // area under the receiver operating characteristic

	// LogLoss, Brier and CalibrationError are for scores that are probabilities: within 1e-3, all scores are at least 0
	// and each row has the sum 1.
	LogLoss          *float64 `json:"log_loss"`          // mean of −ln p of the true class, p at least 2⁻²³
	Brier            *float64 `json:"brier"`             // mean over items of Σ over classes of (p − [class is true])², 0 … 2
	CalibrationError *float64 `json:"calibration_error"` // expected, over 15 bins of equal width: Guo et al. 2017

	// Calibration has the bins of CalibrationError, summed over all splits.
	Calibration *Calibration `json:"calibration,omitempty"`
}

func (q *Quality) measures() []**float64 {
	return []**float64{&q.AveragePrecision, &q.AUC, &q.LogLoss, &q.Brier,
		&q.CalibrationError}
}

// leastProbability, the resolution of float32, replaces smaller probabilities, so that their logarithm is finite.
const leastProbability = 0x1p-23

// rounding is the largest amount by which a probability may be below 0, and by which the sum of a row may differ from
// 1.
const rounding = 1e-3

// measureQuality returns the measures of the scores of items. truth and predicted have the class of each item. row(i)
// must return the scores of item i, which are used until the next call of row. Cost: a sort of the items for each
// class.
func measureQuality(truth, predicted []int, classes int,
	row func(i int) []float32) Quality {
	var q Quality
	if len(truth) == 0 {
		return q
	}
	confidence := make([]float64, len(truth))
	right := make([]bool, len(truth))
	probabilities := true
	logs := 0.0
	squares := 0.0
	for i, t := range truth {
		sum := 0.0
		for c, v := range row(i)[:classes] {
			p := float64(v)
			sum += p
			probabilities = probabilities && p >= -rounding
			if c == predicted[i] {
				confidence[i] = p
			}
			if c == t {
				logs -= math.Log(max(p, leastProbability))
				p--
			}
			squares += float64(p * p)
		}
		probabilities = probabilities && math.Abs(sum-1) <= rounding
		right[i] = predicted[i] == t
	}
	if probabilities {
		n := float64(len(truth))
		bins := new(Calibration)
		for i, p := range confidence {
			bins.add(p, right[i])
		}
		ece := bins.error()
		logs /= n
		squares /= n
		q.LogLoss = &logs
		q.Brier = &squares
		q.CalibrationError = &ece
		q.Calibration = bins
	}
	q.AveragePrecision, q.AUC = rankings(truth, classes, confidence, right, row)
	return q
}

// rankings returns the mean average precision and the mean AUC over the classes that some but not all items have, or
// nil if there are none or a score is NaN. It overwrites score and positive.
func rankings(truth []int, classes int, score []float64, positive []bool,
	row func(i int) []float32) (_, _ *float64) {
	var sum [2]float64
	present := 0
	for c := range classes {
		count := 0
		for i, t := range truth {
			score[i] = float64(row(i)[c])
			positive[i] = t == c
			if positive[i] {
				count++
			}
		}
		if count > 0 && count < len(truth) {
			precision, area := measureRanking(positive, score)
			sum[0] += precision
			sum[1] += area
			present++
		}
	}
	if present == 0 || math.IsNaN(sum[0]+sum[1]) {
		return nil, nil
	}
	sum[0] /= float64(present)
	sum[1] /= float64(present)
	return &sum[0], &sum[1]
}

// measureRanking returns the average precision and the AUC of scores. Both are NaN if there is no positive or no
// negative item. The average precision is Σ (Rₙ − Rₙ₋₁)·Pₙ over the distinct scores in decreasing order, where Pₙ and
// Rₙ are the precision and the recall of all items with at least that score. The AUC is the share of pairs of a
// positive and a negative item in which the positive item has the higher score; equal scores count one half.
func measureRanking(positive []bool, score []float64) (averagePrecision, auc float64) {
	order := sched.Descending(score)
	// pairs counts pairs of a positive item and a negative item with a lower score.
	right := 0
	pairs := 0.0
	for lo, hi := 0, 0; lo < len(order); lo = hi {
		positives := 0
		for hi = lo; hi == lo || hi < len(order) && score[order[hi]] == score[order[lo]]; hi++ { // NaN is equal to none
			if positive[order[hi]] {
				positives++
			}
		}
		pairs += float64(hi-lo-positives) * (float64(right) + float64(positives)/2)
		right += positives
		averagePrecision += float64(positives) * float64(right) / float64(hi)
	}
	return averagePrecision / float64(right),
		pairs / (float64(right) * float64(len(order)-right))
}

// calibrationBins is the number of bins of Guo et al.
const calibrationBins = 15

// Calibration counts items by the probability of their predicted class, in 15 bins of equal width. A probability
// between two bins belongs to the lower bin.
type Calibration [calibrationBins]Bin

// Bin holds items with similar probabilities.
type Bin struct {
	Nodes       int     `json:"nodes"`
	Right       int     `json:"right"`       // nodes with the predicted class
	Probability float64 `json:"probability"` // sum over the items
}

func (c *Calibration) add(probability float64, isRight bool) {
	b := &c[min(max(0, int(math.Ceil(probability*calibrationBins))-1),
		calibrationBins-1)]
	b.Nodes++
	if isRight {
		b.Right++
	}
	b.Probability += probability
}

// error returns the mean over the items of |share of right predictions − mean probability| of their bin (Guo et al.
// 2017).
func (c *Calibration) error() float64 {
	sum := 0.0
	items := 0
	for _, b := range c {
		sum += math.Abs(float64(b.Right) - b.Probability)
		items += b.Nodes
	}
	return sum / float64(items)
}

func (c *Calibration) plus(addend *Calibration) *Calibration {
	if addend == nil {
		return nil
	}
	sum := *c
	for i, b := range addend {
		sum[i].Nodes += b.Nodes
		sum[i].Right += b.Right
		sum[i].Probability += b.Probability
	}
	return &sum
}

// Confusion counts nodes by true class (rows) and predicted class (columns).
type Confusion [][]int

func newConfusion(classes int) Confusion {
	c := make(Confusion, classes)
	for i := range c {
		c[i] = make([]int, classes)
	}
	return c
}

// Count adds a node for every i, with the true class truth[i] and the predicted class predicted[i].
func (c Confusion) Count(truth, predicted []int) {
	for i, t := range truth {
		c[t][predicted[i]]++
	}
}

// macroF1 returns the mean of 2·TP/(2·TP + FP + FN) over the first classes. It leaves out classes that occur neither as
// truth nor as prediction.
func (c Confusion) macroF1(classes int) float64 {
	sum := 0.0
	present := 0
	for i := range classes {
		total := 0
		for j := range c {
			total += c[i][j] + c[j][i]
		}
		if total > 0 {
			present++
			sum += 2 * float64(c[i][i]) / float64(total)
		}
	}
	return sum / float64(max(1, present))
}

// meanStderr returns the mean of x and the standard error of the mean, which is 0 for a single value.
func meanStderr(x []float64) (mean, stderr float64) {
	if len(x) < 2 {
		return stat.Mean(x, nil), 0
	}
	mean, std := stat.MeanStdDev(x, nil)
	return mean, std / math.Sqrt(float64(len(x)))
}

// Truth compares predictions with true labels.
type Truth struct {
	Accuracies
	MacroF1 float64 `json:"macro_f1"`
}

// Accuracies are shares of right predictions from 0 to 1: of all compared nodes, and of the compared nodes that a label
// reaches. No method can learn anything about other nodes. Accuracies estimated from labels are therefore accuracies on
// reached nodes.
type Accuracies struct {
	Nodes        int     `json:"nodes"`
	All          float64 `json:"accuracy"`
	Reached      float64 `json:"accuracy_reached"` // 0 without a reached node
	NodesReached int     `json:"nodes_reached"`
}

// truthOf compares predicted classes with true classes, both from 0 to classes − 1, by item. macro-F1 is the mean over
// the first named classes. reached reports whether a label reaches an item.
func truthOf(truth, predicted []int, classes, named int,
	reached func(i int) bool) (t Truth) {
	table := newConfusion(classes)
	table.Count(truth, predicted)
	t.Nodes, t.MacroF1 = len(truth), table.macroF1(named)
	for i := range truth {
		right := 0.0
		if truth[i] == predicted[i] {
			right = 1
		}
		t.All += right
		if reached(i) {
			t.NodesReached++
			t.Reached += right
		}
	}
	t.All /= float64(max(1, t.Nodes))
	t.Reached /= float64(max(1, t.NodesReached))
	return t
}

// Compare compares predicted labels with the known labels of the nodes that have no label in seeds, or returns nil if
// there are no such nodes. labels has a class of seeds, or [Unlabelled], for each row. A blank counts as wrong, and so
// does a true class that seeds lacks.
func Compare(labels []int, reached *roaring.Bitmap,
	seeds, actual *nodefile.Labels) *Truth {
	seedClass := classOfRow(seeds, len(labels))
	names := slices.Clone(seeds.Names)
	var positions []int // positions of the names of actual classes
	for _, name := range actual.Names {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		positions = append(positions, slices.Index(names, name))
	}
	blank := len(names) // has its own column, and no part in the mean of F1
	var truth, predicted, rows []int
	for i, row := range actual.Row {
		if seedClass[row] != Unlabelled {
			continue
		}
		class := labels[row]
		if class == Unlabelled {
			class = blank
		}
		truth = append(truth, positions[actual.Class[i]])
		predicted = append(predicted, class)
		rows = append(rows, row)
	}
	if rows == nil {
		return nil
	}
	t := truthOf(truth, predicted, blank+1, blank,
		func(i int) bool { return reached.Contains(uint32(rows[i])) })
	return &t
}

func classOfRow(l *nodefile.Labels, n int) []int32 {
	class := slices.Repeat([]int32{Unlabelled}, n)
	for i, row := range l.Row {
		class[row] = int32(l.Class[i])
	}
	return class
}

const probabilityBins = 10

// leastCertain is the number of nodes that [Predictions] lists.
const leastCertain = 20

// Predictions holds statistics of the predicted classes of a graph, see [Summarize].
type Predictions struct {
	Classes     []string         `json:"classes"`
	Expected    float64          `json:"expected"` // mean probability of the predicted class, the accuracy that calibrated probabilities have
	ByClass     []ClassCounts    `json:"by_class"`
	Probability []ProbabilityBin `json:"by_probability"` // nodes without a label, by the probability of their predicted class
	Least       []UncertainNode  `json:"least_certain"`  // nodes with the least probability of the predicted class, in increasing order

	Rare *RareClass `json:"rare,omitempty"` // the class with fewer labels, if there are two classes

	// The comparison with true classes, for nodes whose true class has a training label. Without true classes it is with
	// held-out labels. Without true classes and held-out labels, all fields are empty.
	ComparedWith string       `json:"compared_with,omitempty"`
	Confusion    Confusion    `json:"confusion,omitempty"`
	Calibration  *Calibration `json:"calibration,omitempty"`
}

// ClassCounts counts the labels of a class, and the nodes without a label for which the class is predicted.
type ClassCounts struct {
	Class           string  `json:"class"`
	Labels          int     `json:"labels"`
	LabelShare      float64 `json:"label_share"`
	Predictions     int     `json:"predictions"`
	PredictionShare float64 `json:"prediction_share"`
}

// ProbabilityBin counts nodes whose probability is at least From and below From + 0.1.
type ProbabilityBin struct {
	From  float64 `json:"from"`
	Nodes int     `json:"nodes"`
}

// UncertainNode is a node with its two most likely classes.
type UncertainNode struct {
	row         int
	Node        string  `json:"node"`
	Class       string  `json:"class"`
	Probability float64 `json:"probability"`
	Second      string  `json:"second"`
	SecondShare float64 `json:"second_probability"`
}

// RareClass holds the nodes without a label for which a class is most likely.
type RareClass struct {
	Class       string          `json:"class"`
	Predictions int             `json:"predictions"`
	First       []LikelyNode    `json:"most_likely"`        // most likely first
	Ties        *Ties           `json:"ties,omitempty"`     // the largest group of equal probabilities in First; nil: all differ
	Precision   []ListPrecision `json:"expected_precision"` // precision of the first 10, 50 and 100 nodes, and of all predictions
}

// Ties counts nodes of a list with one probability, whose order among each other has no meaning.
type Ties struct {
	Nodes       int     `json:"nodes"`
	Probability float64 `json:"probability"`
}

// tiesOf returns the largest group of equal probabilities in a sorted list, or nil if all differ.
func tiesOf(list []LikelyNode) *Ties {
	largest := Ties{Nodes: 1}
	for i := 0; i < len(list); {
		next := i
		for next < len(list) && list[next].Probability == list[i].Probability {
			next++
		}
		if next-i > largest.Nodes {
			largest = Ties{next - i, list[i].Probability}
		}
		i = next
	}
	if largest.Nodes == 1 {
		return nil
	}
	return &largest
}

// LikelyNode is a node in a list, with its number in the list and its probability of the class.
type LikelyNode struct {
	Row         int     `json:"-"`
	Number      int     `json:"number"`
	Node        string  `json:"node"`
	Probability float64 `json:"probability"`
}

// ListPrecision is the expected share of nodes of the class among the first nodes of a list: the mean of their
// probabilities.
type ListPrecision struct {
	List      string  `json:"list"` // the list in words
	Nodes     int     `json:"nodes"`
	Precision float64 `json:"precision"`
}

// mostLikely is the number of nodes in the list of a rare class.
const mostLikely = 100

func (s *Predictions) describeRare(scores *sparse.Block[float32], labels []int,
	seedClass []int32, id func(row int) string) *RareClass {
	rare := 0
	if s.ByClass[1].Labels < s.ByClass[0].Labels {
		rare = 1
	}
	r := &RareClass{Class: s.Classes[rare],
		Predictions: s.ByClass[rare].Predictions, First: []LikelyNode{}}
	predicted := 0.0
	for row, c := range labels {
		if seedClass[row] != Unlabelled || c == Unlabelled {
			continue
		}
		v := LikelyNode{Row: row, Probability: scores.At(row, rare)}
		if c == rare {
			predicted += v.Probability
		}
		r.First = sched.KeepFirst(r.First, v, mostLikely,
			func(a, b LikelyNode) int { return cmp.Compare(b.Probability, a.Probability) })
	}
	sum := 0.0
	for i := range r.First {
		v := &r.First[i]
		v.Number = i + 1
		v.Node = id(v.Row)
		sum += v.Probability
		if n := i + 1; n == 10 || n == 50 || n == mostLikely {
			r.Precision = append(r.Precision,
				ListPrecision{"first " + strconv.Itoa(n), n, sum / float64(n)})
		}
	}
	r.Ties = tiesOf(r.First)
	if r.Predictions > 0 {
		r.Precision = append(r.Precision,
			ListPrecision{"all predicted", r.Predictions,
				predicted / float64(r.Predictions)})
	}
	return r
}

// Summarize returns statistics of the predictions for nodes without a label. labels has the predicted class of each
// row, or [Unlabelled] for rows that do not count. Rows of scores must have the sum 1. If truth is nil, held-out labels
// take its place. id returns the name of the node in a row. Cost: one pass over the scores.
func Summarize(prediction *engine.Prediction, labels []int,
	seeds, truth *nodefile.Labels, id func(row int) string) *Predictions {
	classes := len(seeds.Names)
	scores := prediction.Scores
	s := &Predictions{Classes: seeds.Names, ByClass: make([]ClassCounts, classes),
		Probability: make([]ProbabilityBin, probabilityBins)}
	for i := range s.Probability {
		s.Probability[i].From = float64(i) / probabilityBins
	}
	seedClass := classOfRow(seeds, len(labels))
	trueClass := s.compareWith(prediction, truth, len(labels))
	count := 0
	for row, c := range labels {
		if seedClass[row] != Unlabelled || c == Unlabelled {
			continue
		}
		u := twoLikeliest(row, c, scores.Row(row), seeds.Names)
		count++
		s.ByClass[c].Predictions++
		s.Probability[min(max(0, int(u.Probability*probabilityBins)),
			probabilityBins-1)].Nodes++
		s.Expected += u.Probability
		s.Least = sched.KeepFirst(s.Least, u, leastCertain,
			func(a, b UncertainNode) int { return cmp.Compare(a.Probability, b.Probability) })
		if want := trueClass[row]; want != Unlabelled {
			s.Confusion[want][c]++
			s.Calibration.add(u.Probability, want == c)
		}
	}
	for s.Probability[0].Nodes == 0 &&
		s.Probability[0].From+1.0/probabilityBins <= 1/float64(classes) {
		s.Probability = s.Probability[1:] // no largest probability is below 1/classes
	}
	for i := range s.Least {
		s.Least[i].Node = id(s.Least[i].row)
	}
	s.Expected /= float64(max(1, count))
	for _, c := range seeds.Class {
		s.ByClass[c].Labels++
	}
	if classes == 2 {
		s.Rare = s.describeRare(scores, labels, seedClass, id)
	}
	for c := range s.ByClass {
		b := &s.ByClass[c]
		b.Class = seeds.Names[c]
		b.LabelShare = float64(b.Labels) / float64(max(1, len(seeds.Row)))
		b.PredictionShare = float64(b.Predictions) / float64(max(1, count))
	}
	order := nodefile.OrderClasses(s.Classes)
	s.Classes = problem.Pick(s.Classes, order)
	s.ByClass = problem.Pick(s.ByClass, order)
	s.Confusion = s.Confusion.arrange(order)
	return s
}

func (c Confusion) arrange(order []int) Confusion {
	if c == nil {
		return nil
	}
	out := problem.Pick(c, order)
	for i, row := range out {
		out[i] = problem.Pick(row, order)
	}
	return out
}

// compareWith begins the comparison with truth, or with held-out labels if truth is nil. It returns the class of each
// row in truth, or [Unlabelled] for rows without one.
func (s *Predictions) compareWith(prediction *engine.Prediction, truth *nodefile.Labels,
	rows int) (trueClass []int) {
	trueClass = slices.Repeat([]int{Unlabelled}, rows)
	held := prediction.Held
	if truth == nil && (held == nil || !held.HasScores()) {
		return trueClass
	}
	s.Confusion = newConfusion(len(s.Classes))
	s.Calibration = new(Calibration)
	if truth == nil {
		s.ComparedWith = "held-out labels"
		for _, row := range held.Rows {
			if !row.Reached {
				continue
			}
			class := prediction.Problem.Class[row.Label]
			s.Confusion[class][row.Class]++
			s.Calibration.add(float64(row.Scores[row.Class]), class == row.Class)
		}
		return trueClass
	}
	s.ComparedWith = "true labels"
	var positions []int // positions of the names of true classes
	for _, name := range truth.Names {
		positions = append(positions, slices.Index(s.Classes, name))
	}
	for i, row := range truth.Row {
		trueClass[row] = positions[truth.Class[i]]
	}
	return trueClass
}

func twoLikeliest(row, c int, p []float32, names []string) UncertainNode {
	u := UncertainNode{row: row, Class: names[c], Probability: float64(p[c])}
	for class, q := range p {
		if class != c && (u.Second == "" || float64(q) > u.SecondShare) {
			u.Second = names[class]
			u.SecondShare = float64(q)
		}
	}
	return u
}
