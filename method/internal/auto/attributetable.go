package auto

import (
	"math"
	"math/bits"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
)

// attributeTable holds the attributes of nodes as features. A column of real numbers is replaced
// by its normal scores, with mean 0 and deviation 1 over the nodes that have
// attributes, so that its unit makes no difference. The other columns, of words, make rows of
// length 1. Where both kinds occur each has the same weight. A node without attributes has zeros,
// which is the mean.
type attributeTable struct {
	*sparse.Table
	team    *sparse.Team
	present int       // rows that are not missing, of all processes
	values  int64     // that are not 0, of all processes
	real    []bool    // of columns
	rank    []rank    // of real columns
	zero    []float64 // the score of 0 in real columns
	shift   []float64 // the mean of real columns, whose 0 counts 0; 0 of words
	factor  []float64 // of columns
	length  []float32 // of rows, in the place of words: one over their length
	columns []uint32  // 0, 1, 2, …: the columns of a dense row
}

// A table is one of real numbers if more than realDensity of its values are not 0, and a
// column where it has a negative value, or more than realColumn are not 0 and these differ:
// a word that nodes have or do not have is one however many have it. As real numbers 23 of
// the 1,588 words of webkb-cornell counted as much as all others, and cost 4 points there. A
// table with a real column and at most fewAttributes has no words.
const (
	realDensity   = 0.2
	realColumn    = 0.5
	fewAttributes = 64
)

// newAttributeTable measures the columns. Cost: two passes over the values.
func newAttributeTable(team *sparse.Team, t *sparse.Table) *attributeTable {
	n, d := t.Rows, t.Cols
	a := &attributeTable{
		Table: t, team: team, real: make([]bool, d), rank: make([]rank, d), zero: make([]float64, d),
		shift: make([]float64, d), factor: make([]float64, d), length: make([]float32, n),
		columns: make([]uint32, d),
	}
	for j := range a.columns {
		a.columns[j] = uint32(j)
	}
	count, sum, squares := make([]float64, d), make([]float64, d), make([]float64, d)
	lowest, highest := make([]float32, d), make([]float32, d)
	for j := range lowest {
		lowest[j], highest[j] = float32(math.Inf(1)), float32(math.Inf(-1))
	}
	a.each(func(_, j int, x float32) {
		lowest[j], highest[j] = min(lowest[j], x), max(highest[j], x)
		count[j]++
	})
	team.Sum(count)
	a.extremes(lowest, highest)
	for j, values := range count {
		if a.values += int64(values); values == 0 {
			lowest[j], highest[j] = 0, 0
		}
	}
	here := a.findPresent()
	present := float64(max(1, a.present))
	dense := float64(a.values) > realDensity*present*float64(d)
	reals := 0
	for j := range a.real {
		a.real[j] = lowest[j] < 0 || dense || lowest[j] < highest[j] && count[j] > realColumn*present
		if a.real[j] {
			reals++
		}
	}
	if reals > 0 && d <= fewAttributes {
		for j := range a.real {
			a.real[j] = true
		}
		reals = d
	}
	for j := range lowest {
		if count[j] < present {
			lowest[j], highest[j] = min(lowest[j], 0), max(highest[j], 0)
		}
	}
	a.rankColumns(lowest, highest, here)
	a.each(func(_, j int, x float32) {
		if a.real[j] {
			score := a.score(j, x)
			sum[j] += score
			squares[j] += float64(score * score)
		}
	})
	team.Sum(sum)
	team.Sum(squares)
	for j := range a.factor {
		a.factor[j] = 1
		if a.real[j] {
			a.shift[j], a.factor[j] = sum[j]/present, 0 // of a column that is the same everywhere
			if variance := squares[j]/present - float64(a.shift[j]*a.shift[j]); lowest[j] < highest[j] {
				a.factor[j] = 1 / math.Sqrt(variance*float64(reals))
			}
		}
	}
	for v := range n {
		square := 0.0
		columns, values := a.entries(v)
		for i, x := range values {
			if !a.real[columns[i]] {
				square += float64(x) * float64(x)
			}
		}
		if square > 0 {
			a.length[v] = float32(1 / math.Sqrt(square))
		}
	}
	return a
}

