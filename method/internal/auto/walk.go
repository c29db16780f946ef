package auto

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// A filter is a weighted sum over the steps j of an unabsorbed walk from labels:
//
//	Σ_j c_j·T^j·D^-p·Y
//
// where Y has a one for the class of each label. With p = ½ the sums are those of
// local and global consistency up to a factor for each row, with p = 1 those of
// PageRank from the labels.
type filter int

const (
	decay50 filter = iota // c_j = 0.5^j
	decay85               // 0.85^j
	decay95               // 0.95^j
	source                // 1, with p = 1: Poisson learning
	even                  // 0.85^j for even j
	odd                   // 0.85^j for odd j
	first                 // 1 for j = 1 alone
	second                // and so on
	third
	fourth
	undirectedFilters int = iota
)

// Filters of walks along the arcs of a directed graph, and against them, one step of arcSteps
// each.
const (
	alongArcs       = filter(undirectedFilters)
	againstArcs     = alongArcs + arcSteps
	arcSteps        = 4
	filters     int = int(againstArcs) + arcSteps
)

// damping are the factors of the filters from decay50 to decay95.
var damping = [...]float64{0.5, 0.85, 0.95}

// walkSteps is the number of steps of unabsorbed walks that come to nearly all nodes;
// others are longer. Twice as many gained nothing
// on any graph that was tried, half as many lost 0.4 points of accuracy on Cora.
const walkSteps = 40

// group is a column of a walk: some labels of one class and one part, which are hidden
// together.
type group struct{ class, hidden, part int }

// sources are the walks from labels. Labels lie in parts, stratified folds for
// cross-validation. From the row of a label its own group is hidden: all labels of its
// part or, where there are not too many, it alone.
type sources struct {
	p      *problem.Problem
	arcs   *arcs   // nil: edges have no direction
	steps  int     // of walks
	unit   float64 // of weights
	part   []int   // of each label
	parts  int
	hidden []int   // of each label: those with the same number are hidden from it
	groups []group // in the order of their classes
	own    []int   // the group of each label
	start  []int   // start[c] is the first group of class c; one more at the end
	order  []int   // labels in the order of their rows
	cells  []cell  // in the order of their classes
	first  []int   // first[c] is the first cell of class c; one more at the end
}

// cell is a part and a class with labels in it.
type cell struct{ class, part, labels int }

// cellCount returns the number of cells: folds deal the labels of a class round.
func cellCount(p *problem.Problem) (count int) {
	folds := validate.FoldCount(len(p.Row))
	for _, labels := range choose.CountsOf(p) {
		count += min(int(labels), folds)
	}
	return count
}

// newSources hides every label by itself where that takes no more columns than folds or
// than a few labels do, and folds elsewhere.
func newSources(p *problem.Problem, seed uint64) *sources {
	m, k := len(p.Row), len(p.Names)
	s := &sources{p: p, steps: walkSteps, unit: tall.WeightUnit(p.Degrees, p.A.NNZ()), parts: validate.FoldCount(m), own: make([]int, m), start: make([]int, k+1), order: make([]int, m), first: make([]int, k+1)}
	s.part = validate.Folds(p.Class, s.parts, seed, 0)
	s.hidden = s.part
	for i := range s.order {
		s.order[i] = i
	}
	if single(p) {
		s.hidden = slices.Clone(s.order)
	}
	byGroup := slices.Clone(s.order)
	slices.SortFunc(byGroup, func(a, b int) int {
		return cmp.Or(p.Class[a]-p.Class[b], s.part[a]-s.part[b], a-b)
	})
	for _, i := range byGroup {
		g := group{p.Class[i], s.hidden[i], s.part[i]}
		if n := len(s.groups); n == 0 || s.groups[n-1] != g {
			s.groups = append(s.groups, g)
		}
		s.own[i] = len(s.groups) - 1
		if n := len(s.cells); n == 0 || s.cells[n-1].class != g.class || s.cells[n-1].part != g.part {
			s.cells = append(s.cells, cell{class: g.class, part: g.part})
		}
		s.cells[len(s.cells)-1].labels++
	}
	for _, g := range s.groups {
		s.start[g.class+1]++
	}
	for _, of := range s.cells {
		s.first[of.class+1]++
	}
	for c := range k {
		s.start[c+1] += s.start[c]
		s.first[c+1] += s.first[c]
	}
	slices.SortFunc(s.order, func(a, b int) int { return p.Row[a] - p.Row[b] })
	return s
}

