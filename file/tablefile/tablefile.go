package tablefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/sparse"
)

// ErrStream is wrapped by the error of [Inspect] about an input that can be read only once: a pipe, standard input or
// a compressed array.
var ErrStream = fmt.Errorf("tablefile: not a plain file: %w", nodefile.ErrInput)

func streamError(path string) error {
	return &nodefile.ParseError{File: path,
		Msg: "cannot be read several times, as this command requires",
		Fix: "give a plain file", Err: ErrStream}
}

// Options holds the settings of [Inspect]; nil means the zero value.
type Options struct {
	Name      string                                // file name for messages and for the format; "": the path
	ZeroBased bool                                  // indices of LIBSVM text count from 0
	Columns   int                                   // columns of LIBSVM features; 0: the largest index
	Shared    bool                                  // text that is not LIBSVM's is a table or Matrix Market
	Text      input.Text                            // form of the text of a table
	Memory    int64                                 // limit of a panel of rows, in bytes; 0: 64 MiB
	Progress  func(stage string, done, total int64) // called with the bytes read and the size of the file (0: unknown); may be nil
	Stdin     io.Reader                             // content of the path "-"; nil: os.Stdin

	// Copy returns the path of a temporary file for a decompressed copy of input that can be read only once. If it is
	// nil, such input is an error.
	Copy func() (string, error)
}

// File describes a file with a matrix, as [Inspect] found it.
type File struct {
	Name       string
	Format     *Format
	Rows, Cols int
	Kernel     bool // the matrix is a precomputed kernel
	Labelled   bool // every row has a label
	InOrder    bool // the serial numbers of a LIBSVM kernel are 1, 2, 3 …
	Single     bool // float32 holds the type of the elements

	// Held is the approximate memory of [Read] in bytes, without a row.
	Held int64

	path      string
	o         Options
	first     int // number of the first column, 0 or 1
	longest   int
	byColumns bool
	isInteger bool
	sparse    bool     // an archive holds a sparse matrix in CSR form
	cols      []string // titles of the columns of a table
	held      int64    // bytes of the elements that Matrix Market keeps in memory
}

const fetchAgain = "fetch the file again"

func open(ctx context.Context, path string) (*textio.Reader, error) {
	if textio.IsStream(path) {
		return nil, streamError(path)
	}
	return textio.Open(ctx, path, &textio.Options{Any: true})
}

func (f *File) rowBytes(element int64) int64 {
	return f.Held + element*int64(f.Cols)
}

// Inspect determines the format, the shape and the type of the matrix in a file. The error wraps [ErrStream] if the
// input can be read only once and Options.Copy is nil. Cost: LIBSVM text is read to the end, other formats up to the
// header.
func Inspect(ctx context.Context, path string, o *Options) (*File, error) {
	o = cmp.Or(o, &Options{})
	f, err := inspect(ctx, path, o)
	if !errors.Is(err, ErrStream) || o.Copy == nil {
		return f, err
	}
	plain, err := o.Copy()
	if err != nil {
		return nil, err
	}
	named := *o
	named.Name = cmp.Or(o.Name, path)
	if named.Name == "-" {
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

func inspect(ctx context.Context, path string, o *Options) (*File, error) {
	f := &File{path: path, o: *o, Name: cmp.Or(o.Name, path)}
	in, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	head := in.Peek(headBytes)
	f.Format = formatOf(f.Name, head)
	switch {
	case f.Format != nil:
	case o.Shared:
		f.Format = sharedFormat(f.Name, head)
	default:
		f.Format = LIBSVM // its errors fit any text
	}
	if file, _ := in.File(); !f.Format.Text && file == nil {
		if len(head) == 0 {
			return nil, textio.Fault(f.Name, 0, fetchAgain, "empty file")
		}
		return nil, streamError(f.Name)
	}
	if err = f.Format.inspect(f, in); err != nil {
		return nil, err
	}
	f.Held = 1<<20 + panelBytes(f) + 2*int64(f.longest) + f.held
	if !f.Format.Text {
		f.Held += 16 * int64(f.Cols) // a row as stored, and as float64
	}
	return f, nil
}

// Read calls visit with every row, in order, and its label, or nil if the format has no labels. Both slices are valid
// during the call. A value that overflows T is an error.
func Read[T sparse.Float](ctx context.Context, f *File,
	visit func(label []byte, row []T) error) error {
	in, err := open(ctx, f.path)
	if err != nil {
		return err
	}
	defer in.Close()
	err = rowsOf[T](f.Format).read(ctx, in, f, visit)
	return cmp.Or(in.CheckUnchanged(), err)
}

type progressReader struct {
	io.Reader
	f  *File
	in *textio.Reader
}

func (r progressReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.f.progress(r.in)
	return n, err
}

func (f *File) progress(in *textio.Reader) {
	if f.o.Progress != nil {
		done, total := in.Progress()
		f.o.Progress("reading "+f.Name, done, total)
	}
}
