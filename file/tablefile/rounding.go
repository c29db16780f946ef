package tablefile

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/internal/words"
)

// columnRange is the range of the numbers of a column, before they are stored as float32, which has 24 bits.
type columnRange struct {
	count       int
	least, most float64
	isRounded   bool // some number is no float32
}

func (r *columnRange) add(x float64) {
	if r.count == 0 {
		r.least, r.most = x, x
	}
	r.count++
	r.least, r.most = min(r.least, x), max(r.most, x)
	r.isRounded = r.isRounded || float64(float32(x)) != x
}

// middle returns the number to subtract before numbers are rounded: the middle of the range if rounded numbers are farther
// from 0 than from each other, such as milliseconds since 1970, which float32 rounds to two minutes; otherwise 0.
func (r *columnRange) middle() float64 {
	width := r.most - r.least
	if !r.isRounded || width == 0 || max(-r.least, r.most) <= width || r.least <= 0 && r.most >= 0 {
		return 0
	}
	return r.least + width/2
}

// sumText returns middle + x, with as many decimals as x has.
func sumText(middle float64, x float32) string {
	sum := middle + float64(x)
	if x == 0 {
		return strconv.FormatFloat(sum, 'f', -1, 64)
	}
	decimals := max(0, int(-math.Log10(math.Abs(float64(x))*0x1p-24)))
	text := strconv.FormatFloat(sum, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// tieCount counts the different numbers that are equal as float32.
type tieCount struct {
	limit int // values that are kept; above it, a sample by hash
	mask  uint32
	seen  map[float32]*tie
	total int
}

type tie struct {
	first     float64
	count     int
	isSeveral bool
}

const (
	tieValues = 1 << 20 // of all columns
	tieColumn = 1 << 16

	// closest is the least difference of numbers, relative to their range, that is no rounding error of float64.
	closest = 1e-13

	// largestTie is the largest share of a column in a tie that nobody needs to hear of. Normal scores are estimated from
	// 4,096 ranks.
	largestTie = 1e-3
)

func newTieCount(columns int) *tieCount {
	return &tieCount{limit: min(tieColumn, max(256, tieValues/max(1, columns))), seen: map[float32]*tie{}}
}

// add counts a number x that is stored as y. width is the range of the column.
func (t *tieCount) add(x float64, y float32, width float64) {
	t.total++
	if hash(y)&t.mask != 0 {
		return
	}
	known := t.seen[y]
	if known == nil {
		t.seen[y] = &tie{first: x, count: 1}
		for len(t.seen) > t.limit {
			t.mask = t.mask<<1 | 1
			for y := range t.seen {
				if hash(y)&t.mask != 0 {
					delete(t.seen, y)
				}
			}
		}
		return
	}
	known.count++
	known.isSeveral = known.isSeveral || math.Abs(x-known.first) > closest*width
}

func hash(y float32) uint32 {
	h := math.Float32bits(y) * 0x9e3779b1
	return h ^ h>>15
}

// problem describes numbers of a column that are lost, or returns "".
func (t *tieCount) problem(column string) string {
	values, nodes, largest := 0, 0, 0
	for _, k := range t.seen {
		if k.isSeveral {
			values++
			nodes += k.count
			largest = max(largest, k.count)
		}
	}
	if largest < 2 || float64(largest) < largestTie*float64(t.total) {
		return ""
	}
	return fmt.Sprintf("%s has different numbers that are equal in seven digits, at %s", column,
		words.Counted(nodes*int(t.mask+1), "node"))
}

// isArray reports whether f is a dense array, in which 0 stands for no missing value.
func (f *File) isArray() bool { return (f.Format == NPY || f.Format == NPZ) && !f.sparse }

// middleOf returns the numbers to subtract from the columns of an array whose elements are wider than float32, or nil. It
// warns of different numbers that are then equal. Cost: two passes over the file if some number is rounded, else one.
func (r *features) middleOf(ctx context.Context, f *File) (middle []float64, err error) {
	ranges := make([]columnRange, f.Cols)
	err = Read(ctx, f, func(_ []byte, row []float64) error {
		for j, x := range row {
			ranges[j].add(x)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	ties := make([]*tieCount, f.Cols)
	centre := make([]float64, f.Cols)
	isRounded := false
	for j := range ranges {
		if centre[j] = ranges[j].middle(); centre[j] != 0 {
			middle = centre
		}
		if ranges[j].isRounded {
			ties[j] = newTieCount(f.Cols)
			isRounded = true
		}
	}
	if !isRounded {
		return nil, nil
	}
	err = Read(ctx, f, func(_ []byte, row []float64) error {
		for j, x := range row {
			if ties[j] != nil {
				ties[j].add(x, float32(x-centre[j]), ranges[j].most-ranges[j].least)
			}
		}
		return nil
	})
	r.warnOfArray(ties)
	return middle, err
}

// readWide reads an array whose elements are wider than float32.
func (r *features) readWide(ctx context.Context, f *File) error {
	middle, err := r.middleOf(ctx, f)
	if err != nil {
		return err
	}
	values := make([]float32, f.Cols)
	i := 0
	return Read(ctx, f, func(_ []byte, row []float64) error {
		for j, x := range row {
			if middle != nil {
				x -= middle[j]
			}
			if values[j] = float32(x); math.IsInf(float64(values[j]), 0) {
				return elementError(f, i, j, x)
			}
		}
		i++
		return r.add(0, []byte(r.ids.ID(i-1)), values)
	})
}

// warnOfArray warns of the first column of an array whose different numbers are equal as float32.
func (r *features) warnOfArray(ties []*tieCount) {
	for j, t := range ties {
		if t != nil && t.problem("") != "" {
			r.warnOfTies(t, fmt.Sprintf("column %d of the array", j+1))
			return
		}
	}
}
