package ongram

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/kernel/closed"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// TableProblem returns the problem of classifying the records of a table, of which those at row
// have the given classes. The records are the nodes of a graph without edges.
func TableProblem(t *nodefile.Attributes, row, class []int, names []string) (*method.Problem, error) {
	n := len(t.IDs)
	a, err := sparse.FromTriplets(n, n, nil)
	return &method.Problem{Graph: &graph.Graph{A: a, Degrees: make([]float64, n)}, Row: row, Class: class, Names: names}, err
}

// tableMethod is a learner on a kernel between the records of a table.
type tableMethod struct {
	param.Spec // the parameters of the kernel, and then those of the learner
	table      *nodefile.Attributes
	kernel     *closed.Kernel
	learner    *classify.Learner
}

// TableMethod returns the method of a learner on a kernel between the records of a table, for
// problems of [TableProblem]. A prediction does what [Records.Classify] does. Values that no
// training record has count as missing, because a split may leave a rare value to the test set.
func TableMethod(t *nodefile.Attributes, k *closed.Kernel, l *classify.Learner) method.Method {
	return &tableMethod{
		Spec: param.Spec{
			Name: k.Name + "+" + l.Name, Title: l.Title + ", on " + k.Title, Works: param.Vectors,
			Params: slices.Concat(k.Params, l.Params),
		},
		table: t, kernel: k, learner: l,
	}
}

// Name implements [method.Method].
func (m *tableMethod) Name() string { return m.Spec.Name }

// Declarations implements [method.Method].
func (m *tableMethod) Declarations() []*param.Spec { return []*param.Spec{&m.Spec} }

// Tune implements [method.Method]: parameters are chosen inside each training set.
func (*tableMethod) Tune(context.Context, *method.Problem, *split.Splits, *method.Settings) (*method.Choice, error) {
	return nil, nil
}

// Predict implements [method.Method]. The table is copied, because the values of the training
// records become its alphabets.
func (m *tableMethod) Predict(ctx context.Context, p *method.Problem, par *method.Parameters, s *method.Settings) (*method.Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	settings := set.Given
	if par != nil {
		settings = par.Declared.Values
	}
	copied := *m.table
	copied.Columns = slices.Clone(copied.Columns)
	for i := range copied.Columns {
		copied.Columns[i].Code = slices.Clone(copied.Columns[i].Code)
	}
	r := &Records{
		Table: &copied, Labels: &nodefile.Labels{File: m.table.File, Row: p.Row, Class: p.Class, Names: p.Names},
		Kernel: m.kernel, Learner: m.learner, Given: maps.Clone(settings), MissingUnknown: true, RNGSeed: set.RNGSeed,
	}
	result, err := r.Classify(ctx)
	if err != nil {
		return nil, err
	}
	values := maps.Clone(result.Kernel)
	maps.Copy(values, result.Learner)
	c := result.Choice
	out := &method.Prediction{Class: result.Class, Scores: sparse.NewBlock[float32](len(m.table.IDs), len(p.Names)), Reached: roaring.New()}
	out.Reached.AddRange(0, uint64(len(m.table.IDs)))
	out.Parameters = method.Parameters{Declared: &method.Setting{Spec: &m.Spec, Values: values}}
	out.Settings, out.Accuracy, out.Stderr, out.Tested = c.Settings, c.Accuracy, c.Stderr, c.Tested
	row := make([]float64, len(p.Names))
	for i := range m.table.IDs {
		simd.ConvertTo(out.Scores.Row(i), result.SharesTo(row, i))
	}
	return out, nil
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
