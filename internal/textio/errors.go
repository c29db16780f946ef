package textio

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Error is something wrong with the text of a file. What is known of the
// place is set, the rest is zero.
type Error struct {
	File string // the name of the input
	Line int64  // 1-based
	Byte int64  // offset in the text, −1 if not known
	What string // what is wrong
	Fix  string // the way out
}

// Error returns place, fault and way out in one line.
func (e *Error) Error() string {
	place := e.File
	switch {
	case e.Line > 0:
		place = fmt.Sprintf("%s:%d", e.File, e.Line)
	case e.Byte >= 0:
		place = fmt.Sprintf("%s@%d", e.File, e.Byte)
	}
	if e.Fix == "" {
		return place + ": " + e.What
	}
	return place + ": " + e.What + "; " + e.Fix
}

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
