// Package lanczos finds eigenpairs of symmetric maps on the nodes of a graph by Krylov
// methods: all it sees of the map are products with blocks, see [sparse.Applier]. For
// f(A)·B see package expm.
//
// # Eigenpairs
//
// A [Problem] asks for the k largest or smallest eigenvalues, or those nearest
// to a number, and their vectors. [Problem.Solve] is block Lanczos with thick restarts, full
// orthogonalisation done twice, and a Chebyshev polynomial of the map in place
// of the map where the wanted values are crowded; the density of the spectrum,
// which the first steps tell, places it. LOBPCG, which takes over there with a
// preconditioner, needs a few tens of iterations at the lower end of a
// Laplacian, where Lanczos may crawl. Eigenvectors that are known, one for each
// component of a graph, are split off exactly, see [Known]: they are reported
// with their exact value, and not looked for.
//
// The residuals of the result are true ones, computed with one more product:
// an eigenvalue lies within each. That none was missed is no method's
// certificate, but see [Problem.Solve] on multiple ones.
//
// # Example
//
//	deg, err := sparse.Degrees(ctx, a, 0)
//	c, err := sparse.FindComponents(ctx, a, 0)
//	p := lanczos.Problem{
//		A:     sparse.NewOperator[float64](sparse.Laplacian, a, deg),
//		Which: lanczos.Smallest,
//		Known: &lanczos.Known{Components: c}, // the constants of each component
//	}
//	pairs, err := p.Solve(ctx, 20, nil)
//
// # Determinism
//
// Sums over rows are added in segments of fixed size, and these in fixed
// groups, so that results have the same bits for any number of workers.
package lanczos
