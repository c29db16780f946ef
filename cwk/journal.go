package cwk

import (
	"context"
	"fmt"
	"io"

	"github.com/heatwalk/heatwalk/internal/checkpoint"
	"github.com/heatwalk/heatwalk/sparse"
)

// journal is what is kept of a walk for picks: of each slab of columns, after some of its
// steps, what the picks have of the steps since the ones before, and the walk itself.
type journal[T sparse.Float] struct {
	name  string // of the picks
	dst   *sparse.Block[T]
	from  int
	picks []Pick
	slot  []int // by variant, its number in the walker
	count []int // by that, picks
}

// record calls what is kept of a slab after step t, where kept is the step before.
func (j *journal[T]) record(lo, hi, kept, t int) string {
	return fmt.Sprintf("walk %s columns %d-%d steps %d-%d", j.name, lo, hi, kept, t)
}

// firstStep returns the first step to keep behind one that was kept, of which 0 stands for the
// beginning.
func (j *journal[T]) firstStep(kept int) int {
	if kept == 0 {
		return j.from
	}
	return max(kept+1, j.from)
}

// classesOf returns the classes a ≤ c < b of a variant, given its number in the walker, that
// are columns of a slab.
func classesOf(slot, classes, lo, hi int) (a, b int) {
	return max(0, lo-slot*classes), min(classes, hi-slot*classes)
}

// move moves what the picks have in the columns of a slab, at the steps behind the one
// that was kept up to t, until the context is done.
func (j *journal[T]) move(ctx context.Context, s *checkpoint.State, classes, lo, hi, kept, t int) {
	first := j.firstStep(kept)
	for i, pick := range j.picks {
		a, b := classesOf(j.slot[pick.Variant], classes, lo, hi)
		row, count, width := j.dst.Row(i), t+1-first, b-a
		if width == classes { // one after the other
			count, width = min(count, 1), width*count
		}
		s.Fail(ctx.Err())
		for step := range count {
			at := (first+step-j.from)*classes + a
			if a >= b {
				break
			}
			checkpoint.Numbers(s, row[at:at+width])
		}
	}
}

// keep has what there is of a slab after step t kept, if that pays.
func (j *journal[T]) keep(ctx context.Context, k *walker[T], lo, hi, kept, t int, p *sparse.Block[T]) bool {
	if j == nil || k.w.Keep == nil {
		return false
	}
	classes, values := k.w.classes(), 0
	for slot, count := range j.count {
		a, b := classesOf(slot, classes, lo, hi)
		values += count * max(0, b-a) * max(0, t+1-j.firstStep(kept))
	}
	if t < k.w.Steps {
		values += p.Rows * p.Cols
	}
	return k.w.Keep(j.record(lo, hi, kept, t), int64(values)*size[T](), func(w io.Writer) error {
		s := checkpoint.StateTo(w)
		j.move(ctx, s, classes, lo, hi, kept, t)
		if t < k.w.Steps {
			checkpoint.Rows(ctx, s, p, nil)
		}
		return s.Err()
	})
}

// recall stores in p what was kept of the walk of a slab, and takes up what the picks have
// of it. It returns the step, 0 where nothing was kept.
func (j *journal[T]) recall(ctx context.Context, k *walker[T], lo, hi int, p *sparse.Block[T]) (done int, err error) {
	if j == nil {
		return 0, nil
	}
	var last *checkpoint.State
	for t := 1; t <= k.w.Steps; t++ {
		record := k.w.kept(j.record(lo, hi, done, t))
		if record == nil {
			continue
		}
		last = checkpoint.StateFrom(record)
		if j.move(ctx, last, k.w.classes(), lo, hi, done, t); last.Err() != nil {
			return 0, last.Err()
		}
		done = t
	}
	if done > 0 && done < k.w.Steps {
		checkpoint.Rows(ctx, last, p, nil)
		err = last.Err()
	}
	return done, err
}

// batchName calls picks of rows, in the walks of Gram with those of its columns in front of
// the first ones.
func batchName(lo, hi int) string { return fmt.Sprintf("%d-%d", lo, hi) }

// panelName calls rows of a Gram block.
func panelName(lo, hi int) string { return fmt.Sprintf("panel %d-%d", lo, hi) }

// kept returns what was kept by a name, nil for nothing.
func (w *Walk[T]) kept(name string) io.Reader {
	if w.Recall == nil {
		return nil
	}
	return w.Recall(name)
}

// keptPanels reports whether all panels of so many rows from lo on were kept, which have
// most rows each.
func (w *Walk[T]) keptPanels(lo, rows, most int) bool {
	for i := 0; i < rows; i += most {
		if w.kept(panelName(lo+i, lo+min(i+most, rows))) == nil {
			return false
		}
	}
	return true
}

// once has compute fill a panel, or takes what was kept of it by that name.
func (w *Walk[T]) once(ctx context.Context, name string, panel *sparse.Block[T], compute func() error) error {
	if record := w.kept(name); record != nil {
		s := checkpoint.StateFrom(record)
		checkpoint.Rows(ctx, s, panel, nil)
		return s.Err()
	}
	err := compute()
	if err == nil && w.Keep != nil {
		w.Keep(name, int64(panel.Rows)*int64(panel.Cols)*size[T](), func(to io.Writer) error {
			s := checkpoint.StateTo(to)
			checkpoint.Rows(ctx, s, panel, nil)
			return s.Err()
		})
	}
	return err
}
