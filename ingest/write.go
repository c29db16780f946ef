package ingest

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/market"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// write sorts the edges and writes all rows.
func (r *run) write(w *shard.Writer, directed bool) error {
	w.Nodes = r.nodes
	sources := make([]shard.File, len(r.files))
	for i, f := range r.files {
		sources[i] = shard.File{Name: f.Name, Bytes: f.Bytes, Lines: f.Lines}
	}
	w.Manifest.Sources = sources
	views := []sort.View{sort.Undirected}
	switch {
	case directed && r.matrix != nil && r.matrix.symmetry == market.Symmetric:
		views = []sort.View{sort.Mirrored, sort.Mirrored}
	case directed:
		views = []sort.View{sort.Outgoing, sort.Incoming}
	}
	rows := r.nodes.Len()
	out := &written{w: w, occupied: make([]uint64, (rows+63)/64), heavy: func(row int) error {
		return r.heavy(r.named().AppendID(nil, row))
	}}
	for direction, v := range views {
		if direction == 1 {
			if err := w.BeginIn(); err != nil {
				return err
			}
		}
		s := r.sorter(v)
		s.Progress = func(part float64) {
			done := int64((float64(direction) + part) * float64(rows))
			r.progress(Progress{Phase: "writing", Done: done, Total: int64(len(views) * rows), Lines: r.report.Lines})
		}
		if direction == len(views)-1 && !s.Values && r.c.Duplicates != ErrorDuplicates {
			s.Forget = r.forget // no lines can disagree
		}
		lines, err := r.planSort(s, 0)
		if err != nil {
			return err
		}
		first := direction == 0
		if first {
			if err := r.checkStore(s.Entries(), s.Values, directed); err != nil {
				return err
			}
			r.report.SelfLoops, r.report.ZeroWeights, r.report.UnknownIDs = lines.Loops, lines.Zeros, lines.Unknown-r.report.MissingIDs
		}
		err = s.Each(func(b *sort.Rows) error {
			if err := out.append(b); err != nil {
				return err
			}
			if first {
				r.report.Entries += int64(len(b.Col))
				out.counts.Add(b.Count)
			}
			return nil
		})
		if err != nil {
			return r.explain(err)
		}
	}
	out.tell(r.report, rows, directed)
	if n := out.counts.Averaged; n > 0 {
		r.report.Averaged = n
		r.warn(&nodefile.ParseError{File: r.files[0].Name, Msg: fmt.Sprintf("%s whose weights of both directions differ by rounding, less than 1e-10 of the larger, have their mean", table.Counted(n, "edge")),
			Fix: "keep directions with {directed}"})
	}
	if r.placed != nil {
		pages.Collect() // entries
		w.Nodes = r.named()
	}
	return nil
}

// written is what is known of the rows that were written.
type written struct {
	w        *shard.Writer
	occupied []uint64            // a bit for each row with an entry
	heavy    func(row int) error // of one whose weights have no finite sum
	counts   sort.Count
	weighted bool // a weight is not 1
	double   bool // a weight is no float32
}

// append writes the rows of a bucket.
func (o *written) append(b *sort.Rows) error {
	for i := range len(b.Ptr) - 1 {
		lo, hi := b.Ptr[i], b.Ptr[i+1]
		var val []float64
		if b.Val != nil {
			val = b.Val[lo:hi]
		}
		sum := 0.
		for _, x := range val {
			o.weighted = o.weighted || x != 1
			o.double = o.double || float64(float32(x)) != x
			sum += x
		}
		row := b.Lo + i
		if math.IsInf(sum, 0) {
			return o.heavy(row)
		}
		if err := o.w.Append(b.Col[lo:hi], val); err != nil {
			return err
		}
		if hi > lo {
			o.occupied[row/64] |= 1 << (row % 64)
		}
	}
	return nil
}

// tell completes a report whose entries are counted.
func (o *written) tell(report *Report, rows int, directed bool) {
	report.Nodes, report.Directed, report.Weighted = int64(rows), directed, o.weighted
	report.Weights = "none"
	switch {
	case o.double:
		report.Weights = "float64"
	case o.weighted:
		report.Weights = "float32"
	}
	report.Duplicates, report.Reciprocal = o.counts.Duplicates, o.counts.Reciprocal
	report.Edges = report.Entries
	if !directed {
		report.Edges = (report.Entries + o.counts.Loops) / 2
	}
	report.Isolated = int64(rows)
	for _, word := range o.occupied {
		report.Isolated -= int64(bits.OnesCount64(word))
	}
}

// heavy is the error for a node whose weights are too large together, though each
// is a number: nothing that divides by their sum would be right.
func (r *run) heavy(id []byte) error {
	return &nodefile.ParseError{File: r.files[len(r.files)-1].Name, Msg: fmt.Sprintf("the weights of the edges of %s add up to infinity", table.Quoted(id)),
		Fix: "multiply all weights by a small number"}
}
