package learn

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math"
	"math/cmplx"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
)

// The map of a graph of at most 2,000 nodes shows all nodes. The map of a larger graph shows groups. A group consists of
// the nodes of one predicted class in one of 48 regions. A region grows from a node drawn by a hash of its row. In each
// round, a node next to regions joins the region to which its links have the largest total weight. Positions are from a
// force-directed layout (Fruchterman and Reingold 1991). It begins with two vectors in which linked groups have similar
// values. Regions, groups and positions are the same for any number of goroutines.
//
// The map is an SVG drawing, which needs no script. A script on the page draws the neighbourhood of a node. All texts of
// the graph are escaped or passed as JSON, so that none of them is executed.

//go:embed map.css
var style string

//go:embed map.js
var script string

const (
	width, height = 960.0, 600.0
	margin        = 24.0
	mostLines     = 6000 // links of a map of nodes that are drawn
	groupLines    = 5    // drawn links for each group of a map of groups, because most pairs of groups have a link
	mostBars      = 5    // probabilities of a node
)

type node struct {
	ID     string       `json:"id"`
	Class  int          `json:"c"`
	Known  bool         `json:"k"`
	Scores [][2]float64 `json:"p"`      // classes and their probabilities, largest first
	Near   []int        `json:"near"`   // positions in Nodes of the neighbours that are drawn
	Others [][2]int     `json:"others"` // classes and counts of the neighbours that are not drawn
}

type nodeList struct {
	IDs         []string  `json:"ids"`
	Class       []int     `json:"c"`
	Probability []float64 `json:"p"`
	Known       []int     `json:"k"` // positions of nodes with a given label
	Group       []int32   `json:"g"` // number of the disc of each node
}

func (l *nodeList) add(g *mapGraph, row int, group int32) {
	if g.Known[row] {
		l.Known = append(l.Known, len(l.IDs))
	}
	l.IDs = append(l.IDs, g.ID(row))
	l.Class = append(l.Class, g.Class[row])
	l.Probability = append(l.Probability, roundProbability(g.certainty(row)))
	l.Group = append(l.Group, group)
}

// document is the data of the script.
type document struct {
	Classes []string    `json:"classes"`
	Colors  []int       `json:"colors"`  // colors of the classes; −1: grey
	Nodes   []node      `json:"nodes"`   // nodes with complete neighbourhoods come first
	Centers int         `json:"centers"` // number of nodes with complete neighbourhoods
	First   int         `json:"first"`   // the node that is shown first
	Reasons map[int]any `json:"reasons"` // reasons by position in Nodes
	List    nodeList    `json:"list"`    // all nodes, or some of each group of a large graph
	Count   int         `json:"count"`   // number of all nodes
	File    string      `json:"file"`
}

const (
	fewNeighbours  = 3 // neighbours of the first node
	mostNeighbours = 29
)

// sections returns two sections of the page: the map with the neighbourhoods of the given rows, which a reader
// can choose, and the predictions that contradict their neighbours.
func (g *mapGraph) sections(ctx context.Context, rows []int) ([]*report.Section, error) {
	groups, groupOf, err := g.groupsOf(ctx)
	if err != nil {
		return nil, err
	}
	links, err := g.linksOf(ctx, groups, groupOf)
	if err != nil {
		return nil, err
	}
	rivals, err := g.rivals(ctx)
	if err != nil {
		return nil, err
	}
	centers := slices.Clone(rows)
	if groups[0].row >= 0 {
		centers = sched.UpTo(len(g.Class))
	} else {
		for _, r := range rivals {
			centers = append(centers, r.row)
		}
		slices.Sort(centers)
		centers = slices.Compact(centers)
	}
	doc, err := g.document(ctx, centers, rows)
	if err != nil {
		return nil, err
	}
	if len(g.Class) <= mostListed {
		for row := range g.Class {
			doc.List.add(g, row, groupOf[row])
		}
	} else {
		for k := range groups {
			for _, row := range groups[k].uncertain {
				doc.List.add(g, row, int32(k))
			}
		}
	}
	data, err := report.Encode(doc)
	if err != nil {
		return nil, err
	}
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, data)
	s := &report.Section{Title: "The graph", Text: []string{g.text(groups, doc)}}
	var b strings.Builder
	fmt.Fprintf(&b, "<style>\n%s</style>\n<form id=\"search\" hidden></form>\n", style)
	g.drawMap(&b, groups, links)
	fmt.Fprintf(&b, "<div id=\"walk\"></div>\n<script type=\"application/json\" id=\"graph-data\">%s</script>\n<script>\n%s</script>\n", escaped.Bytes(), script)
	s.Markup = b.String()
	t := &report.Table{Caption: "Predictions that contradict most of their neighbours, by the weights of links.", Head: []string{"node", "predicted", "probability", "neighbours", "share, %", "links"}}
	for _, r := range rivals {
		class := g.Class[r.row]
		t.Rows = append(t.Rows,
			[]report.Cell{{Text: g.ID(r.row)}, {Text: g.Classes[class]},
				report.Decimal(g.certainty(r.row), 3,
					0), {Text: g.Classes[r.class]}, report.Percent(r.share,
					0), report.Count(r.links)})
	}
	return []*report.Section{s, {Title: "Unlike their neighbours", Tables: []*report.Table{t}}}, nil
}

