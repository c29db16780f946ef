package ingest

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// nullWords are texts that programs write for a missing value. Read as an id, such a text would join
// unrelated nodes.
var nullWords = []string{`\N`, "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "None", "NULL", "null"}

// missingEnds returns the codes of blank ids and of the words in [Config.Missing], and counts the lines with
// such an id. If Config.Missing is nil, it warns of words such as NA that are not in the list of nodes. All
// ids must be in the dictionary.
func (n *numberer) missingEnds(listed []uint32) (dropped []uint32, err error) {
	codesOf := func(words []string) (codes []uint32, ids []string) {
		for _, word := range words {
			if code, isID := n.names.dict.Code([]byte(word)); isID &&
				(n.c.Missing != nil || !slices.Contains(listed, code)) {
				codes = append(codes, code)
				ids = append(ids, word)
			}
		}
		return codes, ids
	}
	dropped, _ = codesOf(append([]string{""}, n.c.Missing...))
	var doubtful []uint32
	var nulls []string
	if n.c.Missing == nil {
		doubtful, nulls = codesOf(nullWords)
	}
	if dropped == nil && doubtful == nil {
		return nil, nil
	}
	missing := make([]atomic.Int64, len(n.t.files)) // lines with a missing end, of each file
	lines := make([]atomic.Int64, len(n.t.files))   // lines with a doubtful end, of each file
	var isGood atomic.Bool                          // some line has both ends
	err = n.lines.eachPart(func(_ int, p *part, code []uint32, weight []float64) error {
		for i := 0; i < len(code); i += 2 {
			isMissing := slices.Contains(dropped, code[i]) || slices.Contains(dropped, code[i+1])
			if !isMissing && !isGood.Load() {
				isGood.Store(true)
			}
			switch {
			case weight != nil && weight[i/2] == 0: // counted as a zero weight
			case isMissing:
				missing[p.file].Add(1)
			case slices.Contains(doubtful, code[i]) ||
				slices.Contains(doubtful, code[i+1]):
				lines[p.file].Add(1)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, f := range n.t.files {
		without := missing[i].Load()
		isLast := i == len(n.t.files)-1
		if !isGood.Load() && n.names.listedIDs == 0 && (without > 0 || isLast) {
			return nil, n.faultMissing(f)
		}
		n.t.report.MissingIDs += without
		if without > 0 && (n.c.Missing == nil || f.firstBlank > 0) {
			n.t.warn(textio.Fault(f.Name, f.firstBlank,
				"fix such lines, and remove lines of totals, whose other ends are nodes too",
				"%s left out for a missing end", words.Counted(without, "line")))
		}
		count := lines[i].Load()
		if count == 0 {
			continue
		}
		list := strings.Join(nulls, ",")
		n.t.warn(textio.Fault(f.Name, 0,
			"{missing="+list+"} drops such lines",
			"%s with ids that may stand for no value and are nodes here: %s",
			words.Counted(count, "line"), list))
	}
	return dropped, nil
}

// faultMissing returns the error about inputs of which no line has both ends. f is the first with such lines.
func (n *numberer) faultMissing(f FileReport) error {
	fix := "name the columns of the ends with {fields}, or fix the lines"
	if len(n.c.Missing) > 0 && f.firstBlank == 0 {
		fix = "correct the words of {missing}"
	}
	return textio.Fault(f.Name, f.firstBlank, fix, "no line has both ends: source or target is missing")
}

// withoutMissing removes the missing codes from codes, whose first listed codes are the list of nodes. It
// returns the remaining codes and how many of them are listed. integers reports whether all their ids are
// integers.
func (n *numberer) withoutMissing(codes []uint32, listed int,
	missing []uint32) (left []uint32, leftListed int, integers bool) {
	isMissing := func(code uint32) bool { return slices.Contains(missing, code) }
	for _, code := range codes[:listed] {
		if !isMissing(code) {
			leftListed++
		}
	}
	left = slices.DeleteFunc(codes, isMissing)
	return left, leftListed,
		!slices.ContainsFunc(left,
			func(code uint32) bool { return !table.IsInteger(n.names.dict.Key(code)) })
}

func faultRounded(name string, first int64, lines string) error {
	return textio.Fault(name, first, "write this column as integers or text",
		"%s with an id that looks like a rounded number, so that different nodes may have one id", lines)
}
