package textio

import (
	"fmt"
	"runtime/debug"

	"github.com/heatwalk/heatwalk/file/input"
)

// Error is [input.Error].
type Error = input.Error

// ErrInput is [input.ErrInput].
var ErrInput = input.ErrInput

// Fault is [input.Fault].
func Fault(file string, line int64, fix, format string, args ...any) *Error {
	return input.Fault(file, line, fix, format, args...)
}

// Directory returns the error about a directory in place of a file.
func Directory(path string) *Error {
	return &Error{File: path, Msg: "a directory", Fix: "list its files", Err: ErrInput}
}

// Panic wraps a panic in a goroutine of this package. The goroutine of the caller panics with it.
type Panic struct {
	Value any    // value of the original panic
	Stack []byte // stack of the goroutine that panicked
}

// Error returns the value without the stack, which is for developers.
func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// caught converts the recovered value r to a Panic.
func caught(r any) *Panic {
	if p, ok := r.(*Panic); ok {
		return p
	}
	return &Panic{Value: r, Stack: debug.Stack()}
}
