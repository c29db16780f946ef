// Package kernel holds the kernels on the nodes of a graph, by name: positive semidefinite functions of a matrix of
// the graph, and one distance.
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
// A [Family] declares a kernel; [New] makes a kernel from its name and the values of its parameters. The parameter
// laplacian replaces L by the normalised L̃ or, for some kernels, by I − T. The parameter matrix chooses A or S.
// Between components of the graph every kernel except modularity is 0.
//
// # Blocks and maps
//
// A [Kernel] has two methods. Block computes the values between two lists of nodes, in pieces. ApplyTo multiplies the
// whole kernel with a block of columns:
//
//	g, err := graph.New(ctx, a, nil)
//	k, err := kernel.New(ctx, g, "diffusion", param.Values{"beta": param.Of(2.0)})
//	gram, made, err := kernel.Matrix(ctx, k, train, train, nil)
//	fmt.Println(made.ErrorBound)
//	made, err = k.ApplyTo(ctx, scores, dual, nil)
//
// Block reports a bound of the error of every value, ApplyTo a bound of the error of every column. Without a
// tolerance, L⁺ and commute times on graphs of more than a thousand nodes have an estimate instead, because a bound
// needs the smallest positive eigenvalue.
//
// # Functions
//
// A [Function] applies a matrix of a graph, or a function of it, to blocks of columns:
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
// The block of a list of nodes with itself is symmetric to the bit. If the square root of the kernel can be computed,
// the block is UᵀU with U = K^½·E, where E are the unit vectors of the nodes: it is positive semidefinite up to
// rounding, and its small values are more exact than the values of K·E. Exponentials, even powers and Matérn
// functions have such a root, and inverses whose eigenvalues are within a factor of 200, such as (I + αL̃)⁻¹ with
// α ≤ 100. For other kernels, and if U has more than 2²⁸ elements, the values of K·E on one side of the diagonal are
// mirrored, and the block is positive semidefinite up to the error bound.
//
// # Determinism
//
// Results have the same bits for any number of workers, any memory limit, and for a matrix in memory or on disk. If
// the memory limit is too small for a factor that a solve chooses, the result is an error.
//
// Several processes may share the rows of a graph, see [sparse.Team]. Then the rows and columns of a block must be
// named nodes, every process gets all values of the block, and in ApplyTo each process has its rows of the blocks.
package kernel
