package shard

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// In the store of streamed every frame is a shard.
func streamed() (*durabletest.Mem, *sparse.CSR) {
	mem, a := stream()
	return durabletest.Clone(mem), a
}

var stream = sync.OnceValues(func() (*durabletest.Mem, *sparse.CSR) {
	rng := rand.New(rand.NewPCG(5, 5))
	a, _ := graph(rng, 20000, 60000, 18000, true, func() float64 { return rng.Float64() })
	mem := durabletest.NewMem()
	w := must(Create("g", &WriteOptions{fs: mem, ShardBytes: 1, Identity: 7}))
	must(0, fill(w, a, nil, nil))
	must(0, w.Commit(bg))
	return mem, a
})

func diskOnly(t *testing.T, mem *durabletest.Mem, workers int) int64 {
	t.Helper()
	s := must(Open(bg, "g", &Options{fs: mem, Workers: workers}))
	defer s.Close()
	return s.Held() - s.Manifest.size() + int64(workers)*int64(s.longest+slack)
}

func TestSameBits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	mem, a := streamed()
	n, _ := a.Dims()
	x := sparse.NewBlock[float64](n, 3)
	rng := rand.New(rand.NewPCG(6, 6))
	for i := range n {
		for j := range 3 {
			x.Row(i)[j] = rng.Float64()
		}
	}
	step := func(m sparse.Matrix, workers int) *sparse.Block[float64] {
		y := sparse.NewBlock[float64](n, 3)
		op := sparse.Operator[float64]{A: m, Workers: workers}
		must(0, op.ApplyTo(bg, y, x))
		return y
	}
	want := step(a, 1)
	for _, share := range []int64{0, 2, 1} { // all, half or none of the frames
		for _, workers := range []int{1, 2, 7} {
			limit := int64(0)
			if share > 0 {
				limit = diskOnly(t, mem, workers) + (share-1)*a.NNZ()*2
			}
			s := must(Open(bg, "g", &Options{fs: mem, Memory: limit, Workers: workers}))
			for range 2 {
				got := step(s, workers)
				for i, v := range got.Data {
					if v != want.Data[i] {
						t.Fatalf("%d workers, limit %d: element %d is %v, want %v", workers, limit, i, v, want.Data[i])
					}
				}
			}
			// The buffers of seven workers would hold the whole store.
			if workers < 7 && s.Resident() != (share == 0) || limit > 0 && s.Held() > limit {
				t.Errorf("plan of %d bytes, limit %d", s.Held(), limit)
			}
			must(0, s.Close())
		}
	}
}

// The memory after a sweep is between half of the plan and the plan.
func TestHeldByStore(t *testing.T) {
	const n = 400_000
	dir := filepath.Join(t.TempDir(), "g")
	w := must(Create(dir, nil))
	for i := range uint32(n) {
		must(0, w.Append([]uint32{i ^ 1}, nil, nil))
	}
	must(0, w.Commit(bg))
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // pools keep their memory for one collection
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := inUse()
	s := must(Open(bg, dir, &Options{Workers: 1}))
	must(0, sparse.Sweep(bg, s, 1, func(int, sparse.Panel) error { return nil }))
	held := inUse() - before
	const files = 256 << 10 // the manifest, and the state of open files
	if planned := s.Held(); held > planned+files || 2*held < planned-buffersBytes(false) {
		t.Errorf("%d bytes are held, %d are planned", held, planned)
	}
	must(0, s.Close())
}

func TestReadsOutstanding(t *testing.T) {
	const workers = 3
	mem, _ := streamed()
	var sweeping atomic.Bool
	var reads atomic.Int64
	together := make(chan struct{})
	s := must(Open(bg, "g", &Options{Workers: workers, Stream: true, fs: durabletest.Watch(mem, func() {
		if !sweeping.Load() {
			return
		}
		if reads.Add(1) == workers {
			close(together)
		}
		select {
		case <-together:
		case <-time.After(time.Minute):
			t.Errorf("%d reads under way, want %d", reads.Load(), workers)
		}
	})}))
	defer s.Close()
	sweeping.Store(true)
	must(0, sparse.Sweep(bg, s, workers, func(int, sparse.Panel) error { return nil }))
}

func TestMemoryTooSmall(t *testing.T) {
	mem, _ := streamed()
	_, err := Open(bg, "g", &Options{fs: mem, Memory: 100 << 10, Workers: 1})
	if !errors.Is(err, sparse.ErrMemory) || !strings.HasPrefix(err.Error(), "g: needs ") {
		t.Error(err)
	}
}

