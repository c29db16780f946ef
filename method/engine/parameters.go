package engine

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

// Parameters are the values of the parameters of a method. A walk is a kernel too, K = Σ PₜPₜᵀ/(steps − min-steps + 1) with
// t from min-steps to steps. Values of a learner are those for the kernel by its formula.
type Parameters struct {
	// Kernel has the values of the kernel or walk; nil: there is none. Declared has the values of the learner or method;
	// nil: there are none.
	Kernel   *Setting
	Declared *Setting
}

func (p *Parameters) onWalks() bool {
	return p.Kernel != nil && p.Kernel.Spec.Name == cwk.Spec.Name
}

// Alpha returns the probability α that a walk is absorbed at a label.
func (p *Parameters) Alpha() float64 {
	return p.Kernel.Values.Number("alpha")
}

// Steps returns the number of steps of a walk.
func (p *Parameters) Steps() int {
	return p.Kernel.Values.Int("steps")
}

// MinSteps returns the first step of a walk that is used.
func (p *Parameters) MinSteps() int {
	return p.Kernel.Values.Int("min-steps")
}

// Features returns the kind of walk features.
func (p *Parameters) Features() string {
	return p.Kernel.Values.Word("features")
}

// Terms returns the number of steps that are used.
func (p *Parameters) Terms() int {
	return p.Steps() - p.MinSteps() + 1
}

// Scale returns the factor of features that makes the kernel a mean over steps.
func (p *Parameters) Scale() float64 {
	return 1 / math.Sqrt(float64(p.Terms()))
}

// Setting holds values for the parameters of a declaration.
type Setting struct {
	Spec   *param.Spec
	Values param.Values
}

func (s *Setting) text() string { return s.Spec.Text(s.Values) }

func (p *Parameters) values() param.Values {
	values := param.Values{}
	for _, s := range []*Setting{p.Kernel, p.Declared} {
		if s != nil {
			maps.Copy(values, s.Values)
		}
	}
	return values
}

// MarshalJSON writes the parameters of the kernel and the learner.
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
		walks := fmt.Sprintf("alpha = %v, steps = %d", p.Alpha(), p.Steps())
		if p.MinSteps() > 0 {
			walks += fmt.Sprintf(", min-steps = %d", p.MinSteps())
		}
		parts = []string{walks, p.Features() + " features", declared}
	case k != nil:
		parts = []string{k.Spec.Name, k.text(), declared}
	}
	return strings.Join(slices.DeleteFunc(parts,
		func(text string) bool { return text == "" }), ", ")
}
