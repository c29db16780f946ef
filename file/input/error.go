package input

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// Error is an error in the content of a file, or in the choice of a file or an option (these wrap [ErrInput]).
// Package nodefile exports the type as ParseError.
//
// For example, File "e.tsv", Line 90, Column 7, Msg `weight "nan" is not a number`, Fix "fix the line" and Otherwise
// "pass {skip-bad-lines}" is printed by a command as
//
//	e.tsv:90:7: weight "nan" is not a number; fix the line or pass --skip-bad-lines
type Error struct {
	File   string // file, or array in it
	Option string // wrong option, instead of File
	Line   int64  // counted from 1; 0: unknown
	Column int    // counted from 1, in bytes; 0: unknown
	Byte   int64  // offset from 0, instead of Line, in files without lines
	AtByte bool   // Byte is set
	Msg    string // the problem
	Detail string // columns of a table in question, printed behind Msg; may be empty
	Fix    string // the remedy, with options as {name} or {name=value}, see [Error.Remedy]; may be empty
	Err    error  // wrapped error; may be nil

	Otherwise string  // another remedy, in the form of Fix; may be empty
	Columns   Columns // columns of the table, if they are known
	Repair    *Repair // the command of a shell that Fix names, if there is one whose result can be read; else nil
}

// Repair writes a corrected copy of a file.
type Repair struct {
	Command string                               // the command of a shell, in the form of [Error].Fix
	Apply   func(w io.Writer, r io.Reader) error // does what Command does to the decompressed content
}

// Fault returns an error about a line of a file, or about the file if line is 0. It wraps an error formatted with %w.
func Fault(file string, line int64, fix, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{File: file, Line: line, Msg: err.Error(), Fix: fix,
		Err: errors.Unwrap(err)}
}

// Error returns the place, the problem and the remedy in one line. Text from files is escaped.
func (e *Error) Error() string { return e.Format(namedOption) }

// Format returns the text of Error with options written by option, see [Error.Remedy].
func (e *Error) Format(option func(name, value string) string) string {
	text := e.Problem()
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

// Problem returns Msg and Detail.
func (e *Error) Problem() string {
	if e.Detail == "" {
		return e.Msg
	}
	return e.Msg + ": " + e.Detail
}

func namedOption(name, value string) string {
	if value != "" {
		name += "=" + value
	}
	return "option " + name
}

// Remedy returns Fix, with Otherwise as an alternative. It replaces each {name} and {name=value} by option(name,
// value): for example, {fields=a,b} becomes --fields=a,b in a command. Names are lower-case words joined by hyphens.
// Other text in braces is kept. In shell commands {file} is the file, and {copy} the name of a new file for the
// corrected text.
func (e *Error) Remedy(option func(name, value string) string) string {
	var text strings.Builder
	tail := e.Fix
	if e.Otherwise != "" {
		if strings.Contains(tail, ",") || strings.Contains(tail, " or ") {
			tail += ","
		}
		tail += " or " + e.Otherwise
	}
	for {
		plain, remainder, hasBrace := strings.Cut(tail, "{")
		inner, behind, closed := strings.Cut(remainder, "}")
		if !hasBrace || !closed {
			text.WriteString(tail)
			return text.String()
		}
		text.WriteString(plain)
		name, value, _ := strings.Cut(inner, "=")
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" {
			text.WriteString("{")
			tail = remainder
			continue
		}
		file := e.File
		if file == "" || file == "stdin" {
			file = "FILE"
		}
		switch name {
		case "file":
			text.WriteString(ShellWord(file))
		case "copy":
			text.WriteString(ShellWord("new-" + compressed.ReplaceAllString(filepath.Base(file), "")))
		default:
			text.WriteString(option(name, value))
		}
		tail = behind
	}
}

var compressed = regexp.MustCompile(`(?i)\.(gz|bgz|zst)$`)

// ShellWord returns text as one word of a shell, quoted if needed.
func ShellWord(text string) string {
	isPlain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+=:,@%", r)
	}
	if text != "" && strings.TrimFunc(text, isPlain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// ErrInput is wrapped by an [*Error] about a wrong choice of inputs or options, found before data was read. Its File
// is the input, or its Option is the option.
var ErrInput = errors.New("input: wrong choice of inputs or options")
