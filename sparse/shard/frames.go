package shard

import (
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// frameJob is a frame that is being made: its rows are added by the caller of
// Append, it is encoded by whoever has time, and written in its turn.
type frameJob struct {
	r       sparse.Range
	lengths []uint32
	ids     []uint32
	val     []float64 // as many as ids, if valued
	valued  bool      // some row came with values

	deltas       []uint32
	payload      []byte
	frame        []byte // the frame but for its header
	payloadBytes int

	pairs   uint64 // see pairSum
	loops   int64
	degrees []float64 // of the rows, or of a piece

	group sched.Group // of who encodes it
}

func newFrameJob() *frameJob {
	return &frameJob{ids: make([]uint32, 0, sparse.MaxRange), deltas: make([]uint32, sparse.MaxRange)}
}

// append adds a row or a piece of one.
func (j *frameJob) append(col []uint32, val []float64) {
	if val != nil {
		j.valued = true
		j.val = appendOnes(j.val, len(j.ids)-len(j.val))
		j.val = append(j.val, val...)
	} else if j.valued {
		j.val = appendOnes(j.val, len(col))
	}
	j.ids = append(j.ids, col...)
	j.lengths = append(j.lengths, uint32(len(col)))
}

func appendOnes(dst []float64, n int) []float64 {
	for range n {
		dst = append(dst, 1)
	}
	return dst
}

// reset makes a job ready for other rows.
func (j *frameJob) reset() {
	j.lengths, j.ids, j.val, j.valued = j.lengths[:0], j.ids[:0], j.val[:0], false
}

// encode makes the payload and the counts of the rows for the writer.
func (j *frameJob) encode(w *Writer) {
	j.pairs, j.loops, j.degrees = 0, 0, j.degrees[:0]
	lo := 0
	for i, n := range j.lengths {
		hi := lo + int(n)
		var val []float64
		if j.valued {
			val = j.val[lo:hi]
		}
		pairs, loops := pairSum(w.o.Directed, w.direction, uint32(j.r.Lo+i), j.ids[lo:hi], val)
		j.pairs += pairs
		j.loops += loops
		j.degrees = append(j.degrees, degree(j.ids[lo:hi], val))
		lo = hi
	}
	lengths, val := j.lengths, j.val
	if j.r.Pieces > 1 {
		lengths = nil
	}
	if !j.valued {
		val = nil
	}
	head := append(j.frame[:0], make([]byte, headerBytes)...)
	if w.zstd == nil {
		j.frame = appendPayload(head, lengths, j.ids, val, j.deltas)
		j.payloadBytes = len(j.frame) - headerBytes
		return
	}
	j.payload = appendPayload(j.payload[:0], lengths, j.ids, val, j.deltas)
	j.payloadBytes = len(j.payload)
	j.frame = w.zstd.EncodeAll(j.payload, head)
}

// degree sums a row, or a piece of one, as [sparse.Degrees] does.
func degree(col []uint32, val []float64) float64 {
	if val == nil {
		return float64(len(col))
	}
	var sum float64
	for _, v := range val {
		sum += v
	}
	return sum
}

// submit ends the open frame, which covers r, and begins the next.
func (w *Writer) submit(r sparse.Range) error {
	j := w.open
	j.r = r
	w.open = nil
	workers := sched.Workers(w.o.Workers)
	if workers == 1 {
		j.encode(w)
	} else {
		j.group.Go(func() { j.encode(w) })
	}
	w.queue = append(w.queue, j)
	for len(w.queue) >= 2*workers {
		if err := w.writeOldest(); err != nil {
			return err
		}
	}
	if last := len(w.free) - 1; last >= 0 {
		w.open, w.free = w.free[last], w.free[:last]
	} else {
		w.open = newFrameJob()
	}
	return nil
}

// writeOldest writes the first frame of the queue.
func (w *Writer) writeOldest() error {
	j := w.queue[0]
	w.queue = append(w.queue[:0], w.queue[1:]...)
	j.group.Wait()
	if err := w.writeFrame(j); err != nil {
		return err
	}
	j.reset()
	w.free = append(w.free, j)
	return nil
}

// drain writes all frames of the queue.
func (w *Writer) drain() error {
	for len(w.queue) > 0 {
		if err := w.writeOldest(); err != nil {
			return err
		}
	}
	return nil
}

// forget waits for the goroutines of frames that will not be written.
func (w *Writer) forget() {
	for _, j := range w.queue {
		func() {
			defer func() { _ = recover() }() // no caller is left to report to
			j.group.Wait()
		}()
	}
	w.queue = nil
}
