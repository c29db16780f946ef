package shard

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// WriteOptions configure how a store is written. Nil options mean defaults.
type WriteOptions struct {
	ShardBytes int64             // a shard ends with the frame that reaches it; 0: 1 GiB
	Directed   bool              // the store is directed: after the rows, BeginIn must begin the columns
	Workers    int               // goroutines that encode frames; 0: one for each processor
	Force      bool              // replaces an existing store
	Identity   uint64            // identity of the store, part of its file names; 0: random
	Options    map[string]string // recorded in the manifest

	// Around, if not nil, is called once, when all files of the store except the manifest are on the disk. It must call
	// publish once, which publishes the store, so that other files can be published together with the store. If Around
	// fails, the run fails.
	Around func(m *Manifest, publish func() error) error

	// Attributes, if not nil, writes a .npy file with a row of attributes for each row of the store.
	Attributes func(nodes *Nodes, w io.Writer) (*Attributes, error)

	fs durable.FS
}

// defaultShardBytes is large, because all files of a store are open.
const defaultShardBytes = 1 << 30

// Writer writes a store row by row, in one pass. Frames are encoded while the caller works. A Writer takes two frames
// of half a megabyte for each worker, and a byte for each row, 8 with weights. It is not safe for concurrent use. A
// Writer ends with Commit or Abort. Abort may be deferred, because it does nothing after Commit.
type Writer struct {
	Nodes    *Nodes        // ids of the rows and, by [Nodes.Reorder], their order; nil: 0 to n−1
	Manifest Manifest      // complete after Commit; before, only its Sources may be set and, before the first row, names of Kinds and the unit of Times
	Removed  int           // files of an unfinished run that Create removed
	Unlocked bool          // the file system has no locks to exclude other writers
	SyncTime time.Duration // time spent waiting for the disk

	o      WriteOptions
	target target
	err    error // the first error, after which nothing works

	id      uint64
	degrees degreeList
	index   []byte

	// The direction being written.
	direction int
	rows      int64
	entries   int64
	top       int64  // the largest column so far
	pairs     uint64 // sum of pairSum over the rows
	outPairs  uint64 // sum of pairSum over the rows of the out direction
	content   uint64 // sum of contentSum over the rows of the out direction

	open   *frameJob // the frame to which rows are added
	frames frameQueue

	// The open shard.
	file      durable.File
	buffered  *bufio.Writer
	fileBytes int64  // written, or still in the buffer
	fileSum   uint32 // checksum of fileBytes
}

// Create begins a store in the directory dir. It makes the directory, or the target of a link of this name, if the
// parent exists. An existing store stays valid until Commit; without Force the error wraps [ErrExists]. Files of an
// unfinished earlier run are removed. The error wraps [ErrNotStore] if the directory holds anything else, and
// [ErrLocked] if another writer is at work.
func Create(dir string, o *WriteOptions) (*Writer, error) {
	w := &Writer{top: -1}
	if o != nil {
		w.o = *o
	}
	if w.o.fs == nil {
		w.o.fs = durable.OS
	}
	if w.o.ShardBytes <= 0 {
		w.o.ShardBytes = defaultShardBytes
	}
	for w.id = w.o.Identity; w.id == 0; {
		var b [8]byte
		rand.Read(b[:])
		w.id = binary.LittleEndian.Uint64(b[:])
	}
	w.open = newFrameJob()
	w.frames = frameQueue{workers: sched.Workers(w.o.Workers), write: w.writeFrame}
	w.frames.encode = func(j *frameJob) { j.encode(&w.Manifest, w.direction) }
	w.target = target{fs: w.o.fs, dir: dir, force: w.o.Force}
	var err error
	if w.Removed, err = w.target.claim(); err != nil {
		return nil, err
	}
	w.Unlocked = durable.IsUnlocked(w.target.lock)
	w.Manifest = Manifest{
		Identity: fmt.Sprintf("%016x", w.id),
		Directed: w.o.Directed,
		Codec:    fourWidths,
		Options:  w.o.Options,
	}
	return w, nil
}

