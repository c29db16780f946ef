package checkpoint

import (
	"context"
	"encoding/binary"
	"io"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
)

// State writes numbers, or reads them: what lists those of a state once does both.
type State struct {
	to   io.Writer // nil: it reads
	from io.Reader
	err  error
	some [512 * 8]byte
}

// StateTo returns a state that is written, StateFrom one that is read.
func StateTo(w io.Writer) *State   { return &State{to: w} }
func StateFrom(r io.Reader) *State { return &State{from: r} }

// Reads reports whether numbers are read.
func (s *State) Reads() bool { return s.to == nil }

// Err returns the first error. Numbers that were read after it are as they were before.
func (s *State) Err() error { return s.err }

// Fail notes an error, nil for none, unless there was one.
func (s *State) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// Numbers moves numbers, whose count both sides know.
func Numbers[T float32 | float64 | int64](s *State, all []T) {
	for some := range slices.Chunk(all, len(s.some)/8) {
		if s.err != nil {
			return
		}
		n, _ := binary.Encode(s.some[:], binary.LittleEndian, some)
		if !s.Reads() {
			_, s.err = s.to.Write(s.some[:n])
		} else if _, s.err = io.ReadFull(s.from, s.some[:n]); s.err == nil {
			_, _ = binary.Decode(s.some[:n], binary.LittleEndian, some)
		} else if s.err == io.EOF || s.err == io.ErrUnexpectedEOF {
			s.err = errDamaged // numbers are missing in a record that is whole
		}
	}
}

// Float moves numbers one by one.
func (s *State) Float(all ...*float64) {
	for _, v := range all {
		one := []float64{*v}
		Numbers(s, one)
		*v = one[0]
	}
}

// Int moves integers.
func (s *State) Int(all ...*int) {
	for _, v := range all {
		one := []int64{int64(*v)}
		Numbers(s, one)
		*v = int(one[0])
	}
}

// Bool moves a truth value.
func (s *State) Bool(v *bool) {
	var i int
	if *v {
		i = 1
	}
	s.Int(&i)
	*v = i != 0
}

// Rows moves the given rows of a block, nil for all of them, until the context is done.
func Rows[T sparse.Float](ctx context.Context, s *State, b *sparse.Block[T], rows []int) {
	count := b.Rows
	if rows != nil {
		count = len(rows)
	}
	for i := range count {
		if rows != nil {
			i = rows[i]
		}
		s.Fail(ctx.Err())
		Numbers(s, b.Row(i))
	}
}

// List moves numbers with their count, which is not larger than most.
func (s *State) List(v *[]float64, most int) {
	count := len(*v)
	s.Int(&count)
	if count < 0 || count > most {
		s.Fail(errDamaged)
	}
	if s.err != nil {
		return
	}
	if s.Reads() {
		*v = make([]float64, count)
	}
	Numbers(s, *v)
}
