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
	Symmetric  bool      `json:"symmetric,omitempty"`  // the PageRank kernel D^½·K·D^−½ instead of PageRank
}

func (p Parameters) String() string {
	var parts []string
	add := func(given bool, format string, args ...any) {
		if given {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(p.Laplacian != "", "%s", p.Laplacian)
	add(p.Matrix != "", "%s", p.Matrix)
	add(p.Beta != 0, "β = %v", p.Beta)
	add(p.Alpha != 0, "α = %v", p.Alpha)
	add(p.Shift != 0, "a = %v", p.Shift)
	add(p.Steps != 0, "p = %d", p.Steps)
	add(p.Nu != 0, "ν = %v", p.Nu)
	add(p.Kappa != 0, "κ = %v", p.Kappa)
	add(p.Rank != 0, "rank %d", p.Rank)
	add(p.Resolution != 0, "γ = %v", p.Resolution)
	add(p.Symmetric, "symmetric")
	return strings.Join(parts, ", ")
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
	var used Parameters
	for _, name := range f.takes {
		switch name {
		case "laplacian":
			used.Laplacian = filled.Laplacian
		case "matrix":
			used.Matrix = filled.Matrix
		case "beta":
			used.Beta = filled.Beta
		case "alpha":
			used.Alpha = filled.Alpha
		case "shift":
			used.Shift = filled.Shift
		case "steps":
			used.Steps = filled.Steps
		case "nu":
			used.Nu = filled.Nu
		case "kappa":
			used.Kappa = filled.Kappa
		case "rank":
			used.Rank = filled.Rank
		case "resolution":
			used.Resolution = filled.Resolution
		case "symmetric":
			used.Symmetric = filled.Symmetric
		}
	}
	return used
}
