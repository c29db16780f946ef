package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/internal/words"
)

// output is stdout. It keeps the first error, because most functions that print cannot return it.
type output struct {
	w        io.Writer
	Err      error
	progress *Display // display on the same terminal; may be nil
}

func (o *output) Write(p []byte) (int, error) {
	if o.Err != nil {
		return 0, o.Err
	}
	if o.progress != nil && o.progress.Above(p) {
		return len(p), nil
	}
	n, err := o.w.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		err = ErrReaderGone
	}
	o.Err = err
	return n, err
}

// WaitForLoss waits until nobody reads stdout any more, and returns true. It returns false at once if the
// system cannot report the loss; then a later Write fails.
func (o *output) WaitForLoss() bool {
	f, isFile := o.w.(*os.File)
	return isFile && waitForLoss(f)
}

// printReport writes one line on stderr.
func (console *Console) printReport(r ErrorReport) {
	if !console.JSON && console.LogFormat != "json" {
		fmt.Fprintf(console.Stderr, "%s: %s\n%s", console.name,
			input.Escape(r.Text), r.Stack)
		return
	}
	r.Time = time.Now().UTC()
	r.Level = slog.LevelError.String()
	enc := json.NewEncoder(console.Stderr)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(r) // an error cannot be reported
}

// WarnOfError prints a warning of a library; the warning about a file system without locks is
// printed once.
func (console *Console) WarnOfError(w error) {
	warn := func() { console.Warn("%s", ErrorText(w)) }
	if errors.Is(w, durable.ErrNoLocks) {
		console.locks.Do(warn)
	} else {
		warn()
	}
}

func (console *Console) Warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	console.warning.Lock()
	console.warnings = append(console.warnings, text)
	console.warning.Unlock()
	console.printLine(slog.LevelWarn, "warning: ", text)
}

func (console *Console) printLine(level slog.Level, prefix, text string) {
	var line bytes.Buffer
	if console.LogFormat == "json" {
		slog.New(slog.NewJSONHandler(&line, nil)).Log(context.Background(), level, text)
	} else {
		fmt.Fprintf(&line, "heatwalk: %s%s\n", prefix, input.Escape(text))
	}
	console.progress.Print(line.Bytes())
}

// NoteColumns prints which columns of a table are used, so that the user notices a wrong choice. It prints
// nothing for a single column.
func (console *Console) NoteColumns(name string, columns input.Columns) {
	if len(columns) > 1 {
		console.Note(input.Escape(name) + ": " + columns.String())
	}
}

// Note prints how an input is read.
func (console *Console) Note(text string) {
	if !console.quiet && !console.JSON {
		console.printLine(slog.LevelInfo, "", text)
	}
}

// Closing holds the last keys of every JSON document.
type Closing struct {
	Seconds         float64 `json:"seconds"`
	PeakMemoryBytes int64   `json:"peak_memory_bytes"`

	Warnings []string `json:"warnings,omitempty"`
}

// CloseRun returns the last keys of the JSON document of a run that ends now.
func (console *Console) CloseRun() Closing {
	console.warning.Lock()
	defer console.warning.Unlock()
	return Closing{Seconds: time.Since(console.Started).Seconds(),
		PeakMemoryBytes: system.PeakMemory(), Warnings: slices.Clone(console.warnings)}
}

type document interface{ closeWith(c Closing) }

func (c *Closing) closeWith(now Closing) { *c = now }

type joinedDocument struct {
	parts []any
	Closing
}

// JoinDocuments returns a document with the keys of all parts, which are pointers to structs.
func JoinDocuments(parts ...any) *joinedDocument { return &joinedDocument{parts: parts} }

func (d *joinedDocument) MarshalJSON() ([]byte, error) {
	var keys [][]byte
	for _, document := range append(d.parts, &d.Closing) {
		text, err := report.Encode(document)
		if err != nil {
			return nil, err
		}
		text = bytes.TrimSpace(text)
		if text[0] == '{' { // not null
			keys = append(keys, text[1:len(text)-1])
		}
	}
	return slices.Concat([]byte("{"), bytes.Join(keys, []byte(",")), []byte("}")), nil
}

// PrintResult prints the result of a command that wrote the given outputs: v with --json, else the summary
// that text writes.
func (console *Console) PrintResult(v document, text func(w io.Writer),
	outputs ...string) error {
	if console.JSON {
		v.closeWith(console.CloseRun())
		return console.PrintDocument(v)
	}
	text(console.summary(outputs...))
	return console.Stdout.Err
}

// PrintDocument prints v as the one JSON document on stdout.
func (console *Console) PrintDocument(v any) error {
	console.progress.Close()
	return encodeDocument(console.Stdout, v)
}

func encodeDocument(w io.Writer, v any) error {
	text, err := report.Encode(v)
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	if err := json.Indent(&lines, text, "", "  "); err != nil {
		return err
	}
	_, err = lines.WriteTo(w)
	return err
}

// summary returns the writer of the closing summary: stderr if stdout carries an output, otherwise stdout.
// With --quiet or --json the writer discards the summary.
func (console *Console) summary(outputs ...string) io.Writer {
	console.progress.Close()
	if console.quiet || console.JSON {
		return io.Discard
	}
	if slices.Contains(outputs, "-") {
		return Escaped(console.Stderr)
	}
	return Escaped(console.Stdout)
}

// Escaped returns a writer of text that is safe on a terminal.
func Escaped(w io.Writer) io.Writer { return escapeWriter{w} }

// escapeWriter escapes control characters, which text from files, for example names of classes, may
// contain.
type escapeWriter struct{ w io.Writer }

func (e escapeWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(e.w, input.Escape(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Cost returns, for example, "24.1 s, peak 412 MB", or "" with --quiet.
func (console *Console) Cost() string {
	if console.quiet {
		return ""
	}
	return fmt.Sprintf("%s, peak %s", words.Seconds(time.Since(console.Started)),
		words.Bytes(system.PeakMemory()))
}

// PrintSheet prints a line for each pair of a title and a text. Titles have the width columns. Pairs
// without text are left out.
func PrintSheet(w io.Writer, columns int, lines [][2]string) {
	for _, line := range lines {
		if line[1] != "" {
			fmt.Fprintf(w, "%-*s %s\n", columns, line[0], line[1])
		}
	}
}
