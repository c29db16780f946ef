package bench

import (
	"math"
	"slices"

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
	value func(c *Cell) int
}

var scalingAxes = []scalingAxis{
	{"entries", "", func(c *Cell) int { return int(c.Entries) }},
	{"columns", "column", func(c *Cell) int { return c.Columns }},
	{"labels", "label", func(c *Cell) int { return c.Labels }},
	{"classes", "class", func(c *Cell) int { return c.Classes }},
	{"attributes", "attribute", func(c *Cell) int { return c.Attributes }},
	{"threads", "thread", func(c *Cell) int { return c.Threads }},
}

// curve names the cells that are equal but for the axis.
func (a scalingAxis) curve(c *Cell) string {
	graph := c.Graph
	if a.noun == "" {
		graph = c.Model
	}
	return name(c.Program, graph, c.Source, c.counts(a.noun))
}

// counts returns the counts of a cell but that of a noun.
func (c *Cell) counts(except string) string {
	var parts []string
	for _, axis := range scalingAxes {
		if axis.noun != "" && axis.noun != except {
			parts = append(parts, count(axis.value(c), axis.noun))
		}
	}
	return name(parts...)
}

// name joins the parts that are not empty, and leaves out what most curves have.
func name(parts ...string) (text string) {
	for _, part := range parts {
		if part == "" || part == "memory" || part == "heatwalk" {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += part
	}
	return text
}

// count returns a number of things, "" for 0.
func count(n int, noun string) string {
	if n == 0 {
		return ""
	}
	return words.Counted(n, noun)
}

// fit fits a power law to each curve with two points or more.
func (r *ScalingReport) fit() {
	for _, job := range scalingJobs {
		for _, axis := range scalingAxes {
			var curves []string
			x, y := map[string][]float64{}, map[string][]float64{}
			for _, c := range r.Cells {
				if c.Job != job.name || axis.value(c) == 0 {
					continue
				}
				curve := axis.curve(c)
				if x[curve] == nil {
					curves = append(curves, curve)
				}
				x[curve] = append(x[curve], math.Log(float64(axis.value(c))))
				y[curve] = append(y[curve], math.Log(c.SecondsMin))
			}
			for _, curve := range curves {
				if slices.Min(x[curve]) == slices.Max(x[curve]) {
					continue
				}
				f := Fit{Job: job.name, Curve: curve, Axis: axis.name, Points: len(x[curve])}
				f.Exponent, f.Stderr = slope(x[curve], y[curve])
				r.Fits = append(r.Fits, f)
			}
		}
	}
}

// slope returns the slope of the line of least squares, and its standard error; 0 for two points.
func slope(x, y []float64) (slope, stderr float64) {
	n := float64(len(x))
	var meanX, meanY, xx, xy, squares float64
	for i := range x {
		meanX += x[i] / n
		meanY += y[i] / n
	}
	for i := range x {
		xx += (x[i] - meanX) * (x[i] - meanX)
		xy += (x[i] - meanX) * (y[i] - meanY)
	}
	slope = xy / xx
	for i := range x {
		d := y[i] - meanY - slope*(x[i]-meanX)
		squares += d * d
	}
	if len(x) > 2 {
		stderr = math.Sqrt(squares / (n - 2) / xx)
	}
	return slope, stderr
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

// AddTo adds a section with the curves of each job to the top of a page.
func (r *ScalingReport) AddTo(p *report.Page) {
	tables := p.Sections
	p.Sections = nil
	for _, job := range scalingJobs {
		chart := &report.Chart{Name: job.name, X: report.Axis{Title: "entries", Log: true}, Y: report.Axis{Title: "seconds", Log: true},
			Caption: "Seconds of the fastest repetition by the entries of the graph, and those that the limits of this machine allow."}
		r.draw(chart, job.name)
		p.Add(&report.Section{Title: job.name, Charts: []*report.Chart{chart}})
	}
	p.Sections = append(p.Sections, tables...)
}

// draw draws the curves of a job, and the limits of the most columns and threads.
func (r *ScalingReport) draw(chart *report.Chart, job string) {
	var most, widest int
	for _, c := range r.Cells {
		if c.Job == job {
			most = max(most, c.Threads)
			widest = max(widest, c.Columns)
		}
	}
	for _, c := range r.Cells {
		if c.Job != job {
			continue
		}
		add(chart, scalingAxes[0].curve(c), c, c.SecondsMin)
		if c.LimitSeconds == 0 || c.Threads != most || c.Columns != widest || c.Program != "heatwalk" || c.Source == "disk" {
			continue
		}
		bytes := c.BytesPerSecond * c.SecondsMin
		i := slices.IndexFunc(r.Limits, func(l Limit) bool { return l.Threads == most })
		add(chart, name("random rows", c.Model, count(c.Columns, "column"), count(most, "thread")), c, c.LimitSeconds)
		add(chart, name("triad in cache", c.Model), c, bytes/r.Limits[i].TriadCache)
		add(chart, name("triad in memory", c.Model), c, bytes/r.Limits[i].TriadMemory)
	}
}

// add adds a point of a cell to a curve of a chart.
func add(chart *report.Chart, curve string, c *Cell, seconds float64) {
	i := slices.IndexFunc(chart.Lines, func(l report.Line) bool { return l.Name == curve })
	if i < 0 {
		i = len(chart.Lines)
		chart.Lines = append(chart.Lines, report.Line{Name: curve})
	}
	chart.Lines[i].Add(float64(c.Entries), report.Cell{Value: seconds})
}
