// Package budget checks estimates of memory against a limit.
//
// Each algorithm that allocates large blocks has one function that returns its [Size], next to the code that allocates:
// sizes of [Block] that are joined by [AllOf], [AnyOf] and [Times]. It must change nothing. The same size decides how many
// columns are computed at a time ([Widest]), whether a run is refused ([Check]), and what its [Plan] prints. The error of a
// sum above the limit is an [*Error], because the command prints the memory that would be enough.
package budget

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// ErrMemory is wrapped by the error of every run that does not fit its memory limit. Other
// packages export it as sparse.ErrMemory.
var ErrMemory = errors.New("would not fit the memory limit")

// UnknownSweeps means that the number of sweeps of a run depends on the data.
const UnknownSweeps = -1

// GraphPart names the memory of the graph itself in a [Plan], LabelPart that of labels.
const (
	GraphPart = "graph"
	LabelPart = "labels and learner"
)

// LearnerBytes is the memory of the part of the program that only learners use, and of its small tables; LabelBytes that of a
// label, its row and its class.
const (
	LearnerBytes = 3 << 20
	LabelBytes   = 16
)

// Item is a named part of the memory of a run.
type Item struct {
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`
}

// Plan is the estimated cost of a run: its memory by part, an upper bound, and its sweeps. The zero value is empty and
// has no limit.
type Plan struct {
	Limit    int64 // bytes; 0 means no limit
	Sweeps   int   // over all entries, or UnknownSweeps
	Disk     int64 // bytes of temporary files
	RowBytes int   // of a row of the widest block that sweeps gather from; 0: not known

	items []Item
	total int64
}

// Reserve adds a part. If the sum exceeds the limit, the error is an [*Error] and the part is in
// the plan all the same, so that an estimate can be printed.
func (p *Plan) Reserve(bytes int64, what string) error {
	if i := slices.IndexFunc(p.items, func(it Item) bool { return it.What == what }); i >= 0 {
		p.items[i].Bytes += bytes
	} else if bytes > 0 {
		p.items = append(p.items, Item{What: what, Bytes: bytes})
	}
	p.total += bytes
	if p.Limit > 0 && p.total > p.Limit {
		largest := slices.MaxFunc(p.items,
			func(a, b Item) int { return cmp.Compare(a.Bytes, b.Bytes) })
		return &Error{Need: p.total, Limit: p.Limit, Largest: largest}
	}
	return nil
}

// ReserveJob adds the memory that a job has estimated for itself, or its error. An error about
// memory counts as the missing memory, so that a refusal reports the memory of the whole job.
func (p *Plan) ReserveJob(bytes int64, err error, what string) error {
	over := new(Error)
	if errors.As(err, &over) && bytes == 0 {
		bytes = p.Room() + over.Need - over.Limit
		what = over.Largest.What
	}
	if refusal := p.Reserve(bytes, what); refusal != nil {
		if total := new(Error); errors.As(refusal, &total) {
			total.Instead = over.Instead
		}
		return refusal
	}
	return err
}

// Left returns the memory that the limit leaves; ok is false if there is no limit.
func (p *Plan) Left() (bytes int64, ok bool) {
	return max(0, p.Limit-p.total), p.Limit > 0
}

// Room returns the memory that the limit leaves, as the limit of a part of the run: at least 1,
// because 0 means no limit.
func (p *Plan) Room() int64 { return Subtract(p.Limit, p.total) }

// Total returns the sum of all parts.
func (p *Plan) Total() int64 { return p.total }

// Items returns the parts in the order in which they were first reserved.
func (p *Plan) Items() []Item { return slices.Clone(p.items) }

// Subtract returns limit−used as the limit of a part of a run, at least 1 because 0 means
// that there is no limit.
func Subtract(limit, used int64) int64 {
	if limit == 0 {
		return 0
	}
	return max(1, limit-used)
}

// Check returns an [*Error] if need exceeds limit, where a limit of 0 means none.
func Check(limit, need int64, what string) error {
	if limit > 0 && need > limit {
		return &Error{Need: need, Limit: limit,
			Largest: Item{What: what, Bytes: need}}
	}
	return nil
}

// Error reports the bytes that a run needs and its limit. It wraps [ErrMemory].
type Error struct {
	Need, Limit int64
	Largest     Item
	Instead     string // the names of methods that fit, or ""
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("needs %s (%s %s), limit %s",
		Text(e.Need), e.Largest.What, Text(e.Largest.Bytes), Text(e.Limit))
}

// Unwrap returns [ErrMemory].
func (e *Error) Unwrap() error { return ErrMemory }

// Text writes a number of bytes for people: "512 B", "70.8 GiB".
func Text(bytes Size) string {
	const units = "KMGTPE"
	if bytes < 1<<10 {
		return fmt.Sprintf("%d B", bytes)
	}
	v := float64(bytes) / (1 << 10)
	u := 0
	for v >= 1<<10 && u < len(units)-1 {
		v /= 1 << 10
		u++
	}
	return fmt.Sprintf("%.1f %ciB", v, units[u])
}
