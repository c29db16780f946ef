package learn

import (
	"cmp"
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	mostNodes   = 2000  // the map of a graph with more nodes has groups of nodes
	mostListed  = 20000 // the page of a graph with more nodes has some predictions only
	largestNode = 20.0  // radius of the disc of a single node
	mostLeast   = 20    // nodes of each group that the page of such a graph lists
	mostGroups  = 240   // number of largest groups of one class and region; the other nodes are grouped by class alone
	regions     = 48
	rounds      = 30
)

type mapGraph struct {
	A        sparse.Matrix
	Weighted bool // links are as strong as entries of A; otherwise all are equal
	ID       func(row int) string
	Classes  []string
	Class    []int // class of each row; −1: no class
	Scores   func(row int) []float32
	Known    []bool // the class is a given label
	Workers  int    // goroutines; 0: one for each processor

	Colors  []int         // number of the color of each class; −1: grey
	Reasons map[int]any   // heatwalk.Reasons by row
	Links   map[int][]int // rows at both ends of the links in these reasons, by row
	File    string        // file of the predictions of all nodes
}

// group is a bubble of the map: a single node, or nodes of one class.
type group struct {
	class, nodes, known int
	certainty           float64 // mean probability of the class
	row                 int     // row of a single node; −1: a group
	uncertain           []int   // rows of the least certain nodes
}

type link struct {
	a, b   int
	weight float64
}

