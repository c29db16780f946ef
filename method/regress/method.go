package regress

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// Model declares how values are predicted. It is in the file of its algorithm; [Models] lists all.
type Model struct {
	param.Spec

	// OnKernel reports that it learns from the values of a kernel, as in diffusion+rls.
	OnKernel bool

	// Attributes reports that it uses the attributes of nodes.
	Attributes bool

	// compare predicts each value without its fold, with every setting of the method.
	compare func(ctx context.Context, c *comparison, m *Method) (*evidence, error)

	// predict predicts the value of every node from all values with one setting. deviations are nil
	// for a model without them.
	predict func(ctx context.Context, r *run, m *Method, v Parameters) (values, deviations []float64, err error)

	// bytes returns the memory of both. compared are the rows of the values that methods are
	// compared on.
	bytes func(p *Problem, compared []int, m *Method, s *Settings) (int64, error)
}

// Models returns the models that can be named in a method.
func Models() param.List[*Model] { return param.List[*Model]{&harmonic, &hops, &ridge, &process} }

// Method is a model, on a kernel if it needs one, with given values of some parameters.
type Method struct {
	Model  *Model
	Kernel *kernel.Family  // nil: none
	values [2]param.Values // of the kernel and of the model
}

// Name returns the name without values of parameters.
func (m *Method) Name() string {
	if m.Kernel == nil {
		return m.Model.Name
	}
	return m.Kernel.Name + "+" + m.Model.Name
}

// mostKernelNodes is the number of nodes up to which a kernel is among the defaults: its comparison takes
// a column of all nodes for each of a thousand values, some seconds there and minutes on 200,000 nodes.
const mostKernelNodes = 20_000

// Default returns the list of methods to compare on a graph of the given size unless others are named:
// harmonic, hops and, up to 20,000 nodes, diffusion+rls.
func Default(nodes int) string {
	if nodes > mostKernelNodes {
		return "harmonic,hops"
	}
	return "harmonic,diffusion+rls,hops"
}

// Parse reads a list of methods joined by commas, NAME[:PARAMETER=VALUE]… or
// KERNEL[:PARAMETER=VALUE]…+MODEL[:PARAMETER=VALUE]…. Parameters without a value are chosen by [Run].
// The error is a [*param.ParameterError].
func Parse(list string) ([]*Method, error) {
	var methods []*Method
	for _, text := range strings.Split(list, ",") {
		m, err := parse(text)
		if err != nil {
			return nil, err
		}
		methods = append(methods, m)
	}
	return methods, nil
}

func parse(text string) (*Method, error) {
	m := new(Method)
	kernelText, modelText, isPair := strings.Cut(text, "+")
	if !isPair {
		kernelText, modelText = "", text
	}
	named, err := param.ParseNamed(modelText)
	if err != nil {
		return nil, err
	}
	unknown := func(name string, names []string) error {
		return &param.ParameterError{Of: name, Parameter: name, What: "is no method of regression; give " + strings.Join(names, ", ")}
	}
	if m.Model = Models().Named(named.Name); m.Model == nil || m.Model.OnKernel != isPair {
		return nil, unknown(named.Name, names())
	}
	if m.values[1], err = m.Model.ParseValues(named.Given); err != nil {
		return nil, err
	}
	if _, err = m.Model.Resolve(m.values[1], nil); err != nil || !isPair {
		return m, err
	}
	if named, err = param.ParseNamed(kernelText); err != nil {
		return nil, err
	}
	if named.Name == cwk.Spec.Name {
		return nil, &param.ParameterError{Of: named.Name, Parameter: named.Name, What: "its walks start at labels of classes, which numbers do not have; give another kernel, such as " + kernel.Families()[0].Name}
	}
	if m.Kernel = kernel.Families().Named(named.Name); m.Kernel == nil || m.Kernel.Works&param.Undirected == 0 {
		return nil, unknown(named.Name+"+"+m.Model.Name, names())
	}
	if m.values[0], err = m.Kernel.ParseValues(named.Given); err != nil {
		return nil, err
	}
	if err := m.Kernel.Asymmetric(m.values[0]); err != nil {
		return nil, err
	}
	_, err = m.Kernel.Resolve(m.values[0], nil)
	return m, err
}

// names lists the forms of a method.
func names() (list []string) {
	for _, m := range Models() {
		name := m.Name
		if m.OnKernel {
			name = "KERNEL+" + name
		}
		list = append(list, name)
	}
	return list
}

// Parameters are the values of the parameters of a method: of its kernel and of its model.
type Parameters struct {
	Kernel, Model param.Values

	text string
}

// String lists the values, for example "normalized, β = 4, λ = 0.01".
func (p Parameters) String() string { return p.text }

// MarshalJSON writes one object with all values.
func (p Parameters) MarshalJSON() ([]byte, error) {
	values := param.Values{}
	maps.Copy(values, p.Kernel)
	maps.Copy(values, p.Model)
	return json.Marshal(values)
}

// settings returns the values of the kernel and of the model to choose from on a graph, and all
// their pairs, those of a kernel next to each other.
func (m *Method) settings(g param.Graph) (kernels, models []param.Values, pairs []Parameters, err error) {
	kernels = []param.Values{nil}
	if m.Kernel != nil {
		if kernels, err = split.Settings(&m.Kernel.Spec, m.values[0], g); err != nil {
			return nil, nil, nil, err
		}
	}
	if models, err = split.Settings(&m.Model.Spec, m.values[1], g); err != nil {
		return nil, nil, nil, err
	}
	for _, k := range kernels {
		for _, v := range models {
			pairs = append(pairs, m.parameters(k, v))
		}
	}
	return kernels, models, pairs, nil
}

// parameters returns values with their text.
func (m *Method) parameters(ofKernel, ofModel param.Values) Parameters {
	p := Parameters{Kernel: ofKernel, Model: ofModel}
	var parts []string
	if m.Kernel != nil {
		parts = append(parts, m.Kernel.Text(ofKernel))
	}
	parts = slices.DeleteFunc(append(parts, m.Model.Text(ofModel)), func(s string) bool { return s == "" })
	p.text = strings.Join(parts, ", ")
	return p
}

// TooManyError is the error about a method that cannot learn from as many values, or predict as
// many nodes.
type TooManyError struct {
	Method  string
	What    string // "values" or "nodes"
	N, Most int
}

// Error implements error.
func (e *TooManyError) Error() string {
	return fmt.Sprintf("%s: %d %s, more than the %d that it can take; use another method", e.Method, e.N, e.What, e.Most)
}
