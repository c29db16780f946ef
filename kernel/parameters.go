package kernel

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Laplacian names the Laplacian that a kernel is a function of.
type Laplacian string

const (
	Combinatorial Laplacian = "combinatorial" // L = D − A
	Normalized    Laplacian = "normalized"    // L̃ = J − S
	RandomWalk    Laplacian = "random-walk"   // I − T; functions of it are not symmetric
)

// Base names the matrix that a kernel is a function of.
type Base string

const (
	Adjacency           Base = "adjacency"            // A
	NormalizedAdjacency Base = "normalized-adjacency" // S
)

// Parameters are the parameters of kernels. Each kernel reads those that it
// takes, see [Takes]; 0 stands for the default, where there is one.
type Parameters struct {
	Laplacian  Laplacian `json:"laplacian,omitempty"`  // default: the first that the kernel takes
	Matrix     Base      `json:"matrix,omitempty"`     // default: the first that the kernel takes
	Beta       float64   `json:"beta,omitempty"`       // β > 0
	Alpha      float64   `json:"alpha,omitempty"`      // α > 0
	Shift      float64   `json:"shift,omitempty"`      // a ≥ 2; default 2
	Steps      int       `json:"steps,omitempty"`      // p ≥ 1
	Nu         float64   `json:"nu,omitempty"`         // ν > 0
	Kappa      float64   `json:"kappa,omitempty"`      // κ > 0
	Rank       int       `json:"rank,omitempty"`       // eigenpairs; default: all positive ones
	Resolution float64   `json:"resolution,omitempty"` // γ > 0; default 1
	Symmetric  bool      `json:"symmetric,omitempty"`  // the kernel D^½·K·D^−½ instead of K, of pagerank and heat-pagerank
}

// field is one of Parameters.
type field struct {
	name  string // as in Takes
	given func(p *Parameters) bool
	copy  func(dst, src *Parameters)
	text  func(p *Parameters) string
}

// fields lists Parameters in order.
var fields = []field{
	fieldOf("laplacian", "%v", func(p *Parameters) *Laplacian { return &p.Laplacian }),
	fieldOf("matrix", "%v", func(p *Parameters) *Base { return &p.Matrix }),
	fieldOf("beta", "β = %v", func(p *Parameters) *float64 { return &p.Beta }),
	fieldOf("alpha", "α = %v", func(p *Parameters) *float64 { return &p.Alpha }),
	fieldOf("shift", "a = %v", func(p *Parameters) *float64 { return &p.Shift }),
	fieldOf("steps", "p = %v", func(p *Parameters) *int { return &p.Steps }),
	fieldOf("nu", "ν = %v", func(p *Parameters) *float64 { return &p.Nu }),
	fieldOf("kappa", "κ = %v", func(p *Parameters) *float64 { return &p.Kappa }),
	fieldOf("rank", "rank %v", func(p *Parameters) *int { return &p.Rank }),
	fieldOf("resolution", "γ = %v", func(p *Parameters) *float64 { return &p.Resolution }),
	fieldOf("symmetric", "symmetric", func(p *Parameters) *bool { return &p.Symmetric }),
}

// fieldOf returns the field at a place in Parameters. The format takes its
// value, unless it holds no verb.
func fieldOf[T comparable](name, format string, at func(p *Parameters) *T) field {
	return field{
		name:  name,
		given: func(p *Parameters) bool { return *at(p) != *new(T) },
		copy:  func(dst, src *Parameters) { *at(dst) = *at(src) },
		text: func(p *Parameters) string {
			if !strings.Contains(format, "%") {
				return format
			}
			return fmt.Sprintf(format, *at(p))
		},
	}
}

// String lists what is not 0.
func (p Parameters) String() string {
	var parts []string
	for _, f := range fields {
		if f.given(&p) {
			parts = append(parts, f.text(&p))
		}
	}
	return strings.Join(parts, ", ")
}

