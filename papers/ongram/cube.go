package ongram

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/param"
)

var (
	betaParam = param.Param{
		Name: "beta", Symbol: "β", Meaning: "time of the diffusion",
		Range: param.Above(0), Default: param.Of(0.5),
		Grid: param.Grid(0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1, 1.5, 2, 3),
	}
	scaleParam = param.Param{
		Name: "scale", Meaning: "K(x, x) = 1, or the kernel itself",
		Kind:  param.Choice,
		Words: []string{"unit", "raw"}, Default: param.Of("unit"),
	}
	missingParam = param.Param{
		Name:    "missing-values",
		Meaning: "a missing value is one more value of its attribute, or the average of all", Kind: param.Choice,
		Words: []string{"value", "average"}, Default: param.Of("value"),
	}
)

// categorical is the diffusion kernel on the product of complete graphs, one for each attribute, whose vertices are the values
// of the attribute. A missing value is an additional vertex. With missing-values=average it is the mean of all vertices, and
// the kernel between it and any value is 1/|A|.
var categorical = RecordKernel{
	Spec: param.Spec{
		Name: "categorical", Title: "Π (1 − e^−|A|β)/(1 + (|A|−1)e^−|A|β) over attributes that differ", Works: param.Vectors,
		Source: "Kondor and Lafferty, Diffusion kernels on graphs and other discrete input spaces, ICML 2002, section 4.4, equation 17",
		Params: []param.Param{betaParam, scaleParam, missingParam},
	},
	Of: func(attributes []nodefile.Column, v param.Values) (classify.Gram, error) {
		return cubeOf(attributes, v.Word("missing-values") == "average", false, v.Word("scale") == "raw", func(size int) (equal, differs, missing float64) {
			equal, differs = complete(size, v.Number("beta"))
			return equal, differs, 1 / float64(size)
		})
	},
}

// hypercube is categorical for attributes with two values: tanh(β)^d if d attributes differ.
var hypercube = RecordKernel{
	Spec: param.Spec{
		Name: "hypercube", Title: "tanh(β)^d, d attributes of two values differ",
		Works:  param.Vectors,
		Source: "Kondor and Lafferty, Diffusion kernels on graphs and other discrete input spaces, ICML 2002, section 4.4",
		Params: []param.Param{betaParam, scaleParam},
	},
	Of: func(attributes []nodefile.Column, v param.Values) (classify.Gram, error) {
		for _, a := range attributes {
			if len(a.Values) > 2 {
				return nil, &AttributeError{a.Name, -1,
					fmt.Sprintf("has %d values, and a hypercube's attributes have two; take the categorical kernel", len(a.Values))}
			}
		}
		equal, differs := complete(2, v.Number("beta"))
		return cubeOf(attributes, true, false, v.Word("scale") == "raw",
			func(int) (float64, float64, float64) { return equal, differs, 0.5 })
	},
}

var hamming = RecordKernel{
	Spec: param.Spec{
		Name: "hamming", Title: "the number of attributes that agree",
		Works:  param.Vectors,
		Source: "Kondor and Lafferty, Diffusion kernels on graphs and other discrete input spaces, ICML 2002, section 5",
		Params: []param.Param{missingParam},
	},
	Of: func(attributes []nodefile.Column, v param.Values) (classify.Gram, error) {
		return cubeOf(attributes, v.Word("missing-values") == "average", true, true, func(size int) (float64, float64, float64) {
			return 1, 0, 1 / float64(size)
		})
	},
}

// lanes is the number of attributes of at most 256 values in a word, one in each byte.
const lanes = 8

// cube holds categorical records as words of eight lanes. A lane is a byte of an attribute's code; more than 256 values take
// several lanes of one word.
type cube struct {
	width   int           // words of a record
	words   []uint64      // words of the distinct records
	missing []uint8       // lanes of each word that are missing and averaged; nil: none
	sums    bool          // values are added, not multiplied
	scale   float64       // before the first word: 0 for sums, else 1
	agree   []byLanes     // values of each word, by the lanes that differ
	average []byLanes     // values of each word, by the missing lanes, relative to agree
	placed  [][]laneRange // attributes of each word
}

// byLanes holds a value for every set of lanes.
type byLanes [1 << lanes]float64

type laneRange struct {
	attribute, lo, hi       int
	equal, differs, missing float64
}

