// Package kernel holds the kernels on the nodes of a graph, by name: positive
// semidefinite functions of two nodes, and one distance, that are functions of
// a matrix of the graph.
//
//	diffusion                 exp(−βL)
//	exponential               exp(βA)
//	von-neumann               (I − αS)⁻¹
//	regularized-laplacian     (I + αL)⁻¹
//	pseudo-inverse            L⁺
//	commute-time              vol·(L⁺_ii + L⁺_jj − 2L⁺_ij), a distance, with the component's vol
//	regularized-commute-time  (D − αA)⁺
//	p-step                    (aI − L̃)^p
//	matern                    (2ν/κ²·I + L)^−ν
//	modularity                Σ λuuᵀ over the positive eigenvalues of M
//	pagerank                  (1−α)(I − αT)⁻¹
//	heat-pagerank             exp(−β(I − T))
//
// Package papers registers another kernel, which accepts directed graphs and hypergraphs.
//
// Each kernel is declared in a file of its own, see [Family]; [New] makes a kernel from its name and
// the values of its parameters. The parameter laplacian replaces L by the normalised L̃ or, for some
// kernels, by I − T. The parameter matrix chooses A or S. Graphs may have nodes without edges and
// several components: between components every kernel except modularity is 0.
//
// # Blocks and maps
//
// A [Kernel] has two methods. Block computes the values between two lists of nodes and
// passes them on in pieces, so that a matrix of all nodes by all
// nodes never exists. ApplyTo multiplies the whole kernel with a block of
// columns without computing its values:
//
//	g, err := graph.New(ctx, a, nil)
//	k, err := kernel.New(ctx, g, "diffusion", param.Values{"beta": param.Of(2.0)})
//	gram, made, err := kernel.Matrix(ctx, k, train, train, nil)
//	fmt.Println(made.ErrorBound)
//	made, err = k.ApplyTo(ctx, scores, dual, nil)
//
// Block reports a bound of the error of every value, ApplyTo a bound of the error of every
// column. For L⁺ and commute times without a tolerance, on graphs of more than a thousand nodes,
// the report has an estimate instead: a bound needs the smallest positive eigenvalue, which
// takes longer than the values.
//
// # Functions
//
// A [Function] applies a matrix of a graph, or a function of it, to blocks of columns. Its name is as on the command
// line, with parameters after colons:
//
//	adjacency, transition, …                       the product with a matrix, see [sparse.Kind]
//	exp:t=-2:matrix=laplacian                      exp(tM)
//	solve:shift=1:matrix=laplacian                 (M + shift·I)⁻¹; with shift 0, M⁺
//	personalized-pagerank:alpha=0.85:sinks=all     the PageRank of the weights of seeds in each column
//	diffusion:beta=2                               every kernel
//
// One call computes all columns in the same sweeps, for exp also the columns of several times t:
//
//	named, err := kernel.ParseFunction("exp:t=-1,-2:matrix=laplacian")
//	f, err := kernel.NewFunction(ctx, g, named)
//	report, err := f.ApplyTo(ctx, y, b, &kernel.Settings{Tolerance: 1e-8})
//
// # Half steps
//
// If the square root of a kernel can be computed, the block of a list of nodes
// with itself is UᵀU with U = K^½·E: it is symmetric to the bit, positive
// semidefinite up to rounding, and its small values are more exact than the
// values of K·E. Exponentials, even powers and Matérn functions have such a root, and
// so have inverses whose eigenvalues are within a factor of 200, such as
// (I + αL̃)⁻¹ with α ≤ 100: a Chebyshev series with about as many sweeps as a
// solve. For other kernels, such as L⁺, (D − αA)⁺ and odd powers, and if U would be
// too large, the values of K·E on one side of the diagonal are mirrored: blocks are
// symmetric to the bit too, and positive semidefinite up to the bound.
//
// # Determinism
//
// Columns are computed in slabs whose width depends on the number of rows
// alone, and sums over rows are added in a fixed order: results have the same
// bits for any number of workers, any memory limit, and for a matrix in memory or
// on disk. If a solve chooses a factor and the limit has no room for the factor,
// the result is an error.
//
// Several processes may share the rows of a graph, see [sparse.Team]. Then the rows
// and columns of a block must be named nodes, and every process computes all values
// of the block. In ApplyTo, each process has its rows of the blocks. Factors and
// eliminations, which need all entries in one process, are not used.
package kernel
