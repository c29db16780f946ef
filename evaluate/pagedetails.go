package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/report"
)

// Bounds of the parts of a page, so that it remains small.
const (
	mostCells     = 400 // of a heat map
	mostMaps      = 6   // heat maps
	mostClasses   = 20  // of tables of classes
	mostConfusion = 800 // cells of all confusion matrices
	mostCurves    = 5   // of calibration
)

// tried returns the section with the accuracies over the compared parameters.
func (v *view) tried() *report.Section {
	s := &report.Section{
		Title: "Sensitivity to parameters", Small: true,
		Text: []string{"Accuracy in % on the tuning splits, " + v.at() + ": the highest one over the parameters that are not shown. A frame marks the chosen setting: of those within a standard error of the highest accuracy, the one with the most accurate neighbours in the grid."},
	}
	for _, name := range v.methods() {
		t := v.result(name, v.detail).Tried
		if t == nil || len(t.XValues)*len(t.Accuracy) > mostCells || len(s.Parts) == mostMaps {
			continue
		}
		s.Parts = append(s.Parts, report.Part{Title: name, Figure: t.figure(name)})
	}
	if s.Parts == nil {
		return nil
	}
	return s
}

// figure draws the accuracies of compared settings.
func (t *Surface) figure(name string) *report.Figure {
	h := &report.Heat{X: t.X, Y: t.Y, Text: func(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }, From: math.Inf(1), To: math.Inf(-1), ChosenColumn: -1}
	best := ""
	table := &report.Table{Caption: "Accuracy in % of " + name + " by " + t.X, Head: []string{t.X}}
	if t.Y != "" {
		table.Caption += " and " + t.Y
		table.Head[0] = t.Y + " \\ " + t.X
	}
	for _, x := range t.XValues {
		h.Columns = append(h.Columns, valueText(x))
	}
	table.Head = append(table.Head, h.Columns...)
	for i, row := range t.Accuracy {
		label := ""
		if t.Y != "" {
			label = valueText(t.YValues[i])
		}
		cells, values := report.Texts(label), make([]float64, len(row))
		for j, a := range row {
			if values[j] = math.NaN(); a != nil {
				values[j] = 100 * *a
				if values[j] > h.To {
					best = t.at(i, j)
				}
				h.From, h.To = min(h.From, values[j]), max(h.To, values[j])
				cells = append(cells, report.Cell{Text: percent(*a)})
			} else {
				cells = append(cells, report.Cell{Text: "–"})
			}
		}
		h.Rows, h.Values, table.Rows = append(h.Rows, label), append(h.Values, values), append(table.Rows, cells)
	}
	h.ChosenColumn, _ = slices.BinarySearch(t.XValues, t.XChosen)
	h.ChosenRow, _ = slices.BinarySearch(t.YValues, t.YChosen)
	text := fmt.Sprintf("%.1f to %.1f %%; highest at %s; chosen %s.", h.From, h.To, best, t.at(h.ChosenRow, h.ChosenColumn))
	return &report.Figure{Name: name + "-parameters", Caption: text, Alt: "Heat map of the accuracy of " + name + " by " + t.X + " and " + t.Y + ": " + text, Drawing: h, Table: table}
}

// at writes the values of a row and a column.
func (t *Surface) at(row, column int) string {
	text := t.X + " = " + valueText(t.XValues[column])
	if t.Y != "" {
		text += ", " + t.Y + " = " + valueText(t.YValues[row])
	}
	return text
}

