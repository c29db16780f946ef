package textio

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/input"
)

// Options holds the settings of [Open]; nil means the zero value.
type Options struct {
	Stdin io.Reader   // read for the path "-"; nil: os.Stdin
	Warn  func(error) // called with each warning about the input; may be nil
	Any   bool        // open files that are no text too

	Text input.Text // how text is read

	Window       int64  // largest window of a zstd stream in bytes; 0: DefaultWindow, or less where memory is limited
	WindowOption string // the name of the setting for it, for messages; "" if there is none
}

// Reader is one opened input. Its methods are not safe for concurrent use,
// [Reader.Progress] and [Reader.Window] apart.
type Reader struct {
	name    string
	text    io.Reader   // decompressed
	closers []func()    // called in this order: the file is closed first, so that its reader ends
	stop    func() bool // ends the watch over the context
	ctx     context.Context
	file    *os.File    // nil for standard input
	opened  os.FileInfo // of a regular file, as it was when it was opened; or else nil

	done       atomic.Int64 // bytes read from the input as it is stored
	total      int64        // its size; 0 if not known
	compressed bool         // whether it is compressed
	inflater   *pump        // decompresses it; nil if it is not compressed
	window     atomic.Int64 // the largest that a zstd frame has asked for
	limit      int64        // of windows
	option     string       // name of the setting of the limit

	given   input.Text // settings of text
	checked bool       // whether it is known to be text
	decoded bool       // whether it is converted on the way

	carry    []byte // the start of a line whose end has not been read
	lines    int64  // lines delivered
	offset   int64  // bytes of text delivered
	head     *Chunk // read ahead by Head
	index    int    // chunks delivered
	started  bool
	finished bool
}

// Open opens a file, or standard input for "-". The context ends a read that
// waits for data. The error is an [*Error] for text that cannot be read, what is
// [Unfinished], a [Directory] and a terminal, or what the file system says.
// A goroutine reads standard input; it ends at the latest when a read that waits
// returns. One opens a pipe, and ends at the latest when somebody writes to it.
// Another one decompresses, three pieces of 128 KiB ahead at most, and has ended
// when [Reader.Close] returns.
func Open(ctx context.Context, path string, o *Options) (*Reader, error) {
	if o == nil {
		o = &Options{}
	}
	r := &Reader{name: path, ctx: ctx, limit: cmp.Or(o.Window, defaultWindow()), option: o.WindowOption, given: o.Text}
	if option, fault := o.Text.Check(); option != "" {
		return nil, &Error{Option: option, Msg: fault, Err: ErrInput}
	}
	var raw io.Reader
	if path == "-" {
		r.name = "stdin"
		in := o.Stdin
		if in == nil {
			in = os.Stdin
		}
		if f, ok := in.(*os.File); ok && terminal(f) {
			return nil, &Error{Msg: "waiting for input on a terminal", Fix: "give a file or pipe", Err: ErrInput}
		}
		p := newPump(ctx, in, 1, nil)
		r.closers = append(r.closers, p.stop)
		raw = p
	} else {
		f, err := OpenFile(ctx, path)
		if err != nil {
			return nil, err
		}
		if unfinished := Unfinished(path); unfinished != nil {
			f.Close()
			return nil, unfinished
		}
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			err = Directory(path)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		if info.Mode().IsRegular() {
			r.total, r.opened = info.Size(), info
		}
		r.closers = append(r.closers, func() { f.Close() })
		r.stop = context.AfterFunc(ctx, func() { f.Close() })
		raw, r.file = f, f
	}
	err := r.decompress(raw)
	if err == nil && !o.Any {
		err = r.CheckText()
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	if !r.compressed && o.Warn != nil {
		for _, suffix := range []string{".gz", ".zst", ".bgz"} {
			if strings.HasSuffix(strings.ToLower(path), suffix) {
				o.Warn(&Error{File: r.name, Msg: "not compressed; read as text"})
			}
		}
	}
	return r, nil
}

// OpenFile is [os.Open] that waits for somebody to write to a pipe until the context ends,
// and no longer.
func OpenFile(ctx context.Context, path string) (*os.File, error) {
	if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return os.Open(path)
	}
	type result struct {
		f   *os.File
		err error
	}
	opened := make(chan result)
	go func() {
		f, err := os.Open(path)
		select {
		case opened <- result{f, err}:
		case <-ctx.Done(): // the caller has returned
			if err == nil {
				f.Close()
			}
		}
	}()
	select {
	case r := <-opened:
		return r.f, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ReadFile is [os.ReadFile] of a small file that waits at a pipe until the context ends, and
// no longer. A file of more than limit bytes is an error.
func ReadFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	f, err := OpenFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil && int64(len(text)) > limit {
		return nil, &Error{File: path, Msg: fmt.Sprintf("more than %s, too much for a file of this kind", binarySize(limit))}
	}
	return text, err
}

// Unfinished returns the error of a file that a run of heatwalk was replacing, together with
// others, when it was stopped; nil for any other file. Package durable marks such a file with
// a second one.
func Unfinished(path string) *Error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil // opening it returns a better error
	}
	mark := real + ".unfinished"
	if _, err := os.Lstat(mark); err != nil {
		return nil
	}
	return &Error{
		File: path,
		Msg:  "a run was stopped while it replaced this file and those that belong to it",
		Fix:  "repeat that run, or remove " + mark + " if they are of one run all the same",
	}
}

