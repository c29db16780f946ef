package shard

import (
	"context"
	"io"
	"sync/atomic"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// VerifyReport counts what [Verify] has read.
type VerifyReport struct {
	Manifest *Manifest `json:"-"`
	Files    int       `json:"files"` // number of files without the manifest
	Bytes    int64     `json:"bytes"` // length of the files without the manifest
	Shards   int       `json:"shards"`
	Frames   int64     `json:"frames"`
	Entries  int64     `json:"entries"` // stored entries of both directions
}

// Verify opens the store in the directory dir with the options o, reads every byte of it and checks everything that its
// format promises: checksums, places, structure, the cut of the rows, the counts of the manifest, the degrees and the
// order of the ids. It also checks that the rows and the columns of a directed store are the same matrix, and that an
// undirected store is symmetric. It returns the errors of [Open] and of sweeps. Frames do not stay in memory. If room
// is not nil, Verify first calls it with the bytes of memory that it needs, and returns its error. If progress is not
// nil, several goroutines call it with the number of bytes read so far and the total. Cost: two readings.
func Verify(ctx context.Context, dir string, o *Options,
	room func(bytes int64) error,
	progress func(done, total int64)) (report *VerifyReport, err error) {
	var stream Options
	if o != nil {
		stream = *o
	}
	stream.Stream = true
	s, err := Open(ctx, dir, &stream)
	if err != nil {
		return nil, err
	}
	defer s.Close() // it was only read
	if room != nil {
		bytes := s.Held() + bufferBytes
		for _, v := range s.storedViews() {
			bytes += 8*s.Manifest.Rows + int64(unsafe.Sizeof(frameCensus{}))*int64(len(v.direct.frames))
		}
		if err := room(bytes); err != nil {
			return nil, err
		}
	}
	return s.verifyStore(ctx, stream.Workers, progress)
}

func (s *Store) verifyStore(ctx context.Context, workers int,
	progress func(done, total int64)) (*VerifyReport, error) {
	if progress != nil {
		s.listed.report(progress)
	}
	var sums []*census
	for _, v := range s.storedViews() {
		c, err := v.census(ctx, workers)
		if err != nil {
			return nil, err
		}
		if err := c.checkCut(v); err != nil {
			return nil, err
		}
		sums = append(sums, c)
	}
	out := sums[0]
	back := sums[len(sums)-1]
	manifest := s.listed.path(manifestName)
	switch {
	case s.Manifest.Directed && out.pairs != back.pairs:
		return nil, newDamage(manifest, "the columns are not those of the rows")
	case !s.Manifest.Directed && out.pairs != 0:
		return nil, newDamage(manifest, "not symmetric, but undirected")
	case out.loops != s.Manifest.SelfLoops:
		return nil, newDamage(manifest, "%d self loops, found %d",
			s.Manifest.SelfLoops, out.loops)
	case out.weighted != s.Manifest.Weighted:
		return nil, newDamage(manifest, "weighted %t, found %t",
			s.Manifest.Weighted, out.weighted)
	case out.negative != s.Manifest.Negative:
		return nil, newDamage(manifest, "%d negative entries, found %d",
			s.Manifest.Negative, out.negative)
	case !s.Nodes.ids.isIncreasing():
		return nil, newDamage(manifest, "ids out of order or twice")
	}
	for i, d := range s.Degrees {
		if d != out.degrees[i] {
			return nil, newDamage(manifest, "degree of row %d is %v, found %v", i,
				d, out.degrees[i])
		}
	}
	for k, f := range s.Manifest.shards() {
		if err := s.listed.compare(ctx, s.listed.shards[k], f); err != nil {
			return nil, err
		}
	}
	if _, err := AttributesOf(ctx, s); err != nil {
		return nil, err
	}
	return &VerifyReport{
		Manifest: s.Manifest, Files: len(s.Manifest.Files),
		Bytes: s.Manifest.BytesTotal(), Shards: len(s.listed.shards),
		Frames:  s.Manifest.Frames[0] + s.Manifest.Frames[1],
		Entries: s.Manifest.Entries * int64(len(sums)),
	}, nil
}

// bufferBytes is the size of a buffer, which stays in the cache of a core until it is summed.
const bufferBytes = 256 << 10

func checksum(ctx context.Context, f io.ReaderAt,
	limit int64) (bytes int64, sum uint32, err error) {
	buf := make([]byte, min(bufferBytes, limit))
	for bytes < limit {
		if err := sched.Cause(ctx); err != nil {
			return bytes, sum, err
		}
		n, err := f.ReadAt(buf[:min(int64(len(buf)), limit-bytes)], bytes)
		bytes += int64(n)
		sum = simd.Checksum(sum, buf[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return bytes, sum, err
		}
	}
	return bytes, sum, nil
}

// AttributesOf returns the path of the file of attributes of the nodes, or "" if there are none. It first checks the
// checksum of the file. The error is a [*CorruptError]. Cost: the file is read once.
func AttributesOf(ctx context.Context, s *Store) (path string, err error) {
	if s.Manifest.Attributes == nil {
		return "", nil
	}
	entry := s.Manifest.Files[len(s.Manifest.Files)-1]
	path = s.listed.path(entry.Name)
	f, err := s.listed.fs.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() // it was only read
	return path, s.listed.compare(ctx, f, entry)
}

func (l *listing) compare(ctx context.Context, f io.ReaderAt, entry File) error {
	bytes, sum, err := checksum(ctx, f, entry.Bytes)
	if err == nil && (bytes != entry.Bytes || sumText(sum) != entry.CRC) {
		err = newDamage(l.path(entry.Name),
			"checksum %08x of %d bytes, manifest says %s", sum, bytes, entry.CRC)
	}
	return err
}

// report makes reads of shards call progress. The total counts every byte twice, because Verify reads every byte twice.
func (l *listing) report(progress func(done, total int64)) {
	var done atomic.Int64
	total := 2 * l.manifest.size()
	for i, f := range l.shards {
		l.shards[i] = toldFile{f,
			func(n int) { progress(done.Add(int64(n)), total) }}
	}
}

type toldFile struct {
	durable.File
	read func(n int)
}

func (f toldFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.read(n)
	return n, err
}

// census has the counts and sums over the entries of one direction.
type census struct {
	frames   []frameCensus
	degrees  []float64
	pairs    uint64 // the sum of pairSum
	loops    int64
	negative int64
	weighted bool
}

// frameCensus has the counts and sums of one frame.
type frameCensus struct {
	pairs       uint64
	loops       int64
	negative    int64
	weighted    bool
	head        int     // number of entries of the first row
	first, last uint32  // column of the first and the last entry
	sum         float64 // degree of a piece of a long row
}

func (v *view) census(ctx context.Context, workers int) (*census, error) {
	c := &census{
		frames:  make([]frameCensus, len(v.direct.frames)),
		degrees: make([]float64, v.s.Manifest.Rows),
	}
	err := sparse.Sweep(ctx, v, workers, func(_ int, p sparse.Panel) error {
		f := &c.frames[p.Index]
		f.head = int(p.Ptr[1] - p.Ptr[0])
		if len(p.Col) > 0 {
			f.first = p.Col[0]
			f.last = p.Col[len(p.Col)-1]
		}
		f.pairs, f.loops = sumPairs(v.s.Manifest.Directed, int(v.direction), p)
		for i := p.Lo; i < p.Hi; i++ {
			col, val := p.Row(i - p.Lo)
			f.negative += negative(val)
			for _, w := range val {
				f.weighted = f.weighted || w != 1
			}
			if p.Pieces == 1 {
				c.degrees[i] = degree(col, val)
			} else {
				f.sum = degree(col, val)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, f := range c.frames {
		c.pairs += f.pairs
		c.loops += f.loops
		c.negative += f.negative
		c.weighted = c.weighted || f.weighted
		if r := v.direct.ranges[i]; r.Pieces > 1 {
			c.degrees[r.Lo] += f.sum
		}
	}
	return c, nil
}

func sumPairs(directed bool, direction int, p sparse.Panel) (pairs uint64, loops int64) {
	var code []uint32
	for i := p.Lo; i < p.Hi; i++ {
		col, val := p.Row(i - p.Lo)
		code = p.AppendCodes(code[:0], i-p.Lo)
		sum, diagonal := pairSum(directed, direction, uint32(i), col, val, code)
		pairs += sum
		loops += diagonal
	}
	return pairs, loops
}

// checkCut checks that the columns of a row increase from piece to piece, and that no frame has room for the first row
// of the next frame.
func (c *census) checkCut(v *view) error {
	for i := 1; i < len(c.frames); i++ {
		a, b := v.direct.ranges[i-1], v.direct.ranges[i]
		f := c.frames[i-1]
		g := c.frames[i]
		switch {
		case b.Piece > 0 && (g.first < f.last ||
			g.first == f.last && !v.s.Manifest.HasCodes()):
			return v.frameError(i, "row %d: column %d after %d", b.Lo,
				g.first, f.last)
		case a.Pieces == 1 && b.Pieces == 1 && a.Hi-a.Lo < sparse.MaxRange &&
			a.Entries+g.head <= sparse.MaxRange:
			return v.frameError(i, "row %d has room in frame %d", b.Lo, i-1)
		}
	}
	return nil
}
