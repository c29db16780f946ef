package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Exit codes never change, because scripts depend on them.
const (
	Done          = 0
	MachineFailed = 1 // disk, permission, no convergence
	WrongUsage    = 2 // wrong usage, a path that does not exist, or a parameter outside its range; nothing was written
	WrongData     = 3
	DamagedStore  = 4   // the store is damaged, incomplete or of another format
	OverLimit     = 5   // exceeds the memory or disk limit
	Interrupted   = 130 // SIGINT, SIGTERM or SIGHUP
)

var (
	ErrInterrupted = errors.New("interrupted")
	ErrReaderGone  = errors.New("the reader of stdout is gone")
)

type Problem struct {
	Place string
	What  string // PROBLEM; REMEDY
}

type usageError struct{ problems []Problem }

func (e *usageError) Error() string {
	lines := make([]string, len(e.problems))
	for i, p := range e.problems {
		lines[i] = p.Place + ": " + p.What
	}
	return strings.Join(lines, "\n")
}

func UsageError(place, format string, args ...any) error {
	return UsageErrors([]Problem{{place, fmt.Sprintf(format, args...)}})
}

func UsageErrors(problems []Problem) error {
	return &usageError{problems}
}

// PlacedError is an error at a place, for example a file or a flag, with the exit code of the program.
type PlacedError struct {
	Place, What string
	code        int
	err         error // wrapped error of the machine; may be nil
}

func (e *PlacedError) Error() string { return e.Place + ": " + e.What }

func (e *PlacedError) Unwrap() error { return e.err }

func DataError(place, format string, args ...any) error {
	return &PlacedError{Place: place, What: fmt.Sprintf(format, args...),
		code: WrongData}
}

func LimitError(place, format string, args ...any) error {
	return &PlacedError{Place: place, What: fmt.Sprintf(format, args...),
		code: OverLimit}
}

// MachineError wraps an error of the machine. The message may contain a remedy.
func MachineError(err error, place, format string, args ...any) error {
	return &PlacedError{Place: place, What: fmt.Sprintf(format, args...),
		code: MachineFailed, err: err}
}

// Crash is a panic of this program, as an error.
type Crash struct {
	value any
	rows  string // the rows in work as " in rows lo–hi", if they are known
	Stack []byte
}

// NewCrash converts the recovered value r to an error.
func NewCrash(r any) *Crash {
	c := &Crash{value: r, Stack: debug.Stack()}
	if p, ok := c.value.(*sched.Panic); ok {
		c.value = p.Value
		c.Stack = p.Stack
		if p.Hi > 0 {
			c.rows = fmt.Sprintf(" in rows %d–%d", p.Lo, p.Hi-1)
		}
	}
	return c
}

func (c *Crash) Error() string {
	return fmt.Sprintf("internal error%s: %v; please report it with this command line and the output of --debug", c.rows, c.value)
}

// exitCodes lists the codes of the kinds of errors; the first match determines the code.
var exitCodes = []struct {
	code int
	is   []error
	as   []any // pointers to error types
}{
	{code: Done, is: []error{ErrReaderGone}},
	{code: Interrupted, is: []error{context.Canceled, ErrInterrupted}},
	{code: WrongUsage, is: []error{shard.ErrExists, cwk.ErrInvalid, choose.ErrUsage, method.ErrGrid, problem.ErrDirected,
		kernel.ErrTolerance, kernel.ErrAsymmetric, tablefile.ErrRange, nodefile.ErrInput},
		as: []any{new(*usageError), new(*param.ParameterError)}},
	{code: OverLimit, is: []error{budget.ErrMemory},
		as: []any{new(*ingest.LimitError)}},
	{code: DamagedStore, is: []error{shard.ErrCorrupt, shard.ErrIncomplete,
		shard.ErrNotStore, shard.ErrVersion, shard.ErrChanged}},
	{code: WrongData, is: []error{problem.ErrNoLabels, problem.ErrOneClass, graph.ErrWeight},
		as: []any{new(*nodefile.ParseError), new(*json.UnsupportedValueError)}},
	// A path that does not exist is not a failure of the machine, because repeating the command does
	// not help.
	{code: WrongUsage, is: []error{fs.ErrNotExist}},
}

func ExitCode(err error) int {
	if err == nil {
		return Done
	}
	for _, c := range exitCodes {
		for _, target := range c.is {
			if errors.Is(err, target) {
				return c.code
			}
		}
		for _, target := range c.as { // errors.As writes into its target
			if errors.As(err, reflect.New(reflect.TypeOf(target).Elem()).Interface()) {
				return c.code
			}
		}
	}
	placed := new(PlacedError)
	if errors.As(err, &placed) {
		return placed.code
	}
	return MachineFailed
}
