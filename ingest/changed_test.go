package ingest

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The text would be a mixture of two contents.
func TestInputChangedMeanwhile(t *testing.T) {
	const lines = 150_000
	matrix, err := os.ReadFile("../file/graphfile/testdata/small-csr.npz")
	if err != nil {
		t.Fatal(err)
	}
	stored := func(text string) string { return packed(text[:len(text)/2]) + packed(text[len(text)/2:]) }
	edges := strings.Repeat("aa\tbb\n", lines)
	graphML := graphMLText("undirected", slices.Repeat([]string{"1 2"}, lines/4)...)
	change := map[string]func(path string, size int64) error{
		"shorter by lines": func(path string, size int64) error { return os.Truncate(path, size/2/6*6) },
		"longer": func(path string, size int64) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("\n")
			return err
		},
		"written again": func(path string, size int64) error {
			return os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour))
		},
	}
	workers := []int{1, 3}
	if testing.Short() {
		workers = []int{3}
	}
	for _, input := range []file{
		{"e.tsv", edges}, {"e.tsv.gz", stored(edges)}, {"g.graphml", graphML}, {"g.npz", string(matrix)},
	} {
		if testing.Short() && !strings.HasPrefix(input.name, "e.tsv") {
			break
		}
		for name, do := range change {
			if name == "shorter by lines" && !strings.HasSuffix(input.name, ".tsv") {
				continue // cannot be taken for a whole file
			}
			for _, workers := range workers {
				paths := write(t, input)
				c := &Config{Workers: workers, Progress: func(stage string, _, _ int64) {
					if do == nil || !strings.HasPrefix(stage, "reading") {
						return
					}
					if err := do(paths[0], int64(len(input.text))); err != nil {
						t.Error(err)
					}
					do = nil
				}}
				once := do
				_, _, err := ingestInto(t, c, paths...)
				if do != nil {
					t.Errorf("%s, %s: no progress was told", input.name, name)
				}
				do = once
				if err == nil || !strings.HasPrefix(err.Error(), paths[0]) || !strings.HasSuffix(err.Error(), "; wait until the other program has written it") {
					t.Errorf("%s, %s, %d workers: %v", input.name, name, workers, err)
				}
			}
		}
	}
}