// document returns the data of the page: the centers with complete neighbourhoods, and their neighbours. The
// page first shows a node of rows or of centers that has, if possible, reasons and a neighbourhood that is
// easy to draw.
func (g *mapGraph) document(ctx context.Context,
	centers, rows []int) (*document, error) {
	neighbourhoods, err := g.around(ctx, centers)
	if err != nil {
		return nil, err
	}
	doc := &document{Classes: g.Classes, Colors: g.Colors, Reasons: map[int]any{},
		Centers: len(centers), Count: len(g.Class), File: g.File}
	position := make(map[int]int, len(neighbourhoods))
	var order []int
	place := func(row int) int {
		if position, isThere := position[row]; isThere {
			return position
		}
		position[row] = len(order)
		order = append(order, row)
		return position[row]
	}
	for _, row := range centers {
		place(row)
	}
	for i := 0; i < len(order); i++ {
		v := g.node(order[i])
		if n := neighbourhoods[order[i]]; n != nil {
			for _, u := range n.drawn {
				v.Near = append(v.Near, place(u))
			}
			for _, class := range slices.Sorted(maps.Keys(n.counts)) {
				v.Others = append(v.Others, [2]int{class, n.counts[class]})
			}
			slices.SortStableFunc(v.Others,
				func(a, b [2]int) int { return b[1] - a[1] })
		}
		doc.Nodes = append(doc.Nodes, v)
	}
	best := -1
	for _, row := range slices.Concat(rows, centers) {
		n := neighbourhoods[row]
		merit := 0
		if g.Reasons[row] != nil {
			merit += 5 // reasons count more than an easy drawing
		}
		if len(n.drawn) <= mostNeighbours {
			merit += 2
			if len(n.drawn) >= fewNeighbours {
				merit += 2
			}
		}
		if merit > best {
			best = merit
			doc.First = position[row]
		}
	}
	for row, r := range g.Reasons {
		if position, isThere := position[row]; isThere {
			doc.Reasons[position] = r
		}
	}
	return doc, nil
}

func (g *mapGraph) text(groups []group, doc *document) string {
	if groups[0].row >= 0 {
		return "A disc is a node, with the color of its predicted class, paler where the prediction is less certain; a ring marks a label that was given. Choose a node to see its neighbours."
	}
	text := "A disc is a group of nodes of one predicted class in one region of the graph: its area is their number, and it is paler where predictions are less certain. Choose a group to list its nodes. The search finds "
	if len(doc.List.IDs) == doc.Count {
		text += "every node; "
	} else {
		text += fmt.Sprintf("some of the %s nodes, and %s has the predictions of all; ", words.Count(doc.Count), g.File)
	}
	return text + fmt.Sprintf("%d nodes have their neighbours here, among them the least certain ones, those that contradict their neighbours, and those of --report-nodes.", doc.Centers)
}

func roundProbability(p float64) float64 {
	return math.Round(1000*p) / 1000
}

