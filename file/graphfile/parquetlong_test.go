package graphfile

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

type idPair struct {
	Source string `parquet:"source"`
	Target string `parquet:"target"`
}

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
}

// The library panics for some of the files.
func TestDamagedParquet(t *testing.T) {
	const change = 86
	for _, codec := range parquetCodecs {
		good := pairsFile(t, codec, idPair{"a", "b"}, idPair{"b", "c"}, idPair{"c", "a"})
		for at := range good {
			bad := bytes.Clone(good)
			bad[at] ^= change
			_, err := Read(Parquet, &Input{Name: "e.parquet", File: bytes.NewReader(bad), Size: int64(len(bad))}, func(*Batch) error { return nil })
			if err == nil {
				continue // the byte is part of a name or of statistics
			}
			if fault := new(nodefile.ParseError); !errors.As(err, &fault) || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%v, byte %d: %v", codec, at, err)
			}
		}
	}
}

// 32-bit ids are the same numbers with and without a dictionary.
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