// cubeOf returns the kernel whose value is the product, or the sum, of a factor for each attribute.
// values returns the factors for an alphabet of the given size: for equal values, for different
// values, and for an averaged missing value. Unless raw is set, products are divided by K(x, x) of
// a record without missing values.
func cubeOf(attributes []nodefile.Column, averages, sums, raw bool,
	values func(size int) (equal, differs, missing float64)) (classify.Gram, error) {
	if len(attributes) == 0 {
		return nil, &AttributeError{"", -1,
			"no attributes; there is nothing to compare"}
	}
	c := &cube{sums: sums, scale: 1}
	if sums {
		c.scale = 0
	}
	used := lanes // lanes of the last word
	for i, a := range attributes {
		size := len(a.Values)
		if !averages && slices.ContainsFunc(a.Code,
			func(code int32) bool { return code < 0 }) {
			size++
		}
		size = max(size, 1)
		n := (bits.Len(uint(size-1)) + 7) / 8
		n = max(n, 1)
		if used+n > lanes {
			c.placed = append(c.placed, nil)
			used = 0
		}
		equal, differs, missing := values(size)
		if !raw {
			equal, differs, missing = 1, differs/equal, missing/equal
		}
		last := len(c.placed) - 1
		c.placed[last] = append(c.placed[last],
			laneRange{i, used, used + n, equal, differs, missing})
		used += n
	}
	c.width = len(c.placed)
	c.tabulate()
	return c.fill(attributes, averages), nil
}

// tabulate computes agree and average for all sets of lanes.
func (c *cube) tabulate() {
	for _, word := range c.placed {
		var agree, average byLanes
		for set := range agree {
			agree[set] = c.scale
			average[set] = c.scale
			for _, l := range word {
				value := l.equal
				if set>>l.lo&(1<<(l.hi-l.lo)-1) != 0 {
					value = l.differs
				}
				isMissing := set>>l.lo&1 != 0
				if c.sums {
					agree[set] += value
					if isMissing {
						average[set] += l.missing - l.equal
					}
				} else {
					agree[set] *= value
					if isMissing {
						average[set] *= l.missing / l.equal
					}
				}
			}
		}
		c.agree = append(c.agree, agree)
		c.average = append(c.average, average)
	}
}

// fill packs the distinct records into words.
func (c *cube) fill(attributes []nodefile.Column, averages bool) *values {
	n := len(attributes[0].Code)
	words := make([]uint64, n*c.width)
	missing := make([]uint8, n*c.width)
	any := false
	for w, word := range c.placed {
		for _, l := range word {
			a := attributes[l.attribute]
			for i, code := range a.Code {
				slot := i*c.width + w
				switch {
				case code >= 0:
					words[slot] |= uint64(code) << (8 * l.lo)
				case averages:
					missing[slot] |= (1<<(l.hi-l.lo) - 1) << l.lo
					any = true
				default:
					words[slot] |= uint64(len(a.Values)) << (8 * l.lo)
				}
			}
		}
	}
	key := make([]byte, 9*c.width)
	g := newValues(n, func(i int) string {
		for w := range c.width {
			binary.LittleEndian.PutUint64(key[9*w:], words[i*c.width+w])
			key[9*w+8] = missing[i*c.width+w]
		}
		return string(key)
	})
	for _, i := range g.first {
		c.words = append(c.words, words[i*c.width:(i+1)*c.width]...)
		if any {
			c.missing = append(c.missing, missing[i*c.width:(i+1)*c.width]...)
		}
	}
	g.between = c
	return g
}

// valuesTo implements [between].
func (c *cube) valuesTo(dst []float64, a int, items, row []int) {
	offset := a * c.width
	x := c.words[offset : offset+c.width]
	if c.missing != nil || c.sums {
		c.generalTo(dst, offset, items, row)
		return
	}
	if c.width == 1 { // A loop over words takes a quarter longer.
		x := x[0]
		factor := &c.agree[0]
		for j, item := range items {
			dst[j] = factor[lanesThatDiffer(x, c.words[row[item]])]
		}
		return
	}
	for j, item := range items {
		slot := row[item] * c.width
		value := 1.0
		for w, y := range c.words[slot : slot+len(x)] {
			value *= c.agree[w][lanesThatDiffer(x[w], y)]
		}
		dst[j] = value
	}
}

// generalTo stores the values of valuesTo for sums and for averaged missing values. offset is the first word of record a.
func (c *cube) generalTo(dst []float64, offset int, items, row []int) {
	for j, item := range items {
		slot := row[item] * c.width
		value := c.scale
		for w := range c.width {
			set := lanesThatDiffer(c.words[offset+w], c.words[slot+w])
			averaged := uint8(0)
			if c.missing != nil {
				averaged = c.missing[offset+w] | c.missing[slot+w]
			}
			agree := c.agree[w][set&^averaged]
			average := c.average[w][averaged]
			if c.sums {
				value += agree + average
			} else {
				value *= agree * average
			}
		}
		dst[j] = value
	}
}

// lanesThatDiffer returns a set with bit b if byte b of x and y differs.
func lanesThatDiffer(x, y uint64) uint8 {
	const low, high, gather = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080,
		0x0102040810204080
	d := x ^ y
	return uint8(((d&low + low | d) & high >> 7) * gather >> 56)
}