func (g *mapGraph) node(row int) node {
	v := node{ID: g.ID(row), Class: g.Class[row], Known: g.Known[row],
		Scores: [][2]float64{}, Near: []int{}, Others: [][2]int{}}
	if v.Class < 0 {
		return v
	}
	scores := g.Scores(row)
	order := sched.Descending(scores)
	for _, c := range order[:min(mostBars, len(order))] {
		v.Scores = append(v.Scores,
			[2]float64{float64(c), roundProbability(float64(scores[c]))})
	}
	return v
}

func (g *mapGraph) drawMap(b *strings.Builder, groups []group, links []link) {
	isLinked := make([]bool, len(groups))
	for _, l := range links {
		isLinked[l.a] = true
		isLinked[l.b] = true
	}
	position, radius := fit(layout(len(groups), links), groups, isLinked)
	degree := degrees(len(groups), links)
	strength := func(l link) float64 { return l.weight / math.Sqrt(degree[l.a]*degree[l.b]) }
	slices.SortStableFunc(links,
		func(x, y link) int { return cmp.Compare(strength(y), strength(x)) })
	fmt.Fprintf(b, "<figure class=\"map\"><svg viewBox=\"0 0 %g %g\" role=\"group\" aria-label=\"Map of the graph\">\n", width, height)
	const shades = 3 // shades of links, strongest first
	limit := mostLines
	if groups[0].row < 0 {
		limit = groupLines * len(groups)
	}
	drawn := links[:min(limit, len(links))]
	for shade := range shades {
		b.WriteString(`<path class="link` + strconv.Itoa(shade) + `" d="`)
		for _, l := range drawn[shade*len(drawn)/shades : (shade+1)*len(drawn)/shades] {
			fmt.Fprintf(b, "M%.1f %.1fL%.1f %.1f", position[l.a][0],
				position[l.a][1], position[l.b][0], position[l.b][1])
		}
		b.WriteString("\"/>\n")
	}
	order := sched.Order(len(groups), func(x, y int) int { return groups[y].nodes - groups[x].nodes })
	for _, k := range order {
		q := &groups[k]
		class := "grey"
		label := "no class"
		if q.class >= 0 {
			label = g.Classes[q.class]
			if g.Colors[q.class] >= 0 {
				class = "s" + strconv.Itoa(g.Colors[q.class])
			}
		}
		data := fmt.Sprintf(` data-group="%d" data-nodes="%d"`, k, q.nodes)
		if q.row >= 0 {
			label = g.ID(q.row) + ": " + label
			data = ` data-row="` + strconv.Itoa(q.row) + `"`
			if q.known > 0 {
				class += " known"
			}
		} else {
			label = fmt.Sprintf("%s: nodes %s, labels %s", label,
				words.Count(q.nodes), words.Count(q.known))
		}
		fmt.Fprintf(b, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill-opacity=\"%.2f\"%s><title>%s, probability %.2f</title></circle>\n",
			class, position[k][0], position[k][1], radius[k], 0.25+0.75*q.certainty,
			data, html.EscapeString(label), q.certainty)
	}
	b.WriteString("</svg>\n<figcaption>")
	for _, c := range sched.Ascending(g.Colors) { // in the order of the table of classes
		if g.Colors[c] >= 0 {
			fmt.Fprintf(b, "<span><i class=\"swatch s%d\"></i>%s</span> ",
				g.Colors[c], html.EscapeString(g.Classes[c]))
		}
	}
	var grey []string
	if slices.Contains(g.Colors, -1) {
		grey = append(grey, "other classes")
	}
	if slices.Contains(g.Class, -1) {
		grey = append(grey, "no label reaches them")
	}
	if grey != nil {
		fmt.Fprintf(b, "<span><i class=\"swatch grey\"></i>%s</span>", strings.Join(grey, ", or "))
	}
	if g.Weighted {
		b.WriteString(" <span>Links with less than 5 % of the largest weight are left out.</span>")
	}
	if len(links) > len(drawn) {
		fmt.Fprintf(b, " <span>The %s strongest of %s links.</span>", words.Count(len(drawn)),
			words.Count(len(links)))
	}
	b.WriteString("</figcaption></figure>\n")
}

