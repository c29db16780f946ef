package cwk

import "slices"

// Needs is what a method of a walk takes, known before it runs.
type Needs struct {
	Bytes    int64 // allocated at the most at a time, the result included
	Sweeps   int   // over all entries
	RowBytes int   // between the rows of its widest block
}

// CollectNeeds returns what [Walk.Collect] and [Walk.Features] take. The error
// is theirs where Memory is too little.
func (w *Walk[T]) CollectNeeds(from int, picks []Pick) (Needs, error) {
	if err := w.validate(from); err != nil {
		return Needs{}, err
	}
	k := w.walkerOf(picks)
	taken := w.PickedBytes(from, len(picks))
	cols, err := w.slab(k.columns(), taken)
	if err != nil {
		return Needs{}, err
	}
	return Needs{taken + k.slabsBytes(cols), k.sweepsAt(cols), k.rowBytes(cols)}, nil
}

// GramNeeds returns what [Walk.Gram] takes. The error is its where Memory is
// too little.
func (w *Walk[T]) GramNeeds(from int, rows, cols []Pick) (Needs, error) {
	if err := w.validate(from); err != nil {
		return Needs{}, err
	}
	k := w.walkerOf(rows, cols)
	plan, err := w.planGram(k.columns(), from, len(rows), len(cols), slices.Equal(rows, cols))
	if err != nil {
		return Needs{}, err
	}
	held := w.PickedBytes(from, len(cols)+plan.rows)
	panel := int64(plan.panel) * int64(len(cols)) * size[T]()
	return Needs{
		Bytes:    held + panel + k.slabsBytes(plan.slab),
		Sweeps:   plan.walks(len(rows)) * k.sweepsAt(plan.slab),
		RowBytes: k.rowBytes(plan.slab),
	}, nil
}

// ScoresNeeds returns what [Walk.Scores] takes for so many functions. The error
// is its where Memory is too little.
func (w *Walk[T]) ScoresNeeds(functions int) (Needs, error) {
	if err := w.Validate(); err != nil {
		return Needs{}, err
	}
	s, at, err := w.scoreSlabs(functions)
	if err != nil {
		return Needs{}, err
	}
	return Needs{
		Bytes:    8*int64(len(w.Degrees))*int64(at) + s.walkBytes(),
		Sweeps:   (functions + at - 1) / at * s.sweeps(),
		RowBytes: s.rowBytes(),
	}, nil
}

// ScoresToNeeds returns what [Walk.ScoresTo] takes beside dst.
func (w *Walk[T]) ScoresToNeeds() (Needs, error) {
	if err := w.Validate(); err != nil {
		return Needs{}, err
	}
	s, err := w.scorer(0)
	if err != nil {
		return Needs{}, err
	}
	return Needs{s.walkBytes(), s.sweeps(), s.rowBytes()}, nil
}

// slabsBytes is what a walk takes in which blocks of so many columns fit into
// memory.
func (k *walker[T]) slabsBytes(fits int) int64 {
	width, lanes := k.layout(fits)
	return k.w.vectorBytes() + int64(lanes)*k.w.blockBytes(min(width, k.columns()))
}

// rowBytes is the distance between rows of the blocks of such a walk.
func (k *walker[T]) rowBytes(fits int) int {
	width, _ := k.layout(fits)
	return strideOf[T](min(width, k.columns()), false) * int(size[T]())
}

// rowBytes is the distance between rows of the scorer's blocks.
func (s *scorer[T]) rowBytes() int { return strideOf[T](s.cols, s.lane.packed) * int(size[T]()) }
