package shift

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
)

// Part is the part of the graph with the least probable number of labels: one or several communities.
type Part struct {
	Nodes       int     `json:"nodes"`
	Labelled    int     `json:"labelled"`    // nodes with a label
	Expected    float64 `json:"expected"`    // mean number of nodes with a label in random samples
	Probability float64 `json:"probability"` // that a random sample has a part as improbable; 1: not tested

	ratio   float64 // likelihood ratio of the numbers of nodes with and without a label
	missing float64 // share of the nodes above the share of the labels, if that is lower
}

// Exceeds reports whether the labels are less even than chance explains.
func (p Part) Exceeds() bool { return p.Probability < partRate }

const (
	partRate      = 0.002 // share of random samples that cause a warning
	randomSamples = 300

	// partEntries bounds the stored entries of graphs whose parts are tested, because finding communities takes a
	// second for four million of them, as long as a prediction by a block model.
	partEntries = 1 << 20

	leastTested   = 16  // labels
	leastExpected = 2   // labels of a random sample in a community
	leastShare    = 256 // of the nodes, in a community: its inverse
)

// isDivided reports whether parts of a graph are tested.
func isDivided(p *problem.Problem) bool {
	return p.Team() == nil && p.A.NNZ() <= partEntries && len(p.Row) >= leastTested
}

// division is the nodes that can have a label, with their communities of at most n, n/4, n/16 and n/64 nodes.
type division struct {
	labels int
	levels []level
}

// level holds the number of the community of each node, -1 for none, and the sizes of communities.
type level struct {
	community []int32
	size      []int
}

// comparePart returns the part of the graph with the least probable number of labels among the nodes that can have one.
// It is a community, the three with the lowest or highest shares of labels, or the best number of these. Of each of these
// kinds, in communities of each size, the largest likelihood ratio of the shares of nodes with a label inside and outside
// is compared with the mean of those of random samples: a scan statistic, see Kulldorff (1997). The largest difference of
// random samples has nearly a Gumbel distribution.
// Communities and samples follow the keys of the nodes, not their rows.
// Cost: [partition.Communities] for a graph of up to partEntries, and randomSamples counts of the labels.
func comparePart(ctx context.Context, p *problem.Problem, seed uint64, workers int,
	canHaveLabel func(row int, isLabelled bool) bool) (Part, error) {
	noPart := Part{Probability: 1}
	if !isDivided(p) {
		return noPart, nil
	}
	a, err := sparse.Plain(ctx, p.A, workers)
	if err != nil {
		return noPart, err
	}
	rows := orderByKey(p)
	if a, err = permute(a, rows); err != nil {
		return noPart, err
	}
	order, size, err := partition.Communities(ctx, a, nil)
	if err != nil {
		return noPart, err
	}
	isLabelled := problem.MarkLabels(p)
	var labelled []int
	nodes := []int{0} // that can have a label, before each of the order
	for _, i := range order {
		row := rows[i]
		n := nodes[len(nodes)-1]
		if canHaveLabel(row, isLabelled[row]) {
			if isLabelled[row] {
				labelled = append(labelled, n)
			}
			n++
		}
		nodes = append(nodes, n)
	}
	d := &division{labels: len(labelled)}
	for limit := len(order); limit*64 >= len(order) && limit > 0; limit /= 4 {
		d.levels = append(d.levels, divide(nodes, size, limit, len(labelled)))
	}
	sampled := sched.UpTo(nodes[len(order)])
	rng := rand.New(rand.NewPCG(seed, 0))
	ratios := make([][]float64, randomSamples)
	for s := range ratios {
		for i := range labelled {
			j := i + rng.IntN(len(sampled)-i)
			sampled[i], sampled[j] = sampled[j], sampled[i]
		}
		for _, extreme := range d.extremes(sampled[:len(labelled)]) {
			ratios[s] = append(ratios[s], extreme.ratio)
		}
	}
	return d.leastProbable(labelled, ratios), nil
}

// orderByKey returns the rows of a problem in the order of the keys of their nodes.
func orderByKey(p *problem.Problem) []int {
	rows := sched.UpTo(len(p.Degrees))
	if p.Key == nil {
		return rows
	}
	keys := make([]uint64, len(rows))
	for row := range keys {
		keys[row] = p.Key(row)
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	return rows
}

// permute returns the matrix whose row and column i are those of rows[i] of a.
func permute(a *sparse.CSR, rows []int) (*sparse.CSR, error) {
	place := make([]uint32, len(rows))
	for i, row := range rows {
		place[row] = uint32(i)
	}
	type entry struct {
		col uint32
		val float64
	}
	var entries []entry // of a row
	ptr := []int64{0}
	var col []uint32
	var val []float64
	for _, row := range rows {
		columns, values := a.Row(row)
		entries = entries[:0]
		for e, c := range columns {
			one := entry{place[c], 1}
			if values != nil {
				one.val = values[e]
			}
			entries = append(entries, one)
		}
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.col, b.col) })
		for _, one := range entries {
			col = append(col, one.col)
			if values != nil {
				val = append(val, one.val)
			}
		}
		ptr = append(ptr, int64(len(col)))
	}
	return sparse.NewCSR(len(rows), len(rows), ptr, col, val)
}