// valueText writes the value of a parameter.
func valueText(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// parameters returns the section with the parameters of all methods.
func (v *view) parameters() *report.Section {
	t := &report.Table{Caption: "Parameters of the predictions, and their accuracy on the tuning splits.", Head: []string{"method", "trained on", "tuning accuracy, %", "parameters"}, Prose: true}
	for _, name := range v.methods() {
		since, last := "", [2]string{} // the size from which on the last row holds, and its texts
		for _, f := range v.fractions {
			res := v.result(name, f)
			text, accuracy := res.Text, "–"
			switch {
			case res.Parameters == nil && res.ParametersBySplit == nil:
				continue
			case res.Parameters == nil:
				text = "one choice for each split; of the first: " + text
			}
			if res.Tuned == onSplits {
				accuracy = percent(res.TuningAccuracy)
			}
			if now := [2]string{accuracy, text}; now == last {
				t.Rows[len(t.Rows)-1][1].Text = since + " to " + v.trainedOn(f)
			} else {
				since, last = v.trainedOn(f), now
				t.Rows = append(t.Rows, report.Texts(name, since, accuracy, text))
			}
		}
	}
	if t.Rows == nil {
		return nil
	}
	s := &report.Section{Title: "Parameters", Parts: []report.Part{{Table: t}}}
	for _, line := range v.protocol() {
		s.Text = append(s.Text, "How: "+line+".")
	}
	return s
}

// seconds returns the mean time of a prediction.
func (v *view) seconds(res *Result) float64 {
	p := res.Phases
	return (p.Choose + p.Walk + p.Classify) / float64(v.Splits)
}

// cost returns the section about time and memory.
func (v *view) cost() *report.Section {
	time, memory := &report.Bars{X: report.Axis{Title: "seconds"}}, &report.Bars{X: report.Axis{Title: "MB"}}
	all := &report.Table{Caption: "Seconds of a prediction, mean over splits.", Head: []string{"method"}}
	for _, f := range v.fractions {
		all.Head = append(all.Head, v.trainedOn(f))
	}
	all.Head = append(all.Head, "all splits and tuning", "memory, MB")
	least, most := math.Inf(1), 0.0
	for _, name := range v.methods() {
		row, total, bytes := report.Texts(name), 0.0, int64(0)
		for _, f := range v.fractions {
			res := v.result(name, f)
			row = append(row, report.Cell{Text: duration(v.seconds(res))})
			total, bytes = total+res.Seconds, max(bytes, res.MemoryBytes)
		}
		all.Rows = append(all.Rows, append(row, report.Texts(duration(total), megabytes(bytes))...))
	}
	for _, name := range v.competitors() {
		res := v.result(name, v.detail)
		s := v.seconds(res)
		if s > 0 {
			least, most = min(least, s), max(most, s)
		}
		time.Bars = append(time.Bars, report.Bar{Label: name, Values: []float64{s}, Texts: []string{duration(s)}})
		memory.Bars = append(memory.Bars, report.Bar{Label: name, Values: []float64{float64(res.MemoryBytes) / 1e6}, Texts: []string{megabytes(res.MemoryBytes)}})
	}
	if len(time.Bars) == 0 {
		return nil
	}
	if most > 20*least {
		time.X.Log, time.X.Title = true, "seconds (logarithmic)"
	}
	return &report.Section{
		Title: "Time and memory", Small: true,
		Text: []string{"A prediction includes the choice of parameters only where they are chosen inside each training set. Memory is the upper bound that the command estimate reports for a prediction."},
		Parts: []report.Part{
			{Figure: &report.Figure{Name: "seconds", Caption: "Time of a prediction, " + v.at() + ".", Alt: "Bars of the seconds of a prediction of each method. The table below has the same numbers.", Drawing: time}},
			{Figure: &report.Figure{Name: "memory", Caption: "Memory of a prediction, " + v.at() + ", upper bound.", Alt: "Bars of the memory of each method. The table below has the numbers of the largest training size.", Drawing: memory}},
			{Table: all},
		},
	}
}

// duration writes seconds with two digits.
func duration(s float64) string {
	switch {
	case s < 0.001:
		return strconv.FormatFloat(s, 'f', 4, 64)
	case s < 1:
		return strconv.FormatFloat(s, 'f', 3, 64)
	case s < 100:
		return strconv.FormatFloat(s, 'f', 1, 64)
	}
	return strconv.FormatFloat(s, 'f', 0, 64)
}

func megabytes(bytes int64) string { return strconv.FormatFloat(float64(bytes)/1e6, 'f', 1, 64) }

// classes returns the section with a confusion matrix and the measures of each class, for every method.
func (v *view) classes() *report.Section {
	s := &report.Section{
		Title: "Classes", Small: true,
		Text: []string{"Predictions of the test nodes, " + v.at() + ", summed over splits. A cell of a confusion matrix is the share of its row in %; the CSV has the number of nodes."},
	}
	if v.Unreached > 0 {
		s.Text = append(s.Text, fmt.Sprintf("%s of %s nodes cannot be reached from a label.", thousands(v.Unreached), thousands(v.Nodes)))
	}
	shown := v.largestClasses()
	names := v.ranked()
	if most := max(1, mostConfusion/(len(shown)*len(shown))); len(names) > most {
		s.Text = append(s.Text, fmt.Sprintf("Shown are the %d most accurate of %d methods.", most, len(names)))
		names = names[:most]
	}
	if len(shown) < len(v.Classes) {
		s.Text = append(s.Text, fmt.Sprintf("Shown are the largest %d of %d classes; shares and measures are those among all classes.", len(shown), len(v.Classes)))
	}
	for _, name := range names {
		c := confusion(v.result(name, v.detail).Confusion)
		s.Parts = append(s.Parts, report.Part{Title: name, Table: v.confusionTable(name, c, shown)}, report.Part{Title: name + ": each class", Table: v.classTable(name, c, shown)})
	}
	if s.Parts == nil {
		return nil
	}
	return s
}

// ranked returns the competitors by decreasing accuracy.
func (v *view) ranked() []string {
	names := v.competitors()
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(v.result(b, v.detail).AccuracyMean, v.result(a, v.detail).AccuracyMean)
	})
	return names
}

// largestClasses returns the classes with the most test nodes, in their order.
func (v *view) largestClasses() []int {
	c := v.result(v.methods()[0], v.detail).Confusion
	list := make([]int, len(v.Classes))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(a, b int) int { return sumOfRow(c[b]) - sumOfRow(c[a]) })
	list = list[:min(len(list), mostClasses)]
	slices.Sort(list)
	return list
}

