package kernel

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/gob"
	"io"

	"github.com/heatwalk/heatwalk/sparse"
)

// recalled reads what was kept of a part of the computation into head and into the given
// rows of y, nil for all of them, if there is a y. It returns false where nothing was kept.
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
	err := eachRow(ctx, y, rows, func(row []float64) error { return binary.Read(from, binary.LittleEndian, row) })
	return err == nil, err
}

// keep has head and the given rows of y kept for a part of the computation, if that pays.
func (s *Settings) keep(ctx context.Context, name string, head any, y *sparse.Block[float64], rows []int) {
	if s.Keep == nil {
		return
	}
	bytes := int64(0)
	_ = eachRow(ctx, y, rows, func(row []float64) error {
		bytes += 8 * int64(len(row))
		return nil
	})
	s.Keep(name, bytes, func(w io.Writer) error {
		if err := gob.NewEncoder(w).Encode(head); err != nil {
			return err
		}
		return eachRow(ctx, y, rows, func(row []float64) error { return binary.Write(w, binary.LittleEndian, row) })
	})
}

// eachRow gives do the given rows of y, nil for all of them, until the context is done. A nil
// y has none.
func eachRow(ctx context.Context, y *sparse.Block[float64], rows []int, do func(row []float64) error) error {
	if y == nil {
		return nil
	}
	count := y.Rows
	if rows != nil {
		count = len(rows)
	}
	for i := range count {
		if rows != nil {
			i = rows[i]
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := do(y.Row(i)); err != nil {
			return err
		}
	}
	return nil
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
			c.note(&applied{sweeps: a.Sweeps, method: a.Method})
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