// Append writes the next row. col must increase strictly and be below the final number of rows. val has the values; nil
// means ones. In a store with kinds or times code has the codes, see [CodeOf], and columns may be equal if their codes
// increase. The slices are not kept. The error wraps [sparse.ErrStructure] for an invalid row. Any other error comes
// from the disk, perhaps for an earlier row. After an error only Abort may be called.
func (w *Writer) Append(col []uint32, val []float64, code []uint32) error {
	if w.err == nil {
		w.err = w.append(col, val, code)
	}
	return w.err
}

// append adds a row to the open frame. Each piece of a long row becomes a frame of its own.
func (w *Writer) append(col []uint32, val []float64, code []uint32) error {
	if val != nil && len(val) != len(col) ||
		w.Manifest.HasCodes() && len(code) != len(col) {
		panic(badValues)
	}
	if w.rows == maxRows {
		return fmt.Errorf("%w: more than %d rows", sparse.ErrStructure,
			int64(maxRows))
	}
	if err := w.checkAppended(col, val, code); err != nil {
		return err
	}
	if len(col) > sparse.MaxRange {
		if err := w.flush(); err != nil {
			return err
		}
		row := int(w.rows)
		w.rows++
		pieces := (len(col) + sparse.MaxRange - 1) / sparse.MaxRange
		for p := range pieces {
			lo := p * sparse.MaxRange
			hi := min(lo+sparse.MaxRange, len(col))
			r := sparse.Range{Lo: row, Hi: row + 1, Entries: hi - lo, Piece: p,
				Pieces: pieces}
			w.open.append(col[lo:hi], slicePart(val, lo, hi), slicePart(code, lo, hi))
			if err := w.submit(r); err != nil {
				return err
			}
		}
		return nil
	}
	if len(w.open.ids)+len(col) > sparse.MaxRange ||
		len(w.open.lengths) == sparse.MaxRange {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.open.append(col, val, code)
	w.rows++
	return nil
}

func (w *Writer) checkAppended(col []uint32, val []float64, code []uint32) error {
	if wrong := checkRow(int(w.rows), col, val, code, math.MaxUint32+1); wrong != "" {
		return fmt.Errorf("%w: %s", sparse.ErrStructure, wrong)
	}
	if w.direction == 0 {
		for _, c := range code {
			if w.Manifest.Kinds != nil {
				w.Manifest.Kinds[c%kindCodes].Entries++
			}
			if t := TimeOf(c); w.Manifest.Times != nil {
				w.Manifest.Times.First = min(w.Manifest.Times.First, t)
				w.Manifest.Times.Last = max(w.Manifest.Times.Last, t)
			}
		}
		w.Manifest.Negative += negative(val)
	}
	w.Manifest.Weighted = w.Manifest.Weighted ||
		slices.ContainsFunc(val, func(v float64) bool { return v != 1 })
	if len(col) > 0 {
		w.top = max(w.top, int64(col[len(col)-1]))
	}
	w.entries += int64(len(col))
	return nil
}

// pairSum returns the contribution of row i of a direction to a sum modulo 2^64 that checks the matrix, and the number
// of entries on the diagonal. Columns must not decrease. The sum is 0 for a symmetric undirected store, and equal in
// both directions of a directed store. A wrong matrix passes with a probability of 2^−64.
func pairSum(directed bool, direction int, i uint32, col []uint32, val []float64,
	code []uint32) (sum uint64, loops int64) {
	lower, _ := slices.BinarySearch(col, i)
	upper := lower
	for ; upper < len(col) && col[upper] == i; upper++ {
		loops++
	}
	row := uint64(i) << 32
	column := uint64(i)
	switch {
	case !directed:
		return hashPairs(row, 0, col[upper:], slicePart(val, upper, len(col)),
			slicePart(code, upper, len(col))) -
			hashPairs(column, 32, col[:lower], slicePart(val, 0, lower),
				slicePart(code, 0, lower)), loops
	case direction == 0:
		return hashPairs(row, 0, col, val, code), loops
	}
	return hashPairs(column, 32, col, val, code), loops
}

// hashPairs returns the sum of the hashes of the pairs number | id<<shift, which must have the row in the upper half.
func hashPairs(number uint64, shift uint, ids []uint32, val []float64,
	code []uint32) (sum uint64) {
	if val == nil && code == nil {
		return simd.HashPairs(number, shift, ids)
	}
	const mixing = 0x9e3779b97f4a7c15
	shift &= 63
	for e, j := range ids {
		value := math.Float64bits(1)
		if val != nil {
			value = math.Float64bits(val[e])
		}
		if code != nil {
			value ^= uint64(code[e]) * mixing
		}
		sum += simd.PairHash(number|uint64(j)<<shift, value)
	}
	return sum
}

// BeginIn ends the rows of a directed store and begins its columns. Append then takes the columns of the same matrix,
// each as the strictly increasing rows that have entries in the column.
func (w *Writer) BeginIn() error {
	if !w.o.Directed || w.direction != 0 {
		panic(badBegin)
	}
	if w.err == nil {
		w.err = w.endDirection()
	}
	if w.err == nil {
		w.err = w.endShard()
	}
	if w.err != nil {
		return w.err
	}
	w.direction = 1
	w.Manifest.Rows, w.Manifest.Entries, w.outPairs = w.rows, w.entries, w.pairs
	w.rows = 0
	w.entries = 0
	w.top = -1
	w.pairs = 0
	return nil
}

func (w *Writer) endDirection() error {
	if w.top >= w.rows {
		return fmt.Errorf("%w: column %d of %d", sparse.ErrStructure, w.top, w.rows)
	}
	if err := w.flush(); err != nil {
		return err
	}
	return w.frames.drain()
}

func (w *Writer) flush() error {
	rows := len(w.open.lengths)
	if rows == 0 {
		return nil
	}
	hi := int(w.rows)
	return w.submit(sparse.Range{Lo: hi - rows, Hi: hi, Entries: len(w.open.ids),
		Pieces: 1})
}

func (w *Writer) writeFrame(j *frameJob) error {
	if w.file == nil {
		if err := w.beginShard(); err != nil {
			return err
		}
	}
	shard := len(w.Manifest.Files)
	r := j.r
	f := frame{shard: int32(shard), bytes: int32(len(j.frame))}
	h := w.Manifest.header(w.direction, w.Manifest.Frames[w.direction], f, r)
	_, _ = binary.Encode(j.frame, binary.LittleEndian, &h) // the frame has room for it
	binary.LittleEndian.PutUint32(j.frame[atSum:], frameSum(j.frame))
	if _, err := w.buffered.Write(j.frame); err != nil {
		return err
	}
	w.index = appendIndexEntry(w.index, f, r)
	w.Manifest.Frames[w.direction]++
	w.fileBytes += int64(len(j.frame))
	w.fileSum = simd.Checksum(w.fileSum, j.frame)
	w.pairs += j.pairs
	if w.direction == 0 {
		w.content += j.content
		w.Manifest.SelfLoops += j.loops
		if w.Nodes != nil {
			w.degrees.rows = w.Nodes.ids.n // or its lists would grow
		}
		if w.Manifest.Weighted {
			w.degrees.weigh()
		}
		w.degrees.add(j.degrees, r.Piece == r.Pieces-1)
	}
	if w.fileBytes >= w.o.ShardBytes {
		return w.endShard()
	}
	return nil
}

func (w *Writer) beginShard() error {
	f, err := w.target.fs.Create(w.target.path(shardName(w.id,
		len(w.Manifest.Files))))
	if err != nil {
		return err
	}
	w.file = f
	w.fileBytes = 0
	w.fileSum = 0
	w.buffered = bufio.NewWriterSize(w.file, 1<<20)
	return nil
}

func (w *Writer) endShard() error {
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	err := w.buffered.Flush()
	if err == nil {
		err = w.target.sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	entry := File{Name: shardName(w.id, len(w.Manifest.Files)), Bytes: w.fileBytes,
		CRC: sumText(w.fileSum)}
	w.Manifest.Files = append(w.Manifest.Files, entry)
	return nil
}

const (
	badValues = "shard: as many values as columns"
	badBegin  = "shard: BeginIn needs a directed store, once"
)
