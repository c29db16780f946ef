package shard

import (
	"errors"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

// swept opens the store in dir for a run with the given memory limit.
func swept(t *testing.T, dir string, memory int64, copied bool) *Sweeper {
	t.Helper()
	s := must(OpenSweeper(t.Context(), dir, &Options{Memory: memory, Workers: 2}, copied))
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// band returns a matrix whose row i has the columns i … i+width, as far as there are rows.
func band(rows, width int) *sparse.CSR {
	ptr, col := make([]int64, rows+1), make([]uint32, 0, rows*(width+1))
	for i := range rows {
		for j := i; j <= min(i+width, rows-1); j++ {
			col = append(col, uint32(j))
		}
		ptr[i+1] = int64(len(col))
	}
	return must(sparse.NewCSR(rows, rows, ptr, col, nil))
}

// Frames in memory are given up only if the run does not fit with them.
func TestSettle(t *testing.T) {
	const memory = 1 << 27
	dir, over := opened(t, band(1<<15, 100), "none").listed.dir, errors.New("too much")
	for _, fits := range []bool{true, false} { // with frames in memory
		s := swept(t, dir, memory, false)
		all, before := s.Held(), s.Store
		if s.resident == 0 {
			t.Fatal("nothing of the store stays in memory")
		}
		var last int64 // held at the last call
		err := s.Settle(t.Context(), true, func() (sweeps, rowBytes int, err error) {
			if last = s.Held(); last == all && !fits {
				return 0, 0, over
			}
			return 2, 8, nil
		})
		if streams := s.resident == 0; err != nil || streams == fits || last != s.Held() || streams != (last < all) {
			t.Errorf("fits %v: %v; streams: %v, last planned with %d bytes, holds %d of %d", fits, err, streams, last, s.Held(), all)
		}
		if s.Store != before {
			t.Errorf("fits %v: another store was opened; the memory of the first is used twice", fits)
		}
		a := must(sparse.Load(t.Context(), s.A, 2))
		if held := s.out.chunks[0].data.Load() != nil; held != fits || a.NNZ() != s.Manifest.Entries {
			t.Errorf("fits %v: frames are held: %v; %d of %d entries", fits, held, a.NNZ(), s.Manifest.Entries)
		}
	}
	s := swept(t, dir, memory, false)
	all, back := s.Held(), int64(0)
	for i := range s.back.chunks {
		if c := &s.back.chunks[i]; c.resident {
			back += int64(c.bytes)
		}
	}
	if tight := swept(t, dir, all, false); tight.resident == 0 || tight.Held() > all/2 {
		t.Errorf("%d bytes are held, %d of them kept, by a run with %d", tight.Held(), tight.resident, all)
	}
	if s.Forward = true; back == 0 || s.Held() != all-back {
		t.Errorf("without sweeps of the transpose %d bytes are held, want %d less %d", s.Held(), all, back)
	}
	s.Forward = false
	if err := s.Settle(t.Context(), true, func() (int, int, error) { return 0, 0, over }); err != over || s.resident > 0 {
		t.Errorf("what never fits: %v, keeps %d", err, s.resident)
	}
}

// A copy is for runs with eight times its memory, and takes a quarter of that at the most.
func TestCopyRoom(t *testing.T) {
	m := &Manifest{Rows: 5000, Entries: 40_000}
	plain := copyBytes(m)
	run := 8 * plain
	if room := copyRoom(m, run); room < plain || room > run/4 {
		t.Errorf("%d bytes may be taken of %d, the copy takes %d", room, run, plain)
	}
	for _, little := range []int64{0, run - 8} {
		if room := copyRoom(m, little); room != 0 {
			t.Errorf("%d bytes may be taken of %d, which is too little", room, little)
		}
	}
}

// A copy is included in the estimate before it is made, has plain ids if the run does not fit together with
// tiles, and is swept instead of the store. There is no copy if memory is short.
func TestSettleCopy(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a matrix with millions of entries")
	}
	dir := opened(t, crowded(0, 1, 1), "").listed.dir
	for _, fits := range []bool{true, false} { // in another layout
		s := swept(t, dir, 0, true)
		plain := s.Held()
		if s.A != s.Store || s.resident > 0 || plain <= s.Store.Held() {
			t.Fatalf("holds %d, %d of the store, %d kept", plain, s.Store.Held(), s.resident)
		}
		err := s.Settle(t.Context(), true, func() (sweeps, rowBytes int, err error) {
			if !fits && s.Held() != plain {
				err = sparse.ErrMemory
			}
			return 100, 32, err
		})
		if err != nil || s.Copy.Tiled != fits || s.Held()-s.Store.Held() != s.Copy.Matrix {
			t.Errorf("fits %v: %v, tiled: %v, %d bytes of %d are counted for the copy", fits, err, s.Copy.Tiled, s.Held()-s.Store.Held(), s.Copy.Matrix)
		}
		if err := s.Load(t.Context()); err != nil || s.A == s.Store {
			t.Errorf("%v, a copy is swept: %v", err, s.A != s.Store)
		}
	}
	if s := swept(t, dir, 1<<27, true); s.resident == 0 || s.Held() != s.Store.Held() {
		t.Error("a copy that takes an eighth of the memory or more")
	}
	if s := swept(t, dir, 1<<30, true); s.resident > 0 || s.Held() == s.Store.Held() {
		t.Error("no copy where it takes less than an eighth of the memory")
	}
}
