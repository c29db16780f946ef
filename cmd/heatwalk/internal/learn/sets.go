package learn

import (
	"context"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
)

// addSets adds the sets of --sets. Without them their columns are empty.
func (in *predictionInputs) addSets(ctx context.Context, p *heatwalk.Prediction) error {
	if in.f.coverage == 0 {
		return nil
	}
	sets, err := p.Sets(ctx, in.f.coverage)
	if err == nil {
		in.sets = sets
		in.setNotes, err = shell.DescribeSets(sets.Sets, nil, "node", in.data.Labels)
		return err
	}
	in.setNotes, err = shell.DescribeSets(nil, err, "node", in.data.Labels)
	return err
}
