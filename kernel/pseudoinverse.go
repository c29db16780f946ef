package kernel

import (
	"context"

	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
)

var pseudoInverse = Family{
	Spec: param.Spec{
		Name: "pseudo-inverse", Title: "L⁺", Works: param.Undirected | param.Signed,
		Source: "Fouss, Pirotte, Renders and Saerens, Random-walk computation of similarities between nodes of a graph, IEEE TKDE 19, 2007",
		Params: []param.Param{laplacianParam(normalized, combinatorial)},
	},
	newOn: func(_ context.Context, g *matrices, v param.Values) (Kernel, error) {
		return newPseudoInverse(g, v.Word("laplacian"))
	},
	work: func(param.Values, *degrees) work { return pseudoInverseWork },
}

// newPseudoInverse returns L⁺ without half steps, because a root costs more than L⁺.
func newPseudoInverse(g *matrices, laplacian string) (*spectral, error) {
	s, err := iterative.ShiftedLaplacian(g.Graph, laplacian != combinatorial, 1, 0)
	if err != nil {
		return nil, err
	}
	return g.spectral(&solves{system: s, scale: 1}, nil, nil), nil
}

var pseudoInverseWork = work{inverse: true, search: true}
