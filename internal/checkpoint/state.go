package checkpoint

import (
	"encoding/binary"
	"io"
	"math"
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

// Fail notes an error of what was read, unless there was one.
func (s *State) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// move writes bytes, or reads so many.
func (s *State) move(p []byte) bool {
	if s.err != nil {
		return false
	}
	if s.to != nil {
		_, s.err = s.to.Write(p)
	} else if _, s.err = io.ReadFull(s.from, p); s.err == io.EOF || s.err == io.ErrUnexpectedEOF {
		s.err = errDamaged // numbers are missing in a record that is whole
	}
	return s.err == nil
}

// Float moves a number.
func (s *State) Float(v *float64) {
	one := []float64{*v}
	s.Floats(one)
	*v = one[0]
}

// Int moves an integer.
func (s *State) Int(v *int) {
	binary.LittleEndian.PutUint64(s.some[:], uint64(*v))
	if s.move(s.some[:8]) {
		*v = int(binary.LittleEndian.Uint64(s.some[:]))
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

// Floats moves numbers, whose count both sides know.
func (s *State) Floats(all []float64) {
	for len(all) > 0 {
		v := all[:min(len(all), len(s.some)/8)]
		all = all[len(v):]
		for i, x := range v {
			binary.LittleEndian.PutUint64(s.some[8*i:], math.Float64bits(x))
		}
		if !s.move(s.some[:8*len(v)]) {
			return
		}
		for i := range v { // which has the same bits if it was written
			v[i] = math.Float64frombits(binary.LittleEndian.Uint64(s.some[8*i:]))
		}
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
	s.Floats(*v)
}
