package evaluate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/report"
)

// Bounds of the tables of a page.
const (
	mostRows       = 400 // of classes
	mostComponents = 30  // different sizes of components
	mostBins       = 40  // of degrees, because weighted degrees may span any range
)

// Page returns the statistics of a graph as a page. degrees are those of its nodes, names those of the
// classes; without labels names are not used.
func (s *Statistics) Page(degrees []float64, names []string) *report.Page {
	p := &report.Page{Title: "Graph"}
	p.Add(degreeSection(degrees), s.componentSection(), s.classSection(names))
	return p
}

// degreeBin is a range of degrees.
type degreeBin struct {
	low, high float64 // high is not in it
	nodes     int64
}

// degreeBins counts positive degrees in bins whose ends are powers of two, without empty bins.
func degreeBins(degrees []float64) (bins []degreeBin, zero int64) {
	count := map[int]int64{}
	for _, d := range degrees {
		if d > 0 {
			count[math.Ilogb(d)]++
		} else {
			zero++
		}
	}
	exponents := slices.Sorted(maps.Keys(count))
	for _, e := range exponents[max(0, len(exponents)-mostBins):] {
		bins = append(bins, degreeBin{math.Ldexp(1, e), math.Ldexp(1, e+1), count[e]})
	}
	return bins, zero
}

// degreeSection returns the section with the distribution of degrees.
func degreeSection(degrees []float64) *report.Section {
	bins, zero := degreeBins(degrees)
	t := &report.Table{Caption: "Nodes by degree, in bins that double; logarithmic bars.", Head: []string{"degree from", "to below", "nodes"}, Bars: map[int]report.Bars{2: report.Log}}
	if zero > 0 && bins != nil {
		t.Rows = append(t.Rows, []report.Cell{{Text: "0"}, {Text: "0"}, report.Count(int(zero))})
	}
	for _, bin := range bins {
		t.Rows = append(t.Rows, []report.Cell{report.Number(bin.low, valueText(bin.low)), report.Number(bin.high, valueText(bin.high)), report.Count(int(bin.nodes))})
	}
	sum, largest := 0.0, 0.0
	for _, d := range degrees {
		sum, largest = sum+d, max(largest, d)
	}
	text := fmt.Sprintf("Mean %s, largest %s. The degree of a node is the sum of the weights of its edges, where they have a direction of those that leave it.", valueText(sum/float64(len(degrees))), valueText(largest))
	return &report.Section{Title: "Degrees", Text: []string{text}, Tables: []*report.Table{t}}
}

// componentSection returns the section with the sizes of components, the largest ones first.
func (s *Statistics) componentSection() *report.Section {
	t := &report.Table{Caption: "Components by size.", Head: []string{"nodes of a component", "components", "nodes of all"}}
	if len(s.Sizes) > mostComponents {
		t.Caption = fmt.Sprintf("Components by size, the %d largest sizes.", mostComponents)
	}
	for _, c := range slices.Backward(s.Sizes[max(0, len(s.Sizes)-mostComponents):]) {
		t.Rows = append(t.Rows, []report.Cell{report.Count(int(c.Nodes)), report.Count(int(c.Count)), report.Count(int(c.Nodes * c.Count))})
	}
	text := fmt.Sprintf("%s components; the largest has %s nodes.", thousands(int(s.Components)), thousands(int(s.Largest)))
	if s.Components == 1 {
		text = "All nodes are in one component."
	}
	return &report.Section{Title: "Components", Text: []string{text}, Tables: []*report.Table{t}}
}

// classSection returns the section with the classes of the labels.
func (s *Statistics) classSection(names []string) *report.Section {
	t := &report.Table{Caption: "Labels by class.", Head: []string{"class", "labels", "share, %"}, Bars: map[int]report.Bars{1: report.Linear}}
	for _, c := range byCount(s.OfClass, mostRows) {
		n := s.OfClass[c]
		t.Rows = append(t.Rows, []report.Cell{{Text: names[c]}, report.Count(n), report.Percent(float64(n)/float64(s.Labelled), 0)})
	}
	text := []string{fmt.Sprintf("%d classes, %s labels.", len(names), thousands(s.Labelled))}
	if s.SwitchWeight > 0 || s.SwitchEdge > 0 {
		text = append(text, fmt.Sprintf("Of the weight of edges between labelled nodes, %s %% joins different classes.", percent(s.SwitchWeight)))
	}
	return &report.Section{Title: "Classes", Text: text, Tables: []*report.Table{t}}
}

// byCount returns the positions of at most limit counts, the largest ones first.
func byCount(counts []int, limit int) []int {
	order := make([]int, len(counts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	return order[:min(len(order), limit)]
}
