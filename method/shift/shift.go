package shift

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Report compares labelled nodes with the other nodes that a label reaches.
type Report struct {
	Hops   Difference `json:"hops"`   // edges to the nearest other label
	Degree Difference `json:"degree"` // sum of the weights of edges
	Share  Share      `json:"share"`  // of the class that differs most
	Part   Part       `json:"part"`   // of the graph that lacks labels most

	Spectrum Spectrum `json:"spectrum"` // of labels near each other in eigenvectors, if the method computes these

	// OneKind reports that the graph has two kinds of nodes, each with edges to the other kind alone, and labels
	// on one kind alone, which are compared with the nodes of this kind.
	OneKind bool `json:"one_kind,omitempty"`

	// Expected is the accuracy at other nodes compared with that of random folds: lower, or other if held-out labels far from
	// visible ones are predicted as well as those in random folds.
	Expected string `json:"expected"`

	// Low and High are bounds of the accuracy at other nodes, see the package comment. Both are 0 if the labels may be a random sample.
	Low  float64 `json:"accuracy_low"`
	High float64 `json:"accuracy_high"`

	// Omitted is the memory of measuring the bounds in bytes, if it exceeds Settings.Memory; otherwise 0.
	Omitted int64 `json:"-"`
}

// Sounds reports whether the labels are not a random sample.
func (r *Report) Sounds() bool {
	return r.Hops.Exceeds() || r.Degree.Exceeds() || r.Share.Exceeds() ||
		r.Part.Exceeds() || r.Spectrum.Exceeds()
}

// Bytes returns the memory of a comparison: the two nearest labels of each node before and
// after a sweep, and a list of hops or degrees; or a copy of the graph and its communities.
func Bytes(p *problem.Problem) int64 {
	n := int64(len(p.Degrees))
	bytes := int64(0)
	if isDivided(p) {
		bytes = 230*n + 44*p.A.NNZ() // slices that grow have up to twice their length
	}
	return 40*n + bytes
}

// Check compares the labelled nodes of a problem with the others, given their prediction by m and its
// cross-validated accuracy. With targets, which are rows, the others are these. It returns nil if that is not known. Cost: a sweep for each edge of the
// longest of the shortest paths to a label, and that of comparePart; and if labels are not a random sample and out has no
// comparison of probabilities, six predictions from some of the labels with the parameters of out.
func Check(ctx context.Context, m *method.Engine, p *method.Problem,
	out *method.Prediction, accuracy problem.Estimate, targets []int,
	s *method.Settings) (*Report, error) {
	if accuracy.Tested == 0 {
		return nil, nil
	}
	paths, err := nearestLabels(ctx, p, s.Workers, &out.Work)
	if err != nil {
		return nil, err
	}
	r := new(Report)
	isTarget := func(row int) bool { return true }
	if targets != nil {
		rows := roaring.New()
		for _, row := range targets {
			rows.Add(uint32(row))
		}
		isTarget = func(row int) bool { return rows.Contains(uint32(row)) }
	} else if r.OneKind, err = paths.onOneKind(ctx, p, s.Workers, &out.Work); err != nil {
		return nil, err
	} else if r.OneKind {
		isTarget = func(row int) bool { return paths.at(0, row).hops()%2 == 0 }
	}
	classes, hops := r.compareNodes(p, paths, isTarget)
	if out.Comparison != nil && targets == nil && !r.OneKind &&
		len(p.Row) <= mostPredicted {
		r.Share = compareProbabilities(p, out.Comparison, accuracy.Reached)
	} else {
		r.Share = nearestClasses(p, paths, classes)
	}
	// Components with a single label are left out, because small ones without a label are.
	canHaveLabel := func(row int, isLabelled bool) bool {
		return paths.at(1, row) != unreached && (isLabelled || isTarget(row))
	}
	r.Spectrum.Probability = 1
	if out.Comparison != nil {
		r.Spectrum = compareSpectrum(p, out.Comparison.Spectrum, canHaveLabel)
	}
	r.Part, err = comparePart(ctx, p, s.RNGSeed, s.Workers, canHaveLabel)
	if err != nil {
		return nil, err
	}
	if !r.Sounds() {
		return r, nil
	}
	r.Expected = "lower"
	const leastAccuracy = 0.0005 // it is printed as 0.0 %
	isSpread := r.Hops.Exceeds() && r.Hops.Labelled > r.Hops.Others
	hasLowDegrees := !r.Hops.Exceeds() && !r.Part.Exceeds() && r.Degree.Labelled < r.Degree.Others
	if accuracy.Accuracy < leastAccuracy || !r.Share.Exceeds() && (isSpread || hasLowDegrees) {
		r.Expected = "other"
	}
	if out.Comparison != nil {
		r.setMargins(out.Comparison, accuracy)
		return r, nil
	}
	return r, r.predictRange(ctx, &predictor{m, p, out, *s}, accuracy, hops)
}

// predictRange sets the bounds by predictions for labels from other labels, unless these exceed the memory. hops are
// numbers of other nodes by the hops to the nearest label.
func (r *Report) predictRange(ctx context.Context, l *predictor,
	accuracy problem.Estimate, hops []float64) error {
	retained := int64(len(l.p.Degrees)) * int64(4*len(l.p.Names)+8) // scores and classes of the prediction
	if l.set.Memory > 0 {
		need, err := l.Engine.Bytes(l.p, nil, &l.set)
		if err != nil || need > l.set.Memory-retained {
			r.Omitted = need + retained
			return nil
		}
		l.set.Memory -= retained
	}
	l.set.Progress = nil
	random, far, err := l.predict(ctx)
	if err != nil {
		return err
	}
	r.setRange(accuracy, random, far, hops)
	const near = 0.1 // beyond it too few held-out labels are as far from others as most nodes
	if !r.Part.Exceeds() && !isLower(far, random) && r.High >= accuracy.Accuracy &&
		r.Low > accuracy.Accuracy-near {
		r.Expected = "other" // held-out labels show no difference
	}
	return nil
}

// compareNodes compares hops and degrees of the labelled nodes with those of other nodes, of which it returns the
// numbers by the class of the nearest label and by the hops to it. Nodes that no other label
// reaches are left out, because they have no part in the accuracy.
func (r *Report) compareNodes(p *method.Problem, paths nearest,
	isTarget func(row int) bool) (classes, hops []float64) {
	var seedHops, seedDegrees, otherHops, otherDegrees []float64
	labelled := roaring.New()
	for _, row := range p.Row {
		labelled.Add(uint32(row))
		if n := paths.at(1, row); n != unreached {
			seedHops = append(seedHops, float64(n.hops()))
			seedDegrees = append(seedDegrees, p.Degrees[row])
		}
	}
	classes = make([]float64, len(p.Names))
	hops = make([]float64, mostHops+1)
	team := p.Team()
	for lo, hi := range team.CountingRows(0, len(p.Degrees)) {
		for v := lo; v < hi; v++ {
			n := paths.at(0, v)
			if n == unreached || labelled.Contains(uint32(v)) || !isTarget(v) {
				continue
			}
			classes[p.Class[n.label()]]++
			hops[n.hops()]++
			otherHops = append(otherHops, float64(n.hops()))
			otherDegrees = append(otherDegrees, p.Degrees[v])
		}
	}
	team.Sum(classes)
	team.Sum(hops)
	r.Hops, r.Degree = compare(seedHops, team.Concat(otherHops)),
		compare(seedDegrees, team.Concat(otherDegrees))
	return classes, hops
}
