package textio

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/sched"
)

// Options holds the settings of [Open]; nil means the zero value.
type Options struct {
	Stdin io.Reader   // content of the path "-"; nil: os.Stdin
	Warn  func(error) // called with warnings; may be nil
	Any   bool        // accept binary files, otherwise an error

	Text input.Text // encoding and separators of text

	Window       int64  // limit of the window of a zstd stream in bytes; 0: DefaultWindow, or less if memory is limited
	WindowOption string // option for Window, for messages; may be ""
}

// Reader is an opened input. Only [Reader.Progress] and [Reader.Window] may be called concurrently.
type Reader struct {
	Compressed bool // the input is compressed; must not be changed

	name    string
	text    io.Reader   // decompressed and decoded content
	closers []func()    // called in order: closing the file first ends goroutines that read it
	stop    func() bool // stops closing the file when the context ends
	ctx     context.Context
	file    *os.File    // nil for standard input
	opened  os.FileInfo // state of a regular file when it was opened, else nil

	stored   tally        // sum of the stored input
	inflated tally        // sum of the decompressed text
	random   atomic.Int64 // bytes read by random access
	total    int64        // bytes of the stored input; 0: unknown
	inflater *pump        // nil if not compressed
	window   atomic.Int64 // largest window declared by a zstd frame
	limit    int64
	option   string

	settings input.Text
	checked  bool
	decoded  bool
	warn     func(error)

	chunks chunker
}

// Open opens a file, or standard input for "-". Cancelling the context ends a read that waits for data. The error is
// an [*Error] for a binary file, an unfinished file, a [Directory] or a terminal, and otherwise the error of the file
// system.
//
// Open may start three goroutines. The first reads standard input and ends when its current read returns. The second
// opens a pipe and ends when another process opens the pipe for writing. The third decompresses at most three pieces
// of 128 KiB ahead, and ends before [Reader.Close] returns.
func Open(ctx context.Context, path string, o *Options) (*Reader, error) {
	o = cmp.Or(o, &Options{})
	r := &Reader{name: path, ctx: ctx, limit: cmp.Or(o.Window, defaultWindow()),
		option: o.WindowOption, settings: o.Text, warn: o.Warn}
	r.chunks.r = r
	if r.warn == nil {
		r.warn = func(error) {}
	}
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
			return nil, &Error{Msg: "waiting for input on a terminal",
				Fix: "give a file or pipe", Err: ErrInput}
		}
		p := newPump(ctx, in, 1, nil)
		r.closers = append(r.closers, p.stop)
		raw = p
	} else {
		f, err := OpenFile(ctx, path)
		if err != nil {
			return nil, err
		}
		if unfinished := CheckFinished(path); unfinished != nil {
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
			r.total = info.Size()
			r.opened = info
		}
		r.closers = append(r.closers, func() { f.Close() })
		r.stop = context.AfterFunc(ctx, func() { f.Close() })
		raw = f
		r.file = f
	}
	err := decompress(r, raw)
	if err == nil && !o.Any {
		err = r.CheckText()
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	if !r.Compressed {
		for _, suffix := range []string{".gz", ".zst", ".bgz"} {
			if strings.HasSuffix(strings.ToLower(path), suffix) {
				r.warn(&Error{File: r.name, Msg: "not compressed; read as text"})
			}
		}
	}
	return r, nil
}

// OpenFile is [os.Open], but stops waiting for the writer of a named pipe when the context ends.
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
		return nil, sched.Cause(ctx)
	}
}

// ReadFile is [os.ReadFile] for files of at most limit bytes; otherwise it returns an error. It stops waiting for the
// writer of a named pipe when the context ends.
func ReadFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	f, err := OpenFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if ctx.Err() != nil {
		return nil, sched.Cause(ctx)
	}
	if err == nil && int64(len(text)) > limit {
		return nil, Fault(path, 0, "", "more than %s, too much for a file of this kind", binarySize(limit))
	}
	return text, err
}

// CheckFinished returns an error if a run of heatwalk was stopped while it replaced this file and files that belong
// to it. The files may then be of different runs. Package durable marks such a file NAME by a file NAME.unfinished.
func CheckFinished(path string) *Error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil // opening returns a better error
	}
	mark := real + ".unfinished"
	if _, err := os.Lstat(mark); err != nil {
		return nil
	}
	return Fault(path, 0, "repeat that run, or remove "+mark+" if you know that all files are of the same run",
		"a run was stopped while it replaced this file and the files that belong to it")
}

