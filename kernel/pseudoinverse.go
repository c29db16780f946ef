package kernel

import (
	"context"

	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
)

// pseudoInverse is L⁺, that of Moore and Penrose; Fouss et al. 2007.
var pseudoInverse = Family{
	Spec: param.Spec{
		Name: "pseudo-inverse", Title: "L⁺", Works: param.Undirected,
		Source: "Fouss, Pirotte, Renders and Saerens, Random-walk computation of similarities between nodes of a graph, IEEE TKDE 19, 2007",
		Params: []param.Param{laplacianParam(normalized, combinatorial)},
	},
	build: func(_ context.Context, g *matrices, v param.Values) (Kernel, error) {
		return newPseudoInverse(g, v.Word("laplacian"))
	},
	work: func(v param.Values, d *degrees) work { return pseudoInverseWork(v.Word("laplacian"), d) },
}

func newPseudoInverse(g *matrices, laplacian string) (*spectral, error) {
	if laplacian == combinatorial && g.degrees.areUneven() {
		e, err := newWeighted(g.Graph)
		return g.spectral(e, nil, nil), err
	}
	s, err := iterative.ShiftedLaplacian(g.Graph, laplacian != combinatorial, 1, 0)
	if err != nil {
		return nil, err
	}
	return g.spectral(&solves{system: s, scale: 1}, nil, nil), nil
}

// pseudoInverseWork returns the work of L⁺.
func pseudoInverseWork(laplacian string, d *degrees) work {
	w := work{blocks: solveBlocks, factor: true, least: true}
	if laplacian == combinatorial && d.areUneven() {
		w.blocks, w.balanced = w.blocks+1, true
	}
	return w
}