// single reports whether every label is hidden by itself.
func single(p *problem.Problem) bool {
	return len(p.Row) <= max(validate.FoldCount(len(p.Row))*len(p.Names), fewestLabels)
}

// filterCount returns the number of filters.
func filterCount(directed bool) int {
	if directed {
		return filters
	}
	return undirectedFilters
}

// filters returns the number of filters.
func (s *sources) filters() int { return filterCount(s.arcs != nil) }

// tally holds filters.
type tally struct {
	// full has a row for each node, of walks from all labels: class c of a filter in
	// column filter·classes + c.
	full *sparse.Block[float32]

	// honest has a row for each label, of walks from labels that are not hidden from it:
	// those of cell i have filter f in column i·filters + f.
	honest *sparse.Block[float32]
}

// filterMemory lists what the filters of all nodes and labels take.
func filterMemory(p *problem.Problem, set *Settings) []spec.Bytes {
	count := filterCount(set.directed)
	return []spec.Bytes{
		{What: "filters of nodes", Bytes: piece.Bytes[float32](len(p.Degrees), count*len(p.Names))},
		{What: "filters of labels", Bytes: piece.Bytes[float32](len(p.Row), count*cellCount(p))},
	}
}

// walkColumns bounds the columns that walk together where memory does not: beyond, a
// sweep takes as long for each of them.
const walkColumns = 256

// columnBytes is what walks of so many groups take on n nodes.
func columnBytes(n, groups int) int64 { return 2 * tall.BlockBytes[float32](n, 2*groups) }

// slabEnd returns the class that ends a slab of whole classes from lo on within a
// limit, 0 for none. A slab has a class at least.
func (s *sources) slabEnd(lo int, limit int64) int {
	hi := lo + 1
	for hi < len(s.start)-1 {
		groups := s.start[hi+1] - s.start[lo]
		if 2*groups > walkColumns || limit > 0 && columnBytes(len(s.p.Degrees), groups) > limit {
			break
		}
		hi++
	}
	return hi
}

// memory lists what a walk takes within a limit, 0 for none: that of the widest slab.
func (s *sources) memory(limit int64) []spec.Bytes {
	walk := spec.Bytes{What: "walks from labels"}
	for lo := 0; lo < len(s.start)-1; {
		hi := s.slabEnd(lo, limit)
		if groups := s.start[hi] - s.start[lo]; groups > 0 {
			walk.Bytes = max(walk.Bytes, columnBytes(len(s.p.Degrees), groups))
			walk.Row = max(walk.Row, 4*sparse.Stride[float32](2*groups))
		}
		lo = hi
	}
	return []spec.Bytes{walk}
}

