package ingest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
)

// explain adds the places of the lines to an error about lines of one edge that disagree. It turns a
// [sort.MemoryError] into a [LimitError].
func (e *edgeSorter) explain(err error) error {
	var over *sort.MemoryError
	if errors.As(err, &over) { // the sorter's limit is a share of the whole limit
		return &LimitError{Need: e.c.Memory + over.Need - over.Limit,
			Limit: e.c.Memory}
	}
	var wrong *sort.MergeError
	if !errors.As(err, &wrong) {
		return err
	}
	var lines []edgeLine
	for _, p := range e.lines.parts {
		code, weight, failed := e.lines.load(0, p)
		if failed != nil {
			return failed
		}
		for i := 0; i < len(code); i += 2 {
			u, v := code[i], code[i+1]
			if u == wrong.Row && v == wrong.Col ||
				u == wrong.Col && v == wrong.Row &&
					(wrong.Kind == sort.Differing || !e.c.Directed) {
				w := 1.0
				edge := uint32(0)
				if weight != nil {
					w = weight[i/2]
				}
				if e.c.hasCodes() {
					w, edge = sort.Unpack(w)
				}
				if w != 0 && edge == wrong.Code {
					lines = append(lines,
						edgeLine{e.t.files[p.file].Name, p.line(i / 2), w, u, v})
				}
			}
		}
	}
	return e.disagree(wrong, lines)
}

type edgeLine struct {
	file   string
	line   int64
	weight float64
	u, v   uint32
}

func (e *edgeSorter) disagree(wrong *sort.MergeError, lines []edgeLine) error {
	e.numbering.nodes = e.numbering.orderNodes(e.c.Order)
	choose := "choose {duplicates=sum}, max, min or first"
	if wrong.Kind == sort.Differing {
		choose = "pass {duplicates=sum} to add them, max, min or first to keep one, or {directed} to keep both"
	}
	if wrong.Kind == sort.Differing && e.hasBothDirections() {
		choose = "pass {duplicates=max}, min or first to keep one, or {directed} to keep both"
	}
	last := lines[len(lines)-1]
	edge := fmt.Sprintf("%s–%s", e.id(last.u), e.id(last.v))
	if wrong.Kind == sort.Infinite {
		return textio.Fault(last.file, last.line,
			"choose {duplicates=max}, min or first",
			"the weights of %s add up to infinity", edge)
	}
	for i, l := range lines[1:] {
		for _, earlier := range lines[:i+1] {
			isRepeated := earlier.u == l.u
			if isRepeated != (wrong.Kind == sort.Repeated) {
				continue
			}
			place := fmt.Sprintf("line %d", earlier.line)
			if earlier.line == 0 {
				place = "another entry"
			}
			if earlier.file != l.file {
				place += " of " + earlier.file
			}
			edge := fmt.Sprintf("%s–%s", e.id(l.u), e.id(l.v))
			if wrong.Kind == sort.Repeated {
				return textio.Fault(l.file, l.line, choose, "%s is on %s already",
					edge, place)
			}
			opposite := fmt.Sprintf("%s–%s", e.id(earlier.u), e.id(earlier.v))
			return textio.Fault(l.file, l.line, choose,
				"%s has weight %s, and the opposite direction %s has %s (%s)", edge,
				e.total(lines, l), opposite, e.total(lines, earlier), place)
		}
	}
	return textio.Fault(last.file, last.line, choose,
		"%s is given in two ways", edge)
}

func (e *edgeSorter) total(lines []edgeLine, line edgeLine) string {
	var sum float64
	count := 0
	for _, l := range lines {
		if l.u == line.u {
			sum += l.weight
			count++
		}
	}
	digits := 15
	if e.c.hasCodes() {
		digits = 7 // decimal digits of a stored float32
	}
	text := strconv.FormatFloat(sum, 'g', digits, 64)
	if count > 1 {
		text += fmt.Sprintf(" in %d lines", count)
	}
	return text
}

func (e *edgeSorter) id(row uint32) string {
	id := []byte(e.numbering.nodes.ID(int(row)))
	return strings.ToValidUTF8(string(id[:min(len(id), 64)]), "\uFFFD")
}
