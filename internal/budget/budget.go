// Package budget accounts bytes against a limit. Whatever grows with the graph
// or the number of classes asks here first, under a name; adding up the names
// without running anything is an estimate.
package budget

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/spec"
)

// ErrMemory is wrapped by the error of every run that does not fit its memory limit. Other
// packages export it as sparse.ErrMemory.
var ErrMemory = spec.ErrMemory

// Item is one reservation.
type Item struct {
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`

	Perhaps bool `json:"perhaps,omitempty"` // the run may find out that it is not needed
}

// Plan collects reservations, and what of them is given back before others are
// made, in the order of the run that is planned. The zero value has no limit. It
// is not safe for concurrent use.
type Plan struct {
	Limit int64 // bytes; 0 means no limit
	items []Item
	total int64

	peak int64
	atop []Item // what made up the peak

	perhaps int64 // of total, what may not be needed
	sure    int64 // the largest sum without it
}

// Reserve adds bytes under a name. If the plan then exceeds its limit, the
// reservation stays in the report and the error, an [*Error], says what is
// needed.
func (p *Plan) Reserve(bytes int64, what string) error {
	return p.reserve(Item{What: what, Bytes: bytes})
}

// ReservePerhaps is Reserve for what may turn out not to be needed.
func (p *Plan) ReservePerhaps(bytes int64, what string) error {
	p.perhaps += bytes
	return p.reserve(Item{What: what, Bytes: bytes, Perhaps: true})
}

func (p *Plan) reserve(it Item) error {
	p.items = append(p.items, it)
	p.total += it.Bytes
	p.sure = max(p.sure, p.total-p.perhaps)
	if p.total > p.peak || p.atop == nil {
		p.peak, p.atop = p.total, slices.Clone(p.items)
	}
	if p.Limit > 0 && p.total > p.Limit {
		largest := slices.MaxFunc(p.items, func(a, b Item) int { return cmp.Compare(a.Bytes, b.Bytes) })
		return &Error{Need: p.total, Limit: p.Limit, Largest: largest}
	}
	return nil
}

// Release gives back what was reserved under a name.
func (p *Plan) Release(what string) {
	p.items = slices.DeleteFunc(p.items, func(it Item) bool {
		if it.What == what {
			p.total -= it.Bytes
			if it.Perhaps {
				p.perhaps -= it.Bytes
			}
		}
		return it.What == what
	})
}

// Left returns what the limit leaves; ok is false if there is no limit.
func (p *Plan) Left() (bytes int64, ok bool) {
	return max(0, p.Limit-p.total), p.Limit > 0
}

// Room returns what the limit leaves as the limit of a part: at least 1, 0 for none.
func (p *Plan) Room() int64 { return Remaining(p.Limit, p.total) }

// Remaining returns limit−used as the limit of a part of a run, at least 1 because 0 means
// that there is no limit.
func Remaining(limit, used int64) int64 {
	if limit == 0 {
		return 0
	}
	return max(1, limit-used)
}

// Check returns an [*Error] if need exceeds limit, where a limit of 0 means none.
func Check(limit, need int64, what string) error {
	if limit > 0 && need > limit {
		return &Error{Need: need, Limit: limit, Largest: Item{What: what, Bytes: need}}
	}
	return nil
}

// Total returns the sum of what is reserved now.
func (p *Plan) Total() int64 { return p.total }

// Peak returns the largest sum that there ever was, and what it was made of in
// the order of the reservations.
func (p *Plan) Peak() (bytes int64, items []Item) { return p.peak, p.atop }

// Sure returns the largest sum without what may turn out not to be needed.
func (p *Plan) Sure() int64 { return p.sure }

// Error reports the bytes that a run needs and its limit. It wraps [ErrMemory].
type Error struct {
	Need, Limit int64
	Largest     Item
	Instead     string // the name of a method that fits, "" if none is known
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("needs %s (%s %s), limit %s",
		Size(e.Need), e.Largest.What, Size(e.Largest.Bytes), Size(e.Limit))
}

// Unwrap returns [ErrMemory].
func (e *Error) Unwrap() error { return ErrMemory }

// Size writes a number of bytes for people: "512 B", "70.8 GiB".
func Size(bytes int64) string {
	const units = "KMGTPE"
	if bytes < 1<<10 {
		return fmt.Sprintf("%d B", bytes)
	}
	v, u := float64(bytes)/(1<<10), 0
	for v >= 1<<10 && u < len(units)-1 {
		v /= 1 << 10
		u++
	}
	return fmt.Sprintf("%.1f %ciB", v, units[u])
}
