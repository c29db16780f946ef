package tablefile

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
)

func seeds(f *testing.F, pattern string, add func(data []byte)) {
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || files == nil {
		f.Fatal(files, err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		add(data)
	}
}

// slowly is the reference, without error checks.
func slowly(text string) (rows []map[int]float64) {
	text = strings.TrimPrefix(text, "\ufeff")
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\v\f\r", r) })
		if len(fields) == 0 {
			continue
		}
		row := map[int]float64{}
		for _, pair := range fields[1:] {
			index, value, _ := strings.Cut(pair, ":")
			j, _ := strconv.Atoi(index)
			row[j], _ = strconv.ParseFloat(value, 64)
		}
		rows = append(rows, row)
	}
	return rows
}

func FuzzLIBSVM(f *testing.F) {
	seeds(f, "*.svm", func(data []byte) { f.Add(data, false) })
	f.Add([]byte("\ufeff+1 1:0.5\t2:1 # c\r\n-1\n"), false)
	f.Add([]byte("1 0:1 1:2 2:3\n1 0:2 1:2 2:3"), false)
	f.Add([]byte("1 0:1 4:2"), true)
	f.Fuzz(func(t *testing.T, data []byte, zeroBased bool) {
		path := write(t, "x.svm", data)
		o := &Options{ZeroBased: zeroBased}
		file, err := Inspect(context.Background(), path, o)
		if err != nil || file.Cols > 1<<16 {
			return
		}
		got, err := read[float64](path, o)
		if err != nil {
			t.Fatal(err) // the first reading has found nothing
		}
		want := slowly(string(data))
		if len(want) != len(got.rows) {
			t.Fatalf("%d rows, want %d", len(got.rows), len(want))
		}
		for i, row := range got.rows {
			for j, v := range row {
				index := j + 1
				if zeroBased {
					index = j
				}
				if v != want[i][index] || v-v != 0 {
					t.Fatalf("row %d, column %d: %v, want %v", i, j, v, want[i][index])
				}
			}
			if _, wrong := table.ParseNumber([]byte(got.labels[i]), 64); wrong != "" {
				t.Fatalf("label %q", got.labels[i])
			}
		}
		_ = Recognize("x", data)
	})
}

func FuzzArray(f *testing.F) {
	seeds(f, "*.npy", func(data []byte) { f.Add(data) })
	seeds(f, "*.npz", func(data []byte) { f.Add(data) })
	f.Add(npyFile("<i8", "False", "(1, 2)", []int64{1, 2}))
	f.Add(npyFile("<f4", "True", "(2, 2)", []float32{1, 2, 3, 4}))
	f.Add(npzFile(0, "X", npyFile("|i1", "False", "(2,)", []int8{1, 2})))
	f.Add(sparseFile("csr", [2]int64{3, 4}, []int64{0, 2, 2, 5}, []int32{3, 0, 1, 2, 1}, []float64{1, 2, 3, 4, 5}))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := "x.npy"
		if isArchive(data) {
			name = "x.npz"
		}
		path := write(t, name, data)
		file, err := Inspect(context.Background(), path, nil)
		if err != nil {
			if wrong := new(nodefile.ParseError); !errors.As(err, &wrong) && !errors.Is(err, ErrStream) && !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
				t.Fatal(err)
			}
			return
		}
		if int64(file.Rows)*int64(file.Cols) > 1<<20 {
			return // sizes may exceed the contents of an archive
		}
		got, err := read[float64](path, nil)
		if wrong := new(nodefile.ParseError); err != nil && !errors.As(err, &wrong) {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		for _, row := range got.rows {
			for _, v := range row {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatal(v)
				}
			}
		}
	})
}
