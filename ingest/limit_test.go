package ingest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestLargeBucketsInRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("sorts millions of lines")
	}
	for _, test := range testgraph.Sample(t, 3, []struct {
		name string
		c    Config
		line func(i int) string
		most int64 // bytes in addition to workerBytes
	}{
		{"star", Config{}, func(i int) string { return fmt.Sprintf("0 %d", i*7919%300_007+1) }, 8 << 20},
		{"star in the best order", Config{Order: AutoOrder}, func(i int) string { return fmt.Sprintf("0 %d", i*7919%300_007+1) }, 6 << 20},
		{"star by degree", Config{Directed: true, Order: DegreeOrder}, func(i int) string { return fmt.Sprintf("%d 300000", i*7919%300_007) }, 10 << 20},
		{"weighted star", Config{Duplicates: FirstDuplicates}, func(i int) string { return fmt.Sprintf("0 %d %d", i*7919%100_003+1, i%7) }, 8 << 20},
		{"copies", Config{}, func(int) string { return "1 2" }, 7 << 20},
		{"copies both ways", Config{Duplicates: MinDuplicates}, func(i int) string { return []string{"1 2 0.5", "2 1 0.25"}[i%2] }, 7 << 20},
		{"sums", Config{Duplicates: SumDuplicates}, func(i int) string { return fmt.Sprintf("1 2 0.%d", i*7919%997) }, 7 << 20},
	}) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := write(t, file{"e.txt", edgeText(600_000, test.line)})
			dir, want, err := ingestInto(t, fixed(test.c), path...)
			if err != nil {
				t.Fatal(err)
			}
			c := test.c
			c.Workers, c.Memory = 2, 2*workerBytes+pageBytes+test.most
			limited, report, err := ingestInto(t, fixed(c), path...)
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(contents(t, limited), contents(t, dir)) {
				t.Error("another store")
			}
			if report.Duplicates != want.Duplicates || report.Reciprocal != want.Reciprocal || report.SpilledBytes == 0 {
				t.Errorf("report %+v, want %+v", report, want)
			}
		})
	}
}

func TestDeclaredRowsMustFit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.mtx")
	text := "%%MatrixMarket matrix coordinate pattern general\n4000000000 4000000000 1\n1 2\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var full *LimitError
	_, err := Run(t.Context(), filepath.Join(t.TempDir(), "g"), []string{path}, &Config{Memory: 1 << 30})
	if !errors.As(err, &full) || full.Need < 6*4_000_000_000 {
		t.Errorf("error %v", err)
	}
}

func TestIDsOfOtherWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	path := write(t, file{"e.txt", edgeText(300_000, func(i int) string { return fmt.Sprintf("user%d item%d", i*7919%200_003, i*104_729%200_003) })})
	least := new(*LimitError)
	if _, _, err := ingestInto(t, fixed(Config{Workers: 7, Memory: 1 << 20}), path...); !errors.As(err, least) {
		t.Fatal(err)
	}
	for _, more := range testgraph.Sample(t, 2, []int64{0, 1, 2, 3}) {
		c := fixed(Config{Workers: 7, Memory: (*least).Need + more<<19})
		if _, _, err := ingestInto(t, c, path...); err != nil {
			t.Errorf("%d bytes: %v", c.Memory, err)
		}
	}
}
