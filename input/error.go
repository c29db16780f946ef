package input

import (
	"errors"
	"fmt"
	"strings"
)

// Error is a fault in the content of a file, or in the choice of it or of a setting
// ([ErrInput]). The place is set as far as it is known. Packages that read files call it
// nodefile.ParseError.
type Error struct {
	File   string // the name of the input, or of an array in it
	Option string // the setting at fault, in place of File; its name as in Fix
	Line   int64  // from 1; 0: unknown
	Column int    // from 1, in bytes; 0: unknown
	Byte   int64  // offset in the text, from 0; set instead of Line for what is no line of text
	AtByte bool   // whether Byte is set
	Msg    string // the fault
	Fix    string // the remedy, with settings as {name} or {name=value}, see [Error.Remedy]; may be empty
	Err    error  // the error that this one wraps; may be nil
}

// Fault returns an error on a line of a file, 0 for none. It wraps what %w formats.
func Fault(file string, line int64, fix, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{File: file, Line: line, Msg: err.Error(), Fix: fix, Err: errors.Unwrap(err)}
}

// Error returns place, fault and remedy in one line, which is safe to print because text
// from files is escaped.
func (e *Error) Error() string { return e.Format(namedOption) }

// Format is Error with settings named by option, see [Error.Remedy].
func (e *Error) Format(option func(name, value string) string) string {
	text := e.Msg
	switch {
	case e.Option != "":
		text = option(e.Option, "") + ": " + text
	case e.File == "":
	case e.AtByte:
		text = fmt.Sprintf("%s@%d: %s", e.File, e.Byte, text)
	case e.Line > 0 && e.Column > 0:
		text = fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, text)
	case e.Line > 0:
		text = fmt.Sprintf("%s:%d: %s", e.File, e.Line, text)
	default:
		text = e.File + ": " + text
	}
	if fix := e.Remedy(option); fix != "" {
		text += "; " + fix
	}
	return Escape(text)
}

// namedOption names a setting in the text of an error.
func namedOption(name, value string) string {
	if value != "" {
		name += "=" + value
	}
	return "option " + name
}

// Remedy returns Fix with option(name, value) in place of each {name} and {name=value},
// so that every program names settings as its users set them. Names are lower-case
// words joined by hyphens. Other text in braces stays as it is.
func (e *Error) Remedy(option func(name, value string) string) string {
	var text strings.Builder
	rest := e.Fix
	for {
		before, after, found := strings.Cut(rest, "{")
		inner, behind, closed := strings.Cut(after, "}")
		if !found || !closed {
			text.WriteString(rest)
			return text.String()
		}
		text.WriteString(before)
		name, value, _ := strings.Cut(inner, "=")
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" {
			text.WriteString("{")
			rest = after
			continue
		}
		text.WriteString(option(name, value))
		rest = behind
	}
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// ErrInput is wrapped by an [*Error] about a wrong choice of inputs or options, found
// before any data was used. It has the input as its File, or the setting as its Option.
var ErrInput = errors.New("input: wrong choice of inputs or options")
