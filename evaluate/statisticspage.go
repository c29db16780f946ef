package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/report"
)

// Page returns the statistics of a graph as a page. degrees are those of its nodes, names those of the
// classes; without labels names are not used.
func (s *Statistics) Page(degrees []float64, names []string) *report.Page {
	p := &report.Page{Title: "Graph"}
	for _, section := range []*report.Section{degreeSection(degrees), s.componentSection(), s.classSection(names)} {
		if section != nil {
			p.Sections = append(p.Sections, *section)
		}
	}
	return p
}

// degreeBin is a range of degrees.
type degreeBin struct {
	from, to float64 // to is not in it
	nodes    int64
}

// degreeBins counts positive degrees in bins whose ends are powers of two.
func degreeBins(degrees []float64) (bins []degreeBin, zero int64) {
	count := map[int]int64{}
	for _, d := range degrees {
		if d > 0 {
			count[math.Ilogb(d)]++
		} else {
			zero++
		}
	}
	if len(count) == 0 {
		return nil, zero
	}
	least, most := math.MaxInt, math.MinInt
	for e := range count {
		least, most = min(least, e), max(most, e)
	}
	for e := max(least, most-mostBins); e <= most; e++ {
		bins = append(bins, degreeBin{math.Ldexp(1, e), math.Ldexp(1, e+1), count[e]})
	}
	return bins, zero
}

// mostBins bounds the bins of a figure: weighted degrees may span any range.
const mostBins = 40

// degreeSection returns the section with the distribution of degrees.
func degreeSection(degrees []float64) *report.Section {
	bins, zero := degreeBins(degrees)
	if bins == nil {
		return nil
	}
	b := &report.Bars{X: report.Axis{Title: "nodes (logarithmic)", Log: true}}
	t := &report.Table{Caption: "Nodes by degree.", Head: []string{"degree from", "to below", "nodes"}}
	if zero > 0 {
		b.Bars = append(b.Bars, report.Bar{Label: "0", Values: []float64{float64(zero)}, Texts: []string{thousands(int(zero))}})
		t.Rows = append(t.Rows, report.Texts("0", "0", thousands(int(zero))))
	}
	for _, bin := range bins {
		from, to := valueText(bin.from), valueText(bin.to)
		label := from + " to < " + to
		b.Bars = append(b.Bars, report.Bar{Label: label, Values: []float64{float64(bin.nodes)}, Texts: []string{thousands(int(bin.nodes))}})
		t.Rows = append(t.Rows, report.Texts(from, to, thousands(int(bin.nodes))))
	}
	sum, largest := 0.0, 0.0
	for _, d := range degrees {
		sum, largest = sum+d, max(largest, d)
	}
	text := fmt.Sprintf("Mean %s, largest %s. The degree of a node is the sum of the weights of its edges, where they have a direction of those that leave it.", valueText(sum/float64(len(degrees))), valueText(largest))
	return &report.Section{Title: "Degrees", Text: []string{text}, Parts: []report.Part{{Figure: &report.Figure{
		Name: "degrees", Caption: "Nodes by degree, in bins that double.", Alt: "Bars of the number of nodes by degree. " + text, Drawing: b, Table: t,
	}}}}
}

// componentSection returns the section with the sizes of components.
func (s *Statistics) componentSection() *report.Section {
	t := &report.Table{Caption: "Components by size.", Head: []string{"nodes of a component", "components", "nodes of all"}}
	sizes := slices.Clone(s.Sizes)
	slices.Reverse(sizes)
	const most = 30
	for _, c := range sizes[:min(len(sizes), most)] {
		t.Rows = append(t.Rows, report.Texts(thousands(int(c.Nodes)), thousands(int(c.Count)), thousands(int(c.Nodes*c.Count))))
	}
	if len(sizes) > most {
		t.Caption = fmt.Sprintf("Components by size, the %d largest sizes.", most)
	}
	text := fmt.Sprintf("%s components; the largest has %s nodes.", thousands(int(s.Components)), thousands(int(s.Largest)))
	if s.Components == 1 {
		text = "All nodes are in one component."
	}
	return &report.Section{Title: "Components", Text: []string{text}, Parts: []report.Part{{Table: t}}}
}

// classSection returns the section with the classes of the labels, nil without labels.
func (s *Statistics) classSection(names []string) *report.Section {
	if s.OfClass == nil {
		return nil
	}
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.OfClass[b], s.OfClass[a]) })
	b := &report.Bars{X: report.Axis{Title: "labels"}}
	t := &report.Table{Caption: "Labels by class.", Head: []string{"class", "labels", "share, %"}}
	for i, c := range order[:min(len(order), mostCells)] {
		n := s.OfClass[c]
		if i < mostClasses {
			b.Bars = append(b.Bars, report.Bar{Label: names[c], Values: []float64{float64(n)}, Texts: []string{thousands(n)}})
		}
		t.Rows = append(t.Rows, report.Texts(names[c], thousands(n), percent(float64(n)/float64(s.Labelled))))
	}
	caption := "Labels by class."
	if len(order) > mostClasses {
		caption = fmt.Sprintf("Labels by class, the %d largest classes.", mostClasses)
	}
	text := []string{strconv.Itoa(len(names)) + " classes, " + thousands(s.Labelled) + " labels."}
	if s.SwitchWeight > 0 || s.SwitchEdge > 0 {
		text = append(text, fmt.Sprintf("Of the weight of edges between labelled nodes, %s %% joins different classes.", percent(s.SwitchWeight)))
	}
	return &report.Section{Title: "Classes", Text: text, Parts: []report.Part{{Figure: &report.Figure{Name: "classes", Caption: caption, Alt: "Bars of the number of labels of each class.", Drawing: b, Table: t}}}}
}
