package shell

import (
	"errors"
	"fmt"
	"strings"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/choose"
)

func SetsError(path string) error {
	return UsageError("--sets", "%s has scores alone; write .tsv, .csv, .jsonl or .parquet", path)
}

// CheckSeparator returns an error if a label contains the text that separates the labels of a prediction.
func CheckSeparator(l *nodefile.Labels) error {
	for _, label := range l.Names {
		if strings.Contains(label, tablefile.SetSeparator) {
			return DataError(l.File, "the label %s holds %s, which separates labels in predictions; rename it",
				Quote(label), tablefile.SetSeparator)
		}
	}
	return nil
}

// allSets is the share of prediction sets with all classes from which a note mentions the share.
const allSets = 0.5

// DescribeSets returns notes about the prediction sets of items called noun. If err is that no sets exist,
// DescribeSets warns and returns a nil error. It returns any other err.
func (console *Console) DescribeSets(s *choose.Sets, err error, noun string, l *nodefile.Labels) (notes []string, _ error) {
	switch {
	case errors.Is(err, heatwalk.ErrNoScores) || errors.Is(err, choose.ErrFew):
		console.Warn("no sets: %v", err)
		return nil, nil
	case err != nil:
		return nil, err
	}
	content := "the class"
	if s.Several {
		content = "all labels"
	}
	asked := words.Percent(s.Coverage)
	promise := fmt.Sprintf("hold %s with a probability of at least %s", content, asked)
	if !s.IsPromised {
		promise = fmt.Sprintf("have no promised coverage (asked: %s), because the labels are no random sample of the %ss", asked, noun)
	}
	text := fmt.Sprintf("sets of classes %s; mean size %.1f, %s of one class", promise, s.MeanSize, words.Percent(s.Single))
	if s.Other > 0 {
		text += fmt.Sprintf(", %s with %q, which denotes all classes without a label", words.Percent(s.Other), s.Marker)
	}
	notes = append(notes, text)
	if s.All >= allSets && len(l.Names) > 2 {
		notes = append(notes, fmt.Sprintf("%s of the sets hold all classes, because %s are too few to separate %d classes with this coverage",
			words.Percent(s.All), words.Counted(s.Tested, "held-out label"), len(l.Names)))
	}
	return notes, CheckSeparator(l)
}
