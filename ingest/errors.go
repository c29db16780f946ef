package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/nodefile"
)

// maxBad is after how many bad lines no more are looked for.
const maxBad = 1000

// BadLines is returned for a file with several bad lines: the first ten in the
// order of the file, and how many there are.
type BadLines struct {
	First []*nodefile.ParseError
	Count int64
	More  bool // the reading stopped at Count; there may be more
}

// Error returns one line for each listed error and a last one with the count
// of the others.
func (e *BadLines) Error() string {
	var text strings.Builder
	for i, p := range e.First {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(p.Error())
	}
	if rest := e.Count - int64(len(e.First)); rest > 0 {
		lines, least := "lines", ""
		if rest == 1 {
			lines = "line"
		}
		if e.More {
			least = "at least "
		}
		fmt.Fprintf(&text, "\n%s: %s%d more bad %s", e.First[0].File, least, rest, lines)
	}
	return text.String()
}

// Unwrap returns the listed errors.
func (e *BadLines) Unwrap() []error {
	all := make([]error, len(e.First))
	for i, p := range e.First {
		all[i] = p
	}
	return all
}

// MemoryError is returned when the edges do not fit the limit.
type MemoryError struct {
	Need, Limit int64 // bytes; Need is what was asked when the limit was met
	Unordered   bool  // rows in the order of the ids would fit
}

// Error says what was asked and what to do.
func (e *MemoryError) Error() string {
	otherwise := ""
	if e.Unordered {
		otherwise = ", or pass Config.Order none"
	}
	return fmt.Sprintf("Config.Memory: the edges need at least %d bytes, the limit is %d; allow more%s", e.Need, e.Limit, otherwise)
}

// DiskError is returned when a disk has less room than the work will take.
type DiskError struct {
	Dir        string // a directory on that disk
	What       string // what does not fit
	Need, Free int64  // bytes
	Fix        string // the way out
}

// Error says what is needed and what to do.
func (e *DiskError) Error() string {
	return fmt.Sprintf("%s: %s may need %d bytes, %d bytes are free; %s", e.Dir, e.What, e.Need, e.Free, e.Fix)
}

// join returns the error for the bad lines of the parts of a file, given in
// its order, or nil. Whatever follows the part with which maxBad is reached is
// left out, because how far others had read does not depend on the data alone.
// Where no line of the file is good there is nothing to skip.
func join(parts []lines.Faults, good bool) error {
	all := &BadLines{}
	for _, p := range parts {
		all.Count += p.Count
		all.First = append(all.First, p.First[:min(len(p.First), lines.MaxListed-len(all.First))]...)
		if all.More = all.Count >= maxBad; all.More {
			break
		}
	}
	if !good {
		for _, e := range all.First {
			e.Fix = withoutSkipping(e.Fix, all.Count)
		}
	}
	switch {
	case all.Count == 0:
		return nil
	case all.Count == 1:
		return all.First[0]
	}
	slices.SortStableFunc(all.First, func(a, b *nodefile.ParseError) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// withoutSkipping returns the way out of the bad lines of a file that has no others.
func withoutSkipping(fix string, count int64) string {
	switch {
	case fix == lines.FixLine && count > 1:
		return "no line is good; fix them"
	case fix == lines.FixLine:
		return "fix the line"
	}
	fix = strings.TrimSuffix(fix, ", or pass Config.SkipBadLines")
	return strings.Replace(fix, "fix the line, leave", "leave", 1)
}