// extremes stores the least and the largest values of all processes.
func (a *attributeTable) extremes(lowest, highest []float32) {
	ends := make([]float64, 2*len(lowest))
	for j := range lowest {
		ends[j], ends[len(lowest)+j] = -float64(lowest[j]), float64(highest[j])
	}
	a.team.Max(ends)
	for j := range lowest {
		lowest[j], highest[j] = float32(-ends[j]), float32(ends[len(lowest)+j])
	}
}

// rankColumns gives real columns their functions, for the least and largest values of all. present are the rows
// that are not missing.
func (a *attributeTable) rankColumns(lowest, highest []float32, present rowBits) {
	if !slices.Contains(a.real, true) {
		return
	}
	count := min(a.present, rankSample)
	present.thin(a.present, count)
	rows := make([]int, 0, count) // the sample of this process
	for lo, hi := range a.team.Counted(0, a.Rows) {
		for v := lo; v < hi; v++ {
			if present.has(a.team.Row(v)) {
				rows = append(rows, v)
			}
		}
	}
	row, samples := make([]float32, slabColumns), make([]float32, count)
	for lo := 0; lo < a.Cols; lo += slabColumns {
		hi := min(a.Cols, lo+slabColumns)
		values := make([]float64, 0, len(rows)*(hi-lo))
		for _, v := range rows {
			a.plainTo(row[:hi-lo], v, lo, hi)
			for _, x := range row[:hi-lo] {
				values = append(values, float64(x))
			}
		}
		values = a.team.Concat(values)
		for j := lo; j < hi; j++ {
			if a.real[j] {
				for i := range samples {
					samples[i] = float32(values[i*(hi-lo)+j-lo])
				}
				a.rank[j] = newRank(samples, lowest[j], highest[j])
				a.zero[j] = a.rank[j].of(0)
			}
		}
	}
}

// findPresent finds and counts the rows that are not missing, in all processes.
func (a *attributeTable) findPresent() rowBits {
	local := make(rowBits, (a.team.TotalOf(a.Rows)+7)/8)
	for lo, hi := range a.team.Counted(0, a.Rows) {
		for v := lo; v < hi; v++ {
			if _, values := a.Row(v); values != nil {
				row := a.team.Row(v)
				local[row/8] |= 1 << (row % 8)
			}
		}
	}
	union := local
	if a.team != nil {
		union = make(rowBits, len(local))
		message := make(rowBits, len(local))
		for p := range a.team.Size() {
			if p == a.team.Rank() {
				copy(message, local)
			}
			a.team.Broadcast(p, message)
			for i, b := range message {
				union[i] |= b
			}
		}
	}
	a.present = 0
	for _, b := range union {
		a.present += bits.OnesCount8(b)
	}
	return union
}

// rowBits is a set of rows of the whole matrix.
type rowBits []byte

func (s rowBits) has(row int) bool { return s[row/8]>>(row%8)&1 != 0 }

// thin leaves some of the members, evenly spaced, in the set.
func (s rowBits) thin(members, left int) {
	seen := 0
	for row := range 8 * len(s) {
		if !s.has(row) {
			continue
		}
		if position := seen * left / members; (position*members+left-1)/left != seen {
			s[row/8] &^= 1 << (row % 8)
		}
		seen++
	}
}

// score returns the normal score of a value of a real column, less that of 0.
func (a *attributeTable) score(j int, x float32) float64 { return a.rank[j].of(x) - a.zero[j] }

// plainTo stores the columns lo ≤ j < hi of a node as they are.
func (a *attributeTable) plainTo(dst []float32, v, lo, hi int) {
	clear(dst)
	columns, values := a.Row(v)
	if columns == nil {
		copy(dst, values[lo:hi])
		return
	}
	start, _ := slices.BinarySearch(columns, uint32(lo))
	end, _ := slices.BinarySearch(columns, uint32(hi))
	for i := start; i < end; i++ {
		dst[int(columns[i])-lo] = values[i]
	}
}