// fit returns the center and the radius of the disc of each group in pixels. x has the positions in the layout. The area
// of a disc is proportional to the number of nodes of the group. Groups without links are in rows below the other
// groups.
func fit(x [][2]float64, groups []group,
	isLinked []bool) (position [][2]float64, radius []float64) {
	const covered = 0.12 // share of the area that discs cover
	total := 0
	for _, q := range groups {
		total += q.nodes
	}
	area := covered * width * height / float64(total)
	position = make([][2]float64, len(groups))
	// bottom, right and tallest describe the rows of groups without links.
	bottom := height
	right := margin
	tallest := 0.0
	var linked []int
	for i := range x {
		largest := 60.0
		if groups[i].row >= 0 { // a node of a small graph
			largest = largestNode
		}
		r := min(max(math.Sqrt(area*float64(groups[i].nodes)/math.Pi), 2), largest)
		radius = append(radius, r)
		if isLinked[i] {
			linked = append(linked, i)
			continue
		}
		if right+2*r > width-margin {
			bottom = bottom - tallest - 4
			right = margin
			tallest = 0
		}
		position[i] = [2]float64{right + r, bottom - r - 4}
		right = right + 2*r + 4
		tallest = max(tallest, 2*r)
	}
	span := [2]float64{width - 2*margin, max(bottom-tallest-2*margin, height/2)}
	var low, high [2]float64
	for axis := range 2 {
		low[axis], high[axis] = middle(x, groups, linked, axis)
	}
	side := [2]int{0, 1}
	if high[1]-low[1] > high[0]-low[0] {
		side = [2]int{1, 0} // the longer side is horizontal
	}
	for _, i := range linked {
		for k, axis := range side {
			share := (x[i][axis] - low[axis]) / max(high[axis]-low[axis], 1e-9)
			position[i][k] = keepInside(margin+compress(share)*span[k], radius[i], span[k])
		}
	}
	separate(position, radius, linked, span)
	return position, radius
}

// compress maps a position on an axis to the interval from 0 to 1. In the range of most groups, where share is from 0 to
// 1, the map is linear. Positions outside the range map to a border, in which distances shrink with the distance from
// the range.
func compress(share float64) float64 {
	const border = 0.05
	beyond := max(-share, share-1, 0)
	near := min(max(share, 0), 1)
	return 0.5 + (near-0.5)*(1-2*border) + math.Copysign(border*beyond/(beyond+border/(1-2*border)), share-0.5)
}

func keepInside(x, radius, span float64) float64 {
	edge := max(margin, radius)
	return min(max(x, edge), span+2*margin-edge)
}

// middle returns the range of most positions of the linked groups along an axis. At each end it leaves out at
// most 1 % of the nodes and at most 10 % of the groups.
func middle(x [][2]float64, groups []group, linked []int,
	axis int) (low, high float64) {
	order := slices.SortedFunc(slices.Values(linked),
		func(i, j int) int { return cmp.Compare(x[i][axis], x[j][axis]) })
	total := 0
	for _, i := range order {
		total += groups[i].nodes
	}
	end := func(order []int) float64 {
		sum := 0
		for k, i := range order {
			sum += groups[i].nodes
			if 100*sum > total || 10*k >= len(order) {
				return x[i][axis]
			}
		}
		return 0
	}
	low = end(order)
	slices.Reverse(order)
	return low, end(order)
}

// separate moves the discs of the linked groups, within span, until no disc hides the center of another disc
// and discs of single nodes do not overlap. Small discs move more than large discs.
func separate(position [][2]float64, radius []float64, linked []int,
	span [2]float64) {
	const most, gap = 200, 1
	for range most {
		isApart := true
		for a, i := range linked {
			for _, j := range linked[:a] {
				distance := max(radius[i], radius[j]) + min(radius[i], radius[j], largestNode) + gap
				dx := position[i][0] - position[j][0]
				dy := position[i][1] - position[j][1]
				if math.Abs(dx) >= distance || math.Abs(dy) >= distance ||
					dx*dx+dy*dy >= distance*distance {
					continue
				}
				isApart = false
				if dx*dx+dy*dy < 1e-6 {
					dx, dy = math.Sincos(float64(scatter(i) >> 40))
				}
				length := math.Hypot(dx, dy)
				push := (distance - min(length, distance)) * 1.05
				share := radius[j] * radius[j] / (radius[i]*radius[i] +
					radius[j]*radius[j])
				for k, d := range [2]float64{dx / length, dy / length} {
					position[i][k] = keepInside(position[i][k]+push*share*d, radius[i], span[k])
					position[j][k] = keepInside(position[j][k]-push*(1-share)*d, radius[j], span[k])
				}
			}
		}
		if isApart {
			return
		}
	}
}

