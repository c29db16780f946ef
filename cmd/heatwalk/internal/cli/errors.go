package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
	"github.com/heatwalk/heatwalk/validate"
)

// The exit codes. Scripts decide by them; they never change.
const (
	exitDone        = 0
	exitMachine     = 1   // disk, permission, no convergence
	exitUsage       = 2   // wrong usage, or a parameter outside its range; nothing was written
	exitData        = 3   // the input data is wrong
	exitStore       = 4   // the store is damaged, incomplete or of another format
	exitLimit       = 5   // would not fit the memory or disk limit
	exitInterrupted = 130 // SIGINT, SIGTERM or SIGHUP
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

// Error implements error.
func (e *usageError) Error() string {
	lines := make([]string, len(e.problems))
	for i, p := range e.problems {
		lines[i] = p.place + ": " + p.what
	}
	return strings.Join(lines, "\n")
}

// usageOf returns a usageError about one flag.
func usageOf(place, format string, args ...any) error {
	return &usageError{[]problem{{place, fmt.Sprintf(format, args...)}}}
}

// dataError is wrong input data that no parser has a type for.
type dataError struct {
	place string
	what  string
}

// Error implements error.
func (e *dataError) Error() string { return e.place + ": " + e.what }

// machineError is a failure of the machine with a place and, perhaps, a way
// out.
type machineError struct {
	place string
	what  string
	err   error
}

// Error implements error.
func (e *machineError) Error() string { return e.place + ": " + e.what }

// Unwrap returns the error of the machine.
func (e *machineError) Unwrap() error { return e.err }

// limitError tells that a plan does not fit a limit.
type limitError struct {
	flag string
	what string
}

// Error implements error.
func (e *limitError) Error() string { return e.flag + ": " + e.what }

// crash is a panic, an error of this program.
type crash struct {
	value any
	rows  string // that were worked on, " in rows lo–hi", if known
	stack []byte
}

// crashOf returns what was recovered as an error.
func crashOf(r any) *crash {
	c := &crash{value: r, stack: debug.Stack()}
	if p, ok := c.value.(*sched.Panic); ok {
		c.value, c.stack = p.Value, p.Stack
		if p.Hi > 0 {
			c.rows = fmt.Sprintf(" in rows %d–%d", p.Lo, p.Hi-1)
		}
	}
	if p, ok := c.value.(*textio.Panic); ok {
		c.value, c.stack = p.Value, p.Stack
	}
	return c
}

// Error implements error.
func (c *crash) Error() string {
	return fmt.Sprintf("internal error%s: %v; please report it with this command line and what it prints with --debug", c.rows, c.value)
}

// exitCodes gives the code of each kind of error, the first that matches.
var exitCodes = []struct {
	code int
	is   []error
	as   []any // pointers to error types
}{
	{code: exitDone, is: []error{errReaderGone}},
	{code: exitInterrupted, is: []error{context.Canceled, errInterrupted}},
	{code: exitUsage, is: []error{shard.ErrExists, cwk.ErrInvalid, validate.ErrUsage, method.ErrGrid,
		spec.ErrParameter, kernel.ErrTolerance, kernel.ErrAsymmetric},
		as: []any{new(*usageError), new(*nodefile.InputError), new(*tablefile.RangeError)}},
	{code: exitLimit, is: []error{budget.ErrOver, cwk.ErrMemory, iterative.ErrMemory, lanczos.ErrMemory},
		as: []any{new(*limitError), new(*ingest.MemoryError), new(*ingest.DiskError)}},
	{code: exitStore, is: []error{shard.ErrCorrupt, shard.ErrIncomplete, shard.ErrNotStore, shard.ErrVersion, shard.ErrChanged}},
	{code: exitData, is: []error{method.ErrNoLabels, method.ErrOneClass, graph.ErrWeight},
		as: []any{new(*dataError), new(*nodefile.ParseError), new(*graph.ScaleError)}},
}

// exitCode maps every error to its exit code.
func exitCode(err error) int {
	if err == nil {
		return exitDone
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
	return exitMachine
}

// report is an error as fields, the form it has with --json.
type report struct {
	File    string `json:"file,omitempty"`
	Line    int64  `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Byte    *int64 `json:"byte,omitempty"`
	Flag    string `json:"flag,omitempty"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Stack   string `json:"stack,omitempty"` // of an internal error, with --debug

	text string // the line without --json
}

// reports takes an error apart into lines.
func reports(err error) []report {
	var (
		usage    *usageError
		many     *ingest.BadLines
		parse    *nodefile.ParseError
		corrupt  *shard.CorruptError
		file     *fs.PathError
		declared *spec.ParameterError
		scale    *graph.ScaleError
		large    *tablefile.RangeError
	)
	switch {
	case errors.As(err, &usage):
		var list []report
		for _, p := range usage.problems {
			r := textReport(p.place + ": " + p.what)
			r.Flag = p.place
			r.Message, r.Hint, _ = strings.Cut(p.what, "; ")
			list = append(list, r)
		}
		return list
	case errors.As(err, &declared):
		return []report{flagReport(declared.Parameter, declared.What)}
	case errors.As(err, &large):
		return []report{flagReport("dtype", large.Error()+"; give --dtype float64")}
	case errors.As(err, &scale):
		return []report{textReport("edge weights: " + scale.What())}
	case errors.As(err, &many):
		var list []report
		for _, p := range many.First {
			list = append(list, parseReport(p))
		}
		if lines := strings.Split(many.Error(), "\n"); len(lines) > len(list) {
			list = append(list, textReport(lines[len(lines)-1]))
		}
		return list
	case errors.As(err, &parse):
		return []report{parseReport(parse)}
	case errors.As(err, &corrupt):
		r := textReport(corrupt.Error())
		r.File = corrupt.Path
		r.Message, r.Hint, _ = strings.Cut(corrupt.What, "; ")
		if corrupt.Offset >= 0 {
			r.Byte = &corrupt.Offset
		}
		return []report{r}
	case errors.As(err, &file):
		return []report{fileReport(err, file)}
	}
	return []report{textReport(err.Error())}
}

// flagReport makes a report of a parameter that does not fit the graph or the labels.
func flagReport(name, what string) report {
	r := textReport("--" + name + ": " + what)
	r.Flag = "--" + name
	r.Message, r.Hint, _ = strings.Cut(what, "; ")
	return r
}

// fileReport makes a report of err, which file is the cause of.
func fileReport(err error, file *fs.PathError) report {
	path, hint := durable.Final(file.Path), ""
	text := strings.ReplaceAll(err.Error(), file.Path, path)
	bare := err.Error() == file.Error()
	switch {
	case errors.Is(err, durable.ErrFull):
		dir := filepath.Dir(path)
		for parent := filepath.Dir(dir); !isDir(dir) && parent != dir; parent = filepath.Dir(dir) {
			dir = parent // what was made for this run is gone
		}
		hint = "; make room, or write to another disk"
		if _, ours := durable.InTempDir(path); ours {
			hint = "; make room, or name another disk with --temp-dir"
		}
		if free, err := durable.OS.Free(dir); err == nil {
			hint = " (" + words.Bytes(free) + " are free)" + hint
		}
	case errors.Is(err, syscall.EFBIG):
		hint = "; allow larger files with ulimit -f, or write to another disk"
	case errors.Is(err, syscall.EMFILE):
		hint = "; allow more with ulimit -n"
	case errors.Is(err, fs.ErrNotExist) && bare && file.Op == "mkdir":
		text, hint = "create "+path+": there is no directory "+filepath.Dir(path), "; make it first"
	case errors.Is(err, fs.ErrNotExist) && bare:
		text, hint = path+": "+file.Err.Error(), "; check the path"
	case errors.Is(err, fs.ErrPermission) && file.Op == "open" && bare:
		text, hint = path+": "+file.Err.Error(), "; check who may read it"
	}
	r := textReport(text + hint)
	r.File = path
	r.Message = strings.TrimPrefix(r.Message, path+": ")
	return r
}

// textReport makes a report of a line WHAT; WHAT TO DO.
func textReport(text string) report {
	r := report{text: strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")}
	r.Message, r.Hint, _ = strings.Cut(r.text, "; ")
	return r
}

func parseReport(p *nodefile.ParseError) report {
	r := report{text: p.Error(), File: p.File, Line: p.Line, Column: p.Column, Message: p.Msg, Hint: p.Fix}
	if p.AtByte {
		r.Byte = &p.Byte
	}
	return r
}

// fail prints err, if there is one to print, and returns the exit code.
func (in *invocation) fail(err error) int {
	code := exitCode(err)
	if code == exitDone {
		return code
	}
	in.progress.Close()
	switch code {
	case exitInterrupted:
		err = in.interruption()
	case exitLimit:
		err = in.overLimit(err)
	}
	for _, r := range reports(err) {
		r.Code = code
		for _, text := range []*string{&r.text, &r.Flag, &r.Message, &r.Hint} {
			*text = withFlags(*text)
		}
		if c := new(crash); in.debug && errors.As(err, &c) {
			r.Stack = string(c.stack)
		}
		in.printReport(r)
	}
	return code
}

// overLimit says what --max-memory would have to be, if err is about it.
func (in *invocation) overLimit(err error) error {
	var (
		plan  *overError
		over  *budget.OverError
		walk  *cwk.MemoryError
		edges *ingest.MemoryError
		disk  *ingest.DiskError
		what  string
		short int64
	)
	switch {
	case errors.As(err, &over):
		// The limit may be that of a part.
		what, short = over.Largest.What, 2*(over.Need-over.Limit)
	case errors.As(err, &walk):
		what, short = "the narrowest walk", walk.Need-walk.Limit
	case errors.As(err, &edges):
		what, short = "the edges", edges.Need-edges.Limit
	case errors.As(err, &disk):
		if parent, ours := durable.InTempDir(disk.Dir); ours {
			return &limitError{parent, fmt.Sprintf("temporary files may need %s, %s are free; make room, or name another disk with --temp-dir",
				words.Bytes(disk.Need), words.Bytes(disk.Free))}
		}
		return fmt.Errorf("%s: %s may need %s, %s are free; %s", disk.Dir, disk.What, words.Bytes(disk.Need), words.Bytes(disk.Free), disk.Fix)
	default:
		return err
	}
	enough := in.memory + max(short, in.memory/8)
	if errors.As(err, &plan) && plan.enough > 0 {
		enough = plan.enough
	}
	need := words.Bytes(enough + enough/100) // its figures are rounded
	otherwise := ""
	if edges != nil && edges.Unordered {
		otherwise = ", or pass --order none"
	}
	switch {
	case in.limitedBy == system.AddressLimit && in.memory != in.maxMemory:
		return &limitError{system.AddressLimit, fmt.Sprintf("it leaves %s, too little for %s, which takes %s or more; raise it by %s%s",
			words.Bytes(in.memory), what, need, words.Bytes(enough-in.memory+enough/10), otherwise)}
	case in.maxMemory == 0:
		return &limitError{"memory", fmt.Sprintf("this machine has too little for %s; it takes %s or more%s", what, need, otherwise)}
	}
	return &limitError{"--max-memory", fmt.Sprintf("%s is too little for %s; allow %s or more%s", words.Bytes(in.memory), what, need, otherwise)}
}

// interruption tells how far the run had come and what it left as it was.
func (in *invocation) interruption() error {
	reached := in.reached
	if reached == "" {
		reached = words.Seconds(time.Since(in.started))
	}
	if in.doing == "" {
		return fmt.Errorf("interrupted after %s", reached)
	}
	return fmt.Errorf("interrupted after %s; %s", reached, in.doing)
}

// printReport writes one line on stderr.
func (in *invocation) printReport(r report) {
	if !in.json && in.logFormat != "json" {
		fmt.Fprintf(in.stderr, "heatwalk: %s\n%s", r.text, r.Stack)
		return
	}
	enc := json.NewEncoder(in.stderr)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(r) // there is nowhere left to report to
}

// warn prints something the user should know that does not stop the run.
func (in *invocation) warn(format string, args ...any) {
	text := withFlags(fmt.Sprintf(format, args...))
	in.warning.Lock()
	in.warnings = append(in.warnings, text)
	in.warning.Unlock()
	var line strings.Builder
	if in.logFormat == "json" {
		slog.New(slog.NewJSONHandler(&line, nil)).Warn(text)
	} else {
		fmt.Fprintf(&line, "heatwalk: warning: %s\n", text)
	}
	in.progress.Print([]byte(line.String()))
}
