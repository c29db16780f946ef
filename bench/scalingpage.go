package bench

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Fit is a power law of a curve: seconds ∝ axis^Exponent.
type Fit struct {
	Job      string  `json:"job"`
	Curve    string  `json:"curve"` // what its cells have in common
	Axis     string  `json:"axis"`  // entries, columns, labels, classes, attributes, threads or processes
	Points   int     `json:"points"`
	Exponent float64 `json:"exponent"`
	Stderr   float64 `json:"exponent_stderr,omitempty"` // given for three points or more
}

// scalingAxis is a property of cells that varies along a curve.
type scalingAxis struct {
	name  string
	noun  string // noun of a count of the cell; "": the axis is the size of graphs of one model
	value func(c *Cell) *int

	workers bool // the axis counts what shares the work
}

var scalingAxes = []scalingAxis{
	{"entries", "", func(c *Cell) *int { return &c.Entries }, false},
	{"columns", "column", func(c *Cell) *int { return &c.Columns }, false},
	{"labels", "label", func(c *Cell) *int { return &c.Labels }, false},
	{"classes", "class", func(c *Cell) *int { return &c.Classes }, false},
	{"attributes", "attribute", func(c *Cell) *int { return &c.Attributes }, false},
	{"threads", "thread", func(c *Cell) *int { return &c.Threads }, true},
	{"processes", "process", func(c *Cell) *int { return &c.Processes }, true},
}

// curve returns the name of the curve of a cell. Cells of a curve differ only in the axis.
func (a *scalingAxis) curve(c *Cell) string {
	graph := c.Graph
	if a.noun == "" {
		graph = c.Model
	}
	return joinNames(c.Program, graph, c.Source, c.counts(a.noun))
}

// counts returns the counts of a cell as text, without the count with the noun except.
func (c *Cell) counts(except string) string {
	var parts []string
	for _, a := range scalingAxes {
		if n := *a.value(c); n > 0 && a.noun != "" && a.noun != except {
			parts = append(parts, words.Counted(n, a.noun))
		}
	}
	return strings.Join(parts, ", ")
}

// joinNames joins the names that tell curves apart. It leaves out "", "memory" and heatwalk.
func joinNames(names ...string) string {
	return strings.Join(slices.DeleteFunc(names, func(name string) bool { return name == "" || name == "memory" || name == ourName }), ", ")
}

