package graphmap

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/sched"
)

//go:embed map.css
var style string

//go:embed map.js
var script string

const (
	width, height = 960.0, 600.0
	margin        = 24.0
	mostLines     = 6000 // links that are drawn
	mostBars      = 5    // probabilities of a node
)

// node is a node of the page in JSON.
type node struct {
	ID     string       `json:"id"`
	Class  int          `json:"c"`
	Known  bool         `json:"k"`
	Scores [][2]float64 `json:"p"` // classes and their probabilities, largest first
}

// document is the data of the script.
type document struct {
	Classes []string    `json:"classes"`
	Colors  []int       `json:"colors"` // of the classes; −1: grey
	Nodes   []node      `json:"nodes"`
	Edges   [][2]int    `json:"edges"`   // pairs of positions in Nodes
	Centers []int       `json:"centers"` // positions of the nodes whose neighbourhoods are complete
	Reasons map[int]any `json:"reasons"` // of a position in Nodes
}

// Section returns the section of a page with the map and the neighbourhoods of the centers. colors has the number of
// the color of each class, −1 for grey. reasons has a JSON document for some centers, as Reasons of the module's root.
func (g *Graph) Section(ctx context.Context, colors, centers []int, reasons map[int]any) (*report.Section, error) {
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
	doc := &document{Classes: g.Classes, Colors: colors, Reasons: map[int]any{}}
	var pairs [][2]int
	if groups[0].row >= 0 {
		for row := range g.Class {
			centers = append(centers, row)
		}
		for _, l := range links {
			pairs = append(pairs, [2]int{l.a, l.b})
		}
	} else {
		for _, r := range rivals {
			centers = append(centers, r.row)
		}
	}
	slices.Sort(centers)
	centers = slices.Compact(centers)
	if pairs == nil {
		if pairs, err = g.pairsAround(ctx, centers); err != nil {
			return nil, err
		}
	}
	position := map[int]int{}
	place := func(row int) int {
		if position, isThere := position[row]; isThere {
			return position
		}
		position[row] = len(doc.Nodes)
		doc.Nodes = append(doc.Nodes, g.node(row))
		return position[row]
	}
	for _, row := range centers {
		doc.Centers = append(doc.Centers, place(row))
	}
	for _, p := range pairs {
		doc.Edges = append(doc.Edges, [2]int{place(p[0]), place(p[1])})
	}
	for row, r := range reasons {
		if position, isThere := position[row]; isThere {
			doc.Reasons[position] = r
		}
	}
	data, err := report.Encode(doc)
	if err != nil {
		return nil, err
	}
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, data)
	s := &report.Section{Title: "The graph", Text: []string{text(groups, len(g.Class), len(centers))}}
	var b strings.Builder
	fmt.Fprintf(&b, "<style>\n%s</style>\n", style)
	g.drawMap(&b, groups, links, colors)
	fmt.Fprintf(&b, "<div id=\"walk\"></div>\n<script type=\"application/json\" id=\"graph-data\">%s</script>\n<script>\n%s</script>\n", escaped.Bytes(), script)
	s.Markup = b.String()
	t := &report.Table{Caption: "Predictions that contradict most of their neighbours.", Head: []string{"node", "predicted", "probability", "class of most neighbours", "share of links, %", "links"}}
	for _, r := range rivals {
		class := g.Class[r.row]
		t.Rows = append(t.Rows, []report.Cell{{Text: g.ID(r.row)}, {Text: g.Classes[class]}, report.Fixed(float64(g.Scores(r.row)[class]), 3, 0), {Text: g.Classes[r.class]}, report.Percent(r.share, 0), report.Count(r.links)})
	}
	s.Tables = []*report.Table{t}
	return s, nil
}

// text describes the map.
func text(groups []group, nodes, centers int) string {
	if groups[0].row >= 0 {
		return "A disc is a node, with the color of its predicted class, paler where the prediction is less certain; a ring marks a label that was given. Choose a node to see its neighbours."
	}
	return fmt.Sprintf("A disc is a group of nodes of one predicted class in one region of the graph: its area is their number, and it is paler where predictions are less certain. %d of the %d nodes can be chosen below: the least certain ones, and those that contradict their neighbours.", centers, nodes)
}

