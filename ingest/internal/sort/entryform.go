package sort

import "math/bits"

// entryForm states how an entry is stored: the bits and bytes of its key, and whether it has a value.
type entryForm struct {
	column     uint // bits of a column
	narrow     bool // keys take 4 bytes, else 8
	values     bool
	bucketRows int // largest number of rows of a bucket
}

// narrowBuckets is the largest number of buckets for narrow keys, which allow fewer rows in a bucket.
const narrowBuckets = 4096

// newEntryForm returns the form of the entries of a matrix with the given number of rows. Keys are narrow if
// that is possible and wide is not set.
func newEntryForm(rows int, values, wide bool) entryForm {
	column := uint(bits.Len(uint(max(rows-1, 1))))
	f := entryForm{column: column, narrow: !wide && column < 31 &&
		rows <= narrowBuckets<<(31-
			column), values: values, bucketRows: MaxBucketRows}
	if f.narrow {
		f.bucketRows = min(f.bucketRows, 1<<(31-column))
	}
	return f
}

// EntryBytes returns the memory of an entry.
func EntryBytes(rows int, values bool) int64 {
	return newEntryForm(rows, values, false).bytes()
}

func (f entryForm) bytes() int64 {
	bytes := int64(8)
	if f.narrow {
		bytes = 4
	}
	if f.values {
		bytes += 8
	}
	return bytes
}

func (f entryForm) mergedBytes() int64 {
	if f.values {
		return 4 + 8
	}
	return 4
}

// workBytes returns an upper bound of a worker's memory for each entry of a bucket: the entry, and its column
// and value after merging. If buckets are gathered from several fillings, it includes two more copies of the
// entry.
func (f entryForm) workBytes(gathered bool) int64 {
	bytes := f.bytes() + f.mergedBytes()
	if gathered {
		bytes += 2 * f.bytes()
	}
	return bytes
}

// finishBytes returns workBytes for gathered entries, and the memory of an entry of a merged bucket that
// waits to be visited.
func (f entryForm) finishBytes() int64 {
	return f.workBytes(true) + f.mergedBytes()
}

func (f entryForm) keyBits(b bucket) uint {
	return f.column + 1 + uint(bits.Len(uint(b.hi-b.lo-1)))
}