// fit fits a power law to each curve of at least two points.
func (r *ScalingReport) fit() {
	for _, job := range ScalingJobs {
		for i := range scalingAxes {
			a := &scalingAxes[i]
			chart := &report.Chart{}
			for _, c := range r.complete(job) {
				if x := *a.value(c); x > 0 {
					chart.Add(a.curve(c), float64(x), report.Cell{Value: c.SecondsMin})
				}
			}
			for _, line := range chart.Lines {
				var x, y []float64
				for _, p := range line.Points {
					x = append(x, math.Log(p.X))
					y = append(y, math.Log(p.Y))
				}
				n := len(x)
				if x[0] == x[n-1] {
					continue
				}
				f := Fit{Job: job, Curve: line.Name, Axis: a.name, Points: n}
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

// complete returns the cells of a job at the scales of which every cell was measured within the budget of time, so that
// all curves end at the same scale.
func (r *ScalingReport) complete(job string) (cells []*Cell) {
	for _, c := range r.Cells {
		if c.Job == job && (r.cut == 0 || c.scale < r.cut) {
			cells = append(cells, c)
		}
	}
	return cells
}

// AddTo adds a section for each job at the top of a page. Charts of seconds use all threads. The chart of the
// speed-up by threads is for the largest number of columns on the largest graph.
func (r *ScalingReport) AddTo(p *report.Page) {
	tables := p.Sections
	p.Sections = nil
	for _, c := range r.Cells {
		if !slices.Contains(p.Series, c.Program) {
			p.Series = append(p.Series, c.Program)
		}
	}
	for _, job := range ScalingJobs {
		cells := r.complete(job)
		last := map[string]*Cell{} // largest cell of each model
		for _, c := range cells {
			last[c.Model] = c
		}
		s := &report.Section{Title: job}
		for _, c := range cells {
			if c.Threads == last[c.Model].Threads {
				chart := chartOf(s, c.Job+"-"+c.Model, joinNames(c.Model, c.counts(""))+".",
					report.Axis{Title: "entries", Log: true}, report.Axis{Title: "seconds", Log: true})
				x := float64(c.Entries)
				c.addPoint(chart, x, c.SecondsMedian, c.SecondsMin, slices.Max(c.SecondsEach))
				if c.LimitSeconds > 0 && c.Program == ourName && c.Source != "disk" {
					chart.Add("random rows", x, report.Cell{Value: c.LimitSeconds}).Style = "reference"
				}
			}
		}
		all := &report.Chart{Y: report.Axis{Log: true}}
		for _, c := range s.Charts {
			all.Lines = append(all.Lines, c.Lines...)
		}
		low, high := all.Extent()
		for _, c := range s.Charts {
			c.X.Low, c.X.High = low.X, high.X
			c.Y.Low, c.Y.High = low.Y, high.Y
		}
		for i := range scalingAxes {
			if a := &scalingAxes[i]; a.workers {
				addWeak(s, a, cells)
			}
		}
		for _, c := range cells {
			if l := last[c.Model]; l.Threads > 1 && c.Graph == l.Graph && c.counts("thread") == l.counts("thread") {
				c.addSpeedUp(s, cells)
			}
		}
		p.Add(s)
	}
	p.Sections = append(p.Sections, tables...)
}

// chartOf returns the chart with this caption, and adds it if there is none.
func chartOf(s *report.Section, name, caption string, x, y report.Axis) *report.Chart {
	i := slices.IndexFunc(s.Charts, func(c *report.Chart) bool { return c.Caption == caption })
	if i < 0 {
		i = len(s.Charts)
		if same := countCharts(s, name); same > 0 { // each chart is a file
			name += "-" + strconv.Itoa(same+1)
		}
		s.Charts = append(s.Charts, &report.Chart{Name: name, Caption: caption, X: x, Y: y, Labels: true})
	}
	return s.Charts[i]
}

// countCharts returns the number of charts with a name, or with this name and a number.
func countCharts(s *report.Section, name string) (count int) {
	for _, c := range s.Charts {
		if number, isSame := strings.CutPrefix(c.Name, name); isSame && strings.Trim(number, "-0123456789") == "" {
			count++
		}
	}
	return count
}

// addPoint adds a point to the curve with the program and the source of a cell.
func (c *Cell) addPoint(chart *report.Chart, x, y, low, high float64) {
	name := c.Source
	if c.Program != ourName || name == "" {
		name = c.Program
	}
	line := chart.AddPoint(name, report.Point{X: x, Y: y, Low: low, High: high})
	line.Series = c.Program
	line.Style = "solid"
	if c.Source == "disk" {
		line.Style = "dashed"
	}
}

// addSpeedUp adds the speed-up of a cell: the seconds with the fewest threads divided by the seconds of the cell.
func (c *Cell) addSpeedUp(s *report.Section, cells []*Cell) {
	i := slices.IndexFunc(cells, func(first *Cell) bool {
		return first.Program == c.Program && first.Graph == c.Graph && first.Source == c.Source && first.counts("thread") == c.counts("thread")
	})
	first := cells[i]
	chart := chartOf(s, c.Job+"-"+c.Model+"-threads", "Speed-up by threads: "+joinNames(c.Graph, c.counts("thread"))+".",
		report.Axis{Title: "threads", Whole: true}, report.Axis{Title: "speed-up"})
	chart.Diagonal = true
	chart.X.High = float64(c.Threads)
	chart.Y.High = max(chart.Y.High, chart.X.High, math.Ceil(first.SecondsMedian/c.SecondsMin))
	c.addPoint(chart, float64(c.Threads), first.SecondsMedian/c.SecondsMedian,
		first.SecondsMedian/slices.Max(c.SecondsEach), first.SecondsMedian/c.SecondsMin)
}

// addWeak adds curves of weak scaling: the work grows as an axis of workers does. On w workers, a power of two, the graph
// has w times as many nodes as on one. The efficiency is the seconds of one worker divided by the seconds of w; 1 is
// perfect. The first graph is as large as the scales allow for all workers.
func addWeak(s *report.Section, a *scalingAxis, cells []*Cell) {
	byWorkers := func(c *Cell) string { return joinNames(c.Program, c.Model, c.Source, c.counts(a.noun)) }
	for _, first := range cells {
		if *a.value(first) != 1 || first.scale == 0 {
			continue
		}
		var curve []*Cell
		for workers, scale := 1, first.scale; ; workers, scale = 2*workers, scale+1 {
			i := slices.IndexFunc(cells, func(c *Cell) bool {
				return *a.value(c) == workers && c.scale == scale && byWorkers(c) == byWorkers(first)
			})
			if i < 0 {
				break
			}
			curve = append(curve, cells[i])
		}
		isLarger := func(c *Cell) bool { // a curve of larger graphs has as many workers
			return c.scale == first.scale+1 && *a.value(c) == 1 && byWorkers(c) == byWorkers(first)
		}
		last := curve[len(curve)-1]
		hasLarger := slices.ContainsFunc(cells, isLarger) && slices.ContainsFunc(cells, func(c *Cell) bool {
			return c.scale == last.scale+1 && *a.value(c) == *a.value(last) && byWorkers(c) == byWorkers(first)
		})
		if len(curve) < 2 || hasLarger {
			continue
		}
		chart := chartOf(s, first.Job+"-"+first.Model+"-weak-"+a.name, "Weak scaling by "+a.name+", from "+
			joinNames(first.Graph, first.counts(a.noun))+" on one.",
			report.Axis{Title: a.name + ", and nodes in proportion", Whole: true}, report.Axis{Title: "efficiency"})
		for _, c := range curve {
			x := float64(*a.value(c))
			chart.X.High = max(chart.X.High, x)
			chart.Y.High = max(chart.Y.High, 1, math.Ceil(10*first.SecondsMedian/c.SecondsMin)/10)
			c.addPoint(chart, x, first.SecondsMedian/c.SecondsMedian,
				first.SecondsMedian/slices.Max(c.SecondsEach), first.SecondsMedian/c.SecondsMin)
		}
		for _, x := range []float64{1, chart.X.High} {
			chart.Add("constant time", x, report.Cell{Value: 1}).Style = "reference"
		}
	}
}
