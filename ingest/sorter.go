package ingest

import (
	"errors"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
)

type edgeSorter struct{ stage }

func (e *edgeSorter) sorter(v sort.View) *sort.Sorter {
	values := e.m.hasValues()
	policy := sort.Policy(e.c.Duplicates)
	switch {
	case policy == sort.Default && !e.hasAmounts():
		policy = sort.Max // several lines without a weight are one edge
	case policy == sort.Default && e.addsDirections():
		policy = sort.Sum
	}
	s := &sort.Sorter{
		Context: e.t.ctx, Workers: e.t.workers, Temporary: e.lines.forFillings,
		Rows: e.numbering.nodes.Len(), View: v, Values: values, Limit: e.m.left(),
		Load: func(worker, i int) (code []uint32, weight []float64, err error) {
			return e.lines.load(worker, e.lines.parts[i])
		},
		KeepLoops: e.c.KeepLoops,
		Merge: sort.Merger{Policy: policy, Values: values,
			PerDirection: e.hasBothDirections(), Directed: v != sort.Undirected,
			Coded: e.c.hasCodes()},
	}
	return s
}

// planSort plans the sorting of all edges within the memory limit, of which extra bytes are in use. If the
// memory is too small for all entries together, all lines go to disk.
func (e *edgeSorter) planSort(s *sort.Sorter, extra int64) (sort.LineCount, error) {
	if s.Limit > 0 {
		s.Limit = max(1, e.c.Memory-e.m.otherBytes()-extra) // the memory without lines
	}
	count, err := s.Plan(edgesOf(e.lines.parts))
	if err == nil {
		err = e.m.makeRoom(extra + s.Bytes())
	}
	if s.Limit > 0 {
		s.Limit = max(1, e.m.left()-extra)
	}
	return count, err
}

// isDirected reports whether the store will be directed: the settings decide, or else the direction that
// files state. To decide whether a matrix with entries in both directions is symmetric, it sorts the matrix
// once.
func (e *edgeSorter) isDirected(stated graphfile.Direction) (bool, error) {
	switch {
	case e.c.Directed || e.c.Undirected:
		return e.c.Directed, nil
	case !e.hasBothDirections():
		skew := e.names.matrix != nil && e.names.matrix.symmetry == graphfile.Skew
		return skew || stated == graphfile.Directed, nil
	}
	s := e.sorter(sort.Undirected)
	s.Merge.Symmetric = true
	if _, err := e.planSort(s, 0); err != nil {
		return false, err
	}
	err := s.Each(func(*sort.Rows) error { return nil })
	if errors.Is(err, sort.ErrAsymmetric) {
		return true, nil
	}
	return false, e.explain(err)
}

func (e *edgeSorter) addsDirections() bool {
	return e.c.Duplicates == DefaultDuplicates && e.hasAmounts() &&
		e.t.report.Events && e.names.matrix == nil
}

func (e *edgeSorter) hasAmounts() bool {
	return e.lines.weighted && !e.c.Unweighted
}

func (e *edgeSorter) hasBothDirections() bool {
	return e.names.matrix != nil && e.names.matrix.symmetry == graphfile.General
}
