// Package regress predicts a number for every node of a graph from the numbers of some nodes.
//
//	methods, err := regress.Parse("harmonic,diffusion+rls")
//	p := &method.Problem{Graph: g, Row: rows, Value: values}
//	out, err := regress.Run(ctx, p, methods, nil)
//	fmt.Println(out.Value[0], out.Errors.RMSE)
//
// # Methods
//
// With L the nodes with values y, U the other nodes, T = D⁻¹A, and K a kernel that is scaled so that
// its mean K(u, u) over L is 1:
//
//	harmonic     L_UU·f_U = A_UL·y: each other node has the mean value of its neighbours
//	KERNEL+rls   f = μ + K_·L·α, (K_LL + λI)·α = y − μ1, 1ᵀα = 0: kernel ridge regression
//	hops         ridge regression on means of values 1, 2 and 3 steps away, degree and attributes
//
// Of a kernel only the values between L and L are computed, and one product with all nodes.
//
// # Choosing
//
// [Run] compares all settings of all methods on the same folds. Each value is predicted without the
// values of its fold: by a model of the other folds, or for a kernel by a closed form, see package ridge. Of more than 1,000 values
// errors are measured on 1,000, of which a setting of a kernel is chosen by a sample and then measured by models of all other folds. A setting is
// chosen by the rule of package choose, where the share of right predictions is replaced by the share of the variance that is
// explained, the mean of 1 − (y − ŷ)²/σ², with its standard error. Of methods the one that explains most is used, or the mean if
// several methods explain less.
// The reported error of each fold is that of the setting that the other folds choose, so
// that the choice does not make it too small.
//
// Models of other modules are added with [Register].
//
// # Determinism
//
// Results have the same bits for any number of workers, any memory limit, and a matrix in memory or
// on disk.
package regress
