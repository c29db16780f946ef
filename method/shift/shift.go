package shift

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Report compares labelled nodes with the other nodes that a label reaches.
type Report struct {
	Hops   Difference `json:"hops"`   // edges to the nearest other label
	Degree Difference `json:"degree"` // sum of the weights of edges
	Share  Share      `json:"share"`  // of the class that differs most

	// Low is the accuracy at labels of one half of the graph, predicted from those of the other half, where
	// each class counts by its predicted share at other nodes; or that of random folds if it is smaller. High is that of random folds, and one standard error.
	// Both are 0 unless the accuracy is likely lower.
	Low  float64 `json:"accuracy_low,omitempty"`
	High float64 `json:"accuracy_high,omitempty"`

	// Omitted is the memory of measuring Low in bytes, if it exceeds Settings.Memory; otherwise 0.
	Omitted int64 `json:"-"`
}

// Sounds reports whether the labels are not a random sample.
func (r *Report) Sounds() bool { return r.Hops.Exceeds() || r.Degree.Exceeds() || r.Share.Exceeds() }

// IsHigher reports whether the accuracy at other nodes is likely higher than that of random folds, because
// they are nearer to labels or, at the same distance, have larger degrees. Otherwise it is likely lower, as it is
// where the shares of classes differ: held-out labels have the shares that the method learned, other nodes have not.
func (r *Report) IsHigher() bool {
	if r.Share.Exceeds() {
		return false
	}
	if r.Hops.Exceeds() {
		return r.Hops.Labelled > r.Hops.Others
	}
	return r.Degree.Exceeds() && r.Degree.Labelled < r.Degree.Others
}

// Bytes returns the memory of a comparison on n nodes: the two nearest labels of each before and
// after a sweep, and a list of hops or degrees.
func Bytes(n int) int64 { return 40 * int64(n) }

// Check compares the labelled nodes of a problem with the others, given their prediction by m and its
// cross-validated accuracy. It returns nil if that is not known. Cost: a sweep for each edge of the
// longest of the shortest paths to a label; and if the accuracy is likely lower, three times as many
// and a prediction with the parameters of out from half of the labels.
func Check(ctx context.Context, m method.Method, p *method.Problem, out *method.Prediction, accuracy problem.Estimate, s *method.Settings) (*Report, error) {
	if accuracy.Tested == 0 {
		return nil, nil
	}
	r := new(Report)
	paths, err := nearestLabels(ctx, p, s.Workers, &out.Work)
	if err != nil {
		return nil, err
	}
	labelled := roaring.New()
	for _, row := range p.Row {
		labelled.Add(uint32(row))
	}
	r.Hops = paths.compare(p, labelled, func(_ int, hops reach) float64 { return float64(hops.hops()) })
	r.Degree = paths.compare(p, labelled, func(v int, _ reach) float64 { return p.Degrees[v] })
	predicted := predictedClasses(p, labelled, out)
	if sum(predicted) == 0 {
		return r, nil
	}
	// Known shares are those of all nodes, and predictions follow them; balanced classes have other ones.
	if p.Shares == nil && !out.Parameters.Balanced() {
		r.Share = compareShares(p.Names, choose.CountsOf(p), predicted, 1-accuracy.Accuracy)
	}
	if r.Sounds() && !r.IsHigher() {
		r.High = min(1, accuracy.Accuracy+accuracy.Stderr)
		err = r.measureLow(ctx, m, p, out, predicted, accuracy, s)
	}
	return r, err
}

// compare compares a value of the labelled nodes with that of other nodes. Nodes that no other label
// reaches are left out, because they have no part in the accuracy.
func (f nearest) compare(p *method.Problem, labelled *roaring.Bitmap, value func(v int, nearest reach) float64) Difference {
	var seedValues, otherValues []float64
	for _, row := range p.Row {
		if r := f.at(1, row); r != unreached {
			seedValues = append(seedValues, value(row, r))
		}
	}
	team := sparse.TeamOf(p.A)
	for lo, hi := range team.Counted(0, len(p.Degrees)) {
		for v := lo; v < hi; v++ {
			if r := f.at(0, v); r != unreached && !labelled.Contains(uint32(v)) {
				otherValues = append(otherValues, value(v, r))
			}
		}
	}
	return compare(seedValues, team.Concat(otherValues))
}

// predictedClasses counts the predictions of each class at the nodes without a label that a label reaches.
func predictedClasses(p *method.Problem, labelled *roaring.Bitmap, out *method.Prediction) []float64 {
	count, team := make([]float64, len(p.Names)), sparse.TeamOf(p.A)
	for lo, hi := range team.Counted(0, len(out.Class)) {
		for v := lo; v < hi; v++ {
			if !labelled.Contains(uint32(v)) && out.Reached.Contains(uint32(v)) {
				count[out.Class[v]]++
			}
		}
	}
	team.Sum(count)
	return count
}