// node returns a node of the page.
func (g *Graph) node(row int) node {
	v := node{ID: g.ID(row), Class: g.Class[row], Known: g.Known(row), Scores: [][2]float64{}}
	if v.Class < 0 {
		return v
	}
	scores := g.Scores(row)
	order := sched.UpTo(len(scores))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for _, c := range order[:min(mostBars, len(order))] {
		v.Scores = append(v.Scores, [2]float64{float64(c), math.Round(1000*float64(scores[c])) / 1000})
	}
	return v
}

// drawMap draws the groups and their links.
func (g *Graph) drawMap(b *strings.Builder, groups []group, links []link, colors []int) {
	isLinked := make([]bool, len(groups))
	for _, l := range links {
		isLinked[l.a] = true
		isLinked[l.b] = true
	}
	position, radius := fit(layout(len(groups), links), groups, isLinked)
	degree := degrees(len(groups), links)
	strength := func(l link) float64 { return l.weight / math.Sqrt(degree[l.a]*degree[l.b]) }
	slices.SortStableFunc(links, func(x, y link) int { return cmp.Compare(strength(y), strength(x)) })
	fmt.Fprintf(b, "<figure class=\"map\"><svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"Map of the graph\">\n", width, height)
	const shades = 3 // of links, strongest first
	drawn := links[:min(mostLines, len(links))]
	for shade := range shades {
		b.WriteString(`<path class="link` + strconv.Itoa(shade) + `" d="`)
		for _, l := range drawn[shade*len(drawn)/shades : (shade+1)*len(drawn)/shades] {
			fmt.Fprintf(b, "M%.1f %.1fL%.1f %.1f", position[l.a][0], position[l.a][1], position[l.b][0], position[l.b][1])
		}
		b.WriteString("\"/>\n")
	}
	order := sched.UpTo(len(groups)) // large ones first
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(groups[y].nodes, groups[x].nodes) })
	for _, k := range order {
		q := &groups[k]
		class := "grey"
		label := "no class"
		if q.class >= 0 {
			label = g.Classes[q.class]
			if colors[q.class] >= 0 {
				class = "s" + strconv.Itoa(colors[q.class])
			}
		}
		data := ""
		if q.row >= 0 {
			label = g.ID(q.row) + ": " + label
			data = ` data-row="` + strconv.Itoa(q.row) + `"`
			if q.known > 0 {
				class += " known"
			}
		} else {
			label = fmt.Sprintf("%s: %d nodes, %d labels", label, q.nodes, q.known)
		}
		fmt.Fprintf(b, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill-opacity=\"%.2f\"%s><title>%s, %.2f</title></circle>\n",
			class, position[k][0], position[k][1], radius[k], 0.25+0.75*q.certainty, data, html.EscapeString(label), q.certainty)
	}
	b.WriteString("</svg>\n<figcaption>")
	for c, name := range g.Classes {
		if colors[c] >= 0 {
			fmt.Fprintf(b, "<span><i class=\"swatch s%d\"></i>%s</span> ", colors[c], html.EscapeString(name))
		}
	}
	if slices.Contains(colors, -1) {
		b.WriteString("<span><i class=\"swatch grey\"></i>other classes</span>")
	}
	if len(links) > mostLines {
		fmt.Fprintf(b, " <span>The %d strongest of %d links.</span>", mostLines, len(links))
	}
	b.WriteString("</figcaption></figure>\n")
}

