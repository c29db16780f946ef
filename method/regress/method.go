package regress

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// Model declares how values are predicted. It is in the file of its algorithm; [Models] lists all.
type Model = method.Regression

var models = param.List[*Model]{&harmonic, &hops, &ridge}

// Models returns the models that can be named in a method.
func Models() param.List[*Model] { return slices.Clone(models) }

// Register adds a model, which then has a name in [Parse] and is compared as the others are. Call it
// from an init function. It panics if the name is taken, or if there is no Predict.
func Register(m *Model) {
	models.Add(m, m.Predict != nil)
}

// Method is the engine of a model with given values of some parameters.
type Method = method.Entry

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
	for _, m := range methods {
		if m.Method.Check != nil {
			err = cmp.Or(err, m.Method.Check(&Settings{Given: m.Own}))
		}
	}
	return methods, err
}

// findModel returns the engine of the model with a name.
func findModel(name string) (*method.Engine, error) {
	kernelName, modelName, isPair := strings.Cut(name, "+")
	if !isPair {
		modelName = name
	}
	m := models.Named(modelName)
	switch {
	case m == nil || m.OnKernel != isPair:
	case !isPair:
		return m.Engine(), nil
	case kernelName == cwk.Spec.Name:
		return nil, split.Usage("%s: its walks start at labels of classes, which numbers do not have; "+
			"give another kernel, such as %s", kernelName, kernel.Families()[0].Name)
	default:
		if f := kernel.Families().Named(kernelName); f != nil && f.Works&param.Undirected != 0 {
			e := onKernel(f).Engine()
			e.Check = func(s *Settings) error { return f.Asymmetric(f.Own(s.Given)) }
			return e, nil
		}
	}
	var names []string
	for _, m := range models {
		form := m.Spec.Name
		if m.OnKernel {
			form = "KERNEL+" + form
		}
		names = append(names, form)
	}
	return nil, split.Usage("%s: is no method of regression in this program; give %s", name,
		strings.Join(names, ", "))
}
