package textio

import (
	"fmt"
	"runtime/debug"

	"github.com/heatwalk/heatwalk/input"
)

// Error is [input.Error].
type Error = input.Error

// ErrInput is [input.ErrInput].
var ErrInput = input.ErrInput

// Fault is [input.Fault].
func Fault(file string, line int64, fix, format string, args ...any) *Error {
	return input.Fault(file, line, fix, format, args...)
}

// Directory is the error of a path that is one where a file is wanted.
func Directory(path string) *Error {
	return &Error{File: path, Msg: "a directory", Fix: "list its files", Err: ErrInput}
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
