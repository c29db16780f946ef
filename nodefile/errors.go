package nodefile

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/internal/textio"
)

// ParseError is something wrong with the content of a file, or with the choice of it
// ([ErrInput]). Of the place, what is known is set; Line and Column count from 1.
type ParseError struct {
	File   string
	Line   int64
	Column int
	Byte   int64  // offset in the text, from 0; set instead of Line where that tells more
	AtByte bool   // whether Byte is set
	Msg    string // what is wrong
	Fix    string // the way out; may be empty
	Err    error  // what it wraps; may be nil
}

// Error returns file, place, fault and way out in one line.
func (e *ParseError) Error() string {
	text := e.Msg
	if e.File != "" {
		text = e.place() + ": " + text
	}
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// place returns file:line:column, file:line, file@byte or the file alone.
func (e *ParseError) place() string {
	switch {
	case e.AtByte:
		return fmt.Sprintf("%s@%d", e.File, e.Byte)
	case e.Line > 0 && e.Column > 0:
		return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	case e.Line > 0:
		return fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return e.File
}

// Unwrap returns Err.
func (e *ParseError) Unwrap() error { return e.Err }

// ErrInput is wrapped by a [*ParseError] about a wrong choice of inputs or options, found
// before any data was used. Its File is the input or the option, or "".
var ErrInput = errors.New("nodefile: a wrong choice of inputs")

// Translate turns an error of reading a file into one of this package; what is none
// stays as it is.
func Translate(path string, err error) error {
	var text *textio.Error
	switch {
	case errors.As(err, new(*ParseError)):
	case errors.As(err, &text):
		return &ParseError{
			File: cmp.Or(text.File, path), Line: text.Line, Column: text.Column, Byte: text.Byte, AtByte: text.AtByte,
			Msg: text.What, Fix: text.Fix, Err: text.Err,
		}
	case errors.Is(err, textio.ErrDirectory):
		return &ParseError{File: path, Msg: "a directory", Fix: "list its files", Err: ErrInput}
	case errors.Is(err, textio.ErrTerminal):
		return &ParseError{Msg: "waiting for input on a terminal", Fix: "give a file or pipe", Err: ErrInput}
	}
	return err
}
