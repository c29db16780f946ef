package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A hub has all its entries in one bucket, which may hold more than others
// do. Only memory limits it.
func TestLargeBucket(t *testing.T) {
	const hub = 3 * bucketEntries
	buckets := []bucket{{starts: []int{0, 1, 3}}, {starts: []int{0, hub, 3 * hub}}, {starts: []int{0, 5, 5}}}
	s := &sorter{buckets: buckets, largest: []int{3 * hub}, spans: make([][]*part, 2), narrow: true, workers: 1}
	s.limit = 4*2*hub + 4*2 + s.scratchBytes()
	if err := s.cutFillings(); err != nil {
		t.Fatal(err)
	}
	if len(s.fillings) != 2 || s.fillings[0].entries != hub+6 || s.fillings[1].entries != 2*hub+2 {
		t.Errorf("fillings %v", s.fillings)
	}
	s.limit--
	var full *MemoryError
	if err := s.cutFillings(); !errors.As(err, &full) || full.Need != s.limit+1 {
		t.Errorf("error %v, want need of %d bytes", err, s.limit+1)
	}
	s.limit = 4*(3*hub+8) + s.scratchBytes()
	if err := s.cutFillings(); err != nil || len(s.fillings) != 1 {
		t.Errorf("fillings %v, %v", s.fillings, err)
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
	if !errors.As(err, &full) || full.Need < 6*4_000_000_000 {
		t.Errorf("error %v", err)
	}
}