// With returns p with those parameters that the kernel takes and that are
// given in q, not 0, in place of its own.
func (p Parameters) With(q Parameters, name string) Parameters {
	for _, f := range fields {
		if f.given(&q) && slices.Contains(Takes(name), f.name) {
			f.copy(&p, &q)
		}
	}
	return p
}

// Names returns the names of all kernels.
func Names() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}

// Takes returns the names of the parameters that a kernel takes, in lower
// case, or nil if there is no such kernel.
func Takes(name string) []string {
	if f := find(name); f != nil {
		return f.takes
	}
	return nil
}

// find returns the family of a name, or nil.
func find(name string) *family {
	i := slices.IndexFunc(families, func(f family) bool { return f.name == name })
	if i < 0 {
		return nil
	}
	return &families[i]
}

// fill puts defaults in place of zeros and checks what does not depend on the
// graph.
func (f *family) fill(p Parameters) (Parameters, error) {
	for _, name := range f.takes {
		var err error
		switch name {
		case "laplacian":
			err = fillChoice(f, name, &p.Laplacian, f.laplacians)
		case "matrix":
			err = fillChoice(f, name, &p.Matrix, f.matrices)
		case "beta":
			err = f.positive(name, "β", p.Beta)
		case "alpha":
			err = f.positive(name, "α", p.Alpha)
			if err == nil && f.alphaBelowOne && p.Alpha >= 1 {
				err = &ParameterError{name, fmt.Sprintf("%v is out of range; %s takes 0 < α < 1", p.Alpha, f.name)}
			}
		case "shift":
			if p.Shift == 0 {
				p.Shift = 2
			}
			if !(p.Shift >= 2) || math.IsInf(p.Shift, 1) {
				err = &ParameterError{name, fmt.Sprintf("%v is out of range; %s takes a ≥ 2, the largest eigenvalue that a normalised Laplacian can have", p.Shift, f.name)}
			}
		case "steps":
			most := int(maxLog / math.Log(max(p.Shift, 2)))
			if p.Steps == 0 {
				err = &ParameterError{name, fmt.Sprintf("%s needs p ≥ 1; give --steps", f.name)}
			} else if p.Steps < 1 || p.Steps > most {
				err = &ParameterError{name, fmt.Sprintf("%d is out of range; %s with a = %v takes 1 to %d, beyond which its values overflow", p.Steps, f.name, p.Shift, most)}
			}
		case "nu":
			err = f.positive(name, "ν", p.Nu)
		case "kappa":
			err = f.positive(name, "κ", p.Kappa)
		case "resolution":
			if p.Resolution == 0 {
				p.Resolution = 1
			}
			err = f.positive(name, "γ", p.Resolution)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// maxLog is the logarithm of the largest value that a kernel may have.
const maxLog = 600

// fillChoice puts the first choice in place of nothing.
func fillChoice[T ~string](f *family, name string, p *T, choices []T) error {
	if *p == "" {
		*p = choices[0]
	}
	if slices.Contains(choices, *p) {
		return nil
	}
	words := make([]string, len(choices))
	for i, c := range choices {
		words[i] = string(c)
	}
	return &ParameterError{name, fmt.Sprintf("%q is nothing that %s is a function of; give %s", string(*p), f.name, strings.Join(words, ", "))}
}

// positive checks a number that has no default.
func (f *family) positive(name, symbol string, v float64) error {
	switch {
	case v == 0:
		return &ParameterError{name, fmt.Sprintf("%s needs %s > 0; give --%s", f.name, symbol, name)}
	case !(v > 0) || math.IsInf(v, 1):
		return &ParameterError{name, fmt.Sprintf("%v is out of range; %s takes %s > 0", v, f.name, symbol)}
	}
	return nil
}

// Used returns p as a kernel that takes it reads it: with defaults, and
// without what it does not take.
func Used(name string, p Parameters) Parameters {
	f := find(name)
	if f == nil {
		return Parameters{}
	}
	filled, err := f.fill(p)
	if err != nil {
		return p
	}
	return Parameters{}.With(filled, name)
}
