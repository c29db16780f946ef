package regress

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
)

// Model declares how values are predicted. It is in the file of its algorithm; [Models] lists all.
type Model struct {
	param.Spec

	// Attributes reports that it uses the attributes of nodes.
	Attributes bool

	// Ridge reports that larger values of the last parameter are simpler.
	Ridge bool

	// Predict predicts the value of every node from the values of p, with each of some settings, which are complete
	// values of the parameters. If several processes share the nodes, it predicts those of the process.
	Predict func(ctx context.Context, p *Problem, settings []param.Values, s *Settings) ([][]float64, error)

	// Bytes returns the memory of Predict; nil: none but the values. The error refuses the problem.
	Bytes func(p *Problem, settings []param.Values, s *Settings) (int64, error)

	// heldOut returns the errors of predictions from the other folds by setting and value; nil: [Model.Predict] is used.
	heldOut func(ctx context.Context, p *Problem, fold []int, settings []param.Values, s *Settings) ([][]float64, error)
}

// OnKernel reports that the model learns from the values of a kernel, as in diffusion+rls.
func (m *Model) OnKernel() bool { return m == &ridge }

var models = param.List[*Model]{&harmonic, &hops, &ridge}

// Models returns the models that can be named in a method.
func Models() param.List[*Model] { return slices.Clone(models) }

// Register adds a model, which then has a name in [Parse] and is compared as the others are. Call it from an init
// function. It panics if the name is taken, or if there is no Predict.
func Register(m *Model) {
	models.Add(m, m.Predict != nil)
}

// Method is a model with given values of some parameters.
type Method struct {
	*Model
	Given param.Values
}

// mostKernelNodes is the number of nodes up to which a kernel is among the defaults: its comparison takes
// a column of all nodes for each of a thousand values, some seconds there and minutes on 200,000 nodes.
const mostKernelNodes = 20_000

// Default returns the list of methods to compare on a graph of the given size unless others are named:
// harmonic, up to 20,000 nodes diffusion+rls, and hops unless weights have signs.
func Default(nodes int, signed bool) string {
	list := "harmonic"
	if nodes <= mostKernelNodes {
		list += ",diffusion+rls"
	}
	if !signed {
		list += ",hops"
	}
	return list
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
	m := &Method{Given: param.Values{}}
	add := func(spec *param.Spec, texts map[string]string) error {
		v, err := spec.ParseValues(texts)
		if err == nil {
			_, err = spec.Resolve(v, nil)
		}
		maps.Copy(m.Given, v)
		return err
	}
	kernelText, modelText, isPair := strings.Cut(text, "+")
	if !isPair {
		kernelText = ""
		modelText = text
	}
	named, err := param.ParseNamed(modelText)
	if err != nil {
		return nil, err
	}
	unknown := func(name string) error {
		return &param.ParameterError{Of: name, Parameter: name,
			What: "is no method of regression; give " + strings.Join(names(), ", ")}
	}
	m.Model = models.Named(named.Name)
	if m.Model == nil || m.OnKernel() != isPair {
		return nil, unknown(named.Name)
	}
	if err := add(&m.Spec, named.Given); err != nil || !isPair {
		return m, err
	}
	if named, err = param.ParseNamed(kernelText); err != nil {
		return nil, err
	}
	if named.Name == cwk.Spec.Name {
		return nil, &param.ParameterError{Of: named.Name, Parameter: named.Name,
			What: "its walks start at labels of classes, which numbers do not have; give another kernel, such as " + kernel.Families()[0].Name}
	}
	family := kernel.Families().Named(named.Name)
	if family == nil || family.Works&param.Undirected == 0 {
		return nil, unknown(named.Name + "+" + m.Name)
	}
	if err := add(&family.Spec, named.Given); err != nil {
		return nil, err
	}
	m.Model = onKernel(family)
	return m, family.Asymmetric(family.Own(m.Given))
}

// names lists the forms of a method.
func names() (list []string) {
	for _, m := range models {
		name := m.Name
		if m.OnKernel() {
			name = "KERNEL+" + name
		}
		list = append(list, name)
	}
	return list
}
