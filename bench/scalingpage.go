package bench

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Fit is the exponent of a power law: seconds grow as the axis to this power.
type Fit struct {
	Job      string  `json:"job"`
	Curve    string  `json:"curve"` // what its cells have in common
	Axis     string  `json:"axis"`  // entries, columns, labels, classes, attributes or threads
	Points   int     `json:"points"`
	Exponent float64 `json:"exponent"`
	Stderr   float64 `json:"exponent_stderr,omitempty"` // with three points or more
}

// scalingAxis is a property of cells that grows.
type scalingAxis struct {
	name  string
	noun  string // of a count of the cell; "": the curve is one of graphs of one model
	value func(c *Cell) *int
}

var scalingAxes = []scalingAxis{
	{"entries", "", func(c *Cell) *int { return &c.Entries }},
	{"columns", "column", func(c *Cell) *int { return &c.Columns }},
	{"labels", "label", func(c *Cell) *int { return &c.Labels }},
	{"classes", "class", func(c *Cell) *int { return &c.Classes }},
	{"attributes", "attribute", func(c *Cell) *int { return &c.Attributes }},
	{"threads", "thread", func(c *Cell) *int { return &c.Threads }},
}

// curve names the cells that are equal but for the axis.
func (a *scalingAxis) curve(c *Cell) string {
	graph := c.Graph
	if a.noun == "" {
		graph = c.Model
	}
	return joinNames(c.Program, graph, c.Source, c.counts(a.noun))
}

// counts returns the counts of a cell but the count of a noun.
func (c *Cell) counts(except string) string {
	var parts []string
	for _, a := range scalingAxes {
		if n := *a.value(c); n > 0 && a.noun != "" && a.noun != except {
			parts = append(parts, words.Counted(n, a.noun))
		}
	}
	return strings.Join(parts, ", ")
}

// joinNames joins the names that are not empty, and leaves out what most curves have.
func joinNames(names ...string) string {
	return strings.Join(slices.DeleteFunc(names, func(name string) bool { return name == "" || name == "memory" || name == ourName }), ", ")
}

// chart returns the seconds of a job along an axis, with a line for each curve.
func (r *ScalingReport) chart(job string, a *scalingAxis) *report.Chart {
	chart := &report.Chart{Name: job, X: report.Axis{Title: a.name, Log: true}, Y: report.Axis{Title: "seconds", Log: true},
		Caption: "Seconds of the fastest repetition by the entries of the graph, and the seconds that random reads of the same rows take on this machine."}
	for _, c := range r.Cells {
		if x := *a.value(c); c.Job == job && x > 0 {
			chart.Add(a.curve(c), float64(x), report.Cell{Value: c.SecondsMin})
		}
	}
	return chart
}

// fit fits a power law to each curve with two points or more.
func (r *ScalingReport) fit() {
	for _, job := range ScalingJobs {
		for i := range scalingAxes {
			for _, line := range r.chart(job, &scalingAxes[i]).Lines {
				var x, y []float64
				for _, p := range line.Points {
					x = append(x, math.Log(p.X))
					y = append(y, math.Log(p.Y))
				}
				n := len(x)
				if x[0] == x[n-1] { // they increase
					continue
				}
				f := Fit{Job: job, Curve: line.Name, Axis: scalingAxes[i].name, Points: n}
				_, f.Exponent = stat.LinearRegression(x, y, nil, false)
				if n > 2 {
					f.Stderr = math.Sqrt(max(0, stat.Variance(y, nil)/stat.Variance(x, nil)-f.Exponent*f.Exponent) / float64(n-2))
				}
				r.Fits = append(r.Fits, f)
			}
		}
	}
}

// Noisy returns the number of cells whose repetitions differ by more than a fifth.
func (r *ScalingReport) Noisy() (number int) {
	for _, c := range r.Cells {
		if slices.Max(c.SecondsEach) > 1.2*c.SecondsMin {
			number++
		}
	}
	return number
}

// AddTo adds a section with the curves of each job to the top of a page. A chart has the limits of heatwalk in memory with the
// most columns and threads, which are measured last.
func (r *ScalingReport) AddTo(p *report.Page) {
	tables := p.Sections
	p.Sections = nil
	for _, job := range ScalingJobs {
		chart := r.chart(job, &scalingAxes[0])
		counts := ""
		for _, c := range slices.Backward(r.Cells) {
			if c.Job != job || c.LimitSeconds == 0 || c.Program != ourName || c.Source == "disk" {
				continue
			}
			counts = cmp.Or(counts, c.counts(""))
			if c.counts("") == counts {
				chart.Add(joinNames("random rows", c.Model, counts), float64(c.Entries), report.Cell{Value: c.LimitSeconds})
			}
		}
		p.Add(&report.Section{Title: job, Charts: []*report.Chart{chart}})
	}
	p.Sections = append(p.Sections, tables...)
}
