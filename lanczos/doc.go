// Package lanczos finds eigenpairs of symmetric maps on the nodes of a graph by Krylov
// methods, which use products of the map with blocks only, see [sparse.Applier]. For
// f(A)·B see package expm.
//
// # Eigenpairs
//
// A [Problem] asks for the k largest or smallest eigenvalues and their vectors. [Problem.Solve] is block Lanczos with thick restarts and full
// orthogonalisation done twice. Where the wanted values lie close together it runs on a Chebyshev
// polynomial of the map, because that spreads them; the polynomial is placed by the density of the
// spectrum, which the first steps estimate. A search ends by true residuals, which are far below the
// estimated ones where many values lie closer together than the tolerance. At the lower end of a Laplacian, where Lanczos may need
// thousands of products, LOBPCG with a preconditioner continues if it is predicted to be faster.
// Eigenvectors that are known, one for each component of a graph, are removed from the search
// exactly, see [Known], and reported with their exact value.
//
// The residuals of the result are computed with one more product: an eigenvalue lies within the
// residual of each value. No iterative method certifies that no value was missed, but see
// [Problem.Solve] on multiple ones.
//
//	p := lanczos.Problem{A: sparse.NewOperator[float64](sparse.Adjacency, a, degrees), Which: lanczos.Largest}
//	pairs, err := p.Solve(ctx, 20, nil)
//
// # Matrices of a graph
//
// A [GraphProblem] names a matrix of a graph and a part of its spectrum. The eigenvectors are also the spectral embedding of
// the graph. [GraphProblem.Solve] states the eigenvectors that are known, and where Lanczos stalls at the lower
// end of a Laplacian it makes a sampled factor.
//
//	p := &lanczos.GraphProblem{Matrix: sparse.NormalizedLaplacian, Which: lanczos.Smallest}
//	pairs, err := p.Solve(ctx, g, 16, nil)
//	pairs.Values, pairs.Vectors // 16 numbers, n×16
//
// # Determinism
//
// Sums over rows are added in segments of fixed size, and these in fixed
// groups, so that results have the same bits for any number of workers.
//
// If several processes share the rows of the map, see [sparse.Team], each of them calls Solve and has its
// rows of all vectors, and lists of its rows. Start vectors do not depend on the number of processes; results
// differ by rounding. There is no sampled factor then.
package lanczos
