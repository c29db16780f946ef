package classify

import (
	"math"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// rowCache holds rows of a Gram restricted to the items of one classifier, rounded to T. A
// position is an item's place in the classifier; the first columns of a row are
// those in use, so a row may be known up to some length only. When it is full,
// the row that was used longest ago makes room.
type rowCache[T sparse.Float] struct {
	gram  Gram
	item  []int // by position
	limit int   // how many rows are held at most: those of whole chunks

	slot  []int // by position: where its row is, or −1
	owner []int // by slot: whose row it is
	have  []int // by slot: how many columns are known
	stamp []int // by slot: when it was last used
	clock int

	swaps [][2]int32 // all exchanges of positions so far
	done  []int      // by slot: how many of them its row has followed

	chunks   [][]T
	chunk    int // values in a chunk
	perChunk int // rows in a chunk

	exact []float64 // values before they are rounded
	spare []T       // values of a row that is not held
}

// valueBytes returns the size of a T in bytes.
func valueBytes[T sparse.Float]() int64 {
	var t T
	return int64(unsafe.Sizeof(t))
}

// chunkLen is the number of values allocated at a time unless a row is longer, or
// the cache smaller.
const chunkLen = 1 << 14

// reset empties the cache for the items of another classifier.
func (c *rowCache[T]) reset(gram Gram, item []int, bytes int64) {
	n := len(item)
	c.gram, c.item = gram, item
	c.slot = resize(c.slot, n)
	for i := range c.slot {
		c.slot[i] = -1
	}
	c.owner, c.have, c.stamp, c.done = c.owner[:0], c.have[:0], c.stamp[:0], c.done[:0]
	c.clock, c.swaps = 0, c.swaps[:0]
	if want := max(n, int(min(chunkLen, bytes/valueBytes[T]()))); c.chunk < want {
		c.chunk, c.chunks = want, nil
	}
	c.perChunk = c.chunk / n
	c.limit = int(max(2, min(int64(n), bytes/valueBytes[T]()/int64(c.chunk)*int64(c.perChunk))))
}

// values returns the memory of a slot, one value for each position.
func (c *rowCache[T]) values(slot int) []T {
	n := len(c.item)
	offset := slot % c.perChunk * n
	return c.chunks[slot/c.perChunk][offset : offset+n : offset+n]
}

// row returns the first columns of the row at a position. It is valid until
// two further rows have been asked for.
func (c *rowCache[T]) row(position, columns int) []T {
	s := c.slot[position]
	if s < 0 {
		s = c.free()
		c.slot[position], c.owner[s], c.have[s] = s, position, 0
	}
	c.follow(s)
	c.clock++
	c.stamp[s] = c.clock
	values := c.values(s)
	if have := c.have[s]; have < columns {
		c.read(values[have:columns], c.item[position], c.item[have:columns])
		c.have[s] = columns
	}
	return values[:columns]
}

// read stores the values of item i with others in dst.
func (c *rowCache[T]) read(dst []T, i int, items []int) {
	switch dst := any(dst).(type) {
	case []float64:
		c.gram.PartTo(dst, i, items)
	case []float32:
		if g, ok := c.gram.(roundedGram); ok {
			g.roundedTo(dst, i, items)
			return
		}
		c.exact = resize(c.exact, len(items))
		c.gram.PartTo(c.exact, i, items)
		simd.ScaleTo(dst, 1, c.exact)
	}
}

// after returns the columns start ≤ k of the row at a position, until the next call. No row
// makes room for it.
func (c *rowCache[T]) after(position, first int) []T {
	if c.slot[position] >= 0 || len(c.owner) < c.limit {
		return c.row(position, len(c.item))[first:]
	}
	c.spare = resize(c.spare, len(c.item)-first)
	c.read(c.spare, c.item[position], c.item[first:])
	return c.spare
}

// free returns a slot for another row.
func (c *rowCache[T]) free() int {
	s := len(c.owner)
	if s < c.limit {
		if s/c.perChunk == len(c.chunks) {
			c.chunks = append(c.chunks, make([]T, c.chunk))
		}
		c.owner, c.have = append(c.owner, 0), append(c.have, 0)
		c.stamp, c.done = append(c.stamp, 0), append(c.done, 0)
		return s
	}
	oldest := math.MaxInt
	for i, t := range c.stamp {
		if t < oldest {
			s, oldest = i, t
		}
	}
	c.slot[c.owner[s]] = -1
	return s
}

// swap exchanges the positions a < b, whose items the caller exchanges. Rows
// follow when they are next asked for; most of those put aside never are.
func (c *rowCache[T]) swap(a, b int) {
	c.swaps = append(c.swaps, [2]int32{int32(a), int32(b)})
	c.slot[a], c.slot[b] = c.slot[b], c.slot[a]
	if s := c.slot[a]; s >= 0 {
		c.owner[s] = a
	}
	if s := c.slot[b]; s >= 0 {
		c.owner[s] = b
	}
}

// follow exchanges the columns of a row as positions have been since it was
// last in use.
func (c *rowCache[T]) follow(slot int) {
	values, have := c.values(slot), c.have[slot]
	for _, s := range c.swaps[c.done[slot]:] {
		switch a, b := int(s[0]), int(s[1]); {
		case have > b:
			values[a], values[b] = values[b], values[a]
		case have > a:
			have = a
		}
	}
	c.have[slot], c.done[slot] = have, len(c.swaps)
}