// Window returns the largest window, in bytes, that a zstd stream has declared so far, or 0. It may be called at any
// time.
func (r *Reader) Window() int64 { return r.window.Load() }

// Name returns the name of the input for messages: its path, or "stdin".
func (r *Reader) Name() string { return r.name }

// Progress returns the bytes of the stored file that have been read, and the size of the file, or 0 if it is unknown.
// It may be called at any time.
func (r *Reader) Progress() (done, total int64) {
	done = r.stored.bytes.Load() + r.random.Load()
	if r.total > 0 {
		done = min(done, r.total) // random access may repeat parts
	}
	return done, r.total
}

// CheckUnchanged returns an error if the size or the time of the file has changed since it was opened, because the
// text may be a mixture of two contents. Chunks, Lines and Content call it at the end of the text; a caller of
// [Reader.File] must call it after reading.
func (r *Reader) CheckUnchanged() error {
	if r.opened == nil {
		return nil
	}
	now, err := r.file.Stat()
	if r.ctx.Err() != nil { // cancellation closes the file
		return sched.Cause(r.ctx)
	}
	if err != nil {
		return err
	}
	if now.Size() == r.opened.Size() && now.ModTime().Equal(r.opened.ModTime()) {
		return nil
	}
	return Fault(r.name, 0, "wait until the other program has written it", "the file has changed while it was read")
}

// Close releases the file and waits for the goroutine that decompresses it. No other method may be reading.
func (r *Reader) Close() {
	if r.stop != nil {
		r.stop()
	}
	for _, release := range r.closers {
		release()
	}
	isOpen := r.closers != nil
	r.closers = nil
	record, records := r.ctx.Value(recordKey{}).(func(string, Sum))
	if s, ok := r.Sum(); ok && isOpen && records {
		record(r.name, s)
	}
}

// Growth returns the bytes of text for each compressed byte read so far, or 1 for input that is not compressed.
// Estimates of memory multiply the size of the file by this ratio.
func (r *Reader) Growth() float64 {
	if r.inflater == nil || r.inflater.consumed == 0 {
		return 1
	}
	return float64(r.inflater.received) / float64(r.inflater.consumed)
}

// foreign lists the first bytes of common files that are not text.
var foreign = []struct{ magic, what, fix string }{
	{"PK\x03\x04", "zip archive", "unpack it first"},
	{"\xfd7zXZ\x00", "xz-compressed",
		"decompress it with xz -d, or use gzip or zstd"},
	{"BZh", "bzip2-compressed", "decompress it with bzip2 -d, or use gzip or zstd"},
	{"\x04\x22\x4d\x18", "lz4-compressed",
		"decompress it with lz4 -d, or use gzip or zstd"},
	{"PAR1", "Parquet file", "write it as tab-separated text"},
	{"\x93NUMPY", "NumPy array", "write it as tab-separated text"},
	{"<?xml", "XML file", "write it as tab-separated text, a graph as GraphML"},
	{"\x1f\x9d", "file compressed by compress",
		"decompress it with uncompress, or use gzip or zstd"},
}

func decompress(r *Reader, raw io.Reader) error {
	r.stored.r = raw
	in := bufio.NewReaderSize(&r.stored, 64<<10)
	head, err := in.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return r.chunks.fault(err)
	}
	var inflated io.Reader
	release := func() {}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		r.Compressed = true
		inflated, err = gzip.NewReader(in)
	case isZstd(head):
		r.Compressed = true
		inflated, release, err = newZstd(&frames{in: in,
			window: &r.window}, r.limit)
	default:
		r.text = in
		return nil
	}
	if err != nil {
		return r.chunks.fault(err)
	}
	r.inflated.r = inflated
	p := newPump(r.ctx, &r.inflated, pieceBytes,
		func() int64 { return r.stored.bytes.Load() - int64(in.Buffered()) })
	r.inflater = p
	r.closers = append(r.closers, func() {
		p.stop()
		<-p.ended
		release()
	})
	text := bufio.NewReaderSize(p, 64<<10)
	if _, err = text.Peek(6); err != nil && !errors.Is(err, io.EOF) {
		return r.chunks.fault(err)
	}
	r.text = text
	return nil
}

func terminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// IsStream reports whether a path is stdin, stdout, a pipe or a device, which can be read or written only once.
func IsStream(path string) bool {
	info, err := os.Stat(path)
	return path == "-" || err == nil && !info.Mode().IsRegular() && !info.IsDir()
}
