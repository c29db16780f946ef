package method

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/param"
)

// Parameters are the values of the parameters of a method. Walks are a kernel, K = Σ PₜPₜᵀ/(steps − min-steps + 1) with t
// from min-steps to steps. Learners on another kernel learn from it divided by its mean value between a labelled node and
// itself.
type Parameters struct {
	// Kernel has the values of the kernel or walk that the learner is on, nil without one. Declared has those of
	// the learner, or of a method without a kernel, nil without parameters.
	Kernel   *Setting
	Declared *Setting
	Smoothed *Setting // of Correct & Smooth; nil without it
}

// onWalks reports whether the learner is on walks.
func (p *Parameters) onWalks() bool {
	return p.Kernel != nil && p.Kernel.Spec.Name == cwk.Spec.Name
}

// Parameters of walks.
func (p *Parameters) alpha() float64 {
	return p.Kernel.Values.Number("alpha")
}

func (p *Parameters) steps() int {
	return p.Kernel.Values.Int("steps")
}

func (p *Parameters) minSteps() int {
	return p.Kernel.Values.Int("min-steps")
}

func (p *Parameters) features() string {
	return p.Kernel.Values.Word("features")
}

// terms returns the number of steps that count.
func (p *Parameters) terms() int {
	return p.steps() - p.minSteps() + 1
}

// scale returns the factor of features, because the kernel is a mean over steps.
func (p *Parameters) scale() float64 {
	return 1 / math.Sqrt(float64(p.terms()))
}

// Setting is the values of a declaration's parameters.
type Setting struct {
	Spec   *param.Spec
	Values param.Values
}

// text lists the values for messages.
func (s *Setting) text() string { return s.Spec.Text(s.Values) }

// values returns the values of all parameters by name.
func (p *Parameters) values() param.Values {
	values := param.Values{}
	for _, s := range []*Setting{p.Kernel, p.Declared, p.Smoothed} {
		if s != nil {
			maps.Copy(values, s.Values)
		}
	}
	return values
}

// MarshalJSON writes the parameters that belong to the kernel and the learner.
func (p Parameters) MarshalJSON() ([]byte, error) {
	values := p.values()
	if p.onWalks() {
		values["min_steps"] = values["min-steps"]
		delete(values, "min-steps")
	} else if p.Kernel != nil {
		values["kernel"] = param.Of(p.Kernel.Spec.Name)
	}
	return json.Marshal(values)
}

// String lists the parameters for messages.
func (p Parameters) String() string {
	declared := ""
	if p.Declared != nil {
		declared = p.Declared.text()
	}
	parts := []string{declared}
	switch k := p.Kernel; {
	case p.onWalks():
		steps := "steps"
		if p.steps() == 1 {
			steps = "step"
		}
		if p.minSteps() > 0 {
			steps += fmt.Sprintf(" from %d on", p.minSteps())
		}
		parts = []string{fmt.Sprintf("α = %v, %d %s", p.alpha(), p.steps(), steps),
			p.features() + " features", declared}
	case k != nil:
		parts = []string{k.Spec.Name, k.text(), declared}
	}
	if p.Smoothed != nil {
		parts = append(parts, p.Smoothed.text())
	}
	return strings.Join(slices.DeleteFunc(parts,
		func(text string) bool { return text == "" }), ", ")
}