func sumOfRow(row []int) int {
	sum := 0
	for _, n := range row {
		sum += n
	}
	return sum
}

// confusionTable returns the shares of predicted classes in each true class.
func (v *view) confusionTable(name string, c confusion, shown []int) *report.Table {
	t := &report.Table{Caption: "Predicted classes (columns) of each true class, %, by " + name + ".", Head: []string{"true"}, Data: [][]string{{"true"}}, Turned: true}
	for _, i := range shown {
		t.Head, t.Data[0] = append(t.Head, v.Classes[i]), append(t.Data[0], v.Classes[i])
	}
	for _, i := range shown {
		cells, counts, sum := report.Texts(v.Classes[i]), []string{v.Classes[i]}, max(1, sumOfRow(c[i]))
		for _, j := range shown {
			share := float64(c[i][j]) / float64(sum)
			cells = append(cells, report.Cell{Text: strconv.FormatFloat(100*share, 'f', 0, 64), Shade: share})
			counts = append(counts, strconv.Itoa(c[i][j]))
		}
		t.Rows, t.Data = append(t.Rows, cells), append(t.Data, counts)
	}
	return t
}

// classTable returns precision, recall and F1 of each class.
func (v *view) classTable(name string, c confusion, shown []int) *report.Table {
	t := &report.Table{Caption: "Precision, recall and F1 in % of " + name + ".", Head: []string{"class", "test nodes", "precision", "recall", "F1"}}
	for _, i := range shown {
		m := c.measuresOf(i)
		t.Rows = append(t.Rows, report.Texts(v.Classes[i], thousands(m.truth), percentOr(m.precision), percentOr(m.recall), percentOr(m.f1)))
	}
	return t
}

// percentOr writes a share as a percentage, or a dash if x is not a number.
func percentOr(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return percent(x)
}

// calibration returns the section with the reliability diagram; nil if no scores are probabilities.
func (v *view) calibration() *report.Section {
	c := &report.Chart{
		X: report.Axis{Title: "probability of the predicted class", From: 0, To: 1}, Y: report.Axis{Title: "share of correct predictions", From: 0, To: 1},
		Lines: []report.Line{{Reference: true, Points: []report.Point{{X: 0, Y: 0}, {X: 1, Y: 1}}}},
	}
	t := &report.Table{Caption: "Predictions by the probability of their class.", Head: []string{"method", "probabilities", "predictions", "mean probability", "correct"}}
	for _, name := range v.ranked() {
		bins := v.result(name, v.detail).Calibration
		if bins == nil || len(c.Lines) > mostCurves {
			continue
		}
		l := report.Line{Name: name}
		for i, b := range bins {
			if b.Nodes == 0 {
				continue
			}
			n := float64(b.Nodes)
			p := report.Point{X: b.Probability / n, Y: float64(b.Right) / n}
			if b.Nodes >= leastBin*v.Splits {
				l.Points = append(l.Points, p)
			}
			within := fmt.Sprintf("%.2f to %.2f", float64(i)/calibrationBins, float64(i+1)/calibrationBins)
			t.Rows = append(t.Rows, report.Texts(name, within, thousands(b.Nodes), strconv.FormatFloat(p.X, 'f', 3, 64), strconv.FormatFloat(p.Y, 'f', 3, 64)))
		}
		if l.Points != nil {
			c.Lines = append(c.Lines, l)
		}
	}
	if len(c.Lines) == 1 {
		return nil
	}
	return &report.Section{
		Title: "Calibration",
		Text:  []string{"Test nodes in 15 bins of equal width by the probability of their predicted class, " + v.at() + ". Of calibrated probabilities (dotted) a share p is correct. Methods whose scores are not probabilities are left out, and so are those after the five most accurate."},
		Parts: []report.Part{{Figure: &report.Figure{
			Name: "calibration", Caption: fmt.Sprintf("Reliability diagram. Bins with fewer than %d nodes a split are not drawn.", leastBin), Drawing: c, Table: t,
			Alt: "Curves of the share of correct predictions over the probability of the predicted class.",
		}}},
	}
}

// leastBin is the number of nodes of a split from which a bin is drawn.
const leastBin = 10

// quality returns the section with all other measures.
func (v *view) quality() *report.Section {
	t := &report.Table{Caption: "Means over splits.", Head: []string{"method", "trained on"}}
	for _, m := range v.measures() {
		t.Head = append(t.Head, m.Title)
	}
	for _, name := range v.methods() {
		for _, f := range v.fractions {
			row := report.Texts(name, v.trainedOn(f))
			for _, m := range v.measures() {
				row = append(row, report.Cell{Text: m.Text(v.result(name, f))})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return &report.Section{
		Title: "Other measures",
		Text: []string{"AP (average precision) and AUC measure the ranking by the score of a class, averaged over classes. Log-loss, Brier score and ECE (expected calibration error) measure probabilities; " +
			"a dash means that the scores are not probabilities."},
		Parts: []report.Part{{Table: t}},
	}
}