const (
	smoothing = 60 // steps of the vectors with which the layout begins
	steps     = 150
)

// layout returns a position for each of n groups. Each step takes time proportional to n² and to the number of
// links.
func layout(n int, links []link) [][2]float64 {
	position := start(n, links)
	x := make([]complex128, n)
	for i, p := range position {
		x[i] = complex(p[0], p[1])
	}
	degree := degrees(n, links)
	ideal := 1 / math.Sqrt(float64(max(1, n))) // distance between groups, in a drawing of area 1
	push := make([]complex128, n)
	for step := range steps {
		clear(push)
		for i := range n {
			for j := range i {
				d := x[i] - x[j]
				f := ideal * ideal / max(real(d)*real(d)+imag(d)*imag(d), 1e-6)
				push[i] += d * complex(f, 0)
				push[j] -= d * complex(f, 0)
			}
		}
		for _, l := range links {
			d := x[l.a] - x[l.b]
			f := cmplx.Abs(d) / ideal * min(1,
				4*l.weight/min(degree[l.a], degree[l.b]))
			push[l.a] -= d * complex(f, 0)
			push[l.b] += d * complex(f, 0)
		}
		longest := 0.1 * math.Pow(0.01, float64(step)/steps)
		for i := range n {
			// This pull to the center holds unconnected parts together.
			d := push[i] - x[i]
			length := cmplx.Abs(d)
			scale := min(length, longest) / max(length, 1e-12)
			x[i] += d * complex(scale, 0)
		}
	}
	for i, p := range x {
		position[i] = [2]float64{real(p), imag(p)}
	}
	return position
}

// degrees returns the sum of the weights of the links of each group, at least 1.
func degrees(n int, links []link) []float64 {
	degree := make([]float64, n)
	for _, l := range links {
		degree[l.a] += l.weight
		degree[l.b] += l.weight
	}
	for i := range degree {
		degree[i] = max(degree[i], 1)
	}
	return degree
}

// start returns two vectors as the columns of x. They are pseudo-random vectors after steps of a lazy random
// walk, so that linked groups have similar values. They are orthogonal to the constant vector and to each
// other.
func start(n int, links []link) [][2]float64 {
	degree := degrees(n, links)
	x := make([][2]float64, n)
	y := make([][2]float64, n)
	for i := range x {
		bits := scatter(i)
		x[i] = [2]float64{float64(bits>>40)/(1<<24) - 0.5,
			float64(bits&(1<<24-1))/(1<<24) - 0.5}
	}
	for range smoothing {
		clear(y)
		for _, l := range links {
			for k := range 2 {
				y[l.a][k] += l.weight * x[l.b][k]
				y[l.b][k] += l.weight * x[l.a][k]
			}
		}
		for i := range x {
			for k := range 2 {
				x[i][k] = (x[i][k] + y[i][k]/degree[i]) / 2
			}
		}
		orthogonalize(x, degree)
	}
	return x
}

// orthogonalize subtracts from each column its mean, and from the second column its projection on the first
// column. It scales both columns to mean square 1/12, as of numbers uniform between −1/2 and 1/2. All sums
// are weighted by the degrees.
func orthogonalize(x [][2]float64, degree []float64) {
	var total, product float64
	var mean, square [2]float64
	for i, d := range degree {
		total += d
		for k := range 2 {
			mean[k] += d * x[i][k]
		}
	}
	for i := range x {
		for k := range 2 {
			x[i][k] -= mean[k] / total
		}
		square[0] += degree[i] * x[i][0] * x[i][0]
		product += degree[i] * x[i][0] * x[i][1]
	}
	for i := range x {
		x[i][1] -= product / max(square[0], 1e-300) * x[i][0]
		square[1] += degree[i] * x[i][1] * x[i][1]
	}
	for i := range x {
		for k := range 2 {
			x[i][k] /= math.Sqrt(max(12*square[k]/total, 1e-300))
		}
	}
}
