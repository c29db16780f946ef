package bench

import (
	"context"
	_ "embed"
	"html/template"
	"io"
	"math"
	"strconv"
	"sync"
)

// Scaling is one curve: how the time of a product changes with one thing.
type Scaling struct {
	Over   string  `json:"over"` // what X counts: columns, threads or nodes
	Points []point `json:"points"`
}

// point is one product Y = D⁻¹A·X.
type point struct {
	X int `json:"x"`
	*Report
}

// Add times the product on t: over columns, which double, or threads from 1 to most, or
// over nodes as its next point.
func (s *Scaling) Add(ctx context.Context, t *Target, settings *Settings, most int) error {
	if s.Over == "nodes" {
		return s.add(ctx, len(t.Degrees), t, settings)
	}
	now := *settings
	for x := 1; x <= most; {
		next := 2 * x
		if now.Columns = x; s.Over == "threads" {
			now.Columns, now.Workers, next = settings.Columns, x, x+1
		}
		if err := s.add(ctx, x, t, &now); err != nil {
			return err
		}
		x = next
	}
	return nil
}

// add times the product on t as the next point.
func (s *Scaling) add(ctx context.Context, x int, t *Target, settings *Settings) error {
	v, err := spmm(ctx, t, settings)
	if err == nil {
		s.Points = append(s.Points, point{x, v})
	}
	return err
}

//go:embed scaling.svg
var scalingSVG string

var scalingChart = sync.OnceValue(func() *template.Template { return template.Must(template.New("scaling").Parse(scalingSVG)) })

// SVG draws ns per entry and column over X, which doubles from tick to tick.
func (s *Scaling) SVG(w io.Writer, title string) error {
	return scalingChart().Execute(w, newChart(s, title))
}

// chart holds the values of the template, in pixels.
type chart struct {
	Title, Over         string
	Width, Height       float64
	Left, Right, Middle float64
	Bottom, Center      float64
	Across, Down        []tick
	Points              []struct{ X, Y float64 }
}

// tick is a number on an axis.
type tick struct {
	At   float64
	Text string
}

func newChart(s *Scaling, title string) *chart {
	const left, right, top, bottom = 64.0, 516.0, 36.0, 286.0
	c := &chart{
		Title: title, Over: s.Over, Width: 540, Height: 340,
		Left: left, Right: right, Middle: (left + right) / 2, Bottom: bottom, Center: (top + bottom) / 2,
	}
	first, last, most := math.Inf(1), math.Inf(-1), 0.0
	for _, p := range s.Points {
		x := math.Log2(float64(p.X))
		first, last, most = min(first, x), max(last, x), max(most, p.NsPerEntryColumn)
	}
	// Steps of 1, 2 or 5 times a power of ten, three to seven of them.
	step := math.Pow(10, math.Floor(math.Log10(most/3)))
	for _, wider := range []float64{5, 2} {
		if wider*step <= most/3 {
			step *= wider
			break
		}
	}
	steps := math.Ceil(most / step)
	for i := range int(steps) + 1 {
		value := strconv.FormatFloat(float64(i)*step, 'g', 3, 64)
		c.Down = append(c.Down, tick{pixel(bottom - float64(i)/steps*(bottom-top)), value})
	}
	for _, p := range s.Points {
		x := (left + right) / 2 // of a single point
		if last > first {
			x = left + 10 + (math.Log2(float64(p.X))-first)/(last-first)*(right-left-20)
		}
		c.Across = append(c.Across, tick{pixel(x), strconv.Itoa(p.X)})
		y := bottom - p.NsPerEntryColumn/(steps*step)*(bottom-top)
		c.Points = append(c.Points, struct{ X, Y float64 }{pixel(x), pixel(y)})
	}
	return c
}

// pixel keeps a tenth of a pixel.
func pixel(x float64) float64 { return math.Round(10*x) / 10 }
