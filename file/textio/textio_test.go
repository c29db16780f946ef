package textio

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	"github.com/heatwalk/heatwalk/internal/sched"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

func slow(text string) []string {
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func lines(t testing.TB, path string, o *Options) ([]string, error) {
	t.Helper()
	r, err := Open(context.Background(), path, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []string
	for line, err := range r.Lines() {
		if err != nil {
			return all, err
		}
		all = append(all, string(line.Text))
		if line.Number != int64(len(all)) {
			t.Fatalf("line %d is called %d", len(all), line.Number)
		}
	}
	return all, nil
}

func chunks(t testing.TB, path string, workers int) ([]string, error) {
	t.Helper()
	r, err := Open(context.Background(), path, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var mu sync.Mutex
	var parts []Chunk
	err = r.Chunks(workers, func(_ int, c *Chunk) error {
		mu.Lock()
		defer mu.Unlock()
		slack := c.Data[len(c.Data):cap(c.Data)]
		if len(slack) < Slack || bytes.ContainsFunc(slack[:Slack], func(r rune) bool { return r != 0 }) {
			t.Errorf("chunk %d: %d bytes of slack: %q", c.Index, len(slack), slack)
		}
		parts = append(parts, Chunk{Index: c.Index, First: c.First, Lines: c.Lines, Data: bytes.Clone(c.Data)})
		return nil
	})
	slices.SortFunc(parts, func(a, b Chunk) int { return a.Index - b.Index })
	var all []string
	for i, c := range parts {
		if c.Index != i || c.First != int64(len(all))+1 {
			t.Fatalf("chunk %d is called %d and begins with line %d, want %d", i, c.Index, c.First, len(all)+1)
		}
		got := strings.Split(string(c.Data), "\n")
		if got[len(got)-1] != "" || len(got)-1 != c.Lines {
			t.Fatalf("chunk %d of %d lines: %.30q", i, c.Lines, c.Data)
		}
		for _, line := range got[:len(got)-1] {
			all = append(all, strings.TrimSuffix(line, "\r"))
		}
	}
	return all, err
}

// check compares both ways of reading.
func check(t testing.TB, text string) {
	t.Helper()
	want := slow(text)
	path := write(t, "text", text)
	for _, workers := range []int{1, 3} {
		got, err := chunks(t, path, workers)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d workers: %d lines, %v, want %d of %.60q", workers, len(got), err, len(want), text)
		}
	}
	for _, o := range []*Options{{Stdin: strings.NewReader(text)}, {Stdin: iotest.OneByteReader(strings.NewReader(packed(text)))}} {
		if len(text) > 1<<16 {
			break
		}
		if got, err := lines(t, "-", o); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	}
	if got, err := lines(t, path, nil); err != nil || !slices.Equal(got, want) {
		t.Fatalf("%d lines, %v, want %d", len(got), err, len(want))
	}
}

func TestLineEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for _, text := range []string{
		"", "\n", "a", "a\n", "a\nb", "a\r\nb\r\n", "a\rb\r", "a\rb", "a\r\rb\r\n\nc", "\r", "\r\n", "\xef\xbb\xbfa\n", "\xef\xbb\xbf", "\n\n\n",
	} {
		check(t, text)
	}
}

func TestChunkBorders(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 6 {
		var b strings.Builder
		for b.Len() < 3*ChunkBytes {
			n := r.IntN(200)
			if r.IntN(300) == 0 {
				n = r.IntN(MaxLine - 2)
			}
			b.WriteString(strings.Repeat("x", n))
			b.WriteString([]string{"\n", "\r\n", "\r"}[r.IntN(3)])
		}
		check(t, b.String())
	}
	for _, end := range []string{"\n", "\r\n", "\r"} {
		for d := -3; d <= 3; d++ {
			check(t, strings.Repeat("y", ChunkBytes+d)+end+"z"+end)
			check(t, strings.Repeat("y"+strings.Repeat("z", 62)+end, ChunkBytes/64+1)+end)
		}
	}
	check(t, strings.Repeat("y", MaxLine-1)+"\nz\n")
}

func TestLongLine(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", MaxLine), "a\n" + strings.Repeat("x", MaxLine) + "\nb\n", "a\n" + strings.Repeat("x", 3*MaxLine)} {
		_, err := lines(t, write(t, "text", text), nil)
		var e *Error
		if !errors.As(err, &e) || e.Msg != "line longer than 1 MiB" || e.Line != int64(strings.Count(text[:2], "\n"))+1 {
			t.Errorf("error %v", err)
		}
	}
}

