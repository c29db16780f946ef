package kernel

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/graph"
)

// Laplacian names the Laplacian that a kernel is a function of.
type Laplacian string

const (
	Normalized    Laplacian = "normalized"    // L̃ = J − S
	Combinatorial Laplacian = "combinatorial" // L = D − A
	RandomWalk    Laplacian = "random-walk"   // I − T; functions of it are not symmetric
)

// Base names the matrix that a kernel is a function of.
type Base string

const (
	Adjacency           Base = "adjacency"            // A
	NormalizedAdjacency Base = "normalized-adjacency" // S
)

// Parameters are the parameters of kernels. Each kernel reads those that it
// takes, see [Takes]; 0 stands for the default.
//
// The defaults make every kernel that of a random walk of about four steps.
// What belongs to L = D − A is relative to the mean degree d̄ of nodes with
// edges, what belongs to A to about its largest eigenvalue ρ. [Resolve] tells them
// for a graph.
type Parameters struct {
	Laplacian  Laplacian `json:"laplacian,omitempty"`  // default: L̃, on which parameters mean the same in every graph
	Matrix     Base      `json:"matrix,omitempty"`     // default: the first that the kernel takes
	Beta       float64   `json:"beta,omitempty"`       // β > 0; default 4, of L 4/d̄, of A 4/ρ
	Alpha      float64   `json:"alpha,omitempty"`      // α > 0; default 0.8, of A 0.8/ρ; of pagerank 0.85, of regularized-laplacian 4, of L 4/d̄
	Shift      float64   `json:"shift,omitempty"`      // a ≥ 2; default 2
	Steps      int       `json:"steps,omitempty"`      // p ≥ 1; default 8
	Nu         float64   `json:"nu,omitempty"`         // ν > 0; default 1.5
	Kappa      float64   `json:"kappa,omitempty"`      // κ > 0; default 3, of L 3/√d̄
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

// extent is what defaults depend on; the zero value stands for a graph that is
// not known.
type extent struct {
	nodes      int
	meanDegree float64 // of nodes with edges
}

func extentOf(degrees []float64) extent {
	e := extent{nodes: len(degrees), meanDegree: 1}
	var vol, nodes float64
	for _, d := range degrees {
		if d > 0 {
			vol += d
			nodes++
		}
	}
	if nodes > 0 {
		e.meanDegree = vol / nodes
	}
	return e
}

// fill puts defaults in place of zeros, but for those that depend on a spectrum
// or on what is not known, and checks what does not depend on the graph.
func (f *family) fill(p Parameters, e extent) (Parameters, error) {
	usual := f.usual
	switch {
	case cmp.Or(p.Matrix, usual.Matrix) == Adjacency:
		usual.Alpha, usual.Beta = 0, 0
	case cmp.Or(p.Laplacian, usual.Laplacian) != Combinatorial:
	case e.meanDegree == 0:
		usual.Alpha, usual.Beta, usual.Kappa = 0, 0, 0
	default:
		usual.Alpha /= e.meanDegree
		usual.Beta /= e.meanDegree
		usual.Kappa /= math.Sqrt(e.meanDegree)
	}
	if e.nodes > wholeRows && slices.Contains(f.takes, "rank") {
		usual.Rank = fewPairs
	}
	p = usual.With(p, f.name)
	for _, name := range f.takes {
		if err := f.check(name, p); err != nil {
			return p, err
		}
	}
	if p.Rank < 0 || e.nodes > 0 && p.Rank > e.nodes {
		return p, &ParameterError{"rank", fmt.Sprintf("%d is out of range; give 1 to %d, the number of nodes, or none for all positive eigenvalues", p.Rank, e.nodes)}
	}
	return p, nil
}

// check returns what is wrong with a parameter, whatever the graph.
func (f *family) check(name string, p Parameters) error {
	switch name {
	case "laplacian":
		return checkChoice(f, name, p.Laplacian, f.laplacians)
	case "matrix":
		return checkChoice(f, name, p.Matrix, f.matrices)
	case "beta":
		if p.Matrix == "" { // what exponential takes depends on the graph
			return f.positive(name, "β", p.Beta)
		}
	case "alpha":
		switch {
		case p.Matrix == Adjacency: // what it takes depends on the graph
		case !f.alphaBelowOne:
			return f.positive(name, "α", p.Alpha)
		case !(p.Alpha >= 0 && p.Alpha < 1):
			return &ParameterError{name, fmt.Sprintf("%v is out of range; %s takes %s", p.Alpha, titled(f.name, p.Matrix), f.alphas())}
		case 1-p.Alpha < leastRest:
			return &ParameterError{name, fmt.Sprintf("%v is too near to 1; %s takes α up to 1 − %.2g, beyond which the system is singular but for rounding", p.Alpha, titled(f.name, p.Matrix), leastRest)}
		}
	case "shift":
		if most := math.Exp(maxLog); !(p.Shift >= 2 && p.Shift <= most) {
			return &ParameterError{name, fmt.Sprintf("%v is out of range; %s takes a ≥ 2, the largest eigenvalue that a normalised Laplacian can have, up to %.2g, beyond which norms of its columns overflow", p.Shift, f.name, most)}
		}
	case "steps":
		if most := int(maxLog / math.Log(p.Shift)); p.Steps < 1 || p.Steps > most {
			return &ParameterError{name, fmt.Sprintf("%d is out of range; %s with a = %v takes 1 to %d, beyond which norms of its columns overflow", p.Steps, f.name, p.Shift, most)}
		}
	case "nu":
		return f.positive(name, "ν", p.Nu)
	case "kappa":
		return f.positive(name, "κ", p.Kappa)
	case "resolution":
		return f.positive(name, "γ", p.Resolution)
	}
	return nil
}

// leastRest is the least 1 − α of kernels that take α < 1: that of a system whose
// condition is 1/(16ε).
const leastRest = 32 * epsilon

// alphas says which α the kernel takes where that depends on no graph.
func (f *family) alphas() string {
	if f.alphaBelowOne {
		return "0 < α < 1"
	}
	return "α > 0"
}

// titled is the name of a kernel and of the matrix that it is a function of.
func titled(name string, of Base) string {
	switch of {
	case Adjacency:
		return name + " of the adjacency"
	case NormalizedAdjacency:
		return name + " of the normalised adjacency"
	}
	return name
}

// maxLog is the logarithm of the largest value that a kernel may have: the squares of
// values are added up to norms.
const maxLog = 350

// checkChoice returns what is wrong with one of several words.
func checkChoice[T ~string](f *family, name string, p T, choices []T) error {
	if slices.Contains(choices, p) {
		return nil
	}
	words := make([]string, len(choices))
	for i, c := range choices {
		words[i] = string(c)
	}
	return &ParameterError{name, fmt.Sprintf("%q is nothing that %s is a function of; give %s", string(p), f.name, strings.Join(words, ", "))}
}

// positive checks a number; 0 stands for a default that is not known yet.
func (f *family) positive(name, symbol string, v float64) error {
	if v >= 0 && !math.IsInf(v, 1) {
		return nil
	}
	return &ParameterError{name, fmt.Sprintf("%v is out of range; %s takes %s > 0", v, f.name, symbol)}
}

// Used returns p as a kernel that takes it reads it: without what it does not
// take, and with defaults that are the same on every graph.
func Used(name string, p Parameters) Parameters {
	f := find(name)
	if f == nil {
		return Parameters{}
	}
	filled, err := f.fill(p, extent{})
	if err != nil {
		return p
	}
	return filled
}

// Resolve returns p as [New] reads it for a kernel on a graph: without what it
// does not take, and with defaults. The error is a [*ParameterError], the
// context's or that of a sweep. Cost: none but for α or β of A that is not
// given, which takes that of [RoughRadius].
func Resolve(ctx context.Context, g *graph.Graph, name string, p Parameters) (Parameters, error) {
	f := find(name)
	if f == nil {
		return p, noKernel(name)
	}
	p, err := f.fill(p, extentOf(g.Degrees))
	if err != nil || p.Matrix != Adjacency || p.Alpha != 0 || p.Beta != 0 {
		return p, err
	}
	rho := 1.0
	if g.A.NNZ() > 0 {
		if rho, err = RoughRadius(ctx, g); err != nil {
			return p, err
		}
	}
	return Parameters{Alpha: f.usual.Alpha / rho, Beta: f.usual.Beta / rho}.With(p, name), nil
}

// nameParameter is what errors call the name of a kernel.
const nameParameter = "kernel"

func noKernel(name string) error {
	return &ParameterError{nameParameter, fmt.Sprintf("there is no %q; choose from %s", name, strings.Join(Names(), ", "))}
}
