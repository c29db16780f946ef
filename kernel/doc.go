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
// Package papers registers one more, of directed graphs and hypergraphs too.
//
// Each is declared in a file of its own, see [Family]; [New] makes one from its name and
// the values of its parameters. Where L stands the normalised L̃ and,
// where that has a meaning, I − T may stand too, and A and S for each other.
// Nodes without edges and several components are part of all of them: between
// components every kernel but that of modularity is 0.
//
// # Blocks and maps
//
// A [Kernel] does two things. Block computes the values between some nodes and
// others and hands them out in pieces, so that a matrix of all nodes by all
// nodes never exists. ApplyTo multiplies the whole kernel with a block of
// columns and forms no value at all:
//
//	g, err := graph.New(ctx, a, nil)
//	k, err := kernel.New(ctx, g, "diffusion", param.Values{"beta": param.Of(2.0)})
//	gram, made, err := kernel.Matrix(ctx, k, train, train, nil)
//	fmt.Println(made.ErrorBound)
//	made, err = k.ApplyTo(ctx, scores, dual, nil)
//
// Both come with a bound that the error of no value, or column, exceeds. The exception are L⁺
// and commute times without a tolerance, on graphs of more than a thousand nodes: their bound
// needs the least positive eigenvalue, which takes longer than the values, so that the report
// has an estimate instead.
//
// # Functions
//
// A [Function] applies a matrix of a graph, or a function of it, to blocks of columns. It is named as on the command
// line, with parameters behind colons:
//
//	adjacency, transition, …                       the product with a matrix, see [sparse.Kind]
//	exp:t=-2:matrix=laplacian                      exp(tM)
//	solve:shift=1:matrix=laplacian                 (M + shift·I)⁻¹; with shift 0, M⁺
//	personalized-pagerank:alpha=0.85:sinks=all     the PageRank of the weights of seeds in each column
//	diffusion:beta=2                               every kernel
//
// One call makes all columns in the same sweeps, for exp also the columns of several times t:
//
//	named, err := kernel.ParseFunction("exp:t=-1,-2:matrix=laplacian")
//	f, err := kernel.NewFunction(ctx, g, named)
//	report, err := f.ApplyTo(ctx, y, b, &kernel.Settings{Tolerance: 1e-8})
//
// # Half steps
//
// The block of some nodes among themselves is UᵀU with U = K^½·E where the
// kernel has a square root that can be computed: symmetric to the bit, positive
// semidefinite up to rounding, and its small values are more exact than those
// of K·E. Exponentials, even powers and Matérn functions have such a root, and
// so have inverses whose eigenvalues are within a factor of 200, such as
// (I + αL̃)⁻¹ with α ≤ 100: a Chebyshev series of about as many sweeps as a
// solve takes. All others, L⁺, (D − αA)⁺ and odd powers among them, and blocks
// whose U would be too large, take the values of K·E on one side of the
// diagonal and mirror them: these are symmetric to the bit too, and positive
// semidefinite up to the bound.
//
// # Determinism
//
// Columns are computed in slabs whose width depends on the number of rows
// alone, and sums over rows are added in a fixed order: results have the same
// bits for any number of workers, any memory limit that has room for the same
// factors, and for a matrix in memory or on disk.
//
// Several processes may share the rows of a graph, see [sparse.Team]. Then rows and
// columns of a block are named nodes, every process computes all values of the
// block, and products with blocks have the rows of each process. Factors and
// eliminations, which need all entries in one process, are not used.
package kernel