// walk returns the filters of all walks. The memory is that of blocks that walk. Cost:
// as many sweeps as steps for each slab of classes.
func (s *sources) walk(ctx context.Context, workers int, memory int64, work *problem.Work, tell func(done float64)) (*tally, error) {
	n, k := len(s.p.Degrees), len(s.p.Names)
	t := &tally{full: piece.Block[float32](n, s.filters()*k), honest: piece.Block[float32](len(s.p.Row), s.filters()*len(s.cells))}
	op := sparse.NewOperator[float32](sparse.Transition, s.p.A, s.p.Degrees)
	op.Workers = workers
	trips := []trip{{op, s.steps, stepWeights}}
	if s.arcs != nil {
		trips = append(trips, trip{s.arcs.step[0], arcSteps, arcWeights(alongArcs)}, trip{s.arcs.step[1], arcSteps, arcWeights(againstArcs)})
	}
	for lo := 0; lo < k; {
		hi := s.slabEnd(lo, memory)
		for i, of := range trips {
			sweeps, err := s.walkSlab(ctx, of, t, lo, hi, func(done float64) {
				if i == 0 {
					tell((float64(lo) + done*float64(hi-lo)) / float64(k))
				}
			})
			if err != nil {
				return nil, err
			}
			work.Add(problem.Work{Sweeps: sweeps, EntryColumns: int64(sweeps) * of.op.A.NNZ() * int64(2*(s.start[hi]-s.start[lo]))})
		}
		lo = hi
	}
	return t, nil
}

// A trip is one kind of walk, and what its step j counts in each filter.
type trip struct {
	op      *sparse.Operator[float32]
	steps   int
	weights func(j int) weights
}

// walkSlab adds the walks of the classes lo ≤ c < hi to t and returns the number of
// sweeps. The first half of the columns starts with D^-½, the second with D⁻¹.
func (s *sources) walkSlab(ctx context.Context, of trip, t *tally, lo, hi int, tell func(done float64)) (int, error) {
	from := s.start[lo]
	groups := s.start[hi] - from
	if groups == 0 {
		return 0, nil
	}
	n := len(s.p.Degrees)
	x, next := sparse.NewBlock[float32](n, 2*groups), sparse.NewBlock[float32](n, 2*groups)
	for i, row := range s.p.Row {
		if g := s.own[i]; g >= from && g < from+groups {
			half, whole := s.startAt(row)
			x.Row(row)[g-from], x.Row(row)[groups+g-from] = half, whole
		}
	}
	for _, row := range s.p.Row {
		s.add(t, x, sparse.Rows{Lo: row, Hi: row + 1}, lo, hi, of.weights(0))
	}
	for j := 1; j <= of.steps; j++ {
		weight := of.weights(j)
		err := of.op.StepTo(ctx, next, x, sparse.Step[float32]{Alpha: 1, Visit: func(rows sparse.Rows) {
			s.add(t, next, rows, lo, hi, weight)
		}})
		if err != nil {
			return 0, err
		}
		x, next = next, x
		tell(float64(j) / float64(of.steps))
	}
	return of.steps, nil
}

// startAt returns d^-½ and d⁻¹ of a label, d in units of weights, so that these do not
// decide what comes near enough to count. One without a neighbour has none to tell.
func (s *sources) startAt(row int) (half, whole float32) {
	d := s.p.Degrees[row] / s.unit
	if d == 0 {
		return 0, 0
	}
	inverse := 1 / d
	return float32(math.Sqrt(inverse)), float32(inverse)
}

// add adds a step at some rows, for the classes lo ≤ c < hi.
func (s *sources) add(t *tally, x *sparse.Block[float32], rows sparse.Rows, lo, hi int, weight weights) {
	const most = 64 // rows that are added together
	k := len(s.p.Names)
	at, _ := slices.BinarySearchFunc(s.order, rows.Lo, func(i, row int) int { return s.p.Row[i] - row })
	from, width := s.start[lo], hi-lo
	groups := s.start[hi] - from
	room := min(most, rows.Hi-rows.Lo) * width
	halves, wholes := make([]float32, room), make([]float32, room) // of each row and class
	for first := rows.Lo; first < rows.Hi; first += most {
		last := min(first+most, rows.Hi)
		come := false // a walk has come to one of these rows
		for v := first; v < last; v++ {
			row := x.Row(v)
			for c := range width {
				var half, whole float32
				for g := s.start[lo+c] - from; g < s.start[lo+c+1]-from; g++ {
					half += row[g]
					whole += row[groups+g]
				}
				halves[(v-first)*width+c], wholes[(v-first)*width+c] = half, whole
				come = come || half != 0 || whole != 0
			}
		}
		if come {
			to := simd.Rows[float32]{Data: t.full.Data[first*t.full.Stride+lo:], Stride: t.full.Stride}
			weight.add(to, last-first, width, k, halves, wholes)
		}
		for ; at < len(s.order) && s.p.Row[s.order[at]] < last; at++ {
			s.addHonest(t, x, s.order[at], lo, hi, weight)
		}
	}
}

