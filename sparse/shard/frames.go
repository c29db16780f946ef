package shard

import (
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// frameJob is a frame that is being written. The writer appends rows, a goroutine encodes them, and the writer writes
// the frames in order.
type frameJob struct {
	r       sparse.Range // set when the frame has all rows
	lengths []uint32
	ids     []uint32
	val     []float64 // a value for each id, if valued
	valued  bool
	code    []uint32 // a code for each id; empty without codes

	deltas []uint32
	frame  []byte // the encoded frame, with room for its header

	pairs   uint64 // sum of pairSum over the rows
	content uint64 // sum of contentSum over the rows
	loops   int64
	degrees []float64

	group sched.Group
}

func newFrameJob() *frameJob {
	return &frameJob{ids: make([]uint32, 0, sparse.MaxRange),
		deltas: make([]uint32, sparse.MaxRange)}
}

func (j *frameJob) append(col []uint32, val []float64, code []uint32) {
	if val != nil {
		j.valued = true
		j.val = appendOnes(j.val, len(j.ids)-len(j.val))
		j.val = append(j.val, val...)
	} else if j.valued {
		j.val = appendOnes(j.val, len(col))
	}
	j.ids = append(j.ids, col...)
	j.code = append(j.code, code...)
	j.lengths = append(j.lengths, uint32(len(col)))
}

// slicePart returns list[lo:hi], or nil for an empty list.
func slicePart[E any](list []E, lo, hi int) []E {
	if len(list) == 0 {
		return nil
	}
	return list[lo:hi]
}

func appendOnes(dst []float64, n int) []float64 {
	for range n {
		dst = append(dst, 1)
	}
	return dst
}

// encode computes the frame, and the sums over its rows.
func (j *frameJob) encode(m *Manifest, direction int) {
	j.pairs = 0
	j.content = 0
	j.loops = 0
	j.degrees = j.degrees[:0]
	lo := 0
	for i, n := range j.lengths {
		hi := lo + int(n)
		val := slicePart(j.val, lo, hi)
		code := slicePart(j.code, lo, hi)
		pairs, loops := pairSum(m.Directed, direction, uint32(j.r.Lo+i),
			j.ids[lo:hi], val, code)
		j.pairs += pairs
		j.loops += loops
		if direction == 0 {
			j.content += contentSum(m.Directed, uint32(j.r.Lo+i), j.ids[lo:hi], val, code)
		}
		j.degrees = append(j.degrees, degree(j.ids[lo:hi], val))
		lo = hi
	}
	lengths := j.lengths
	val := j.val
	if j.r.Pieces > 1 {
		lengths = nil
	}
	if !j.valued {
		val = nil
	}
	head := append(j.frame[:0], make([]byte, headerBytes)...)
	j.frame = m.appendCodes(appendPayload(head, lengths, j.ids, val, j.deltas), j.code)
}

func degree(col []uint32, val []float64) float64 {
	if val == nil {
		return float64(len(col))
	}
	var sum float64
	for _, v := range val {
		sum += math.Abs(v)
	}
	return sum
}

// submit queues the open frame, whose range is r, and opens the next frame.
func (w *Writer) submit(r sparse.Range) (err error) {
	j := w.open
	j.r = r
	w.open = nil
	w.open, err = w.frames.add(j)
	return err
}

type frameQueue struct {
	workers int
	encode  func(*frameJob)
	write   func(*frameJob) error
	queue   []*frameJob
	free    []*frameJob
}

// add starts to encode a frame and returns an empty frame. If many frames wait, it first writes the oldest frames.
func (q *frameQueue) add(j *frameJob) (next *frameJob, err error) {
	if q.workers == 1 {
		q.encode(j)
	} else {
		j.group.Go(func() { q.encode(j) })
	}
	q.queue = append(q.queue, j)
	for len(q.queue) >= 2*q.workers {
		if err := q.writeOldest(); err != nil {
			return nil, err
		}
	}
	last := len(q.free) - 1
	if last < 0 {
		return newFrameJob(), nil
	}
	next = q.free[last]
	q.free = q.free[:last]
	return next, nil
}

func (q *frameQueue) writeOldest() error {
	j := q.queue[0]
	q.queue = append(q.queue[:0], q.queue[1:]...)
	j.group.Wait()
	if err := q.write(j); err != nil {
		return err
	}
	j.lengths = j.lengths[:0]
	j.ids = j.ids[:0]
	j.val = j.val[:0]
	j.valued = false
	j.code = j.code[:0]
	q.free = append(q.free, j)
	return nil
}

func (q *frameQueue) drain() error {
	for len(q.queue) > 0 {
		if err := q.writeOldest(); err != nil {
			return err
		}
	}
	return nil
}
