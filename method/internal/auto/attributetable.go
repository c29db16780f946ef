package auto

import (
	"math"
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
	team     *sparse.Team
	values   int64       // that are not 0, of all processes
	real     []bool      // of columns
	sample   [][]float32 // of real columns: values in increasing order
	quantile []float64   // of the standard normal distribution at half of each rank in a sample
	zero     []float64   // the score of 0 in real columns
	shift    []float64   // the mean of real columns, whose 0 counts 0; 0 of words
	factor   []float64   // of columns
	length   []float32   // of rows, in the place of words: one over their length
	columns  []uint32    // 0, 1, 2, …: the columns of a dense row
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

// rankSample bounds about the nodes from which normal scores are estimated, rankValues their values, and momentSample
// the nodes from which the means and deviations of these are.
const (
	momentSample = 1 << 16
	rankSample   = 1024
	rankValues   = 1 << 21
)

// newAttributeTable measures the columns. Cost: two passes over the values.
func newAttributeTable(team *sparse.Team, t *sparse.Table) *attributeTable {
	n, d := t.Rows, t.Cols
	a := &attributeTable{
		Table: t, team: team, real: make([]bool, d), sample: make([][]float32, d), zero: make([]float64, d),
		shift: make([]float64, d), factor: make([]float64, d), length: make([]float32, n), columns: make([]uint32, d),
	}
	for j := range a.columns {
		a.columns[j] = uint32(j)
	}
	count, ends := make([]float64, d+1), slices.Repeat([]float64{math.Inf(-1)}, 2*d) // −least and largest values
	a.each(1, func(j int, x float32) {
		if x != 0 {
			count[j]++
			ends[j], ends[d+j] = max(ends[j], -float64(x)), max(ends[d+j], float64(x))
		}
	})
	for lo, hi := range team.Counted(0, n) {
		for v := lo; v < hi; v++ {
			if a.Has(v) {
				count[d]++
			}
		}
	}
	team.Sum(count)
	team.Max(ends)
	for _, c := range count[:d] {
		a.values += int64(c)
	}
	present := max(1, count[d])
	dense, reals := float64(a.values) > realDensity*present*float64(d), 0
	for j := range a.real {
		a.real[j] = ends[j] > 0 || dense || -ends[j] < ends[d+j] && count[j] > realColumn*present
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
	a.sampleColumns(int(present), reals)
	sums := make([]float64, 2*d)
	step := 1 + int(present)/momentSample
	moments := []float64{0}
	for lo, hi := range team.Counted(0, n) {
		for v := lo; v < hi; v++ {
			if a.Has(v) && team.Row(v)%step == 0 {
				moments[0]++
			}
		}
	}
	team.Sum(moments)
	a.each(step, func(j int, x float32) {
		if a.real[j] {
			score := a.score(j, x)
			sums[j] += score
			sums[d+j] += float64(score * score)
		}
	})
	team.Sum(sums)
	for j := range a.factor {
		a.factor[j] = 1
		if a.real[j] {
			a.shift[j], a.factor[j] = sums[j]/max(1, moments[0]), 0 // of a column that is the same everywhere
			if variance := sums[d+j]/max(1, moments[0]) - float64(a.shift[j]*a.shift[j]); variance > 1e-12 {
				a.factor[j] = 1 / math.Sqrt(variance*float64(reals))
			}
		}
	}
	rows := readerOf(a)
	for v := 0; v < n && reals < d; v++ {
		square := 0.0
		columns, values := rows.entries(v)
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

// sampleColumns sorts the values of real columns at some nodes at equal distances.
func (a *attributeTable) sampleColumns(present, reals int) {
	if reals == 0 {
		return
	}
	row, step := make([]float32, a.Cols), max(1, present/rankSample, present*reals/rankValues)
	var values []float64
	rows := readerOf(a)
	for lo, hi := range a.team.Counted(0, a.Rows) {
		for v := lo; v < hi; v++ {
			if !a.Has(v) || a.team.Row(v)%step > 0 {
				continue
			}
			rows.plainTo(row, v, 0, a.Cols)
			for j, x := range row {
				if a.real[j] {
					values = append(values, float64(x))
				}
			}
		}
	}
	values = a.team.Concat(values)
	for j, column := 0, 0; j < a.Cols; j++ {
		if !a.real[j] {
			continue
		}
		for i := column; i < len(values); i += reals {
			a.sample[j] = append(a.sample[j], float32(values[i]))
		}
		slices.Sort(a.sample[j])
		if a.quantile == nil {
			count := len(a.sample[j])
			for rank := range 2*count + 1 {
				a.quantile = append(a.quantile, math.Sqrt2*math.Erfinv(float64(rank+1)/float64(count+1)-1))
			}
		}
		a.zero[j] = a.normal(j, 0)
		column++
	}
}

// normal returns the value of the standard normal distribution at the rank of x in a real column, the middle one of
// equals. Therefore neither the unit of a column nor its logarithm makes a difference, nor do a few outliers.
func (a *attributeTable) normal(j int, x float32) float64 {
	sample := a.sample[j]
	first := 0
	for length := len(sample); length > 0; { // without a branch that depends on x
		half := (length + 1) / 2
		if sample[first+half-1] < x {
			first += half
		}
		length /= 2
	}
	last := first
	if first < len(sample) && sample[first] == x {
		last, _ = slices.BinarySearch(sample, math.Nextafter32(x, float32(math.Inf(1))))
	}
	return a.quantile[first+last]
}

// score returns the normal score of a value of a real column, less that of 0.
func (a *attributeTable) score(j int, x float32) float64 { return a.normal(j, x) - a.zero[j] }

// attributeRows reads rows of features. It is not safe for concurrent use.
type attributeRows struct {
	table  *attributeTable
	reader *sparse.TableReader
}

func readerOf(a *attributeTable) attributeRows { return attributeRows{a, a.Reader()} }

// plainTo stores the columns lo ≤ j < hi of a node as they are.
func (a attributeRows) plainTo(dst []float32, v, lo, hi int) {
	clear(dst)
	columns, values := a.reader.Row(v)
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

// each calls do with every stored value of the rows that count in this process and are multiples of a step.
func (a *attributeTable) each(step int, do func(j int, x float32)) {
	rows := readerOf(a)
	for lo, hi := range a.team.Counted(0, a.Rows) {
		for v := lo; v < hi; v++ {
			if a.team.Row(v)%step > 0 {
				continue
			}
			columns, values := rows.entries(v)
			for i, x := range values {
				do(int(columns[i]), x)
			}
		}
	}
}

// entries returns the columns and the values of a node.
func (a attributeRows) entries(v int) (columns []uint32, values []float32) {
	if columns, values = a.reader.Row(v); columns == nil {
		columns = a.table.columns[:len(values)]
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
func (a attributeRows) rowTo(dst []float32, v, lo, hi int) {
	if !a.table.Has(v) {
		clear(dst)
		return
	}
	a.plainTo(dst, v, lo, hi)
	for i, x := range dst[:hi-lo] {
		j := lo + i
		if x != 0 {
			x = a.table.value(v, j, x)
		}
		dst[i] = x - float32(a.table.shift[j]*a.table.factor[j])
	}
}

// attributeTableBytes is the size of the numbers of columns and rows.
func attributeTableBytes(n, d int) int64 {
	return 12*int64(n) + 100*int64(d) + 20*int64(min(rankValues, rankSample*d))
}