// fit returns the positions in pixels and the radius of each group, whose area is proportional to its nodes. Groups
// without a link are in rows below the others.
func fit(x [][2]float64, groups []group, isLinked []bool) (position [][2]float64, radius []float64) {
	const covered = 0.12 // share of the area that discs cover
	total := 0
	for _, q := range groups {
		total += q.nodes
	}
	area := covered * width * height / float64(total)
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	position = make([][2]float64, len(groups))
	// of the rows
	bottom := height
	right := margin
	tallest := 0.0
	for i, p := range x {
		r := min(max(math.Sqrt(area*float64(groups[i].nodes)/math.Pi), 2), 60)
		radius = append(radius, r)
		if isLinked[i] {
			for k := range 2 {
				low[k], high[k] = min(low[k], p[k]), max(high[k], p[k])
			}
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
	side := [2]int{0, 1}
	if high[1]-low[1] > high[0]-low[0] {
		side = [2]int{1, 0} // the longer side is horizontal
	}
	for i, p := range x {
		for k, axis := range side {
			if isLinked[i] {
				position[i][k] = margin + (p[axis]-low[axis])/max(high[axis]-low[axis], 1e-9)*span[k]
			}
		}
	}
	return position, radius
}

const (
	smoothing = 60  // steps of the vectors that the layout begins with
	steps     = 150 // of the layout
)

// layout returns a position of each of n groups. Cost: n² and the number of links, in each step.
func layout(n int, links []link) [][2]float64 {
	x := start(n, links)
	degree := degrees(n, links)
	ideal := 1 / math.Sqrt(float64(max(1, n))) // distance between groups, in a drawing of area 1
	push := make([][2]float64, n)
	for step := range steps {
		clear(push)
		for i := range n {
			for j := range i {
				dx := x[i][0] - x[j][0]
				dy := x[i][1] - x[j][1]
				f := ideal * ideal / math.Max(dx*dx+dy*dy, 1e-6)
				push[i][0] += dx * f
				push[i][1] += dy * f
				push[j][0] -= dx * f
				push[j][1] -= dy * f
			}
		}
		for _, l := range links {
			dx := x[l.a][0] - x[l.b][0]
			dy := x[l.a][1] - x[l.b][1]
			f := math.Hypot(dx, dy) / ideal * math.Min(1, 4*l.weight/math.Min(degree[l.a], degree[l.b]))
			push[l.a][0] -= dx * f
			push[l.a][1] -= dy * f
			push[l.b][0] += dx * f
			push[l.b][1] += dy * f
		}
		longest := 0.1 * math.Pow(0.01, float64(step)/steps) // distance of a step
		for i := range n {
			// links to the center hold parts together
			px := push[i][0] - x[i][0]
			py := push[i][1] - x[i][1]
			length := math.Hypot(px, py)
			scale := math.Min(length, longest) / math.Max(length, 1e-12)
			x[i][0] += px * scale
			x[i][1] += py * scale
		}
	}
	return x
}

// degrees returns the sum of the weights of the links of each group, at least 1.
func degrees(n int, links []link) []float64 {
	degree := make([]float64, n)
	for _, l := range links {
		degree[l.a] += l.weight
		degree[l.b] += l.weight
	}
	for i := range degree {
		degree[i] = math.Max(degree[i], 1)
	}
	return degree
}

// start returns two vectors of slow variation: pseudo-random ones after steps of the walk that rests in half of its steps,
// made orthogonal to the constant one and to each other.
func start(n int, links []link) [][2]float64 {
	degree := degrees(n, links)
	x := make([][2]float64, n)
	y := make([][2]float64, n)
	for i := range x {
		bits := scatter(i)
		x[i] = [2]float64{float64(bits>>40)/(1<<24) - 0.5, float64(bits&(1<<24-1))/(1<<24) - 0.5}
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

// orthogonalize subtracts from the columns their means, and from the second its projection on the first, and gives both
// the mean square 1/12, that of numbers between −1/2 and 1/2. Sums are weighted by the degrees.
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
		x[i][1] -= product / math.Max(square[0], 1e-300) * x[i][0]
		square[1] += degree[i] * x[i][1] * x[i][1]
	}
	for i := range x {
		for k := range 2 {
			x[i][k] /= math.Sqrt(math.Max(12*square[k]/total, 1e-300))
		}
	}
}
