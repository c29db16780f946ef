package shard

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/sparse"
)

var update = flag.Bool("update", false, "write the fixtures of the current format")

const (
	formatPage = "../../docs/format.md"
	fixtures   = "../../testdata/format"
)

// Fixtures of older versions stay in this list.
type fixture struct {
	name    string
	a, back *sparse.CSR
	nodes   *Nodes
	o       WriteOptions
	sources []File
}

func (f fixture) write(t *testing.T, dir string, o WriteOptions) {
	t.Helper()
	w := must(Create(dir, &o))
	defer w.Abort()
	w.Manifest.Sources = f.sources
	must(0, fill(w, f.a, f.back, f.nodes))
	must(0, w.Commit(bg))
}

func allFixtures() []fixture {
	path := must(sparse.FromTriplets(3, 3, []sparse.Triplet{{Row: 0, Col: 1, Val: 1}, {Row: 1, Col: 0, Val: 1}, {Row: 1, Col: 2, Val: 1}, {Row: 2, Col: 1, Val: 1}}))
	arcs := []sparse.Triplet{{Row: 0, Col: 3, Val: 0.5}, {Row: 0, Col: 4, Val: 2}, {Row: 2, Col: 2, Val: 1}, {Row: 4, Col: 0, Val: 0.1}}
	var turned []sparse.Triplet
	for _, t := range arcs {
		turned = append(turned, sparse.Triplet{Row: t.Col, Col: t.Row, Val: t.Val})
	}
	a, back := must(sparse.FromTriplets(5, 5, arcs)), must(sparse.FromTriplets(5, 5, turned))
	signed := must(sparse.FromTriplets(3, 3, []sparse.Triplet{{Row: 0, Col: 1, Val: -2}, {Row: 1, Col: 0, Val: -2}, {Row: 1, Col: 2, Val: 0.5}, {Row: 2, Col: 1, Val: 0.5}}))
	names := must(StringNodes(slices.Values([]string{"pear", "apple", "", "Zürich", "fig"})))
	const array = "\x93NUMPY\x01\x00\x46\x00{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }         \n\x00\x01\x02\x03\x04\x05"
	attributes := func(_ *Nodes, w io.Writer) (*Attributes, error) {
		_, err := io.WriteString(w, array)
		return &Attributes{Name: "x.npy", Columns: 2, Type: "uint8"}, err
	}
	return []fixture{
		{"v3/attributes", path, nil, nil, WriteOptions{Identity: 0xf6, Attributes: attributes}, nil},
		{"v1/path", path, nil, nil, WriteOptions{Identity: 0x0123456789abcdef}, nil},
		{"v1/content", path, nil, nil, WriteOptions{Identity: 0x0123456789abcdef}, nil},
		{"v2/signed", signed, nil, nil, WriteOptions{Identity: 0xe5}, nil},
		{"v1/numbers", path, nil, NumericNodes([]uint64{3, 5, 1 << 40}), WriteOptions{Identity: 0xa1}, nil},
		{"v1/directed", a, back, names, WriteOptions{Identity: 0xb2, Directed: true,
			Options: map[string]string{"self_loops": "keep"}},
			[]File{{Name: "arcs.tsv", Bytes: 52, Lines: 4}}},
		{"v1/ordered", a, back, names.Reorder("degree", []uint32{3, 0, 4, 1, 2}, nil), WriteOptions{Identity: 0xd4, Directed: true}, nil},
	}
}

