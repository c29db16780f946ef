package shard

import (
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestCreateRefuses(t *testing.T) {
	s := newSample(0xa1)
	mem := durabletest.NewMem()
	must(0, s.write(mem))
	_, err := Create("g", &WriteOptions{fs: mem})
	wantError(t, err, ErrExists, "g already holds a store (40 nodes, 74 entries)")

	w := must(Create("g", &WriteOptions{fs: mem, Force: true}))
	_, err = Create("g", &WriteOptions{fs: mem, Force: true})
	wantError(t, err, ErrLocked, "g is locked by another heatwalk; wait until it is done, or end it, and repeat the run")
	must(0, w.Abort())

	must(0, mem.Mkdir("d"))
	must(mem.Create("d/letters.txt"))
	_, err = Create("d", &WriteOptions{fs: mem, Force: true})
	wantError(t, err, ErrNotStore, "d: not a heatwalk store, and not empty (letters.txt); choose another directory")
	f := must(mem.Create("d/manifest"))
	must(f.Write([]byte("a list of cargo")))
	if _, err = Create("d", &WriteOptions{fs: mem, Force: true}); !errors.Is(err, ErrNotStore) {
		t.Error(err)
	}
	if names := must(mem.List("d")); !slices.Equal(names, []string{"letters.txt", "manifest"}) {
		t.Errorf("d holds %v", names)
	}
	if _, err = Create("no/parent", &WriteOptions{fs: mem}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err = Open(bg, "d", &Options{fs: mem}); !errors.Is(err, ErrNotStore) {
		t.Error(err)
	}
	must(0, mem.Mkdir("empty"))
	if _, err = Open(bg, "empty", &Options{fs: mem}); !errors.Is(err, ErrNotStore) {
		t.Error(err)
	}
}

func TestForceOverDamage(t *testing.T) {
	s, next := newSample(0xa1), newSample(0xb2)
	mem := durabletest.NewMem()
	must(0, s.write(mem))
	must(0, must(mem.Create("g/notes.txt")).Close())
	mem.Change("g/manifest", func(b []byte) []byte { return b[:len(b)-3] })
	if _, err := Create("g", &WriteOptions{fs: mem}); !errors.Is(err, ErrExists) {
		t.Error(err)
	}
	must(0, next.write(mem))
	if got, err := check(t, mem, next); got != 0 {
		t.Fatal(err)
	}
	must(0, mem.Remove("g/notes.txt"))
	clean(t, mem)
}

func TestLeftovers(t *testing.T) {
	mem := durabletest.NewMem()
	s := newSample(0xa1)
	w := must(Create("g", &WriteOptions{fs: mem, Directed: true, ShardBytes: 1}))
	must(0, fill(w, s.a, s.back, nil))
	crashed := durabletest.Clone(mem)
	must(0, w.Abort())
	left := must(crashed.List("g"))
	next := must(Create("g", &WriteOptions{fs: crashed}))
	defer next.Abort()
	// The next writer takes over the lock.
	if got := next.Removed; got != len(left)-1 || got == 0 {
		t.Errorf("removed %d of %v", got, left)
	}
}

func TestAppendRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		rows func(*Writer) error
		want string
	}{
		{"unsorted", func(w *Writer) error { return w.Append([]uint32{1, 0}, nil, nil) }, "row 0: column 0 after 1"},
		{"twice", func(w *Writer) error { return w.Append([]uint32{1, 1}, nil, nil) }, "row 0: column 1 after 1"},
		{"NaN", func(w *Writer) error { return w.Append([]uint32{1}, []float64{math.NaN()}, nil) }, "row 0, column 1: value NaN"},
		{"beyond", func(w *Writer) error { return w.Append([]uint32{0, 1}, nil, nil) }, "column 1 of 1"},
		{"asymmetric", func(w *Writer) error {
			return errors.Join(w.Append([]uint32{1}, nil, nil), w.Append(nil, nil, nil))
		}, "not symmetric, and the store is not directed"},
		{"asymmetric weight", func(w *Writer) error {
			return errors.Join(w.Append([]uint32{1}, []float64{2}, nil), w.Append([]uint32{0}, []float64{3}, nil))
		}, "not symmetric, and the store is not directed"},
		{"ids", func(w *Writer) error { w.Nodes = NewNumericNodes(3); return w.Append(nil, nil, nil) }, "3 ids for 1 rows"},
	} {
		mem := durabletest.NewMem()
		w := must(Create("g", &WriteOptions{fs: mem}))
		err := c.rows(w)
		if err == nil {
			err = w.Commit(bg)
		}
		if !errors.Is(err, sparse.ErrStructure) || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		must(0, w.Abort())
		if _, err := mem.List("g"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: something is left", c.name)
		}
	}
	for name, columns := range map[string][][]uint32{
		"another entry": {{1}, nil, nil}, "a column less": {nil, {0}}, "a column more": {nil, {0}, nil, nil},
	} {
		w := must(Create("g", &WriteOptions{fs: durabletest.NewMem(), Directed: true}))
		must(0, errors.Join(w.Append([]uint32{1}, nil, nil), w.Append(nil, nil, nil), w.Append(nil, nil, nil), w.BeginIn()))
		for _, rows := range columns {
			must(0, w.Append(rows, nil, nil))
		}
		if err := w.Commit(bg); !errors.Is(err, sparse.ErrStructure) || !strings.HasSuffix(err.Error(), "the columns are not those of the rows") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, rows := range []int{0, 1, sparse.MaxRange + 1} {
		for _, directed := range []bool{false, true} {
			mem := durabletest.NewMem()
			a := must(sparse.NewCSR(rows, rows, make([]int64, rows+1), nil, nil))
			back := a
			if !directed {
				back = nil
			}
			write(t, "g", a, back, nil, WriteOptions{fs: mem})
			s := must(Open(bg, "g", &Options{fs: mem}))
			same(t, must(read(bg, s, 2)), a)
			if s.Manifest.BitsPerEntry() != 0 || s.Manifest.Edges() != 0 {
				t.Error("entries from nowhere")
			}
			must(0, s.Close())
			must(verify(bg, "g", &Options{fs: mem}))
		}
	}
}

func TestHighIDs(t *testing.T) {
	for _, top := range []uint32{1<<27 - 1, 1<<28 - 1, 1<<29 - 1, 1<<30 - 1, 1<<31 - 1, 1 << 31, math.MaxUint32 - 1} {
		ids, lengths := []uint32{0, 1, 7, top / 2, top - 1, top}, []uint32{6}
		for range 2 {
			r := sparse.Range{Hi: len(lengths), Entries: len(ids), Pieces: 1}
			payload := appendPayload(nil, lengths, ids, nil, make([]uint32, len(ids)))
			b := newBuffers(false)
			p, wrong := b.decode(append(payload, make([]byte, slack)...)[:len(payload)], r, new(Manifest), true)
			if wrong == "" {
				wrong = checkPanel(p, math.MaxUint32)
			}
			if wrong != "" || !slices.Equal(p.Col, ids) {
				t.Errorf("top %d: %v %s", top, p.Col, wrong)
			}
			ids, lengths = []uint32{0}, []uint32{1}
			for range 60 { // every distance takes all bits
				id := uint32((uint64(ids[len(ids)-1]) + uint64(top)/8*5 + 3) % uint64(top))
				if id < ids[len(ids)-1] {
					lengths = append(lengths, 0)
				}
				ids = append(ids, id)
				lengths[len(lengths)-1]++
			}
		}
	}
}

func TestBestWidths(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 300 {
		var lengths [rawBits]int
		top := rng.IntN(12)
		for w := range top + 1 {
			lengths[w] = rng.IntN(1 << rng.IntN(10))
		}
		for top > 0 && lengths[top] == 0 {
			top--
		}
		cost := func(widths [4]byte) int {
			total := 0
			for n, count := range lengths {
				for _, w := range widths {
					if int(w) >= n {
						total += count * int(w)
						break
					}
				}
			}
			return total
		}
		got := bestWidths(&lengths)
		if !slices.IsSorted(got[:]) || int(got[3]) != top {
			t.Fatalf("widths %v for longest %d", got, top)
		}
		least := cost(got)
		for a := 0; a <= top; a++ {
			for b := a; b <= top; b++ {
				for c := b; c <= top; c++ {
					if v := cost([4]byte{byte(a), byte(b), byte(c), byte(top)}); v < least {
						t.Fatalf("lengths %v: %v costs %d, %d %d %d %d costs %d", lengths, got, least, a, b, c, top, v)
					}
				}
			}
		}
	}
}

// The size is close to the entropy of bit lengths and lower bits of the gaps.
func TestSize(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	a, _ := graph(rng, 4096, 60000, 0, true, func() float64 { return 1 })
	dir := t.TempDir()
	write(t, dir, a, nil, nil, WriteOptions{})
	s := must(Open(bg, dir, nil))
	defer s.Close()
	var lengths [33]float64
	ideal := 0.0
	for i := range 4096 {
		col, _ := a.Row(i)
		last := uint32(math.MaxUint32)
		for _, c := range col {
			n := bitLength(c - last - 1)
			lengths[n]++
			ideal += float64(max(n-1, 0))
			last = c
		}
	}
	for _, c := range lengths {
		if c > 0 {
			ideal -= c * math.Log2(c/float64(a.NNZ()))
		}
	}
	ideal /= float64(a.NNZ())
	// Row lengths take 8 bits for 29 entries, and a first id wraps to 12 bits.
	if got := s.Manifest.BitsPerEntry(); got > 1.15*ideal+0.5 {
		t.Errorf("%.2f bits for each entry, the gaps need %.2f", got, ideal)
	}
}

func bitLength(v uint32) int {
	n := 0
	for ; v > 0; v >>= 1 {
		n++
	}
	return n
}

func TestOnDisk(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newSample(0xa1)
	must(0, s.write(durable.OS))
	must(0, s.write(durable.OS))
	if got, err := check(t, durable.OS, s); got != 0 {
		t.Fatal(err)
	}
	clean(t, durable.OS)
}

func TestPanics(t *testing.T) {
	mem := durabletest.NewMem()
	w := must(Create("g", &WriteOptions{fs: mem}))
	ended := must(Create("h", &WriteOptions{fs: mem}))
	must(0, ended.Abort())
	directed := must(Create("d", &WriteOptions{fs: mem, Directed: true}))
	for want, mistake := range map[string]func(){
		badOrder:  func() { NumericNodes([]uint64{2, 2}) },
		badRow:    func() { NewNumericNodes(3).ID(3) },
		badValues: func() { w.Append([]uint32{1}, []float64{1, 2}, nil) },
		badBegin:  func() { w.BeginIn() },
		badEnd:    func() { ended.Commit(bg) },
		badCommit: func() { directed.Commit(bg) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			mistake()
		}()
	}
}
