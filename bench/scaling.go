package bench

import (
	"context"
	_ "embed"
	"html/template"
	"io"
	"math"
	"strconv"
)

// Scaling is one curve: how the time of a product changes with one thing.
type Scaling struct {
	Over   string  `json:"over"` // what X counts: columns, threads or nodes
	Points []Point `json:"points"`
}

// Point is one product Y = D⁻¹A·X of a [Scaling].
type Point struct {
	X int `json:"x"`
	Sweeps
}

// Over times the product on t while columns, which double, or threads change from 1 to
// most.
func Over(ctx context.Context, axis string, t *Target, s *Settings, most int) (*Scaling, error) {
	v := &Scaling{Over: axis}
	for x := 1; x <= most; {
		now := *s
		if axis == "threads" {
			now.Workers = x
		} else {
			now.Columns = x
		}
		if err := v.Add(ctx, x, t, &now); err != nil {
			return nil, err
		}
		if axis == "threads" {
			x++
		} else {
			x *= 2
		}
	}
	return v, nil
}

// Add times the product on t as the next point.
func (s *Scaling) Add(ctx context.Context, x int, t *Target, settings *Settings) error {
	sweeps, err := spmm(ctx, t, settings)
	s.Points = append(s.Points, Point{x, sweeps})
	return err
}

//go:embed scaling.svg
var scalingSVG string

var scalingChart = template.Must(template.New("scaling").Parse(scalingSVG))

// SVG draws ns per entry and column over X, which doubles from tick to tick.
func (s *Scaling) SVG(w io.Writer, title string) error {
	return scalingChart.Execute(w, newChart(s, title))
}

// chart is what the template draws, in pixels.
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
