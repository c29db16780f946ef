package kernel

import (
	"bufio"
	"context"
	"encoding/gob"
	"io"

	"github.com/heatwalk/heatwalk/internal/checkpoint"
	"github.com/heatwalk/heatwalk/sparse"
)

// recalled reads what was kept of a part of the computation into head and into the given
// rows of y, nil for all of them. It returns false where nothing was kept.
func (s *Settings) recalled(ctx context.Context, name string, head any, y *sparse.Block[float64], rows []int) (bool, error) {
	if s.Recall == nil {
		return false, nil
	}
	record := s.Recall(name)
	if record == nil {
		return false, nil
	}
	from := bufio.NewReader(record)
	if err := gob.NewDecoder(from).Decode(head); err != nil {
		return false, err
	}
	state := checkpoint.StateFrom(from)
	checkpoint.Rows(ctx, state, y, rows)
	return state.Err() == nil, state.Err()
}

// keep has head and the given rows of y kept for a part of the computation, if that pays.
func (s *Settings) keep(ctx context.Context, name string, head any, y *sparse.Block[float64], rows []int) {
	if s.Keep == nil {
		return
	}
	count := y.Rows
	if rows != nil {
		count = len(rows)
	}
	s.Keep(name, 8*int64(count)*int64(y.Cols), func(w io.Writer) error {
		if err := gob.NewEncoder(w).Encode(head); err != nil {
			return err
		}
		state := checkpoint.StateTo(w)
		checkpoint.Rows(ctx, state, y, rows)
		return state.Err()
	})
}

// outcome is what a slab leaves in a computation beside its values.
type outcome struct {
	Attempts  []attempt
	Effort    float64
	Size      float64 // of the largest value, or of the largest column of K^½
	Worst     float64 // bound of a column
	Condition string
}

// attempt is what an engine has done for a slab.
type attempt struct {
	Sweeps int
	Method string
}

// once computes a slab with compute, which fills the given rows of y, nil for all of them,
// or takes it from what an earlier run kept.
func (c *computation) once(ctx context.Context, name string, y *sparse.Block[float64], rows []int, compute func() (outcome, error)) (outcome, error) {
	var o outcome
	known, err := c.s.recalled(ctx, name, &o, y, rows)
	if err != nil {
		return o, err
	}
	if known {
		for _, a := range o.Attempts {
			c.note(a.Sweeps, a.Method)
		}
		c.effort = o.Effort
		c.finished(o.Condition)
		return o, nil
	}
	c.attempts = nil
	if o, err = compute(); err == nil {
		o.Attempts, o.Effort = c.attempts, c.effort
		c.s.keep(ctx, name, &o, y, rows)
	}
	return o, err
}
