package shard

import (
	"sync"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

func swept(t *testing.T, dir string, memory int64, copied bool) *Sweeper {
	t.Helper()
	s := must(OpenSweeper(t.Context(), dir, &Options{Memory: memory, Workers: 2}, copied))
	t.Cleanup(func() { _ = s.Close() })
	return s
}

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

func TestKeepOnDisk(t *testing.T) {
	const memory = 1 << 27
	dir := opened(t, band(1<<15, 100), "none").listed.dir
	for _, fits := range []bool{true, false} {
		s := swept(t, dir, memory, false)
		all, before := s.Held(), s.Store
		if s.resident == 0 {
			t.Fatal("nothing of the store stays in memory")
		}
		if !fits {
			if isLess, err := s.KeepOnDisk(); err != nil || !isLess || s.resident > 0 || s.Held() >= all || !s.o.Stream || s.Copy != nil || s.A != s.entries() {
				t.Errorf("%v, less: %v; keeps %d; holds %d of %d", err, isLess, s.resident, s.Held(), all)
			}
			if isLess, err := s.KeepOnDisk(); err != nil || isLess {
				t.Errorf("again: %v, less: %v", err, isLess)
			}
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
	for _, c := range s.back.chunks {
		if c.resident.Load() {
			back += int64(c.bytes)
		}
	}
	if tight := swept(t, dir, all, false); tight.resident == 0 || tight.Held() > all/2 {
		t.Errorf("%d bytes are held, %d of them kept, by a run with %d", tight.Held(), tight.resident, all)
	}
	if s.Forward = true; back == 0 || s.Held() != all-back {
		t.Errorf("without sweeps of the transpose %d bytes are held, want %d less %d", s.Held(), all, back)
	}
}

// Jobs that reweigh edges sweep the store while frames cease to be resident.
func TestKeepOnDiskDuringSweeps(t *testing.T) {
	s := swept(t, opened(t, band(1<<13, 50), "").listed.dir, 1<<27, false)
	store := s.Store
	done := make(chan error)
	var once sync.Once
	begun := make(chan struct{})
	go func() {
		for range 3 {
			if err := sparse.Sweep(t.Context(), store, 2, func(int, sparse.Panel) error {
				once.Do(func() { close(begun) })
				return nil
			}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	<-begun
	must(s.KeepOnDisk())
	must(0, <-done)
	for i := range s.out.chunks {
		if s.out.chunks[i].data.Load() != nil {
			t.Errorf("chunk %d of %d is held", i, len(s.out.chunks))
		}
	}
}

func TestArrange(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a matrix with millions of entries")
	}
	dir := opened(t, crowded(0, 1, 1), "").listed.dir
	for _, spare := range []int64{0, 1 << 30} {
		s := swept(t, dir, 1<<30, true)
		plain := s.Held()
		if s.A != s.Store || s.resident > 0 || plain <= s.Store.Held() {
			t.Fatalf("holds %d, %d of the store, %d kept", plain, s.Store.Held(), s.resident)
		}
		err := s.Arrange(t.Context(), sparse.LayoutOptions{Sweeps: 100, RowBytes: 32}, spare)
		if err != nil || !s.Copy.Tiled && spare > 0 || s.Held()-s.Store.Held() != s.Copy.Matrix || s.Held() > plain+min(spare, 1<<30/copyShare) {
			t.Errorf("spare %d: %v, tiled: %v, %d bytes of %d are counted for the copy", spare, err, s.Copy.Tiled, s.Held()-s.Store.Held(), s.Copy.Matrix)
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