// each calls do with every value that is not 0, of the rows that count in this process.
func (a *attributeTable) each(do func(v, j int, x float32)) {
	for lo, hi := range a.team.Counted(0, a.Rows) {
		for v := lo; v < hi; v++ {
			columns, values := a.entries(v)
			for i, x := range values {
				if x != 0 {
					do(v, int(columns[i]), x)
				}
			}
		}
	}
}

// entries returns the columns and the values of a node.
func (a *attributeTable) entries(v int) (columns []uint32, values []float32) {
	if columns, values = a.Row(v); columns == nil {
		columns = a.columns[:len(values)]
	}
	return columns, values
}

// value returns the feature of a value of a node in a column, before the shift.
func (a *attributeTable) value(v, j int, x float32) float32 {
	if a.real[j] {
		return float32(a.score(j, x) * a.factor[j])
	}
	return a.length[v] * x
}

// rowTo stores the columns lo ≤ j < hi of a node.
func (a *attributeTable) rowTo(dst []float32, v, lo, hi int) {
	if _, values := a.Row(v); values == nil {
		clear(dst)
		return
	}
	a.plainTo(dst, v, lo, hi)
	for i, x := range dst[:hi-lo] {
		j := lo + i
		if x != 0 {
			x = a.value(v, j, x)
		}
		dst[i] = x - float32(a.shift[j]*a.factor[j])
	}
}

// attributeTableBytes is the size of the numbers of columns and rows.
func attributeTableBytes(n, d int) int64 {
	return 12*int64(n) + (88+4*int64(len(rank{})))*int64(d) + 8*slabColumns*rankSample
}

// rank is an increasing function of the values of a column, linear between knots, under which the
// column has about a normal distribution. Therefore neither the unit of a column nor its logarithm
// makes a difference, nor do a few outliers. It holds the values at scores of −3, −2½, … 3, and
// infinity behind them.
type rank [16]float32

const (
	rankKnots = 13

	// rankSample bounds the nodes from which quantiles are estimated: six of them are beyond
	// the last knot but one, and the outermost are the extremes of all nodes.
	rankSample = 1024
)

// rankScore returns the score of a knot.
func rankScore(knot int) float64 { return float64(knot)/2 - 3 }

// newRank returns the function of a column with a sample of its values, which it sorts, and
// the least and the largest value of all.
func newRank(sample []float32, lowest, highest float32) (r rank) {
	slices.Sort(sample)
	for i := range r {
		position := math.Erfc(-rankScore(i)/math.Sqrt2) / 2 * float64(len(sample)-1)
		lo := int(position)
		lower, upper, share := float64(sample[lo]), float64(sample[min(lo+1, len(sample)-1)]), position-float64(lo)
		r[i] = float32(float64((1-share)*lower) + float64(share*upper))
	}
	r[0], r[rankKnots-1] = lowest, highest
	for i := rankKnots; i < len(r); i++ {
		r[i] = float32(math.Inf(1))
	}
	return r
}

// of returns the score of a value: the middle of those of its knots, if it has some.
func (r *rank) of(x float32) float64 {
	k := 0 // knots below it are less than x; steps without branches take two thirds of the time
	if r[7] < x {
		k = 8
	}
	if r[k+3] < x {
		k += 4
	}
	if r[k+1] < x {
		k += 2
	}
	if r[k] < x {
		k++
	}
	switch {
	case k >= rankKnots:
		return rankScore(rankKnots - 1)
	case r[k] == x:
		last := k
		for r[last+1] == x {
			last++
		}
		return (rankScore(k) + rankScore(last)) / 2
	case k == 0:
		return rankScore(0)
	}
	lower, upper := float64(r[k-1]), float64(r[k])
	return rankScore(k) - float64((upper-float64(x))/(upper-lower)/2)
}
