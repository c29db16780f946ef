package textio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// DefaultWindow is the default limit of the window of a zstd stream, as in the command zstd, because a hostile frame
// can declare gigabytes.
const DefaultWindow = 128 << 20

// WindowOption is the option for the largest window, for messages about graph files.
const WindowOption = "max-window"

// defaultWindow returns DefaultWindow, or a quarter of the runtime's memory limit if this is less, but at least 8
// MiB, the window of zstd below --ultra.
func defaultWindow() int64 {
	return min(DefaultWindow, max(8<<20, debug.SetMemoryLimit(-1)/4))
}

// largestWindow exceeds the memory of any machine.
const largestWindow = 1 << 41

func newZstd(in io.Reader, window int64) (io.Reader, func(), error) {
	d, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(uint64(min(max(window, zstd.MinWindowSize),
			largestWindow))))
	if err != nil {
		return nil, nil, err
	}
	return d, d.Close, nil
}

// isZstd reports whether head is the beginning of a zstd file: a frame, or a skippable frame, which pzstd writes
// before each frame.
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 &&
			bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}

// frames passes on a zstd stream and records its largest window, because frames of concatenated files may differ. The
// decoder finds errors in headers.
type frames struct {
	in      *bufio.Reader
	window  *atomic.Int64 // largest window so far
	pass    int64         // bytes before the next header of a frame or a block
	inFrame bool          // the next header is a block's
	tail    int64         // bytes after the last block of the frame
}

// Read implements [io.Reader]. It stops before each header, which next must read first.
func (f *frames) Read(p []byte) (int, error) {
	if f.pass == 0 {
		f.pass = f.next()
	}
	n, err := f.in.Read(p[:min(int64(len(p)), f.pass)])
	f.pass -= int64(n)
	return n, err
}

// next peeks at the next header, and returns the number of bytes before the following one.
func (f *frames) next() int64 {
	if f.inFrame {
		const last, repeated = 1, 1 // flag of the last block; type of a block of one repeated byte
		head, err := f.in.Peek(3)
		if err != nil {
			return math.MaxInt64
		}
		bits := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
		size := bits >> 3
		if bits>>1&3 == repeated {
			size = 1
		}
		if bits&last != 0 {
			f.inFrame = false
			size += f.tail
		}
		return int64(len(head)) + size
	}
	var h zstd.Header
	head, _ := f.in.Peek(zstd.HeaderMaxSize)
	switch err := h.Decode(head); {
	case err != nil:
		return math.MaxInt64
	case h.Skippable:
		return int64(h.HeaderSize) + int64(h.SkippableSize)
	}
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	f.window.Store(max(f.window.Load(), int64(min(window, math.MaxInt64))))
	f.inFrame = true
	f.tail = 0
	if h.HasCheckSum {
		f.tail = 4
	}
	return int64(h.HeaderSize)
}

func beyondWindow(r *Reader) (what, fix string) {
	window := r.Window()
	what = fmt.Sprintf("needs a window of %s, limit %s", binarySize(window),
		binarySize(r.limit))
	if r.option == "" {
		return what, "compress it again without --long or --ultra"
	}
	return what, fmt.Sprintf("allow it with {%s=%s}", r.option,
		strings.ReplaceAll(binarySize(window), " ", ""))
}

func binarySize(bytes int64) string {
	const mebi, gibi = 1 << 20, 1 << 30
	switch {
	case bytes%gibi == 0:
		return fmt.Sprintf("%d GiB", bytes/gibi)
	case bytes >= mebi:
		return fmt.Sprintf("%d MiB", (bytes+mebi-1)/mebi)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

func faultAt(r *Reader, err error, place string) error {
	if r.ctx.Err() != nil {
		return sched.Cause(r.ctx)
	}
	var path *fs.PathError
	var fault *Error
	if errors.As(err, &path) || errors.As(err, &fault) || !r.Compressed {
		return err
	}
	if changed := r.CheckUnchanged(); changed != nil { // a changed file explains any damage
		return changed
	}
	e := &Error{File: r.name, Fix: "fetch the file again"}
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Msg = "compressed stream ends early, after " + place
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zstd.ErrCRCMismatch):
		e.Msg = "checksum of the decompressed data is wrong, after " + place
	case errors.Is(err, zstd.ErrWindowSizeExceeded),
		errors.Is(err, zstd.ErrDecoderSizeExceeded):
		e.Msg, e.Fix = beyondWindow(r)
	case errors.Is(err, zstd.ErrMagicMismatch), errors.Is(err, gzip.ErrHeader):
		e.Msg = "other data follows the end of the compressed stream, after " + place
		e.Fix = "cut it off, or fetch the file again"
	case errors.Is(err, zstd.ErrUnknownDictionary):
		e.Msg = "needs the dictionary that it was compressed with"
		e.Fix = "compress it again without one"
	case errors.As(err, &corrupt):
		e.Msg = "compressed data is damaged after " + place
	default:
		e.Msg = fmt.Sprintf("compressed data is damaged after %s (%v)", place, err)
	}
	return e
}