// The current format is written to the byte, except for the option of the content.
func TestFixtures(t *testing.T) {
	for _, f := range allFixtures() {
		t.Run(f.name, func(t *testing.T) {
			dir := filepath.Join(fixtures, filepath.FromSlash(f.name))
			if *update {
				must(0, os.MkdirAll(filepath.Dir(dir), 0o777))
				o := f.o
				o.Force = true
				f.write(t, dir, o)
			}
			s := must(Open(bg, dir, nil))
			defer s.Close()
			same(t, must(read(bg, s, 1)), f.a)
			if f.back != nil {
				same(t, must(read(bg, s.Transpose(), 1)), f.back)
			}
			for i := range s.Nodes.Len() {
				if f.nodes != nil && s.Nodes.ID(i) != f.nodes.ID(i) {
					t.Errorf("row %d has id %q, want %q", i, s.Nodes.ID(i), f.nodes.ID(i))
				}
			}
			if f.nodes != nil && (!slices.Equal(s.Nodes.Order, f.nodes.Order) || s.Manifest.Order != f.nodes.name) {
				t.Errorf("order %q %v", s.Manifest.Order, s.Nodes.Order)
			}
			must(verify(bg, dir, nil))
			mem := durabletest.NewMem()
			o := f.o
			o.fs = mem
			f.write(t, "g", o)
			for _, name := range must(mem.List("g")) {
				got := must(readFile(mem, filepath.Join("g", name), 1<<20))
				want := must(os.ReadFile(filepath.Join(dir, name)))
				if name == manifestName && !bytes.Contains(want, []byte(ContentOption)) { // stores before it
					m := must(parseManifest("g", got))
					if delete(m.Options, ContentOption); len(m.Options) == 0 {
						m.Options = nil
					}
					got = must(m.encode())
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s is no longer written as it was", name)
				}
			}
		})
	}
}

// A release before this one wrote the fixture.
func TestZstdStore(t *testing.T) {
	dir := filepath.Join(fixtures, "v1", "zstd")
	_, err := Open(bg, dir, nil)
	wantError(t, err, ErrVersion, dir+": frames compressed by zstd, which only releases before this one read; "+
		"ingest the edges again, or write them with such a release: heatwalk convert "+dir+" -o edges.tsv")
}

func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(page, "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no section %q", formatPage, heading)
	}
	level := heading[:strings.Index(heading, " ")]
	if end := regexp.MustCompile(`(?m)^#{1,` + strconv.Itoa(len(level)) + `} `).FindStringIndex(text); end != nil {
		text = text[:end[0]]
	}
	return text
}

var tableRow = regexp.MustCompile(`(?m)^\|([^|]*)\|([^|]*)\|([^|]*)\|`)

func cellsOf(t *testing.T, page, heading string) [][3]string {
	t.Helper()
	var rows [][3]string
	for _, m := range tableRow.FindAllStringSubmatch(section(t, page, heading), -1) {
		var row [3]string
		for i := range row {
			row[i] = strings.Trim(strings.TrimSpace(m[i+1]), "`")
		}
		if !strings.HasPrefix(row[0], "---") {
			rows = append(rows, row)
		}
	}
	return rows
}

