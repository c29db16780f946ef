package expm

import "context"

// plan says which parts are computed how, and the sweeps that this should take.
type plan struct {
	series   []*part
	groups   [][]*part // of one resolvent each, rates falling away from 0
	rational []*part
	sweeps   int
}

// plan expands the functions and chooses methods.
func (e *evaluation) plan(ctx context.Context) (*plan, error) {
	pl := &plan{}
	for i := range e.parts {
		p := &e.parts[i]
		x, err := p.f.expand(e.lo, e.hi)
		if err != nil {
			return nil, err
		}
		p.expansion = x
		pl.series = append(pl.series, p)
		d, _ := p.reach(0, e.settings.Tolerance*1e-3*p.size)
		pl.sweeps = max(pl.sweeps, d)
	}
	return pl, ctx.Err()
}
