package auto

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Choice holds everything that held-out labels decide, so that [predict] with a Choice fits only the chosen models.
type Choice struct {
	BlockModel  bool        `json:"block_model,omitempty"` // beliefs of a block model predict alone
	Mixture     []Component `json:"mixture,omitempty"`
	Calibration Calibration `json:"calibration"`
}

type Component struct {
	Weight float64 `json:"weight"`
	candidate
	Lambda float64 `json:"lambda,omitempty"`
}

// Models describes the components by decreasing weight. Beliefs that are a factor, which multiply the other components,
// come last.
func (c *Choice) Models() (list []problem.MixedModel) {
	for _, k := range c.Mixture {
		m := problem.MixedModel{Weight: k.Weight, IsFactor: k.isFactor()}
		switch {
		case k.Poisson:
			m.Name = "Poisson learning"
		case k.Majority:
			m.Name = "shares of the classes"
		case k.Propagation:
			m.Name = "label propagation"
		case k.Beliefs:
			m.Name = "beliefs of a block model"
		case k.Trees:
			m.Name = "boosted trees"
		default:
			var features []string
			for _, kind := range []struct {
				takes bool
				name  string
			}{{!k.Alone, "walks"}, {k.Kernels, "kernels"}, {k.Spectral,
				"eigenvectors"}, {k.Attributes, "attributes"}, {k.Free,
				"class features"}, {k.Links, "links"}} {
				if kind.takes {
					features = append(features, kind.name)
				}
			}
			m.Name = "logistic regression on " + strings.Join(features, ", ")
			if k.Fixed {
				m.Name = "ridge regression on " + strings.Join(features, ", ")
				k.Lambda = 0
				k.Ridge = 0
			}
		}
		var parameters []string
		if k.Trees {
			parameters = append(parameters, fmt.Sprintf("rounds %g", k.Lambda))
			k.Lambda = 0
		}
		for _, p := range []struct {
			name  string
			value float64
		}{{"lambda", k.Lambda}, {"pull", k.Pull}, {"ridge", k.Ridge}} {
			if p.value != 0 {
				parameters = append(parameters,
					fmt.Sprintf("%s %.3g", p.name, p.value))
			}
		}
		m.Parameters = strings.Join(parameters, ", ")
		list = append(list, m)
	}
	slices.SortStableFunc(list, func(a, b problem.MixedModel) int {
		if a.IsFactor != b.IsFactor {
			return cmp.Compare(boolean(a.IsFactor), boolean(b.IsFactor))
		}
		return cmp.Compare(b.Weight, a.Weight)
	})
	return list
}

func (m *model) choice() *Choice {
	c := &Choice{Calibration: m.calibrated}
	for _, term := range m.mixture {
		c.Mixture = append(c.Mixture, term.Component)
	}
	return c
}

func (c *Choice) isValid() bool {
	return c != nil && (c.BlockModel || len(c.Mixture) > 0) &&
		!slices.ContainsFunc(c.Mixture, func(k Component) bool {
			return k.Lambda < 0 || k.Trees && k.Lambda < 1 || k.Ridge < 0 ||
				k.isModel() && (k.Lambda == 0 || k.Ridge == 0)
		})
}

// choose returns the model of in.set.choice, or if this is nil, the model that held-out labels choose. The model is not
// fitted yet.
func (in *input) choose(ctx context.Context, f *features,
	out *engine.Prediction) (*model, error) {
	if c := in.set.choice; c != nil {
		m := &model{features: f, calibrated: c.Calibration}
		for _, chosen := range c.Mixture {
			m.mixture = append(m.mixture, component{Component: chosen})
		}
		var err error
		if m.uses(func(c candidate) bool { return c.Beliefs }) {
			if err = f.believe(ctx); err != nil {
				return nil, err
			}
		}
		for _, k := range m.mixture {
			if k.Trees {
				err = f.boost(ctx, int(k.Lambda))
			}
		}
		return m, err
	}
	held, err := predictHeldOut(ctx, f)
	if err != nil {
		return nil, err
	}
	m := &model{features: f, mixture: held.combine(all)}
	m.calibrated = held.calibrate(m.mixture)
	if in.set.Columns {
		m.mixForNew(held)
	}
	if choose.TooFew(in.p.Class) {
		return m, nil
	}
	m.confidence = held.estimate(m.mixture, m.calibrated, in.set.balanced)
	return m, nil
}
