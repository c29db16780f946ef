package shard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/sparse"
)

func verify(ctx context.Context, dir string, o *Options) (*VerifyReport, error) {
	return Verify(ctx, dir, o, nil, nil)
}

// The stores can be swept, but manifest or index contradict the frames.
func TestVerifyFinds(t *testing.T) {
	row := func(n int) []uint32 {
		ids := make([]uint32, n)
		for i := range ids {
			ids[i] = uint32(i)
		}
		return ids
	}
	path := func(w *Writer) {
		must(0, errors.Join(w.Append([]uint32{1}, nil, nil), w.Append([]uint32{0, 2}, nil, nil), w.Append([]uint32{1}, nil, nil)))
	}
	for _, c := range []struct {
		name string
		make func(w *Writer)
		want string
	}{
		{"nothing", path, ""},
		{"degree of a row in pieces", func(w *Writer) {
			leaves := row(sparse.MaxRange + 2)[1:]
			must(0, w.Append(leaves, nil, nil))
			lengths := []uint32{uint32(len(leaves)) + 1}
			for range leaves {
				must(0, w.Append([]uint32{0}, nil, nil))
				lengths = append(lengths, 1)
			}
			must(0, errors.Join(w.flush(), w.frames.drain()))
			w.degrees.content = appendLengths(nil, lengths)
		}, "g/manifest: degree of row 0 is 16386, found 16385"},
		{"asymmetric", func(w *Writer) {
			must(0, errors.Join(w.Append([]uint32{1}, nil, nil), w.Append(nil, nil, nil)))
			must(0, errors.Join(w.flush(), w.frames.drain()))
			w.pairs = 0
		}, "g/manifest: not symmetric, but undirected"},
		{"not the transpose", func(w *Writer) {
			w.o.Directed, w.Manifest.Directed = true, true
			must(0, errors.Join(w.Append([]uint32{1}, nil, nil), w.Append(nil, nil, nil), w.BeginIn()))
			must(0, errors.Join(w.Append([]uint32{1}, nil, nil), w.Append(nil, nil, nil)))
			must(0, errors.Join(w.flush(), w.frames.drain()))
			w.pairs = w.outPairs
		}, "g/manifest: the columns are not those of the rows"},
		{"an id twice", func(w *Writer) {
			path(w)
			n := must(StringNodes(slices.Values([]string{"a", "b", "c"})))
			n.ids.text = []byte("abb")
			w.Nodes = n
		}, "g/manifest: ids out of order or twice"},
		{"cut too early", func(w *Writer) {
			must(0, w.Append([]uint32{1}, nil, nil))
			must(0, w.flush())
			must(0, w.Append([]uint32{0}, nil, nil))
		}, "g/0000000000000001-0000.shard@76: frame 1: row 1 has room in frame 0"},
		{"cut though a last entry fits", func(w *Writer) {
			leaves := row(sparse.MaxRange)[1:]
			must(0, errors.Join(w.Append(leaves, nil, nil), w.flush()))
			for range leaves {
				must(0, w.Append([]uint32{0}, nil, nil))
			}
		}, "g/0000000000000001-0000.shard@%d: frame 1: row 1 has room in frame 0"},
		{"pieces overlap", func(w *Writer) {
			n := sparse.MaxRange + 2
			long := row(sparse.MaxRange)
			must(0, writeRaw(w, sparse.Range{Hi: 1, Entries: len(long), Pieces: 2}, nil, long, nil))
			must(0, writeRaw(w, sparse.Range{Hi: 1, Entries: 1, Piece: 1, Pieces: 2}, nil, []uint32{sparse.MaxRange - 1}, nil))
			w.rows, w.entries, w.degrees = 1, int64(len(long)+1), degreeList{content: appendLengths(nil, []uint32{uint32(len(long) + 1)})}
			for range n - 1 {
				must(0, w.Append(nil, nil, nil))
			}
		}, "g/0000000000000001-0000.shard@%d: frame 1: row 0: column 16383 after 16383"},
	} {
		mem := durabletest.NewMem()
		w := must(Create("g", &WriteOptions{fs: mem, Identity: 1}))
		c.make(w)
		must(0, w.Commit(bg))
		must(0, scan(mem))
		if strings.Contains(c.want, "%d") {
			c.want = fmt.Sprintf(c.want, places(mem, must(readManifest(mem, "g")))[0].frames[1].offset)
		}
		report, err := verify(bg, "g", &Options{fs: mem})
		switch {
		case c.want == "" && (err != nil || report.Entries != 4 || report.Frames != 1 || report.Shards != 1 || report.Files != 3):
			t.Errorf("%s: %+v %v", c.name, report, err)
		case c.want != "":
			wantError(t, err, ErrCorrupt, c.want+restore)
		}
	}
}

func TestVerifyReadsAll(t *testing.T) {
	mem := durabletest.NewMem()
	must(0, newSample(0xa1).write(mem))
	reseal(mem, func(m *Manifest) { m.Files[0].CRC = sumText(1) })
	must(0, scan(mem))
	if _, err := verify(bg, "g", &Options{fs: mem}); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "manifest says 00000001") {
		t.Error(err)
	}
	if _, err := verify(cancelled(), "g", &Options{fs: mem}); !errors.Is(err, cancelled().Err()) {
		t.Error(err)
	}
}

func TestVerifyProgress(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "g")
	a, back := graph(rand.New(rand.NewPCG(12, 12)), 20000, 60000, 18000, false, func() float64 { return 1 })
	write(t, dir, a, back, nil, WriteOptions{ShardBytes: 1 << 16})
	var most, total atomic.Int64
	report := must(Verify(t.Context(), dir, nil, nil, func(done, of int64) {
		total.Store(of)
		for last := most.Load(); done > last && !most.CompareAndSwap(last, done); last = most.Load() {
		}
	}))
	if report.Shards < 2 || most.Load() != total.Load() || total.Load() != 2*report.Manifest.size() {
		t.Errorf("%d bytes of %d in %d shards", most.Load(), total.Load(), report.Shards)
	}
}
