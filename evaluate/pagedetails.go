package evaluate

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/report"
)

// Bounds of the parts of a page, so that it remains small.
const (
	mostCells     = 400 // of a table of compared settings
	mostSurfaces  = 6   // tables of compared settings
	mostClasses   = 20  // of a confusion matrix
	mostConfusion = 800 // cells of all confusion matrices
	mostCurves    = 5   // of calibration
)

// surfaceSection returns the section with the accuracies over the compared parameters.
func surfaceSection(v *view) *report.Section {
	s := &report.Section{
		Title: "Sensitivity to parameters",
		Text: []string{"Accuracy in % on the tuning splits, " + v.at + ": the highest one over the parameters that are not shown. The chosen setting (*) is the one with the most accurate neighbours in the grid, " +
			"of those within a standard error of the highest accuracy."},
	}
	for _, name := range v.competitors {
		surface := v.report.result(name, v.detail).Tried
		if surface != nil && len(surface.XValues)*len(surface.Accuracy) <= mostCells && len(s.Tables) < mostSurfaces {
			s.Tables = append(s.Tables, surface.table(name))
		}
	}
	return s
}

// table returns the accuracies of compared settings, which are the darker the higher they are.
func (s *Surface) table(name string) *report.Table {
	t := &report.Table{Caption: name + " by " + s.X + ".", Head: []string{s.X}}
	if s.Y != "" {
		t.Caption, t.Head[0] = name+" by "+s.X+" (columns) and "+s.Y+" (rows).", s.Y
	}
	for _, x := range s.XValues {
		t.Head = append(t.Head, valueText(x))
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i, row := range s.Accuracy {
		cells := report.Texts("")
		if s.Y != "" {
			cells[0].Text = valueText(s.YValues[i])
		}
		for _, accuracy := range row {
			cell := report.Cell{Text: "–"}
			if accuracy != nil {
				cell = report.Percent(*accuracy, 0)
				low, high = min(low, cell.Value), max(high, cell.Value)
			}
			cells = append(cells, cell)
		}
		t.Rows = append(t.Rows, cells)
	}
	for _, row := range t.Rows {
		for j := range row[1:] {
			if c := &row[1+j]; c.IsNumber && high > low {
				c.Shade = (c.Value - low) / (high - low)
			}
		}
	}
	t.Caption += report.ShadeScale(percent(low/100)+" %", percent(high/100)+" %")
	column, _ := slices.BinarySearch(s.XValues, s.XChosen)
	row, _ := slices.BinarySearch(s.YValues, s.YChosen)
	chosen := &t.Rows[row][1+column]
	chosen.Mark, chosen.Strong = "*", true
	return t
}

// parameterSection returns the section with the parameters of all methods.
func parameterSection(v *view) *report.Section {
	t := &report.Table{Caption: "Parameters of the predictions, and their accuracy on the tuning splits.", Head: []string{"method", "trained on", "tuning accuracy, %", "parameters"}}
	for _, name := range v.methods {
		for _, size := range v.sizes {
			res := v.report.result(name, size)
			row := report.Texts(name, v.report.trainedOn(size), "–", res.Text)
			switch {
			case res.Parameters == nil && res.ParametersBySplit == nil:
				continue
			case res.Parameters == nil:
				row[3].Text = "one choice for each split; of the first: " + res.Text
			}
			if res.Tuned == onSplits {
				row[2] = report.Percent(res.TuningAccuracy, 0)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	s := &report.Section{Title: "Parameters", Tables: []*report.Table{t}}
	for _, line := range v.report.protocol() {
		s.Text = append(s.Text, "How: "+line+".")
	}
	return s
}

// costSection returns the section about time and memory.
func costSection(v *view) *report.Section {
	t := &report.Table{Caption: "Seconds of a prediction, mean over splits, and memory.", Head: v.head("method", "all splits and tuning", "memory, MB")}
	t.Bars = map[int]report.Bars{len(t.Head) - 1: report.Linear}
	c := &report.Chart{Name: "seconds", Caption: "Accuracy and time of a prediction, " + v.at + ".", X: report.Axis{Title: "seconds"}, Y: report.Axis{Title: "accuracy, %"}}
	shortest, longest := math.Inf(1), 0.0 // seconds
	for _, name := range v.methods {
		row, total, bytes := report.Texts(name), 0.0, int64(0)
		for _, size := range v.sizes {
			res := v.report.result(name, size)
			s := (res.Phases.Choose + res.Phases.Walk + res.Phases.Classify) / float64(v.report.Splits)
			row = append(row, report.Fixed(s, 3, 0))
			total, bytes = total+res.Seconds, max(bytes, res.MemoryBytes)
			if size == v.detail && s > 0 && slices.Contains(v.competitors, name) {
				shortest, longest = min(shortest, s), max(longest, s)
				line := report.Line{Name: name}
				line.Add(s, report.Percent(res.AccuracyMean, res.AccuracyStderr))
				c.Lines = append(c.Lines, line)
			}
		}
		t.Rows = append(t.Rows, append(row, report.Fixed(total, 1, 0), report.Fixed(float64(bytes)/1e6, 1, 0)))
	}
	if longest > 20*shortest {
		c.X.Log, c.X.Title = true, "seconds (logarithmic)"
	}
	return &report.Section{
		Title: "Time and memory", Charts: []*report.Chart{c}, Tables: []*report.Table{t},
		Text: []string{"A prediction includes the choice of parameters only where they are chosen inside each training set. Memory is the upper bound that the command estimate reports for a prediction."},
	}
}

// classSection returns the section with the measures of each class and the confusion matrix of every method.
func classSection(v *view) *report.Section {
	s := &report.Section{
		Title: "Classes",
		Text: []string{"Predictions of the test nodes, " + v.at + ", summed over splits. Precision, recall and F1 are in %. The columns after them are the predicted classes: " +
			"a cell is the share of the nodes of its true class in %; the CSV has the number of nodes."},
	}
	if v.report.Unreached > 0 {
		s.Text = append(s.Text, fmt.Sprintf("%s of %s nodes cannot be reached from a label.", thousands(v.report.Unreached), thousands(v.report.Nodes)))
	}
	var counts []int // test nodes of each class
	for _, row := range v.report.result(v.methods[0], v.detail).Confusion {
		counts = append(counts, sum(row))
	}
	shown, names := byCount(counts, mostClasses), v.competitors
	slices.Sort(shown)
	if limit := max(1, mostConfusion/(len(shown)*len(shown))); len(names) > limit {
		s.Text = append(s.Text, fmt.Sprintf("Shown are the %d most accurate of %d methods.", limit, len(names)))
		names = names[:limit]
	}
	if len(shown) < len(v.report.Classes) {
		s.Text = append(s.Text, fmt.Sprintf("Shown are the largest %d of %d classes; shares and measures are those among all classes.", len(shown), len(v.report.Classes)))
	}
	for _, name := range names {
		s.Tables = append(s.Tables, v.report.result(name, v.detail).Confusion.page("True classes and their predicted classes by "+name+".", v.report.Classes, shown))
	}
	return s
}

// page returns the measures of the shown classes and the shares of their predicted classes as a table.
func (c confusion) page(caption string, names []string, shown []int) *report.Table {
	t := &report.Table{Caption: caption, Head: []string{"true class", "test nodes", "precision", "recall", "F1"}}
	for _, i := range shown {
		m := c.measuresOf(i)
		t.Rows = append(t.Rows, []report.Cell{{Text: names[i]}, report.Count(m.truth), report.Percent(m.precision, 0), report.Percent(m.recall, 0), report.Percent(m.f1, 0)})
	}
	addShares(t, c, names, shown)
	return t
}

// addShares adds a column for each shown class to a table with a row for each of them: the counts of the class of the row
// by the class of the column, as shares of their sum in %.
func addShares[N int | int64](t *report.Table, counts [][]N, names []string, shown []int) {
	t.Turned = len(t.Head)
	t.Caption += report.ShadeScale("0", "100 %")
	for r, i := range shown {
		t.Head = append(t.Head, names[i])
		var total N
		for _, n := range counts[i] {
			total += n
		}
		for _, j := range shown {
			share := float64(counts[i][j]) / float64(max(1, total))
			cell := report.Number(float64(counts[i][j]), strconv.FormatFloat(100*share, 'f', 0, 64))
			cell.Shade = share
			t.Rows[r] = append(t.Rows[r], cell)
		}
	}
}

// leastBin is the number of nodes of a split from which a bin is drawn.
const leastBin = 10

// calibrationSection returns the section with the reliability diagram.
func calibrationSection(v *view) *report.Section {
	s := newReliability(", "+v.at, "Methods whose scores are not probabilities are left out, and so are those after the five most accurate.")
	for _, name := range v.competitors {
		if bins := v.report.result(name, v.detail).Calibration; bins != nil && len(s.Charts[0].Lines) < mostCurves {
			bins.addTo(s, name, v.report.Splits)
		}
	}
	return s
}

// newReliability returns a section with a reliability diagram and its table, both empty. at is the training size in a
// sentence, remark another sentence.
func newReliability(at, remark string) *report.Section {
	return &report.Section{
		Title: "Calibration",
		Text:  []string{"Test nodes in 15 bins of equal width by the probability of their predicted class" + at + ". Of calibrated probabilities (dotted) a share p is correct. " + remark},
		Charts: []*report.Chart{{
			Name: "calibration", Caption: fmt.Sprintf("Reliability diagram. Bins with fewer than %d nodes a split are not drawn.", leastBin),
			X: report.Axis{Title: "probability of the predicted class", High: 1}, Y: report.Axis{Title: "share of correct predictions", High: 1}, Diagonal: true,
		}},
		Tables: []*report.Table{{Caption: "Predictions by the probability of their class.", Head: []string{"method", "probabilities", "predictions", "mean probability", "correct"}, Folded: true}},
	}
}

// addTo adds the bins of a method, summed over splits, to a reliability diagram and its table.
func (c *calibration) addTo(s *report.Section, name string, splits int) {
	line, chart, t := report.Line{Name: name}, s.Charts[0], s.Tables[0]
	for i, b := range c {
		if b.Nodes == 0 {
			continue
		}
		probability, right := b.Probability/float64(b.Nodes), report.Fixed(float64(b.Right)/float64(b.Nodes), 3, 0)
		if b.Nodes >= leastBin*splits {
			line.Add(probability, right)
		}
		interval := fmt.Sprintf("%.2f to %.2f", float64(i)/calibrationBins, float64(i+1)/calibrationBins)
		t.Rows = append(t.Rows, []report.Cell{{Text: name}, {Text: interval}, report.Count(b.Nodes), report.Fixed(probability, 3, 0), right})
	}
	if line.Points != nil {
		chart.Lines = append(chart.Lines, line)
	}
}

// qualitySection returns the section with all other measures.
func qualitySection(v *view) *report.Section {
	t := &report.Table{Caption: "Means over splits.", Head: []string{"method", "trained on"}}
	for _, m := range v.report.measures() {
		t.Head = append(t.Head, m.Title)
	}
	for _, name := range v.methods {
		for _, size := range v.sizes {
			res, row := v.report.result(name, size), report.Texts(name, v.report.trainedOn(size))
			for _, m := range v.report.measures() {
				row = append(row, m.cell(res))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return &report.Section{
		Title: "Other measures", Tables: []*report.Table{t},
		Text: []string{"AP (average precision) and AUC measure the ranking by the score of a class, averaged over classes. Log-loss, Brier score and ECE (expected calibration error) measure probabilities; " +
			"a dash means that the scores are not probabilities."},
	}
}
