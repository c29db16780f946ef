package cli

import (
	"fmt"
	"strings"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/shift"
)

// reportShift warns that the labels of a file are no random sample, and puts a range in place of the
// accuracy.
func (r *classifyRun) reportShift(run *session, sample *shift.Report, estimate problem.Estimate) {
	if sample == nil || !sample.Sounds() {
		return
	}
	r.LabelSample = sample
	than := "lower"
	if sample.IsHigher() {
		than = "higher"
	}
	r.shift = fmt.Sprintf("labels are not a random sample of the nodes: %s; the accuracy at other nodes is likely %s than %s",
		shiftText(sample), than, words.Percent(estimate.Accuracy))
	if sample.Omitted > 0 {
		r.shift += fmt.Sprintf("; measuring how much needs %s of memory", words.Bytes(sample.Omitted))
	}
	run.warn("%s: %s", r.data.l.File, r.shift)
}

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
	var parts []string
	if d := sample.Hops; d.Exceeds() {
		parts = append(parts, fmt.Sprintf("labelled nodes have another label %.1f steps away on average, other nodes %.1f", d.Labelled, d.Others))
	}
	if d := sample.Degree; d.Exceeds() {
		parts = append(parts, fmt.Sprintf("labelled nodes have a mean degree of %.3g, other nodes %.3g", d.Labelled, d.Others))
	}
	if s := sample.Share; s.Exceeds() {
		parts = append(parts, fmt.Sprintf("class %s has %s of the labels and, by prediction, %s of other nodes", quoted(s.Class), words.Percent(s.Labels), words.Percent(s.Predicted)))
	}
	return strings.Join(parts, "; ")
}

// accuracyText returns the cross-validated accuracy. If the labels are not a random sample it is a range,
// or a bound if labels of the other half of the graph are predicted as well as those of random folds.
func (d *classifyDocument) accuracyText() string {
	s := d.LabelSample
	switch {
	case s == nil || s.High == 0:
		return d.estimated()
	case s.Omitted > 0 || s.Low > *d.AccuracyEstimate-*d.AccuracyStderr:
		return fmt.Sprintf("cross-validated accuracy at most %.1f %%", 100*s.High)
	}
	return fmt.Sprintf("cross-validated accuracy between %.1f and %.1f %%", 100*s.Low, 100*s.High)
}
