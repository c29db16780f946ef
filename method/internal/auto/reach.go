package auto

import (
	"context"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

const (
	// Walks are lengthened up to mostWalkSteps while they reach few nodes.
	mostWalkSteps = 64 * walkSteps

	// With at most fewNeighbours entries in the mean row, as on roads and meshes, walks reach nodes slowly, and their steps are
	// counted before they are made.
	fewNeighbours = 8

	// If walks miss more than mostOutOfReach of the nodes or labels, label propagation replaces Poisson learning.
	mostOutOfReach = 0.5
)

// walk computes the filters of walks and stores them in f.walks. If walks do not reach most nodes and labels, longer walks replace
// them.
func (f *features) walk(ctx context.Context) (err error) {
	in := f.in
	if f.reached, err = in.p.Reachable(ctx, in.p.Row, in.set.Workers, in.work); err != nil {
		return err
	}
	t := &choose.Task{Problem: in.p, Fold: f.seeds.fold}
	if err := t.FindIsolated(ctx, in.set.Workers, in.work); err != nil {
		return err
	}
	for _, label := range in.places {
		f.isolated = append(f.isolated, t.Isolated[label])
	}
	isLongEnough := sparse.EntriesOf(in.p.A) <= fewNeighbours*int64(in.p.Nodes())
	if isLongEnough {
		if err = f.lengthen(ctx); err != nil {
			return err
		}
	}
	for {
		if f.walks, err = f.seeds.walk(ctx); err != nil {
			return err
		}
		missed := f.missedShare()
		f.labelsOutOfReach = missed > mostOutOfReach
		if isLongEnough || missed <= problem.MostMissed || !f.seeds.canDouble() {
			return nil
		}
		f.walks = nil
		f.seeds.steps *= 2
		if err = f.lengthen(ctx); err != nil {
			return err
		}
		isLongEnough = true
	}
}

// canDouble reports whether walks of twice the steps are allowed.
func (s *seeds) canDouble() bool {
	gathered := int64(s.steps) * sparse.EntriesOf(s.in.p.A) * int64(len(s.cells))
	return gathered <= problem.MissedWork && 2*s.steps <= mostWalkSteps
}

// lengthen doubles the steps until walks reach most nodes and labels, or cost too much. It walks with a column for each fold in
// place of each cell. Cost: a sweep for each step.
func (f *features) lengthen(ctx context.Context) error {
	p, s := f.in.p, f.seeds
	n := len(p.Degrees)
	x := [2]*featureBlock{newBlock(n, f.in.folds), newBlock(n, f.in.folds)}
	sum := newBlock(n, f.in.folds)
	for i, row := range p.Row {
		x[0].Row(row)[s.fold[i]] = s.startAt(row)
		sum.Row(row)[s.fold[i]] = s.startAt(row)
	}
	op := s.walks()[0].op
	for j := 1; ; j++ {
		err := op.StepTo(ctx, x[1], x[0], sparse.Step[float32]{Alpha: 1, Visit: func(rows sparse.Rows) {
			for v := rows.Lo; v < rows.Hi; v++ {
				row := sum.Row(v)
				for i, y := range x[1].Row(v) {
					row[i] += y
				}
			}
		}})
		f.in.work.Sweeps++
		if err != nil {
			return err
		}
		x[0], x[1] = x[1], x[0]
		if j == s.steps {
			reaches := func(v, fold int) bool { // whether walks from the labels outside the fold reach node v
				masses := sum.Row(v)
				missed := 0.0
				if fold >= 0 {
					missed = float64(masses[fold])
				}
				return massOf(masses)-missed > leastMass
			}
			missed := f.missedBy(func(v int) bool { return reaches(v, -1) }, func(i int) bool { return reaches(s.row(i), f.fold[i]) })
			if missed <= problem.MostMissed || !s.canDouble() {
				return nil
			}
			s.steps *= 2
		}
	}
}

// missedShare returns the share of nodes or labels that walks miss, see [features.missedBy].
func (f *features) missedShare() float64 {
	rows := newBlock(storedRows, f.walks.cols)
	first, end := 0, 0 // the rows hold these nodes
	honest := make([]float32, f.walks.cols)
	return f.missedBy(func(v int) bool {
		if v >= end {
			first = v / storedRows * storedRows
			end = min(first+storedRows, len(f.in.p.Degrees))
			f.walks.readRowsTo(blocks.Range(rows, 0, end-first), first)
		}
		return f.isWalkedTo(rows.Row(v - first))
	}, func(i int) bool {
		f.seeds.honestTo(honest, f.walks, i, -1)
		return f.isWalkedTo(honest)
	})
}

// missedBy returns the larger of two shares: the share of reachable nodes that no walk reaches, and the share of learned labels
// that no walk from another label reaches. They differ on a path with labels at equal distances. reaches is called for nodes in
// their order.
func (f *features) missedBy(reaches, reachesLabel func(i int) bool) float64 {
	p := f.in.p
	team := p.Team()
	counts := make([]float64, 2) // reachable nodes, and those that walks miss
	for v := range p.Degrees {
		if !team.Counts(v) || !f.reached.Contains(uint32(v)) {
			continue
		}
		if counts[0]++; p.Degrees[v] > 0 && !reaches(v) {
			counts[1]++
		}
	}
	team.Sum(counts)
	share := counts[1] / max(1, counts[0])
	if choose.TooFew(p.Class) {
		return share
	}
	labels := 0
	missed := 0
	for i, v := range f.in.learned.Row {
		if f.isolated[i] || p.Degrees[v] == 0 {
			continue
		}
		labels++
		if !reachesLabel(i) {
			missed++
		}
	}
	return max(share, float64(missed)/float64(max(1, labels)))
}

func (f *features) isWalkedTo(row []float32) bool {
	k := len(f.in.p.Names)
	return massOf(row[f.in.position(source)*k:][:k]) > leastMass
}
