// Package sides chooses settings of edges by held-out labels: weights of their kinds, a half-life of their times, and the
// function w, 1 or log(1 + w) of their weights. All choices use [Evidence] and the rule of [Quality.IsBetter].
//
// The matrix of a graph with kinds r is A(w) = Σ w_r·A_r. [Edges.Choose] starts from equal weights and changes the weight of
// one kind at a time by factors of 8; then it tries half-lives, from no decay and the longest on. It does so for each
// function of the weights of entries, because weights of a wide range hide what kinds say, and takes the function with the
// best factors. If no factors are open, [Evidence.Best] chooses a function. For each setting, truncated walks
//
//	F ← α·S·F + (1 − α)·Y,  S = D^-½·A·D^-½,
//
// start from the labels of other folds. If no factors are open, T = D⁻¹·A replaces S, because heavy tails disturb T less.
// The quality is the mean logarithm of the probability of the right class of held-out nodes, with scores sharpened as suits
// the setting best.
package sides