// Compressed reports whether the input is decompressed on the way.
func (r *Reader) Compressed() bool { return r.compressed }

// Window returns how many bytes of memory a zstd stream has asked for so far to
// decompress it, 0 for any other input. It may be called at any time, and grows
// where a later frame asks for more.
func (r *Reader) Window() int64 { return r.window.Load() }

// Name returns the name of the input for messages: its path, or "stdin".
func (r *Reader) Name() string { return r.name }

// Progress returns how many bytes of the stored file have been read and its
// size, 0 if that is not known. It may be called at any time.
func (r *Reader) Progress() (done, total int64) {
	done = r.done.Load()
	if r.total > 0 {
		done = min(done, r.total) // a file read at any place is read twice in part
	}
	return done, r.total
}

// Unchanged returns an error if the file has another size or time than when it was
// opened: what was read may be some of both contents. The end of the text is not
// delivered without asking; whoever reads it by File asks in the end.
func (r *Reader) Unchanged() error {
	if r.opened == nil {
		return nil
	}
	if r.ctx.Err() != nil { // the file is closed then
		return context.Cause(r.ctx)
	}
	now, err := r.file.Stat()
	if err != nil {
		return err
	}
	if now.Size() == r.opened.Size() && now.ModTime().Equal(r.opened.ModTime()) {
		return nil
	}
	return &Error{File: r.name, Msg: "the file has changed while it was read", Fix: "read it when nobody writes it"}
}

// Close releases the file and waits until the goroutine that decompresses it has ended. No
// read may be in progress.
func (r *Reader) Close() {
	if r.stop != nil {
		r.stop()
	}
	for _, release := range r.closers {
		release()
	}
	r.closers = nil
}

// Growth returns how many bytes of text come of each byte of a compressed input, as far as
// it has been handed over; 1 for any other, and before the first.
func (r *Reader) Growth() float64 {
	if r.inflater == nil || r.inflater.taken == 0 {
		return 1
	}
	return float64(r.inflater.given) / float64(r.inflater.taken)
}

// counter counts the bytes that pass.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// foreign are files that start like this and are no text.
var foreign = []struct{ magic, what, fix string }{
	{"PK\x03\x04", "zip archive", "unpack it first"},
	{"\xfd7zXZ\x00", "xz-compressed", "decompress it with xz -d, or use gzip or zstd"},
	{"BZh", "bzip2-compressed", "decompress it with bzip2 -d, or use gzip or zstd"},
	{"\x04\x22\x4d\x18", "lz4-compressed", "decompress it with lz4 -d, or use gzip or zstd"},
	{"PAR1", "Parquet file", "write it as tab-separated text"},
	{"\x93NUMPY", "NumPy array", "write it as tab-separated text"},
	{"\x89HDF", "HDF5 file", "write it as tab-separated text"},
	{"%PDF", "PDF document", "give a text file"},
	{"<?xml", "XML file", "write it as tab-separated text, a graph as GraphML"},
	{"<!DOCT", "HTML page", "fetch the file that it speaks of"},
	{"<html", "HTML page", "fetch the file that it speaks of"},
	{"\x1f\x9d", "file compressed by compress", "decompress it with uncompress, or use gzip or zstd"},
}

// decompress looks at the first bytes of raw and sets r.text.
func (r *Reader) decompress(raw io.Reader) error {
	in := bufio.NewReaderSize(counter{raw, &r.done}, 64<<10)
	head, err := in.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return r.fault(err)
	}
	var inflated io.Reader
	release := func() {}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		r.compressed = true
		inflated, err = newMembers(in)
	case isZstd(head):
		r.compressed = true
		inflated, release, err = newZstd(&frames{in: in, window: &r.window}, r.limit)
	default:
		r.text = in
		return nil
	}
	if err != nil {
		return r.fault(err)
	}
	p := newPump(r.ctx, inflated, pieceBytes, func() int64 { return r.done.Load() - int64(in.Buffered()) })
	r.inflater = p
	r.closers = append(r.closers, func() {
		p.stop()
		<-p.ended
		release()
	})
	text := bufio.NewReaderSize(p, 64<<10)
	if _, err = text.Peek(6); err != nil && !errors.Is(err, io.EOF) {
		return r.fault(err)
	}
	r.text = text
	return nil
}

// terminal reports whether f is a character device other than the null
// device.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
