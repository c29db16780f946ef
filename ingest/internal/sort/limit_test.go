package sort

import (
	"errors"
	"testing"
)

// A hub has all its entries in one bucket, which may hold more than others
// do. Only memory limits it.
func TestLargeBucket(t *testing.T) {
	const hub = 3 * bucketEntries
	buckets := []bucket{{starts: []int{0, 1, 3}}, {starts: []int{0, hub, 3 * hub}}, {starts: []int{0, 5, 5}}}
	s := &Sorter{buckets: buckets, spans: make([]span, 2), narrow: true, Workers: 1}
	s.cutScratch()
	s.Limit = 4*2*hub + 4*2 + s.scratchBytes()
	if err := s.cutFillings(); err != nil {
		t.Fatal(err)
	}
	if len(s.fillings) != 2 || s.fillings[0].entries != hub+6 || s.fillings[1].entries != 2*hub+2 {
		t.Errorf("fillings %v", s.fillings)
	}
	s.Limit--
	var full *MemoryError
	if err := s.cutFillings(); !errors.As(err, &full) || full.Need != s.Limit+1 {
		t.Errorf("error %v, want need of %d bytes", err, s.Limit+1)
	}
	s.Limit = 4*(3*hub+8) + s.scratchBytes()
	if err := s.cutFillings(); err != nil || len(s.fillings) != 1 {
		t.Errorf("fillings %v, %v", s.fillings, err)
	}
}
