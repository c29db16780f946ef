package textio

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Error is something wrong with the content of a file. What is known of the place is
// set, the rest is zero.
type Error struct {
	File   string // the name of the input, or of an array in it; "": that which is being read
	Line   int64  // from 1
	Column int    // from 1
	Byte   int64  // offset in the text, from 0, if AtByte
	AtByte bool
	What   string // what is wrong
	Fix    string // the way out
	Err    error  // what it wraps; may be nil
}

// Error returns place, fault and way out in one line.
func (e *Error) Error() string {
	place := e.File
	switch {
	case e.Line > 0:
		place = fmt.Sprintf("%s:%d", e.File, e.Line)
	case e.AtByte:
		place = fmt.Sprintf("%s@%d", e.File, e.Byte)
	}
	if e.Fix == "" {
		return place + ": " + e.What
	}
	return place + ": " + e.What + "; " + e.Fix
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Panic is what a panic in one of this package's goroutines becomes: the caller
// panics with it.
type Panic struct {
	Value any    // what the goroutine panicked with
	Stack []byte // where
}

// Error returns the value alone; the stack is for developers.
func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// caught returns r, what a goroutine recovered, as a Panic.
func caught(r any) *Panic {
	if p, ok := r.(*Panic); ok {
		return p
	}
	return &Panic{Value: r, Stack: debug.Stack()}
}

// Faults of the way in which an input was named, not of its text.
var (
	ErrDirectory = errors.New("textio: a directory where a file is wanted")
	ErrTerminal  = errors.New("textio: standard input is a terminal")
)
