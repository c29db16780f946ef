// Package budget accounts bytes against a limit. Whatever grows with the graph
// or the number of classes asks here first, under a name; adding up the names
// without running anything is an estimate.
package budget

import (
	"errors"
	"fmt"
)

// ErrOver is returned for what would not fit.
var ErrOver = errors.New("would not fit the memory limit")

// Item is one reservation.
type Item struct {
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`
}

// Plan collects reservations. The zero value has no limit. It is not safe for
// concurrent use.
type Plan struct {
	Limit int64 // bytes; 0 means no limit
	items []Item
	total int64
}

// Reserve adds bytes under a name. If the plan then exceeds its limit, the
// reservation stays in the report and the error, an [*OverError], says what is
// needed.
func (p *Plan) Reserve(bytes int64, what string) error {
	p.items = append(p.items, Item{What: what, Bytes: bytes})
	p.total += bytes
	if p.Limit > 0 && p.total > p.Limit {
		return &OverError{Need: p.total, Limit: p.Limit, Largest: p.largest()}
	}
	return nil
}

// Left returns what the limit leaves; ok is false if there is no limit.
func (p *Plan) Left() (bytes int64, ok bool) {
	return max(0, p.Limit-p.total), p.Limit > 0
}

// Total returns the sum of all reservations.
func (p *Plan) Total() int64 { return p.total }

// Report returns the reservations in the order they were made.
func (p *Plan) Report() []Item { return p.items }

func (p *Plan) largest() Item {
	best := p.items[0]
	for _, it := range p.items {
		if it.Bytes > best.Bytes {
			best = it
		}
	}
	return best
}

// OverError says by how much a plan exceeds its limit. It wraps [ErrOver].
type OverError struct {
	Need, Limit int64
	Largest     Item
}

func (e *OverError) Error() string {
	return fmt.Sprintf("needs %s (%s %s), limit %s",
		Size(e.Need), e.Largest.What, Size(e.Largest.Bytes), Size(e.Limit))
}

func (e *OverError) Unwrap() error { return ErrOver }

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
