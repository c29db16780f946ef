// Package explain computes the reasons for predictions: shares of labelled nodes in a score, and the links around a node
// that carry it.
//
// # Shares of labelled nodes
//
// With fixed parameters, a method is linear in its labels if the score of class c at node v is
//
//	score_c(v) = rest_c(v) + Σ_u share(u, v, c)
//
// over the labelled nodes u. The rest is the part that no labelled node contributes: a bias, or a prior. A [Form] gives the
// scores of a prediction in this form. The shares follow from one row of an operator,
//
//	share(u, v, c) = Σ_t R_t(v, u)·w_t(u, c)
//
// where R_t(v, u) is, for example, the probability that a walk of t steps from v ends with label u, or the value K(v, u) of
// a kernel, and w_t(u, c) the weight that the fitted model gives this response.
//
// # Links
//
// Let left be the response from v at every node, and right the score of the predicted class less the next score. The
// importance of the link between i and j with weight A_ij is
//
//	A_ij·(left_i·right_j + left_j·right_i)
//
// which is, to first order, how much the difference of the two scores at v loses without the step between i and j. For
// learning with local and global consistency and for functions of the normalised matrix S or L̃, A_ij is divided by
// √(d_i·d_j); for other kernels by the mean degree. The left response of a kernel is divided by a bound of the kernel's
// norm.
package explain
