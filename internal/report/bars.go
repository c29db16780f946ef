package report

import (
	"math"
	"unicode"
)

// Bars draws horizontal bars, one below the other.
type Bars struct {
	X      Axis
	Series []string // names of the values of each bar; nil: one without a name
	Bars   []Bar
}

// Bar holds the values of a label, one for each series.
type Bar struct {
	Label  string
	Values []float64
	Texts  []string // at the ends of the bars; nil: none
	Margin float64  // half the length of the error bar of the first value
}

// scene implements [Drawing].
func (b *Bars) scene() *scene {
	least, most := math.Inf(1), math.Inf(-1)
	var texts []string
	labels := make([]string, len(b.Bars))
	for i, bar := range b.Bars {
		labels[i] = bar.Label
	}
	labels = shortened(labels)
	thick := 14.0
	for _, bar := range b.Bars {
		texts = append(texts, bar.Texts...)
		for _, v := range bar.Values {
			if v > 0 || !b.X.Log {
				least = min(least, v)
			}
			most = max(most, v+bar.Margin)
		}
	}
	if len(b.Series) > 1 {
		thick = 13
	}
	if most <= 0 || math.IsInf(least, 1) { // no bar has a length
		least, most = 1, 1
	}
	axis := b.X
	if axis.From == axis.To && !axis.Log { // bars begin at 0
		step := roundStep(most / 5)
		axis.To = step * math.Ceil(most/step-1e-9)
	}
	if axis.Log { // the shortest bar can be seen
		least /= 2
	}
	x := axis.newScale(least, most)
	s := &scene{Width: width}
	left, right := widest(labels)+8, width-14-widest(texts)
	x.first, x.length = left, right-left
	step := thick*float64(max(1, len(b.Series))) + 8
	bottom := 4 + step*float64(len(b.Bars))
	for _, t := range x.ticks {
		s.line("grid", x.at(t.At), 4, x.at(t.At), bottom)
	}
	for i, bar := range b.Bars {
		y := 8 + step*float64(i)
		s.text(left-6, y+(step-8)/2+4, "end", labels[i])
		for j, v := range bar.Values {
			top, end := y+thick*float64(j), left
			if v > 0 {
				end = x.at(v)
				s.path("f"+seriesClass(j), box(left, top, end-left, thick-1))
			}
			if j == 0 && bar.Margin > 0 {
				from, to := x.at(v-bar.Margin), x.at(v+bar.Margin)
				s.line("chosen", from, top+thick/2, to, top+thick/2)
				end = max(end, to)
			}
			if bar.Texts != nil {
				s.text(end+4, top+thick/2+4, "start", bar.Texts[j])
			}
		}
	}
	s.line("axis", left, 4, left, bottom)
	s.ticksBelow(x, bottom, true)
	s.text((left+right)/2, bottom+2*lineHeight, "", b.X.Title)
	s.Height = bottom + 2.5*lineHeight
	if len(b.Series) > 1 {
		s.Height += 6 + s.legend(s.Height, b.Series, true)
	}
	return s
}

// longest is the number of characters of a label from which it is shortened.
const longest = 24

// shortened returns labels for a figure. The beginning that all long labels share is left out of
// them, because the ends distinguish them, and then the end.
func shortened(labels []string) []string {
	var common []rune
	n := 0
	for _, l := range labels {
		r := []rune(l)
		if len(r) <= longest {
			continue
		}
		if n++; n == 1 {
			common = r
		}
		same := 0
		for same < min(len(common), len(r)) && common[same] == r[same] {
			same++
		}
		common = common[:same]
	}
	for len(common) > 0 && !unicode.IsSpace(common[len(common)-1]) { // whole words
		common = common[:len(common)-1]
	}
	var list []string
	for _, l := range labels {
		r := []rune(l)
		if len(r) > longest && n > 1 && len(common) > longest/3 {
			r = append([]rune{'…'}, r[len(common):]...)
		}
		if len(r) > longest {
			r = append(r[:longest-1], '…')
		}
		list = append(list, string(r))
	}
	return list
}
