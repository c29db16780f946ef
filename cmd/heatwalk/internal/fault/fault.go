// Package fault gives every error its exit code, and takes it apart into lines
// PLACE: WHAT; WHAT TO DO.
package fault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/checkpoint"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
	"github.com/heatwalk/heatwalk/validate"
)

// The exit codes. Scripts decide by them; they never change.
const (
	Done          = 0
	MachineFailed = 1   // disk, permission, no convergence
	WrongUsage    = 2   // wrong usage, a path that does not exist, or a parameter outside its range; nothing was written
	WrongData     = 3   // the input data is wrong
	DamagedStore  = 4   // the store is damaged, incomplete or of another format
	OverLimit     = 5   // would not fit the memory or disk limit
	Interrupted   = 130 // SIGINT, SIGTERM or SIGHUP
)

// What ends a run that did nothing wrong.
var (
	ErrInterrupted = errors.New("interrupted")
	ErrReaderGone  = errors.New("the reader of stdout is gone")
)

// Problem is one thing that is wrong with the command line.
type Problem struct {
	Place string // the flag or argument
	What  string // WHAT; WHAT TO DO
}

// usageError is all that is wrong with the command line.
type usageError struct{ problems []Problem }

// Error implements error.
func (e *usageError) Error() string {
	lines := make([]string, len(e.problems))
	for i, p := range e.problems {
		lines[i] = p.Place + ": " + p.What
	}
	return strings.Join(lines, "\n")
}

// Usage returns the error of one flag or argument.
func Usage(place, format string, args ...any) error {
	return UsageOf([]Problem{{place, fmt.Sprintf(format, args...)}})
}

// UsageOf returns the error of all that is wrong with a command line.
func UsageOf(problems []Problem) error { return &usageError{problems} }

// Placed is an error with a place, and its exit code.
type Placed struct {
	Place, What string
	code        int
	err         error // of the machine; nil for none
}

// Error implements error.
func (e *Placed) Error() string { return e.Place + ": " + e.What }

// Unwrap returns the error of the machine.
func (e *Placed) Unwrap() error { return e.err }

// Data returns the error of input data for which no parser has a type.
func Data(place, format string, args ...any) error {
	return &Placed{Place: place, What: fmt.Sprintf(format, args...), code: WrongData}
}

// Limit returns the error of a plan that does not fit a limit.
func Limit(place, format string, args ...any) error {
	return &Placed{Place: place, What: fmt.Sprintf(format, args...), code: OverLimit}
}

// Machine gives an error of the machine a place and, perhaps, a way out.
func Machine(err error, place, format string, args ...any) error {
	return &Placed{Place: place, What: fmt.Sprintf(format, args...), code: MachineFailed, err: err}
}

// Crash is a panic, an error of this program.
type Crash struct {
	value any
	rows  string // the rows that were worked on, as " in rows lo–hi", if they are known
	Stack []byte
}

// CrashOf returns what was recovered as an error.
func CrashOf(r any) *Crash {
	c := &Crash{value: r, Stack: debug.Stack()}
	if p, ok := c.value.(*sched.Panic); ok {
		c.value, c.Stack = p.Value, p.Stack
		if p.Hi > 0 {
			c.rows = fmt.Sprintf(" in rows %d–%d", p.Lo, p.Hi-1)
		}
	}
	if p, ok := c.value.(*textio.Panic); ok {
		c.value, c.Stack = p.Value, p.Stack
	}
	return c
}

// Error implements error.
func (c *Crash) Error() string {
	return fmt.Sprintf("internal error%s: %v; please report it with this command line and what it prints with --debug", c.rows, c.value)
}

// exitCodes gives the code of each kind of error, the first that matches.
var exitCodes = []struct {
	code int
	is   []error
	as   []any // pointers to error types
}{
	{code: Done, is: []error{ErrReaderGone}},
	{code: Interrupted, is: []error{context.Canceled, ErrInterrupted}},
	{code: WrongUsage, is: []error{shard.ErrExists, cwk.ErrInvalid, validate.ErrUsage, method.ErrGrid, problem.ErrDirected,
		kernel.ErrTolerance, kernel.ErrAsymmetric, tablefile.ErrRange, nodefile.ErrInput},
		as: []any{new(*usageError), new(*spec.ParameterError)}},
	{code: OverLimit, is: []error{budget.ErrMemory, iterative.ErrMemory},
		as: []any{new(*ingest.LimitError)}},
	{code: DamagedStore, is: []error{shard.ErrCorrupt, shard.ErrIncomplete, shard.ErrNotStore, shard.ErrVersion, shard.ErrChanged}},
	{code: WrongData, is: []error{problem.ErrNoLabels, problem.ErrOneClass, graph.ErrWeight, graph.ErrScale},
		as: []any{new(*nodefile.ParseError)}},
	// A path that does not exist: repeating the command cannot help, as it may after a
	// failure of the machine.
	{code: WrongUsage, is: []error{fs.ErrNotExist}},
}

// Code maps every error to its exit code.
func Code(err error) int {
	if err == nil {
		return Done
	}
	for _, c := range exitCodes {
		for _, target := range c.is {
			if errors.Is(err, target) {
				return c.code
			}
		}
		for _, target := range c.as {
			if errors.As(err, target) {
				return c.code
			}
		}
	}
	placed := new(Placed)
	if errors.As(err, &placed) {
		return placed.code
	}
	return MachineFailed
}

// Resumed returns err with a remedy for --resume if it is about a journal.
func Resumed(err error) error {
	wrong, journal := new(checkpoint.Error), new(evaluate.FileError)
	if errors.As(err, &journal) {
		wrong.Path, wrong.What, wrong.Damaged = journal.Path, journal.What, journal.Damaged
	} else if !errors.As(err, &wrong) {
		return err
	}
	switch {
	case wrong.Damaged:
		return Data(wrong.Path, "%s; leave out --resume to begin again", wrong.What)
	default:
		return Usage("--resume", "%s %s; give what it had, or leave out --resume to begin again", wrong.Path, wrong.What)
	}
}
