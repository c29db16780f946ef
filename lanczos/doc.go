// Package lanczos finds eigenpairs of symmetric maps on the nodes of a graph by Krylov methods, which use products of the map
// with blocks only, see [sparse.Applier]. For f(A)·B see package expm.
//
// # Eigenpairs
//
// A [Problem] asks for the k largest or smallest eigenvalues and their vectors. [Problem.Solve] is block Lanczos with thick
// restarts. If the wanted values are close together, Lanczos runs on a Chebyshev polynomial of the map. At the lower end of a
// Laplacian, LOBPCG with a preconditioner continues if it is predicted to be faster. Known eigenvectors, one for each
// component of a graph, are removed from the search, see [Known], and reported with their exact value.
//
// The residuals of the result are computed with one more product. The distance of each value from an eigenvalue is at most its
// residual. No iterative method certifies that no value was missed, but see [Problem.Solve] on multiple eigenvalues.
//
//	p := lanczos.Problem{A: sparse.NewOperator[float64](sparse.Adjacency, a, degrees), Which: lanczos.Largest}
//	pairs, err := p.Solve(ctx, 20, nil)
//
// # Matrices of a graph
//
// A [GraphProblem] names a matrix of a graph and a part of its spectrum. The eigenvectors are also the spectral embedding of
// the graph.
//
//	p := &lanczos.GraphProblem{Matrix: sparse.NormalizedLaplacian, Which: lanczos.Smallest}
//	pairs, err := p.Solve(ctx, g, 16, nil)
//	pairs.Values, pairs.Vectors // 16 numbers, n×16
//
// # Determinism
//
// Results have the same bits for any number of workers.
//
// If several processes share the rows of the map, see [sparse.Team], every process must call Solve with lists of its rows, and
// gets its rows of all vectors. Start vectors do not depend on the number of processes; results differ by rounding. With
// several processes there is no sampled factor.
package lanczos
