package tablefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
)

// ErrStream is wrapped by the error of [Inspect] for an input that can only be read once: a
// pipe, standard input or a compressed array.
var ErrStream = fmt.Errorf("tablefile: not a plain file: %w", nodefile.ErrInput)

// streamed returns [ErrStream] of a file.
func streamed(path string) error {
	return &nodefile.ParseError{File: path, Msg: "can be read once, and is read several times", Fix: "give a plain file", Err: ErrStream}
}

// Options holds the settings of [Inspect]; nil means the zero value.
type Options struct {
	Name      string                                // of the file for messages and by its ending; "": the path
	ZeroBased bool                                  // indices of LIBSVM's text count from 0
	Columns   int                                   // of LIBSVM's features; 0: up to the largest index
	Memory    int64                                 // bytes that panels of rows may take; 0: 64 MiB
	Progress  func(stage string, done, total int64) // called with the bytes read and those of the file, 0 if unknown; may be nil
	Stdin     io.Reader                             // read for the path "-"; nil: os.Stdin

	// Copy names a file to which what can only be read once is copied, decompressed; nil:
	// that is an error.
	Copy func() (string, error)
}

// File is a file of features whose shape is known.
type File struct {
	Name       string
	Format     *Format
	Rows, Cols int
	Kernel     bool // a precomputed kernel
	Labelled   bool // every row has a label
	InOrder    bool // of LIBSVM's kernels: the serial numbers are 1, 2, 3 …
	Single     bool // float32 holds every element, by its type

	// Held is the approximate memory of [Read], without the elements of a row.
	Held int64

	path      string
	o         Options
	first     int  // the number of the first column
	byColumns bool // of an array: how it is stored
	whole     bool // of an array: it holds integers
	sparse    bool // of an archive: a sparse matrix by rows
}

const fetchAgain = "fetch the file again"

// isStream reports whether a file can be read once: stdin, a pipe or a device.
func isStream(path string) bool {
	info, err := os.Stat(path)
	return path == "-" || err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// open opens a plain file.
func open(ctx context.Context, path string) (*textio.Reader, error) {
	if isStream(path) {
		return nil, streamed(path)
	}
	return textio.Open(ctx, path, &textio.Options{Any: true})
}

// rowBytes returns the memory of [Read] for one row with elements of the given size.
func (f *File) rowBytes(element int64) int64 { return f.Held + element*int64(f.Cols) }

// Inspect finds out what the matrix in a file is like. The error wraps [ErrStream] for what
// can only be read once, unless Options.Copy makes a file of it. Cost: LIBSVM's text is
// read once, else a header.
func Inspect(ctx context.Context, path string, o *Options) (*File, error) {
	if o == nil {
		o = &Options{}
	}
	f, err := inspect(ctx, path, o)
	if !errors.Is(err, ErrStream) || o.Copy == nil {
		return f, err
	}
	plain, err := o.Copy()
	if err != nil {
		return nil, err
	}
	named := *o
	if named.Name = cmp.Or(o.Name, path); named.Name == "-" {
		named.Name = "stdin"
	}
	in, err := textio.Open(ctx, path, &textio.Options{Stdin: o.Stdin, Any: true})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	w, err := durable.OS.Create(plain)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(w, in.Content())
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return inspect(ctx, plain, &named)
}

// inspect is Inspect for a plain file.
func inspect(ctx context.Context, path string, o *Options) (*File, error) {
	f := &File{path: path, o: *o, Name: cmp.Or(o.Name, path)}
	in, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	head := in.Peek(headBytes)
	f.Format = cmp.Or(formatOf(f.Name, head), LIBSVM) // whose errors suit other text
	if file, _ := in.File(); !f.Format.Text && file == nil {
		if len(head) == 0 {
			return nil, &nodefile.ParseError{File: f.Name, Msg: "empty file", Fix: fetchAgain}
		}
		return nil, streamed(f.Name)
	}
	if err = f.Format.inspect(f, in); err != nil {
		return nil, err
	}
	f.Held = 1<<20 + f.panelBytes()
	if !f.Format.Text {
		f.Held += 16 * int64(f.Cols) // elements as they are stored, and as float64
	}
	return f, nil
}

// Read calls visit with every row in order and its label, nil if rows have
// none. Both are valid during the call. Values of which T holds none that is near
// are an error.
func Read[T sparse.Float](ctx context.Context, f *File, visit func(label []byte, row []T) error) error {
	in, err := open(ctx, f.path)
	if err != nil {
		return err
	}
	defer in.Close()
	err = rowsOf[T](f.Format).read(ctx, in, f, visit)
	return cmp.Or(in.Unchanged(), err)
}

// watched reports the progress with every read.
type watched struct {
	io.Reader
	f  *File
	in *textio.Reader
}

// Read implements [io.Reader].
func (w watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.f.progress(w.in)
	return n, err
}

func (f *File) progress(in *textio.Reader) {
	if f.o.Progress != nil {
		done, total := in.Progress()
		f.o.Progress("reading "+f.Name, done, total)
	}
}
