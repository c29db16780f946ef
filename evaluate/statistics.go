package evaluate

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// mostPaired is the largest number of classes for which the links between classes are counted.
const mostPaired = 20

// Unlabelled is the class of a row without a label.
const Unlabelled = -1

// Statistics holds counts of a graph and its labels, computed in two sweeps.
type Statistics struct {
	Labelled int
	Classes  int
	Frequent int     // the class with most labels, the first of several
	Share    float64 // share of Frequent among the labels
	OfClass  []int   // labels of each class

	Components int64
	Sizes      []SizeCount // numbers of components by their number of nodes, in increasing order
	Largest    int64       // number of nodes of the largest component
	Isolated   int64       // nodes without an edge

	// SwitchWeight is the probability that an edge joins different classes if it is drawn in proportion to its weight,
	// SwitchEdge if it is drawn uniformly. Edges with an unlabelled end are ignored. Both are 0 if no edges are left.
	SwitchWeight, SwitchEdge float64

	Neighbours []uint32  // number of neighbours of each node; in a directed graph, along its edges
	Pairs      [][]int64 // entries between labelled nodes, by class of the row and of the column; nil above 20 classes
}

// SizeCount is the number of components with a given number of nodes.
type SizeCount struct {
	Nodes int64 `json:"nodes"`
	Count int64 `json:"components"`
}

// LargestSizes returns the 30 largest sizes in decreasing order.
func (s *Statistics) LargestSizes() []SizeCount {
	list := slices.Clone(s.Sizes[max(0, len(s.Sizes)-30):])
	slices.Reverse(list)
	return list
}

// ClassLabels counts the labels of a class.
type ClassLabels struct {
	Class  string  `json:"class"`
	Labels int     `json:"labels"`
	Share  float64 `json:"label_share"`
}

// ClassOrder returns the classes in decreasing order of their numbers of labels.
func (s *Statistics) ClassOrder() []int {
	return sched.Descending(s.OfClass)
}

// LabelsByClass returns the number of labels of each class in decreasing order. It returns at most the 400 largest
// classes.
func (s *Statistics) LabelsByClass(names []string) (list []ClassLabels) {
	for _, c := range s.ClassOrder()[:min(400, len(s.OfClass))] {
		n := s.OfClass[c]
		list = append(list, ClassLabels{names[c], n, float64(n) / float64(s.Labelled)})
	}
	return list
}

// DegreeBin counts the nodes with at least From and fewer than Below neighbours, and the nodes with a weighted degree
// in this range. Nodes with 0 are in a bin from 0 to 0.
type DegreeBin struct {
	From       float64 `json:"from"`
	Below      float64 `json:"below"`
	Neighbours int     `json:"nodes_by_neighbours"`
	Degrees    int     `json:"nodes_by_degree"`
}

// DegreeBins returns bins whose bounds double, without empty bins.
func (s *Statistics) DegreeBins(degrees []float64) []DegreeBin {
	const least = -1074 // exponent of the least number above 0
	bins := make([]DegreeBin, 1023-least+2)
	binOf := func(d float64) *DegreeBin {
		if d > 0 {
			return &bins[math.Ilogb(d)-least+1]
		}
		return &bins[0]
	}
	for i, d := range degrees {
		binOf(float64(s.Neighbours[i])).Neighbours++
		binOf(d).Degrees++
	}
	for i := range bins[1:] {
		bins[i+1].From = math.Ldexp(1, i+least)
		bins[i+1].Below = min(2*bins[i+1].From, math.MaxFloat64)
	}
	return slices.DeleteFunc(bins, func(b DegreeBin) bool { return b.Neighbours+b.Degrees == 0 })
}

