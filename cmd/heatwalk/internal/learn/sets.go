package learn

import (
	"fmt"
	"strings"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/words"
)

// addSets adds the sets of --sets. Without them their columns are empty.
func (in *predictionInputs) addSets(p *heatwalk.Prediction) error {
	if in.f.coverage == 0 || in.isComplete {
		return nil
	}
	var err error
	if in.sets, err = p.Sets(in.f.coverage); err != nil {
		in.noSets = "no sets: " + err.Error()
	}
	return checkSeparator(in.data.Labels)
}

// checkSeparator returns an error for a label that separates labels in predictions.
func checkSeparator(l *nodefile.Labels) error {
	for _, label := range l.Names {
		if strings.Contains(label, tablefile.SetSeparator) {
			return fault.Data(l.File, "the label %s holds %s, which separates labels in predictions; rename it",
				shell.Quote(label), tablefile.SetSeparator)
		}
	}
	return nil
}

// allSets is the share of sets with all classes from which a note reports them.
const allSets = 0.5

// describeSets stores the sets in the document, with notes about them.
func (d *classifyDocument) describeSets(in *predictionInputs) {
	s := in.sets
	d.Sets = s
	if in.noSets != "" {
		d.notes = append(d.notes, in.noSets)
	}
	if s == nil {
		return
	}
	asked := words.Percent(in.f.coverage)
	promise := "hold the class with a probability of at least " + asked
	if !s.IsPromised {
		promise = fmt.Sprintf("have no promised coverage (asked: %s), because labels are not a random sample of the nodes", asked)
	}
	text := fmt.Sprintf("sets of classes %s; mean size %.1f, %s of one class", promise, s.MeanSize, words.Percent(s.Single))
	if s.Other > 0 {
		text += fmt.Sprintf(", %s with %q, which denotes all classes without a label", words.Percent(s.Other), s.Marker)
	}
	d.notes = append(d.notes, text)
	if s.All >= allSets && len(in.data.Labels.Names) > 2 {
		d.notes = append(d.notes, fmt.Sprintf("%s of the sets hold all classes, because %s are too few to separate %d classes with this coverage",
			words.Percent(s.All), words.Counted(s.Tested, "held-out label"), len(in.data.Labels.Names)))
	}
}
