package sparse

import (
	"fmt"
	"slices"
)

// Kind names a matrix of a graph with the adjacency matrix A and the degrees D = diag(A·1). See [NewOperator].
type Kind string

const (
	// Adjacency is A.
	Adjacency Kind = "adjacency"

	// NormalizedAdjacency is S = D^-½·A·D^-½ with 0^-½ := 0.
	NormalizedAdjacency Kind = "normalized-adjacency"

	// Transition is T = D⁻¹A, the random walk, which is similar to S. T_ii = 1 at a node without edges.
	Transition Kind = "transition"

	// Laplacian is L = D − A.
	Laplacian Kind = "laplacian"

	// NormalizedLaplacian is L̃ = D^-½·L·D^-½ = J − S. J is the identity on rows with entries and 0 elsewhere, so that the
	// eigenvalue 0 has one eigenvector for each component.
	NormalizedLaplacian Kind = "normalized-laplacian"

	// Modularity is A − γ·ddᵀ/Σd with the degrees d and a resolution γ.
	Modularity Kind = "modularity"
)

// Kinds lists the matrices of a graph.
var Kinds = []Kind{Adjacency, NormalizedAdjacency, Laplacian, NormalizedLaplacian,
	Modularity, Transition}

// String returns the name.
func (k Kind) String() string { return string(k) }

// ParseKind returns the matrix with the given name.
func ParseKind(name string) (Kind, error) {
	if k := Kind(name); slices.Contains(Kinds, k) {
		return k, nil
	}
	return "", fmt.Errorf("there is no matrix %q; choose from %v", name, Kinds)
}