// Measure returns the statistics of a graph in two sweeps. If directed is set, an edge is one entry, and otherwise two
// entries. l may be nil.
func Measure(ctx context.Context, a sparse.Matrix, directed bool,
	l *nodefile.Labels, workers int) (*Statistics, error) {
	parts, err := (&graph.Graph{A: a, Symmetric: !directed, Workers: workers}).FindComponents(ctx)
	if err != nil {
		return nil, err
	}
	s := &Statistics{Neighbours: make([]uint32, len(parts.Of))}
	s.Components = int64(len(parts.Sizes))
	count := map[int64]int64{}
	for _, size := range parts.Sizes {
		count[int64(size)]++
	}
	for _, size := range slices.Sorted(maps.Keys(count)) {
		s.Sizes = append(s.Sizes, SizeCount{size, count[size]})
		s.Largest = size
	}
	var links *linkCounter // nil: there are no labels
	if l != nil {
		s.countLabels(l)
		links = newLinkCounter(l, len(parts.Of), directed, sched.Workers(workers))
	}
	err = sparse.EachRow(ctx, a, workers, func(worker, row int, col []uint32, val []float64) error {
		s.Neighbours[row] = uint32(len(col))
		if links != nil {
			links.addRow(worker, row, col, val)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for row, neighbours := range s.Neighbours {
		if neighbours == 0 && parts.Sizes[parts.Of[row]] == 1 {
			s.Isolated++
		}
	}
	if links != nil {
		if links.classes > 0 {
			for _, counts := range links.pairs[1:] {
				for i, n := range counts {
					links.pairs[0][i] += n
				}
			}
			s.Pairs = slices.Collect(slices.Chunk(links.pairs[0], links.classes))
		}
		var sum steps
		for _, e := range links.ends {
			sum.add(e)
		}
		if sum.ends > 0 {
			s.SwitchEdge = float64(sum.mixed) / float64(sum.ends)
		}
		if sum.weight > 0 {
			s.SwitchWeight = sum.mixedWeight / sum.weight
		}
	}
	return s, nil
}

// linkCounter counts the entries between labelled nodes for each row, so that sums do not depend on the number of
// workers.
type linkCounter struct {
	class    []int32 // class of each row
	directed bool
	classes  int       // number of classes of which pairs are counted; 0 if there are too many
	pairs    [][]int64 // pairs[worker][b·classes+c] counts entries from class b to class c
	ends     []steps   // steps of each row
}

func newLinkCounter(l *nodefile.Labels, rows int, directed bool, workers int) *linkCounter {
	k := &linkCounter{class: classOfRow(l, rows), directed: directed,
		pairs: make([][]int64, workers), ends: make([]steps, rows)}
	if len(l.Names) <= mostPaired {
		k.classes = len(l.Names)
	}
	for worker := range k.pairs {
		k.pairs[worker] = make([]int64, k.classes*k.classes)
	}
	return k
}

func (k *linkCounter) addRow(worker, row int, col []uint32, val []float64) {
	class := k.class[row]
	if class == Unlabelled {
		return
	}
	for e, column := range col {
		neighbour := k.class[column]
		if neighbour == Unlabelled {
			continue
		}
		if k.classes > 0 {
			k.pairs[worker][int(class)*k.classes+int(neighbour)]++
		}
		entry := steps{ends: 1, weight: blocks.Factor(val, e)}
		if int(column) == row && !k.directed { // an undirected edge has two entries, but a self loop one
			entry.ends = 2
			entry.weight = 2 * entry.weight
		}
		if neighbour != class {
			entry.mixed = entry.ends
			entry.mixedWeight = entry.weight
		}
		k.ends[row].add(entry)
	}
}

func (s *Statistics) countLabels(l *nodefile.Labels) {
	s.Labelled = len(l.Row)
	s.Classes = len(l.Names)
	if s.Labelled == 0 {
		return
	}
	s.OfClass = l.Sizes()
	largest := slices.Max(s.OfClass)
	s.Frequent = slices.Index(s.OfClass, largest)
	s.Share = float64(largest) / float64(s.Labelled)
}

// steps counts the ends of edges between labelled nodes, and of these mixed ends, whose edges join different classes.
// weight and mixedWeight are the sums of their weights.
type steps struct {
	ends, mixed         int64
	weight, mixedWeight float64
}

func (s *steps) add(o steps) {
	s.ends += o.ends
	s.mixed += o.mixed
	s.weight += o.weight
	s.mixedWeight += o.mixedWeight
}
