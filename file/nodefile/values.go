package nodefile

import (
	"cmp"
	"context"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/table"
)

// Values holds the known numbers of some nodes.
type Values struct {
	*Labels           // Names are the distinct texts of the numbers
	Value   []float64 // number of each entry of Row
}

// ReadValues reads a table with a node and a number in each row by the rules of [ReadLabels]. The
// words for a missing number, for example NaN, are those of [MissingLabels] but -1, unless c.Missing is
// set. The error is a
// [*ParseError] also for text that is not a finite number. c.Several must not be set.
func ReadValues(ctx context.Context, path string, nodes Lookup,
	c *LabelConfig) (*Values, error) {
	var set LabelConfig
	if c != nil {
		set = *c
	}
	if set.Missing == nil {
		set.Missing = table.Missing
	}
	r := newLabelReader(&set, nodes)
	r.t.Value = input.Value
	r.numbers = map[string]float64{}
	l, err := r.read(ctx, path, nodes)
	if err != nil {
		return nil, err
	}
	if fault := table.PointFault(l.Names, set.Text); fault != nil {
		fault.File = l.File
		return nil, fault
	}
	v := &Values{Labels: l, Value: make([]float64, len(l.Row))}
	for i, class := range l.Class {
		v.Value[i] = r.numbers[l.Names[class]]
	}
	return v, nil
}

// addNumber keeps the number of a label.
func (r *labelReader) addNumber(label string, line nodetable.Row) error {
	x, fault := table.ParseNumber(table.PlainNumber([]byte(label), r.c.Text), 64)
	if fault != "" {
		fix := "fix the line, name the column of the numbers with {label-fields}, or list words for a missing number with {missing}"
		return r.t.Fault(line, line.At, cmp.Or(table.NumberFix([]byte(label)), fix),
			"number %s %s", table.Quoted(label), fault)
	}
	r.numbers[label] = x
	return nil
}

// Numeric returns the number of distinct labels if all of them are finite numbers, else 0.
func (l *Labels) Numeric() int {
	for _, name := range l.Names {
		if _, fault := table.ParseNumber([]byte(name), 64); fault != "" {
			return 0
		}
	}
	return len(l.Names)
}
