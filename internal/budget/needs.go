package budget

import (
	"slices"

	"github.com/heatwalk/heatwalk/spec"
)

// Needs is what a run takes, found out before it starts: estimate prints it, and
// the run keeps to it.
type Needs struct {
	Plan
	spec.Demand
	Disk int64 // bytes of its files at the most
}

const (
	// programBytes is resident without any data: the program, its runtime, and
	// what is too small to be planned.
	programBytes = 24 << 20

	// FileBytes of them are pages of the program's file and its variables, which the runtime's
	// own limit does not cover.
	FileBytes = 20 << 20

	// heapShare is how many bytes of data there are for one byte of the heap
	// that is not data. Half of these are tables and garbage not yet collected,
	// half what the runtime gives back and huge pages bring in again.
	heapShare = 8

	// LeastMemory is the smallest limit that a run is tried with.
	LeastMemory = 64 << 20
)

// Resident returns the resident memory of a run with so many bytes of data: at
// least what every run is allowed. Small runs would spend more time on collecting
// garbage than on their work if they were held to less.
func Resident(data int64) int64 { return max(LeastMemory, programBytes+data+data/heapShare) }

// Data returns how many bytes of data a run with so much resident memory has.
func Data(resident int64) int64 { return (resident - programBytes) / (heapShare + 1) * heapShare }

// HeapLimit returns the runtime's own limit for a run with so many bytes of data:
// it collects garbage before more is resident than [Resident] says.
func HeapLimit(data int64) int64 { return Resident(data) - FileBytes - data/(2*heapShare) }

// ReserveList reserves a list.
func (n *Needs) ReserveList(list []spec.Bytes) error {
	for _, b := range list {
		n.RowBytes, n.Short = max(n.RowBytes, b.Row), n.Short || b.Short
		reserve := n.Reserve
		if b.Optional {
			reserve = n.ReservePerhaps
		}
		if b.Bytes == 0 {
			continue
		}
		if err := reserve(b.Bytes, b.What); err != nil {
			return err
		}
	}
	return nil
}

// ReserveRows reserves as many of all rows, each of so many bytes, as there is room for, one at
// the least, and returns how many: so many are to be made at a time.
func (n *Needs) ReserveRows(all int, each int64, what string) (rows int, err error) {
	rows = all
	if room := n.Room(); room > 0 {
		rows = int(min(int64(all), max(1, room/each)))
	}
	return rows, n.Reserve(int64(rows)*each, what)
}

// ReleaseList releases what ReserveList reserved.
func (n *Needs) ReleaseList(list []spec.Bytes) {
	for _, b := range list {
		n.Release(b.What)
	}
}

// Items returns what makes up the resident memory where the plan is at its peak, each
// name once, and their sum.
func (n *Needs) Items() (list []Item, resident int64) {
	peak, items := n.Peak()
	for _, it := range items {
		if i := slices.IndexFunc(list, func(o Item) bool { return o.What == it.What }); i >= 0 {
			list[i].Bytes += it.Bytes
		} else {
			list = append(list, it)
		}
	}
	resident = Resident(peak)
	return append(list, Item{What: "program and heap", Bytes: resident - peak}), resident
}

// Enough returns a limit with which plan fits, with all that the run may turn out to need,
// at most a sixteenth above the least, and above the one that was too little; 0 if there is
// none. tooMuch tells errors that a larger limit mends from others.
func Enough(limit int64, plan func(limit int64) (*Needs, error), tooMuch func(error) bool) int64 {
	const most = 1 << 60
	low, high := limit, limit
	for fits := false; !fits; {
		if low, high = high, high+high/2; high > most {
			return 0
		}
		n, err := plan(high)
		if fits = err == nil && !n.Short; err != nil && !tooMuch(err) {
			return 0
		}
	}
	for high-low > low/16 {
		middle := low + (high-low)/2
		if n, err := plan(middle); err == nil && !n.Short {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
