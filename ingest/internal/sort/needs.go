package sort

import "math"

// MemoryError is returned if the limit of a [Sorter] is too low.
type MemoryError struct{ Need, Limit int64 }

// Error implements error.
func (e *MemoryError) Error() string { return "ingest: entries do not fit the memory" }

// Guess is what is known of entries before they are read.
type Guess struct {
	Rows, Entries float64
	Values        bool
	Memory        int64 // 0: no limit
	Workers       int
	Hubs          []float64 // how many entries the longest rows have at most, falling
}

// Scratch bounds what sorting takes beside the entries and the room of each worker:
// where buckets are gathered or sorted in runs, as [Sorter.Needs], and where all
// entries are in memory together. The bucket of a hub has few other rows.
func (g Guess) Scratch() (limited, together float64) {
	s := Sorter{narrow: isNarrow(int(g.Rows)), Values: g.Values}
	entry, merged, finish := float64(s.entryBytes()), float64(s.mergedBytes()), float64(s.finishBytes())
	usual, workers := max(bucketEntries, g.Entries/maxBuckets), float64(g.Workers)
	limited = g.Entries / usual * 8 * maxSpans
	together = limited + workers*max(0, usual*(entry+2*merged)-BucketBytes)
	share := math.Inf(1)
	if g.Memory > 0 {
		share = float64(shareOf(g.Memory, g.Workers))
	}
	for i, hub := range g.Hubs[:min(len(g.Hubs), finished(g.Workers))] {
		bytes := (hub + usual/2) * finish
		if bytes > runShare*share { // it may be sorted in runs
			runs := hub*entry/BucketBytes + maxSpans/spansInFilling + 2
			bytes = max(runShare*share, float64(runsBytes(int64(share), int64(runs), int64(entry))))
			limited += min(hub, g.Rows) * merged
		}
		if i >= g.Workers {
			continue
		}
		limited += max(0, bytes-BucketBytes)
		if hub > usual/2 {
			together += hub * (entry + merged)
		}
	}
	return limited, together
}

// KeyBytes bounds the bytes of a key in the temporary file, in most graphs: a
// bucket has twice as many rows as others at most.
func (g Guess) KeyBytes() float64 {
	rows := g.Rows * max(bucketEntries/max(1, g.Entries), 1./maxBuckets)
	return max(4, math.Ceil((math.Ceil(math.Log2(g.Rows))+math.Ceil(math.Log2(max(1, rows)))+2)/8))
}

// EntryBytes returns the memory of an entry if there are so many rows.
func EntryBytes(rows int, values bool) int64 {
	s := Sorter{narrow: isNarrow(rows), Values: values}
	return s.entryBytes()
}

// LeastSpan and MostSpan bound the bytes of a span, of which a filling has one at least
// and by which it may miss the limit, where all entries take so many.
func LeastSpan(all float64) float64 { return min(all, max(LeastBytes, all/maxSpans)) }

// MostSpan is explained at LeastSpan.
func MostSpan(all, limit float64) float64 { return min(all/leastSpans, limit/(2*spansInFilling)) }
