package ingest

import (
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/internal/words"
)

// maxBad is the number of bad lines at which reading stops.
const maxBad = 1000

// LimitError is the error of a run for which the memory limit or a disk is too small. If memory is short, it
// wraps [budget.ErrMemory].
type LimitError struct {
	Dir         string // a directory on the disk with too little room; "": memory is short
	What        string // the files that do not fit the disk
	Need, Limit int64  // bytes; of memory, Need is an estimate of a sufficient limit
	Fix         string // the remedy, if a disk is too small
	Unordered   bool   // rows in the order of the ids would fit the memory
}

// Error returns the bytes needed, and the remedy.
func (e *LimitError) Error() string {
	if e.Dir != "" {
		return fmt.Sprintf("%s: %s may need %d bytes, %d bytes are free; %s", e.Dir,
			e.What, e.Need, e.Limit, e.Fix)
	}
	otherwise := ""
	if e.Unordered {
		otherwise = ", or keep rows in the order of the ids"
	}
	return fmt.Sprintf("memory: the edges need about %s, the limit is %s; allow more%s", words.Bytes(e.Need), words.Bytes(e.Limit), otherwise)
}

// Unwrap returns [budget.ErrMemory] if memory is short.
func (e *LimitError) Unwrap() error {
	if e.Dir != "" {
		return nil
	}
	return budget.ErrMemory
}

func refuse(file, fix, format string, args ...any) error {
	e := textio.Fault(file, 0, fix, format, args...)
	e.Err = nodefile.ErrInput
	return e
}

// join returns the errors about the bad lines in the parts of a file, one error for each kind of bad lines.
// good states that the file has good lines. Parts after the part that reaches maxBad are ignored, because
// concurrency decides how far they were read.
func join(parts []lines.Faults, good bool) error {
	var bad lines.Faults
	qualifier := ""
	for _, p := range parts {
		for _, fault := range p.Kinds {
			bad.Add(fault)
		}
		if bad.Count >= maxBad {
			qualifier = "at least "
			break
		}
	}
	var list []error
	for _, fault := range bad.Kinds {
		e := fault.First
		if !good {
			e.Otherwise = ""
			if e.Fix == lines.FixLine && bad.Count > 1 {
				e.Fix = "no line is good; fix them"
			}
		}
		if fault.Count > 1 {
			e.Msg += fmt.Sprintf(" (and %s%s)", qualifier,
				words.Counted(fault.Count-1, "more such line"))
		}
		list = append(list, e)
	}
	if len(list) > 0 && (len(list) == 1 || errors.Is(list[0], table.ErrQuote)) { // a wrong quote explains the bad lines below it
		return list[0]
	}
	return errors.Join(list...)
}
