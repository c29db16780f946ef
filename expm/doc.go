// Package expm computes functions of the matrices of a graph, applied to a block of columns: exp(tH)·B and any smooth f(H)·B,
// with an error bound that comes with the result.
//
// # Maps and functions
//
// A [Map] is a matrix with an interval that contains its spectrum and with the eigenvectors that are known beforehand, one for
// each component of the graph:
//
//	New         L = D − A       [0, λ], λ from products with D + A
//	            L̃ = J − S       [0, 2]
//	            A               [−ρ, ρ], ρ from products with A
//	            S = D^−½AD^−½   [−1, 1]
//	NewBounded  any applier, with a given interval
//
// A [Function] is a function of the eigenvalues: [Exp], [Inverse], [Power], [Matern], or [Smooth] for any other. [Map.ApplyTo]
// computes many functions of one block and returns the method, degree and error bounds of each function.
//
//	g, err := graph.New(ctx, a, nil)
//	l, err := expm.New(ctx, g, sparse.Laplacian)
//	y := sparse.NewBlock[float64](n, k)
//	r, err := l.ApplyTo(ctx, []*sparse.Block[float64]{y}, b, []expm.Function{expm.Exp(-10)}, nil)
//	fmt.Println(r.Sweeps, r.Functions[0].Relative)
//
// Every method first splits off the part of B in the known eigenvectors, exactly. Tolerances are relative to the norm of the
// result. If rounding errors alone may exceed the tolerance, the error is [ErrTolerance].
//
// # Methods
//
// A Chebyshev series in H costs a sweep for each term, which many functions share. The coefficients of exponentials are scaled
// Bessel functions, for any rate; their tail is the bound.
//
// For falling exponentials of a Laplacian with hubs, whose spectrum is wide, a Chebyshev series in the resolvent (I + γL)⁻¹,
// whose spectrum is not, takes fewer sweeps. Each term is a solve by conjugate gradients. Residuals bound the errors, because
// I + γL ⪰ I. Rates within a factor of sixteen share the solves. The method is chosen by predicted cost.
//
// A Matérn function on a wide spectrum is a sum of resolvents with positive weights, times powers of a resolvent.
//
// # Determinism
//
// Results have the same bits for any number of workers, and for a matrix in memory or on disk, because sums are added in an
// order that depends on the matrix alone. The number of terms depends on norms of the whole block, so that the last bits of a
// column may depend on the other columns. Several processes may share the rows of a matrix. All processes then get the same
// bounds, and results with the same bits for the same number of processes.
package expm
