package spec

import "errors"

// ErrMemory is budget.ErrMemory. It moves there when nothing uses [Bytes] any more.
var ErrMemory = errors.New("would not fit the memory limit")

// Bytes is something large that an algorithm holds. An algorithm lists what it holds
// in one function, called Memory. A run is planned, and refused, by the sum of that list;
// tests compare what is taken with it.
type Bytes struct {
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`

	// Optional says that the algorithm does without where there is no room, or may find
	// out that it is not needed.
	Optional bool `json:"optional,omitempty"`

	// Short says that a limit leaves less than the algorithm may turn out to need, and that
	// the algorithm then ends at the limit.
	Short bool `json:"-"`

	// Row is the number of bytes between the rows of a block that is swept, at the most;
	// 0: none is.
	Row int `json:"-"`
}

// Upto returns b within a limit, 0 for none, on what is held beside so many bytes.
func (b Bytes) Upto(limit, beside int64) Bytes {
	if left := max(0, limit-beside); limit > 0 && b.Bytes > left {
		b.Bytes, b.Short = left, true
	}
	return b
}

// Sum returns the bytes of a list.
func Sum(list []Bytes) (bytes int64) {
	for _, b := range list {
		bytes += b.Bytes
	}
	return bytes
}

// Least returns the bytes of a list without what is optional.
func Least(list []Bytes) (bytes int64) {
	for _, b := range list {
		if !b.Optional {
			bytes += b.Bytes
		}
	}
	return bytes
}

// Larger returns the list that takes more, of two things of which one is held at a time.
func Larger(a, b []Bytes) []Bytes {
	if Sum(b) > Sum(a) {
		return b
	}
	return a
}

// Demand is what a run takes beside what it holds.
type Demand struct {
	Sweeps   int  // over all entries, or UnknownSweeps
	RowBytes int  // of a row of the widest block that is gathered from; 0: unknown
	Short    bool // the run fits, but not with all that it may turn out to need
}

// UnknownSweeps stands where what is found on the way decides.
const UnknownSweeps = -1
