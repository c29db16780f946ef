package learn

import (
	"context"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/method/choose"
)

// addSets adds the sets of --sets. Without them their columns are empty.
func (in *predictionInputs) addSets(ctx context.Context, p *heatwalk.Prediction) error {
	if in.f.coverage == 0 {
		return nil
	}
	var figures *choose.Sets
	sets, err := p.Sets(ctx, in.f.coverage)
	if err == nil {
		in.sets = sets
		figures = sets.Sets
	}
	in.setNotes, err = shell.DescribeSets(figures, err, "node", in.data.Labels)
	return err
}
