package ingest

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/heatwalk/heatwalk/sparse/shard"
)

// write sorts the edges and writes all rows.
func (r *run) write(w *shard.Writer, directed bool) error {
	w.SetNodes(r.nodes)
	sources := make([]shard.Source, len(r.files))
	for i, f := range r.files {
		sources[i] = shard.Source{Name: f.Name, Bytes: f.Bytes, Lines: f.Lines}
	}
	w.SetSources(sources)
	views := []view{undirected}
	switch {
	case directed && r.matrix != nil && r.matrix.symmetry == "symmetric":
		views = []view{mirrored, mirrored}
	case directed:
		views = []view{outgoing, incoming}
	}
	rows := r.nodes.Len()
	occupied := make([]uint64, (rows+63)/64)
	var counts mergeCount
	weighted, double := false, false
	for direction, v := range views {
		if direction == 1 {
			if err := w.BeginIn(); err != nil {
				return err
			}
		}
		s := r.sorter(v)
		s.help = w.Encode
		s.progress = func(part float64) {
			done := int64((float64(direction) + part) * float64(rows))
			r.progress(Progress{Phase: "writing", Done: done, Total: int64(len(views) * rows), Lines: r.report.Lines})
		}
		if direction == len(views)-1 && !s.values && r.c.Duplicates != ErrorDuplicates {
			s.forget = r.forget // no lines can disagree
		}
		lines, err := r.planSort(s, 0)
		if err != nil {
			return err
		}
		first := direction == 0
		if first {
			if err := r.checkStore(s.entries(), s.values, directed); err != nil {
				return err
			}
			r.report.SelfLoops, r.report.ZeroWeights, r.report.UnknownIDs = lines.loops, lines.zeros, lines.unknown
		}
		err = s.each(func(b *sorted) error {
			for i := range len(b.ptr) - 1 {
				lo, hi := b.ptr[i], b.ptr[i+1]
				var val []float64
				if b.val != nil {
					val = b.val[lo:hi]
				}
				sum := 0.
				for _, x := range val {
					weighted = weighted || x != 1
					double = double || float64(float32(x)) != x
					sum += x
				}
				if math.IsInf(sum, 0) {
					return r.heavy(r.nodes.AppendID(nil, b.lo+i))
				}
				if err := w.Append(b.col[lo:hi], val); err != nil {
					return err
				}
				if hi > lo {
					occupied[(b.lo+i)/64] |= 1 << ((b.lo + i) % 64)
				}
			}
			if first {
				r.report.Entries += int64(len(b.col))
				counts.add(b.mergeCount)
			}
			return nil
		})
		if err != nil {
			return r.explain(err)
		}
	}
	r.report.Nodes, r.report.Directed, r.report.Weighted = int64(rows), directed, weighted
	r.report.Weights = "none"
	switch {
	case double:
		r.report.Weights = "float64"
	case weighted:
		r.report.Weights = "float32"
	}
	r.report.Duplicates, r.report.Reciprocal = counts.duplicates, counts.reciprocal
	r.report.Edges = r.report.Entries
	if !directed {
		r.report.Edges = (r.report.Entries + counts.loops) / 2
	}
	r.report.Isolated = int64(rows)
	for _, word := range occupied {
		r.report.Isolated -= int64(bits.OnesCount64(word))
	}
	return nil
}

// heavy is the error for a node whose weights are too large together, though each
// is a number: nothing that divides by their sum would be right.
func (r *run) heavy(id []byte) error {
	return &ParseError{File: r.files[len(r.files)-1].Name, Msg: fmt.Sprintf("the weights of the edges of %s add up to infinity", quote(id)),
		Fix: "multiply all weights by a small number"}
}

func (n *mergeCount) add(m mergeCount) {
	n.duplicates += m.duplicates
	n.reciprocal += m.reciprocal
	n.loops += m.loops
}
