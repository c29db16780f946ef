package lanczos

import (
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Known are orthonormal eigenvectors of one eigenvalue, one for each component: the vector Weights restricted to the component
// and normalised. For the Laplacian L, Weights are ones; for L̃ and S, they are the square roots of the degrees. A component on
// which all weights are 0 has no vector.
type Known struct {
	Components *sparse.Components
	Weights    []float64 // weight of each row; nil means ones
	Value      float64
}

type knownVectors struct {
	*blocks.Disjoint
	component []uint32 // component of each row
	parts     []uint32 // components that have a vector
	value     float64
	share     blocks.Share // share of the block from which known vectors were removed last
}

// vectors returns the known eigenvectors with norm 1. Every process of the team must call it.
func (k *Known) vectors(team *sparse.Team) *knownVectors {
	if k == nil {
		return new(knownVectors)
	}
	unit := slices.Clone(k.Weights)
	if unit == nil {
		unit = slices.Repeat([]float64{1}, len(k.Components.Of))
	}
	v := &knownVectors{component: k.Components.Of, value: k.Value}
	occupied := make([]float64, len(k.Components.Sizes)) // 1 if the component has a vector
	for i := range unit {
		if team.IsPadding(i) {
			unit[i] = 0
		}
		if unit[i] != 0 {
			occupied[v.component[i]] = 1
		}
	}
	team.Max(occupied)
	for c, yes := range occupied {
		if yes == 1 {
			v.parts = append(v.parts, uint32(c))
		}
	}
	if len(v.parts) > 0 {
		v.Disjoint = blocks.NewDisjointOf(team, v.component, len(occupied), unit)
	}
	return v
}

func (k *knownVectors) count() int { return len(k.parts) }

func (k *knownVectors) vectorTo(dst *sparse.Block[float64], j, g int) {
	for i, c := range k.component {
		dst.Row(i)[j] = 0
		if c == k.parts[g] {
			dst.Row(i)[j] = k.Unit[i]
		}
	}
}

// remove subtracts from x the part of x in the span of the known vectors. What remains of this part is about ε times the
// norm of each column.
func (k *knownVectors) remove(x *sparse.Block[float64], workers int) {
	if k.Disjoint != nil {
		k.share.RemoveTo(k.Disjoint, x, x, workers)
	}
}

// Count returns the number of vectors. Every process of the team must call it.
func (k *Known) Count(team *sparse.Team) int {
	return k.vectors(team).count()
}
