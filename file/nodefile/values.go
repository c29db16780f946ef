package nodefile

import (
	"cmp"
	"context"
	"math"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Values holds the known numbers of some nodes.
type Values struct {
	*Labels           // Names are the texts of the distinct numbers
	Value   []float64 // numbers of the entries of Row
}

// largestValue bounds values, so that their squares are finite.
const largestValue = 1e100

// ReadValues reads a table with a node and a number in each row by the rules of [ReadLabels]. Words of
// [table.Missing] and c.Missing are missing numbers. The error about text that is not a number up to ±1e100 is a
// [*ParseError]. c.Several must not be set.
func ReadValues(ctx context.Context, path string, nodes Lookup,
	c *LabelConfig) (*Values, error) {
	c = cmp.Or(c, &LabelConfig{})
	r := newLabelReader(c, nodes)
	r.t.Value = input.Value
	r.isValue = true
	l, err := r.read(ctx, path, nodes)
	if err != nil {
		return nil, err
	}
	v := &Values{Labels: l, Value: make([]float64, len(l.Row))}
	number := make([]float64, len(l.Names))
	for class, name := range l.Names {
		number[class], _ = table.ParseNumberIn([]byte(name), c.Text)
	}
	for i, class := range l.Class {
		v.Value[i] = number[class]
	}
	return v, nil
}

func (r *labelReader) addNumber(label string, line Row) (class int, err error) {
	number, fault := table.ParseNumberIn([]byte(label), r.t.Text)
	if fault == "" && math.Abs(number) > largestValue {
		return 0, r.t.Fault(line, line.At, "leave the line out, or divide all numbers", "number %s is beyond ±%.2g", words.Quoted(label), largestValue)
	}
	if fault != "" {
		fix := "fix the line, name the column of the numbers with {label-fields}, or list words for a missing number with {missing}"
		return 0, r.t.Fault(line, line.At, cmp.Or(table.NumberFix([]byte(label)), fix), "number %s %s", words.Quoted(label), fault)
	}
	unit := table.UnitOf([]byte(label))
	if unit != "" && r.unit != "" && unit != r.unit {
		return 0, r.t.Fault(line, line.At, "keep the lines of one currency", "number %s is in %s, and earlier numbers are in %s", words.Quoted(label), unit, r.unit)
	}
	r.unit = cmp.Or(r.unit, unit)
	if class, isKnown := r.numbers[number]; isKnown { // 1 and 1.0
		r.classes.code[label] = class
		return class, nil
	}
	class = len(r.labels.Names)
	if r.numbers == nil {
		r.numbers = map[float64]int{}
		r.classes.code = map[string]int{}
	}
	r.numbers[number] = class
	r.labels.Names = append(r.labels.Names, label)
	r.classes.code[label] = class
	return class, nil
}

// Numeric returns the number of distinct labels if all are finite numbers without leading zeros, and otherwise 0.
func (l *Labels) Numeric() int {
	for _, name := range l.Names {
		if _, fault := table.ParseNumber([]byte(name), 64); fault != "" || table.HasLeadingZero(name) {
			return 0
		}
	}
	return len(l.Names)
}
