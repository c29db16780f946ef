package auto

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/sparse"
)

// attributeTable holds the attributes of nodes as features. A column is real or a word. The feature of a real value is its
// normal score, with mean 0 and deviation 1, so that units make no difference. Rows of words have length 1. If a table has
// both kinds, each kind has the same weight. The features of a node without attributes are 0, the mean.
type attributeTable struct {
	*sparse.Table
	team     *sparse.Team
	values   int64 // number of values other than 0, in all processes
	real     []bool
	sample   [][]float32 // sorted values of each real column, at a sample of nodes
	start    [][]uint16  // for each real column, the first position in sample of each part of its range; parts are equally wide
	scale    []float64   // parts / width of the range, of real columns
	quantile []float64   // quantiles of the standard normal distribution, at the ranks 0, ½, 1, … of a sample
	zero     []float64   // normal score of 0, of real columns
	factor   []float64   // scale of the scores of each column
	shift    []float32   // (mean score − score of 0)·factor of real columns; 0 for words
	length   []float32   // 1 / length of the words of each row
	columns  []uint32    // 0, 1, 2, …, for dense rows
}

// All columns are real if more than realDensity of the values are not 0. Otherwise a column is real if it has a negative
// value, or if more than realColumn of the nodes have a value other than 0 and these values differ. A column of equal values
// is a word, however frequent: as real columns, 23 words of webkb-cornell cost 4 points of accuracy. A table with a real
// column and at most fewAttributes columns has no words.
const (
	realDensity   = 0.2
	realColumn    = 0.5
	fewAttributes = 64
)

// Normal scores are estimated from a sample of about rankSample nodes and rankValues values.
const (
	rankSample = 4096
	rankValues = 1 << 21
)

// newAttributeTable decides which columns of t are real and measures their scales, in two passes over the values.
func newAttributeTable(team *sparse.Team, t *sparse.Table) *attributeTable {
	n := t.Rows
	d := t.Cols
	a := &attributeTable{
		Table: t, team: team, real: make([]bool, d), sample: make([][]float32, d),
		start: make([][]uint16, d), scale: make([]float64, d), zero: make([]float64, d),
		shift: make([]float32, d), factor: slices.Repeat([]float64{1}, d),
		length: make([]float32, n), columns: countTo(d),
	}
	// ends holds max −x, then max x, of each column.
	count := make([]float64, d+1)
	ends := slices.Repeat([]float64{math.Inf(-1)}, 2*d)
	rows := readerOf(a)
	for lo, hi := range team.CountingRows(0, n) {
		for v := lo; v < hi; v++ {
			count[d] += float64(boolean(a.Has(v)))
			columns, values := rows.entries(v)
			for i, x := range values {
				if j := int(columns[i]); x != 0 {
					count[j]++
					ends[j], ends[d+j] = max(ends[j], -float64(x)),
						max(ends[d+j], float64(x))
				}
			}
		}
	}
	team.Sum(count)
	team.Max(ends)
	for _, c := range count[:d] {
		a.values += int64(c)
	}
	present := max(1, count[d])
	dense := float64(a.values) > realDensity*present*float64(d)
	for j := range a.real {
		a.real[j] = ends[j] > 0 || dense ||
			-ends[j] < ends[d+j] && count[j] > realColumn*present
	}
	if slices.Contains(a.real, true) && d <= fewAttributes {
		a.real = slices.Repeat([]bool{true}, d)
	}
	a.sampleColumns(int(present))
	for v := 0; v < n && slices.Contains(a.real, false); v++ {
		a.length[v] = a.wordLength(rows.entries(v))
	}
	return a
}

// wordLength returns 1 / length of the words of a row, or 0 without words.
func (a *attributeTable) wordLength(columns []uint32, values []float32) float32 {
	square := 0.0
	for i, x := range values {
		if !a.real[columns[i]] {
			square += float64(x) * float64(x)
		}
	}
	if square == 0 {
		return 0
	}
	return float32(1 / math.Sqrt(square))
}

// setQuantiles sets the quantiles of the normal distribution for a sample of count nodes.
func (a *attributeTable) setQuantiles(count int) {
	for rank := range 2*count + 1 {
		a.quantile = append(a.quantile,
			math.Sqrt2*math.Erfinv(float64(rank+1)/float64(count+1)-1))
	}
}

