package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
)

// wide encodes text as UTF-16 with a byte-order mark.
func wide(text string) string {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return string(out)
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func wideWindow(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(zstd.MaxWindowSize), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The first error has the command that reads the table.
func TestTextOfRecords(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("r.csv", []byte("id;gr\xf6\xdfe;class\n1;1,5;a\n2;2,5;b\n3;1,5;\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"records", "classify", "r.csv", "--kernel", "categorical", "-o", "out.tsv"}
	var stderr bytes.Buffer
	code := Main(args, nil, io.Discard, &stderr)
	if want := "; paste: heatwalk " + strings.Join(args, " ") + " --encoding=windows-1252\n"; code != shell.WrongData || !strings.Contains(stderr.String(), want) {
		t.Errorf("exit code %d, stderr: %s, want %s", code, stderr.String(), want)
	}
	succeed(t, nil, io.Discard, append(args, "--encoding=windows-1252")...)
}

// Scripts cannot contain these bytes.
func TestBadBytes(t *testing.T) {
	long := strings.Repeat("a", 3<<20)
	for _, c := range []struct {
		name, content, want string
	}{
		{"e.csv", wide("a,b\nb,c\n")[2:], "e.csv: UTF-16 text without a byte-order mark; paste: heatwalk ARGS --encoding=utf-16le\n  or pass --encoding=utf-16le"},
		{"e.csv", "zeile;absender;empf\xe4nger\n1;a;b\n2;b;a\n3;a;c\n", "e.csv:1: byte 0xe4 is not UTF-8; paste: heatwalk ARGS --encoding=windows-1252 --fields=absender,empfänger\n  or pass the encoding of the file, as in --encoding=windows-1252, or convert it: iconv -f WINDOWS-1252 -t UTF-8 e.csv > new-e.csv"},
		{"e.csv", "a,b\nb\x00,c\n", "e.csv:2: NUL byte, not a text file; give text, plain or compressed with gzip or zstd"},
		{"e.txt", "a b\n" + long + " b\n", "e.txt:2: line longer than 1 MiB; is this a line-based format?"},
		{"e.gz", packed(t, "a\tb\nb\tc\n") + strings.Repeat("x", 212), "e.gz: other data follows the end of the compressed stream, after line 2; cut it off, or fetch the file again"},
		{"e.zst", wideWindow(t, strings.Repeat("a\tb\n", 1<<20)), "e.zst: needs a window of 512 MiB, limit 128 MiB; allow it with --max-window=512MiB"},
		{"e.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n", `e.mtx:1: format "array" is not supported; coordinate is; write it as coordinate`},
		{"e.mtx", "%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n2 1 1\n", `e.mtx:1: symmetry "hermitian" is not supported; general, symmetric and skew-symmetric are; write it as general`},
		{"e.tsv", "a\tb\t1\nb\tc\theavy\n", `e.tsv:2:5: weight "heavy" is not a number; fix the line or pass --skip-bad-lines`},
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile(c.name, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		before := tree(t, ".")
		for _, args := range [][]string{{"ingest", c.name, "-o", "g"}, {"info", c.name, "--temp-dir", "."}} {
			var stderr bytes.Buffer
			if code := Main(args, nil, io.Discard, &stderr); code != shell.WrongData || stderr.String() != "heatwalk: "+strings.ReplaceAll(c.want, "ARGS", strings.Join(args, " "))+"\n" {
				t.Errorf("%s %s: exit code %d, stderr: %s, want %s", args[0], c.name, code, stderr.String(), c.want)
			}
			if after := tree(t, "."); after != before {
				t.Errorf("%s: left\n%s", c.want, after)
			}
		}
	}
}

// Numbers are ordered by value, and other ids by first appearance.
func TestOddBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range []struct {
		name, content string
		ids           string
	}{
		{"crlf.tsv", "a\tb\r\nb\tc\r\n", "a\nb\nc\n"},
		{"cr.tsv", "a\tb\rb\tc\r", "a\nb\nc\n"},
		{"last.tsv", "a\tb\nb\tc", "a\nb\nc\n"},
		{"mark.tsv", "\xef\xbb\xbfa\tb\nb\tc\n", "a\nb\nc\n"},
		{"unicode.tsv", "東京\tκόσμος\nκόσμος\t🙂\n", "東京\nκόσμος\n🙂\n"},
		{"spaces.csv", " a , b \nb,c\n", "a\nb\nc\n"},
		{"inner.tsv", "New York\tLos Angeles\nLos Angeles\tSan Francisco\n", "New York\nLos Angeles\nSan Francisco\n"},
		{"members.gz", packed(t, "a\tb\n") + packed(t, "b\tc\n"), "a\nb\nc\n"},
		{"a file, with spaces.tsv", "a\tb\nb\tc\n", "a\nb\nc\n"},
		{"large.tsv", "18446744073709551615\t1\n123456789012\t1\n", "1\n123456789012\n18446744073709551615\n"},
		{"larger.tsv", "18446744073709551616\t1\n", "1\n18446744073709551616\n"},
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile(c.name, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join("a directory", "ü")
		if err := os.Mkdir(filepath.Dir(dir), 0o777); err != nil {
			t.Fatal(err)
		}
		succeed(t, nil, io.Discard, "ingest", c.name, "-o", dir)
		succeed(t, nil, io.Discard, "kernel", dir, "--kernel", "diffusion:beta=1", "-o", "K.npy")
		ids, err := os.ReadFile("K.rows.ids")
		if err != nil {
			t.Fatal(err)
		}
		if string(ids) != c.ids {
			t.Errorf("%s: ids %q, want %q", c.name, ids, c.ids)
		}
	}
}

func TestUnfinishedIngest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	workplace(t)
	if err := os.Remove(filepath.Join("g", "manifest")); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	code := Main([]string{"ingest", "e.tsv", "-o", "g", "--quiet"}, nil, io.Discard, &stderr)
	if want := "heatwalk: warning: g: removed 4 files of an unfinished ingest\n"; code != shell.Done || stderr.String() != want {
		t.Errorf("exit code %d, stderr: %s, want %s", code, stderr.String(), want)
	}
	succeed(t, nil, io.Discard, "verify", "g")
}
