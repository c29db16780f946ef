package spread

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/beliefs"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

// Beliefs predicts classes by damped mean field in a degree-corrected block model, see package beliefs. Held-out labels
// choose among seven combinations of the parameters that are not given.
var Beliefs = &engine.Engine{
	Name: beliefsSpec.Name, Takes: beliefsSpec.Takes(), Specs: []*param.Spec{&beliefsSpec},
	Fit: predictBeliefs, Extension: extendBeliefs,
	Workspace: func(p *engine.Problem, _ *engine.Settings) (budget.Workspace, error) {
		return beliefs.Workspace(len(p.Degrees), len(p.Names)), nil
	},
}

var beliefsSpec = param.Spec{
	Name: "beliefs", Works: param.Undirected,
	Title:  "mean field of a block model, F ← softmax(log prior + t·(A·log FR − d·log fR))",
	Source: "Karrer and Newman, Phys. Rev. E 83, 016107, 2011 (model); Decelle et al., Phys. Rev. E 84, 066106, 2011 (field); Kumar, Langton and Gatterbauer, SIGMOD 2020 (compatibilities)",
	Params: []param.Param{
		{Name: "ratios", Symbol: "R", Meaning: "estimate of the ratios of class pairs at the ends of edges", Kind: param.Choice,
			Words:   []string{beliefs.Walks, beliefs.Homophily, beliefs.Iterated},
			Default: param.Of(beliefs.Walks),
			Grid: []param.Value{param.Of(beliefs.Walks),
				param.Of(beliefs.Homophily), param.Of(beliefs.Iterated)}},
		{Name: "evidence", Symbol: "t", Meaning: "weight of the evidence of an edge",
			Range:   param.Range{Least: 0, Most: 10, AboveLeast: true},
			Default: param.Of(1.0), Grid: param.Grid(0.3, 1.0)},
		{Name: "rounds", Symbol: "rounds", Meaning: "largest number of rounds; they end when beliefs settle", Kind: param.Whole,
			Range: param.Range{Least: 1, Most: 1000}, Default: param.Of(15),
			Grid: param.Grid(2, 4, 15)},
	},
}

func valuesOf(c beliefs.Candidate) param.Values {
	return param.Values{"ratios": param.Of(c.Ratios), "evidence": param.Of(c.T),
		"rounds": param.Of(c.Rounds)}
}

// beliefsCandidates returns the candidates of [beliefs.Candidates]. Given or listed values of a parameter replace its
// values in the candidates.
func beliefsCandidates(par *engine.Parameters,
	s *engine.Settings) (list []beliefs.Candidate, err error) {
	settings := []param.Values{}
	for _, c := range beliefs.Candidates() {
		settings = append(settings, valuesOf(c))
	}
	fixed := beliefsSpec.Own(s.Given)
	if par != nil && par.Declared != nil {
		fixed = par.Declared.Values
	} else if s.Fixed {
		settings = []param.Values{{}}
	}
	for _, p := range beliefsSpec.Params {
		values := s.Lists[p.Name]
		if x, ok := fixed[p.Name]; ok {
			values = []param.Value{x}
		}
		if len(values) == 0 {
			continue
		}
		var next []param.Values
		for _, v := range settings {
			for _, x := range values {
				w := maps.Clone(v)
				w[p.Name] = x
				next = append(next, w)
			}
		}
		settings = next
	}
	for _, v := range settings {
		if v, err = beliefsSpec.Resolve(v, nil); err != nil {
			return nil, err
		}
		c := beliefs.Candidate{Ratios: v.Word("ratios"), T: v.Number("evidence"),
			Rounds: v.Int("rounds")}
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list, nil
}

func predictBeliefs(ctx context.Context, p *engine.Problem, par *engine.Parameters,
	s *engine.Settings) (*engine.Prediction, error) {
	if err := problem.ValidateFor(p, &beliefsSpec); err != nil {
		return nil, err
	}
	if p.Directed {
		return nil, &problem.Error{Method: beliefsSpec.Name, Err: problem.ErrDirected}
	}
	set := s.WithDefaults()
	list, err := beliefsCandidates(par, &set)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	out := &engine.Prediction{Settings: len(list)}
	if out.Reached, err = p.Reachable(ctx, p.Row, set.Workers, &out.Work); err != nil {
		return nil, err
	}
	g := &graph.Graph{A: p.A, Degrees: p.Degrees, Components: p.Components,
		Workers: set.Workers}
	fold := beliefs.Folds(p, set.RNGSeed)
	model, err := beliefs.Fit(ctx, g, p.Seeds(), fold, &beliefs.Settings{
		Candidates: list, Explain: set.Explain, Extend: set.Columns, Memory: set.Memory,
		Progress: func(_ string, done, total int64) { set.Progress("choose", done, total) },
	})
	if err != nil {
		return nil, err
	}
	out.Seconds.Choose = time.Since(start).Seconds()
	start = time.Now()
	task := &choose.Task{Problem: p, Fold: fold}
	if err := task.FindIsolated(ctx, set.Workers, &out.Work); err != nil {
		return nil, err
	}
	out.Held = new(choose.Held)
	shares := make([]float64, len(p.Names))
	for i, seed := range model.HeldOut {
		simd.ConvertTo(shares, model.Shares[i])
		out.Held.Add(seed, model.Predicted[i], !task.Isolated[seed], shares)
	}
	out.Estimate = out.Held.Estimate(p, out.Reached)
	out.Parameters = engine.Parameters{Declared: &engine.Setting{Spec: &beliefsSpec,
		Values: valuesOf(model.Candidate)}}
	if out.Scores, err = model.Predict(ctx); err != nil {
		return nil, err
	}
	out.Form = model.Form
	if model.Messages != nil {
		out.Columns = &engine.Columns{Kept: model.Messages, Values: model.Messages.Values}
	}
	out.Work.Sweeps += model.Sweeps
	out.Seconds.Walk = time.Since(start).Seconds()
	engine.FillClasses(out, p, engine.ClassShares)
	return out, nil
}
