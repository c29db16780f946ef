package ongram

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/kernel/closed"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/param"
)

// Records says how the records of a table are classified by those with a label.
type Records struct {
	Table   *nodefile.Attributes
	Labels  *nodefile.Labels // of records; for Classify
	Kernel  *closed.Kernel
	Learner *classify.Learner
	Given   param.Values // parameters of both that are not to be chosen

	MissingUnknown bool   // values of categories that no record with a label has are missing ones, not an error
	Calibrate      bool   // probabilities of a learner that has none of its own, which fit the scores of held-out records ([classify.Calibrate])
	RNGSeed        uint64 // of folds

	// Progress, if not nil, is called with the stage, the finished records, and their number, 0
	// if the stage has none.
	Progress func(stage string, done, total int64)
}

// Classify chooses the parameters that are not given by cross-validation on at most 1000
// labelled records, learns from all of them, and scores every record. The alphabets of the
// table are then the values that labelled records have. The error is a
// [*nodefile.ParseError] about the table, a [*problem.Error], or that of ctx. Cost: that of
// a fit for each fold and setting, and a row of kernel values for each distinct record.
func (r *Records) Classify(ctx context.Context) (*Classified, error) {
	j := &job{
		source: r.source(), row: r.Labels.Row, class: r.Labels.Class, names: r.Labels.Names, fixed: r.Given, rngSeed: r.RNGSeed,
		report: r.Progress,
	}
	if j.report == nil {
		j.report = func(string, int64, int64) {}
	}
	if err := r.restrict(); err != nil {
		return nil, err
	}
	out, err := j.run(ctx)
	if err == nil && out.unfinished != nil {
		return nil, out.unfinished
	}
	return out, err
}

// source returns the kernel between the records.
func (r *Records) source() *source {
	s := &source{kernel: &r.Kernel.Spec, learner: r.Learner, items: len(r.Table.IDs), calibrate: r.Calibrate}
	s.gram = func(_ context.Context, v param.Values, records []int) (classify.Gram, param.Values, error) {
		columns := r.Table.Columns
		if records != nil {
			columns = slices.Clone(columns)
			for i := range columns {
				code := make([]int32, len(records))
				for position, record := range records {
					code[position] = columns[i].Code[record]
				}
				columns[i].Code = code
			}
		}
		complete, err := r.Kernel.Resolve(v, nil)
		if err != nil {
			return nil, nil, err
		}
		k, err := r.Kernel.Of(columns, complete)
		return k, complete, r.placed(err, records)
	}
	return s
}

// TableMethod returns the method of a learner on a kernel between the records of a table, for problems whose items are
// these. A prediction does what [Records.Classify] does. Values that no training record has count as
// missing, because a split may leave a rare value to the test set.
func TableMethod(t *nodefile.Attributes, k *closed.Kernel, l *classify.Learner) method.Method {
	return &tableMethod{newMethod(param.Vectors, &k.Spec, l, nil), t, k, l}
}

// tableMethod restricts a copy of the table to the values of the training records before each prediction.
type tableMethod struct {
	*itemMethod
	table   *nodefile.Attributes
	kernel  *closed.Kernel
	learner *classify.Learner
}

// Predict implements [method.Method].
func (m *tableMethod) Predict(ctx context.Context, p *method.Problem, par *method.Parameters, s *method.Settings) (*method.Prediction, error) {
	copied := *m.table
	copied.Columns = slices.Clone(copied.Columns)
	for i := range copied.Columns {
		copied.Columns[i].Code = slices.Clone(copied.Columns[i].Code)
	}
	r := &Records{Table: &copied, Labels: &nodefile.Labels{Row: p.Row}, Kernel: m.kernel, Learner: m.learner, MissingUnknown: true}
	if err := r.restrict(); err != nil {
		return nil, err
	}
	return (&itemMethod{m.Spec, r.source}).Predict(ctx, p, par, s)
}

// Gram returns the kernel between all records with complete values of its parameters. The
// error is a [*nodefile.ParseError] about the table.
func (r *Records) Gram(v param.Values) (closed.Gram, error) {
	k, err := r.Kernel.Of(r.Table.Columns, v)
	return k, r.placed(err, nil)
}

// placed names the place in the table in an error of the kernel, which counts the given
// records, or all if that is nil.
func (r *Records) placed(err error, records []int) error {
	wrong := new(closed.AttributeError)
	if !errors.As(err, &wrong) {
		return err
	}
	p := &nodefile.ParseError{File: r.Table.File, Msg: wrong.What, Err: err}
	if wrong.Attribute != "" {
		p.Msg = wrong.Attribute + ": " + wrong.What
	}
	if record := wrong.Record; record >= 0 {
		if records != nil {
			record = records[record]
		}
		p.Line = r.Table.Line[record]
	}
	return p
}

// restrict makes the values that labelled records have the alphabets of the columns, unless
// the kernel takes texts. Values that only others have become missing, or are an error.
func (r *Records) restrict() error {
	if r.Kernel.Texts {
		return nil
	}
	t, unknown := r.Table, 0
	record, in, value := len(t.IDs), 0, "" // the first unknown one, its column
	for c := range t.Columns {
		column := &t.Columns[c]
		code := slices.Repeat([]int32{-1}, len(column.Values)) // the new one of each
		var values []string
		for _, row := range r.Labels.Row {
			if old := column.Code[row]; old >= 0 && code[old] < 0 {
				code[old] = int32(len(values))
				values = append(values, column.Values[old])
			}
		}
		for row, old := range column.Code {
			if old < 0 {
				continue
			}
			if code[old] < 0 {
				if unknown++; row < record {
					record, in, value = row, c, column.Values[old]
				}
			}
			column.Code[row] = code[old]
		}
		column.Values = values
	}
	if unknown == 0 || r.MissingUnknown {
		return nil
	}
	what := fmt.Sprintf("%s is %s, which it is in no record with a label", t.Columns[in].Name, table.Quoted(value))
	if unknown > 1 {
		what += fmt.Sprintf(" (nor %s like it)", table.Counted(unknown-1, "other value"))
	}
	return &nodefile.ParseError{File: t.File, Line: t.Line[record], Msg: what, Fix: "pass {unknown-values=missing} to take it for a missing value"}
}

// Bytes is the memory of [Records.Classify], the table included.
func (r *Records) Bytes() int64 {
	n, k := int64(len(r.Table.IDs)), int64(len(r.Labels.Names))
	return r.Table.Bytes + 16*n + 8*n*k*k + r.Learner.FitBytes(len(r.Labels.Row), int(k))
}

// TableBytes is the memory of a comparison of learners on a table, with predictions by workers
// goroutines at the same time.
func TableBytes(t *nodefile.Attributes, l *nodefile.Labels, learners []*classify.Learner, workers int) (bytes int64) {
	for _, learner := range learners {
		bytes = max(bytes, (&Records{Table: t, Labels: l, Learner: learner}).Bytes())
	}
	return t.Bytes + bytes*int64(workers) + (graphBytes+4*int64(len(l.Names)))*int64(len(t.IDs))
}

// TableSum returns a checksum of a table, so that a comparison is resumed on the same data only.
func TableSum(t *nodefile.Attributes) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q", t.IDs)
	for i := range t.Columns {
		c := &t.Columns[i]
		fmt.Fprintf(h, "%q%q", c.Name, c.Values)
		_ = binary.Write(h, binary.LittleEndian, c.Code) // a hash takes all
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
