package ongram

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/kernel/closed"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
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

// Classified is the result of [Records.Classify].
type Classified struct {
	Choice          *Choice
	Kernel, Learner param.Values           // complete
	Scores          *sparse.Block[float64] // of each record, as the model gives them
	ScoreNames      []string               // what these are called: a class, or the two that a score decides between
	Class           []int                  // of each record, its own if it has a label
	Support         int                    // see [classify.Model.Support]

	machine *machine
}

// SharesTo stores in dst the share of each class that follows from the scores of record i:
// probabilities, or else soft votes, which sum to one too. A nil dst allocates.
func (c *Classified) SharesTo(dst []float64, i int) []float64 {
	return c.machine.sharesTo(dst, c.Scores.Row(i))
}

// triedLabels is how many labels parameters are chosen by.
const triedLabels = 1000

// Classify chooses the parameters that are not given by cross-validation on at most 1000
// labelled records, learns from all of them, and scores every record. The alphabets of the
// table are then the values that labelled records have. The error is a
// [*nodefile.ParseError] about the table, a [*problem.Error], or that of ctx. Cost: that of
// a fit for each fold and setting, and a row of kernel values for each distinct record.
func (r *Records) Classify(ctx context.Context) (*Classified, error) {
	report := r.Progress
	if report == nil {
		report = func(string, int64, int64) {}
	}
	report("choosing parameters", 0, 0)
	out := new(Classified)
	err := r.restrict()
	if err != nil {
		return nil, err
	}
	if out.Choice, err = r.choose(ctx); err != nil {
		return nil, err
	}
	if out.Kernel, err = r.Kernel.Resolve(r.Kernel.Own(out.Choice.Values), nil); err != nil {
		return nil, err
	}
	if out.Learner, err = r.Learner.Resolve(r.Learner.Own(out.Choice.Values), nil); err != nil {
		return nil, err
	}
	k, err := r.Gram(out.Kernel)
	if err != nil {
		return nil, err
	}
	report("learning", 0, 0)
	n := len(r.Table.IDs)
	y := slices.Repeat([]int{-1}, n)
	for i, record := range r.Labels.Row {
		y[record] = r.Labels.Class[i]
	}
	if out.machine, err = learn(ctx, r.Learner, k, y, len(r.Labels.Names), out.Learner, r.Calibrate); err != nil {
		return nil, err
	}
	out.ScoreNames, out.Support = out.machine.scoreNames(r.Labels.Names), out.machine.Support()
	return out, out.score(ctx, k, y, func(done int) { report("scoring", int64(done), int64(n)) })
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
	return r.Table.Bytes + 16*n + 8*n*k*k + learnerBytes(r.Learner, len(r.Labels.Row), int(k))
}

// choose chooses parameters by a sample of the labelled records.
func (r *Records) choose(ctx context.Context) (*Choice, error) {
	seen := split.Sample(r.Labels.Class, triedLabels, r.RNGSeed, 0)
	s := &search{Kernel: &r.Kernel.Spec, Learner: r.Learner, Items: len(seen), Classes: len(r.Labels.Names), RNGSeed: r.RNGSeed}
	var records []int
	for position, label := range seen {
		records = append(records, r.Labels.Row[label])
		s.Row, s.Class = append(s.Row, position), append(s.Class, r.Labels.Class[label])
	}
	tried := slices.Clone(r.Table.Columns)
	for i := range tried {
		tried[i].Code = make([]int32, len(records))
		for position, record := range records {
			tried[i].Code[position] = r.Table.Columns[i].Code[record]
		}
	}
	s.Gram = func(_ context.Context, v param.Values) (classify.Gram, error) {
		complete, err := r.Kernel.Resolve(v, nil)
		if err != nil {
			return nil, err
		}
		k, err := r.Kernel.Of(tried, complete)
		return k, r.placed(err, records)
	}
	choice, err := s.choose(ctx, maps.Clone(r.Given))
	if err != nil && ctx.Err() == nil && !errors.As(err, new(*nodefile.ParseError)) {
		err = &problem.Error{Method: r.Learner.Name, Err: err}
	}
	return choice, err
}

// score scores every record, those that are alike once, and gives those without a class
// the likeliest.
func (c *Classified) score(ctx context.Context, k closed.Gram, y []int, done func(records int)) error {
	c.Scores, c.Class = sparse.NewBlock[float64](k.Len(), len(c.machine.Pairs)), y
	row, first := make([]float64, k.Len()), map[int]int{} // the first record that is each distinct one
	for i, a := range k.Alike() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if twin, isScored := first[a]; isScored {
			copy(c.Scores.Row(i), c.Scores.Row(twin))
		} else {
			first[a] = i
			k.RowTo(row, i)
			c.machine.ScoresTo(c.Scores.Row(i), row, row[i])
		}
		if y[i] < 0 {
			c.Class[i] = c.machine.Pairs.Predict(c.Scores.Row(i))
		}
		done(i + 1)
	}
	return nil
}