// divide returns the communities of at most limit nodes that are in no other one. nodes[i] is the number of
// nodes that can have a label before the i-th of the order.
func divide(nodes []int, size []uint32, limit, labels int) (l level) {
	total := nodes[len(size)]
	for i := 0; i < len(size); {
		next := i + 1
		community := int32(-1)
		if int(size[i]) <= limit {
			next = i + int(size[i])
			members := nodes[next] - nodes[i]
			if members*labels >= leastExpected*total && members*leastShare >= total {
				community = int32(len(l.size))
				l.size = append(l.size, members)
			}
		}
		for range nodes[next] - nodes[i] {
			l.community = append(l.community, community)
		}
		i = next
	}
	return l
}

// mostJoined are the numbers of communities with the lowest or highest shares of labels in a part.
var mostJoined = [...]int{1, 3, math.MaxInt}

// extremes returns the part with the largest likelihood ratio of each kind, given the nodes with a label.
func (d *division) extremes(labelled []int) (list []Part) {
	for _, l := range d.levels {
		count := make([]int, len(l.size))
		for _, node := range labelled {
			if c := l.community[node]; c >= 0 {
				count[c]++
			}
		}
		rising := sched.UpTo(len(count))
		slices.SortStableFunc(rising, func(a, b int) int {
			return cmp.Compare(count[a]*l.size[b], count[b]*l.size[a])
		})
		for _, sign := range []float64{-1, 1} {
			var best [len(mostJoined)]Part
			var sum Part
			for i, c := range rising {
				sum.Nodes += l.size[c]
				sum.Labelled += count[c]
				d.compare(&sum, len(l.community), sign)
				for kind, limit := range mostJoined {
					region := sum
					if limit == 1 {
						region = Part{Nodes: l.size[c], Labelled: count[c]}
						d.compare(&region, len(l.community), sign)
					}
					if (limit == 1 || i < limit) && region.ratio > best[kind].ratio {
						best[kind] = region
					}
				}
			}
			list = append(list, best[:]...)
			slices.Reverse(rising)
		}
	}
	return list
}

// compare sets the likelihood ratio of a part of the nodes that has fewer labels than a random sample for a sign of −1,
// and more for 1; otherwise it is 0.
func (d *division) compare(part *Part, nodes int, sign float64) {
	part.Expected = float64(part.Nodes) / float64(nodes) * float64(d.labels)
	part.ratio = 0
	if sign*(float64(part.Labelled)-part.Expected) > 0 {
		part.ratio = likelihoodRatio(float64(part.Labelled), float64(d.labels),
			float64(part.Nodes-part.Labelled), float64(nodes-d.labels))
	}
}

// leastProbable returns the part whose likelihood ratio exceeds that of random samples most.
func (d *division) leastProbable(labelled []int, ratios [][]float64) (best Part) {
	parts := d.extremes(labelled)
	largest := math.Inf(-1)
	highest := slices.Repeat([]float64{math.Inf(-1)}, len(ratios)) // of each random sample
	column := make([]float64, len(ratios))
	for kind, extreme := range parts {
		for s := range ratios {
			column[s] = ratios[s][kind]
		}
		mean := stat.Mean(column, nil)
		for s, ratio := range column {
			highest[s] = max(highest[s], ratio-mean)
		}
		if extreme.ratio-mean > largest {
			largest = extreme.ratio - mean
			best = extreme
		}
	}
	best.Probability = 1
	if mean, deviation := stat.MeanStdDev(highest, nil); deviation > 0 {
		const gamma = 0.5772156649015329 // of Euler
		gumbel := (largest-mean)/deviation*math.Pi/math.Sqrt(6) + gamma
		best.Probability = -math.Expm1(-math.Exp(-gumbel))
	}
	if len(parts) > 0 {
		nodes := float64(len(d.levels[0].community))
		best.missing = max(0, float64(best.Nodes)/nodes-float64(best.Labelled)/float64(d.labels))
	}
	return best
}
