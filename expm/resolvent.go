package expm

import "context"

func (e *evaluation) runResolvent(ctx context.Context, group []*part) error { return nil }
func (e *evaluation) projectRest(ctx context.Context, p *part, rest [][]*part) (bool, error) {
	return false, nil
}
func (e *evaluation) runRational(ctx context.Context, p *part) error { return nil }