func TestFormatDoc(t *testing.T) {
	page := string(must(os.ReadFile(formatPage)))
	fields := func(heading string, want [][3]string) {
		t.Helper()
		got := cellsOf(t, page, heading)
		if len(got) == 0 || !slices.Equal(got[1:], want) {
			t.Errorf("%s: the page says\n%v\nthe code\n%v", heading, got, want)
		}
	}
	place := func(at, size int, name string) [3]string {
		return [3]string{strconv.Itoa(at), strconv.Itoa(size), name}
	}
	var h header
	fields("### Frame header", [][3]string{
		place(int(unsafe.Offsetof(h.Magic)), binary.Size(h.Magic), "magic"),
		place(int(unsafe.Offsetof(h.Shard)), binary.Size(h.Shard), "shard"),
		place(int(unsafe.Offsetof(h.Identity)), binary.Size(h.Identity), "identity"),
		place(int(unsafe.Offsetof(h.Frame)), binary.Size(h.Frame), "frame"),
		place(int(unsafe.Offsetof(h.Lo)), binary.Size(h.Lo), "first row"),
		place(int(unsafe.Offsetof(h.Rows)), binary.Size(h.Rows), "rows"),
		place(int(unsafe.Offsetof(h.Entries)), binary.Size(h.Entries), "entries"),
		place(int(unsafe.Offsetof(h.Piece)), binary.Size(h.Piece), "piece"),
		place(int(unsafe.Offsetof(h.Pieces)), binary.Size(h.Pieces), "pieces"),
		place(int(unsafe.Offsetof(h.Stored)), binary.Size(h.Stored), "stored"),
		place(int(unsafe.Offsetof(h.Payload)), binary.Size(h.Payload), "payload"),
		place(int(unsafe.Offsetof(h.Direction)), binary.Size(h.Direction), "direction"),
		place(int(unsafe.Offsetof(h.Codec)), binary.Size(h.Codec), "codec"),
		place(int(unsafe.Offsetof(h.Reserved)), binary.Size(h.Reserved), "reserved"),
		place(int(unsafe.Offsetof(h.Sum)), binary.Size(h.Sum), "checksum"),
	})
	fields("### Payload", [][3]string{
		place(atBits, 1, "b"),
		place(atWidths, 4, "widths"),
		place(atValues, 1, "values"),
	})
	fields("### Values", [][3]string{
		{strconv.Itoa(valuesOnes), strconv.Itoa(valueBytes[valuesOnes]), "none: every value is 1"},
		{strconv.Itoa(valuesUint8), strconv.Itoa(valueBytes[valuesUint8]), "unsigned integer"},
		{strconv.Itoa(valuesUint16), strconv.Itoa(valueBytes[valuesUint16]), "unsigned integer"},
		{strconv.Itoa(valuesUint32), strconv.Itoa(valueBytes[valuesUint32]), "unsigned integer"},
		{strconv.Itoa(valuesFloat32), strconv.Itoa(valueBytes[valuesFloat32]), "IEEE 754 binary32"},
		{strconv.Itoa(valuesFloat64), strconv.Itoa(valueBytes[valuesFloat64]), "IEEE 754 binary64"},
	})
	fields("### Numbers", [][3]string{
		{"format version, of a store with attributes", strconv.Itoa(Version), "Version"},
		{"of another store with kinds, times or negative weights", strconv.Itoa(codedVersion), "codedVersion"},
		{"entries and rows of a frame, at most", strconv.Itoa(sparse.MaxRange), "MaxRange"},
		{"rows of a store, at most", strconv.Itoa(maxRows), "maxRows"},
		{"bytes of a frame header", strconv.Itoa(headerBytes), "headerBytes"},
		{"bytes of a payload's head", strconv.Itoa(payloadHead), "payloadHead"},
		{"byte that announces a long row length", strconv.Itoa(escape), "escape"},
		{"value of b that announces raw ids", strconv.Itoa(rawBits), "rawBits"},
		{"codec of a plain payload", strconv.Itoa(codecPlain), "codecPlain"},
		{"bytes of the head of the other files", strconv.Itoa(fileHead), "fileHead"},
		{"bytes of an index entry", strconv.Itoa(indexEntry), "indexEntry"},
	})
	for _, magic := range []string{string(frameMagic[:]), indexMagic, degreesMagic, nodesMagic, orderMagic} {
		if text := fmt.Sprintf("`%s`", strings.ReplaceAll(magic, "\x00", `\0`)); !strings.Contains(page, text) {
			t.Errorf("the page does not name the magic %s", text)
		}
	}
	example := section(t, page, "## A worked example")
	dir := filepath.Join(fixtures, "v1", "path")
	for _, name := range []string{shardName(0x0123456789abcdef, 0), fileName(0x0123456789abcdef, indexEnding), fileName(0x0123456789abcdef, degreesEnding)} {
		var got []byte
		for _, line := range strings.Split(section(t, example, "### "+name), "\n") {
			if m := regexp.MustCompile(`^    ([0-9a-f]{4})  ((?:[0-9a-f]{2} ?)+)`).FindStringSubmatch(line); m != nil {
				if at, _ := strconv.ParseInt(m[1], 16, 32); int(at) != len(got) {
					t.Errorf("%s: line of byte %d stands at byte %d", name, at, len(got))
				}
				got = append(got, must(hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(m[2]), " ", "")))...)
			}
		}
		if want := must(os.ReadFile(filepath.Join(dir, name))); !bytes.Equal(got, want) {
			t.Errorf("%s: the page shows\n%swant\n%s", name, hex.Dump(got), hex.Dump(want))
		}
	}
	manifest := string(must(os.ReadFile(filepath.Join(dir, manifestName))))
	shown := strings.ReplaceAll(section(t, example, "### manifest"), "\n    ", "\n")
	if !strings.Contains(shown, manifest) {
		t.Errorf("manifest: the page shows\n%swant\n%s", shown, manifest)
	}
}
