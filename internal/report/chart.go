package report

import (
	"cmp"
	"math"
	"slices"
)

// Chart draws curves over a common axis.
type Chart struct {
	Name    string // of the file that it is saved as, without an ending
	Caption string
	X, Y    Axis
	Lines   []Line
}

// Line is a curve through points in increasing order of X.
type Line struct {
	Name      string // in the legend
	Points    []Point
	Reference bool // a thin dotted line without markers, whose name is written next to its last point
}

// Point is a point of a curve; the band around the curve has twice the width of Margin.
type Point struct{ X, Y, Margin float64 }

// Add adds the point of a number with its standard error.
func (l *Line) Add(x float64, y Cell) {
	at, _ := slices.BinarySearchFunc(l.Points, x, func(p Point, x float64) int { return cmp.Compare(p.X, x) })
	l.Points = slices.Insert(l.Points, at, Point{x, y.Value, y.Margin})
}

const plotHeight = 250.0

// scene returns the chart as shapes. The curve of a name in series has the color of its position there,
// others follow in order.
func (c *Chart) scene(series []string) *scene {
	x, y := c.scales()
	labelWidth := 0.0
	for _, t := range y.ticks {
		labelWidth = max(labelWidth, textWidth(t.Text))
	}
	s := &scene{Width: width}
	left, top := lineHeight+labelWidth+8, 8.0
	right, bottom := width-14, top+plotHeight
	x.first, x.length = left+10, right-left-20
	y.first, y.length = bottom, top-bottom
	for _, t := range y.ticks {
		height := y.at(t.At)
		s.line("grid", left, height, right, height)
		s.text(left-6, height+4, "end", t.Text)
	}
	s.ticksBelow(x, bottom)
	s.line("axis", left, bottom, right, bottom)
	s.turned(12, (top+bottom)/2, c.Y.Title)
	s.text((left+right)/2, bottom+2*lineHeight, "", c.X.Title)
	var names []string
	var numbers []int
	for i := range c.Lines {
		l := &c.Lines[i]
		if l.Reference {
			s.reference(l, x, y)
			continue
		}
		number := slices.Index(series, l.Name)
		if number < 0 {
			number = len(series) + len(names)
		}
		names, numbers = append(names, l.Name), append(numbers, number)
		s.band(l, number, x, y)
	}
	for i := range c.Lines {
		if l := &c.Lines[i]; !l.Reference {
			s.curve(l, numbers[0], x, y)
			numbers = append(numbers[1:], numbers[0])
		}
	}
	s.Height = bottom + 2.5*lineHeight
	if len(names) > 1 {
		s.Height += 6 + s.legend(s.Height, names, numbers)
	}
	return s
}

// scales returns the scales of both axes.
func (c *Chart) scales() (x, y *scale) {
	leastX, mostX, leastY, mostY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, l := range c.Lines {
		for _, p := range l.Points {
			leastX, mostX = min(leastX, p.X), max(mostX, p.X)
			if low := p.Y - p.Margin; !c.Y.Log || low > 0 {
				leastY = min(leastY, low)
			}
			mostY = max(mostY, p.Y+p.Margin)
		}
	}
	return c.X.newScale(leastX, mostX), c.Y.newScale(leastY, mostY)
}

// ticksBelow draws ticks of the horizontal axis. A text that would overlap the one before it is left out.
func (s *scene) ticksBelow(x *scale, bottom float64) {
	end := math.Inf(-1)
	for i, t := range x.ticks {
		position, half := x.at(t.At), textWidth(t.Text)/2
		s.line("axis", position, bottom, position, bottom+4)
		last := x.ticks[len(x.ticks)-1]
		crowdsLast := i < len(x.ticks)-1 && position+half+4 > x.at(last.At)-textWidth(last.Text)/2
		if position-half < end+4 || crowdsLast {
			continue
		}
		end = position + half
		s.text(position, bottom+lineHeight, "", t.Text)
	}
}

// pixels returns the points of a line, each shifted by a number of margins.
func (l *Line) pixels(x, y *scale, margins float64) [][2]float64 {
	var at [][2]float64
	for _, p := range l.Points {
		at = append(at, [2]float64{x.at(p.X), y.at(p.Y + margins*p.Margin)})
	}
	return at
}

// band draws the area within the margins of a curve, and an error bar where it is one point.
func (s *scene) band(l *Line, number int, x, y *scale) {
	upper, lower := l.pixels(x, y, 1), l.pixels(x, y, -1)
	wide := false
	for _, p := range l.Points {
		wide = wide || p.Margin > 0
	}
	switch {
	case !wide || l.Reference:
	case len(upper) == 1:
		s.line("l"+seriesClass(number), upper[0][0], upper[0][1], lower[0][0], lower[0][1])
	default:
		for i := range lower {
			upper = append(upper, lower[len(lower)-1-i])
		}
		s.path("band"+seriesClass(number), polyline(upper)+"z")
	}
}

// curve draws the line and the markers of a curve.
func (s *scene) curve(l *Line, number int, x, y *scale) {
	at := l.pixels(x, y, 0)
	if len(at) > 1 {
		s.path("l"+seriesClass(number), polyline(at))
	}
	s.markersAt(number, at...)
}

// reference draws a line without markers.
func (s *scene) reference(l *Line, x, y *scale) {
	at := l.pixels(x, y, 0)
	s.path("reference", polyline(at))
	last := at[len(at)-1]
	s.text(last[0], last[1]-5, "end", l.Name)
}
