package auto

import (
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/trees"
	"github.com/heatwalk/heatwalk/sparse"
)

// highBudget is how many times as long optional stages may take with high effort.
const highBudget = 10

// budget returns how long optional stages may take, in units of the normal time.
func (s *settings) budget() float64 {
	if s.Effort == engine.HighEffort {
		return highBudget
	}
	return 1
}

func (s *settings) mostLearned() int {
	if s.Effort == engine.HighEffort {
		return mostHighLearned
	}
	return mostLearned
}

func (s *settings) mostLinkLabels() int {
	if s.Effort == engine.HighEffort {
		return mostHighLinkLabels
	}
	return mostLinkLabels
}

// Seconds that stages take more with high effort, measured on debian and flickr-words.
const (
	learningSeconds = 3e-5    // for each further label and class
	workSeconds     = 1.6e-10 // for each entry and column
	linkNodeSeconds = 1e-7    // for each label and node
	treeShare       = 0.3     // share of the limit of trees that their choice of rounds uses
)

// more returns what high effort would add. Stages that gained nothing where they do not fit, such as kernels, are not named.
func (f *features) more() *engine.More {
	in := f.in
	p := in.p
	if in.set.Effort == engine.LowEffort || in.set.Effort == engine.HighEffort || in.set.choice != nil {
		return nil
	}
	high := *in.set
	high.Effort = engine.HighEffort
	d := designOf(p, &high)
	for _, o := range optionalStages { // more effort does not make them fit
		if slices.Contains(in.unfit, o.name) {
			*o.of(&d) = false
		}
	}
	m := &engine.More{}
	seconds := 0.0
	entries := float64(sparse.EntriesOf(p.A))
	if d.examples > in.examples {
		m.Labels = d.examples
		seconds += learningSeconds * float64(d.examples-in.examples) * float64(len(p.Names))
	}
	if d.diffusion && !in.diffusion {
		seconds += workSeconds * float64(kernelLabels(p, &high, d.folds)) * kernelColumns * (entries + kernelNode*float64(p.Nodes()))
	}
	if d.spectral && !in.spectral {
		m.Stages = append(m.Stages, "eigenvectors")
		seconds += workSeconds * spectralWidth * spectralProducts * (entries + spectralNode*float64(p.Nodes()))
	}
	if d.links && !in.links {
		m.Stages = append(m.Stages, "link rows")
		labels := float64(linkLabels(p, &high))
		seconds += labels * (4*workSeconds*entries + linkNodeSeconds*float64(p.Nodes()))
	}
	isLimited := in.trees && f.boosted.IsLimited
	if isLimited {
		m.Stages = append(m.Stages, "more rounds of boosted trees")
	}
	if d.trees && !in.trees {
		m.Stages = append(m.Stages, "boosted trees")
	}
	if isLimited || d.trees && !in.trees {
		seconds += max(treeShare*treeLimit(p, &high), 2*trees.LeastSeconds(p, treeLabels(p, &high, d.folds), d.folds)) +
			treeSweepTime(p, d.folds)
	}
	if m.Labels == 0 && m.Stages == nil {
		return nil
	}
	m.Seconds = math.Ceil(seconds)
	return m
}
