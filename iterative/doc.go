// Package iterative solves A·X = B for blocks of right-hand sides, where A is a symmetric positive
// semidefinite map of a graph.
//
// # Conjugate gradients
//
// [CG] runs the method of conjugate gradients on all columns at once, which share one sweep over the graph in a step. A column
// that has reached its tolerance does not change any more. The residual in a [Result] is the true residual, computed at the
// end.
//
// A singular map is solved on the complement of its null space, [graph.Graph.NullSpace] for both Laplacians: X is the
// pseudo-inverse applied to B.
//
// # Preconditioners
//
// A [Preconditioner] is the diagonal (Jacobi), or the Cholesky factor of a matrix a·L + diag(g). If the elimination of a graph
// fills in little, as for a road map, a grid or a tree, the factor is complete and a solve takes one step. On other graphs the
// fill is sampled, and a solve needs ten to fifty steps where Jacobi may need thousands. A factor takes a fifth to half a
// second for each million stored entries.
//
// # Systems
//
// A [System] is one of the maps that kernels on nodes need, with its operator, null space, diagonal
// and factor:
//
//	ShiftedLaplacian(g, false, a, c)     a·L + c·I, and L⁺ with c = 0
//	ShiftedLaplacian(g, true, a, c)      a·L̃ + c·I, and L̃⁺ with c = 0
//	VonNeumann(g, false, α)              D − αA
//	VonNeumann(g, true, α)               I − αS
//	VonNeumannAdjacency(g, α, v, least)  I − αA, through v∘A∘v
//
// SolveTo begins with Jacobi and makes the factor if the residuals of the first steps predict that
// this saves time.
//
// # Weights of many orders of magnitude
//
// If strong clusters are joined by weak links, a small residual does not imply a small error. An elimination without
// subtraction (Grassmann, Taksar and Heyman 1985) keeps all digits. [System.EliminateTo] uses it on graphs of up to
// [ExactFirst] nodes, and so does [System.SolveTo] with Settings.Eliminate. On larger graphs the error of a singular system is
// estimated, see [Result].
//
// # Several processes
//
// If several processes share the rows of a graph, Jacobi is the only preconditioner: there are no factors and eliminations.
//
// # Determinism
//
// Results have the same bits for any number of workers, and for matrices in memory or on disk. The bits of a column do not
// depend on the other columns of its block.
package iterative
