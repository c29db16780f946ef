package ongram

import (
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/param"
)

// stringsKernel compares strings by all ways to align them with blanks between their characters,
// section 4.6. Two strings on n places, with blanks in the remaining places, are vertices of the
// product of n complete graphs of the alphabet and the blank. K_n is the sum over all placements of
// both strings of B^(places that differ), where B is the [factor] for |A| + 1. Without a number of
// places the values are Σ_n 2^−(n+1)·K_n, which is
//
//	k(0, 0) = 1,  k(i, j) = B·(k(i−1, j) + k(i, j−1)) + κ·k(i−1, j−1),
//
// where κ = 1 if the characters x_i and y_j agree, else B, and terms with a negative index are 0.
// Cost of a value: |x|·|y| terms, or n·|x|·|y| for n places.
var stringsKernel = RecordKernel{
	Spec: param.Spec{
		Name: "strings", Title: "Σ B^(places that differ) over all alignments with blanks", Works: param.Vectors,
		Source: "Kondor and Lafferty, Diffusion kernels on graphs and other discrete input spaces, ICML 2002, section 4.6, equation 18",
		Params: []param.Param{
			betaParam,
			{Name: "alphabet", Symbol: "|A|",
				Meaning: "characters of the alphabet; 0: those that occur",
				Kind:    param.Whole, Range: param.Range{Least: 0, Most: 1 << 21},
				Default: param.Of(0)},
			{Name: "places", Symbol: "n",
				Meaning: "places for characters and blanks; 0: any number",
				Kind:    param.Whole, Range: param.Range{Least: 0, Most: 1000},
				Default: param.Of(0)},
			scaleParam,
		},
	},
	Texts: true,
	Of:    stringsOf,
}

type texts struct {
	text     [][]rune
	b        float64
	places   int       // 0: any number
	shrink   float64   // factor of stored values for each character of either string
	diagonal []float64 // stored values K(x, x); nil: values are raw
}

// stringsOf returns the kernel between the strings of one column.
func stringsOf(attributes []nodefile.Column, v param.Values) (classify.Gram, error) {
	if len(attributes) != 1 {
		return nil, &AttributeError{"", -1,
			fmt.Sprintf("strings are in one column, and there are %d; name the one",
				len(attributes))}
	}
	a := attributes[0]
	t := &texts{places: v.Int("places"), shrink: 1}
	g := newValues(len(a.Code), func(i int) int32 { return a.Code[i] })
	characters := map[rune]bool{}
	for _, i := range g.first {
		if a.Code[i] < 0 {
			return nil, &AttributeError{a.Name, i,
				"the string is missing; leave its record out"}
		}
		text := []rune(a.Values[a.Code[i]])
		for _, r := range text {
			characters[r] = true
		}
		t.text = append(t.text, text)
	}
	size := v.Int("alphabet")
	switch {
	case size == 0:
		size = max(1, len(characters))
	case size < len(characters):
		return nil, &AttributeError{a.Name, -1,
			fmt.Sprintf("has %d characters, more than the alphabet of %d; give a larger one", len(characters), size)}
	}
	t.b = factor(size+1, v.Number("beta"))
	if t.places == 0 {
		// With 2·B·s + s² = 1 no stored value exceeds one.
		t.shrink = 1 / (t.b + math.Sqrt(t.b*t.b+1))
	}
	unit := v.Word("scale") == "unit"
	var self []float64
	for d, i := range g.first {
		k := t.value(t.text[d], t.text[d])
		if !unit && t.places == 0 {
			k /= math.Pow(t.shrink, float64(2*len(t.text[d])))
		}
		switch {
		case t.places > 0 && len(t.text[d]) > t.places:
			return nil, &AttributeError{a.Name, i,
				fmt.Sprintf("the string has %d characters, more than the number of places, %d; give more", len(t.text[d]), t.places)}
		case !(k >= 0x1p-1000) || math.IsInf(k, 1):
			return nil, &AttributeError{a.Name, i,
				fmt.Sprintf("K(x, x) of the string of %d characters is beyond float64; leave it out, or scale to K(x, x) = 1", len(t.text[d]))}
		}
		self = append(self, k)
	}
	if unit {
		t.diagonal = self
	}
	g.between = t
	return g, nil
}

// valuesTo implements [between].
func (t *texts) valuesTo(dst []float64, a int, items, row []int) {
	x := t.text[a]
	for j, item := range items {
		b := row[item]
		if b == a && t.diagonal != nil {
			dst[j] = 1
			continue
		}
		y := t.text[b]
		p, q := x, y
		if b < a { // gives K(x, y) and K(y, x) the same bits
			p, q = y, x
		}
		k := t.value(p, q)
		if t.diagonal != nil {
			dst[j] = k / math.Sqrt(t.diagonal[a]) / math.Sqrt(t.diagonal[b])
		} else {
			dst[j] = k / math.Pow(t.shrink, float64(len(x)+len(y)))
		}
	}
}

// value returns K(x, y)·shrink^(|x| + |y|).
func (t *texts) value(x, y []rune) float64 {
	if t.places > 0 {
		return t.placementKernel(x, y)
	}
	single := t.shrink * t.b
	both := t.shrink * t.shrink
	kappa := t.b * t.shrink * t.shrink
	row := make([]float64, len(y)+1)
	row[0] = 1
	for j := range y {
		row[j+1] = single * row[j]
	}
	for _, c := range x {
		diagonal := row[0]
		row[0] *= single
		for j, d := range y {
			k := kappa
			if c == d {
				k = both
			}
			diagonal, row[j+1] = row[j+1], single*(row[j]+row[j+1])+k*diagonal
		}
	}
	return row[len(y)]
}

// placementKernel returns K_n. It computes f(p, i, j), the sum over all placements of the first i characters of x and the
// first j characters of y on p places. The last place holds neither of the two last characters, one of them, or both.
func (t *texts) placementKernel(x, y []rune) float64 {
	width := len(y) + 1
	f := make([]float64, (len(x)+1)*width)
	f[0] = 1
	for range t.places {
		for i := len(x); i >= 0; i-- {
			for j := len(y); j >= 0; j-- {
				slot := i*width + j
				if i > 0 {
					f[slot] += t.b * f[slot-width]
				}
				if j > 0 {
					f[slot] += t.b * f[slot-1]
				}
				if i > 0 && j > 0 {
					k := t.b
					if x[i-1] == y[j-1] {
						k = 1
					}
					f[slot] += k * f[slot-width-1]
				}
			}
		}
	}
	return f[len(f)-1]
}