// Resident frames are read once, other frames in every sweep. Each sweep checks every shard once more.
func TestResidentFrames(t *testing.T) {
	mem, a := streamed()
	nothing := func(int, sparse.Panel) error { return nil }
	reads := func(limit int64) (first, second int) {
		counting := durabletest.FailAt(mem, -1)
		s := must(Open(bg, "g", &Options{fs: counting, Memory: limit, Workers: 1}))
		defer s.Close()
		if s.Resident() != (limit == 0) {
			t.Errorf("limit %d: resident %t", limit, s.Resident())
		}
		sweep := func() int {
			start := counting.Operations()
			must(0, sparse.Sweep(bg, s, 1, nothing))
			if n := counting.Operations() - start; n > 0 {
				return n - len(s.listed.shards)
			}
			return 0
		}
		return sweep(), sweep()
	}
	chunks := len(a.Ranges())
	if first, second := reads(0); first != chunks || second != 0 {
		t.Errorf("without a limit: %d and %d reads, want %d and 0", first, second, chunks)
	}
	fixed := diskOnly(t, mem, 1)
	first, second := reads(fixed + must(readManifest(mem, "g")).size()/2)
	if first != chunks || second < chunks/4 || second >= chunks*3/4 {
		t.Errorf("half in memory: %d and %d reads of %d chunks", first, second, chunks)
	}
	if first, second := reads(fixed); first != chunks || second < chunks*3/4 {
		t.Errorf("nothing in memory: %d and %d reads of %d chunks", first, second, chunks)
	}
}

func TestSweepStops(t *testing.T) {
	mem, _ := streamed()
	s := must(Open(bg, "g", &Options{fs: mem, Memory: diskOnly(t, mem, 2), Workers: 2}))
	defer s.Close()
	stop := errors.New("stop")
	for _, workers := range []int{1, 2, 7} {
		for _, at := range []int{0, 3, 11} {
			err := sparse.Sweep(bg, s, workers, func(_ int, p sparse.Panel) error {
				if p.Index == at {
					return stop
				}
				return nil
			})
			if err != stop {
				t.Errorf("%d workers: %v", workers, err)
			}
		}
	}
	if err := sparse.Sweep(cancelled(), s, 2, nil); !errors.Is(err, cancelled().Err()) {
		t.Error(err)
	}
}

func TestPanicReachesTheCaller(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	mem, a := streamed()
	var countdown atomic.Int64
	faulty := durabletest.Watch(mem, func() {
		if countdown.Add(-1) == 0 {
			panic("reading")
		}
	})
	caught := func(s *Store, workers, visits int) (value any) {
		defer func() { value = recover() }()
		_ = sparse.Sweep(bg, s, workers, func(_ int, p sparse.Panel) error {
			if p.Index == visits {
				panic("visiting")
			}
			return nil
		})
		return nil
	}
	for _, limit := range []int64{0, diskOnly(t, mem, 7)} {
		for _, workers := range []int{1, 2, 7} {
			for _, at := range []int{0, 3, 11} {
				countdown.Store(0)
				s := must(Open(bg, "g", &Options{fs: faulty, Memory: limit, Workers: workers}))
				countdown.Store(int64(at + 1))
				if value := caught(s, workers, -1); fmt.Sprint(value) != "reading" {
					t.Errorf("limit %d, %d workers, read %d: panicked with %v", limit, workers, at, value)
				}
				countdown.Store(0)
				if value := caught(s, workers, at); fmt.Sprint(value) != "visiting" {
					t.Errorf("limit %d, %d workers, panel %d: panicked with %v", limit, workers, at, value)
				}
				if value := caught(s, workers, -1); value != nil {
					t.Errorf("limit %d, %d workers: afterwards panicked with %v", limit, workers, value)
				}
				same(t, must(read(bg, s, workers)), a)
				must(0, s.Close())
			}
		}
	}
}

func TestChanged(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	mem, _ := streamed()
	limits := []int64{0, diskOnly(t, mem, 2)}
	for name, change := range map[string]func([]byte) []byte{
		"byte":      func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"truncated": func(b []byte) []byte { return b[:len(b)/2] },
		"appended":  func(b []byte) []byte { return append(b, 0) },
		"touched":   func(b []byte) []byte { return b },
	} {
		for _, limit := range limits {
			mem, _ := streamed()
			s := must(Open(bg, "g", &Options{fs: mem, Memory: limit, Workers: 2}))
			mem.Change("g/"+shardName(7, 3), change)
			err := sparse.Sweep(bg, s, 2, func(int, sparse.Panel) error { return nil })
			const want = ": changed since it was opened; leave a store alone while it is read, and run again"
			if !errors.Is(err, ErrChanged) || err.Error() != "g/"+shardName(7, 3)+want {
				t.Errorf("%s, limit %d: %v", name, limit, err)
			}
			must(0, s.Close())
		}
	}
}

