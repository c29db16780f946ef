package report

import (
	_ "embed"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scene is a drawing as shapes, in pixels.
type scene struct {
	Width, Height float64
	Shapes        []shape
}

// shape is a path, or a text.
type shape struct {
	Class  string // see drawing.css
	Path   string
	Text   string
	X, Y   float64
	Anchor string // start or end of a text, which is at X; "": the middle
	Turned bool   // the text is read from bottom to top
}

const (
	lineHeight = 18.0
	charWidth  = 8.3 // mean width of a character of the largest font, 14 pixels high and wide
	width      = 460.0
	series     = 10 // different colors
)

// textWidth estimates the width of a text from above.
func textWidth(s string) float64 { return charWidth * float64(utf8.RuneCountInString(s)) }

// pixel writes a coordinate with at most one decimal.
func pixel(x float64) string { return strconv.FormatFloat(math.Round(10*x)/10, 'f', -1, 64) }

// round rounds a coordinate to one decimal.
func round(x float64) float64 { return math.Round(10*x) / 10 }

// seriesClass returns the class of a series by its number. After ten series colors repeat.
func seriesClass(i int) string { return " s" + strconv.Itoa(i%series) }

func (s *scene) path(class, path string) {
	s.Shapes = append(s.Shapes, shape{Class: class, Path: path})
}

// line draws a straight line.
func (s *scene) line(class string, x1, y1, x2, y2 float64) {
	s.path(class, "M"+pixel(x1)+" "+pixel(y1)+"L"+pixel(x2)+" "+pixel(y2))
}

// text writes a text with its base line at y.
func (s *scene) text(x, y float64, anchor, text string) {
	s.Shapes = append(s.Shapes, shape{Text: text, X: round(x), Y: round(y), Anchor: anchor})
}

// turned writes a text around the point from bottom to top.
func (s *scene) turned(x, y float64, text string) {
	s.Shapes = append(s.Shapes, shape{Text: text, X: round(x), Y: round(y), Turned: true})
}

// polyline returns the path through points.
func polyline(points [][2]float64) string {
	var b strings.Builder
	for i, p := range points {
		b.WriteString(map[bool]string{true: "M", false: "L"}[i == 0] + pixel(p[0]) + " " + pixel(p[1]))
	}
	return b.String()
}

// markers are the shapes of the points of a series, in pixels around (0, 0).
var markers = [series]string{
	"m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",              // disc
	"m-3.2-3.2h6.4v6.4h-6.4z",                                   // square
	"m0-4.2l4 7h-8z",                                            // triangle
	"m0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z",                         // diamond
	"m0 4.2l4-7h-8z",                                            // triangle downwards
	"m-1.4-4h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z", // plus
	"m-4 0l7-4v8z",                                              // triangle to the left
	"m4 0l-7-4v8z",                                              // triangle to the right
	"m-2-4.2h4l2.2 4.2l-2.2 4.2h-4l-2.2-4.2z",                   // hexagon
	"m-4-4l4 2.4l4-2.4l-2.4 4l2.4 4l-4-2.4l-4 2.4l2.4-4z",       // star
}

// markersAt draws the markers of a series.
func (s *scene) markersAt(i int, points ...[2]float64) {
	var b strings.Builder
	for _, p := range points {
		b.WriteString("M" + pixel(p[0]) + " " + pixel(p[1]) + markers[i%series])
	}
	s.path("m"+seriesClass(i), b.String())
}

// legend draws the names of series in rows that begin at y, each next to a sample of its line, and returns
// the height of the rows.
func (s *scene) legend(y float64, names []string, numbers []int) float64 {
	const sample = 30.0
	x, top := 4.0, y
	for i, name := range names {
		w := sample + textWidth(name) + 14
		if x > 4 && x+w > s.Width {
			x, y = 4, y+lineHeight
		}
		s.line("l"+seriesClass(numbers[i]), x, y+9, x+sample-6, y+9)
		s.markersAt(numbers[i], [2]float64{x + sample/2 - 3, y + 9})
		s.text(x+sample, y+13, "start", name)
		x += w
	}
	return y + lineHeight - top
}

//go:embed drawing.css
var drawingCSS string

// compact shortens the style of a file that has one drawing alone.
var compact = strings.NewReplacer(".drawing ", "", "\n", "", " { ", "{", " }", "}", "; ", ";", ": ", ":", ", ", ",")

// writeTo writes the shapes.
func (s *scene) writeTo(m *markup) {
	for _, shape := range s.Shapes {
		if shape.Text == "" {
			m.add(`<path class="`, shape.Class, `" d="`, shape.Path, "\"/>\n")
			continue
		}
		x, y := pixel(shape.X), pixel(shape.Y)
		m.add(`<text x="`, x, `" y="`, y, `"`)
		m.attribute("class", shape.Anchor)
		if shape.Turned {
			m.add(` transform="rotate(-90 `, x, " ", y, `)"`)
		}
		m.add(">")
		m.text(shape.Text)
		m.add("</text>\n")
	}
}

// WriteSVG writes charts next to each other as an SVG file, under a title unless that is "".
func WriteSVG(w io.Writer, title string, charts ...*Chart) error {
	var scenes []*scene
	for _, c := range charts {
		scenes = append(scenes, c.scene(nil))
	}
	return writeSVG(w, title, scenes...)
}

func writeSVG(w io.Writer, title string, scenes ...*scene) error {
	top := 0.0
	if title != "" {
		top = 28
	}
	width, height := 0.0, 0.0
	var panels markup
	for _, s := range scenes {
		panels.add(`<g transform="translate(`, pixel(width), " ", pixel(top), ")\">\n")
		s.writeTo(&panels)
		panels.add("</g>\n")
		width += s.Width
		height = max(height, s.Height+top)
	}
	var m markup
	m.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 `, pixel(width), " ", pixel(height), `" width="`, pixel(width), `" height="`, pixel(height), "\">\n",
		"<style>", compact.Replace(drawingCSS), "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n")
	if title != "" {
		m.element(`<text x="`+pixel(width/2)+`" y="19">`, title)
		m.add("\n")
	}
	m.add(panels.String(), "</svg>\n")
	return m.writeTo(w)
}
