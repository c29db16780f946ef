package method

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// Method predicts the nodes of a graph from the labels on some of them.
type Method interface {
	// Name is the name by which [Parse] knows the method.
	Name() string

	// Takes returns the names of the settings that change the result: parameters of
	// declarations, "features", "prior" and "unreached".
	Takes() []string

	// Declarations returns the declarations of the method, or of its kernel and its learner,
	// from which parameters, ranges and help follow; nil if it has no parameter. They must not be
	// changed.
	Declarations() []*param.Spec

	// Tune chooses parameters on splits of p. A nil choice means that there is
	// nothing to choose, or that Predict chooses for each training set anew.
	Tune(ctx context.Context, p *Problem, splits *split.Splits,
		s *Settings) (*Choice, error)

	// Predict predicts every node from the labels of p, with the given
	// parameters or, if they are nil, with its own choice. Predictions of several problems may be made
	// at the same time.
	Predict(ctx context.Context, p *Problem, par *Parameters,
		s *Settings) (*Prediction, error)
}

// NeedsTranspose reports whether the method needs [graph.Graph.In] of the problem if the graph has directions and
// several processes share its rows.
func NeedsTranspose(m Method) bool {
	specs := m.Declarations()
	return len(specs) > 0 && specs[0].Arcs == param.BothDirections
}

// All returns every method that has a name: those of this package, and those with a kernel, a
// learner or a declaration of [kernel.Register], [classify.Register], [propagate.Register] and
// [Register].
func All() []Method {
	var list []Method
	for _, e := range slices.Concat([]engine{automatic{}, labelPropagation{}, majority{},
		blockBeliefs{}}, graphMethods(), walkMethods(), kernelMethods()) {
		list = append(list, weighing{e})
	}
	return list
}

// methodNames returns the names of all methods.
func methodNames() []string {
	methods := All()
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.Name()
	}
	return names
}

// MethodList returns the names that [Parse] knows, in one line.
func MethodList() string {
	var names []string
	methods := All()
	for _, m := range methods {
		name := m.Name()
		stem, _, composed := strings.Cut(name, "+")
		if !composed || !slices.ContainsFunc(methods,
			func(o Method) bool { return o.Name() == stem }) {
			names = append(names, name)
		}
	}
	return fmt.Sprintf("%s; behind cwk and the kernels after it + and any learner; around any of them, behind its name, +cs",
		strings.Join(names, ", "))
}

// findMethod returns the method with a name. The error is a [split.ErrUsage] that suggests the
// nearest name, or lists all names.
func findMethod(name string) (Method, error) {
	methods := All()
	base, smooth := strings.CutSuffix(name, smoothSuffix)
	i := slices.IndexFunc(methods, func(m Method) bool { return m.Name() == base })
	if i < 0 { // the learner that goes without saying may be said
		i = slices.IndexFunc(methods, func(m Method) bool {
			return m.Name()+"+"+learners()[0].Name == base &&
				slices.Contains(m.Declarations(), specOf(learners()[0]))
		})
	}
	switch {
	case i >= 0 && smooth:
		return weighing{smoothedMethod{methods[i]}}, nil
	case i >= 0:
		return methods[i], nil
	}
	prefix, _, _ := strings.Cut(name, "+")
	if f := kernel.Families().Named(prefix); f != nil && f.Distance != "" {
		return nil, split.Usage("%s is a distance, no kernel; centred it is %s",
			prefix, f.Distance)
	}
	hint := "choose from " + MethodList()
	suggestion := words.Nearest(name, methodNames())
	switch {
	case learners().Named(name) != nil:
		hint = "it learns from a kernel, as in diffusion+" + name
	case suggestion != "":
		hint = "did you mean " + suggestion + "?"
	}
	return nil, split.Usage("there is no method %q in this program; %s", name, hint)
}
