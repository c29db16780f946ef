package textio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	inflater "github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"
)

func TestCloseWaitsForTheInflater(t *testing.T) {
	all := packed(strings.Repeat("one line of text\n", 1<<18))
	path := write(t, "text.gz", all)
	for _, cancelled := range []bool{false, true} {
		in, out := io.Pipe() // never ends
		for _, o := range []struct {
			path  string
			stdin io.Reader
		}{
			{path, nil},
			{"-", strings.NewReader(all)},
			{"-", io.MultiReader(strings.NewReader(all[:len(all)/2]), in)},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			r, err := Open(ctx, o.path, &Options{Stdin: o.stdin})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Head(); err != nil {
				t.Fatal(err)
			}
			if cancelled {
				cancel()
				r.Drop()
				if _, err := r.Head(); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v after the end of the context", err)
				}
			}
			r.Close()
			cancel()
		}
		out.Close()
	}
	goleak.VerifyNone(t)

	slow := &slowly{r: strings.NewReader(all)}
	r := &Reader{ctx: t.Context()}
	if err := decompress(r, slow); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if slow.reading.Load() {
		t.Error("the source is still read after Close")
	}
}

type slowly struct {
	r       io.Reader
	reading atomic.Bool
}

func (s *slowly) Read(b []byte) (int, error) {
	s.reading.Store(true)
	defer s.reading.Store(false)
	time.Sleep(5 * time.Millisecond)
	return s.r.Read(b[:min(len(b), 100)])
}

// All text before an error must be delivered.
func TestDamagedStream(t *testing.T) {
	var text strings.Builder
	for i := range 120_000 {
		fmt.Fprintf(&text, "%d\n", i)
	}
	whole := packed(text.String())
	for _, test := range []struct{ stored, want string }{
		{whole[:len(whole)/3], "compressed stream ends early"},
		{whole[:len(whole)-1], "compressed stream ends early"},
		{whole[:len(whole)-8] + string([]byte{^whole[len(whole)-8]}) + whole[len(whole)-7:], "checksum of the decompressed data is wrong"},
		{whole + "some other text", "other data follows the end of the compressed stream"},
	} {
		inflated, err := inflater.NewReader(strings.NewReader(test.stored))
		if err != nil {
			t.Fatal(err)
		}
		inflated.Multistream(false)
		plain, _ := io.ReadAll(inflated)
		if !strings.Contains(test.want, "bytes after") {
			test.want += fmt.Sprintf(", after line %d", bytes.Count(plain, lineFeed))
		}
		_, err = chunks(t, write(t, "text.gz", test.stored), 2)
		var e *Error
		if !errors.As(err, &e) || e.Msg != test.want {
			t.Errorf("error %v, want %q", err, test.want)
		}
	}
}

func TestZstd(t *testing.T) {
	pack := func(text string, o ...zstd.EOption) string {
		w, err := zstd.NewWriter(nil, append(o, zstd.WithEncoderCRC(true))...)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		return string(w.EncodeAll([]byte(text), nil))
	}
	const skipped = "\x50\x2a\x4d\x18\x04\x00\x00\x00size"
	wide := func(window byte) string {
		return "\x28\xb5\x2f\xfd\x00" + string([]byte{window << 3}) + "\x19\x00\x00a\nb"
	}
	dictionary := zstd.WithEncoderDictRaw(7, []byte(strings.Repeat("one two three ", 10)))
	for _, test := range []struct {
		name, stored string
		o            Options
		want         string // lines, or the message
		window       int64
	}{
		{"frame", pack("one\ntwo\n"), Options{}, "[one two]", 1 << 10},
		{"two frames", pack("one\n") + pack("two\n"), Options{}, "[one two]", 1 << 10},
		{"skipped first", skipped + skipped + pack("one\n") + skipped + pack("two\n"), Options{}, "[one two]", 1 << 10},
		{"only skipped", skipped, Options{}, "[]", 0},
		{"cut", pack("one\ntwo\n")[:10], Options{}, "compressed stream ends early, after line 0; fetch the file again", 1 << 10},
		{"something behind", pack("one\ntwo\n") + "text", Options{}, "other data follows the end of the compressed stream, after line 2; cut it off, or fetch the file again", 1 << 10},
		{"dictionary", pack("one two three\n", dictionary), Options{}, "needs the dictionary that it was compressed with; compress it again without one", 14},
		{"wide enough", wide(17), Options{}, "[a b]", 128 << 20},
		{"too wide", wide(21), Options{}, "needs a window of 2 GiB, limit 128 MiB; compress it again without --long or --ultra", 2 << 30},
		{"flag", wide(21), Options{WindowOption: "max"}, "needs a window of 2 GiB, limit 128 MiB; allow it with option max=2GiB", 2 << 30},
		{"allowed", wide(21), Options{Window: 2 << 30}, "[a b]", 2 << 30},
		{"less allowed", wide(11), Options{Window: 1 << 20, WindowOption: "max"}, "needs a window of 2 MiB, limit 1 MiB; allow it with option max=2MiB", 2 << 20},
		{"second too wide", pack("one\n") + wide(21), Options{WindowOption: "max"}, "needs a window of 2 GiB, limit 128 MiB; allow it with option max=2GiB", 2 << 30},
		{"second wider", pack("one\n") + wide(17), Options{}, "[one a b]", 128 << 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			if testing.Short() && test.window >= 128<<20 && test.want[0] == '[' {
				t.Skip("fills the window")
			}
			path := write(t, "text.zst", test.stored)
			got, err := lines(t, path, &test.o)
			said := fmt.Sprint(got)
			if err != nil {
				said = strings.TrimPrefix(err.Error(), path+": ")
			}
			if said != test.want {
				t.Errorf("got %s, want %s", said, test.want)
			}
			if r, err := Open(t.Context(), path, &test.o); err == nil {
				if r.Window() != test.window {
					t.Errorf("window %d, want %d", r.Window(), test.window)
				}
				r.Close()
			}
		})
	}
}