// sampleColumns sorts a sample of each real column and computes the mean and the deviation of normal scores. present is the
// number of nodes with attributes.
func (a *attributeTable) sampleColumns(present int) {
	var reals []int
	position := make([]int, a.Cols)
	for j, isReal := range a.real {
		position[j] = len(reals)
		if isReal {
			reals = append(reals, j)
		}
	}
	step := max(1, present/rankSample, present*len(reals)/rankValues)
	var sample []float64
	rows := readerOf(a)
	for lo, hi := range a.team.CountingRows(0, a.Rows) {
		for v := lo; v < hi && len(reals) > 0; v++ {
			if !a.Has(v) || a.team.Row(v)%step > 0 {
				continue
			}
			sample = append(sample, make([]float64, len(reals))...)
			row := sample[len(sample)-len(reals):]
			columns, values := rows.entries(v)
			for i, x := range values {
				if j := columns[i]; a.real[j] {
					row[position[j]] = float64(x)
				}
			}
		}
	}
	sample = a.team.Concat(sample)
	count := len(sample) / max(1, len(reals))
	a.setQuantiles(count)
	scores := make([]float64, count)
	for position, j := range reals {
		for i := range count {
			a.sample[j] = append(a.sample[j],
				float32(sample[i*len(reals)+position]))
		}
		a.divide(j)
		a.zero[j] = a.normal(j, 0)
		for first := 0; first < count; {
			last := first
			for last < count && a.sample[j][last] == a.sample[j][first] {
				last++
			}
			for i := first; i < last; i++ {
				scores[i] = a.quantile[first+last] - a.zero[j]
			}
			first = last
		}
		a.factor[j] = 0 // constant column
		if mean, variance := stat.PopMeanVariance(scores, nil); variance > 1e-12 {
			a.factor[j] = 1 / math.Sqrt(variance*float64(len(reals)))
			a.shift[j] = float32(mean * a.factor[j])
		}
	}
}

// divide sorts the sample of column j and divides its range into parts.
func (a *attributeTable) divide(j int) {
	sample := a.sample[j]
	slices.Sort(sample)
	start := make([]uint16, len(sample)/4+2)
	a.start[j] = start
	if last := len(sample) - 1; last >= 0 && sample[0] < sample[last] {
		a.scale[j] = float64(last/4) / (float64(sample[last]) - float64(sample[0]))
	}
	for i, x := range sample {
		start[a.part(j, x)+1] = uint16(i + 1)
	}
	for b := range start[1:] {
		start[b+1] = max(start[b+1], start[b])
	}
}

func (a *attributeTable) part(j int, x float32) int {
	if sample := a.sample[j]; len(sample) > 0 && x > sample[0] {
		return int(min((float64(x)-float64(sample[0]))*a.scale[j], float64(len(a.start[j])-2)))
	}
	return 0
}

// normal returns the normal score of x in column j: the quantile of the standard normal distribution at the rank of x in the
// sample. Equal values have their middle rank.
func (a *attributeTable) normal(j int, x float32) float64 {
	sample := a.sample[j]
	part := a.part(j, x)
	first := int(a.start[j][part])
	for length := int(a.start[j][part+1]) - first; length > 0; { // no branches on x, which processors cannot predict
		half := (length + 1) / 2
		if sample[first+half-1] < x {
			first += half
		}
		length /= 2
	}
	last := first
	if first < len(sample) && sample[first] == x {
		last++
	}
	if last > first && last < len(sample) && sample[last] == x {
		last, _ = slices.BinarySearch(sample,
			math.Nextafter32(x, float32(math.Inf(1))))
	}
	return a.quantile[first+last]
}

// attributeRows reads rows of features. It is not safe for concurrent use.
type attributeRows struct {
	table  *attributeTable
	reader *sparse.TableReader
	scaled []float32
}

func readerOf(a *attributeTable) *attributeRows {
	return &attributeRows{table: a, reader: a.Reader()}
}

func (a *attributeRows) entries(v int) (columns []uint32, values []float32) {
	columns, values = a.reader.Row(v)
	if columns == nil {
		columns = a.table.columns[:len(values)]
	}
	return columns, values
}

// features returns the columns lo ≤ j < hi in which node v has a value, and the features in these columns. It does not
// subtract attributeTable.shift. Both slices are valid until the next call.
func (a *attributeRows) features(v, lo, hi int) (columns []uint32, features []float32) {
	columns, values := a.entries(v)
	start, _ := slices.BinarySearch(columns, uint32(lo))
	end, _ := slices.BinarySearch(columns, uint32(hi))
	a.scaled = a.scaled[:0]
	for i := start; i < end; i++ {
		x := values[i]
		if j := int(columns[i]); a.table.real[j] {
			x = float32((a.table.normal(j, x) -
				a.table.zero[j]) * a.table.factor[j])
		} else {
			x *= a.table.length[v]
		}
		a.scaled = append(a.scaled, x)
	}
	return columns[start:end], a.scaled
}

// rowTo stores the features of node v in columns lo ≤ j < hi.
func (a *attributeRows) rowTo(dst []float32, v, lo, hi int) {
	clear(dst)
	if !a.table.Has(v) {
		return
	}
	for i, x := range a.table.shift[lo:hi] {
		dst[i] -= x
	}
	columns, features := a.features(v, lo, hi)
	for i, x := range features {
		dst[int(columns[i])-lo] += x
	}
}
