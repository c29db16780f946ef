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

// Panic wraps a panic in one of this package's goroutines: the caller panics with it.
type Panic struct {
	Value any    // the goroutine's panic value
	Stack []byte // of the goroutine
}

// Error returns the value alone; the stack is for developers.
func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// caught returns the recovered value r as a Panic.
func caught(r any) *Panic {
	if p, ok := r.(*Panic); ok {
		return p
	}
	return &Panic{Value: r, Stack: debug.Stack()}
}
