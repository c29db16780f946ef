package ingest

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// TestFillings holds that what comes of lines is the same when their entries are
// in memory together and when they are in a few fillings, and that no more of
// them is in memory than may be.
func TestFillings(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	defer func(n int) { narrowBuckets = n }(narrowBuckets)
	file, err := durable.NewFile(durable.OS, filepath.Join(t.TempDir(), spillName))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Abort()
	rapid.Check(t, func(t *rapid.T) {
		narrowBuckets = rapid.SampledFrom([]int{0, 4096}).Draw(t, "narrow buckets")
		rows := rapid.SampledFrom([]int{2, 300, 1 << 20}).Draw(t, "rows")
		weighted := rapid.Bool().Draw(t, "weighted")
		row := rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32Range(0, uint32(rows-1)), rapid.Just[uint32](noRow))
		var parts []*part
		for range rapid.IntRange(2, 10).Draw(t, "parts") {
			p := &part{edges: rapid.IntRange(1, 50).Draw(t, "edges"), weighted: weighted}
			for range 2 * p.edges {
				c := row.Draw(t, "row")
				if c != noRow {
					c %= uint32(rows)
				}
				p.code = append(p.code, c)
			}
			for range p.edges {
				if weighted {
					p.weight = append(p.weight, rapid.SampledFrom([]float64{0, 1, 0.1, 2.5}).Draw(t, "weight"))
				}
			}
			parts = append(parts, p)
		}
		v := view(rapid.IntRange(0, int(mirrored)).Draw(t, "view"))
		values, loops := weighted || rapid.Bool().Draw(t, "values"), rapid.Bool().Draw(t, "loops")
		workers := rapid.IntRange(1, 3).Draw(t, "workers")
		merge := merger{
			policy: Duplicates(rapid.IntRange(0, len(duplicateNames)-1).Draw(t, "duplicates")),
			values: values, directed: v != undirected, perDirection: rapid.Bool().Draw(t, "per direction"),
			symmetric: v == undirected && rapid.Bool().Draw(t, "symmetric"),
		}
		newSorter := func() *sorter {
			return &sorter{
				ctx: t.Context(), rows: rows, view: v, values: values, keepLoops: loops, workers: workers, merge: merge,
				load:      func(_ int, p *part) ([]uint32, []float64, error) { return p.code, p.weight, nil },
				temporary: func(int64) (*spill, error) { return &spill{file: file}, nil },
			}
		}
		all, few := newSorter(), newSorter()
		length := rapid.IntRange(1, 20).Draw(t, "entries of a run")
		inRuns := func(s *sorter) {
			s.runLength = length
			for i := range s.buckets {
				s.buckets[i].inRuns = true
			}
		}
		if _, err := all.plan(parts); err != nil {
			t.Fatal(err)
		}
		want, wantCount, wantErr := sortedBuckets(all)
		if _, err := few.plan(parts); err != nil {
			t.Fatal(err)
		}
		most := 0 // entries of a span
		for i := range few.spans {
			n := 0
			for _, b := range few.buckets {
				n += b.starts[i+1] - b.starts[i]
			}
			most = max(most, n)
		}
		inRuns(few)
		if rapid.Bool().Draw(t, "in memory") { // together, in runs
			together := newSorter()
			if _, err := together.plan(parts); err != nil {
				t.Fatal(err)
			}
			inRuns(together)
			got, gotCount, err := sortedBuckets(together)
			if !reflect.DeepEqual(err, wantErr) || err == nil && (!reflect.DeepEqual(got, want) || gotCount != wantCount) {
				t.Fatalf("in runs: %+v %+v %v\nwant %+v %+v %v", got, gotCount, err, want, wantCount, wantErr)
			}
		}
		if rapid.Bool().Draw(t, "some as they are") {
			few.buckets[0].inRuns = false
		}
		few.limit = few.scratchBytes() + int64(most)*few.entryBytes()
		got, gotCount, err := sortedBuckets(few)
		if !reflect.DeepEqual(err, wantErr) || err == nil && (!reflect.DeepEqual(got, want) || gotCount != wantCount) {
			t.Errorf("%+v %+v %v\nwant %+v %+v %v", got, gotCount, err, want, wantCount, wantErr)
		}
		n := 0
		for _, f := range few.fillings {
			if f.entries > most {
				t.Errorf("%d entries in memory, may be %d", f.entries, most)
			}
			n += f.entries
		}
		if total := few.entries(); n != total || total > most && len(few.fillings) < 2 {
			t.Errorf("%d entries in %d fillings, want %d", n, len(few.fillings), total)
		}
	})
}

// sortedBuckets returns copies of the buckets of a sorter.
func sortedBuckets(s *sorter) (all []sorted, sum mergeCount, err error) {
	err = s.each(func(b *sorted) error {
		all = append(all, sorted{lo: b.lo, ptr: slices.Clone(b.ptr), col: slices.Clone(b.col), val: slices.Clone(b.val)})
		sum.add(b.mergeCount)
		return nil
	})
	return all, sum, err
}