func TestChangedBehind(t *testing.T) {
	mem, a := streamed()
	s := must(Open(bg, "g", &Options{fs: mem}))
	defer s.Close()
	same(t, must(read(bg, s, 2)), a)
	mem.Change("g/"+shardName(7, 3), func(b []byte) []byte { return b[:0] })
	same(t, must(read(bg, s, 2)), a)
}

func TestSweepAllocates(t *testing.T) {
	mem, _ := streamed()
	for _, limit := range []int64{0, diskOnly(t, mem, 2)} {
		s := must(Open(bg, "g", &Options{fs: mem, Memory: limit, Workers: 2}))
		sweep := func() {
			must(0, sparse.Sweep(bg, s, 2, func(int, sparse.Panel) error { return nil }))
		}
		least := uint64(math.MaxUint64) // sometimes a worker meets a larger frame than before
		for range 10 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			sweep()
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		if least > 4<<10 {
			t.Errorf("limit %d: %d bytes for each sweep", limit, least)
		}
		must(0, s.Close())
	}
}

func TestChunks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	streamed, a := streamed()
	mem := durabletest.NewMem()
	write(t, "g", a, nil, nil, WriteOptions{fs: mem, Identity: 7})
	longest := must(Open(bg, "g", &Options{fs: streamed, Stream: true})).longest
	frames := len(a.Ranges())
	for chunks, target := range map[int]int{frames: 1, (frames + 2) / 3: 3 * longest, 1: math.MaxInt} {
		counting := durabletest.FailAt(mem, -1)
		s := must(Open(bg, "g", &Options{fs: counting, Stream: true, Workers: 2}))
		s.out.chunks = nil
		s.longest = s.out.cut(target)
		if len(s.out.chunks) > chunks {
			t.Errorf("%d chunks of %d frames, want at most %d", len(s.out.chunks), frames, chunks)
		}
		start := counting.Operations()
		same(t, must(read(bg, s, 2)), a)
		if reads := counting.Operations() - start - len(s.listed.shards); reads != len(s.out.chunks) {
			t.Errorf("%d reads of %d chunks", reads, len(s.out.chunks))
		}
		testgraph.TestMatrix(t, func() sparse.Matrix { return s }, a)
		for i := range s.out.chunks {
			s.out.chunks[i].resident.Store(true)
		}
		testgraph.TestMatrix(t, func() sparse.Matrix { return s }, a)
		must(0, s.Close())
	}
}

func TestContract(t *testing.T) {
	mem, a := streamed()
	for name, limit := range map[string]int64{"memory": 0, "disk": diskOnly(t, mem, 2)} {
		t.Run(name, func(t *testing.T) {
			s := must(Open(bg, "g", &Options{fs: mem, Memory: limit, Workers: 2}))
			defer s.Close()
			testgraph.TestMatrix(t, func() sparse.Matrix { return s }, a)
			if !slices.Equal(s.Degrees, must(sparse.Degrees(bg, a, 1))) {
				t.Error("degrees differ")
			}
		})
	}
	t.Run("transpose", func(t *testing.T) {
		s := newSample(0xa1)
		mem := durabletest.NewMem()
		must(0, s.write(mem))
		store := must(Open(bg, "g", &Options{fs: mem}))
		defer store.Close()
		testgraph.TestMatrix(t, store.Transpose, s.back)
	})
}

func BenchmarkSweep(b *testing.B) {
	const rows = 1 << 16
	rng := rand.New(rand.NewPCG(8, 8))
	steps := make([]uint32, 0, 32)
	for len(steps) < cap(steps) {
		if d := 1 + rng.Uint32N(rows/2-1); !slices.Contains(steps, d) {
			steps = append(steps, d, rows-d)
		}
	}
	dir := filepath.Join(b.TempDir(), "g")
	w := must(Create(dir, nil))
	defer w.Abort()
	col := make([]uint32, len(steps))
	for i := range uint32(rows) {
		for e, d := range steps {
			col[e] = (i + d) % rows
		}
		slices.Sort(col)
		must(0, w.Append(col, nil, nil))
	}
	must(0, w.Commit(bg))
	for name, stream := range map[string]bool{"memory": false, "disk": true} {
		b.Run(name, func(b *testing.B) {
			s := must(Open(bg, dir, &Options{Stream: stream}))
			defer s.Close()
			for b.Loop() {
				must(0, sparse.Sweep(bg, s, 0, func(int, sparse.Panel) error { return nil }))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(s.NNZ()), "ns/entry")
		})
	}
}
