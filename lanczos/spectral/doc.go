// Package spectral finds eigenpairs of the matrices of a graph, which are also its
// spectral embedding.
//
// A [Problem] names a matrix and a part of its spectrum. [Problem.Solve] takes what
// helps there: eigenvectors that are known, one for each component, and a sampled
// factor at the lower end of a Laplacian where Lanczos stalls.
//
//	p := &spectral.Problem{Matrix: sparse.NormalizedLaplacian, Which: lanczos.Smallest}
//	pairs, err := p.Solve(ctx, g, 16, nil)
//	pairs.Values, pairs.Vectors // 16 numbers, n×16
//
// Eigenvalues come with their true residuals: one lies within each error bound of
// the value. That none between them was missed is certified by no iteration.
//
// If several processes share the rows of the graph, see [sparse.Team], each of them calls Solve and has its
// rows of the vectors. There is no sampled factor then.
package spectral
