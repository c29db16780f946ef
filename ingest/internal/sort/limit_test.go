package sort

import (
	"errors"
	"testing"
)

// Each hub has all its entries in one bucket, and only memory limits the size of the bucket.
func TestLargeBuckets(t *testing.T) {
	const hub, hubs = 3 * bucketEntries, 6
	buckets := []bucket{{starts: []int{0, 1, 3}}, {starts: []int{0, 5, 5}}}
	for range hubs {
		buckets = append(buckets, bucket{starts: []int{0, hub, 3 * hub}})
	}
	s := &Sorter{buckets: buckets, spans: make([]span, 2), form: entryForm{narrow: true}, Workers: 1}
	s.cutScratch()
	s.Limit = 4*(2*hub*hubs+2) + s.scratchBytes(true)
	if err := s.cutFillings(); err != nil {
		t.Fatal(err)
	}
	if len(s.fillings) != 2 || s.fillings[0].entries != hub*hubs+6 || s.fillings[1].entries != 2*hub*hubs+2 {
		t.Errorf("fillings %v", s.fillings)
	}
	s.Limit--
	var full *MemoryError
	if err := s.cutFillings(); !errors.As(err, &full) || full.Need != s.Limit+1 {
		t.Errorf("error %v, want need of %d bytes", err, s.Limit+1)
	}
	s.Limit = 4*(3*hub*hubs+8) + s.scratchBytes(false)
	if err := s.cutFillings(); err != nil || len(s.fillings) != 1 {
		t.Errorf("fillings %v, %v", s.fillings, err)
	}
}