// addHonest adds a step at a label, for the classes lo ≤ c < hi.
func (s *sources) addHonest(t *tally, x *sparse.Block[float32], label, lo, hi int, weight weights) {
	from := s.start[lo]
	groups, row := s.start[hi]-from, x.Row(s.p.Row[label])
	for i, g := s.first[lo], 0; g < groups; i++ {
		var half, whole float32
		for of := s.cells[i]; g < groups && s.groups[from+g].part == of.part && s.groups[from+g].class == of.class; g++ {
			if s.groups[from+g].hidden != s.hidden[label] {
				half += row[g]
				whole += row[groups+g]
			}
		}
		if half != 0 || whole != 0 {
			weight.addOne(t.honest.Row(label)[i*s.filters():], half, whole)
		}
	}
}

// weights are what one step counts in each filter.
type weights [filters]float32

func stepWeights(j int) (w weights) {
	power := func(a float64) float32 {
		x := 1.0
		for range j {
			x *= a
		}
		return float32(x)
	}
	for i, a := range damping {
		w[decay50+filter(i)] = power(a)
	}
	w[source] = 1
	w[even+filter(j%2)] = power(0.85)
	if j >= 1 && j <= 4 {
		w[first+filter(j-1)] = 1
	}
	return w
}

// arcWeights returns what steps along arcs, or against them, count in each filter.
func arcWeights(of filter) func(j int) weights {
	return func(j int) (w weights) {
		if j > 0 {
			w[of+filter(j-1)] = 1
		}
		return w
	}
}

// add adds the masses of so many classes in some rows to their filters, which are k apart.
func (w *weights) add(to simd.Rows[float32], rows, classes, k int, halves, wholes []float32) {
	for f, c := range w {
		if c == 0 {
			continue
		}
		from := halves
		if filter(f) == source {
			from = wholes
		}
		dst := simd.Rows[float32]{Data: to.Data[f*k:], Stride: to.Stride}
		simd.AddRows(dst, rows, classes, dst, []float32{c}, simd.Rows[float32]{Data: from, Stride: classes})
	}
}

// addOne adds the mass of one class in a row to its filters, which are side by side.
func (w *weights) addOne(to []float32, half, whole float32) {
	for f, c := range w {
		x := half
		if filter(f) == source {
			x = whole
		}
		if c != 0 {
			to[f] += float32(c * x)
		}
	}
}

// honestTo stores the filters of a label without what is hidden from it and without a
// part, −1 for none. Each class is multiplied by its labels over those that were left:
// a row that misses a fifth of its own class would otherwise say less for it than one
// of a node that has no label.
func (s *sources) honestTo(dst []float32, t *tally, label, without int) {
	k, filters := len(s.p.Names), s.filters()
	clear(dst)
	row := t.honest.Row(label)
	for c := range k {
		total, left := 0, 0
		for i := s.first[c]; i < s.first[c+1]; i++ {
			of := s.cells[i]
			total += of.labels
			if of.part == without {
				continue
			}
			switch {
			case of.part != s.part[label]:
				left += of.labels
			case single(s.p) && c == s.p.Class[label]:
				left += of.labels - 1
			case single(s.p):
				left += of.labels
			}
			for f, v := range row[i*filters:][:filters] {
				dst[f*k+c] += v
			}
		}
		if left == 0 || left == total {
			continue
		}
		for f := range filters {
			dst[f*k+c] *= float32(float64(total) / float64(left))
		}
	}
}
