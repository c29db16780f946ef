package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A hub has all its entries in one bucket, which may hold more than a round
// usually does. Only memory limits it.
func TestBucketLargerThanARound(t *testing.T) {
	buckets := []bucket{{entries: 3}, {entries: 3 * roundEntries}, {entries: 5}}
	s := &sorter{lines: 10, buckets: buckets, narrow: true, workers: 1}
	s.limit = 4*3*roundEntries + s.scratchBytes()
	rounds, err := s.rounds()
	if err != nil {
		t.Fatal(err)
	}
	if len(rounds) != 3 || rounds[1][0].entries != 3*roundEntries {
		t.Errorf("rounds %v", rounds)
	}
	s.limit--
	var full *MemoryError
	if _, err := s.rounds(); !errors.As(err, &full) || full.Need != s.limit+1 {
		t.Errorf("error %v, want need of %d bytes", err, s.limit+1)
	}
}

func TestDeclaredRowsMustFit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.mtx")
	text := "%%MatrixMarket matrix coordinate pattern general\n4000000000 4000000000 1\n1 2\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var full *MemoryError
	_, err := Run(t.Context(), filepath.Join(t.TempDir(), "g"), []string{path}, &Config{Memory: 1 << 30})
	if !errors.As(err, &full) || full.Need < 8*4_000_000_000 {
		t.Errorf("error %v", err)
	}
}
