// Package sides chooses weights of the kinds and times of edges by held-out labels.
//
// The matrix of a graph with kinds r is A(w) = Σ w_r·A_r. [Choose] starts from equal weights and changes the weight of
// one kind at a time by factors of 8. For each vector of weights, truncated walks of learning with local and
// global consistency,
//
//	F ← α·S(w)·F + (1 − α)·Y,  S(w) = D(w)^-½·A(w)·D(w)^-½,
//
// start from the labels of other folds. The quality is the mean logarithm of the probability of the right class of
// held-out nodes, after the scores were sharpened as suits these weights best. A change must improve it by its standard
// error. The result must be better than equal weights by two standard errors and by 5 % of the mean; otherwise weights
// stay equal. The half-life of times is chosen from a grid in the same way, with no decay as the simplest value.
//
// [Evidence] compares functions of the weights of edges as well, by walks of T = D⁻¹·A in place of S.
package sides
