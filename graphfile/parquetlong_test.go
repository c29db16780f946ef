package graphfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

type idPair struct {
	Source string `parquet:"source"`
	Target string `parquet:"target"`
}

// pairsFile writes rows of ids as one page of each column.
func pairsFile(t *testing.T, codec compress.Codec, rows ...idPair) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[idPair](&b, parquet.Compression(codec), parquet.PageBufferSize(64<<20))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var parquetCodecs = []compress.Codec{
	&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw,
}

// TestParquetPages reads files of every compression: as they are, with pages that
// declare another size than they have, and with a page that outgrows the limit, which
// is never made.
func TestParquetPages(t *testing.T) {
	read := func(data []byte, limit int64) (rows int, taken uint64, err error) {
		full := errors.New("full")
		file := &Input{Name: "e.parquet", File: bytes.NewReader(data), Size: int64(len(data)), Hold: func(bytes int64) error {
			if bytes > limit {
				return full
			}
			return nil
		}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = Read(Parquet, file, func(b *Batch) error {
			rows += b.len() / 2
			return nil
		})
		runtime.ReadMemStats(&after)
		if errors.Is(err, full) {
			err = full
		}
		return rows, after.TotalAlloc - before.TotalAlloc, err
	}
	large := idPair{"b", strings.Repeat("a", 1<<12)}
	codecs := parquetCodecs
	if testing.Short() {
		codecs = codecs[1:2]
	}
	for _, codec := range codecs {
		good := pairsFile(t, codec, idPair{"a", "b"}, idPair{"b", "c"})
		if rows, _, err := read(good, 1<<30); rows != 2 || err != nil {
			t.Errorf("%v: %d rows, %v", codec, rows, err)
		}
		if codec != &parquet.Uncompressed {
			// A page begins with its kind and its size: two fields of one byte.
			const size = 4 + 3
			wrong := bytes.Clone(good)
			wrong[size] -= 2
			_, _, err := read(wrong, 1<<30)
			if want := "e.parquet@4: column source: a page that does not have the size that its header declares; fetch the file again"; err == nil || err.Error() != want {
				t.Errorf("%v: %v\nwant %s", codec, err, want)
			}
		}
		rows := make([]idPair, 12<<8)
		for i := range rows {
			rows[i] = large
		}
		long := pairsFile(t, codec, rows...)
		if rows, taken, err := read(long, 8<<20); err == nil || err.Error() != "full" || taken > 4<<20 {
			t.Errorf("%v: %d rows, %v, took %d bytes", codec, rows, err, taken)
		}
	}
	_, _, err := read(pairsFile(t, &parquet.Zstd, idPair{"a", "b"}, idPair{"b", strings.Repeat("a", 1<<20+1)}), 1<<30)
	if want := "e.parquet: row 1: target is longer than 1 MiB; correct it"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	footer := append([]byte{0x49, 0xfc}, binary.AppendUvarint(nil, 1<<20)...) // field 4, a list of empty records
	footer = append(footer, make([]byte, 1<<20+1)...)
	file := append([]byte("PAR1"), footer...)
	file = append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), "PAR1"...)
	if _, taken, err := read(file, 64<<20); err == nil || err.Error() != "full" || taken > 4<<20 {
		t.Errorf("%v, took %d bytes", err, taken)
	}
}

// TestDamagedParquet changes each byte. What is wrong is said in terms of the file,
// though the library panics over some of them, and takes all memory over others.
func TestDamagedParquet(t *testing.T) {
	const change = 86
	for _, codec := range parquetCodecs {
		good := pairsFile(t, codec, idPair{"a", "b"}, idPair{"b", "c"}, idPair{"c", "a"})
		for at := range good {
			bad := bytes.Clone(good)
			bad[at] ^= change
			_, err := Read(Parquet, &Input{Name: "e.parquet", File: bytes.NewReader(bad), Size: int64(len(bad))}, func(*Batch) error { return nil })
			if err == nil {
				continue // what is written in names and statistics
			}
			if fault := new(nodefile.ParseError); !errors.As(err, &fault) || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%v, byte %d: %v", codec, at, err)
			}
		}
	}
}

// Strings that are written as what they share with those before them become as long as
// they are only within the limit, and read the same.
func TestParquetDifferences(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a third of a second")
	}
	type delta struct {
		Source string `parquet:"source,delta"`
		Target string `parquet:"target,optional,delta"`
		Weight int64  `parquet:"weight,delta"`
	}
	write := func(codec compress.Codec, version, rows, shared int) []byte {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[delta](&b, parquet.Compression(codec), parquet.PageBufferSize(64<<20), parquet.DataPageVersion(version))
		prefix := strings.Repeat("a", shared)
		for i := range rows {
			target := fmt.Sprintf("%s%d", prefix, i+1)
			if _, err := w.Write([]delta{{fmt.Sprintf("%s%d", prefix, i), target, int64(i)}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	full := errors.New("full")
	read := func(data []byte, limit int64) (edges int, taken uint64, err error) {
		file := &Input{Name: "e.parquet", File: bytes.NewReader(data), Size: int64(len(data)), Hold: func(bytes int64) error {
			if bytes > limit {
				return full
			}
			return nil
		}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = Read(Parquet, file, func(b *Batch) error {
			edges += b.len() / 2
			return nil
		})
		runtime.ReadMemStats(&after)
		return edges, after.TotalAlloc - before.TotalAlloc, err
	}
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy} {
		for _, version := range []int{1, 2} {
			if edges, _, err := read(write(codec, version, 1000, 5), 1<<30); edges != 1000 || err != nil {
				t.Errorf("%v, v%d: %d edges, %v", codec, version, edges, err)
			}
			if edges, taken, err := read(write(codec, version, 1000, 1<<13), 8<<20); !errors.Is(err, full) || taken > 4<<20 {
				t.Errorf("%v, v%d, a shared prefix: %d edges, %v, took %d bytes", codec, version, edges, err, taken)
			}
			_, taken, err := read(write(codec, version, 2, 1<<20), 1<<30)
			if want := "a page of differences with impossible numbers; fetch the file again"; err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v, v%d, long values: %v, took %d bytes", codec, version, err, taken)
			}
		}
	}
}

// TestParquetNegativeNumbers: ids of 32 bits are the same numbers whether a dictionary has
// them or not.
func TestParquetNegativeNumbers(t *testing.T) {
	type edge struct {
		Source int32 `parquet:"source,dict"`
		Target int32 `parquet:"target"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[edge](&b)
	if _, err := w.Write([]edge{{-5, -7}, {3, -7}, {-5, 4}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := ""
	_, err := Read(Parquet, &Input{Name: "e.parquet", File: bytes.NewReader(b.Bytes()), Size: int64(b.Len())}, func(b *Batch) error {
		got += string(b.Text)
		return nil
	})
	if want := "-5-73-7-54"; err != nil || got != want {
		t.Errorf("ids %q, want %q, error %v", got, want, err)
	}
}
