package shift

import (
	"context"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Report compares labelled nodes with the other nodes that a label reaches.
type Report struct {
	Hops   Difference `json:"hops"`   // edges to the nearest other label
	Degree Difference `json:"degree"` // sum of the weights of edges

	// OneKind states that the graph has two kinds of nodes, each with edges to the other kind alone, and that all labels are on
	// one kind. Labelled nodes are then compared with the other nodes of this kind.
	OneKind bool `json:"one_kind,omitempty"`
}

// Exceeds reports whether a difference exceeds its limit, so that the labels are not a random sample.
func (r *Report) Exceeds() bool { return r.Hops.exceeds() || r.Degree.exceeds() }

// Largest returns the difference that is larger relative to its limit, and whether this is the difference of degrees.
func (r *Report) Largest() (d Difference, isDegree bool) {
	if math.Abs(r.Degree.Labelled-r.Degree.Others)*r.Hops.Limit > math.Abs(r.Hops.Labelled-r.Hops.Others)*r.Degree.Limit {
		return r.Degree, true
	}
	return r.Hops, false
}

// Difference compares a quantity of labelled nodes with the same quantity of other nodes, where their distribution functions
// differ most.
type Difference struct {
	Above    float64 `json:"above"`
	Labelled float64 `json:"labelled"` // share of labelled nodes with a larger value than Above
	Others   float64 `json:"others"`   // share of other nodes with a larger value
	Limit    float64 `json:"limit"`    // exceeded by 0.1 % of random samples
}

func (d Difference) exceeds() bool { return math.Abs(d.Labelled-d.Others) > d.Limit }

// ksFactor is the quantile √(½ log 2/ε) of the distribution of Kolmogorov for ε = 0.001.
const ksFactor = 1.949

// compare returns the two-sample statistic of Kolmogorov and Smirnov for lists of m and n numbers, with the limit
// ksFactor·√(1/m + 1/n). It sorts both lists.
func compare(labelled, others []float64) (d Difference) {
	if len(labelled) == 0 || len(others) == 0 {
		return d
	}
	slices.Sort(labelled)
	slices.Sort(others)
	m := float64(len(labelled))
	n := float64(len(others))
	d.Limit = ksFactor * math.Sqrt(1/m+1/n)
	for i, j := 0, 0; i < len(labelled) && j < len(others); {
		value := min(labelled[i], others[j])
		for i < len(labelled) && labelled[i] == value {
			i++
		}
		for j < len(others) && others[j] == value {
			j++
		}
		a, b := 1-float64(i)/m, 1-float64(j)/n
		if math.Abs(a-b) > math.Abs(d.Labelled-d.Others) {
			d.Above, d.Labelled, d.Others = value, a, b
		}
	}
	return d
}

// Check compares the labelled nodes of a problem with all other nodes, or only with the rows in targets if targets is not
// nil. It adds its sweeps to work. Cost: a sweep for each edge of the longest shortest path to a label.
func Check(ctx context.Context, p *problem.Problem, targets []int, workers int, work *graph.Work) (*Report, error) {
	paths, err := nearestLabels(ctx, p, workers, work)
	if err != nil {
		return nil, err
	}
	r := new(Report)
	isOther := func(int) bool { return true }
	if targets != nil {
		rows := roaring.New()
		for _, row := range targets {
			rows.Add(uint32(row))
		}
		isOther = func(row int) bool { return rows.Contains(uint32(row)) }
	} else if r.OneKind, err = paths.onOneKind(ctx, p, workers, work); err != nil {
		return nil, err
	} else if r.OneKind {
		isOther = func(row int) bool { return paths.at(0, row).hops()%2 == 0 }
	}
	r.compareNodes(p, paths, isOther)
	return r, nil
}

// compareNodes sets r.Hops and r.Degree: it compares labelled nodes with the unlabelled nodes for which isOther is true. It
// leaves out nodes that no other label reaches, because these have no part in the accuracy.
func (r *Report) compareNodes(p *problem.Problem, paths nearest, isOther func(row int) bool) {
	var hops, degrees, otherHops, otherDegrees []float64
	labelled := roaring.New()
	for _, row := range p.Row {
		labelled.Add(uint32(row))
		if n := paths.at(1, row); n != unreached {
			hops = append(hops, float64(n.hops()))
			degrees = append(degrees, p.Degrees[row])
		}
	}
	team := p.Team()
	for lo, hi := range team.CountingRows(0, len(p.Degrees)) {
		for v := lo; v < hi; v++ {
			n := paths.at(0, v)
			if n == unreached || labelled.Contains(uint32(v)) || !isOther(v) {
				continue
			}
			otherHops = append(otherHops, float64(n.hops()))
			otherDegrees = append(otherDegrees, p.Degrees[v])
		}
	}
	r.Hops = compare(hops, team.Concat(otherHops))
	r.Degree = compare(degrees, team.Concat(otherDegrees))
}
