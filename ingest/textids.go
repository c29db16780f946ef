package ingest

import (
	"io/fs"
	"os"

	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// In a column of whole numbers, ids such as 2.0 and 1e+05 are read as 2 and 100000. The type of a column is a property
// of the whole file, and the first lines only suggest it: if a later id is text, the ids that were replaced must be read
// again as they are written. Run then starts again.

// textIDs is the error of a run that read ids of a file as whole numbers although the column has text.
type textIDs struct {
	file    string
	columns [2]bool // source and target
}

func (e *textIDs) Error() string { return e.file + ": ids are text" }

// checkIDs returns a [textIDs] if a column of ids must be read again as text, or another error if the input cannot be
// read again.
func (list *edgeList) checkIDs() error {
	again := &textIDs{file: list.in.Name()}
	for end, texts := range list.sum.Texts {
		joined := list.sum.Joined[end]
		if joined.N == 0 || texts.N == 0 {
			continue
		}
		again.columns[end] = true
		if info, err := os.Stat(again.file); err != nil || info.Mode()&fs.ModeType != 0 {
			return textio.Fault(again.file, texts.First, "write it to a file, and give that",
				"%s is text, and %s on line %d was read as a whole number; a pipe cannot be read again", words.Quoted(texts.ID), words.Quoted(joined.ID), joined.First)
		}
	}
	if again.columns == [2]bool{} {
		return nil
	}
	return again
}
