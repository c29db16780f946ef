// Package choose chooses parameters by held-out labels, and estimates the accuracy of a method at nodes without a label.
//
// # Candidates and evidence
//
// A [Search] compares candidates, each a setting of a kernel (or of a walk) and a setting of a learner. Its Measure function
// returns [Counts]: the right predictions of each candidate on the labels of each fold, which were hidden from the model.
// The evidence behind the counts may be
//
//   - a Gram matrix of labelled nodes ([CrossValidate], [LeaveOneOut]),
//   - features of walks ([Trial], [Candidates]), or
//   - scores of all nodes for each fold, by a learner that spreads labels.
//
// # The rule
//
// Accuracies on few labels differ by luck. All candidates within one standard error of the highest accuracy are equally good
// as far as the labels show. Among these [Space.Best] takes the candidate whose neighbours in the grid are most accurate,
// because accuracy is a smooth function of α, λ or a number of steps, and luck is not. If neighbourhoods tie, the higher
// accuracy decides, and then the simpler setting: the earlier value of each parameter in the order of the declaration; the
// larger value of a ridge. If all candidates are equally accurate the defaults are taken. For example, let β = 0.5, 1, 2 and
// 4 have 70, 81, 82 and 69 right predictions of 100. The standard error is 3.8, so that β = 1 and β = 2 remain. β = 1 and
// its neighbours have 233 right predictions, β = 2 and its neighbours 232: β = 1 is chosen.
//
// The accuracy by which a candidate was chosen is too high. Therefore each label is predicted with the candidate that the
// other folds choose, see [Estimator]. [Confidence] estimates the accuracy of calibrated probabilities.
//
// # Folds and splits
//
// [Draw] and [GivenSplit] divide labelled items into training and test items, and [Folds] deals them into folds. An item is
// a position in a list of classes. Every draw comes from a PCG generator with the caller's seed and its own stream.
//
// A [Task] has labels with their folds. An engine predicts the labels of a task, each by a model that does not know its fold,
// and draws no folds itself: package engine draws them, chooses, and keeps the predictions as [Held], from which accuracies,
// prediction sets and figures of rare classes are computed. Engines whose models are made of folds, such as trees, and
// features of labels that must not contain the label, take the folds of a task as well.
//
// # Prediction sets
//
// [Scores.Sets] returns prediction sets with a coverage. The promise needs held-out items that are a random sample of all
// items, and no assumption about the model: among n scores of held-out items and the score of a new item, every rank of the
// new score is equally likely. So the new score is at most the ⌈(n+1)·coverage⌉-th smallest of the n scores with at least
// the probability coverage. Given the n items, the coverage follows a beta distribution, see Vovk, Conditional validity of
// inductive conformal predictors (2012).
//
// The score of a class is adaptive: the sum of the probabilities of likelier classes plus u times the probability of the
// class, with a uniform number u of the item; Romano, Sesia and Candès, Classification with valid and adaptive coverage
// (2020). The likeliest class has score 0, so that no set is empty.
//
// A class without a label has no probability. [Other] denotes all classes without a label; its probability is their share of
// the nodes, see [UnseenShare]. The only label of a class is a held-out item of Other.
package choose
