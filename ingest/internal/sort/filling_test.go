package sort

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/internal/durable"
)

func TestFillings(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	file, err := durable.NewFile(durable.OS, filepath.Join(t.TempDir(), SpillName))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Abort()
	rapid.Check(t, func(t *rapid.T) {
		wide := rapid.Bool().Draw(t, "wide keys")
		rows := rapid.SampledFrom([]int{2, 300, 1 << 20}).Draw(t, "rows")
		weighted := rapid.Bool().Draw(t, "weighted")
		row := rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32Range(0, uint32(rows-1)), rapid.Just[uint32](NoRow))
		type part struct {
			code   []uint32
			weight []float64
		}
		var parts []part
		var edges []int
		for range rapid.IntRange(2, 10).Draw(t, "parts") {
			var p part
			n := rapid.IntRange(1, 50).Draw(t, "edges")
			for range 2 * n {
				c := row.Draw(t, "row")
				if c != NoRow {
					c %= uint32(rows)
				}
				p.code = append(p.code, c)
			}
			for range n {
				if weighted {
					p.weight = append(p.weight, rapid.SampledFrom([]float64{0, 1, 0.1, 2.5}).Draw(t, "weight"))
				}
			}
			parts, edges = append(parts, p), append(edges, n)
		}
		v := View(rapid.IntRange(0, int(Mirrored)).Draw(t, "view"))
		values, loops := weighted || rapid.Bool().Draw(t, "values"), rapid.Bool().Draw(t, "loops")
		workers := rapid.IntRange(1, 3).Draw(t, "workers")
		merge := Merger{
			Policy: Policy(rapid.IntRange(0, int(Error)).Draw(t, "duplicates")),
			Values: values, Directed: v != Undirected, PerDirection: rapid.Bool().Draw(t, "per direction"),
			Symmetric: v == Undirected && rapid.Bool().Draw(t, "symmetric"),
		}
		newSorter := func() *Sorter {
			return &Sorter{
				wide:    wide,
				Context: t.Context(), Rows: rows, View: v, Values: values, KeepLoops: loops, Workers: workers, Merge: merge,
				Load:      func(_, p int) ([]uint32, []float64, error) { return parts[p].code, parts[p].weight, nil },
				Temporary: func(int64) (*Spill, error) { return &Spill{file: file}, nil },
			}
		}
		all, few := newSorter(), newSorter()
		length := rapid.IntRange(1, 20).Draw(t, "entries of a run")
		inRuns := func(s *Sorter) {
			s.runLength = length
			for i := range s.buckets {
				s.buckets[i].inRuns = true
			}
		}
		if _, err := all.Plan(edges); err != nil {
			t.Fatal(err)
		}
		want, wantCount, wantErr := sortedBuckets(all)
		if _, err := few.Plan(edges); err != nil {
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
			if _, err := together.Plan(edges); err != nil {
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
		few.Limit = few.scratchBytes(true) + int64(most)*few.form.bytes()
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
		if total := few.Entries(); n != total || total > most && len(few.fillings) < 2 {
			t.Errorf("%d entries in %d fillings, want %d", n, len(few.fillings), total)
		}
	})
}

func sortedBuckets(s *Sorter) (all []Rows, sum Count, err error) {
	err = s.Each(func(b *Rows) error {
		all = append(all, Rows{Lo: b.Lo, Ptr: slices.Clone(b.Ptr), Col: slices.Clone(b.Col), Val: slices.Clone(b.Val)})
		sum.Add(b.Count)
		return nil
	})
	return all, sum, err
}
