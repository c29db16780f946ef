package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/shift"
	"github.com/heatwalk/heatwalk/method/suggest"
)

// reportShift warns that the labels of a file are no random sample, and puts a range in place of the
// accuracy. Labels that suggest has chosen cause no warning, because they are meant to differ from other nodes.
func (r *classifyRun) reportShift(run *session, sample *shift.Report, estimate problem.Estimate) {
	if sample == nil || !sample.Sounds() {
		return
	}
	r.LabelSample = sample
	expected := map[string]string{"lower": "is likely lower than", "higher": "is likely higher than", "other": "may differ from"}[sample.Expected]
	difference, isSuggested := shiftText(sample), slices.ContainsFunc(r.data.l.Columns, func(c input.Column) bool { return c.Title == suggest.GainColumn })
	if isSuggested {
		difference = "heatwalk suggest has chosen them"
	}
	r.shift = fmt.Sprintf("labels are not a random sample of the nodes: %s; the accuracy at other nodes %s %s", difference, expected, words.Percent(estimate.Accuracy))
	if sample.Omitted > 0 {
		r.shift += fmt.Sprintf("; measuring how much needs %s of memory", words.Bytes(sample.Omitted))
	}
	if isSuggested {
		r.notes = append(r.notes, r.shift)
	} else {
		run.warn("%s: %s", r.data.l.File, r.shift)
	}
}

// compareLargest notes that naming the largest class may be as accurate, if its share of the nodes is that of the labels.
func (r *classifyRun) compareLargest(e problem.Estimate) {
	sizes := sizesOf(r.data.l)
	largest := slices.Index(sizes, slices.Max(sizes))
	if share := float64(sizes[largest]) / float64(len(r.data.l.Row)); e.Accuracy-share < largestErrors*e.Stderr {
		r.notes = append(r.notes, fmt.Sprintf("the accuracy may be no better than that of always naming the largest class, if %s of all nodes are of class %s", words.Percent(share), quoted(r.data.l.Names[largest])))
	}
}

// largestErrors is the number of standard errors by which an accuracy must exceed the share of the largest class.
const largestErrors = 2

// shiftSentence returns the warning and the range of the accuracy as a sentence for a page; "" without a
// warning.
func (r *classifyRun) shiftSentence() string {
	if r.shift == "" {
		return ""
	}
	return fmt.Sprintf("The %s (%s).", r.shift, r.accuracyText())
}

// shiftText returns the differences between labelled and other nodes.
func shiftText(sample *shift.Report) string {
	others := "other nodes"
	if sample.OneKind {
		others = "other nodes of their kind"
	}
	var parts []string
	if d := sample.Hops; d.Exceeds() {
		parts = append(parts, fmt.Sprintf("labelled nodes have another label %.1f steps away on average, %s %.1f", d.Labelled, others, d.Others))
	}
	if d := sample.Degree; d.Exceeds() {
		parts = append(parts, fmt.Sprintf("labelled nodes have a mean degree of %.3g, %s %.3g", d.Labelled, others, d.Others))
	}
	if s := sample.Share; s.Exceeds() {
		parts = append(parts, fmt.Sprintf("the nearest other label has class %s for %s of labelled nodes and %s of %s", quoted(s.Class), words.Percent(s.Labelled), words.Percent(s.Others), others))
	}
	return strings.Join(parts, "; ")
}

// accuracyText returns the cross-validated accuracy, or the range of the accuracy at other nodes if the labels are
// not a random sample.
func (d *classifyDocument) accuracyText() string {
	s := d.LabelSample
	if s == nil || s.High == 0 {
		return d.estimated()
	}
	return fmt.Sprintf("cross-validated accuracy between %.1f and %.1f %%", 100*s.Low, 100*s.High)
}
