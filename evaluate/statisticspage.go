package evaluate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/sched"
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
	p.Add(s.degreeSection(degrees), s.componentSection(), s.classSection(names))
	return p
}

// degreeBins counts numbers in bins [2^e, 2^(e+1)) by e, and zeros in that of −1075, the least exponent less 1.
func degreeBins(n int, degree func(i int) float64) map[int]int {
	count := map[int]int{}
	for i := range n {
		if d := degree(i); d > 0 {
			count[math.Ilogb(d)]++
		} else {
			count[zeroDegree]++
		}
	}
	return count
}

const zeroDegree = -1075

// degreeSection returns the section with the distributions of neighbours and, where they differ, of weighted degrees.
func (s *Statistics) degreeSection(degrees []float64) *report.Section {
	counts := []map[int]int{degreeBins(len(degrees), func(i int) float64 { return float64(s.Neighbours[i]) }), degreeBins(len(degrees), func(i int) float64 { return degrees[i] })}
	sums, largest := make([]float64, 2), make([]float64, 2)
	for i, d := range degrees {
		for j, x := range []float64{float64(s.Neighbours[i]), d} {
			sums[j], largest[j] = sums[j]+x, max(largest[j], x)
		}
	}
	t := &report.Table{Caption: "Nodes by their number of neighbours, in bins that double; logarithmic bars.", Head: []string{"from", "to below", "nodes"}, Bars: map[int]report.Bars{2: report.Log, 3: report.Log}}
	text := fmt.Sprintf("A node has %s neighbours on average, at most %s.", valueText(sums[0]/float64(len(degrees))), valueText(largest[0]))
	if sums[0] != sums[1] || largest[0] != largest[1] {
		t.Caption = "Nodes by their number of neighbours, and by their degree, in bins that double; logarithmic bars."
		t.Head = []string{"from", "to below", "nodes by neighbours", "nodes by degree"}
		text += fmt.Sprintf(" Its degree is the sum of the weights of its edges, where they have a direction of those that leave it: mean %s, largest %s.", valueText(sums[1]/float64(len(degrees))), valueText(largest[1]))
	} else {
		counts = counts[:1]
	}
	exponents := map[int]bool{}
	for _, count := range counts {
		for e := range count {
			exponents[e] = true
		}
	}
	bins := slices.Sorted(maps.Keys(exponents))
	for _, e := range bins[max(0, len(bins)-mostBins):] {
		row := []report.Cell{{Text: "0"}, {Text: "0"}}
		if e != zeroDegree {
			low, high := math.Ldexp(1, e), math.Ldexp(1, e+1)
			row = []report.Cell{report.Number(low, valueText(low)), report.Number(high, valueText(high))}
		}
		for _, count := range counts {
			row = append(row, report.Count(count[e]))
		}
		t.Rows = append(t.Rows, row)
	}
	return &report.Section{Title: "Neighbours", Text: []string{text}, Tables: []*report.Table{t}}
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

// classSection returns the section with the classes of the labels, and the edges between them.
func (s *Statistics) classSection(names []string) *report.Section {
	t := &report.Table{Caption: "Labels by class.", Head: []string{"class", "labels", "share, %"}, Bars: map[int]report.Bars{1: report.Linear}}
	order := byCount(s.OfClass, mostRows)
	for _, c := range order {
		n := s.OfClass[c]
		t.Rows = append(t.Rows, []report.Cell{{Text: names[c]}, report.Count(n), report.Percent(float64(n)/float64(s.Labelled), 0)})
	}
	section := &report.Section{Title: "Classes", Text: []string{fmt.Sprintf("%d classes, %s labels.", len(names), thousands(s.Labelled))}, Tables: []*report.Table{t}}
	if s.SwitchWeight > 0 || s.SwitchEdge > 0 {
		section.Text = append(section.Text, fmt.Sprintf("Of the weight of edges between labelled nodes, %s %% joins different classes (p_switch). The largest class has %s %% of the labels (p_freq). "+
			"The more the two differ from a random graph, where p_switch is the chance that two labels differ, the more the edges say about the classes.", percent(s.SwitchWeight), percent(s.Share)))
	}
	if s.Pairs == nil {
		return section
	}
	pairs := &report.Table{Caption: "Neighbours of the labelled nodes of a class (row) by their class (column), % of the row; the CSV has their numbers.", Head: []string{"class"}}
	for _, c := range order {
		pairs.Rows = append(pairs.Rows, report.Texts(names[c]))
	}
	addShares(pairs, s.Pairs, names, order)
	section.Tables = append(section.Tables, pairs)
	return section
}

// byCount returns the positions of at most limit counts, the largest ones first.
func byCount(counts []int, limit int) []int {
	order := sched.UpTo(len(counts))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	return order[:min(len(order), limit)]
}
