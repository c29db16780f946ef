// Package choose chooses parameters by held-out labels, and estimates the accuracy of a method
// at nodes without a label. Every method of this module uses it: walks, kernels between nodes,
// learners that spread labels, records, collections of graphs and several labels a node.
//
// # Candidates and evidence
//
// A [Search] compares candidates, each a setting of a kernel (or of a walk) and a setting of a
// learner. Its Measure function returns [Counts]: the right predictions of each candidate on
// the labels of each fold, which were hidden from the model. The evidence behind the counts may
// be
//
//   - a Gram matrix of labelled nodes ([CrossValidate], [LeaveOneOut]),
//   - features of walks ([Trial], [Candidates]), or
//   - scores of all nodes for each fold, by a learner that spreads labels.
//
// # The rule
//
// Accuracies measured on few labels differ by luck, so the candidate with the highest one is
// not chosen outright. All candidates within one standard error of the highest accuracy are
// equally good as far as the labels show. Among these [Space.Best] takes the candidate whose
// neighbours in the grid are most accurate, because an accuracy that is high by luck has no such
// neighbours, whereas accuracy as a function of α, λ or a number of steps is smooth. If
// neighbourhoods tie, the higher accuracy decides, and then the simpler setting: the earlier value
// of each parameter, in the order in which a declaration lists them; of a ridge the larger value.
// If all candidates are equally accurate the defaults are taken. For example, of β = 0.5, 1, 2, 4
// with 70, 81, 82 and 69 right predictions of 100 the standard error is 3.8, so that β = 1 and
// β = 2 remain. There are 233 right predictions at β = 1 and its neighbours and 232 at β = 2 and
// its neighbours: β = 1 is chosen.
//
// The rule is the same for all methods. The accuracy of the choice is not that of the chosen
// candidate, which is too high because it was chosen: each label is predicted with the candidate
// that the other folds choose, see [Estimator]. That of calibrated probabilities is a [Confidence].
package choose