// scatter returns pseudo-random bits of a row (the finalizer of SplitMix64).
func scatter(row int) uint64 {
	z := uint64(row)*0x9e3779b97f4a7c15 + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// regionsOf returns the region of each row, from 0 to regions − 1. Rows that no region reaches have the value
// regions. Cost: one sweep for each round.
func (g *mapGraph) regionsOf(ctx context.Context) ([]int32, error) {
	n := len(g.Class)
	region := make([]int32, n)
	next := make([]int32, n)
	var order []int // rows with the smallest bits
	for row := range n {
		region[row] = regions
		order = sched.KeepFirst(order, row, regions,
			func(a, b int) int { return cmp.Compare(scatter(a), scatter(b)) })
	}
	for i, row := range order {
		region[row] = int32(i)
	}
	for range rounds {
		sums := make([][regions + 1]float64, sched.Workers(g.Workers))
		changed := make([]bool, sched.Workers(g.Workers))
		err := sparse.EachRow(ctx, g.A, g.Workers, func(worker, row int, col []uint32, val []float64) error {
			sum := &sums[worker]
			next[row] = region[row]
			if next[row] < regions {
				return nil
			}
			*sum = [regions + 1]float64{}
			for e, c := range col {
				w := 1.0
				if val != nil {
					w = val[e]
				}
				sum[region[c]] += w
			}
			for r := range int32(regions) {
				if sum[r] > 0 && (next[row] == regions || sum[r] > sum[next[row]]) {
					next[row] = r
				}
			}
			changed[worker] = changed[worker] || next[row] < regions
			return nil
		})
		if err != nil {
			return nil, err
		}
		region, next = next, region
		if !slices.Contains(changed, true) {
			break
		}
	}
	return region, nil
}

func (g *mapGraph) groupsOf(ctx context.Context) ([]group, []int32, error) {
	n := len(g.Class)
	groupOf := make([]int32, n)
	if n <= mostNodes {
		groups := make([]group, n)
		for row := range n {
			groups[row] = group{class: g.Class[row], row: row}
			groupOf[row] = int32(row)
		}
		g.countNodes(groups, groupOf)
		return groups, groupOf, nil
	}
	region, err := g.regionsOf(ctx)
	if err != nil {
		return nil, nil, err
	}
	classes := len(g.Classes) + 1 // one more for nodes without a class
	keyOf := func(row int) int { return int(region[row])*classes + g.Class[row] + 1 }
	size := make([]int, (regions+1)*classes)
	for row := range n {
		size[keyOf(row)]++
	}
	order := sched.Descending(size)
	number := make([]int32, len(size))
	groups := []group{}
	add := func(class int) int32 {
		groups = append(groups, group{class: class, row: -1})
		return int32(len(groups) - 1)
	}
	remaining := map[int]int32{}
	for i, key := range order {
		class := key%classes - 1
		switch {
		case size[key] == 0:
		case i < mostGroups:
			number[key] = add(class)
		default:
			if _, isThere := remaining[class]; !isThere {
				remaining[class] = add(class)
			}
			number[key] = remaining[class]
		}
	}
	for row := range n {
		groupOf[row] = number[keyOf(row)]
	}
	g.countNodes(groups, groupOf)
	return groups, groupOf, nil
}

// countNodes counts the nodes and the known nodes of each group, and computes the mean certainty. On graphs
// of more than mostListed nodes it also finds the least certain unknown nodes.
func (g *mapGraph) countNodes(groups []group, groupOf []int32) {
	byCertainty := func(a, b int) int { return cmp.Compare(g.certainty(a), g.certainty(b)) }
	for row, k := range groupOf {
		q := &groups[k]
		q.nodes++
		q.certainty += g.certainty(row)
		if g.Known[row] {
			q.known++
		} else if len(groupOf) > mostListed {
			q.uncertain = sched.KeepFirst(q.uncertain, row, mostLeast, byCertainty)
		}
	}
	for k := range groups {
		groups[k].certainty /= float64(groups[k].nodes)
	}
}

func (g *mapGraph) certainty(row int) float64 {
	if g.Class[row] < 0 {
		return 0
	}
	return float64(g.Scores(row)[g.Class[row]])
}

// leastLink is the least weight of a link on the map, relative to the largest weight.
const leastLink = 0.05

// linksOf returns the links between groups, weighted by the number of entries between the groups. If edges
// have kinds or times, the weight is the sum of the entries, and weights below leastLink times the largest
// are left out. Cost: one sweep by a single goroutine, which keeps the order of rows and of sums.
func (g *mapGraph) linksOf(ctx context.Context, groups []group,
	groupOf []int32) ([]link, error) {
	var links []link
	var sums []float64 // sums of weights between two groups
	if groups[0].row < 0 {
		sums = make([]float64, len(groups)*len(groups))
	}
	err := sparse.EachRow(ctx, g.A, 1, func(_, row int, col []uint32, val []float64) error {
		for e, c := range col {
			w := 1.0
			if g.Weighted && val != nil {
				w = val[e]
			}
			switch {
			case w <= 0:
			case sums != nil:
				a, b := groupOf[row], groupOf[c]
				sums[int(min(a, b))*len(groups)+int(max(a, b))] += w
			case int(c) > row:
				links = append(links, link{row, int(c), w})
			}
		}
		return nil
	})
	for pair, sum := range sums {
		if a, b := pair/len(groups), pair%len(groups); sum > 0 && a < b {
			links = append(links, link{a, b, sum})
		}
	}
	strongest := 0.0
	for _, l := range links {
		strongest = max(strongest, l.weight)
	}
	if g.Weighted {
		links = slices.DeleteFunc(links, func(l link) bool { return l.weight < leastLink*strongest })
	}
	return links, err
}

const (
	mostNearest  = 40 // neighbours of a node that are drawn
	mostOfOne    = 6  // further nodes next to a neighbour
	mostRivals   = 20 // predictions that contradict their neighbours
	fewestRivals = 3  // least effective number of a rival's links
)

// neighbourhood has the neighbours of a node. Neighbours that are drawn are ordered by importance; other
// neighbours are counted.
type neighbourhood struct {
	drawn  []int
	counts map[int]int // numbers of other neighbours, by class
}

// nearest returns at most number neighbours of each row: first the neighbours that reasons name, then the
// neighbours with the largest weights. If isThere is not nil, a row has at most mostOfOne neighbours outside
// of isThere. Cost: one sweep.
func (g *mapGraph) nearest(ctx context.Context, rows []int, number int,
	isThere map[int]bool) (map[int]*neighbourhood, error) {
	list := make(map[int]*neighbourhood, len(rows))
	for _, row := range rows {
		list[row] = &neighbourhood{counts: map[int]int{}}
	}
	err := sparse.EachRow(ctx, g.A, g.Workers, func(_, row int, col []uint32, val []float64) error {
		v, isWanted := list[row]
		if !isWanted {
			return nil
		}
		order := make([]int, 0, len(col))
		for e, c := range col {
			if int(c) != row {
				order = append(order, e)
			}
		}
		if val != nil {
			slices.SortStableFunc(order,
				func(a, b int) int { return cmp.Compare(val[b], val[a]) })
		}
		if named := g.Links[row]; named != nil {
			slices.SortStableFunc(order, func(a, b int) int {
				return cmp.Compare(uint(slices.Index(named, int(col[a]))),
					uint(slices.Index(named, int(col[b]))))
			})
		}
		further := 0
		for _, e := range order {
			u := int(col[e])
			isFurther := isThere != nil && !isThere[u]
			if isFurther {
				further++
			}
			if len(v.drawn) < number && (!isFurther || further <= mostOfOne) {
				v.drawn = append(v.drawn, u)
			} else {
				v.counts[g.Class[u]]++
			}
		}
		return nil
	})
	return list, err
}

// around returns the neighbourhoods of the centers and of their neighbours. The neighbourhood of a neighbour
// contains only nodes within two steps of a center. Cost: two sweeps.
func (g *mapGraph) around(ctx context.Context,
	centers []int) (map[int]*neighbourhood, error) {
	list, err := g.nearest(ctx, centers, mostNearest, nil)
	if err != nil || len(centers) == len(g.Class) {
		return list, err
	}
	isThere := map[int]bool{}
	var middle []int
	for _, v := range centers {
		isThere[v] = true
	}
	for _, v := range centers {
		for _, u := range list[v].drawn {
			if !isThere[u] {
				isThere[u] = true
				middle = append(middle, u)
			}
		}
	}
	second, err := g.nearest(ctx, middle, 10*mostNearest, isThere)
	for v, neighbours := range second {
		neighbours.counts = nil
		list[v] = neighbours
	}
	return list, err
}

// rival is a predicted node of which most neighbours have one class that is not the predicted class.
type rival struct {
	row, class int     // the class of most neighbours
	share      float64 // weight of the links to nodes of the class, divided by the weight of all links
	links      int     // number of links to nodes with a class
	effective  float64 // effective number of links, (Σw)²/Σw²
}

// rivals returns the predicted nodes that their neighbours contradict most. It orders nodes by
// share²·effective. Cost: one sweep.
func (g *mapGraph) rivals(ctx context.Context) ([]rival, error) {
	workers := sched.Workers(g.Workers)
	lists := make([][]rival, workers)
	sums := make([][]float64, workers)
	merit := func(r rival) float64 { return r.share * r.share * r.effective }
	compare := func(a, b rival) int { return cmp.Or(cmp.Compare(merit(b), merit(a)), a.row-b.row) }
	err := sparse.EachRow(ctx, g.A, g.Workers, func(worker, row int, col []uint32, val []float64) error {
		if g.Class[row] < 0 || g.Known[row] {
			return nil
		}
		if sums[worker] == nil {
			sums[worker] = make([]float64, len(g.Classes))
		}
		sum := sums[worker]
		var total, squares float64
		clear(sum)
		r := rival{row: row}
		for e, c := range col {
			class := g.Class[c]
			if class < 0 || int(c) == row {
				continue
			}
			w := 1.0
			if val != nil {
				w = val[e]
			}
			sum[class] += w
			total += w
			squares += w * w
			r.links++
		}
		for class, w := range sum {
			if w > sum[r.class] {
				r.class = class
			}
		}
		r.share = sum[r.class] / max(total, 1e-300)
		r.effective = total * total / max(squares, 1e-300)
		if r.class != g.Class[row] && r.share > 0.5 && r.effective >= fewestRivals {
			lists[worker] = sched.KeepFirst(lists[worker], r, mostRivals, compare)
		}
		return nil
	})
	list := slices.SortedFunc(slices.Values(slices.Concat(lists...)), compare)
	return list[:min(mostRivals, len(list))], err
}
