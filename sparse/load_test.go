package sparse_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/sparse"
)

// withoutOnes has panels without values if all are 1, as a store may.
type withoutOnes struct{ *sparse.CSR }

func (m withoutOnes) SweepRows(ctx context.Context, lo, hi, workers int, visit func(worker int, p sparse.Panel) error) error {
	return m.CSR.SweepRows(ctx, lo, hi, workers, func(worker int, p sparse.Panel) error {
		ones := true
		for _, v := range p.Val {
			ones = ones && v == 1
		}
		if ones {
			p.Val = nil
		}
		return visit(worker, p)
	})
}

func TestLoadCopiesEveryEntry(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const n = 2*sparse.MaxRange + 100
	var entries, weighted []sparse.Triplet
	for c := range uint32(n) {
		entries = append(entries, sparse.Triplet{Row: 7, Col: c, Val: 1})
	}
	entries = append(entries, sparse.Triplet{Row: 3, Col: 5, Val: 1})
	weighted = append(append(weighted, entries...), sparse.Triplet{Row: n - 1, Col: 0, Val: 2.5})
	for _, entries := range [][]sparse.Triplet{entries, weighted} {
		want, err := sparse.FromTriplets(n, n, entries)
		if err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{1, 2, 7} {
			got, err := sparse.Load(context.Background(), withoutOnes{want}, workers)
			if err != nil {
				t.Fatal(err)
			}
			if got.Weighted() != want.Weighted() || got.NNZ() != want.NNZ() {
				t.Fatalf("weighted %v, %d entries", got.Weighted(), got.NNZ())
			}
			if diff := cmp.Diff(want.Ranges(), got.Ranges()); diff != "" {
				t.Fatal(diff)
			}
			for i := range n {
				wantCol, wantVal := want.Row(i)
				col, val := got.Row(i)
				if diff := cmp.Diff(wantCol, col) + cmp.Diff(wantVal, val); diff != "" {
					t.Fatalf("row %d: %s", i, diff)
				}
			}
		}
	}
}

func TestLoadBytes(t *testing.T) {
	for name, p := range map[string]pattern{
		"ones":     {rows: 5000, cols: 5000, mean: 8},
		"weighted": {rows: 5000, cols: 5000, mean: 8, weighted: true},
	} {
		a, err := sparse.Load(t.Context(), random(t, newRand(t, 4), p), 1)
		if err != nil {
			t.Fatal(err)
		}
		held := a.Bytes()
		if estimate := sparse.LoadBytes(int64(p.rows), a.NNZ(), p.weighted); estimate < held || estimate > held+held/10 {
			t.Errorf("%s: %d bytes estimated, %d allocated", name, estimate, held)
		}
	}
}