// The text has carriage returns at the boundaries of chunks, and lines longer than a chunk.
func TestCutsDependOnTheTextAlone(t *testing.T) {
	text := strings.Repeat("one line of text\r\nand another one\n", 20_000) +
		strings.Repeat("line\n"+strings.Repeat("old line\r", 300), 500) + strings.Repeat(strings.Repeat("x", 5000)+"\n", 150) + strings.Repeat("end\n", 200_000)
	path := write(t, "text", text)
	type input struct {
		path    string
		stdin   io.Reader
		workers int
	}
	var want []int
	for i, in := range []input{
		{path, nil, 1}, {path, nil, 2}, {path, nil, 7},
		{"-", strings.NewReader(text), 1}, {"-", iotest.HalfReader(strings.NewReader(text)), 3}, {"-", strings.NewReader(packed(text)), 2},
	} {
		r, err := Open(t.Context(), in.path, &Options{Stdin: in.stdin})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		got := make([]int, 100)
		if err := r.Chunks(in.workers, func(_ int, c *Chunk) error {
			mu.Lock()
			defer mu.Unlock()
			got[c.Index] = len(c.Data)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if done, size := r.Progress(); in.path == path && (done != size || size != int64(len(text))) {
			t.Errorf("input %d: %d of %d bytes, want %d", i, done, size, len(text))
		}
		r.Close()
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) || got[10] == 0 {
			t.Errorf("input %d: chunks of %v bytes, want %v", i, got, want)
		}
	}
}

// No text after a NUL byte is delivered.
func TestFaultsOfFiles(t *testing.T) {
	text := []byte(strings.Repeat("0123456789\n", 300_000))
	const at = 5*ChunkBytes + 77
	text[at] = 0
	path := write(t, "text", string(text))
	for _, workers := range []int{1, 2, 7} {
		r, err := Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		var last atomic.Int64
		err = r.Chunks(workers, func(_ int, c *Chunk) error {
			last.Add(int64(c.Lines))
			return nil
		})
		r.Close()
		var e *Error
		if !errors.As(err, &e) || e.Line != at/11+1 || e.Msg != "NUL byte, not a text file" {
			t.Errorf("%d workers: error %v", workers, err)
		}
		if lines := last.Load(); lines != 5*(ChunkBytes/11) {
			t.Errorf("%d workers: %d lines before the fault", workers, lines)
		}
	}
}

func TestShrinkingFile(t *testing.T) {
	path := write(t, "text", strings.Repeat("0123456789\n", 300_000))
	r, err := Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var once sync.Once
	err = r.Chunks(2, func(int, *Chunk) error {
		once.Do(func() {
			if err := os.Truncate(path, 2*ChunkBytes+100); err != nil {
				t.Error(err)
			}
		})
		return nil
	})
	var e *Error
	if !errors.As(err, &e) || e.Msg != "the file has changed while it was read" {
		t.Errorf("error %v", err)
	}
}

func TestHead(t *testing.T) {
	path := write(t, "text", strings.Repeat("0123456789\n", 60_000))
	r, err := Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := r.Head()
	if err != nil || c.First != 1 {
		t.Fatal(c, err)
	}
	n := c.Lines
	r.Drop()
	if c, err = r.Head(); err != nil || c.First != int64(n)+1 {
		t.Fatal(c, err)
	}
	total := n
	if err := r.Chunks(1, func(_ int, c *Chunk) error {
		if c.First != int64(total)+1 {
			t.Errorf("chunk begins with line %d after %d", c.First, total)
		}
		total += c.Lines
		return nil
	}); err != nil || total != 60_000 {
		t.Errorf("%d lines, %v", total, err)
	}
	if _, err := r.Head(); !errors.Is(err, io.EOF) {
		t.Errorf("error %v at the end", err)
	}
	if done, size := r.Progress(); done != size || size != 660_000 {
		t.Errorf("%d of %d bytes", done, size)
	}
}

func TestFirstErrorWins(t *testing.T) {
	path := write(t, "text", strings.Repeat("0123456789\n", 400_000))
	for range 10 {
		r, err := Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		bad := map[int]error{3: errors.New("three"), 4: errors.New("four"), 5: errors.New("five")}
		later := make(chan bool)
		if err := r.Chunks(4, func(_ int, c *Chunk) error {
			switch c.Index {
			case 3:
				<-later // the others fail first
			case 4:
				close(later)
			}
			return bad[c.Index]
		}); err != bad[3] {
			t.Errorf("error %v", err)
		}
		r.Close()
	}
}

func TestCancelAt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "edges")
	if err := os.WriteFile(path, []byte("a b\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	r, err := Open(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	file, _ := r.File()
	if _, err := file.ReadAt(make([]byte, 2), 1); err != nil {
		t.Fatal(err)
	}
	for cancel(stopped); err == nil; { // closing takes a while
		_, err = file.ReadAt(make([]byte, 2), 1)
	}
	if !errors.Is(err, stopped) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	r, err := Open(ctx, "-", &Options{Stdin: io.MultiReader(strings.NewReader("a\nbcdef\n"), in)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cancel()
	for _, err := range r.Lines() {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
	out.Close()
}

func TestOpenErrors(t *testing.T) {
	if _, err := Open(t.Context(), t.TempDir(), nil); !errors.Is(err, ErrInput) {
		t.Errorf("error %v for a directory", err)
	}
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v for a missing file", err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	r, err := Open(t.Context(), "-", &Options{Stdin: null})
	if err != nil {
		t.Fatalf("the null device: %v", err)
	}
	r.Close()
}

func FuzzLines(f *testing.F) {
	for _, text := range []string{"a\nb\r\nc\rd", "\xef\xbb\xbfx", "\r\r\n\n", "a\x00b", packed("a\nb"), "\x1f\x8b", "\x28\xb5\x2f\xfd", "a\xfea"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := write(t, "text", text)
		got, err := lines(t, path, nil)
		again, chunkErr := chunks(t, path, 2)
		if (err == nil) != (chunkErr == nil) {
			t.Fatalf("%v, by chunks %v", err, chunkErr)
		}
		var e *Error
		if err != nil {
			if !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if !slices.Equal(got, again) {
			t.Fatalf("%q, by chunks %q", got, again)
		}
		if strings.HasPrefix(text, littleEndianMark) || strings.HasPrefix(text, bigEndianMark) {
			return // TestEncodings
		}
		if !bytes.HasPrefix([]byte(text), []byte{0x1f, 0x8b}) && !bytes.HasPrefix([]byte(text), []byte{0x28, 0xb5}) && !slices.Equal(got, slow(text)) {
			t.Fatalf("%q, want %q", got, slow(text))
		}
	})
}

type panicking struct{ left int }

func (p *panicking) Read(b []byte) (int, error) {
	if p.left == 0 {
		panic("cable cut")
	}
	p.left--
	return copy(b, "a b\n"), nil
}

func TestPanicsReachTheCaller(t *testing.T) {
	long := strings.Repeat("1 2\n", 3*ChunkBytes/4)
	random := make([]byte, 1<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte('a' + rng.IntN(20))
	}
	cable := packed(string(random) + "\n")
	for name, test := range map[string]struct {
		in    func() io.Reader
		visit func(*Chunk) error
		want  string
	}{
		"visit": {func() io.Reader { return strings.NewReader(long) }, func(c *Chunk) error {
			if c.Index == 1 {
				panic("chunk 1")
			}
			return nil
		}, "chunk 1"},
		"stdin": {func() io.Reader { return &panicking{left: 3} }, func(*Chunk) error { return nil }, "cable cut"},
		"inflater": {func() io.Reader {
			return io.MultiReader(strings.NewReader(cable[:len(cable)/2]), &panicking{})
		}, func(*Chunk) error { return nil }, "cable cut"},
	} {
		for _, workers := range []int{1, 2, 5} {
			in, err := Open(t.Context(), "-", &Options{Stdin: test.in()})
			if err != nil {
				t.Fatal(err)
			}
			func() {
				defer in.Close()
				defer func() {
					r := recover()
					if p, ok := r.(*sched.Panic); ok {
						r = p.Value
					}
					if r != test.want {
						t.Errorf("%s, %d workers: %v", name, workers, r)
					}
				}()
				err := in.Chunks(workers, func(_ int, c *Chunk) error { return test.visit(c) })
				t.Errorf("%s, %d workers: no panic, error %v", name, workers, err)
			}()
		}
	}
}
