package report

import (
	"cmp"
	"math"
	"slices"
)

type Chart struct {
	Name     string // name of the saved file, without an ending
	Caption  string
	X, Y     Axis
	Lines    []Line
	Diagonal bool // adds a dotted line where Y equals X
	Labels   bool // writes names beside the last points, not in a legend, and draws the range of each point as a bar
}

type Line struct {
	Name    string
	Series  string // series that gives the line its color; "": Name
	Style   string // "solid", "dashed" or "reference"; "": the style of the series
	Points  []Point
	Scatter bool // points are not connected
}

type Point struct{ X, Y, Low, High float64 }

// Add adds the point (x, y) with the standard error of y to the line with the given name. It creates the line if
// necessary, and returns it.
func (c *Chart) Add(name string, x float64, y Cell) *Line {
	return c.AddPoint(name, Point{x, y.Value, y.Value - y.Margin, y.Value + y.Margin})
}

// AddPoint inserts a point into the line with the given name, whose points increase in X, and returns the line. If there
// is no such line, AddPoint creates it.
func (c *Chart) AddPoint(name string, p Point) *Line {
	i := slices.IndexFunc(c.Lines, func(l Line) bool { return l.Name == name })
	if i < 0 {
		i = len(c.Lines)
		c.Lines = append(c.Lines, Line{Name: name})
	}
	l := &c.Lines[i]
	place, _ := slices.BinarySearchFunc(l.Points, p,
		func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	l.Points = slices.Insert(l.Points, place, p)
	return l
}

const plotHeight = 250.0

// scene returns the drawing of the chart. A line whose series is in the list has the color of its position in the list;
// other lines have the following colors.
func (c *Chart) scene(series []string) *scene {
	low, high := c.Extent()
	x := c.X.newScale(low.X, high.X)
	y := c.Y.newScale(low.Y, high.Y)
	labelWidth := 0.0
	for _, t := range y.ticks {
		labelWidth = max(labelWidth, textWidth(t.Text))
	}
	s := &scene{}
	left := lineHeight + labelWidth + 8
	top := 8.0
	right := width - 14
	if c.Labels {
		for i := range c.Lines {
			right = min(right, width-textWidth(c.Lines[i].Name)-4)
		}
	}
	bottom := top + plotHeight
	x.first = left + 10
	x.length = right - left - 20
	y.first = bottom
	y.length = top - bottom
	for _, t := range y.ticks {
		height := y.at(t.At)
		s.line("grid", left, height, right, height)
		s.text(left-6, height+4, "end", t.Text)
	}
	s.ticksBelow(x, bottom)
	s.line("axis", left, bottom, right, bottom)
	s.out.add(`<g transform="translate(12 `, pixel((top+bottom)/2), ") rotate(-90)\">\n")
	s.text(0, 0, "", c.Y.Title)
	s.out.add("</g>\n")
	s.text((left+right)/2, bottom+2*lineHeight, "", c.X.Title)
	if c.Diagonal {
		low, high := max(c.X.Low, c.Y.Low), min(c.X.High, c.Y.High)
		s.line("reference", x.at(low), y.at(low), x.at(high), y.at(high))
	}
	numbers := make([]int, len(c.Lines))
	for i := range c.Lines {
		numbers[i] = slices.Index(series, cmp.Or(c.Lines[i].Series, c.Lines[i].Name))
		if numbers[i] < 0 {
			numbers[i] = len(series) + i
		}
		switch {
		case c.Labels:
			s.bars(&c.Lines[i], numbers[i], x, y)
		case !c.Lines[i].Scatter:
			s.band(&c.Lines[i], numbers[i], x, y)
		}
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		points := l.pixels(x, y)
		if !l.Scatter {
			s.path("l"+seriesClass(numbers[i])+" "+l.Style, polyline(points))
		}
		if l.Style != "reference" {
			s.markers(numbers[i], points...)
		}
	}
	s.height = bottom + 2.5*lineHeight
	switch {
	case c.Labels:
		s.labels(c.Lines, y, right)
	case len(c.Lines) > 1:
		s.legend(c.Lines, numbers)
	}
	return s
}

// labels writes the names of lines beside their last points, without overlap.
func (s *scene) labels(lines []Line, y *scale, x float64) {
	const apart = 14.0
	last := func(l Line) float64 { return y.at(l.Points[len(l.Points)-1].Y) + 4 }
	sorted := slices.SortedStableFunc(slices.Values(lines), func(a, b Line) int { return cmp.Compare(last(a), last(b)) })
	lowest := y.first - apart*float64(len(lines)-1)
	place := math.Inf(-1)
	for _, l := range sorted {
		place = max(place+apart, min(last(l), lowest))
		lowest += apart
		s.text(x, place, "start", l.Name)
	}
}

// Extent returns the smallest and the largest values on both axes.
func (c *Chart) Extent() (low, high Point) {
	low = Point{X: math.Inf(1), Y: math.Inf(1)}
	high = Point{X: math.Inf(-1), Y: math.Inf(-1)}
	for _, l := range c.Lines {
		for _, p := range l.Points {
			low.X = min(low.X, p.X)
			high.X = max(high.X, p.X)
			if !c.Y.Log || p.Low > 0 {
				low.Y = min(low.Y, p.Low)
			}
			high.Y = max(high.Y, p.High)
		}
	}
	return low, high
}

// ticksBelow draws the ticks of the horizontal axis. It omits a text that would overlap the previous text.
func (s *scene) ticksBelow(x *scale, bottom float64) {
	edge := math.Inf(-1)
	for _, t := range x.ticks {
		position := x.at(t.At)
		half := textWidth(t.Text) / 2
		s.line("axis", position, bottom, position, bottom+4)
		if position-half >= edge+4 {
			edge = position + half
			s.text(position, bottom+lineHeight, "", t.Text)
		}
	}
}

func (l *Line) pixels(x, y *scale) [][2]float64 {
	var points [][2]float64
	for _, p := range l.Points {
		points = append(points, [2]float64{x.at(p.X), y.at(p.Y)})
	}
	return points
}

// band draws the ranges of the points of a line as an area, or as a bar for a single point. number is the
// index of the color.
func (s *scene) band(l *Line, number int, x, y *scale) {
	if len(l.Points) == 1 {
		s.bars(l, number, x, y)
		return
	}
	var outline [][2]float64
	for _, p := range l.Points {
		outline = append(outline, [2]float64{x.at(p.X), y.at(p.High)})
	}
	for _, p := range slices.Backward(l.Points) {
		outline = append(outline, [2]float64{x.at(p.X), y.at(p.Low)})
	}
	s.path("band"+seriesClass(number), polyline(outline)+"z")
}

func (s *scene) bars(l *Line, number int, x, y *scale) {
	for _, p := range l.Points {
		if p.Low < p.High {
			s.line("l"+seriesClass(number)+" solid", x.at(p.X), y.at(p.Low), x.at(p.X), y.at(p.High))
		}
	}
}
