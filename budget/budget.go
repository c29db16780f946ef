// Package budget checks the memory that computations declare against a limit.
//
// An algorithm that allocates large blocks declares a [Workspace]. A [Plan] adds workspaces, and refuses a run whose
// required memory exceeds the limit with an [*Error], which has the memory that would be enough. The algorithm takes the
// width of its slabs from the same workspace.
package budget

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// ErrMemory is wrapped by the error of a run that exceeds its memory limit. Other packages export it as sparse.ErrMemory.
var ErrMemory = errors.New("would not fit the memory limit")

// UnknownSweeps is the value of [Plan].Sweeps for a run whose number of sweeps depends on the data.
const UnknownSweeps = -1

// Names of parts of a [Plan].
const (
	GraphPart = "graph"
	LabelPart = "labels and learner"
)

// LearnerBytes is the memory of the code and tables that only learners use. LabelBytes is the memory of the row and the
// class of a label.
const (
	LearnerBytes = 3 << 20
	LabelBytes   = 16
)

// Item is a named part of the memory of a run.
type Item struct {
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`
}

// Plan is the cost of a run: its required memory by part, the most memory that it may take, and its sweeps. The zero value is
// empty and has no limit.
type Plan struct {
	Limit    int64 // bytes; 0 means no limit
	Sweeps   int   // sweeps over all entries, or UnknownSweeps
	Disk     int64 // bytes of temporary files
	RowBytes int   // bytes of a row of the widest block that sweeps gather from; 0: unknown

	items    []Item
	total    int64
	optional int64
	enough   int64 // memory including all optional memory
}

// Reserve adds a part. If the sum exceeds the limit, it returns an [*Error]. It adds the part in any case.
func (p *Plan) Reserve(bytes int64, what string) error {
	if i := slices.IndexFunc(p.items, func(it Item) bool { return it.What == what }); i >= 0 {
		p.items[i].Bytes += bytes
	} else if bytes > 0 {
		p.items = append(p.items, Item{What: what, Bytes: bytes})
	}
	p.total += bytes
	if p.Limit > 0 && p.total > p.Limit {
		return &Error{Need: p.total, Limit: p.Limit, Largest: p.Largest()}
	}
	return nil
}

// Largest returns the largest part. It returns the zero value if the plan is empty.
func (p *Plan) Largest() (largest Item) {
	for _, it := range p.items {
		if it.Bytes > largest.Bytes {
			largest = it
		}
	}
	return largest
}

// ReserveJob adds the workspace of a job. err is the error of computing the workspace, or nil. If err is an [*Error] and w is
// empty, ReserveJob adds the memory that err reports as missing, so that a refusal reports the memory of the whole job. If the
// sum exceeds the limit, it returns an [*Error]; otherwise it returns err.
func (p *Plan) ReserveJob(w Workspace, err error, what string) error {
	room := p.Room()
	bytes := w.Required(room)
	if over := new(Error); errors.As(err, &over) && bytes == 0 {
		bytes = room + over.Need - over.Limit
		what = over.Largest.What
	}
	p.optional += w.Most(room) - w.Required(room)
	p.enough += w.Enough() - bytes
	return cmp.Or(p.Reserve(bytes, what), err)
}

// Left returns the memory that the limit leaves if the run takes all its optional memory, see [Plan.Most]. ok is false if
// there is no limit.
func (p *Plan) Left() (bytes int64, ok bool) {
	return max(0, p.Limit-p.Most()), p.Limit > 0
}

// Room returns the limit minus the sum of all parts, at least 1. It returns 0 if there is no limit.
func (p *Plan) Room() int64 { return Subtract(p.Limit, p.total) }

// Required returns the sum of all parts.
func (p *Plan) Required() int64 { return p.total }

// Most returns the sum of all parts and of the optional memory that the limit leaves.
func (p *Plan) Most() int64 {
	most := AllOf(p.total, p.optional)
	if p.Limit > 0 {
		most = min(most, max(p.Limit, p.total))
	}
	return most
}

// Enough returns a limit within which the run succeeds whatever optional memory its data need.
func (p *Plan) Enough() int64 { return AllOf(p.total, max(0, p.enough)) }

// Items returns the parts in the order in which they were first reserved.
func (p *Plan) Items() []Item { return slices.Clone(p.items) }

// Subtract returns limit − used, at least 1, because a limit of 0 means no limit. If limit is 0, it returns 0.
func Subtract(limit, used int64) int64 {
	if limit == 0 {
		return 0
	}
	return max(1, limit-used)
}

// Check returns an [*Error] if need exceeds limit. A limit of 0 means no limit.
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
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("needs %s (%s %s), limit %s",
		Text(e.Need), e.Largest.What, Text(e.Largest.Bytes), Text(e.Limit))
}

// Unwrap returns [ErrMemory].
func (e *Error) Unwrap() error { return ErrMemory }

// Text returns a number of bytes as people read it: "512 B", "70.8 GiB".
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
