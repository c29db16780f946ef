package report

import (
	_ "embed"
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

type scene struct {
	height float64
	out    markup
}

const (
	lineHeight = 18.0
	charWidth  = 8.3 // mean width of a character of the largest font, of 14 pixels
	width      = 460.0
	series     = 10 // number of different styles of series
)

// textWidth returns an upper estimate of the width of a text in pixels.
func textWidth(s string) float64 {
	return charWidth * float64(utf8.RuneCountInString(s))
}

func pixel(x float64) string {
	return strconv.FormatFloat(math.Round(10*x)/10, 'f', -1, 64)
}

// seriesClass returns the class, after a space, of series i. The classes repeat after ten series.
func seriesClass(i int) string {
	return " s" + strconv.Itoa(i%series)
}

func (s *scene) path(class, path string) {
	s.out.add(`<path class="`, class, `" d="`, path, "\"/>\n")
}

func (s *scene) line(class string, x1, y1, x2, y2 float64) {
	s.path(class, polyline([][2]float64{{x1, y1}, {x2, y2}}))
}

// text draws a text with its base line at y. The text begins at x if anchor is "start", ends at x if anchor is "end",
// and is centred at x otherwise.
func (s *scene) text(x, y float64, anchor, text string) {
	s.out.add(`<text x="`, pixel(x), `" y="`, pixel(y), `"`)
	s.out.attribute("class", anchor)
	s.out.add(">")
	s.out.text(text)
	s.out.add("</text>\n")
}

func polyline(points [][2]float64) string {
	var list []string
	for _, p := range points {
		list = append(list, pixel(p[0])+" "+pixel(p[1]))
	}
	return "M" + strings.Join(list, "L")
}

// markerShapes has the path of the marker of each series, in pixels around (0, 0).
var markerShapes = [series]string{
	"m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
	"m-3.2-3.2h6.4v6.4h-6.4z",
	"m0-4.2l4 7h-8z",
	"m0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z",
	"m0 4.2l4-7h-8z",
	"m-1.4-4h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z",
	"m-4 0l7-4v8z",
	"m4 0l-7-4v8z",
	"m-2-4.2h4l2.2 4.2l-2.2 4.2h-4l-2.2-4.2z",
	"m-4-4l4 2.4l4-2.4l-2.4 4l2.4 4l-4-2.4l-4 2.4l2.4-4z",
}

func (s *scene) markers(number int, points ...[2]float64) {
	path := ""
	for _, p := range points {
		path += "M" + pixel(p[0]) + " " + pixel(p[1]) + markerShapes[number%series]
	}
	s.path("m"+seriesClass(number), path)
}

// legend draws the names of lines in rows below the drawing, each with a sample of its line.
func (s *scene) legend(lines []Line, numbers []int) {
	const sample = 30.0
	x, y := 4.0, s.height+6
	for i, l := range lines {
		w := sample + textWidth(l.Name) + 14
		if x > 4 && x+w > width {
			x, y = 4, y+lineHeight
		}
		s.line("l"+seriesClass(numbers[i]), x, y+9, x+sample-6, y+9)
		s.markers(numbers[i], [2]float64{x + sample/2 - 3, y + 9})
		s.text(x+sample, y+13, "start", l.Name)
		x += w
	}
	s.height = y + lineHeight
}

//go:embed drawing.css
var drawingCSS string

var compact = strings.NewReplacer(".drawing ", "", "\n", "", " { ", "{", " }", "}",
	"; ", ";", ": ", ":", ", ", ",")

func (s *scene) svg() string {
	across := pixel(width)
	down := pixel(s.height)
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ` + across + " " + down + `" width="` + across + `" height="` + down + "\">\n" +
		"<style>" + compact.Replace(drawingCSS) +
		"</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" +
		s.out.String() + "</svg>\n"
}

// SVG returns the chart as a file of its own. A line whose series is in the list has the color of its position in the list.
func (c *Chart) SVG(series []string) string { return c.scene(series).svg() }

// writeHTML writes the chart with a link that saves it as SVG.
func (c *Chart) writeHTML(m *markup, series []string) {
	s := c.scene(series)
	m.add("<figure>\n<svg class=\"drawing\" viewBox=\"0 0 ", pixel(width), " ", pixel(s.height), `" role="img"`)
	m.attribute("aria-label", c.Caption)
	m.add(">", s.out.String(), "</svg>\n<figcaption>")
	m.text(c.Caption)
	m.add(` <a class="save" download="`, c.Name, `.svg" href="data:image/svg+xml;base64,`,
		base64.StdEncoding.EncodeToString([]byte(s.svg())),
		"\">Save as SVG</a></figcaption>\n</figure>\n")
}