// Windows of later frames count, after blocks of every type.
func TestLaterWindows(t *testing.T) {
	noise := make([]byte, 300_000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/"[rng.IntN(64)]
	}
	raw := string([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0}) + // a window of 1 KiB
		string([]byte{3 << 3, 0, 0}) + "ab\n" + // three bytes as they are
		string([]byte{9<<3 | 1<<1, 0, 0}) + "c" + // nine times c
		string([]byte{1<<3 | 1, 0, 0}) + "\n"
	var stored strings.Builder
	for i, text := range []string{strings.Repeat("one two three\n", 100_000), string(noise), "", "\n"} {
		w, err := zstd.NewWriter(&stored, zstd.WithEncoderCRC(i%2 == 0), zstd.WithWindowSize(1<<20<<i))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
		w.Flush() // or the frame says how short it is
		w.Close()
		stored.WriteString(raw)
	}
	r, err := Open(t.Context(), write(t, "text.zst", stored.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if w := r.Window(); w != 1<<20 {
		t.Errorf("window of %d at first, want that of the first frame", w)
	}
	n := 0
	for _, err := range r.Lines() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if w := r.Window(); w != 8<<20 || n != 100_000+4*2+1 {
		t.Errorf("window of %d after %d lines, want that of the widest frame and %d lines", w, n, 100_000+4*2+1)
	}
}

func TestDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	var text strings.Builder
	for i := range 500_000 {
		fmt.Fprintf(&text, "%d\n", i)
	}
	whole := packed(text.String())
	flipped := whole[:len(whole)-8] + string([]byte{^whole[len(whole)-8]}) + whole[len(whole)-7:]
	for _, test := range []struct{ stored, want string }{
		{whole, ""},
		{flipped, "checksum of the decompressed data is wrong, after line 500000"},
		{text.String(), ""},
	} {
		r, err := Open(t.Context(), write(t, "text", test.stored), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.chunks.read(new(Chunk)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got := ""
			if e := new(Error); errors.As(r.Damage(), &e) {
				got = e.Msg
			}
			if got != test.want {
				t.Errorf("damage %q, want %q", got, test.want)
			}
		}
		r.Close()
	}
}

func TestWindowOfLimitedMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(64 << 20))
	for window, want := range map[int]string{
		8 << 20:  "",
		16 << 20: "",
		32 << 20: "needs a window of 32 MiB, limit 16 MiB; compress it again without --long or --ultra",
	} {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, zstd.WithWindowSize(window))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // a frame that is not known to be short
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		path := write(t, "x.zst", b.String())
		r, err := Open(t.Context(), path, &Options{Any: true})
		got := ""
		if err == nil {
			r.Close()
		} else {
			got = strings.TrimPrefix(err.Error(), path+": ")
		}
		if got != want {
			t.Errorf("%d: got %q, want %q", window, got, want)
		}
	}
}

// Growth must not depend on pieces that are decompressed ahead.
func TestGrowthDependsOnTheTextAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	for i := range 400_000 {
		fmt.Fprintln(&text, rng.IntN(1+i))
	}
	path := write(t, "text.gz", packed(text.String()))
	growth := func(wait time.Duration) (list []float64) {
		r, err := Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for range 5 {
			if _, err := r.Head(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(wait)
			list = append(list, r.Growth())
			r.Drop()
		}
		return list
	}
	fast, slow := growth(0), growth(10*time.Millisecond)
	if !slices.Equal(fast, slow) || fast[0] <= fast[4] || fast[4] < 1.5 {
		t.Errorf("each byte becomes %v, and %v of who waits between", fast, slow)
	}
}
