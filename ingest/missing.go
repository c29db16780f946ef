package ingest

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/table"
)

// nullWords are texts that programs write for a missing value. As ids they become one
// node that joins strangers, which is warned of.
var nullWords = []string{`\N`, "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "None", "NULL", "null"}

// missingEnds looks for ids that are no nodes, once all ids are in the dictionary. Without
// [Config.Missing] it warns of lines with words such as NA. Otherwise it counts the lines with one
// of the given words and returns the codes of these words, which get no rows. Ids of the list of
// nodes, whose codes are listed, are not warned of.
func (n *numberer) missingEnds(listed []uint32) (codes []uint32, err error) {
	var found []string
	words := n.c.Missing
	if words == nil {
		words = nullWords
	}
	for _, word := range words {
		if code, known := n.dict.Code([]byte(word)); known && word != "" && (n.c.Missing != nil || !slices.Contains(listed, code)) {
			codes, found = append(codes, code), append(found, word)
		}
	}
	if codes == nil {
		return nil, nil
	}
	lines := make([]atomic.Int64, len(n.files)) // with such an end, of each file
	err = n.eachPart(func(_ int, p *part, code []uint32, weight []float64) error {
		for i := 0; i < len(code); i += 2 {
			if weight != nil && weight[i/2] == 0 {
				continue // counted as a zero weight
			}
			if slices.Contains(codes, code[i]) || slices.Contains(codes, code[i+1]) {
				lines[p.file].Add(1)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n.c.Missing != nil {
		for i := range lines {
			n.report.MissingIDs += lines[i].Load()
		}
		return codes, nil
	}
	what := "the id " + table.Quoted(found[0]) + ", which may stand for no value; it is one node here"
	if len(found) > 1 {
		what = fmt.Sprintf("one of the ids %q, which may stand for no value; each is one node here", found)
	}
	for i := range lines {
		if count := lines[i].Load(); count > 0 {
			n.warn(&nodefile.ParseError{File: n.files[i].Name, Msg: table.Counted(count, "line") + " with " + what,
				Fix: "{missing=" + strings.Join(found, ",") + "} drops such lines"})
		}
	}
	return nil, nil
}

// withoutMissing removes the codes of missing ends from the codes in the order of rows, of which
// the first are those of the list of nodes. It reports whether the ids that are left are integers.
func (n *numberer) withoutMissing(codes []uint32, listed int, missing []uint32) (left []uint32, leftListed int, integers bool) {
	isMissing := func(code uint32) bool { return slices.Contains(missing, code) }
	for _, code := range codes[:listed] {
		if !isMissing(code) {
			leftListed++
		}
	}
	left = slices.DeleteFunc(codes, isMissing)
	return left, leftListed, !slices.ContainsFunc(left, func(code uint32) bool { return !table.IsInteger(n.dict.Key(code)) })
}
