package cli

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Features in a sparse matrix of SciPy become LIBSVM text.
func TestConvertSparseFeatures(t *testing.T) {
	out := filepath.Join(t.TempDir(), "X.svm")
	run(t, "convert", filepath.Join(testgraph.Root(t), "file", "tablefile", "testdata", "scipy_csr.npz"), "-o", out)
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	const want = "0 3:0.518 5:0.059\n0 4:0.671 5:0.83\n0 1:0.783\n0 1:0.829 3:0.198 4:0.29\n" +
		"0 1:0.142 5:0.412\n0 3:0.865 4:0.672 5:0.273\n0 4:0.593\n"
	if string(got) != want {
		t.Errorf("%s", got)
	}
}

// TestConvertForged gives the path 0 – 1 – 2 a last row with the wrong neighbour and
// makes every checksum right again: no half of it is written.
func TestConvertForged(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("e.tsv", []byte("0\t1\n1\t2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, "ingest", "e.tsv", "-o", "g")
	shards, err := filepath.Glob("g/*.shard")
	if err != nil || len(shards) != 1 {
		t.Fatal(shards, err)
	}
	change := func(path string, change func(b []byte) []byte) []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b = change(b)
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		return b
	}
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	frame := change(shards[0], func(b []byte) []byte {
		const distances = 0x4d // 1, 2, 1 and 2 in 1, 2, 1 and 2 bits, see docs/format.md
		if len(b) != distances+1 || b[distances] != 0x2d {
			t.Fatalf("not the path of docs/format.md: % x", b)
		}
		b[distances] = 0x1d // the last of them 1
		binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(append(bytes.Clone(b[:60]), b[64:]...), castagnoli))
		return b
	})
	change("g/manifest", func(b []byte) []byte {
		text := string(b)
		at := strings.Index(text, `"crc32c": "`) + len(`"crc32c": "`)
		text = text[:at] + fmt.Sprintf("%08x", crc32.Checksum(frame, castagnoli)) + text[at+8:]
		at = strings.LastIndex(text, `"checksum": "`) + len(`"checksum": "`)
		text = text[:at] + "00000000" + text[at+8:]
		return []byte(text[:at] + fmt.Sprintf("%08x", crc32.Checksum([]byte(text), castagnoli)) + text[at+8:])
	})
	for _, name := range []string{"x.tsv", "x.mtx", "x.parquet"} {
		var stderr bytes.Buffer
		code := Main([]string{"convert", "g", "-o", name}, nil, io.Discard, &stderr)
		const want = "heatwalk: g/manifest: not symmetric, but undirected; restore the file or ingest again\n"
		if code != shell.DamagedStore || stderr.String() != want {
			t.Errorf("%s: exit code %d, stderr: %s", name, code, stderr.String())
		}
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is written", name)
		}
	}
}
