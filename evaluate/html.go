package evaluate

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"sync"
)

//go:embed report.html
var reportHTML string

var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Funcs(template.FuncMap{
		"percent": percent,
		"points":  func(x float64) string { return fmt.Sprintf("%+.2f", 100*x) },
	}).Parse(reportHTML))
})

// maxTable is the number of classes up to which a page shows the confusion of
// the best methods.
const maxTable = 20

// WriteHTML writes the report as one page that needs no other file: the tables,
// a plot, the parameters, tests, and the confusion of the best methods.
func (r *Report) WriteHTML(w io.Writer) error {
	v := view{
		Report: r, Drawn: r.drawn(), Protocol: r.protocol(), Fractions: r.fractions(), Methods: r.methods(),
		Measures: r.measures(), Level: Level, Chart: newChart(r),
	}
	if len(r.Classes) <= maxTable {
		for _, f := range v.Fractions {
			v.Tables = append(v.Tables, r.result(r.best(f), f))
		}
	}
	return page().Execute(w, v)
}

// view is the data of the template.
type view struct {
	*Report
	Drawn     string
	Protocol  []string
	Fractions []float64
	Methods   []string
	Measures  []measure // columns of the table of measures
	Level     float64
	Chart     *chart
	Tables    []*Result
}

// TrainedOn writes the size of the training sets of a fraction.
func (v view) TrainedOn(fraction float64) string { return v.trainedOn(fraction) }

// At returns the result of a method at a fraction.
func (v view) At(method string, fraction float64) *Result { return v.result(method, fraction) }

// chart is a plot of accuracies over training sizes, in pixels. Sizes have
// equal distances.
type chart struct {
	Width, Height, Left, Right, Legend float64
	Ticks, Labels                      []mark
	Series                             []series
}

// mark is a text on an axis.
type mark struct {
	At   float64
	Text string
}

// series is one method.
type series struct {
	Method  string
	Colour  int
	LegendY float64
	Means   []point
	Splits  []point // every split's accuracy
}

// point is an accuracy, with the ends of its error bar.
type point struct{ X, Y, Low, High float64 }

const (
	chartTop, chartBottom = 16.0, 300.0
	colours               = 6
)

func newChart(r *Report) *chart {
	c := &chart{Width: 720, Height: 330, Left: 48, Right: 570, Legend: 590}
	lo, hi := 1.0, 0.0
	for _, res := range r.Results {
		for _, a := range res.Accuracies {
			lo, hi = min(lo, a), max(hi, a)
		}
	}
	// Ticks at multiples of 5 or 10 % that enclose all accuracies.
	step := 0.05
	if hi-lo > 0.3 {
		step = 0.1
	}
	first, last := math.Floor(lo/step), math.Ceil(hi/step)
	last = max(last, first+1)
	y := func(a float64) float64 {
		return round(chartBottom - (a/step-first)/(last-first)*(chartBottom-chartTop))
	}
	for t := first; t <= last; t++ {
		c.Ticks = append(c.Ticks, mark{y(t * step), fmt.Sprintf("%.0f", 100*t*step)})
	}
	fractions, methods := r.fractions(), r.methods()
	slot := (c.Right - c.Left) / float64(len(fractions))
	for i, f := range fractions {
		c.Labels = append(c.Labels, mark{round(c.Left + slot*(float64(i)+0.5)), r.trainedOn(f) + " labelled"})
	}
	for m, method := range methods {
		s := series{Method: method, Colour: m % colours, LegendY: chartTop + 20*float64(m)}
		for i, f := range fractions {
			res := r.result(method, f)
			// Methods share the middle third of the slot of a size.
			x := round(c.Labels[i].At + slot/3*((float64(m)+0.5)/float64(len(methods))-0.5))
			for _, a := range res.Accuracies {
				s.Splits = append(s.Splits, point{X: x, Y: y(a)})
			}
			mean, e := res.AccuracyMean, res.AccuracyStderr
			s.Means = append(s.Means, point{X: x, Y: y(mean), Low: y(mean - e), High: y(mean + e)})
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// round rounds to a tenth of a pixel.
func round(x float64) float64 { return math.Round(10*x) / 10 }
