package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// The exit codes. Scripts decide by them; they never change.
const (
	exitDone        = 0
	exitMachine     = 1   // disk, permission, no convergence
	exitUsage       = 2   // wrong usage, or a parameter outside its range; nothing was written
	exitData        = 3   // the input data is wrong
	exitStore       = 4   // the store is damaged, incomplete or of another format
	exitLimit       = 5   // would not fit the memory or disk limit
	exitInterrupted = 130 // SIGINT or SIGTERM
)

var (
	errInterrupted = errors.New("interrupted")
	errReaderGone  = errors.New("the reader of stdout is gone")
)

// problem is one thing that is wrong with the command line.
type problem struct {
	place string // the flag or argument
	what  string // WHAT; WHAT TO DO
}

// usageError is all that is wrong with the command line.
type usageError struct {
	problems []problem
}

func (e *usageError) Error() string {
	lines := make([]string, len(e.problems))
	for i, p := range e.problems {
		lines[i] = p.place + ": " + p.what
	}
	return strings.Join(lines, "\n")
}

// dataError is wrong input data that no parser has a type for.
type dataError struct {
	place string
	what  string
}

func (e *dataError) Error() string { return e.place + ": " + e.what }

// machineError is a failure of the machine with a place and, perhaps, a way
// out.
type machineError struct {
	place string
	what  string
	err   error
}

func (e *machineError) Error() string { return e.place + ": " + e.what }

func (e *machineError) Unwrap() error { return e.err }

// limitError tells that a plan does not fit a limit.
type limitError struct {
	flag string
	what string
}

func (e *limitError) Error() string { return e.flag + ": " + e.what }

// exitCode maps every error to its exit code.
func exitCode(err error) int {
	var (
		usage *usageError
		data  *dataError
		limit *limitError
	)
	switch {
	case err == nil, errors.Is(err, errReaderGone):
		return exitDone
	case errors.Is(err, context.Canceled), errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &data):
		return exitData
	case errors.As(err, &limit):
		return exitLimit
	}
	return exitMachine
}

// report is an error as fields, the form it has with --json.
type report struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Byte    int64  `json:"byte,omitempty"`
	Flag    string `json:"flag,omitempty"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// fail prints err, if there is one to print, and returns the exit code.
func (in *invocation) fail(err error) int {
	code := exitCode(err)
	if code == exitDone {
		return code
	}
	in.progress.close()
	if code == exitInterrupted {
		err = errors.New("interrupted after " + formatSeconds(time.Since(in.started)))
		if in.doing != "" {
			err = fmt.Errorf("%w; %s", err, in.doing)
		}
	}
	var usage *usageError
	if errors.As(err, &usage) {
		for _, p := range usage.problems {
			in.printError(p.place+": "+p.what, report{Flag: p.place, Code: code}, p.what)
		}
		return code
	}
	r := report{Code: code}
	in.printError(err.Error(), r, err.Error())
	return code
}

// printError writes one line: the text, or the fields of r with message and
// hint taken from what.
func (in *invocation) printError(text string, r report, what string) {
	if !in.json && in.logFormat != "json" {
		text = strings.ReplaceAll(strings.TrimSpace(text), "\n", " ")
		fmt.Fprintf(in.stderr, "heatwalk: %s\n", text)
		return
	}
	r.Message, r.Hint, _ = strings.Cut(what, "; ")
	enc := json.NewEncoder(in.stderr)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(r)
}

// warn prints something the user should know that does not stop the run.
func (in *invocation) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	var line strings.Builder
	if in.logFormat == "json" {
		slog.New(slog.NewJSONHandler(&line, nil)).Warn(text)
	} else {
		fmt.Fprintf(&line, "heatwalk: warning: %s\n", text)
	}
	in.progress.print([]byte(line.String()))
}
