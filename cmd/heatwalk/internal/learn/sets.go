package learn

import (
	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/method/choose"
)

func (in *predictionInputs) addSets(run *shell.Session, p *heatwalk.Prediction) error {
	if in.f.coverage == 0 {
		return nil
	}
	var figures *choose.Sets
	sets, err := p.Sets(run.Context, in.f.coverage)
	if err == nil {
		in.sets = sets
		figures = sets.Sets
	}
	in.setNotes, err = run.Console.DescribeSets(figures, err, "node", in.data.Labels)
	return err
}
