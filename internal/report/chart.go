package report

import (
	"cmp"
	"math"
	"slices"
)

// Chart draws curves over a common axis.
type Chart struct {
	Name     string // of the file that it is saved as, without an ending
	Caption  string
	X, Y     Axis
	Lines    []Line
	Diagonal bool // a dotted line shows where Y equals X
}

// Line is a curve through points in increasing order of X.
type Line struct {
	Name    string // in the legend
	Points  []Point
	Scatter bool // points are not connected
}

// Point is a point of a curve; the band around the curve has twice the width of Margin.
type Point struct{ X, Y, Margin float64 }

// Add adds a number with its standard error to the line of a name, or to a new one.
func (c *Chart) Add(name string, x float64, y Cell) *Line {
	i := slices.IndexFunc(c.Lines, func(l Line) bool { return l.Name == name })
	if i < 0 {
		i = len(c.Lines)
		c.Lines = append(c.Lines, Line{Name: name})
	}
	l := &c.Lines[i]
	place, _ := slices.BinarySearchFunc(l.Points, x,
		func(p Point, x float64) int { return cmp.Compare(p.X, x) })
	l.Points = slices.Insert(l.Points, place, Point{x, y.Value, y.Margin})
	return l
}

const plotHeight = 250.0

// scene draws the chart. The curve of a name in series has the color of its position there, others follow
// in order.
func (c *Chart) scene(series []string) *scene {
	low, high := c.extent()
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
		numbers[i] = slices.Index(series, c.Lines[i].Name)
		if numbers[i] < 0 {
			numbers[i] = len(series) + i
		}
		if !c.Lines[i].Scatter {
			s.band(&c.Lines[i], numbers[i], x, y)
		}
	}
	for i := range c.Lines {
		points := c.Lines[i].pixels(x, y, 0)
		if !c.Lines[i].Scatter {
			s.path("l"+seriesClass(numbers[i]), polyline(points))
		}
		s.markers(numbers[i], points...)
	}
	s.height = bottom + 2.5*lineHeight
	if len(c.Lines) > 1 {
		s.legend(c.Lines, numbers)
	}
	return s
}

// extent returns the smallest and the largest values on both axes.
func (c *Chart) extent() (low, high Point) {
	low = Point{X: math.Inf(1), Y: math.Inf(1)}
	high = Point{X: math.Inf(-1), Y: math.Inf(-1)}
	for _, l := range c.Lines {
		for _, p := range l.Points {
			low.X = min(low.X, p.X)
			high.X = max(high.X, p.X)
			if y := p.Y - p.Margin; !c.Y.Log || y > 0 {
				low.Y = min(low.Y, y)
			}
			high.Y = max(high.Y, p.Y+p.Margin)
		}
	}
	return low, high
}

// ticksBelow draws ticks of the horizontal axis. A text that would overlap the one before it is left out.
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

// pixels returns the points of a line, each shifted by a number of margins.
func (l *Line) pixels(x, y *scale, margins float64) [][2]float64 {
	var points [][2]float64
	for _, p := range l.Points {
		points = append(points, [2]float64{x.at(p.X), y.at(p.Y + margins*p.Margin)})
	}
	return points
}

// band draws the area within the margins of a curve, and an error bar where it is one point.
func (s *scene) band(l *Line, number int, x, y *scale) {
	outline := l.pixels(x, y, 1)
	lower := l.pixels(x, y, -1)
	class := "band"
	if len(lower) == 1 {
		class = "l"
	}
	slices.Reverse(lower)
	s.path(class+seriesClass(number), polyline(append(outline, lower...))+"z")
}
