package ongram

import (
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/papers/closed"
	"github.com/heatwalk/heatwalk/param"
)

// TableSource returns the kernel between the records of a table with a learner. The alphabets of the columns have the
// values of labelled records alone, unless the kernel takes texts; other values count as missing. An error about the table is a
// [*nodefile.ParseError].
func TableSource(t *nodefile.Attributes, k *closed.Kernel,
	l *classify.Learner) *Source {
	s := newSource(param.Vectors, &k.Spec, l, len(t.IDs))
	s.gram = func(_ context.Context, v param.Values, labelled []int) (classify.Gram, param.Values, error) {
		complete, err := k.Resolve(v, nil)
		if err != nil {
			return nil, nil, err
		}
		columns := t.Columns
		if !k.Texts {
			columns, _ = Restrict(columns, labelled)
		}
		gram, err := gramOf(t, columns, k, complete)
		return gram, complete, err
	}
	return s
}

// TableGram returns the kernel between all records with complete values of its parameters. The
// error is a [*nodefile.ParseError] about the table.
func TableGram(t *nodefile.Attributes, k *closed.Kernel,
	v param.Values) (closed.Gram, error) {
	return gramOf(t, t.Columns, k, v)
}

// gramOf returns the kernel between the records by columns of their table.
func gramOf(t *nodefile.Attributes, columns []nodefile.Column, k *closed.Kernel,
	v param.Values) (closed.Gram, error) {
	gram, err := k.Of(columns, v)
	wrong := new(closed.AttributeError)
	if !errors.As(err, &wrong) {
		return gram, err
	}
	p := &nodefile.ParseError{File: t.File, Msg: wrong.What, Err: err}
	if wrong.Attribute != "" {
		p.Msg = wrong.Attribute + ": " + wrong.What
	}
	if wrong.Record >= 0 {
		p.Line = t.Line[wrong.Record]
	}
	return nil, p
}

// Restrict returns the columns with the values that labelled records have. Other values are missing; unknown counts them.
func Restrict(columns []nodefile.Column,
	labelled []int) (restricted []nodefile.Column, unknown int) {
	for _, column := range columns {
		code := slices.Repeat([]int32{-1}, len(column.Values)) // the new one of each
		next := nodefile.Column{Name: column.Name, Code: slices.Clone(column.Code)}
		for _, row := range labelled {
			if old := column.Code[row]; old >= 0 && code[old] < 0 {
				code[old] = int32(len(next.Values))
				next.Values = append(next.Values, column.Values[old])
			}
		}
		for row, old := range column.Code {
			if old >= 0 {
				next.Code[row] = code[old]
				if code[old] < 0 {
					unknown++
				}
			}
		}
		restricted = append(restricted, next)
	}
	return restricted, unknown
}

// TableBytes is the memory of learners on a table, with predictions by workers goroutines at the same time.
func TableBytes(t *nodefile.Attributes, l *nodefile.Labels,
	learners []*classify.Learner, workers int) int64 {
	n := int64(len(t.IDs))
	k := int64(len(l.Names))
	fit := int64(0)
	for _, learner := range learners {
		fit = max(fit, learner.FitBytes(len(l.Row), len(l.Names)))
	}
	return t.Bytes + (t.Bytes+16*n+8*n*k*k+fit)*int64(workers) + (graphBytes+4*k)*n
}
