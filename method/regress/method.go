package regress

import (
	"context"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// Model declares how values are predicted. It is in the file of its algorithm; [Models] lists all.
type Model struct {
	param.Spec

	// Attributes reports that it uses the attributes of nodes.
	Attributes bool

	// Ridge reports that larger values of the last parameter are simpler.
	Ridge bool

	// Predict predicts the value of every node from the values of p, with each of some settings,
	// which are complete values of the parameters. If several processes share the nodes, it predicts
	// those of the process.
	Predict func(ctx context.Context, p *Problem, settings []param.Values, s *Settings) ([][]float64, error)

	// Bytes returns the memory of Predict; nil: none but the values. The error refuses the problem.
	Bytes func(p *Problem, settings []param.Values, s *Settings) (int64, error)

	// heldOut returns the errors of predictions from the other folds by setting and value; nil:
	// [Model.Predict] is used.
	heldOut func(ctx context.Context, p *Problem, fold []int, settings []param.Values, s *Settings) ([][]float64, error)

	family *kernel.Family // that the model learns from; nil: none
}

// Name returns the name of the model.
func (m *Model) Name() string { return m.Spec.Name }

// Declarations returns the declaration of the parameters.
func (m *Model) Declarations() []*param.Spec { return []*param.Spec{&m.Spec} }

// OnKernel reports that the model learns from the values of a kernel, as in diffusion+rls.
func (m *Model) OnKernel() bool { return m == &ridge }

var models = param.List[*Model]{&harmonic, &hops, &ridge}

// Models returns the models that can be named in a method.
func Models() param.List[*Model] { return slices.Clone(models) }

// Register adds a model, which then has a name in [Parse] and is compared as the others are. Call it
// from an init function. It panics if the name is taken, or if there is no Predict.
func Register(m *Model) {
	models.Add(m, m.Predict != nil)
}

// Method is a model with given values of some parameters.
type Method = method.EntryOf[*Model]

// mostKernelNodes is the number of nodes up to which a kernel is among the defaults: its comparison
// takes a column of all nodes for each of a thousand values, some seconds there and minutes on
// 200,000 nodes.
const mostKernelNodes = 20_000

// Default returns the list of methods to compare on a graph of the given size unless others are
// named: harmonic, up to 20,000 nodes diffusion+rls, and hops unless weights have signs.
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

// Parse reads a list of methods, see [method.ParseList]: the names of models, and
// KERNEL+MODEL for models that learn from a kernel. Parameters without a value are chosen by [Run].
func Parse(list string) ([]Method, error) {
	methods, err := method.ParseList(list, findModel)
	if err != nil {
		return nil, err
	}
	for _, m := range methods {
		if f := m.Method.family; f != nil {
			if err := f.Asymmetric(f.Own(m.Own)); err != nil {
				return nil, err
			}
		}
	}
	return methods, nil
}

// findModel returns the model with a name.
func findModel(name string) (*Model, error) {
	kernelName, modelName, isPair := strings.Cut(name, "+")
	if !isPair {
		modelName = name
	}
	m := models.Named(modelName)
	switch {
	case m == nil || m.OnKernel() != isPair:
	case !isPair:
		return m, nil
	case kernelName == cwk.Spec.Name:
		return nil, split.Usage("%s: its walks start at labels of classes, which numbers do not have; "+
			"give another kernel, such as %s", kernelName, kernel.Families()[0].Name)
	default:
		if f := kernel.Families().Named(kernelName); f != nil && f.Works&param.Undirected != 0 {
			return onKernel(f), nil
		}
	}
	var names []string
	for _, m := range models {
		form := m.Name()
		if m.OnKernel() {
			form = "KERNEL+" + form
		}
		names = append(names, form)
	}
	return nil, split.Usage("%s: is no method of regression in this program; give %s", name,
		strings.Join(names, ", "))
}
